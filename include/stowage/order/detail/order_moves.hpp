#pragma once
// The moves by which an order is improved. A cut move (papers/order.md, rule 12) brings o to
// (o restricted to Y), v, (o restricted to the rest), Y a down-set of least live bytes from which v can run:
// operators that stay on their side of v, and v, never get a higher hill, since f(Z and Y) and f(Z or Y) are
// never above f(Z) before and after v. A chunk move brings an operator, and what it needs, before a high
// hill, or an operator, and what waits for it, behind one. A move is kept if the excess over the threshold
// falls.

#include <algorithm>
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
class order_moves {
public:
    order_moves(const order_problem& problem, tracked_order& order)
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
            window_ = chunk_;
            append_rest(first, from);
        } else {
            if (far > peak) return false;
            first = peak - far;
            const std::size_t last = std::min(count - 1, peak + near);
            collect(order_->at(first), problem_->successors, first, last);
            window_.clear();
            append_rest(first, last);
            window_.insert(window_.end(), chunk_.begin(), chunk_.end());
        }
        for (const operator_index op : chunk_)
            in_chunk_[op] = 0;
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
    /// `start` and all that `next` leads to within the positions first to last, in running order.
    void collect(operator_index start, const rows& next, std::size_t first, std::size_t last) {
        chunk_.assign(1, start);
        in_chunk_[start] = 1;
        for (std::size_t head = 0; head < chunk_.size(); ++head) {
            for (const operator_index other : next[chunk_[head]]) {
                const std::size_t at = order_->position(other);
                if (in_chunk_[other] != 0 || at < first || at > last) continue;
                in_chunk_[other] = 1;
                chunk_.push_back(other);
            }
        }
        std::sort(chunk_.begin(), chunk_.end(), [&](operator_index a, operator_index b) {
            return order_->position(a) < order_->position(b);
        });
    }
    void append_rest(std::size_t first, std::size_t last) {
        for (std::size_t at = first; at <= last; ++at) {
            if (in_chunk_[order_->at(at)] == 0) window_.push_back(order_->at(at));
        }
    }

    const order_problem* problem_;
    tracked_order* order_;
    std::vector<std::uint8_t> in_chunk_;
    std::vector<operator_index> chunk_;
    std::vector<operator_index> window_;
    std::uint64_t work_ = 0;
};

}  // namespace stowage::order::detail
