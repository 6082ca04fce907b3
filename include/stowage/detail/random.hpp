#pragma once
// The library's own generator: the standard distributions and std::shuffle differ between implementations,
// and plans must not. Source: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014).

#include <cstdint>

#include <stowage/detail/math.hpp>

namespace stowage::detail {

/// The product of two words, whole; g++ and clang have the type, the standard does not.
__extension__ using uint128 = unsigned __int128;

/// splitmix64: 64 random bits a call; a value type, seeded by one word.
class splitmix64 {
public:
    explicit constexpr splitmix64(std::uint64_t seed) noexcept : state_(seed) {}
    /// The next 64 bits.
    constexpr std::uint64_t operator()() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// A number in [0, bound), bound > 0; the bias is below bound / 2^64.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        return static_cast<std::uint64_t>((static_cast<uint128>((*this)()) * bound) >> 64U);
    }
    /// A number in [0, 1).
    constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }
    /// A standard normal number (Box and Muller); the last bits may differ between mathematics libraries.
    double normal() noexcept {
        const double u = 1.0 - uniform();
        return square_root(-2.0 * logarithm(u)) * cosine(6.283185307179586 * uniform());
    }

private:
    std::uint64_t state_;
};

}  // namespace stowage::detail
