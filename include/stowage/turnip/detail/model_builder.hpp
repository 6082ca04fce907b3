#pragma once
// From a taskgraph and an order of its operators to the model that residency is decided on: walks the order
// once, adds transfers between devices where an operator reads what another device holds, and lists the gaps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/forced_bytes.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Makes the model of one order. O(accesses + steps x devices).
template <class = void>
class basic_model_builder {
public:
    /// `merged`: all devices are taken for one (their bytes add up, transfers cost nothing), as a bound does.
    basic_model_builder(const taskgraph& task, std::int64_t alignment, bool merged)
        : task_(task), program_(task.program), merged_(merged) {
        model_.devices = merged ? 1 : task.devices;
        model_.alignment = alignment;
    }

    /// `parked`: see parking.
    [[nodiscard]] residency_model operator()(std::span<const operator_index> order,
                                             std::span<const parking> parked = {}) {
        const std::size_t buffers = program_.buffer_count();
        first_instance_.assign(buffers, none);
        current_.assign(buffers, residency_model::no_version);
        model_.parking_gates.assign(parked.size(), 0);
        std::vector<std::vector<std::uint32_t>> leaving(order.size());
        std::vector<std::vector<std::uint32_t>> returning(order.size());
        for (std::uint32_t k = 0; k < parked.size(); ++k) {
            leaving[parked[k].after].push_back(k);
            returning[parked[k].before].push_back(k);
        }
        start_versions();
        for (std::size_t at = 0; at < order.size(); ++at) {
            for (const std::uint32_t k : returning[at])
                fetch(parked[k].buffer, parked[k].device);
            run(order[at]);
            for (const std::uint32_t k : leaving[at])
                park(parked[k], model_.parking_gates[k]);
        }
        finish();
        model_.final_version = current_;
        sort_accesses();
        make_gaps();
        count_forced(program_, model_);
        check_sums(program_, model_);
        return std::move(model_);
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] memory_index merge(memory_index memory) const {
        return merged_ && memory != host && memory != anywhere ? 0 : memory;
    }
    [[nodiscard]] std::uint32_t instance_of(buffer_index b, memory_index device) {
        std::uint32_t last = none;
        for (std::uint32_t i = first_instance_[b]; i != none; i = next_instance_[i]) {
            if (model_.instances[i].device == device) return i;
            last = i;
        }
        const auto made = static_cast<std::uint32_t>(model_.instances.size());
        model_.instances.push_back({.buffer = b, .device = device});
        next_instance_.push_back(none);
        held_.push_back(residency_model::no_version);
        (last == none ? first_instance_[b] : next_instance_[last]) = made;
        return made;
    }
    [[nodiscard]] std::uint32_t step() const { return static_cast<std::uint32_t>(model_.steps.size() - 1); }
    std::uint32_t new_version(buffer_index b, std::uint32_t instance, bool clean) {
        model_.versions.push_back({.buffer = b,
                                   .instance = instance,
                                   .bytes_out = clean ? 0 : program_.bytes(b),
                                   .on_host_at_start = clean});
        holder_.push_back(instance);
        parked_.push_back(none);
        return static_cast<std::uint32_t>(model_.versions.size() - 1);
    }
    void touch(std::uint32_t instance, bool reads, bool writes, std::uint32_t after) {
        model_.accesses.push_back({.step = step(),
                                   .instance = instance,
                                   .before = reads ? held_[instance] : after,
                                   .after = after,
                                   .reads = reads,
                                   .writes = writes});
        held_[instance] = after;
        holder_[after] = instance;
    }
    /// Persistent and chosen by the compiler, the same at start and end.
    [[nodiscard]] bool wraps(buffer_index b) const {
        const buffer_kind kind = program_.kind(b);
        return task_.start[b] == anywhere && task_.finish[b] == anywhere && is_persistent(kind) &&
               kind != buffer_kind::input;
    }

    /// Starts on a device, is written, and must be wherever it was at the start, on the host too, in the end.
    [[nodiscard]] bool copy_follows(buffer_index b) const {
        const buffer_kind kind = program_.kind(b);
        return task_.repeatable && is_persistent(kind) && kind != buffer_kind::input && task_.is_written(b) &&
               task_.start[b] < task_.devices;
    }

    void start_versions() {
        model_.steps.push_back({});
        for (buffer_index b = 0; b < program_.buffer_count(); ++b) {
            if (program_.bytes(b) == 0 || program_.users(b).empty() || !is_alive_at_start(program_.kind(b)))
                continue;
            const memory_index start = merge(task_.start[b]);
            // What starts on a device may have a copy on the host too, for free, unless it must follow.
            const bool clean =
                start == anywhere ? !(wraps(b) && task_.is_written(b)) : start == host || !copy_follows(b);
            current_[b] = new_version(b, none, clean);
            model_.versions.back().initial = true;
            if (start == host || start == anywhere) continue;
            const std::uint32_t i = instance_of(b, start);
            model_.versions.back().instance = i;
            touch(i, false, true, current_[b]);
        }
    }
    /// Makes sure that the current version of `b` is on `device` at the next step.
    void fetch(buffer_index b, memory_index device) {
        const std::uint32_t i = instance_of(b, device);
        const std::uint32_t version = current_[b];
        if (held_[i] == version) return;
        const std::uint32_t source = source_of(version);
        const model_version& v = model_.versions[version];
        const bool starts_here = task_.start[b] < task_.devices;
        if (source == none || (v.initial && v.on_host_at_start && !starts_here && parked_[version] == none)) {
            held_[i] = version;  // from the host
            if (source == none) model_.versions[version].instance = i;
            return;
        }
        transfer(source, i, version);
        if (parked_[version] == i) {
            parked_[version] = none;  // it is back
        } else {
            holder_[version] = source;
        }
    }
    /// Who made a version sends it to everybody, over links of its own (chained from one reader to the next,
    /// transfers would wait for each other); once that is gone, who had it last does.
    [[nodiscard]] std::uint32_t source_of(std::uint32_t version) const {
        const std::uint32_t maker = model_.versions[version].instance;
        return maker != none && held_[maker] == version ? maker : holder_[version];
    }
    void transfer(std::uint32_t source, std::uint32_t target, std::uint32_t version) {
        model_.steps.push_back({.device = model_.instances[target].device,
                                .source = source,
                                .target = target,
                                .is_transfer = true});
        touch(source, true, false, version);
        touch(target, false, true, version);
    }
    /// The buffer waits on another device, if it is where it was thought to be.
    void park(const parking& parked, std::uint32_t& gate) {
        const std::uint32_t version = current_[parked.buffer];
        const std::uint32_t from = instance_of(parked.buffer, parked.device);
        const std::uint32_t to = instance_of(parked.buffer, parked.peer);
        if (held_[from] != version || parked_[version] != none) return;
        if (held_[to] != version) transfer(from, to, version);
        gate = step();
        held_[from] = residency_model::no_version;
        holder_[version] = to;
        parked_[version] = from;
    }
    void run(operator_index op) {
        const memory_index device = merge(task_.placement[op]);
        list_accesses(op);
        for (const auto& [b, reads, writes] : operands_) {
            if (reads) fetch(b, device);
        }
        model_.steps.push_back({.op = op, .device = device});
        for (const auto& [b, reads, writes] : operands_) {
            const std::uint32_t i = instance_of(b, device);
            if (writes) current_[b] = new_version(b, i, false);
            touch(i, reads, writes, current_[b]);
        }
    }
    struct operand_use {
        buffer_index buffer;
        bool reads;
        bool writes;
    };
    void list_accesses(operator_index op) {
        operands_.clear();
        for (const buffer_index b : program_.reads(op)) {
            if (program_.bytes(b) > 0) operands_.push_back({b, true, false});
        }
        for (const buffer_index b : program_.writes(op)) {
            if (program_.bytes(b) > 0) operands_.push_back({b, false, true});
        }
        std::sort(operands_.begin(), operands_.end(), [](const operand_use& x, const operand_use& y) {
            return x.buffer != y.buffer ? x.buffer < y.buffer : x.reads > y.reads;
        });
        std::size_t kept = 0;
        for (const operand_use& use : operands_) {
            if (kept > 0 && operands_[kept - 1].buffer == use.buffer) {
                operands_[kept - 1].reads |= use.reads;
                operands_[kept - 1].writes |= use.writes;
            } else {
                operands_[kept++] = use;
            }
        }
        operands_.resize(kept);
    }
    void finish() {
        std::vector<std::uint32_t> at_end;
        for (buffer_index b = 0; b < program_.buffer_count(); ++b) {
            if (current_[b] == residency_model::no_version) continue;
            memory_index end = merge(task_.finish[b]);
            const memory_index start = merge(task_.start[b]);
            const bool starts = is_persistent(program_.kind(b)) && start != host && start != anywhere;
            // What nobody writes is intact where it began; an input's bytes may be taken. If there is but one
            // run, one of its places at the start is enough, and that may be one on the host.
            if (starts && task_.repeatable && !task_.is_written(b) && program_.kind(b) != buffer_kind::input)
                end = start;
            if (end == host || end == anywhere) continue;
            fetch(b, end);
            const std::uint32_t i = instance_of(b, end);
            at_end.push_back(i);
            model_.instances[i].tied = starts && end == start && program_.kind(b) != buffer_kind::input &&
                                       (task_.repeatable || !task_.is_written(b));
        }
        model_.steps.push_back({});
        for (const std::uint32_t i : at_end)
            touch(i, true, false, held_[i]);
    }
    void sort_accesses() {
        std::vector<std::uint32_t> first(model_.instances.size() + 1, 0);
        for (const model_access& a : model_.accesses)
            ++first[a.instance + 1];
        for (std::size_t i = 0; i < model_.instances.size(); ++i) {
            first[i + 1] += first[i];
            model_.instances[i].first = first[i];
            model_.instances[i].last = first[i];
        }
        std::vector<model_access> sorted(model_.accesses.size());
        for (const model_access& a : model_.accesses)
            sorted[model_.instances[a.instance].last++] = a;
        model_.accesses.swap(sorted);
    }
    [[nodiscard]] std::int64_t rounded(buffer_index b) const {
        return stowage::detail::align_up(program_.bytes(b), model_.alignment);
    }
    std::int32_t add_gap(const model_gap& gap) {
        model_.gaps.push_back(gap);
        return static_cast<std::int32_t>(model_.gaps.size() - 1);
    }
    void make_gaps() {
        model_.copy_of.resize(model_.versions.size());
        for (std::uint32_t v = 0; v < model_.copy_of.size(); ++v)
            model_.copy_of[v] = v;
        first_version_.assign(program_.buffer_count(), residency_model::no_version);
        for (std::uint32_t v = 0; v < model_.versions.size(); ++v) {
            if (model_.versions[v].initial) first_version_[model_.versions[v].buffer] = v;
        }
        for (std::uint32_t i = 0; i < model_.instances.size(); ++i) {
            const model_instance& instance = model_.instances[i];
            for (std::uint32_t a = instance.first + 1; a < instance.last; ++a) {
                const model_access& x = model_.accesses[a - 1];
                model_access& y = model_.accesses[a];
                if (!y.reads) {
                    y.link = link_kind::dead;
                } else if (x.step + 1 == y.step) {
                    y.link = link_kind::joined;
                } else {
                    y.link = add_gap({.instance = i,
                                      .lower = x.step + 1,
                                      .upper = y.step - 1,
                                      .version = x.after,
                                      .bytes = rounded(instance.buffer),
                                      .bytes_in = program_.bytes(instance.buffer)});
                }
            }
            if (instance.first < instance.last) make_ends(i);
        }
        for (buffer_index b = 0; b < program_.buffer_count(); ++b) {
            if (current_[b] == residency_model::no_version || task_.finish[b] != host) continue;
            model_.versions[current_[b]].goes_out = model_.versions[current_[b]].bytes_out > 0;
        }
        // A version that must go out costs that once, and nothing more.
        for (std::uint32_t v = 0; v < model_.versions.size(); ++v) {
            if (model_.versions[v].goes_out) model_.versions[model_.copy_of[v]].goes_out = true;
        }
        for (std::uint32_t v = 0; v < model_.versions.size(); ++v) {
            if (model_.copy_of[v] == v && model_.versions[v].goes_out) {
                model_.constant_out =
                    stowage::detail::checked_add(model_.constant_out, model_.versions[v].bytes_out);
            }
        }
    }
    /// What comes before the first access of instance i and after its last.
    void make_ends(std::uint32_t i) {
        model_instance& instance = model_.instances[i];
        model_access& first = model_.accesses[instance.first];
        const model_access& last = model_.accesses[instance.last - 1];
        const buffer_index b = instance.buffer;
        const bool initial = first.reads && model_.versions[first.before].initial;
        const bool finals = last.after == current_[b];
        const memory_index start = task_.start[b];
        first.link = link_kind::dead;
        const bool chosen = is_alive_at_start(program_.kind(b)) && start == anywhere;
        if (wraps(b)) {
            make_wrap(i, first, last, initial);
            return;
        }
        if (initial && chosen) {
            first.link = add_gap({.instance = i,
                                  .lower = 0,
                                  .upper = first.step - 1,
                                  .version = first.before,
                                  .bytes = rounded(b),
                                  .bytes_in = program_.bytes(b),
                                  .needs_copy = false});
        } else if (initial) {
            comes_in(first, b);
        }
        const bool output = program_.kind(b) == buffer_kind::output ||
                            (program_.kind(b) == buffer_kind::input && task_.is_written(b));
        if (finals && task_.finish[b] == host) {
            instance.tail = link_kind::moved;
        } else if (finals && output && task_.finish[b] == anywhere) {
            if (model_.versions[last.after].instance != i) return;
            instance.tail = add_gap({.instance = i,
                                     .lower = last.step + 1,
                                     .upper = model_.last_step(),
                                     .version = last.after,
                                     .bytes = rounded(b)});
        }
    }
    void comes_in(model_access& first, buffer_index b) {
        first.link = link_kind::moved;
        model_.constant_in = stowage::detail::checked_add(model_.constant_in, program_.bytes(b));
    }
    /// A buffer that is, at the end, where it was at the start; the compiler chooses where.
    void make_wrap(std::uint32_t i, model_access& first, const model_access& last, bool initial) {
        model_instance& instance = model_.instances[i];
        const buffer_index b = instance.buffer;
        const bool written = task_.is_written(b);
        const std::uint32_t home = model_.versions[current_[b]].instance;
        const std::uint32_t reader = model_.versions[first_version_[b]].instance;
        if (written && reader != none && reader != home) {
            // One device reads the old contents, another makes the new ones: they pass through the host.
            if (initial) comes_in(first, b);
            if (home == i) instance.tail = link_kind::moved;
            model_.versions[current_[b]].goes_out = true;
            model_.versions[first_version_[b]].bytes_out = 0;
            model_.versions[first_version_[b]].on_host_at_start = true;
            return;
        }
        if (written ? home != i : !initial) return;
        if (written) model_.copy_of[first_version_[b]] = current_[b];
        const std::int32_t gap = add_gap({.instance = i,
                                          .lower = last.step + 1,
                                          .upper = initial ? first.step - 1 : 0,
                                          .version = last.after,
                                          .bytes = rounded(b),
                                          .bytes_in = initial ? program_.bytes(b) : 0,
                                          .wrapped = true});
        if (initial) first.link = gap;
        instance.tail = gap;
        instance.tied = true;
    }
    const taskgraph& task_;
    const tensor_graph& program_;
    bool merged_;
    residency_model model_;
    std::vector<std::uint32_t> first_instance_;  // by buffer
    std::vector<std::uint32_t> next_instance_;   // by instance: the buffer's next one
    std::vector<std::uint32_t> held_;            // by instance: the version that it held last
    std::vector<std::uint32_t> holder_;          // by version: the instance that had it last
    std::vector<std::uint32_t> parked_;          // by version: the instance from which it is parked, or none
    std::vector<std::uint32_t> current_;         // by buffer
    std::vector<std::uint32_t> first_version_;   // by buffer
    std::vector<operand_use> operands_;
};
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_model_builder<>;
#endif

/// The model of a legal order of a taskgraph. O(accesses + steps x devices).
template <class = void>
[[nodiscard]] residency_model make_residency_model(const taskgraph& task,
                                                   std::span<const operator_index> order,
                                                   std::int64_t alignment, bool merged = false,
                                                   std::span<const parking> parked = {}) {
    return basic_model_builder<>(task, alignment, merged)(order, parked);
}

}  // namespace stowage::turnip::detail
