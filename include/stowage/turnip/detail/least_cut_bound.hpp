#pragma once
// A sharper lower bound on the time of any run in any legal order, from the moment at which one operator
// starts. What makes its operands has run, what needs its results has not; the others may be on either side,
// but wherever they are, computing and copying before and after that moment take their time: the least over
// all ways to part them is a least cut. Each side takes as long as what takes longest there, so also as any
// mean of those times; the least over all ways to part is concave in the weights of the means, and some
// rounds of a subgradient method find better ones than computing or copying alone: who parts to have little
// to compute on one side has much to copy there. Sources: the split bound (papers/offload.md) where the order
// is open; J.-C. Picard, "Maximal closure of a graph and applications to combinatorial problems" (1976).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/detail/max_flow.hpp>
#include <stowage/turnip/detail/onto_simplex.hpp>
#include <stowage/turnip/detail/own_bytes.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// What takes time on one side of a moment.
enum class side_count : std::uint8_t {
    compute,   ///< operators
    crossing,  ///< copies of what is made before and wanted after, beyond the capacity: out before, in after
    sure_copies,  ///< before: what starts on the host comes in; after: what ends there goes out
};

/// How much each of side_count counts on one side: not negative, and 1 in all.
using side_weights = std::array<double, 3>;

/// All weight on one.
[[nodiscard]] constexpr side_weights only(side_count which) noexcept {
    side_weights weights{};
    weights[static_cast<std::size_t>(which)] = 1;
    return weights;
}

/// Bounds from moments of one program on one device with one compute lane. Everything given must outlive it.
template <class Tag = void>
class basic_least_cut_bound {
public:
    basic_least_cut_bound(const taskgraph& task, const residency_model& model, std::int64_t capacity,
                          const machine& m)
        : task_(task), program_(task.program), model_(model), capacity_(static_cast<double>(capacity)),
          machine_(m) {
        const std::size_t operators = program_.operator_count();
        makers_.resize(operators);
        readers_.resize(operators);
        for (operator_index op = 0; op < operators; ++op) {
            seconds_.push_back(operator_seconds(program_, op, m));
            total_ += seconds_.back();
        }
        for (const model_instance& instance : model.instances)
            list_versions(instance);
        for (const version& v : versions_) {
            const double bytes = static_cast<double>(program_.bytes(v.buffer));
            total_ += bytes / m.host_to_device_bytes_per_second + bytes / m.device_to_host_bytes_per_second +
                      2 * m.copy_seconds;
            for (std::uint32_t k = v.first; v.maker != no_operator && k < v.last; ++k) {
                if (all_readers_[k] == no_operator) continue;
                makers_[all_readers_[k]].push_back(v.maker);
                readers_[v.maker].push_back(all_readers_[k]);
            }
        }
        // Whole numbers of this unit, rounded down, sum up to no more than 2^51: what counts, counts twice at
        // most.
        scale_ = total_ > 0 ? static_cast<double>(std::int64_t{1} << 50) / total_ : 0;
    }
    /// Seconds that a run takes at least, from the moment at which `op` starts, by such weights of what is
    /// before and after it. About O(accesses) a phase of the flow.
    [[nodiscard]] double operator()(operator_index op, const side_weights& before,
                                    const side_weights& after) {
        before_ = before;
        after_ = after;
        node_.assign(seconds_.size(), open);
        mark(op, makers_, source);
        mark(op, readers_, sink);
        node_[op] = sink;
        op_ = op;
        flow_.reset(2);
        for (operator_index other = 0; other < node_.size(); ++other) {
            if (node_[other] == open) node_[other] = flow_.add_node();
        }
        for (operator_index other = 0; other < node_.size(); ++other)
            add_operator(other);
        for (const version& v : versions_)
            add_version(v);
        flow_.finish();
        // Stopped early the flow is less than the least cut, and a bound all the same.
        const std::int64_t flow = flow_.augment(source, sink, network::infinite, most_phases);
        const double room = room_at(op);
        return static_cast<double>(flow) / scale_ -
               before[crossing] * room / machine_.device_to_host_bytes_per_second -
               after[crossing] * room / machine_.host_to_device_bytes_per_second;
    }
    /// The same by weights that up to so many rounds make better, from these on; `hoped`: no need to pass it.
    [[nodiscard]] double operator()(operator_index op, side_weights before, side_weights after, double hoped,
                                    std::size_t rounds) {
        double best = -std::numeric_limits<double>::infinity();
        side_weights best_before = before;
        side_weights best_after = after;
        double length = 1;
        for (std::size_t round = 0;; ++round) {
            const double value = (*this)(op, before, after);
            if (value > best) {
                best = value;
                best_before = before;
                best_after = after;
            } else {
                length /= 2;
            }
            if (best >= hoped || round == rounds) return best;
            if (value == best) look_at_cut();
            const double gain = length * (hoped - best);
            before = moved(best_before, spent_before_, gain);
            after = moved(best_after, spent_after_, gain);
        }
    }

private:
    using network = order::detail::basic_flow_network<Tag>;
    static constexpr std::uint32_t open = ~std::uint32_t{0};
    static constexpr std::uint32_t source = 0;  // what has run
    static constexpr std::uint32_t sink = 1;    // what has not
    static constexpr std::size_t most_phases = 60;
    static constexpr std::size_t compute = static_cast<std::size_t>(side_count::compute);
    static constexpr std::size_t crossing = static_cast<std::size_t>(side_count::crossing);
    static constexpr std::size_t sure_copies = static_cast<std::size_t>(side_count::sure_copies);
    struct version {
        buffer_index buffer = 0;
        operator_index maker = no_operator;  // none: it is there at the start
        std::uint32_t first = 0;             // its readers are [first, last) of all_readers_
        std::uint32_t last = 0;
        bool dirty = false;          // the host has no copy before it goes out
        bool stays = false;          // it is there at the end, on the device or the host
        bool comes_in = false;       // it starts on the host only
        bool goes_out_last = false;  // it must end on the host
    };
    using neighbours = std::vector<std::vector<operator_index>>;

    /// The contents of one buffer, in the order in which they are made.
    void list_versions(const model_instance& instance) {
        if (instance.first == instance.last) return;
        const buffer_index b = instance.buffer;
        const model_access& first = model_.accesses[instance.first];
        version now{.buffer = b, .comes_in = task_.start[b] == host};
        bool there = first.reads;
        std::uint32_t index = first.before;
        const auto begin = [&] { now.first = static_cast<std::uint32_t>(all_readers_.size()); };
        const auto end = [&](bool finals) {
            if (!there) return;
            const model_version& v = model_.versions[index];
            now.last = static_cast<std::uint32_t>(all_readers_.size());
            now.dirty = !v.on_host_at_start && !(v.initial && model_.copy_of[index] != index);
            now.stays = finals && instance.tail != link_kind::dead;
            now.goes_out_last = finals && now.maker != no_operator && task_.finish[b] == host;
            versions_.push_back(now);
        };
        begin();
        for (std::uint32_t a = instance.first; a < instance.last; ++a) {
            const model_access& access = model_.accesses[a];
            const operator_index op = model_.steps[access.step].op;
            if (access.reads) all_readers_.push_back(op);  // none: the end
            if (!access.writes) continue;
            end(false);
            now = {.buffer = b, .maker = op};
            there = true;
            index = access.after;
            begin();
        }
        end(true);
    }
    void mark(operator_index op, const neighbours& next, std::uint32_t side) {
        stack_.assign(1, op);
        while (!stack_.empty()) {
            const operator_index at = stack_.back();
            stack_.pop_back();
            for (const operator_index other : next[at]) {
                if (node_[other] == side) continue;
                node_[other] = side;
                stack_.push_back(other);
            }
        }
    }
    [[nodiscard]] std::int64_t whole(double seconds) const {
        return static_cast<std::int64_t>(seconds * scale_);
    }
    [[nodiscard]] std::uint32_t node_of(operator_index op, std::uint32_t none_is) const {
        return op == no_operator ? none_is : node_[op];
    }
    /// Bytes that what crosses the start of `op` may take of the device.
    [[nodiscard]] double room_at(operator_index op) const {
        return capacity_ - static_cast<double>(own_bytes(program_, op));
    }
    void add_operator(operator_index op) {
        flow_.add_arc(node_[op], sink, whole(before_[compute] * seconds_[op]));
        flow_.add_arc(source, node_[op], whole(after_[compute] * seconds_[op]));
        // Whoever runs before has its makers before it.
        for (const operator_index maker : makers_[op])
            flow_.add_arc(node_[op], node_[maker], network::infinite);
    }
    [[nodiscard]] double seconds_out(const version& v) const {
        return static_cast<double>(program_.bytes(v.buffer)) / machine_.device_to_host_bytes_per_second;
    }
    [[nodiscard]] double seconds_in(const version& v) const {
        return static_cast<double>(program_.bytes(v.buffer)) / machine_.host_to_device_bytes_per_second;
    }
    [[nodiscard]] bool comes_in_first(const version& v) const {
        return v.comes_in && v.maker == no_operator && v.first < v.last;
    }
    void add_version(const version& v) {
        const std::uint32_t maker = node_of(v.maker, source);
        double weight = after_[crossing] * seconds_in(v);
        if (v.dirty) {
            const double out = before_[crossing] * seconds_out(v);
            if (v.stays) {
                flow_.add_arc(maker, sink, whole(out));
            } else {
                weight += out;
            }
        }
        if (weight > 0 && v.first < v.last) {
            const std::uint32_t wanted = flow_.add_node();
            flow_.add_arc(maker, wanted, whole(weight));
            for (std::uint32_t k = v.first; k < v.last; ++k)
                flow_.add_arc(wanted, node_of(all_readers_[k], sink), network::infinite);
        }
        if (before_[sure_copies] > 0 && comes_in_first(v)) {
            const std::uint32_t loaded = flow_.add_node();
            for (std::uint32_t k = v.first; k < v.last; ++k) {
                const operator_index reader = all_readers_[k];
                if (reader == no_operator) continue;
                flow_.add_arc(reader == op_ ? source : node_[reader], loaded, network::infinite);
            }
            flow_.add_arc(loaded, sink,
                          whole(before_[sure_copies] *
                                move_seconds(vertex_kind::reload, program_.bytes(v.buffer), machine_)));
        }
        if (v.goes_out_last) {
            flow_.add_arc(source, maker,
                          whole(after_[sure_copies] *
                                move_seconds(vertex_kind::offload, program_.bytes(v.buffer), machine_)));
        }
    }
    /// What takes how long on either side of the last cut.
    void look_at_cut() {
        flow_.mark_reached_from(source, in_source_);
        const double room = room_at(op_);
        spent_before_ = {0, -room / machine_.device_to_host_bytes_per_second, 0};
        spent_after_ = {0, -room / machine_.host_to_device_bytes_per_second, 0};
        const auto is_before = [&](operator_index op) {
            return op != no_operator && in_source_[node_[op]] != 0;
        };
        for (operator_index op = 0; op < seconds_.size(); ++op)
            (is_before(op) ? spent_before_ : spent_after_)[compute] += seconds_[op];
        for (const version& v : versions_) {
            bool read_before = false;
            bool read_after = false;
            for (std::uint32_t k = v.first; k < v.last; ++k) {
                const operator_index reader = all_readers_[k];
                (is_before(reader) ? read_before : read_after) = true;
                read_before = read_before || reader == op_;
            }
            const bool made = v.maker == no_operator || is_before(v.maker);
            if (made && v.dirty && (v.stays || read_after)) spent_before_[crossing] += seconds_out(v);
            if (made && read_after) spent_after_[crossing] += seconds_in(v);
            const std::int64_t bytes = program_.bytes(v.buffer);
            if (comes_in_first(v) && read_before)
                spent_before_[sure_copies] += move_seconds(vertex_kind::reload, bytes, machine_);
            if (!made && v.goes_out_last)
                spent_after_[sure_copies] += move_seconds(vertex_kind::offload, bytes, machine_);
        }
    }
    /// Weights a step up the slope, which would gain that much if all of them could follow it.
    [[nodiscard]] static side_weights moved(side_weights weights, const side_weights& slope, double gain) {
        const double mean = (slope[0] + slope[1] + slope[2]) / 3;
        double steepness = 1e-300;
        for (const double each : slope)
            steepness += (each - mean) * (each - mean);
        for (std::size_t i = 0; i < weights.size(); ++i)
            weights[i] += gain / steepness * (slope[i] - mean);
        onto_simplex(weights);
        return weights;
    }

    const taskgraph& task_;
    const tensor_graph& program_;
    const residency_model& model_;
    double capacity_;
    const machine& machine_;
    std::vector<double> seconds_;  // by operator
    double total_ = 0;             // seconds of everything that could be counted
    double scale_ = 0;
    std::vector<version> versions_;
    std::vector<operator_index> all_readers_;
    neighbours makers_;                // by operator: who makes what it reads
    neighbours readers_;               // by operator: who reads what it makes
    std::vector<std::uint32_t> node_;  // by operator
    std::vector<operator_index> stack_;
    network flow_;
    operator_index op_ = no_operator;  // that starts at the moment
    side_weights before_{};
    side_weights after_{};
    std::vector<std::uint8_t> in_source_;  // by node: it is on the near side of the last cut
    side_weights spent_before_{};          // seconds by side_count, of the best cut
    side_weights spent_after_{};
};
using least_cut_bound = basic_least_cut_bound<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_least_cut_bound<>;
#endif

}  // namespace stowage::turnip::detail
