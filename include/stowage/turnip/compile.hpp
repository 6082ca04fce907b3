#pragma once
// One call from a program that does not fit to a memgraph. Source: Turnip (arXiv 2405.16283), as restated in
// docs/design.md.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/concepts.hpp>
#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/residency.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

namespace detail {

/// Throws stowage::error where the options do not match the taskgraph. O(devices).
template <class = void>
void check_options(const taskgraph& task, const compile_options& options) {
    if (options.devices.size() != task.devices) {
        throw error("there are " + std::to_string(options.devices.size()) + " capacities for " +
                    std::to_string(task.devices) + " devices");
    }
    if (options.alignment < 1) throw error("the alignment is not positive");
    if (options.host.capacity < 0) throw error("the host's capacity is negative");
    for (std::size_t d = 0; d < options.devices.size(); ++d) {
        if (options.devices[d].capacity < 0)
            throw error("the capacity of device " + std::to_string(d) + " is negative");
    }
}

/// Throws program_error, naming the operator, unless `order` runs each operator once, after all that it
/// depends on. O(operators + dependencies).
template <class = void>
void check_order(const tensor_graph& program, std::span<const operator_index> order) {
    if (order.size() != program.operator_count()) {
        throw error("the order has " + std::to_string(order.size()) + " operators, the program " +
                    std::to_string(program.operator_count()));
    }
    std::vector<char> ran(order.size(), 0);
    for (const operator_index op : order) {
        if (op >= order.size()) throw error("the order names operator " + std::to_string(op));
        if (ran[op] != 0) throw program_error("it is twice in the order", program.describe_operator(op));
        for (const operator_index before : program.predecessors(op)) {
            if (ran[before] == 0)
                throw program_error("it runs before one that it depends on", program.describe_operator(op));
        }
        ran[op] = 1;
    }
}

}  // namespace detail

/// Compiles a taskgraph in a legal order of its operators: a memgraph within the capacities, or the reason
/// why there is none. `policy` is `residency` by default; `horizon` is the paper's. Throws stowage::error
/// where options or order do not match the taskgraph, and overflow_error for a sum of bytes beyond 2^63 - 1.
/// The answer depends on nothing but its arguments, unless a wall-clock limit is set. Reentrant.
template <compile_policy Policy = residency>
[[nodiscard]] compiled compile(const taskgraph& task, std::span<const operator_index> order,
                               const compile_options& options, const Policy& policy = {}) {
    const auto start = std::chrono::steady_clock::now();
    detail::check_options(task, options);
    detail::check_order(task.program, order);
    compiled result = policy(task, order, options);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

/// The same in program order.
template <compile_policy Policy = residency>
[[nodiscard]] compiled compile(const taskgraph& task, const compile_options& options,
                               const Policy& policy = {}) {
    std::vector<operator_index> order(task.program.operator_count());
    std::iota(order.begin(), order.end(), operator_index{0});
    return compile(task, order, options, policy);
}

/// The same for the user's own program, on as many devices as there are capacities, in program order, with
/// everything on the host at the start and at the end. Example: `auto memgraph =
/// turnip::compile(step, {.devices = {{.capacity = 16 * GiB}}}).memgraph;`
template <tensor_program Program, compile_policy Policy = residency>
[[nodiscard]] compiled compile(const Program& program, const compile_options& options,
                               const Policy& policy = {}) {
    const taskgraph task = make_taskgraph(make_tensor_graph(program),
                                          {.devices = static_cast<std::uint32_t>(options.devices.size())});
    return compile(task, options, policy);
}

// The default is instantiated once a program where that asks for it: docs/cookbook.md, "Pay for the planner
// once".
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template compiled compile(const taskgraph&, std::span<const operator_index>,
                                            const compile_options&, const residency&);
#endif

}  // namespace stowage::turnip
