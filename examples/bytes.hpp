#pragma once
// Byte counts as people type them on a command line: "4096", "512MiB", "1.5 GiB", "16GB".

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>

namespace examples {

/// The number of bytes that `text` stands for: a number with up to nine decimals and one of the suffixes B,
/// kB, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024) or none. Nothing where it is
/// anything else, no whole number of bytes, or beyond 2^63 - 1.
[[nodiscard]] inline std::optional<std::int64_t> parse_bytes(std::string_view text) {
    using wide = stowage::detail::uint128;
    static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 11> units = {
        {{"", 1},
         {"B", 1},
         {"kB", 1'000},
         {"KB", 1'000},
         {"MB", 1'000'000},
         {"GB", 1'000'000'000},
         {"TB", 1'000'000'000'000},
         {"KiB", 1ULL << 10U},
         {"MiB", 1ULL << 20U},
         {"GiB", 1ULL << 30U},
         {"TiB", 1ULL << 40U}}};
    wide digits = 0;
    wide divisor = 1;
    bool point = false;
    std::size_t count = 0;
    while (!text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9'))) {
        if (text.front() == '.') {
            if (point || count == 0) return std::nullopt;
            point = true;
        } else {
            if (++count > 28 || divisor >= 1'000'000'000) return std::nullopt;
            digits = digits * 10 + static_cast<unsigned>(text.front() - '0');
            if (point) divisor *= 10;
        }
        text.remove_prefix(1);
    }
    if (count == 0 || (point && divisor == 1)) return std::nullopt;
    while (text.starts_with(' '))
        text.remove_prefix(1);
    for (const auto& [name, unit] : units) {
        if (name != text) continue;
        constexpr auto most = static_cast<wide>(std::numeric_limits<std::int64_t>::max());
        if (digits > most * divisor / unit) return std::nullopt;
        const wide product = digits * unit;
        if (product % divisor != 0 || product / divisor > most) return std::nullopt;
        return static_cast<std::int64_t>(product / divisor);
    }
    return std::nullopt;
}

/// A list of byte counts parted by commas; nothing where one is none.
[[nodiscard]] inline std::optional<std::vector<std::int64_t>> parse_byte_list(std::string_view text) {
    std::vector<std::int64_t> list;
    while (true) {
        const std::size_t comma = text.find(',');
        const auto bytes = parse_bytes(text.substr(0, comma));
        if (!bytes) return std::nullopt;
        list.push_back(*bytes);
        if (comma == std::string_view::npos) return list;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace examples
