#pragma once
// By what a skyline prefers one buffer to another. Source: LLFB (Sekiyama et al. 2018) for `duration`; the
// others and the order in which they are tried: papers/layout.md, "Skyline".

#include <array>
#include <cstdint>
#include <string_view>

namespace stowage::layout {

/// What a skyline places first; ties end in the buffer's index. Duration counts the user's time, width counts
/// sections (maximal sets of buffers alive together), and the load is the largest one during the buffer's
/// lifetime.
enum class key : std::uint8_t {
    size_duration,    ///< size × duration, largest first
    load_width,       ///< largest load, then width, then size
    duration,         ///< duration, then size: LLFB
    load_size,        ///< largest load, then size, then width
    size,             ///< size, then width
    width_root_size,  ///< width × √size
    width_size,       ///< width² × size
    width,            ///< width, then size
    area,             ///< size × width
};

/// Every key, in the order in which layout::skylines tries them.
inline constexpr std::array<key, 9> all_keys = {key::size_duration, key::load_width, key::duration,
                                                key::load_size,     key::size,       key::width_root_size,
                                                key::width_size,    key::width,      key::area};

/// The key's name as it is written in the code.
[[nodiscard]] constexpr std::string_view to_string(key value) noexcept {
    switch (value) {
        case key::size_duration: return "size_duration";
        case key::load_width: return "load_width";
        case key::duration: return "duration";
        case key::load_size: return "load_size";
        case key::size: return "size";
        case key::width_root_size: return "width_root_size";
        case key::width_size: return "width_size";
        case key::width: return "width";
        case key::area: break;
    }
    return "area";
}

}  // namespace stowage::layout
