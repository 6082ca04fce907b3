#pragma once
// Fills and checks the arrays of a tensor_graph, one buffer and one operator at a time, in program order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/detail/fnv.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/detail/implied_edges.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::detail {

struct buffer_facts {
    std::int64_t bytes = 0;  // -1 where it is negative or beyond 2^63 - 1
    buffer_kind kind = buffer_kind::intermediate;
    std::int64_t alignment = 1;
    std::optional<std::int64_t> pinned = {};
    std::string_view name = {};
};

struct operator_facts {
    stowage::stage stage = stage::unknown;
    std::int64_t workspace = 0;
    std::int64_t device = 0;
    std::optional<double> flops = {};
    std::optional<double> seconds = {};
};

/// An array that stays empty as long as every value is the default.
template <class T>
void push_sparse(std::vector<T>& values, std::size_t position, T value, T standard) {
    if (values.empty()) {
        if (value == standard) return;
        values.assign(position, standard);
    }
    values.push_back(value);
}

template <class = void>
class basic_graph_builder {
public:
    /// `is_new` is false where the graph has named this buffer before.
    void add_buffer(const buffer_facts& facts, bool is_new = true) {
        const std::size_t index = data_.bytes.size();
        const auto fail = [&](const char* rule) {
            throw program_error(rule, {}, {index, std::string(facts.name)});
        };
        if (index >= limit) fail("a program has less than 2^32 - 1 buffers");
        if (!is_new) fail("it stands twice among the buffers");
        if (facts.bytes < 0) fail("its size is not in 0 to 2^63 - 1");
        if (static_cast<std::size_t>(facts.kind) >= buffer_kind_count) fail("its kind is out of range");
        if (facts.alignment <= 0) fail("its alignment is not in 1 to 2^63 - 1");
        if (facts.pinned && *facts.pinned < 0) fail("its offset is not in 0 to 2^63 - 1");
        std::int64_t& sum = is_persistent(facts.kind) ? persistent_bytes_ : planned_bytes_;
        if (__builtin_add_overflow(sum, facts.bytes, &sum)) {
            throw overflow_error(subject{index, std::string(facts.name)}.text("buffer") +
                                 ": the sum of bytes passes 2^63 - 1");
        }
        data_.bytes.push_back(facts.bytes);
        data_.kind.push_back(facts.kind);
        push_sparse<std::int64_t>(data_.alignment, index, facts.alignment, 1);
        push_sparse<std::int64_t>(data_.pinned, index, facts.pinned.value_or(-1), -1);
        append(data_.buffer_names, index, facts.name);
    }

    void begin_operator(const operator_facts& facts, std::string_view name) {
        finish_operator();
        const std::size_t index = data_.stages.size();
        append(data_.operator_names, index, name);
        if (index >= limit) fail("a program has less than 2^32 - 1 operators");
        if (facts.workspace < 0) fail("its workspace is not in 0 to 2^63 - 1");
        if (static_cast<std::size_t>(facts.stage) >= stage_names.size()) fail("its stage is out of range");
        if (facts.device < 0 || facts.device > std::numeric_limits<std::uint32_t>::max())
            fail("its device is not in 0 to 2^32 - 1");
        largest_workspace_ = std::max(largest_workspace_, facts.workspace);
        data_.stages.push_back(facts.stage);
        push_sparse<std::int64_t>(data_.workspace, index, facts.workspace, 0);
        push_sparse<std::uint32_t>(data_.device, index, static_cast<std::uint32_t>(facts.device), 0);
        push_sparse<double>(data_.flops, index, facts.flops.value_or(-1.0), -1.0);
        push_sparse<double>(data_.seconds, index, facts.seconds.value_or(-1.0), -1.0);
        open_ = true;
    }
    void add_read(std::size_t buffer) { add_access(buffer, "reads a buffer that does not exist"); }
    void add_write(std::size_t buffer) {
        if (!writing_) start_writes();
        add_access(buffer, "writes a buffer that does not exist");
    }
    /// To be told whether the operator begun last had been named before.
    void require_new_operator(bool is_new) const {
        if (!is_new) fail("it stands twice among the operators");
    }
    void add_control_predecessor(std::size_t op) {
        if (op == no_index || op + 1 >= data_.stages.size()) {
            fail("it is to run after an operator that is not before it in program order");
        }
        control_.emplace_back(static_cast<operator_index>(data_.stages.size() - 1),
                              static_cast<operator_index>(op));
    }

    [[nodiscard]] graph_data finish() {
        finish_operator();
        if (largest_workspace_ > std::numeric_limits<std::int64_t>::max() - planned_bytes_) {
            throw overflow_error("the sum of planned bytes and the largest workspace passes 2^63 - 1");
        }
        collect_users();
        infer_dependencies();
        compute_fingerprint();
        shrink(data_.bytes, data_.kind, data_.alignment, data_.pinned, data_.stages, data_.workspace,
               data_.device, data_.write_begin, data_.accesses_of_operator.begin,
               data_.accesses_of_operator.values, data_.predecessors.begin, data_.predecessors.values,
               data_.flops, data_.seconds, data_.operator_names.begin, data_.buffer_names.begin);
        return std::move(data_);
    }

private:
    static constexpr std::size_t limit = std::numeric_limits<std::uint32_t>::max() - 1;

    template <class... Vectors>
    static void shrink(Vectors&... vectors) {
        (vectors.shrink_to_fit(), ...);
    }

    [[noreturn]] void fail(const char* rule, std::size_t buffer = no_index) const {
        const std::size_t op = data_.write_begin.size();
        throw program_error(rule, {op, std::string(data_.operator_names[op])},
                            buffer == no_index ? subject{} : subject{buffer, buffer_name(buffer)});
    }
    [[nodiscard]] std::string buffer_name(std::size_t buffer) const {
        return buffer < data_.bytes.size() ? std::string(data_.buffer_names[buffer]) : std::string{};
    }

    static void append(texts& names, std::size_t index, std::string_view name) {
        if (names.begin.empty()) {
            if (name.empty()) return;
            names.begin.assign(index + 1, 0);
        }
        if (names.characters.size() + name.size() > limit) name = {};
        names.characters.append(name);
        names.begin.push_back(static_cast<std::uint32_t>(names.characters.size()));
    }

    void start_writes() {
        writing_ = true;
        write_begin_ = static_cast<std::uint32_t>(data_.accesses_of_operator.values.size());
    }
    void add_access(std::size_t buffer, const char* rule) {
        if (buffer >= data_.bytes.size()) fail(rule);
        if (data_.accesses_of_operator.values.size() >= limit)
            fail("a program has less than 2^32 - 1 accesses");
        data_.accesses_of_operator.values.push_back(static_cast<buffer_index>(buffer));
    }
    void finish_operator() {
        if (!open_) return;
        if (!writing_) start_writes();
        data_.write_begin.push_back(write_begin_);
        data_.accesses_of_operator.begin.push_back(
            static_cast<std::uint32_t>(data_.accesses_of_operator.values.size()));
        open_ = writing_ = false;
    }

    [[nodiscard]] std::size_t operator_count() const noexcept { return data_.write_begin.size(); }

    /// Calls visit(op, buffer, is_write) for every access in program order, reads before writes.
    template <class Visit>
    void for_each_access(Visit visit) const {
        const rows& accesses = data_.accesses_of_operator;
        for (std::size_t op = 0; op < operator_count(); ++op) {
            for (std::uint32_t k = accesses.begin[op]; k < accesses.begin[op + 1]; ++k) {
                visit(static_cast<operator_index>(op), accesses.values[k], k >= data_.write_begin[op]);
            }
        }
    }

    /// Users of each buffer, and the rules on reads before writes.
    void collect_users() {
        const std::size_t buffers = data_.bytes.size();
        std::vector<operator_index> last(buffers, no_operator);
        std::vector<bool> written(buffers, false);
        rows& users = data_.operators_of_buffer;
        users.begin.assign(buffers + 1, 0);
        for_each_access([&](operator_index op, buffer_index b, bool is_write) {
            if (!is_write && !written[b] && !is_alive_at_start(data_.kind[b])) {
                throw program_error("it reads a buffer that no operator has written before",
                                    {op, std::string(data_.operator_names[op])}, {b, buffer_name(b)});
            }
            if (is_write) written[b] = true;
            if (last[b] == op) return;
            last[b] = op;
            ++users.begin[b + 1];
        });
        for (std::size_t b = 0; b < buffers; ++b) {
            if (data_.kind[b] == buffer_kind::output && !written[b]) {
                throw program_error("an output that no operator writes", {}, {b, buffer_name(b)});
            }
            users.begin[b + 1] += users.begin[b];
        }
        users.values.resize(users.begin.back());
        std::vector<std::uint32_t> next(users.begin.begin(), users.begin.end() - 1);
        last.assign(buffers, no_operator);
        for_each_access([&](operator_index op, buffer_index b, bool) {
            if (last[b] == op) return;
            last[b] = op;
            users.values[next[b]++] = op;
        });
    }

    /// The hazards in program order, without those that others imply.
    void infer_dependencies() {
        const std::size_t count = operator_count();
        const std::size_t buffers = data_.bytes.size();
        constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
        struct reader {
            operator_index op;
            std::uint32_t next;
        };
        std::vector<reader> readers;  // lists of the readers since the last write
        std::vector<std::uint32_t> first_reader(buffers, none);
        std::vector<operator_index> last_write(buffers, no_operator);
        std::vector<operator_index> written_by(buffers, no_operator);
        std::vector<operator_index> seen(count, no_operator);  // seen[p] == op: edge p -> op exists
        implied_edges implied(count);
        std::stable_sort(control_.begin(), control_.end());
        std::size_t next_control = 0;
        rows& predecessors = data_.predecessors;
        const rows& accesses = data_.accesses_of_operator;
        for (std::size_t i = 0; i < count; ++i) {
            const auto op = static_cast<operator_index>(i);
            const auto depend_on = [&](operator_index before) {
                if (before == no_operator || before == op || seen[before] == op) return;
                seen[before] = op;
                predecessors.values.push_back(before);
            };
            const std::uint32_t begin = accesses.begin[i];
            const std::uint32_t middle = data_.write_begin[i];
            const std::uint32_t end = accesses.begin[i + 1];
            for (std::uint32_t k = middle; k < end; ++k) {
                const buffer_index b = accesses.values[k];
                if (written_by[b] == op) continue;
                if (first_reader[b] == none) depend_on(last_write[b]);
                for (std::uint32_t r = first_reader[b]; r != none; r = readers[r].next)
                    depend_on(readers[r].op);
                first_reader[b] = none;
                written_by[b] = op;
            }
            for (std::uint32_t k = begin; k < middle; ++k) {
                const buffer_index b = accesses.values[k];
                if (written_by[b] == op) continue;
                depend_on(last_write[b]);
                if (first_reader[b] != none && readers[first_reader[b]].op == op) continue;
                readers.push_back({op, first_reader[b]});
                first_reader[b] = static_cast<std::uint32_t>(readers.size() - 1);
            }
            for (std::uint32_t k = middle; k < end; ++k)
                last_write[accesses.values[k]] = op;
            for (; next_control < control_.size() && control_[next_control].first == op; ++next_control)
                depend_on(control_[next_control].second);
            std::sort(predecessors.values.begin() + predecessors.begin.back(), predecessors.values.end());
            implied.filter(predecessors.values, predecessors.begin.back(), op,
                           [&](operator_index p) { return predecessors[p]; });
            if (predecessors.values.size() >= limit) {
                throw program_error("a program has less than 2^32 - 1 dependencies", {i, {}});
            }
            predecessors.begin.push_back(static_cast<std::uint32_t>(predecessors.values.size()));
        }
        transpose_dependencies();
    }

    void transpose_dependencies() {
        const std::size_t count = operator_count();
        const rows& predecessors = data_.predecessors;
        rows& successors = data_.successors;
        successors.begin.assign(count + 1, 0);
        for (const operator_index before : predecessors.values)
            ++successors.begin[before + 1];
        for (std::size_t i = 0; i < count; ++i)
            successors.begin[i + 1] += successors.begin[i];
        successors.values.resize(predecessors.values.size());
        std::vector<std::uint32_t> next(successors.begin.begin(), successors.begin.end() - 1);
        for (std::size_t i = 0; i < count; ++i) {
            for (const operator_index before : predecessors[i])
                successors.values[next[before]++] = static_cast<operator_index>(i);
        }
    }

    void compute_fingerprint() {
        fnv1a_64 hash;
        hash.add(data_.bytes.size());
        for (std::size_t b = 0; b < data_.bytes.size(); ++b) {
            hash.add(static_cast<std::uint64_t>(data_.bytes[b]));
            hash.add(static_cast<std::uint64_t>(data_.kind[b]));
        }
        hash.add(operator_count());
        const rows& accesses = data_.accesses_of_operator;
        for (std::size_t op = 0; op < operator_count(); ++op) {
            const std::uint32_t middle = data_.write_begin[op];
            hash.add(middle - accesses.begin[op]);
            for (std::uint32_t k = accesses.begin[op]; k < middle; ++k)
                hash.add(accesses.values[k]);
            hash.add(accesses.begin[op + 1] - middle);
            for (std::uint32_t k = middle; k < accesses.begin[op + 1]; ++k)
                hash.add(accesses.values[k]);
            hash.add(data_.workspace.empty() ? 0 : static_cast<std::uint64_t>(data_.workspace[op]));
            hash.add(data_.device.empty() ? 0 : data_.device[op]);
        }
        data_.fingerprint = hash.value();
    }

    graph_data data_;
    std::vector<std::pair<operator_index, operator_index>> control_;  // (after, before)
    std::int64_t planned_bytes_ = 0;
    std::int64_t persistent_bytes_ = 0;
    std::int64_t largest_workspace_ = 0;
    std::uint32_t write_begin_ = 0;
    bool open_ = false;
    bool writing_ = false;
};
using graph_builder = basic_graph_builder<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_graph_builder<>;
#endif

}  // namespace stowage::detail
