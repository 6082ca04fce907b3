#pragma once
// The version of the library, in one place: CMakeLists.txt reads the three numbers below, so that the
// version that find_package sees and the one that a program sees can't drift apart.

#include <compare>

namespace stowage {

/// A semantic version: an incompatible change raises `major`, an addition `minor`, a repair `patch`.
struct version_number {
    int major = 0;  ///< raised by incompatible changes, ≥ 0
    int minor = 0;  ///< raised by additions, ≥ 0
    int patch = 0;  ///< raised by repairs, ≥ 0

    /// Orders versions by age: major first, then minor, then patch.
    friend constexpr auto operator<=>(const version_number&, const version_number&) = default;
};

/// The version of the headers that are being compiled.
inline constexpr version_number version{.major = 0, .minor = 1, .patch = 0};

}  // namespace stowage
