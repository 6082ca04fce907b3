#pragma once
// Buffers that share one block of bytes at fixed distances (concatenation without copies, views, aliases that
// extend lifetimes), and bytes that nobody may use. Both become ordinary buffers of a problem, so that every
// policy, bound and proof of the room holds for them. Source: papers/layout.md, "What users ask for".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// One buffer of a shared block: it lies `distance` bytes after the block's base.
struct shared_member {
    std::size_t buffer = 0;     ///< index in the problem
    std::int64_t distance = 0;  ///< bytes from the base, >= 0
};

/// Buffers whose offsets differ by fixed distances. Members may overlap each other in bytes while alive (a
/// view of a concatenation does): the block is taken whole, from its first birth to its last death, but for
/// spans in which no member holds bytes.
using shared_block = std::vector<shared_member>;

/// A problem in which each shared block is one buffer, and the way back.
struct collapsed_problem {
    layout::problem problem;  ///< lone buffers first, in their order, then a buffer a block
    struct place {
        std::size_t buffer = 0;     ///< in `problem`
        std::int64_t distance = 0;  ///< from that buffer's offset
    };
    std::vector<place> places;  ///< one a buffer of the whole problem

    /// Offsets of the whole problem from those of `problem`. O(n).
    template <class = void>
    [[nodiscard]] offset_list expand(std::span<const std::int64_t> offsets) const {
        offset_list whole;
        whole.reserve(places.size());
        for (const place& p : places)
            whole.push_back(offsets[p.buffer] + p.distance);
        return whole;
    }
};

namespace detail {

/// The least r in [0, period) such that r + distance is a multiple of each member's alignment; `period` is
/// set to the least common multiple. Nothing if there is none: two members whose alignments and distances
/// contradict each other.
template <class = void>
[[nodiscard]] std::optional<std::int64_t> common_residue(const problem& problem, const shared_block& block,
                                                         std::int64_t& period) {
    __extension__ using wide = __int128;
    std::int64_t residue = 0;
    period = 1;
    for (const shared_member& m : block) {
        const std::int64_t step = common_alignment(problem.alignment, problem.buffers[m.buffer].alignment);
        // Chinese remainders: move the residue by periods until this member is aligned too.
        const std::int64_t joint = common_alignment(period, step);
        const std::int64_t tries = step / std::gcd(period, step);
        std::int64_t k = 0;
        while (k < tries && (wide{residue} + wide{k} * period + m.distance) % step != 0)
            ++k;
        const wide moved = wide{residue} + wide{k} * period;
        if (k == tries || moved > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
        residue = static_cast<std::int64_t>(moved);
        period = joint;
    }
    return residue;
}

/// The spans in which some member holds bytes, joined, as one buffer's lifetime and gaps.
template <class = void>
void join_lifetimes(const problem& problem, const shared_block& block, buffer& hull) {
    std::vector<interval> held;
    std::vector<interval> own;
    for (const shared_member& m : block) {
        const buffer& b = problem.buffers[m.buffer];
        if (!b.takes_part()) continue;
        spans_of(b, own);
        held.insert(held.end(), own.begin(), own.end());
    }
    if (held.empty()) return;
    std::sort(held.begin(), held.end(), [](const interval& a, const interval& b) {
        return a.lower != b.lower ? a.lower < b.lower : a.upper < b.upper;
    });
    hull.lower = held.front().lower;
    hull.upper = held.front().upper;
    for (const interval& span : held) {
        if (span.lower > hull.upper) hull.gaps.push_back({hull.upper, span.lower});
        hull.upper = std::max(hull.upper, span.upper);
    }
}

}  // namespace detail

/// Makes each shared block one buffer: as long as its members together, alive when one of them is, aligned so
/// that each base + distance is (with padding in front where the distances demand it). Sound always; the
/// arena's bounds are those of the blocks taken whole. Throws layout_error naming the buffer if a member
/// occurs twice or does not exist, a distance is negative, alignments contradict the distances, pins do, or
/// members must be in different pools. O(n log n) and, for a block, the sum of its members' alignments'
/// ratios.
template <class = void>
[[nodiscard]] collapsed_problem collapse(const problem& whole, std::span<const shared_block> blocks) {
    collapsed_problem result;
    result.problem.alignment = whole.alignment;
    result.problem.capacities = whole.capacities;
    result.places.resize(whole.buffers.size());
    std::vector<char> shared(whole.buffers.size(), 0);
    for (const shared_block& block : blocks) {
        for (const shared_member& m : block) {
            if (m.buffer >= whole.buffers.size()) {
                throw layout_error("a shared block names a buffer that does not exist", {m.buffer, {}});
            }
            if (shared[m.buffer] != 0)
                throw layout_error("it is in two shared blocks", whole.describe(m.buffer));
            if (m.distance < 0) {
                throw layout_error("its distance from the block's base is negative",
                                   whole.describe(m.buffer));
            }
            shared[m.buffer] = 1;
        }
    }
    for (std::size_t i = 0; i < whole.buffers.size(); ++i) {
        if (shared[i] != 0) continue;
        result.places[i] = {result.problem.buffers.size(), 0};
        result.problem.buffers.push_back(whole.buffers[i]);
        if (!whole.names.empty()) result.problem.names.push_back(whole.describe(i).name);
    }
    for (const shared_block& block : blocks) {
        if (block.empty()) continue;
        buffer hull;
        const auto residue = detail::common_residue(whole, block, hull.alignment);
        if (!residue) {
            throw layout_error("the alignments of its shared block contradict the distances",
                               whole.describe(block.front().buffer));
        }
        for (const shared_member& m : block) {
            const buffer& b = whole.buffers[m.buffer];
            const std::int64_t distance =
                stowage::detail::checked_add(*residue, m.distance, "distance in a block");
            result.places[m.buffer] = {result.problem.buffers.size(), distance};
            if (b.takes_part()) {
                hull.size =
                    std::max(hull.size, stowage::detail::checked_add(distance, b.size, "size of a block"));
            }
            if (b.offset) {
                const std::int64_t pin = *b.offset - distance;
                if (pin < 0 || (hull.offset && *hull.offset != pin)) {
                    throw layout_error("its pin contradicts its shared block", whole.describe(m.buffer));
                }
                hull.offset = pin;
            }
            if (b.pool) {
                if (hull.pool && *hull.pool != *b.pool) {
                    throw layout_error("its shared block lies in another pool", whole.describe(m.buffer));
                }
                hull.pool = b.pool;
            }
        }
        detail::join_lifetimes(whole, block, hull);
        result.problem.buffers.push_back(std::move(hull));
        if (!whole.names.empty()) {
            result.problem.names.push_back("block of " + whole.describe(block.front().buffer).name);
        }
    }
    return result;
}

/// Bytes that nothing may be placed in, at all times.
struct reserved_range {
    std::int64_t offset = 0;              ///< first byte
    std::int64_t size = 0;                ///< bytes
    std::optional<std::uint32_t> pool{};  ///< of this pool (none: pool 0 where there are several)
};

/// Adds a reserved range to a problem as a buffer pinned there for as long as any other is alive, and returns
/// its index; it counts in the arena. Its offset need not be aligned if the problem's alignment is 1. O(n).
/// Throws layout_error if offset or size is negative or the offset is no multiple of the problem's alignment.
template <class = void>
std::size_t reserve(problem& problem, const reserved_range& range) {
    const std::size_t index = problem.buffers.size();
    if (range.offset < 0 || range.size < 0) throw layout_error("a reserved range is negative", {index, {}});
    if (range.size > 0 && range.offset % problem.alignment != 0) {
        throw layout_error("a reserved range does not begin at a multiple of the problem's alignment",
                           {index, {}});
    }
    buffer entry;
    bool first = true;
    for (const buffer& b : problem.buffers) {
        if (!b.takes_part()) continue;
        entry.lower = first ? b.lower : std::min(entry.lower, b.lower);
        entry.upper = first ? b.upper : std::max(entry.upper, b.upper);
        first = false;
    }
    entry.size = range.size;
    entry.offset = range.offset;
    entry.pool = range.pool;
    if (!entry.pool && problem.capacities.size() > 1) entry.pool = 0;
    problem.buffers.push_back(std::move(entry));
    if (!problem.names.empty()) problem.names.emplace_back("reserved");
    return index;
}

}  // namespace stowage::layout
