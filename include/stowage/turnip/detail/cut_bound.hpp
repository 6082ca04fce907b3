#pragma once
// A lower bound on the time of any run in any legal order, from single operators: when one starts, all that
// makes its operands, and theirs, has run, and nothing that needs its results has. What was made before and
// is wanted after is on the device or has been copied; the copies and the computing on both sides of that
// moment take their time. It is the split bound (papers/offload.md) where the order is open.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/own_bytes.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Bounds from moments of one program on one device with one compute lane. Everything given must outlive it.
template <class = void>
class basic_cut_bound {
public:
    basic_cut_bound(const taskgraph& task, const residency_model& model,
                    std::span<const operator_index> order, std::int64_t capacity, const machine& m)
        : task_(task), program_(task.program), model_(model), capacity_(static_cast<double>(capacity)),
          machine_(m), side_(program_.operator_count(), side::open) {
        // Only who reads what another made must wait for it: an overwritten buffer may lie in two places.
        std::vector<operator_index> writer(program_.buffer_count(), no_operator);
        makers_.resize(side_.size());
        readers_.resize(side_.size());
        for (const operator_index op : order) {
            seconds_.push_back(0);
            for (const buffer_index b : program_.reads(op)) {
                if (writer[b] == no_operator) continue;
                makers_[op].push_back(writer[b]);
                readers_[writer[b]].push_back(op);
            }
            for (const buffer_index b : program_.writes(op))
                writer[b] = op;
        }
        for (operator_index op = 0; op < seconds_.size(); ++op)
            seconds_[op] = operator_seconds(program_, op, m);
    }
    /// Seconds that a run takes at least, from the moment at which `op` starts. O(accesses).
    [[nodiscard]] double operator()(operator_index op) {
        std::fill(side_.begin(), side_.end(), side::open);
        const double before = reach(op, makers_, side::before);
        const double after = reach(op, readers_, side::after) + seconds_[op];
        side_[op] = side::after;
        copies found;
        for (const model_instance& instance : model_.instances)
            look(instance, found);
        first_loads(op, found);
        const double room = capacity_ - static_cast<double>(own_bytes(program_, op));
        const double out = (found.out - room) / machine_.device_to_host_bytes_per_second;
        const double in = (found.in - room) / machine_.host_to_device_bytes_per_second;
        return std::max({before, out, found.first_loads}) + std::max({after, in, found.last_stores});
    }

private:
    enum class side : std::uint8_t { open, before, after };
    struct copies {
        double out = 0;          // bytes made before and wanted after, without a copy on the host
        double in = 0;           // bytes that are there before and are read after
        double first_loads = 0;  // seconds of what comes in before
        double last_stores = 0;  // seconds of what goes out after
    };
    using neighbours = std::vector<std::vector<operator_index>>;

    /// Marks all that is reached from `op`, but not `op`; the seconds that it computes.
    double reach(operator_index op, const neighbours& next, side mark) {
        double sum = 0;
        stack_.assign(1, op);
        while (!stack_.empty()) {
            const operator_index at = stack_.back();
            stack_.pop_back();
            for (const operator_index other : next[at]) {
                if (side_[other] == mark) continue;
                side_[other] = mark;
                sum += seconds_[other];
                stack_.push_back(other);
            }
        }
        return sum;
    }
    [[nodiscard]] side side_of(std::uint32_t step) const {
        const operator_index op = model_.steps[step].op;
        if (op != no_operator) return side_[op];
        return step == 0 ? side::before : step == model_.last_step() ? side::after : side::open;
    }
    /// One buffer, version by version.
    void look(const model_instance& instance, copies& found) const {
        if (instance.first == instance.last) return;
        const buffer_index b = instance.buffer;
        const auto bytes = static_cast<double>(program_.bytes(b));
        const model_access& first = model_.accesses[instance.first];
        bool made = first.reads;  // it is there from the start
        bool wanted = false;
        bool ends_after = false;
        std::uint32_t version = first.before;
        const auto close = [&](bool finals) {
            if (!made) return;
            const model_version& v = model_.versions[version];
            const bool saved = v.on_host_at_start || (v.initial && model_.copy_of[version] != version);
            const bool at_end = finals && instance.tail != link_kind::dead;
            if ((wanted || at_end) && !saved) found.out += bytes;
            if (wanted) found.in += bytes;
        };
        for (std::uint32_t a = instance.first; a < instance.last; ++a) {
            const model_access& access = model_.accesses[a];
            const side at = side_of(access.step);
            if (access.reads && at == side::after) wanted = true;
            if (!access.writes) continue;
            close(false);
            made = at == side::before;
            wanted = false;
            version = access.after;
            ends_after = at == side::after;
        }
        close(true);
        if (task_.finish[b] == host && ends_after)
            found.last_stores += move_seconds(vertex_kind::offload, program_.bytes(b), machine_);
    }
    /// What starts on the host and is read by `op`, or before it, has come in.
    void first_loads(operator_index op, copies& found) const {
        for (const model_instance& instance : model_.instances) {
            if (instance.first == instance.last || task_.start[instance.buffer] != host) continue;
            bool comes = false;
            for (std::uint32_t a = instance.first; a < instance.last; ++a) {
                const model_access& access = model_.accesses[a];
                const operator_index reader = model_.steps[access.step].op;
                comes = comes || (access.reads && reader != no_operator &&
                                  (reader == op || side_[reader] == side::before));
                if (access.writes) break;
            }
            if (comes) {
                found.first_loads +=
                    move_seconds(vertex_kind::reload, program_.bytes(instance.buffer), machine_);
            }
        }
    }

    const taskgraph& task_;
    const tensor_graph& program_;
    const residency_model& model_;
    double capacity_;
    const machine& machine_;
    std::vector<side> side_;       // by operator
    std::vector<double> seconds_;  // by operator
    neighbours makers_;            // by operator: who makes what it reads
    neighbours readers_;           // by operator: who reads what it makes
    std::vector<operator_index> stack_;
};
using cut_bound = basic_cut_bound<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_cut_bound<>;
#endif

}  // namespace stowage::turnip::detail
