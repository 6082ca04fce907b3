#pragma once
// The step back of a subgradient method whose variables are weights of a mean.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

namespace stowage::turnip::detail {

/// Makes `weights` the nearest ones that are not negative and sum up to 1.
constexpr void onto_simplex(std::array<double, 3>& weights) noexcept {
    std::array<double, 3> sorted = weights;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = 0;
    double excess = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        sum += sorted[i];
        const double now = (sum - 1) / static_cast<double>(i + 1);
        if (sorted[i] > now) excess = now;
    }
    for (double& each : weights)
        each = std::max(0.0, each - excess);
}

}  // namespace stowage::turnip::detail
