#pragma once
// The free stretches of an address space in ascending order: take the lowest one that is large enough, give
// bytes back.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>

namespace stowage::layout::detail {

/// Starts with all of [0, 2^63 - 1) free. The gaps are kept in chunks of at most 128, each with the length of
/// its longest gap: a call costs O(128 + g / 64) for g gaps. One thread at a time.
template <class = void>
class basic_free_gaps {
public:
    basic_free_gaps() { give(0, std::numeric_limits<std::int64_t>::max()); }

    /// Takes the lowest free [offset, offset + size) with `offset` a multiple of `alignment`; its offset, or
    /// -1 if there is none below 2^63 - 1. size > 0.
    [[nodiscard]] std::int64_t take(std::int64_t size, std::int64_t alignment) {
        for (std::size_t c = 0; c < chunks_.size(); ++c) {
            if (chunks_[c].longest < size) continue;
            for (std::size_t g = 0; g < chunks_[c].gaps.size(); ++g) {
                const gap free = chunks_[c].gaps[g];
                if (free.upper - free.lower < size) continue;
                const std::int64_t pad = stowage::detail::padding(free.lower, alignment);
                if (free.upper - free.lower - size < pad) continue;
                const std::int64_t offset = free.lower + pad;
                cut(c, g, offset, offset + size);
                return offset;
            }
        }
        return -1;
    }

    /// Makes [lower, upper), which is in use, free.
    void give(std::int64_t lower, std::int64_t upper) {
        if (chunks_.empty()) {
            chunks_.push_back({{{lower, upper}}, upper - lower});
            return;
        }
        // The last chunk that begins below `lower`, or the first one: the gap belongs into it.
        const auto after =
            std::upper_bound(chunks_.begin(), chunks_.end(), lower,
                             [](std::int64_t value, const chunk& c) { return value < c.gaps.front().lower; });
        const std::size_t c =
            after == chunks_.begin() ? 0 : static_cast<std::size_t>(after - chunks_.begin()) - 1;
        std::vector<gap>& gaps = chunks_[c].gaps;
        auto next = std::lower_bound(gaps.begin(), gaps.end(), lower,
                                     [](const gap& g, std::int64_t value) { return g.lower < value; });
        const bool joins_before = next != gaps.begin() && (next - 1)->upper == lower;
        if (next == gaps.end() && c + 1 < chunks_.size() && chunks_[c + 1].gaps.front().lower == upper) {
            // It joins the first gap of the next chunk, and through it perhaps the last of this one.
            const std::int64_t from = joins_before ? gaps.back().lower : lower;
            chunks_[c + 1].gaps.front().lower = from;
            renew(c + 1);
            if (joins_before) gaps.pop_back();
            tidy(c);
            return;
        }
        const bool joins_after = next != gaps.end() && next->lower == upper;
        if (joins_before && joins_after) {
            (next - 1)->upper = next->upper;
            gaps.erase(next);
        } else if (joins_before) {
            (next - 1)->upper = upper;
        } else if (joins_after) {
            next->lower = lower;
        } else {
            gaps.insert(next, {lower, upper});
        }
        tidy(c);
    }

private:
    struct gap {
        std::int64_t lower;
        std::int64_t upper;
    };
    struct chunk {
        std::vector<gap> gaps;  // never empty
        std::int64_t longest;
    };
    static constexpr std::size_t most = 128;

    /// Takes [lower, upper) out of gap `g` of chunk `c`.
    void cut(std::size_t c, std::size_t g, std::int64_t lower, std::int64_t upper) {
        std::vector<gap>& gaps = chunks_[c].gaps;
        const gap whole = gaps[g];
        if (whole.lower < lower && upper < whole.upper) {
            gaps[g].upper = lower;
            gaps.insert(gaps.begin() + static_cast<std::ptrdiff_t>(g) + 1, {upper, whole.upper});
        } else if (whole.lower < lower) {
            gaps[g].upper = lower;
        } else if (upper < whole.upper) {
            gaps[g].lower = upper;
        } else {
            gaps.erase(gaps.begin() + static_cast<std::ptrdiff_t>(g));
        }
        tidy(c);
    }

    /// After a change of chunk `c`: drops it if it is empty, halves it if it is too long.
    void tidy(std::size_t c) {
        std::vector<gap>& gaps = chunks_[c].gaps;
        if (gaps.empty()) {
            chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
            return;
        }
        if (gaps.size() > most) {
            const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(most / 2);
            chunk upper_half{std::vector<gap>(middle, gaps.end()), 0};
            gaps.erase(middle, gaps.end());
            chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1, std::move(upper_half));
            renew(c + 1);
        }
        renew(c);
    }

    void renew(std::size_t c) {
        std::int64_t longest = 0;
        for (const gap& g : chunks_[c].gaps)
            longest = std::max(longest, g.upper - g.lower);
        chunks_[c].longest = longest;
    }

    std::vector<chunk> chunks_;
};
using free_gaps = basic_free_gaps<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_free_gaps<>;
#endif

}  // namespace stowage::layout::detail
