#pragma once
// From a user's own graph to the compact form: handles become indices, every rule of a tensor program is
// checked, and dependencies are inferred from the order of accesses (read after write, write after write,
// write after read).

#include <cstdint>
#include <optional>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>

#include <stowage/graph/concepts.hpp>
#include <stowage/graph/detail/build.hpp>
#include <stowage/graph/detail/handle_map.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage {

namespace detail {

/// A value that a graph may give as T, std::optional<T> or not at all.
template <class T, class Value>
[[nodiscard]] std::optional<T> optional_value(Value&& value) {
    if constexpr (requires { value.has_value(); }) {
        return value.has_value() ? std::optional<T>(static_cast<T>(*value)) : std::nullopt;
    } else {
        return static_cast<T>(value);
    }
}

template <class Traits, class Graph, class Map>
void read_buffers(const Graph& graph, Map& map, graph_builder& builder) {
    for (auto&& buffer : Traits::buffers(graph)) {
        buffer_facts facts;
        const auto bytes = Traits::bytes(graph, buffer);
        if constexpr (std::is_unsigned_v<std::remove_cvref_t<decltype(bytes)>> && sizeof(bytes) >= 8) {
            if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                facts.bytes = -1;
            else
                facts.bytes = static_cast<std::int64_t>(bytes);
        } else {
            facts.bytes = static_cast<std::int64_t>(bytes);
        }
        facts.kind = Traits::kind(graph, buffer);
        if constexpr (requires { Traits::alignment(graph, buffer); }) {
            facts.alignment = static_cast<std::int64_t>(Traits::alignment(graph, buffer));
        }
        if constexpr (requires { Traits::pinned_offset(graph, buffer); }) {
            facts.pinned = optional_value<std::int64_t>(Traits::pinned_offset(graph, buffer));
        }
        if constexpr (requires { Traits::buffer_name(graph, buffer); }) {
            const auto& name = Traits::buffer_name(graph, buffer);
            facts.name = std::string_view(name);
            builder.add_buffer(facts);
        } else {
            builder.add_buffer(facts);
        }
        map.add(buffer);
    }
}

template <class Traits, class Graph, class Operator>
[[nodiscard]] operator_facts read_operator(const Graph& graph, const Operator& op) {
    operator_facts facts;
    if constexpr (requires { Traits::stage(graph, op); }) facts.stage = Traits::stage(graph, op);
    if constexpr (requires { Traits::workspace(graph, op); }) {
        facts.workspace = static_cast<std::int64_t>(Traits::workspace(graph, op));
    }
    if constexpr (requires { Traits::device(graph, op); }) {
        facts.device = static_cast<std::uint32_t>(Traits::device(graph, op));
    }
    if constexpr (requires { Traits::flops(graph, op); }) {
        facts.flops = optional_value<double>(Traits::flops(graph, op));
    }
    if constexpr (requires { Traits::seconds(graph, op); }) {
        facts.seconds = optional_value<double>(Traits::seconds(graph, op));
    }
    return facts;
}

}  // namespace detail

/// Reads `graph` into the compact form. O(accesses + operators + buffers) time and memory, beside one hash
/// table where handles are no plain positions. Throws program_error, naming operator and buffer, if a handle
/// names nothing, a size is negative or beyond 2^63 - 1, a kind is out of range, an alignment is not
/// positive, an `intermediate` or `output` is read before it is written, an `output` is never written, or a
/// control edge leads backwards; overflow_error if the sum of all planned, or of all persistent, bytes passes
/// 2^63 - 1.
template <tensor_program Graph>
[[nodiscard]] tensor_graph make_tensor_graph(const Graph& graph) {
    using traits = program_traits<Graph>;
    detail::graph_builder builder;
    detail::handle_map<buffer_handle_t<Graph>> buffers;
    detail::handle_map<operator_handle_t<Graph>> operators;
    detail::read_buffers<traits>(graph, buffers, builder);
    for (auto&& op : traits::operators(graph)) {
        const detail::operator_facts facts = detail::read_operator<traits>(graph, op);
        if constexpr (requires { traits::operator_name(graph, op); }) {
            const auto& name = traits::operator_name(graph, op);
            builder.begin_operator(facts, std::string_view(name));
        } else {
            builder.begin_operator(facts, {});
        }
        for (auto&& buffer : traits::reads(graph, op))
            builder.add_read(buffers.find(buffer));
        for (auto&& buffer : traits::writes(graph, op))
            builder.add_write(buffers.find(buffer));
        if constexpr (requires { traits::control_predecessors(graph, op); }) {
            for (auto&& before : traits::control_predecessors(graph, op)) {
                builder.add_control_predecessor(operators.find(before));
            }
        }
        operators.add(op);
    }
    return tensor_graph(builder.finish());
}

/// A tensor_graph is used as it is.
[[nodiscard]] inline const tensor_graph& make_tensor_graph(const tensor_graph& graph) noexcept {
    return graph;
}

/// Anything that planners accept: a tensor_graph, or a user's graph that can be read into one.
template <class Graph>
concept plannable =
    std::same_as<std::remove_cvref_t<Graph>, tensor_graph> || tensor_program<std::remove_cvref_t<Graph>>;

}  // namespace stowage
