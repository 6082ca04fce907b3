#pragma once
// Figures and tables of docs/paper-results.md as text.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "measure.hpp"

namespace stowage::bench {

[[nodiscard]] inline std::string format(const char* pattern, double value) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), pattern, value);
    return text.data();
}
[[nodiscard]] inline std::string percent(double share) {
    const std::string text = format("%.1f%%", 100 * share);
    return text == "-0.0%" ? "0.0%" : text;
}
[[nodiscard]] inline std::string fine_percent(double share) {
    return format("%.3f%%", 100 * share);
}
[[nodiscard]] inline std::string mebibytes(std::int64_t bytes) {
    return format("%.2f", static_cast<double>(bytes) / (1024.0 * 1024.0));
}
[[nodiscard]] inline double less(std::int64_t ours, std::int64_t theirs) {
    return theirs <= 0 ? 0 : 1 - static_cast<double>(ours) / static_cast<double>(theirs);
}
[[nodiscard]] inline double fragmentation(std::int64_t arena, std::int64_t peak) {
    return arena <= 0 ? 0 : static_cast<double>(arena - peak) / static_cast<double>(arena);
}
[[nodiscard]] inline std::string seconds(const timing& time) {
    return format("%.3f", time.mean) + " ± " + format("%.3f", time.deviation);
}

/// Rows of a Markdown table.
[[nodiscard]] inline std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::string text;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const std::string& cell : rows[r])
            text += "| " + cell + " ";
        text += "|\n";
        if (r > 0) continue;
        for (std::size_t c = 0; c < rows[0].size(); ++c)
            text += c == 0 ? "|---" : "|---:";
        text += "|\n";
    }
    return text + "\n";
}

}  // namespace stowage::bench
