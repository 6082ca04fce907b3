#pragma once
// From a user's own graph to the compact form: handles become indices, every rule of a tensor program is
// checked, and dependencies are inferred from the order of accesses (read after write, write after write,
// write after read).

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>  // the concepts of ranges, without the views of <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <stowage/graph/concepts.hpp>
#include <stowage/graph/detail/build.hpp>
#include <stowage/graph/detail/handle_map.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage {

namespace detail {

/// What a graph may give where one number is asked for: T, or something optional of it.
template <class T>
concept maybe_integer = std::integral<std::remove_cvref_t<T>> ||
    requires(const std::remove_cvref_t<T>& value) {
    { value.has_value() } -> std::convertible_to<bool>;
    requires std::integral<std::remove_cvref_t<decltype(*value)>>;
};

template <class T>
concept maybe_number = maybe_integer<T> || std::floating_point<std::remove_cvref_t<T>> ||
    requires(const std::remove_cvref_t<T>& value) {
    { value.has_value() } -> std::convertible_to<bool>;
    requires std::floating_point<std::remove_cvref_t<decltype(*value)>>;
};

/// An integer of any type as 64 signed bits; -1 where it does not fit, which no check lets pass.
template <std::integral T>
[[nodiscard]] constexpr std::int64_t to_int64(T value) noexcept {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) {
        constexpr T largest = std::numeric_limits<std::int64_t>::max();
        return value <= largest ? static_cast<std::int64_t>(value) : -1;
    } else {
        return static_cast<std::int64_t>(value);
    }
}

/// The number in `value`, if there is one.
template <maybe_integer T>
[[nodiscard]] std::optional<std::int64_t> integer_in(const T& value) {
    if constexpr (std::integral<T>) {
        return to_int64(value);
    } else {
        return value.has_value() ? std::optional(to_int64(*value)) : std::nullopt;
    }
}
template <maybe_number T>
[[nodiscard]] std::optional<double> number_in(const T& value) {
    if constexpr (requires { value.has_value(); }) {
        return value.has_value() ? std::optional(static_cast<double>(*value)) : std::nullopt;
    } else {
        return static_cast<double>(value);
    }
}

template <class Traits, class Graph, class Buffer>
[[nodiscard]] buffer_facts read_buffer(const Graph& graph, const Buffer& buffer) {
    buffer_facts facts;
    facts.bytes = to_int64(Traits::bytes(graph, buffer));
    facts.kind = Traits::kind(graph, buffer);
    if constexpr (requires { Traits::alignment(graph, buffer); }) {
        static_assert(
            maybe_integer<decltype(Traits::alignment(graph, buffer))>,
            "program_traits<Graph>::alignment(graph, buffer) must give an integer, or an optional one");
        facts.alignment = integer_in(Traits::alignment(graph, buffer)).value_or(1);
    }
    if constexpr (requires { Traits::pinned_offset(graph, buffer); }) {
        static_assert(maybe_integer<decltype(Traits::pinned_offset(graph, buffer))>,
                      "program_traits<Graph>::pinned_offset(graph, buffer) must give an optional integer");
        facts.pinned = integer_in(Traits::pinned_offset(graph, buffer));
    }
    return facts;
}

template <class Traits, class Graph, class Operator>
[[nodiscard]] operator_facts read_operator(const Graph& graph, const Operator& op) {
    operator_facts facts;
    if constexpr (requires { Traits::stage(graph, op); }) {
        static_assert(std::convertible_to<decltype(Traits::stage(graph, op)), stowage::stage>,
                      "program_traits<Graph>::stage(graph, op) must give a stowage::stage");
        facts.stage = Traits::stage(graph, op);
    }
    if constexpr (requires { Traits::workspace(graph, op); }) {
        static_assert(maybe_integer<decltype(Traits::workspace(graph, op))>,
                      "program_traits<Graph>::workspace(graph, op) must give an integer, or an optional one");
        facts.workspace = integer_in(Traits::workspace(graph, op)).value_or(0);
    }
    if constexpr (requires { Traits::device(graph, op); }) {
        static_assert(maybe_integer<decltype(Traits::device(graph, op))>,
                      "program_traits<Graph>::device(graph, op) must give an integer, or an optional one");
        facts.device = integer_in(Traits::device(graph, op)).value_or(0);
    }
    if constexpr (requires { Traits::flops(graph, op); }) {
        static_assert(maybe_number<decltype(Traits::flops(graph, op))>,
                      "program_traits<Graph>::flops(graph, op) must give a number, or an optional one");
        facts.flops = number_in(Traits::flops(graph, op));
    }
    if constexpr (requires { Traits::seconds(graph, op); }) {
        static_assert(maybe_number<decltype(Traits::seconds(graph, op))>,
                      "program_traits<Graph>::seconds(graph, op) must give a number, or an optional one");
        facts.seconds = number_in(Traits::seconds(graph, op));
    }
    return facts;
}

template <class Range>
concept integer_range = integer_handle<std::ranges::range_reference_t<Range>>;

/// True if buffers are named by integers only; then nobody needs to remember their addresses.
template <class Graph>
inline constexpr bool buffers_by_position = requires(const Graph& graph, operator_handle_t<Graph> op) {
    { program_traits<Graph>::reads(graph, op) } -> integer_range;
    { program_traits<Graph>::writes(graph, op) } -> integer_range;
};

template <class Graph>
concept has_control = requires(const Graph& graph, operator_handle_t<Graph> op) {
    program_traits<Graph>::control_predecessors(graph, op);
};

/// True if operators are named by integers only, or not at all.
template <class Graph>
inline constexpr bool operators_by_position =
    !has_control<Graph> || requires(const Graph& graph, operator_handle_t<Graph> op) {
    { program_traits<Graph>::control_predecessors(graph, op) } -> integer_range;
};

}  // namespace detail

/// Reads `graph` into the compact form. O(accesses + operators + buffers) time and memory, beside one hash
/// table where handles are no plain positions. Throws program_error, naming operator and buffer, if a handle
/// names nothing or stands twice among buffers or operators, a size is negative or beyond 2^63 - 1, a kind, a
/// stage or a device is out of range, an alignment is not positive, an `intermediate` or `output` is read
/// before it is written, an `output` is never written, or a control edge leads backwards; overflow_error if
/// the sum of all planned bytes with the largest workspace, or of all persistent bytes, passes 2^63 - 1.
template <tensor_program Graph>
[[nodiscard]] tensor_graph make_tensor_graph(const Graph& graph) {
    using traits = program_traits<Graph>;
    detail::graph_builder builder;
    detail::handle_map<buffer_handle_t<Graph>, detail::buffers_by_position<Graph>> buffers;
    detail::handle_map<operator_handle_t<Graph>, detail::operators_by_position<Graph>> operators;
    for (auto&& buffer : traits::buffers(graph)) {
        detail::buffer_facts facts = detail::read_buffer<traits>(graph, buffer);
        if constexpr (requires { traits::buffer_name(graph, buffer); }) {
            const auto& name = traits::buffer_name(graph, buffer);
            facts.name = std::string_view(name);
            builder.add_buffer(facts, buffers.add(buffer));
        } else {
            builder.add_buffer(facts, buffers.add(buffer));
        }
    }
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
        if constexpr (detail::has_control<Graph>) {
            static_assert(
                handle_range<decltype(traits::control_predecessors(graph, op))>,
                "program_traits<Graph>::control_predecessors(graph, op) must give a range of handles");
            for (auto&& before : traits::control_predecessors(graph, op))
                builder.add_control_predecessor(operators.find(before));
        }
        builder.require_new_operator(operators.add(op));
    }
    return tensor_graph(builder.finish());
}

/// A tensor_graph is used as it is.
template <class = void>
[[nodiscard]] const tensor_graph& make_tensor_graph(const tensor_graph& graph) noexcept {
    return graph;
}

/// Anything that planners accept: a tensor_graph, or a user's graph that can be read into one.
template <class Graph>
concept plannable =
    std::same_as<std::remove_cvref_t<Graph>, tensor_graph> || tensor_program<std::remove_cvref_t<Graph>>;

}  // namespace stowage
