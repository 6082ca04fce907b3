#pragma once
// The orders in which first fit and best fit take the buffers.

#include <cstdint>
#include <string_view>

namespace stowage::layout {

/// Which buffer is placed before which; ties end in the buffer's index. Pinned buffers are always placed
/// first.
enum class placement_order : std::uint8_t {
    birth,          ///< first come, first served
    size,           ///< largest first, then the longer lifetime
    duration,       ///< longest lifetime first, then the larger size
    size_duration,  ///< largest size × lifetime first
    load,           ///< those that live at the largest load first, then the larger size
};

/// The order's name as it is written in the code.
[[nodiscard]] constexpr std::string_view to_string(placement_order value) noexcept {
    switch (value) {
        case placement_order::birth: return "birth";
        case placement_order::size: return "size";
        case placement_order::duration: return "duration";
        case placement_order::size_duration: return "size_duration";
        case placement_order::load: break;
    }
    return "load";
}

}  // namespace stowage::layout
