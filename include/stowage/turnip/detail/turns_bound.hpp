#pragma once
// A lower bound on the time of a run on several devices: operators wait for those they depend on, with the
// transfers in between, and the operators of one device take turns. Source: Jackson's preemptive schedule
// (Carlier, "The one-machine sequencing problem", 1982), for what an operator depends on, device by device.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// A job of one machine: it takes `seconds`, not before `head`, and `tail` seconds must pass after it.
struct timed_job {
    double head = 0;
    double seconds = 0;
    double tail = 0;
};

/// Seconds until all jobs of one machine and what must pass after them are over, if jobs may be interrupted:
/// of any set of jobs their first head, their sum and their least tail. Sorts `jobs`. O(jobs x log jobs).
template <class = void>
[[nodiscard]] double jackson_bound(std::vector<timed_job>& jobs) {
    std::sort(jobs.begin(), jobs.end(), [](const timed_job& a, const timed_job& b) {
        return a.head != b.head ? a.head < b.head : a.tail > b.tail;
    });
    struct waiting_job {
        double tail;
        double left;
        bool operator<(const waiting_job& other) const noexcept { return tail < other.tail; }
    };
    std::priority_queue<waiting_job> ready;
    double now = 0;
    double bound = 0;
    for (std::size_t k = 0; k < jobs.size() || !ready.empty();) {
        if (ready.empty()) now = std::max(now, jobs[k].head);
        for (; k < jobs.size() && jobs[k].head <= now; ++k)
            ready.push({jobs[k].tail, jobs[k].seconds});
        waiting_job first = ready.top();
        ready.pop();
        const double end = now + first.left;
        if (k < jobs.size() && jobs[k].head < end) {
            first.left = end - jobs[k].head;
            now = jobs[k].head;
            ready.push(first);
            continue;
        }
        now = end;
        bound = std::max(bound, now + first.tail);
    }
    return bound;
}

/// The bounds of one order of a taskgraph. What it is given must outlive it.
template <class = void>
class basic_turns_bound {
public:
    basic_turns_bound(const taskgraph& task, std::span<const operator_index> order, const machine& m)
        : task_(task), order_(order.begin(), order.end()), machine_(m), before_(order.size()),
          after_(order.size()), first_(order.size(), 0), last_(order.size(), 0) {
        for (const operator_index op : order)
            seconds_.push_back(operator_seconds(task.program, op, m));
        list_neighbours();
    }
    /// For any run of any memgraph. `looks`: how many pairs of an operator and one that it depends on may be
    /// looked at; the nearest ones are. O(looks x log looks + operators + accesses).
    [[nodiscard]] double any_order(std::size_t looks) const {
        const std::size_t count = order_.size();
        const std::size_t nearest = looks / (1 + 2 * count);
        const std::vector<double> heads = times_before(before_, first_, false, nearest);
        const std::vector<double> tails = times_before(after_, last_, true, nearest);
        std::vector<std::vector<timed_job>> jobs(task_.devices);
        for (std::size_t k = 0; k < count; ++k)
            jobs[task_.placement[order_[k]]].push_back({heads[k], share(k), tails[k]});
        double bound = 0;
        for (std::size_t k = 0; k < count; ++k)
            bound = std::max(bound, heads[k] + seconds_[k] + tails[k]);
        for (std::vector<timed_job>& of_device : jobs)
            bound = std::max(bound, jackson_bound(of_device));
        return bound;
    }
    /// For runs in which each device starts its operators in the order. O(operators + accesses).
    [[nodiscard]] double in_order() const {
        std::vector<double> free(task_.devices, 0);
        std::vector<double> end(order_.size(), 0);
        double bound = 0;
        for (std::size_t k = 0; k < order_.size(); ++k) {
            double start = std::max(first_[k], free[task_.placement[order_[k]]]);
            for (const neighbour& other : before_[k])
                start = std::max(start, end[other.position] + other.seconds);
            end[k] = start + seconds_[k];
            // With several lanes the next one may start at the same time.
            free[task_.placement[order_[k]]] = machine_.compute_lanes > 1 ? start : end[k];
            bound = std::max(bound, end[k] + last_[k]);
        }
        return bound;
    }

private:
    struct neighbour {
        std::uint32_t position;  // in the order
        double seconds;          // that pass at least between the two
    };
    /// What an operator takes of its device's time.
    [[nodiscard]] double share(std::size_t k) const { return seconds_[k] / machine_.compute_lanes; }

    /// Who reads what another made, and what must be copied in between, at the start or at the end. Nobody
    /// else need wait: an overwritten buffer may lie in two places.
    void list_neighbours() {
        const tensor_graph& program = task_.program;
        std::vector<std::uint32_t> position(program.operator_count(), 0);
        for (std::uint32_t k = 0; k < order_.size(); ++k)
            position[order_[k]] = k;
        std::vector<operator_index> writer(program.buffer_count(), no_operator);
        const auto add = [&](operator_index from, std::uint32_t to, double seconds) {
            before_[to].push_back({position[from], seconds});
            after_[position[from]].push_back({to, seconds});
        };
        for (std::uint32_t k = 0; k < order_.size(); ++k) {
            const operator_index op = order_[k];
            for (const buffer_index b : program.reads(op)) {
                const std::int64_t bytes = program.bytes(b);
                const double in = move_seconds(vertex_kind::reload, bytes, machine_);
                if (writer[b] == no_operator) {
                    if (is_alive_at_start(program.kind(b)) && task_.start[b] == host && bytes > 0)
                        first_[k] = std::max(first_[k], in);
                } else if (bytes == 0 || task_.placement[writer[b]] == task_.placement[op]) {
                    add(writer[b], k, 0);
                } else {
                    const double by_host = move_seconds(vertex_kind::offload, bytes, machine_) + in;
                    add(writer[b], k,
                        std::min(move_seconds(vertex_kind::transfer, bytes, machine_), by_host));
                }
            }
            for (const buffer_index b : program.writes(op))
                writer[b] = op;
        }
        for (buffer_index b = 0; b < program.buffer_count(); ++b) {
            if (writer[b] == no_operator || task_.finish[b] != host || program.bytes(b) == 0) continue;
            double& last = last_[position[writer[b]]];
            last = std::max(last, move_seconds(vertex_kind::offload, program.bytes(b), machine_));
        }
    }
    /// By position: seconds that pass at least before it starts, or (`reversed`) after it has ended; at least
    /// `least`.
    [[nodiscard]] std::vector<double> times_before(const std::vector<std::vector<neighbour>>& neighbours,
                                                   const std::vector<double>& least, bool reversed,
                                                   std::size_t nearest) const {
        const std::size_t count = order_.size();
        std::vector<double> times(least);
        std::vector<double> between(count, 0);  // from an operator to the one that is looked at
        std::vector<std::size_t> seen(count, count);
        std::vector<std::vector<timed_job>> jobs(task_.devices);
        std::priority_queue<std::uint32_t> next;
        const auto flip = [&](std::uint32_t k) {
            return reversed ? static_cast<std::uint32_t>(count - 1) - k : k;
        };
        for (std::size_t step = 0; step < count; ++step) {
            const std::uint32_t at = flip(static_cast<std::uint32_t>(step));
            const auto meet = [&](const neighbour& other, double more) {
                const std::uint32_t k = other.position;
                const double seconds = other.seconds + more;
                if (seen[k] != step) {
                    seen[k] = step;
                    between[k] = seconds;
                    next.push(flip(k));
                } else {
                    between[k] = std::max(between[k], seconds);
                }
            };
            for (const neighbour& other : neighbours[at]) {
                times[at] =
                    std::max(times[at], times[other.position] + seconds_[other.position] + other.seconds);
                meet(other, 0);
            }
            // The nearest first: those that come between two are met before the farther one.
            for (std::size_t k = 0; k < nearest && !next.empty(); ++k) {
                const std::uint32_t other = flip(next.top());
                next.pop();
                jobs[task_.placement[order_[other]]].push_back({times[other], share(other), between[other]});
                for (const neighbour& farther : neighbours[other])
                    meet(farther, between[other] + seconds_[other]);
            }
            next = {};
            for (std::vector<timed_job>& of_device : jobs) {
                if (of_device.size() > 1) times[at] = std::max(times[at], jackson_bound(of_device));
                of_device.clear();
            }
        }
        return times;
    }

    const taskgraph& task_;
    std::vector<operator_index> order_;
    machine machine_;
    std::vector<double> seconds_;                 // by position
    std::vector<std::vector<neighbour>> before_;  // by position
    std::vector<std::vector<neighbour>> after_;   // by position
    std::vector<double> first_;                   // by position: of copies before it
    std::vector<double> last_;                    // by position: of copies after it
};
using turns_bound = basic_turns_bound<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_turns_bound<>;
#endif

}  // namespace stowage::turnip::detail
