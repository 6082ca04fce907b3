#pragma once
// FNV-1a-64 over little-endian 64-bit words: the hash of fingerprints and digests in docs/formats.md.
// Source: Fowler, Noll, Vo, "The FNV non-cryptographic hash algorithm".

#include <cstdint>

namespace stowage::detail {

/// A running FNV-1a-64 hash.
class fnv1a_64 {
public:
    /// Adds the eight bytes of `word`, least significant first.
    constexpr void add(std::uint64_t word) noexcept {
        for (int i = 0; i < 8; ++i) {
            value_ = (value_ ^ (word & 0xffU)) * 0x100000001b3U;
            word >>= 8U;
        }
    }
    /// The hash of all words added.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace stowage::detail
