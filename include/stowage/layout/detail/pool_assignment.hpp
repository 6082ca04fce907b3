#pragma once
// Which buffer goes to which pool, judged by the bytes alive per section alone: a necessary condition that is
// cheap.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/slack_tree.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// In which order buffers choose their pool.
enum class pool_order : std::uint8_t {
    size,      ///< the largest first, each into the first pool with room
    area,      ///< size times duration first, likewise
    duration,  ///< the longest first, likewise
    balanced   ///< the largest first, each into the pool with most room left in its sections
};

/// Assignments of buffers to pools. One thread at a time.
template <class = void>
class basic_pool_assignment {
public:
    /// Both must outlive this.
    basic_pool_assignment(const problem& problem, const sections& compact)
        : problem_(problem), compact_(compact) {
        for (std::uint32_t i = 0; i < compact.items.size(); ++i) {
            if (!problem.buffers[compact.items[i].buffer].pool) free_.push_back(i);
        }
    }
    /// Buffers that may choose.
    [[nodiscard]] std::size_t free_count() const noexcept { return free_.size(); }
    /// True if some pool that buffer `index` may be in is large enough for it alone.
    [[nodiscard]] bool has_room(std::size_t index) const {
        const buffer& b = problem_.buffers[index];
        for (std::uint32_t p = 0; p < problem_.capacities.size(); ++p) {
            if (b.pool.value_or(p) != p) continue;
            if (b.offset.value_or(0) <= problem_.capacities[p] - b.size) return true;
        }
        return false;
    }

    /// Each buffer that may choose goes to the first pool (or the one with most room) whose loads allow it,
    /// else to the one that it exceeds least. O(n log n) a pool.
    [[nodiscard]] std::vector<std::uint32_t> first_choice(pool_order order) {
        start_loads();
        std::vector<std::uint32_t> pools = fixed_pools();
        for (const std::uint32_t i : ordered(order)) {
            const item& entry = compact_.items[i];
            std::uint32_t chosen = 0;
            std::int64_t most = 0;
            for (std::uint32_t p = 0; p < rooms_.size(); ++p) {
                const std::int64_t room = room_in(p, i) - entry.size;
                if (p == 0 || (order == pool_order::balanced ? room > most : most < 0 && room > most)) {
                    chosen = p;
                    most = room;
                }
            }
            take(chosen, i, entry.size);
            pools[entry.buffer] = chosen;
        }
        return pools;
    }
    /// Moves buffers that stick out of their pool on to other pools with room in their sections; false if
    /// none could.
    bool spill(std::vector<std::uint32_t>& pools, const offset_list& offsets) {
        start_loads();
        for (const std::uint32_t i : free_)
            take(pools[compact_.items[i].buffer], i, compact_.items[i].size);
        bool moved = false;
        for (const std::uint32_t i : ordered(pool_order::area)) {
            const item& entry = compact_.items[i];
            const std::uint32_t from = pools[entry.buffer];
            if (offsets[entry.buffer] <= problem_.capacities[from] - entry.size) continue;
            for (std::uint32_t step = 1; step < rooms_.size(); ++step) {
                const auto to = static_cast<std::uint32_t>((from + step) % rooms_.size());
                if (room_in(to, i) < entry.size) continue;
                take(from, i, -entry.size);
                take(to, i, entry.size);
                pools[entry.buffer] = to;
                moved = true;
                break;
            }
        }
        return moved;
    }

    /// Begins to go through all assignments whose loads fit.
    void start_all() {
        start_loads();
        current_ = fixed_pools();
        order_ = ordered(pool_order::size);
        choice_.assign(order_.size(), 0);
        depth_ = 0;
        fresh_ = true;
    }
    /// The next one, in current(); false at the end or when the account is exhausted.
    bool next_of_all(budget& account) {
        const auto pools = static_cast<std::uint32_t>(rooms_.size());
        if (!fresh_) {
            if (depth_ == 0) return false;
            step_back();
        }
        fresh_ = false;
        while (depth_ < order_.size()) {
            if (!account.spend()) return false;
            const std::uint32_t i = order_[depth_];
            const item& entry = compact_.items[i];
            std::uint32_t& p = choice_[depth_];
            while (p < pools && room_in(p, i) < entry.size)
                ++p;
            if (p < pools) {
                take(p, i, entry.size);
                current_[entry.buffer] = p;
                if (++depth_ < order_.size()) choice_[depth_] = 0;
            } else {
                if (depth_ == 0) return false;
                step_back();
            }
        }
        return true;
    }
    [[nodiscard]] const std::vector<std::uint32_t>& current() const noexcept { return current_; }

private:
    void step_back() {
        --depth_;
        const std::uint32_t i = order_[depth_];
        take(choice_[depth_], i, -compact_.items[i].size);
        ++choice_[depth_];
    }
    [[nodiscard]] std::vector<std::uint32_t> fixed_pools() const {
        std::vector<std::uint32_t> pools;
        pools.reserve(problem_.buffers.size());
        for (const buffer& b : problem_.buffers)
            pools.push_back(b.pool.value_or(0));
        return pools;
    }
    /// Rooms with the buffers that have no choice.
    void start_loads() {
        rooms_.resize(problem_.capacities.size());
        for (std::size_t p = 0; p < rooms_.size(); ++p) {
            rooms_[p].assign(compact_.load.size(), [&](std::size_t) { return problem_.capacities[p]; });
        }
        for (std::uint32_t i = 0; i < compact_.items.size(); ++i) {
            const item& entry = compact_.items[i];
            if (const auto pool = problem_.buffers[entry.buffer].pool) take(*pool, i, entry.size);
        }
    }
    void take(std::uint32_t pool, std::uint32_t i, std::int64_t bytes) {
        for (const section_range& piece : compact_.pieces_of(i)) {
            rooms_[pool].add(static_cast<std::size_t>(piece.first), static_cast<std::size_t>(piece.last),
                             -bytes);
        }
    }
    /// Bytes left in the tightest section of item i.
    [[nodiscard]] std::int64_t room_in(std::uint32_t pool, std::uint32_t i) const {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const section_range& piece : compact_.pieces_of(i)) {
            least = std::min(
                least, rooms_[pool]
                           .least(static_cast<std::size_t>(piece.first), static_cast<std::size_t>(piece.last))
                           .first);
        }
        const item& entry = compact_.items[i];
        if (entry.pinned() && entry.pin > problem_.capacities[pool] - entry.size) return -1;
        return least;
    }
    [[nodiscard]] std::vector<std::uint32_t> ordered(pool_order order) const {
        std::vector<std::uint32_t> sorted = free_;
        const auto weight = [&](std::uint32_t i) {
            const auto size = static_cast<double>(compact_.items[i].size);
            const auto duration = static_cast<double>(compact_.items[i].duration);
            if (order == pool_order::area) return size * duration;
            return order == pool_order::duration ? duration : size;
        };
        std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
            const double x = weight(a);
            const double y = weight(b);
            return x != y ? x > y : a < b;
        });
        return sorted;
    }

    const problem& problem_;
    const sections& compact_;
    std::vector<std::uint32_t> free_;
    std::vector<slack_tree> rooms_;  // per pool: capacity minus the bytes alive, by section
    std::vector<std::uint32_t> current_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> choice_;
    std::size_t depth_ = 0;
    bool fresh_ = true;
};
using pool_assignment = basic_pool_assignment<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_pool_assignment<>;
#endif

}  // namespace stowage::layout::detail
