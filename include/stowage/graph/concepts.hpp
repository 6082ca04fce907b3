#pragma once
// How stowage reads a user's own graph where it is: the concept `tensor_program` and its customisation point,
// `program_traits<Graph>`. A graph type models the concept by members of the right names, or by a
// specialisation of program_traits for a type that cannot be changed. Nobody fills a stowage type by hand.

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>  // the concepts of ranges, without the views of <ranges>
#include <string_view>
#include <type_traits>
#include <utility>

#include <stowage/graph/buffer_kind.hpp>
#include <stowage/graph/stage.hpp>

namespace stowage {

/// The customisation point. The primary template forwards to members of the graph; specialise it (static
/// functions of the same names) for a type that you cannot change.
///
/// Required: operators(graph) and buffers(graph), ranges of handles, the operators in program order;
/// reads(graph, op) and writes(graph, op), ranges that name buffers; bytes(graph, buffer); kind(graph,
/// buffer). Optional: operator_name(graph, op), buffer_name(graph, buffer), stage(graph, op),
/// workspace(graph, op) in bytes, flops(graph, op), seconds(graph, op), device(graph, op), alignment(graph,
/// buffer), pinned_offset(graph, buffer)
/// -> std::optional<std::int64_t>, control_predecessors(graph, op), a range that names earlier operators.
///
/// A handle may be an object in the graph (taken by its address), a pointer (plain or smart) or a
/// std::reference_wrapper to one, or an integer or enum. Where operators(graph) or buffers(graph) yield
/// objects or pointers, an integer names a position in that range. A range of objects is given by reference
/// or as a view: a container returned by value holds copies, which name nothing.
template <class Graph>
struct program_traits {
    static decltype(auto) operators(const Graph& graph) requires requires { graph.operators(); }
    { return graph.operators(); }
    static decltype(auto) buffers(const Graph& graph) requires requires { graph.buffers(); }
    { return graph.buffers(); }
    static decltype(auto) reads(const Graph& graph, const auto& op) requires requires { graph.reads(op); }
    { return graph.reads(op); }
    static decltype(auto) writes(const Graph& graph, const auto& op) requires requires { graph.writes(op); }
    { return graph.writes(op); }
    static decltype(auto) bytes(const Graph& graph, const auto& buffer) requires requires {
        graph.bytes(buffer);
    }
    { return graph.bytes(buffer); }
    static decltype(auto) kind(const Graph& graph, const auto& buffer) requires requires {
        graph.kind(buffer);
    }
    { return graph.kind(buffer); }
    static decltype(auto) operator_name(const Graph& graph, const auto& op) requires requires {
        graph.operator_name(op);
    }
    { return graph.operator_name(op); }
    static decltype(auto) buffer_name(const Graph& graph, const auto& buffer) requires requires {
        graph.buffer_name(buffer);
    }
    { return graph.buffer_name(buffer); }
    static decltype(auto) stage(const Graph& graph, const auto& op) requires requires { graph.stage(op); }
    { return graph.stage(op); }
    static decltype(auto) workspace(const Graph& graph, const auto& op) requires requires {
        graph.workspace(op);
    }
    { return graph.workspace(op); }
    static decltype(auto) flops(const Graph& graph, const auto& op) requires requires { graph.flops(op); }
    { return graph.flops(op); }
    static decltype(auto) seconds(const Graph& graph, const auto& op) requires requires { graph.seconds(op); }
    { return graph.seconds(op); }
    static decltype(auto) device(const Graph& graph, const auto& op) requires requires { graph.device(op); }
    { return graph.device(op); }
    static decltype(auto) alignment(const Graph& graph, const auto& buffer) requires requires {
        graph.alignment(buffer);
    }
    { return graph.alignment(buffer); }
    static decltype(auto) pinned_offset(const Graph& graph, const auto& buffer) requires requires {
        graph.pinned_offset(buffer);
    }
    { return graph.pinned_offset(buffer); }
    static decltype(auto) control_predecessors(const Graph& graph, const auto& op) requires requires {
        graph.control_predecessors(op);
    }
    { return graph.control_predecessors(op); }
};

namespace detail {

/// The forms in which a graph may name one of its operators or buffers.
template <class T>
concept integer_handle = std::integral<std::remove_cvref_t<T>> || std::is_enum_v<std::remove_cvref_t<T>>;

template <class T>
concept pointer_handle = std::is_pointer_v<std::remove_cvref_t<T>> ||
    requires(const std::remove_cvref_t<T>& value) {
    { value.operator->() } -> std::convertible_to<const void*>;
};

/// std::reference_wrapper, or what looks like it.
template <class T>
concept wrapper_handle = requires(const std::remove_cvref_t<T>& value) {
    { value.get() } -> std::same_as<typename std::remove_cvref_t<T>::type&>;
};

template <class T>
concept object_handle =
    !integer_handle<T> && !pointer_handle<T> && !wrapper_handle<T> && std::is_lvalue_reference_v<T>;

}  // namespace detail

/// Something that names an operator or a buffer: an integer or enum, a pointer (plain or smart) or
/// std::reference_wrapper, or a reference to an object that lives in the graph. A temporary object names
/// nothing.
template <class T>
concept handle = detail::integer_handle<T> || detail::pointer_handle<T> || detail::wrapper_handle<T> ||
    detail::object_handle<T>;

/// A range whose elements name operators or buffers. Objects must outlive the range: a container of objects
/// that is returned by value is none.
template <class Range>
concept handle_range = std::ranges::input_range<Range> && handle<std::ranges::range_reference_t<Range>> &&
    (!detail::object_handle<std::ranges::range_reference_t<Range>> || std::is_lvalue_reference_v<Range> ||
     std::ranges::borrowed_range<Range> || std::ranges::view<std::remove_cvref_t<Range>>);

/// program_traits<Graph>::operators(graph) gives a range of handles, in program order.
template <class Graph>
concept has_operators = requires(const Graph& graph) {
    { program_traits<Graph>::operators(graph) } -> handle_range;
};

/// program_traits<Graph>::buffers(graph) gives a range of handles.
template <class Graph>
concept has_buffers = requires(const Graph& graph) {
    { program_traits<Graph>::buffers(graph) } -> handle_range;
};

/// What the range of a graph's operators yields.
template <has_operators Graph>
using operator_handle_t =
    std::ranges::range_reference_t<decltype(program_traits<Graph>::operators(std::declval<const Graph&>()))>;

/// What the range of a graph's buffers yields.
template <has_buffers Graph>
using buffer_handle_t =
    std::ranges::range_reference_t<decltype(program_traits<Graph>::buffers(std::declval<const Graph&>()))>;

/// program_traits<Graph>::reads(graph, op) gives a range that names buffers.
template <class Graph>
concept has_reads = has_operators<Graph> && requires(const Graph& graph, operator_handle_t<Graph> op) {
    { program_traits<Graph>::reads(graph, op) } -> handle_range;
};

/// program_traits<Graph>::writes(graph, op) gives a range that names buffers.
template <class Graph>
concept has_writes = has_operators<Graph> && requires(const Graph& graph, operator_handle_t<Graph> op) {
    { program_traits<Graph>::writes(graph, op) } -> handle_range;
};

/// program_traits<Graph>::bytes(graph, buffer) gives the buffer's size, an integer of bytes.
template <class Graph>
concept has_bytes = has_buffers<Graph> && requires(const Graph& graph, buffer_handle_t<Graph> buffer) {
    { program_traits<Graph>::bytes(graph, buffer) } -> std::convertible_to<std::int64_t>;
    requires std::integral<std::remove_cvref_t<decltype(program_traits<Graph>::bytes(graph, buffer))>>;
};

/// program_traits<Graph>::kind(graph, buffer) gives a stowage::buffer_kind.
template <class Graph>
concept has_kind = has_buffers<Graph> && requires(const Graph& graph, buffer_handle_t<Graph> buffer) {
    { program_traits<Graph>::kind(graph, buffer) } -> std::convertible_to<buffer_kind>;
};

/// A user's graph that stowage can read: operators in program order, buffers, and who reads and writes what.
/// Each part is a concept of its own, so that a compiler's message names the one that is missing.
template <class Graph>
concept tensor_program = has_operators<Graph> && has_buffers<Graph> && has_reads<Graph> &&
    has_writes<Graph> && has_bytes<Graph> && has_kind<Graph>;

}  // namespace stowage
