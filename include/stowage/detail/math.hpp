#pragma once
// The four functions of <cmath> that the core needs, without its special functions, which cost every source
// that includes the core a tenth of a second. Where the compiler has no builtins, <cmath> serves.

#ifndef __GNUC__
#include <cmath>
#endif

namespace stowage::detail {

#ifdef __GNUC__

inline double square_root(double x) noexcept {
    return __builtin_sqrt(x);
}
inline double exponential(double x) noexcept {
    return __builtin_exp(x);
}
inline double logarithm(double x) noexcept {
    return __builtin_log(x);
}
inline double cosine(double x) noexcept {
    return __builtin_cos(x);
}
#else
inline double square_root(double x) noexcept {
    return std::sqrt(x);
}
inline double exponential(double x) noexcept {
    return std::exp(x);
}
inline double logarithm(double x) noexcept {
    return std::log(x);
}
inline double cosine(double x) noexcept {
    return std::cos(x);
}
#endif

}  // namespace stowage::detail
