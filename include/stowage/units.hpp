#pragma once
// Sizes are bytes in std::int64_t everywhere in stowage; these are the multiples to write them with.

#include <cstdint>

namespace stowage {

inline constexpr std::int64_t KiB = 1024;        ///< bytes in a kibibyte
inline constexpr std::int64_t MiB = 1024 * KiB;  ///< bytes in a mebibyte
inline constexpr std::int64_t GiB = 1024 * MiB;  ///< bytes in a gibibyte

}  // namespace stowage
