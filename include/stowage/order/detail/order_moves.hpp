#pragma once
// The moves by which an order is improved. A cut move (papers/order.md, rule 12) brings o to
// (o restricted to Y), v, (o restricted to the rest), Y a down-set of least live bytes from which v can run:
// operators that stay on their side of v, and v, never get a higher hill, since f(Z and Y) and f(Z or Y) are
// never above f(Z) before and after v. A chunk move brings an operator, and what it needs, before a high
// hill, or an operator, and what waits for it, behind one. A move is kept if the excess over the threshold
// falls.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/order/detail/cut_library.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/tracked_order.hpp>

namespace stowage::order::detail {

/// Moves on one tracked order. Refers to all that it is given.
template <class = void>
class basic_order_moves {
public:
    basic_order_moves(const order_problem& problem, tracked_order& order)
        : problem_(&problem), order_(&order), in_chunk_(problem.operator_count(), 0) {}

    /// Moves the operator at `position` into its cut `y`; true if the excess fell, or stayed where
    /// `sideways`.
    bool cut(std::size_t position, const operator_bits& y, bool sideways) {
        const operator_index v = order_->at(position);
        const std::size_t count = order_->size();
        std::size_t first = 0;
        while (first < count && y.contains(order_->at(first)))
            ++first;
        std::size_t last = count;
        while (last > position + 1 && !y.contains(order_->at(last - 1)))
            --last;
        window_.clear();
        for (std::size_t at = first; at < last; ++at) {
            if (y.contains(order_->at(at))) window_.push_back(order_->at(at));
        }
        window_.push_back(v);
        for (std::size_t at = first; at < last; ++at) {
            if (!y.contains(order_->at(at)) && at != position) window_.push_back(order_->at(at));
        }
        const std::int64_t old = order_->excess_in(first, window_.size());
        return try_window(first, sideways ? old : old - 1);
    }

    /// Hoists or sinks a random chunk past a random high hill (any hill where none is above the threshold);
    /// true if the excess fell, stayed, or rose by less than 1% with a chance of 1 in 500.
    bool chunk(stowage::detail::splitmix64& random) {
        const std::size_t count = order_->size();
        const auto hot = order_->hot();
        const std::size_t peak = hot.empty() ? random.below(count) : hot[random.below(hot.size())];
        const bool hoist = random.below(2) == 0;
        const std::uint64_t magnitude = random.below(static_cast<std::uint64_t>(std::bit_width(count)));
        const std::size_t far = (std::size_t{1} << magnitude) + random.below(std::size_t{1} << magnitude) - 1;
        const std::size_t near = random.below(1 + random.below(most_reach));
        std::size_t first = 0;
        if (hoist) {
            const std::size_t from = peak + 1 + far;
            if (from >= count) return false;
            first = peak - std::min(peak, near);
            collect(order_->at(from), problem_->predecessors, first, from);
            fill_window(first, from, true);
        } else {
            if (far > peak) return false;
            first = peak - far;
            const std::size_t last = std::min(count - 1, peak + near);
            collect(order_->at(first), problem_->successors, first, last);
            fill_window(first, last, false);
        }
        const std::int64_t old = order_->excess_in(first, window_.size());
        const std::int64_t slack = random.below(500) == 0 ? order_->excess() / 100 : 0;
        return try_window(first, old + slack);
    }
    /// Operators looked at so far, for an account.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

private:
    static constexpr std::uint64_t most_reach = 40;  // how far past the hill a chunk goes

    bool try_window(std::size_t first, std::int64_t most) {
        work_ += window_.size();
        if (most < 0 || !order_->trial(first, window_, most)) return false;
        order_->accept(first, window_);
        return true;
    }
    /// Marks `start` and all that `next` leads to within the positions first to last.
    void collect(operator_index start, const rows& next, std::size_t first, std::size_t last) {
        chunk_.assign(1, start);
        in_chunk_[start] = 1;
        for (std::size_t head = 0; head < chunk_.size(); ++head) {
            const auto row = next[chunk_[head]];
            work_ += row.size();
            for (const operator_index other : row) {
                const std::size_t at = order_->position(other);
                if (in_chunk_[other] != 0 || at < first || at > last) continue;
                in_chunk_[other] = 1;
                chunk_.push_back(other);
            }
        }
    }
    /// The operators at first to last, those marked before or behind the others; drops the marks.
    void fill_window(std::size_t first, std::size_t last, bool chunk_first) {
        window_.resize(last - first + 1);
        const std::size_t others = window_.size() - chunk_.size();
        std::array<std::size_t, 2> next = {chunk_first ? chunk_.size() : 0, chunk_first ? 0 : others};
        for (std::size_t at = first; at <= last; ++at) {
            const operator_index op = order_->at(at);
            window_[next[in_chunk_[op]]++] = op;
        }
        for (const operator_index op : chunk_)
            in_chunk_[op] = 0;
    }

    const order_problem* problem_;
    tracked_order* order_;
    std::vector<std::uint8_t> in_chunk_;
    std::vector<operator_index> chunk_;
    std::vector<operator_index> window_;
    std::uint64_t work_ = 0;
};
using order_moves = basic_order_moves<>;

}  // namespace stowage::order::detail
