#pragma once
// The date of a measurement.

#include <array>
#include <ctime>
#include <string>

namespace stowage::bench {

/// Today's date in UTC, as 2026-11-30.
[[nodiscard]] inline std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
    return text.data();
}

}  // namespace stowage::bench
