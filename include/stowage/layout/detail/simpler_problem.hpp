#pragma once
// A stricter problem that the searches for plain problems understand: every gap closed, every alignment the
// common one. Each layout of it is a layout of the problem itself; that it has none says nothing.

#include <cstdint>

#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// Closes the gaps and gives all buffers the least common multiple of their alignments. O(n). An alignment
/// above `largest` is left as it is: the result then has mixed alignments still.
template <class = void>
[[nodiscard]] problem simpler_problem(const problem& whole, std::int64_t largest) {
    problem result = whole;
    std::int64_t alignment = whole.alignment;
    for (buffer& b : result.buffers) {
        if (!b.takes_part()) {
            // With its gaps closed it would take part.
            b.size = 0;
            b.alignment = 1;
        }
        b.gaps.clear();
        if (b.takes_part() && alignment <= largest) alignment = common_alignment(alignment, b.alignment);
    }
    if (alignment > largest) return result;
    for (buffer& b : result.buffers)
        b.alignment = alignment;
    return result;
}

}  // namespace stowage::layout::detail
