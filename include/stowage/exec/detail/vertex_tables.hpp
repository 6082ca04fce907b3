#pragma once
// What a dispatcher keeps of each vertex, and what an executor says of it: its key by the priority policy,
// and how it is run.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/exec/detail/schedule.hpp>
#include <stowage/exec/kernel_task.hpp>
#include <stowage/exec/run_options.hpp>

namespace stowage::exec::detail {

/// How a vertex is run.
enum class vertex_use : std::uint8_t { kernel, copy, coroutine };

/// How far a vertex is.
enum class vertex_state : std::uint8_t { waiting, in_lane, done };

/// What changes of a vertex in a run, and what is looked at beside it.
struct vertex_info {
    std::uint32_t remaining = 0;  // predecessors that have not ended
    std::uint16_t group = 0;
    std::uint8_t number = 0;  // of its lane in the group, once it is in one
    vertex_use use : 4 = vertex_use::kernel;
    vertex_state state : 4 = vertex_state::waiting;  // kept only where a window needs it
};

/// Keys by vertex; empty if the policy gives none.
template <class = void>
[[nodiscard]] std::vector<std::uint64_t> priority_keys(const tensor_graph& program,
                                                       const turnip::memgraph& graph, const schedule& plan,
                                                       const executor_options& options) {
    std::vector<double> seconds(plan.vertices);
    for (vertex_index v = 0; v < plan.vertices; ++v)
        seconds[v] = turnip::vertex_seconds(program, graph, v, options.machine);
    std::vector<std::uint64_t> keys(plan.vertices);
    const priority_view view{program, graph, plan.order, plan.successor_begin, plan.successors, seconds};
    if (!options.priority(view, keys)) keys = {};
    return keys;
}

/// How each vertex is run; an operator by a coroutine where `kernels` say so.
template <class Handle, class Kernels>
[[nodiscard]] std::vector<vertex_use> vertex_uses(Kernels& kernels, const turnip::memgraph& graph) {
    std::vector<vertex_use> uses(graph.vertices.size(), vertex_use::kernel);
    for (std::size_t v = 0; v < uses.size(); ++v) {
        const turnip::vertex& at = graph.vertices[v];
        if (at.kind != turnip::vertex_kind::op) {
            uses[v] = vertex_use::copy;
        } else if constexpr (coroutine_kernels<Kernels, Handle>) {
            if (kernels.is_coroutine(at.op)) uses[v] = vertex_use::coroutine;
        }
    }
    return uses;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::vector<std::uint64_t> priority_keys(const tensor_graph&,
                                                                    const turnip::memgraph&, const schedule&,
                                                                    const executor_options&);
#endif

}  // namespace stowage::exec::detail
