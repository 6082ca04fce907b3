#pragma once
// How news of ended work reaches the dispatcher.

#include <cstdint>
#include <string_view>

namespace stowage::exec {

/// How a device's news are looked for.
enum class notifier : std::uint8_t {
    poll,         ///< the dispatcher asks again and again, and never sleeps: soonest, and takes a processor
    pinned_word,  ///< lanes write a word of the host's memory; the dispatcher looks at it between short naps
    callback,     ///< lanes wake the dispatcher: on CUDA by a host callback, some 100 us each
};

/// "poll", "pinned-word" or "callback".
[[nodiscard]] constexpr std::string_view to_string(notifier value) noexcept {
    switch (value) {
        case notifier::poll: return "poll";
        case notifier::pinned_word: return "pinned-word";
        case notifier::callback: break;
    }
    return "callback";
}

}  // namespace stowage::exec
