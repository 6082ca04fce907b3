#pragma once
// The event loop behind turnip/simulate.hpp: vertices with times, lanes that run them one after the other,
// and the reasons why a lane was idle.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/simulated_peak.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/simulation.hpp>

namespace stowage::turnip::detail {

template <class = void>
class basic_simulator {
public:
    basic_simulator(const tensor_graph& program, const memgraph& graph, const machine& m,
                    const simulate_options& options)
        : program_(program), graph_(graph), machine_(m), options_(options), count_(graph.vertices.size()) {
        check_machine(m);
        if (graph.fingerprint != program.fingerprint()) {
            throw error("the memgraph was made for another program");
        }
    }

    [[nodiscard]] simulation run() {
        collect_edges();
        sort_vertices();
        if (options_.schedule != schedule::event_driven) {
            chain();
            sort_vertices();
        }
        measure_times();
        choose_priorities();
        make_pools();
        loop();
        account();
        measure_peaks(program_, graph_, order_, result_);
        return std::move(result_);
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    enum class cause : std::uint8_t { data, memory, turn };
    struct link {
        vertex_index from = 0;
        vertex_index to = 0;
        cause why = cause::data;
    };
    /// Lanes that serve one queue.
    struct pool {
        lane first;                       // of its lanes
        std::vector<std::uint32_t> free;  // positions in result_.lanes, of idle lanes; the least one is last
        std::uint32_t lanes = 0;          // that exist
        std::uint32_t most = 1;           // that may exist
    };
    using waiting = std::pair<double, vertex_index>;  // the least is first
    using queue = std::priority_queue<waiting, std::vector<waiting>, std::greater<>>;

    void collect_edges() {
        links_.reserve(graph_.edges.size());
        for (const edge& e : graph_.edges) {
            const cause why = e.kind == edge_kind::data     ? cause::data
                              : e.kind == edge_kind::memory ? cause::memory
                                                            : cause::turn;
            links_.push_back({e.from, e.to, why});
        }
    }

    /// Rows of links by source, and a legal order: that of the indices if it is one.
    void sort_vertices() {
        begin_.assign(count_ + 1, 0);
        bool as_listed = true;
        for (const link& l : links_) {
            if (l.from >= count_ || l.to >= count_) throw error("an edge names a vertex that does not exist");
            ++begin_[l.from + 1];
            as_listed = as_listed && l.from < l.to;
        }
        for (std::size_t v = 0; v < count_; ++v)
            begin_[v + 1] += begin_[v];
        out_.resize(links_.size());
        std::vector<std::uint32_t> fill(begin_.begin(), begin_.end() - 1);
        left_.assign(count_, 0);
        for (const link& l : links_) {
            out_[fill[l.from]++] = l;
            ++left_[l.to];
        }
        order_.clear();
        std::vector<std::uint32_t> left = left_;
        std::priority_queue<vertex_index, std::vector<vertex_index>, std::greater<>> ready;
        for (vertex_index v = 0; v < count_; ++v) {
            if (as_listed)
                order_.push_back(v);
            else if (left[v] == 0)
                ready.push(v);
        }
        while (!ready.empty()) {
            const vertex_index v = ready.top();
            ready.pop();
            order_.push_back(v);
            for (std::uint32_t k = begin_[v]; k < begin_[v + 1]; ++k) {
                if (--left[out_[k].to] == 0) ready.push(out_[k].to);
            }
        }
        if (order_.size() != count_) throw error("the memgraph has a cycle");
    }

    /// What the schedule orders beside the memgraph: each device's operators, or all that it does.
    void chain() {
        std::vector<vertex_index> last(graph_.arena_bytes.size(), none);
        const auto append = [&](memory_index device, vertex_index v) {
            if (last[device] != none && last[device] != v) links_.push_back({last[device], v, cause::turn});
            last[device] = v;
        };
        for (const vertex_index v : order_) {
            const vertex& at = graph_.vertices[v];
            if (options_.schedule == schedule::fixed_order && at.kind != vertex_kind::op) continue;
            append(at.device, v);
            if (at.kind == vertex_kind::transfer) append(graph_.reads(v).front().device, v);
        }
    }

    void measure_times() {
        seconds_.resize(count_);
        for (vertex_index v = 0; v < count_; ++v) {
            const vertex& at = graph_.vertices[v];
            seconds_[v] = vertex_seconds(program_, graph_, v, machine_);
            if (at.kind == vertex_kind::op) continue;
            std::int64_t& moved = at.kind == vertex_kind::offload  ? result_.bytes_offloaded
                                  : at.kind == vertex_kind::reload ? result_.bytes_reloaded
                                                                   : result_.bytes_transferred;
            moved = stowage::detail::checked_add(moved, program_.bytes(graph_.moved(v)), "bytes moved");
        }
    }

    [[nodiscard]] double noise(vertex_index v, std::uint64_t stream) const {
        return stowage::detail::splitmix64(options_.seed * 0x9e3779b97f4a7c15U +
                                           stream * 0x51afd7ed558ccd25U + v)
            .uniform();
    }

    void choose_priorities() {
        priority_.assign(count_, 0);
        switch (options_.priority) {
            case priority::critical:
                for (std::size_t i = count_; i-- > 0;) {
                    double longest = 0;
                    const vertex_index v = order_[i];
                    for (std::uint32_t k = begin_[v]; k < begin_[v + 1]; ++k)
                        longest = std::min(longest, priority_[out_[k].to]);
                    priority_[v] = longest - seconds_[v];
                }
                break;
            case priority::need:
                for (std::size_t i = count_; i-- > 0;) {
                    const vertex_index v = order_[i];
                    double first =
                        static_cast<double>(graph_.vertices[v].kind == vertex_kind::op ? i : count_);
                    for (std::uint32_t k = begin_[v]; k < begin_[v + 1]; ++k)
                        first = std::min(first, priority_[out_[k].to]);
                    priority_[v] = first;
                }
                break;
            case priority::fifo: break;
            case priority::random:
                for (vertex_index v = 0; v < count_; ++v)
                    priority_[v] = noise(v, 2);
                break;
        }
        if (machine_.jitter > 0) {
            for (vertex_index v = 0; v < count_; ++v)
                seconds_[v] *= 1 + machine_.jitter * (2 * noise(v, 1) - 1);
        }
    }

    void make_pools() {
        std::map<std::tuple<lane_kind, memory_index, std::uint32_t>, std::uint32_t> known;
        pool_of_.resize(count_);
        for (vertex_index v = 0; v < count_; ++v) {
            const vertex& at = graph_.vertices[v];
            lane wanted{lane_kind::compute, at.device, 0};
            if (at.kind == vertex_kind::offload) wanted.kind = lane_kind::offload;
            if (at.kind == vertex_kind::reload) wanted.kind = lane_kind::reload;
            if (at.kind == vertex_kind::transfer) {
                wanted = {lane_kind::transfer, at.device, graph_.reads(v).front().device};
            }
            const auto [place, added] = known.emplace(std::tuple(wanted.kind, wanted.device, wanted.index),
                                                      static_cast<std::uint32_t>(pools_.size()));
            if (added) {
                pools_.push_back({wanted, {}, 0, at.kind == vertex_kind::op ? machine_.compute_lanes : 1});
            }
            pool_of_[v] = place->second;
        }
        queues_.resize(pools_.size());
    }

    /// A lane that is idle: the one with the least index, a new one if none is and one may be.
    [[nodiscard]] std::uint32_t take_lane(pool& p) {
        if (!p.free.empty()) {
            const std::uint32_t taken = p.free.back();
            p.free.pop_back();
            return taken;
        }
        lane added = p.first;
        if (added.kind == lane_kind::compute) added.index = p.lanes;
        ++p.lanes;
        result_.lanes.push_back(added);
        return static_cast<std::uint32_t>(result_.lanes.size() - 1);
    }
    void give_lane(pool& p, std::uint32_t given) {
        p.free.insert(std::lower_bound(p.free.begin(), p.free.end(), given, std::greater<>()), given);
    }

    void loop() {
        result_.runs.resize(count_);
        bound_.assign(count_, {none, none});
        std::priority_queue<waiting, std::vector<waiting>, std::greater<>> ends;  // time, vertex
        std::vector<std::uint32_t> touched;
        const auto make_ready = [&](vertex_index v, double now) {
            result_.runs[v].ready = now;
            queues_[pool_of_[v]].emplace(options_.priority == priority::fifo ? now : priority_[v], v);
            touched.push_back(pool_of_[v]);
        };
        for (vertex_index v = 0; v < count_; ++v) {
            if (left_[v] == 0) make_ready(v, 0);
        }
        double now = 0;
        while (true) {
            for (const std::uint32_t at : touched) {
                pool& p = pools_[at];
                while (!queues_[at].empty() && (!p.free.empty() || p.lanes < p.most)) {
                    const vertex_index v = queues_[at].top().second;
                    queues_[at].pop();
                    vertex_run& run = result_.runs[v];
                    run.begin = now;
                    run.end = now + seconds_[v];
                    run.lane = take_lane(p);
                    ends.emplace(run.end, v);
                }
            }
            touched.clear();
            if (ends.empty()) break;
            now = ends.top().first;
            while (!ends.empty() && ends.top().first <= now) {
                const vertex_index v = ends.top().second;
                ends.pop();
                give_lane(pools_[pool_of_[v]], result_.runs[v].lane);
                touched.push_back(pool_of_[v]);
                for (std::uint32_t k = begin_[v]; k < begin_[v + 1]; ++k) {
                    const link& l = out_[k];
                    // Who ends last has kept it waiting; among equals, data speak first.
                    auto& [who, why] = bound_[l.to];
                    const bool later = who == none || result_.runs[who].end < now;
                    if (later || static_cast<std::uint32_t>(l.why) < why) {
                        who = v;
                        why = static_cast<std::uint32_t>(l.why);
                    }
                    if (--left_[l.to] == 0) make_ready(l.to, now);
                }
            }
        }
        result_.makespan = now;
    }

    /// Sums up what the lanes did, and why compute lanes were idle before each of their operators.
    void account() {
        result_.devices.resize(graph_.arena_bytes.size());
        std::vector<vertex_index> by_begin(order_);
        std::sort(by_begin.begin(), by_begin.end(), [&](vertex_index a, vertex_index b) {
            return std::pair(result_.runs[a].begin, a) < std::pair(result_.runs[b].begin, b);
        });
        std::vector<double> last(result_.lanes.size(), 0);
        for (const vertex_index v : by_begin) {
            const vertex_run& run = result_.runs[v];
            device_use& use = result_.devices[result_.lanes[run.lane].device];
            const double took = run.end - run.begin;
            switch (result_.lanes[run.lane].kind) {
                case lane_kind::compute:
                    use.compute += took;
                    explain(v, last[run.lane], use);
                    break;
                case lane_kind::offload: use.offload += took; break;
                case lane_kind::reload: use.reload += took; break;
                case lane_kind::transfer: use.transfer += took; break;
            }
            last[run.lane] = run.end;
        }
    }

    /// Splits the time from `from` to the begin of operator `v` by what it waited for: backwards along the
    /// vertices that ended last.
    void explain(vertex_index v, double from, device_use& use) const {
        double until = result_.runs[v].begin;
        const auto count = [&](double since, cause why) {
            const double begin = std::max(since, from);
            if (begin >= until) return;
            (why == cause::data     ? use.waiting_for_data
             : why == cause::memory ? use.waiting_for_memory
                                    : use.waiting_for_lane) += until - begin;
            until = begin;
        };
        while (until > from) {
            count(result_.runs[v].ready, cause::turn);
            const auto [who, why] = bound_[v];
            if (who == none) break;
            count(result_.runs[who].begin, static_cast<cause>(why));
            v = who;
        }
    }

    const tensor_graph& program_;
    const memgraph& graph_;
    const machine& machine_;
    const simulate_options& options_;
    std::size_t count_;
    std::vector<link> links_;
    std::vector<link> out_;             // links_ by source
    std::vector<std::uint32_t> begin_;  // by vertex, in out_
    std::vector<std::uint32_t> left_;
    std::vector<vertex_index> order_;
    std::vector<double> seconds_;
    std::vector<double> priority_;
    std::vector<std::uint32_t> pool_of_;
    std::vector<pool> pools_;
    std::vector<queue> queues_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> bound_;  // by vertex: who ended last, and its cause
    simulation result_;
};
using simulator = basic_simulator<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_simulator<>;
#endif

}  // namespace stowage::turnip::detail
