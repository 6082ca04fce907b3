#pragma once
// The paper's integer program for layouts (ROAM, "Memory layout optimization"; papers/roam.md): a variable
// for each buffer's offset and, for each pair alive together, a binary that says which lies below, by big-M
// rows. Everything is counted in units: sizes, rounded up to the alignment, are divided by their greatest
// common divisor first. Answers are taken as an order of the buffers by address, which is then pushed down in
// whole bytes: what floating point leaves of an offset never decides about a byte.

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
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/solver/model.hpp>

namespace stowage::layout::detail {

/// Two items that hold bytes at one moment, by index, first < second.
struct item_pair {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    friend auto operator<=>(const item_pair&, const item_pair&) = default;
};

/// All pairs of items that meet, ascending; nothing if there are more than `most`. O(n log n + pairs log
/// pairs).
template <class = void>
[[nodiscard]] std::optional<std::vector<item_pair>> meeting_pairs(const sections& compact, std::size_t most) {
    struct piece {
        section_range range;
        std::uint32_t item;
    };
    std::vector<piece> pieces;
    for (std::uint32_t i = 0; i < compact.items.size(); ++i) {
        for (const section_range& range : compact.pieces_of(i))
            pieces.push_back({range, i});
    }
    std::sort(pieces.begin(), pieces.end(), [](const piece& a, const piece& b) {
        return a.range.first != b.range.first ? a.range.first < b.range.first : a.item < b.item;
    });
    std::vector<item_pair> pairs;
    std::vector<piece> alive;
    for (const piece& born : pieces) {
        std::erase_if(alive, [&](const piece& other) { return other.range.last <= born.range.first; });
        for (const piece& other : alive) {
            if (other.item != born.item)
                pairs.push_back({std::min(other.item, born.item), std::max(other.item, born.item)});
        }
        if (pairs.size() > 4 * most + 64) return std::nullopt;  // pieces may meet more than once
        alive.push_back(born);
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    if (pairs.size() > most) return std::nullopt;
    return pairs;
}

/// Pushes items down in the order of `keys` (ties by index): each free one to the least aligned offset above
/// all before it that it meets; pinned ones stay. The offsets, or nothing if two then overlap. O(n log n +
/// pairs).
template <class Key>
[[nodiscard]] std::optional<std::vector<std::int64_t>> push_down(const sections& compact,
                                                                 std::span<const item_pair> pairs,
                                                                 std::span<const Key> keys) {
    const std::size_t count = compact.items.size();
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
    };
    std::sort(order.begin(), order.end(), before);
    std::vector<std::vector<std::uint32_t>> above(count);
    for (const item_pair& pair : pairs) {
        const bool first_is_below = before(pair.first, pair.second);
        above[first_is_below ? pair.first : pair.second].push_back(first_is_below ? pair.second : pair.first);
    }
    std::vector<std::int64_t> offsets(count, 0);
    for (const std::uint32_t i : order) {
        const item& entry = compact.items[i];
        if (entry.pinned()) {
            if (offsets[i] > entry.pin) return std::nullopt;
            offsets[i] = entry.pin;
        } else {
            offsets[i] = stowage::detail::align_up(offsets[i], entry.alignment);
        }
        const std::int64_t end = stowage::detail::checked_add(offsets[i], entry.size, "an arena");
        for (const std::uint32_t j : above[i])
            offsets[j] = std::max(offsets[j], end);
    }
    return offsets;
}

/// The integer program of one problem in one pool, for arenas from `least` to `most` bytes.
template <class = void>
class basic_offset_program {
public:
    /// Items, the pairs of them that meet, and the arenas worth having. The compact form must outlive it.
    basic_offset_program(const sections& compact, std::vector<item_pair> pairs, std::int64_t least,
                         std::int64_t most)
        : compact_(&compact), pairs_(std::move(pairs)) {
        choose_units();
        most_ = most / arena_unit_;
        least_ = std::min(least / arena_unit_ + (least % arena_unit_ != 0 ? 1 : 0), most_);
        if (most / unit_ <= exact_limit) build();
    }
    /// False if sizes are so far apart that floating point cannot tell them from each other.
    [[nodiscard]] bool expressible() const noexcept { return !program_.lower.empty(); }
    /// The program; its objective is the arena in arena units.
    [[nodiscard]] const solver::model& program() const noexcept { return program_; }
    [[nodiscard]] std::span<const item_pair> pairs() const noexcept { return pairs_; }
    /// An arena in bytes from an objective or a bound of the program; 0 for a bound that says nothing (minus
    /// infinity where the solver had no time).
    [[nodiscard]] std::int64_t bytes(double units) const noexcept {
        if (!(units > 0)) return 0;
        constexpr double top = 9.0e18;
        const double value = units * static_cast<double>(arena_unit_);
        return value >= top ? std::numeric_limits<std::int64_t>::max()
                            : static_cast<std::int64_t>(units) * arena_unit_;
    }
    /// The program's values that say what `offsets` (by item, a layout) say. O(n + pairs).
    [[nodiscard]] std::vector<double> values_of(std::span<const std::int64_t> offsets) const {
        std::vector<double> values(program_.variable_count(), 0.0);
        std::int64_t arena = least_ * arena_unit_;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            values[i] = quotient(offsets[i], unit_ * step_[i]);
            arena = std::max(arena, offsets[i] + compact_->items[i].size);
        }
        for (std::size_t p = 0; p < pairs_.size(); ++p)
            values[first_pair() + p] = offsets[pairs_[p].first] < offsets[pairs_[p].second] ? 1 : 0;
        values[top()] = quotient(arena + arena_unit_ - 1, arena_unit_);
        return values;
    }
    /// The layout that `values` mean, by item; nothing if they mean none.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> offsets_of(std::span<const double> values) const {
        std::vector<double> keys(compact_->items.size());
        for (std::size_t i = 0; i < keys.size(); ++i)
            keys[i] = values[i] * static_cast<double>(step_[i]);
        return push_down<double>(*compact_, pairs_, keys);
    }

private:
    static constexpr std::int64_t exact_limit = std::int64_t{1} << 50;

    /// A number of whole units.
    [[nodiscard]] static double quotient(std::int64_t bytes, std::int64_t unit) noexcept {
        const std::int64_t units = bytes / unit;
        return static_cast<double>(units);
    }
    [[nodiscard]] std::size_t first_pair() const noexcept { return compact_->items.size(); }
    [[nodiscard]] std::size_t top() const noexcept { return compact_->items.size() + pairs_.size(); }

    /// All offsets of some best layout are multiples of unit_, and all arenas multiples of arena_unit_.
    void choose_units() {
        const std::int64_t grid = std::max<std::int64_t>(1, compact_->alignment);
        for (const item& entry : compact_->items) {
            unit_ = std::gcd(unit_, stowage::detail::align_up(entry.size, grid));
            if (entry.pinned()) unit_ = std::gcd(unit_, entry.pin);
            if (entry.alignment != grid) unit_ = std::gcd(unit_, entry.alignment);
        }
        arena_unit_ = unit_;
        for (const item& entry : compact_->items) {
            const std::int64_t rounded = stowage::detail::align_up(entry.size, grid);
            height_.push_back(quotient(rounded, unit_));
            step_.push_back(entry.alignment == grid ? 1 : entry.alignment / unit_);
            arena_unit_ = std::gcd(arena_unit_, entry.size);
        }
    }
    void build() {
        const double ratio = quotient(unit_, arena_unit_);
        for (std::size_t i = 0; i < compact_->items.size(); ++i) {
            const item& entry = compact_->items[i];
            const std::int64_t room = most_ * arena_unit_ - entry.size;
            const std::int64_t last = room < 0 ? -1 : room / (unit_ * step_[i]);
            if (entry.pinned()) {
                const auto at = quotient(entry.pin, unit_);
                program_.add_variable(solver::variable_kind::continuous, at, at);
                step_[i] = 1;
            } else if (last <= 0) {
                program_.add_variable(solver::variable_kind::continuous, 0, 0);
                step_[i] = 1;
            } else {
                program_.add_variable(
                    step_[i] == 1 ? solver::variable_kind::continuous : solver::variable_kind::integer, 0,
                    static_cast<double>(last));
            }
        }
        for (std::size_t p = 0; p < pairs_.size(); ++p)
            program_.add_binary();
        const auto arena = program_.add_variable(solver::variable_kind::continuous,
                                                 static_cast<double>(least_), static_cast<double>(most_), 1);
        for (std::size_t i = 0; i < compact_->items.size(); ++i) {
            program_.add_row(quotient(compact_->items[i].size, arena_unit_),
                             {{arena, 1}, {static_cast<std::uint32_t>(i), -ratio * step(i)}},
                             solver::infinity);
        }
        for (std::size_t p = 0; p < pairs_.size(); ++p)
            add_pair(p);
        program_.integral_objective = true;
    }
    [[nodiscard]] double step(std::size_t i) const noexcept { return static_cast<double>(step_[i]); }
    /// z = 1: the first lies below; z = 0: the second.
    void add_pair(std::size_t p) {
        const std::uint32_t i = pairs_[p].first;
        const std::uint32_t j = pairs_[p].second;
        const auto z = static_cast<solver::variable_index>(first_pair() + p);
        const double far_i = program_.upper[i] * step(i) + height_[i] - program_.lower[j] * step(j);
        const double far_j = program_.upper[j] * step(j) + height_[j] - program_.lower[i] * step(i);
        program_.add_row(-solver::infinity, {{i, step(i)}, {j, -step(j)}, {z, far_i}}, far_i - height_[i]);
        program_.add_row(-solver::infinity, {{j, step(j)}, {i, -step(i)}, {z, -far_j}}, -height_[j]);
    }

    const sections* compact_;
    std::vector<item_pair> pairs_;
    std::int64_t unit_ = 0;        // of offsets, in bytes
    std::int64_t arena_unit_ = 0;  // of the arena, in bytes; divides unit_
    std::int64_t least_ = 0;       // arenas, in arena units
    std::int64_t most_ = 0;
    std::vector<double> height_;      // of each item, in units
    std::vector<std::int64_t> step_;  // of each item: its offset is a multiple of this many units
    solver::model program_;
};
using offset_program = basic_offset_program<>;

}  // namespace stowage::layout::detail
