#pragma once
// When buffers are used next along one order, and whether their contents are still wanted.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Steps only move forward; each answer is amortised O(1).
template <class = void>
class basic_horizon_uses {
public:
    basic_horizon_uses(const taskgraph& task, std::span<const operator_index> order)
        : task_(task), program_(task.program), steps_(order.size()) {
        const std::size_t buffers = program_.buffer_count();
        step_of_.resize(order.size());
        for (std::size_t s = 0; s < order.size(); ++s)
            step_of_[order[s]] = static_cast<std::int64_t>(s);
        begin_.assign(buffers + 1, 0);
        for (buffer_index b = 0; b < buffers; ++b)
            begin_[b + 1] = begin_[b] + program_.users(b).size();
        uses_.resize(begin_.back());
        std::vector<std::size_t> fill(begin_.begin(), begin_.end() - 1);
        std::vector<std::size_t> last(buffers, order.size());
        for (std::size_t s = 0; s < order.size(); ++s) {
            for (const buffer_index b : program_.accesses(order[s])) {
                if (last[b] != s) uses_[fill[b]++] = {s, false};
                last[b] = s;
            }
            for (const buffer_index b : program_.reads(order[s]))
                uses_[fill[b] - 1].reads = true;
        }
        next_.assign(begin_.begin(), begin_.end() - 1);
    }

    /// The step at or after `now` at which `b` is used next; later ones for what must be there at the end,
    /// and then for what nobody wants.
    [[nodiscard]] std::int64_t next(buffer_index b, std::size_t now) {
        const auto count = static_cast<std::int64_t>(steps_);
        advance(b, now);
        if (next_[b] < begin_[b + 1]) return static_cast<std::int64_t>(uses_[next_[b]].step);
        return is_wanted_at_end(b) ? count : 2 * count + 1;
    }
    /// True if the contents of `b` at step `now` are read later, or must be there at the end.
    [[nodiscard]] bool is_wanted(buffer_index b, std::size_t now) {
        advance(b, now);
        return next_[b] < begin_[b + 1] ? uses_[next_[b]].reads : is_wanted_at_end(b);
    }
    /// True for outputs, for persistent buffers that are written, and for those that nothing but the run
    /// keeps: that start on a device and may not be lost.
    [[nodiscard]] bool is_wanted_at_end(buffer_index b) const {
        const buffer_kind kind = program_.kind(b);
        if (kind == buffer_kind::output) return true;
        if (!is_persistent(kind)) return false;
        return task_.is_written(b) || (kind != buffer_kind::input && task_.start[b] < task_.devices);
    }
    /// True if `op` reads `b`. O(log accesses).
    [[nodiscard]] bool reads(operator_index op, buffer_index b) const {
        const auto step = static_cast<std::size_t>(step_of_[op]);
        const std::size_t found = index(step, b);
        return found < begin_[b + 1] && uses_[found].step == step && uses_[found].reads;
    }
    /// Number of the use of `b` at `step`, or of the first after it: uses count buffer by buffer, in the
    /// order of steps. O(log accesses).
    [[nodiscard]] std::size_t index(std::size_t step, buffer_index b) const {
        const auto first = uses_.begin() + static_cast<std::ptrdiff_t>(begin_[b]);
        const auto last = uses_.begin() + static_cast<std::ptrdiff_t>(begin_[b + 1]);
        const auto found =
            std::lower_bound(first, last, step, [](const use& u, std::size_t s) { return u.step < s; });
        return static_cast<std::size_t>(found - uses_.begin());
    }
    /// Number of all uses.
    [[nodiscard]] std::size_t size() const noexcept { return uses_.size(); }
    /// The step of use `k`.
    [[nodiscard]] std::size_t step(std::size_t k) const noexcept { return uses_[k].step; }
    /// True if use `k` is the first of `b`, or the last.
    [[nodiscard]] bool is_first(std::size_t k, buffer_index b) const noexcept { return k == begin_[b]; }
    [[nodiscard]] bool is_last(std::size_t k, buffer_index b) const noexcept {
        return k + 1 == begin_[b + 1];
    }
    [[nodiscard]] std::int64_t step_of(operator_index op) const { return step_of_[op]; }

private:
    struct use {
        std::size_t step = 0;
        bool reads = false;
    };
    void advance(buffer_index b, std::size_t now) {
        while (next_[b] < begin_[b + 1] && uses_[next_[b]].step < now)
            ++next_[b];
    }

    const taskgraph& task_;
    const tensor_graph& program_;
    std::size_t steps_;
    std::vector<std::int64_t> step_of_;
    std::vector<std::size_t> begin_;  // by buffer, in uses_
    std::vector<use> uses_;
    std::vector<std::size_t> next_;
};
using horizon_uses = basic_horizon_uses<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_horizon_uses<>;
#endif

}  // namespace stowage::turnip::detail
