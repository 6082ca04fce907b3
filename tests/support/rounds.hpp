#pragma once
// How often a test on random problems goes round.

#include <concepts>

namespace stowage::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// `whole`; under a sanitizer a quarter of it: that run is ten times as slow, and is there for faults of
/// memory and of threads, not for a rare wrong answer.
template <std::integral Count>
[[nodiscard]] constexpr Count rounds(Count whole) {
    return sanitized ? whole / 4 : whole;
}

}  // namespace stowage::test
