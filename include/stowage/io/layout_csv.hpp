#pragma once
// Layout problems and answers as CSV files, in the columns that public allocators' benchmark files use
// (docs/formats.md).

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/io/detail/csv.hpp>
#include <stowage/io/detail/layout_reader.hpp>
#include <stowage/io/file.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::io {

/// Reads a layout problem from its text. `source` names it in errors. O(text).
///
/// Columns: id (any text, unique), lower, upper, size, and where they are there alignment, offset (a pin),
/// gaps and pool, in any order; others are ignored. Blanks around a field do not count; empty optional fields
/// take their default. Gaps are sorted and joined; a number of pools is not in the file, so that the caller
/// gives capacities. Throws parse_error with line, column, the column's name and the buffer's id for whatever
/// breaks a rule; a size or a time beyond 64 bits, an alignment below 1, a lifetime that ends before it
/// begins and a row with too many or too few fields are among them. Sums are checked by layout::validate.
template <class = void>
[[nodiscard]] layout::problem parse_layout_problem(std::string_view text,
                                                   const std::string& source = "<input>") {
    return detail::layout_reader(text, source).read();
}

/// Reads a layout problem from a file, compressed by gzip or not. Throws file_error where it cannot be read,
/// and what parse_layout_problem throws.
template <class = void>
[[nodiscard]] layout::problem read_layout_problem(const std::filesystem::path& path,
                                                  const read_options& options = {}) {
    return parse_layout_problem(read_file(path, options), path.string());
}

/// The text of an answer: the problem's columns, then `pool` where there are pools, and `offset`. `pools`,
/// one a buffer, may be empty: then each buffer is in the pool that the problem asks for, or in pool 0. The
/// columns alignment and gaps are left out where no buffer has any. Throws layout_error if the lengths do not
/// fit. O(n).
template <class = void>
[[nodiscard]] std::string layout_answer_text(const layout::problem& problem,
                                             std::span<const std::int64_t> offsets,
                                             std::span<const std::uint32_t> pools = {}) {
    const auto& buffers = problem.buffers;
    if (offsets.size() != buffers.size() || (!pools.empty() && pools.size() != buffers.size())) {
        throw layout_error("an answer has one offset and one pool a buffer", {});
    }
    const bool has_alignment =
        std::ranges::any_of(buffers, [](const layout::buffer& b) { return b.alignment != 1; });
    const bool has_gaps =
        std::ranges::any_of(buffers, [](const layout::buffer& b) { return !b.gaps.empty(); });
    const bool has_pools =
        !pools.empty() || problem.capacities.size() > 1 ||
        std::ranges::any_of(buffers, [](const layout::buffer& b) { return b.pool.has_value(); });
    std::string text = "id,lower,upper,size";
    if (has_alignment) text += ",alignment";
    if (has_gaps) text += ",gaps";
    if (has_pools) text += ",pool";
    text += ",offset\n";
    const auto number = [&text](std::int64_t value) {
        std::array<char, 24> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        text += ',';
        text.append(digits.data(), end);
    };
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const layout::buffer& b = buffers[i];
        if (i < problem.names.size())
            detail::append_csv(text, problem.names[i]);
        else
            text += std::to_string(i);
        number(b.lower);
        number(b.upper);
        number(b.size);
        if (has_alignment) number(b.alignment);
        if (has_gaps) {
            text += ',';
            for (std::size_t k = 0; k < b.gaps.size(); ++k) {
                if (k > 0) text += ' ';
                text += std::to_string(b.gaps[k].lower) + "-" + std::to_string(b.gaps[k].upper);
            }
        }
        if (has_pools) number(pools.empty() ? b.pool.value_or(0) : pools[i]);
        number(offsets[i]);
        text += '\n';
    }
    return text;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template layout::problem parse_layout_problem(std::string_view, const std::string&);
#endif

}  // namespace stowage::io
