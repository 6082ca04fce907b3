#pragma once
// The compact, immutable form in which every planner works: compressed rows of accesses and of dependencies,
// 32-bit indices, at most 64 bytes an operator and 8 bytes an access beside the names (measured by
// memory_bytes()).

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/buffer_kind.hpp>
#include <stowage/graph/stage.hpp>

namespace stowage {

/// Position of an operator in its program.
using operator_index = std::uint32_t;
/// Position of a buffer in its program.
using buffer_index = std::uint32_t;
/// Stands for "no operator" where an operator_index is expected.
inline constexpr operator_index no_operator = std::numeric_limits<operator_index>::max();

namespace detail {

/// Rows of 32-bit values, one after the other: row i is values[begin[i], begin[i + 1]).
struct rows {
    std::vector<std::uint32_t> begin = {0};
    std::vector<std::uint32_t> values;
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t row) const noexcept {
        return {values.data() + begin[row], values.data() + begin[row + 1]};
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return (begin.capacity() + values.capacity()) * sizeof(std::uint32_t);
    }
};

/// Texts, one after the other in one string; empty where no text was ever given.
struct texts {
    std::vector<std::uint32_t> begin;
    std::string characters;
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
        if (begin.empty()) return {};
        return std::string_view(characters).substr(begin[index], begin[index + 1] - begin[index]);
    }
};

/// The arrays of a tensor_graph, filled by detail::graph_builder (graph/detail/build.hpp) and constant from
/// then on.
struct graph_data {
    rows accesses_of_operator;               // reads as listed, then writes as listed
    std::vector<std::uint32_t> write_begin;  // where an operator's writes begin in its row, absolute
    rows operators_of_buffer;                // distinct, in program order
    rows predecessors;                       // distinct, ascending
    rows successors;                         // distinct, ascending
    std::vector<std::int64_t> bytes;
    std::vector<buffer_kind> kind;
    std::vector<stage> stages;
    std::vector<std::int64_t> workspace;  // this and the following: empty where every value is the default
    std::vector<std::uint32_t> device;
    std::vector<std::int64_t> alignment;
    std::vector<std::int64_t> pinned;  // -1: not pinned
    std::vector<double> flops;         // -1: not known
    std::vector<double> seconds;       // -1: not known
    texts operator_names;
    texts buffer_names;
    std::uint64_t fingerprint = 0;
};

}  // namespace detail

/// A tensor program, compact and immutable. Made by make_tensor_graph from anything that models
/// tensor_program. All accessors are O(1) and may be used by any number of threads at once.
class tensor_graph {
public:
    /// An empty graph.
    tensor_graph() = default;
    /// Takes over arrays that detail::graph_builder has filled and checked.
    template <class = void>
    explicit tensor_graph(detail::graph_data data) : data_(std::move(data)) {}

    /// Number of operators.
    [[nodiscard]] std::size_t operator_count() const noexcept { return data_.write_begin.size(); }
    /// Number of buffers.
    [[nodiscard]] std::size_t buffer_count() const noexcept { return data_.bytes.size(); }
    /// Number of accesses: reads and writes, as listed.
    [[nodiscard]] std::size_t access_count() const noexcept {
        return data_.accesses_of_operator.values.size();
    }
    /// Number of dependencies between operators.
    [[nodiscard]] std::size_t dependency_count() const noexcept { return data_.predecessors.values.size(); }

    /// Buffers that `op` reads, as listed; may hold one twice.
    [[nodiscard]] std::span<const buffer_index> reads(operator_index op) const noexcept {
        const auto row = data_.accesses_of_operator[op];
        return row.first(data_.write_begin[op] - data_.accesses_of_operator.begin[op]);
    }
    /// Buffers that `op` writes, as listed; may hold one twice.
    [[nodiscard]] std::span<const buffer_index> writes(operator_index op) const noexcept {
        const auto row = data_.accesses_of_operator[op];
        return row.subspan(data_.write_begin[op] - data_.accesses_of_operator.begin[op]);
    }
    /// Reads, then writes of `op`, as listed; a buffer that it updates in place stands in both parts.
    [[nodiscard]] std::span<const buffer_index> accesses(operator_index op) const noexcept {
        return data_.accesses_of_operator[op];
    }
    /// Operators that must have run before `op`, each once, ascending. Most dependencies that others imply
    /// are left out: whether u must run before v is a question of paths (reachability.hpp), not of one edge.
    [[nodiscard]] std::span<const operator_index> predecessors(operator_index op) const noexcept {
        return data_.predecessors[op];
    }
    /// Operators that must run after `op`, each once, ascending.
    [[nodiscard]] std::span<const operator_index> successors(operator_index op) const noexcept {
        return data_.successors[op];
    }
    /// Operators that read or write `buffer`, each once, in program order.
    [[nodiscard]] std::span<const operator_index> users(buffer_index buffer) const noexcept {
        return data_.operators_of_buffer[buffer];
    }
    /// The operator at whose run the buffer is born: its first writer in program order, which every legal
    /// order runs first of all its users. `no_operator` for persistent and donated buffers, and for one that
    /// nobody uses.
    [[nodiscard]] operator_index producer(buffer_index buffer) const noexcept {
        if (is_alive_at_start(kind(buffer)) || users(buffer).empty()) return no_operator;
        return users(buffer).front();
    }
    /// Size in bytes.
    [[nodiscard]] std::int64_t bytes(buffer_index buffer) const noexcept { return data_.bytes[buffer]; }
    /// From when to when it holds contents.
    [[nodiscard]] buffer_kind kind(buffer_index buffer) const noexcept { return data_.kind[buffer]; }
    /// True if the plan gives it an offset: it is donated, intermediate or output, and some operator uses it.
    [[nodiscard]] bool is_planned(buffer_index buffer) const noexcept {
        return stowage::is_planned(kind(buffer)) && !users(buffer).empty();
    }
    /// Its offset is a multiple of this.
    [[nodiscard]] std::int64_t alignment(buffer_index buffer) const noexcept {
        return data_.alignment.empty() ? 1 : data_.alignment[buffer];
    }
    /// Its offset in the plan, if the program fixes it.
    [[nodiscard]] std::optional<std::int64_t> pinned_offset(buffer_index buffer) const noexcept {
        if (data_.pinned.empty() || data_.pinned[buffer] < 0) return std::nullopt;
        return data_.pinned[buffer];
    }
    /// Bytes that are alive only while `op` runs.
    [[nodiscard]] std::int64_t workspace(operator_index op) const noexcept {
        return data_.workspace.empty() ? 0 : data_.workspace[op];
    }
    /// True if some operator has workspace.
    [[nodiscard]] bool has_workspace() const noexcept { return !data_.workspace.empty(); }
    /// Part of the training step, as the program gave it.
    [[nodiscard]] stowage::stage stage(operator_index op) const noexcept { return data_.stages[op]; }
    /// Index of the device that runs `op`.
    [[nodiscard]] std::uint32_t device(operator_index op) const noexcept {
        return data_.device.empty() ? 0 : data_.device[op];
    }
    /// Arithmetic work of `op`, if known.
    [[nodiscard]] std::optional<double> flops(operator_index op) const noexcept {
        return known(data_.flops, op);
    }
    /// Time that `op` takes, if known.
    [[nodiscard]] std::optional<double> seconds(operator_index op) const noexcept {
        return known(data_.seconds, op);
    }
    /// The user's name of `op`; may be empty.
    [[nodiscard]] std::string_view operator_name(operator_index op) const noexcept {
        return data_.operator_names[op];
    }
    /// The user's name of `buffer`; may be empty.
    [[nodiscard]] std::string_view buffer_name(buffer_index buffer) const noexcept {
        return data_.buffer_names[buffer];
    }
    /// Index and name of `op`, for errors.
    [[nodiscard]] subject describe_operator(std::size_t op) const {
        return {op, op < operator_count() ? std::string(data_.operator_names[op]) : std::string{}};
    }
    /// Index and name of `buffer`, for errors.
    [[nodiscard]] subject describe_buffer(std::size_t buffer) const {
        return {buffer, buffer < buffer_count() ? std::string(data_.buffer_names[buffer]) : std::string{}};
    }
    /// Identifies the program: FNV-1a-64 over the words that docs/formats.md lists. A plan carries it.
    [[nodiscard]] std::uint64_t fingerprint() const noexcept { return data_.fingerprint; }

    /// The same program with other sizes: one a buffer, and one workspace an operator (empty: none).
    /// Accesses, dependencies, names and the fingerprint stay as they are. The caller keeps the sum of the
    /// planned sizes and the largest workspace below 2^63. O(size).
    template <class = void>
    [[nodiscard]] tensor_graph with_sizes(std::vector<std::int64_t> bytes,
                                          std::vector<std::int64_t> workspace) const {
        tensor_graph result = *this;
        result.data_.bytes = std::move(bytes);
        result.data_.workspace = std::move(workspace);
        return result;
    }

    /// Bytes of this form, without names and without the optional flops and seconds.
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return data_.accesses_of_operator.memory_bytes() + data_.operators_of_buffer.memory_bytes() +
               data_.predecessors.memory_bytes() + data_.successors.memory_bytes() +
               data_.write_begin.capacity() * sizeof(std::uint32_t) +
               (data_.bytes.capacity() + data_.workspace.capacity() + data_.alignment.capacity() +
                data_.pinned.capacity()) *
                   sizeof(std::int64_t) +
               data_.device.capacity() * sizeof(std::uint32_t) + data_.kind.capacity() +
               data_.stages.capacity();
    }

private:
    static std::optional<double> known(const std::vector<double>& values, operator_index op) noexcept {
        if (values.empty() || values[op] < 0) return std::nullopt;
        return values[op];
    }
    detail::graph_data data_;
};

}  // namespace stowage
