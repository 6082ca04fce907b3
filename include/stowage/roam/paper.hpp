#pragma once
// The planner of the ROAM paper, whole, from parts that can each be replaced: weight updates and segments, an
// order policy in each segment, the subgraph tree, a layout policy in each leaf, concatenation and repair.
// roam::paper(solver) has the paper's integer programs with a solver of the caller's choice. roam::best finds
// better plans with proofs; this one is for those who study the method, part by part.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/layout/exact.hpp>
#include <stowage/layout/integer_program.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/portfolio.hpp>
#include <stowage/layout/skylines.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/integer_program.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/portfolio.hpp>
#include <stowage/roam/highest_pin.hpp>
#include <stowage/roam/paper_order.hpp>
#include <stowage/roam/planner.hpp>
#include <stowage/roam/subgraph_tree.hpp>
#include <stowage/roam/top_shelf.hpp>
#include <stowage/roam/tree_layout.hpp>
#include <stowage/solver/concepts.hpp>
#include <stowage/solver/enumerator.hpp>

namespace stowage::roam {

/// Options of the paper's planner beside those of one run.
struct paper_options {
    paper_order_options order = {};            ///< updates and their radius
    tree_options tree = {};                    ///< node_limit and how shared tensors are given to leaves
    concatenation_options concatenation = {};  ///< how leaves are put together
};

/// How a plan came about, part by part.
struct paper_report {
    bool trunk = true;                          ///< segments are those of the trunk, else longer ones
    double radius = 0;                          ///< delay radius that was taken
    std::optional<double> alpha = {};           ///< alpha that was taken; none: each branch's own
    std::size_t branches = 0;                   ///< weight-update branches
    std::size_t delayed = 0;                    ///< of them, those that run later than they could
    bool is_program_order = false;              ///< program order was better than the segments' orders
    std::vector<segment_report> segments = {};  ///< one a segment, in running order
    subgraph_tree tree = {};                    ///< of the layout
    std::vector<leaf_report> leaves = {};       ///< one a leaf of the tree, inside out
    std::size_t moved = 0;                      ///< tensors that concatenation placed anew
    std::int64_t moved_bytes = 0;               ///< their sum
};

/// What integer programs did for a plan.
struct integer_program_share {
    std::size_t operators = 0;      ///< in segments whose order an integer program found or proved
    std::size_t all_operators = 0;  ///< in all segments
    std::int64_t bytes = 0;         ///< of tensors in leaves whose layout an integer program found
    std::int64_t all_bytes = 0;     ///< in all leaves
};

/// Counts what integer programs did. O(segments + leaves).
template <class = void>
[[nodiscard]] integer_program_share share_of_integer_programs(const paper_report& report) {
    integer_program_share result;
    for (const segment_report& segment : report.segments) {
        const bool by_program =
            segment.found_by == order::integer_program<>::name || segment.proven_by == "integer program";
        result.operators += by_program ? segment.operators : 0;
        result.all_operators += segment.operators;
    }
    for (const leaf_report& leaf : report.leaves) {
        result.bytes += leaf.found_by.starts_with("integer program") ? leaf.bytes : 0;
        result.all_bytes += leaf.bytes;
    }
    return result;
}

/// The paper's planner with an order policy for segments and a layout policy for leaves. Calling it is const
/// and reentrant if that holds of the policies, which is also what several threads need. The plan does not
/// depend on the number of threads. Of a wall-clock budget the order may use half.
///
/// Example: `roam::paper_planner planner{order::exact{}, layout::skylines{}}; plan p = planner(my_graph);`
template <order::detail::portfolio_policy OrderPolicy, layout::layout_policy LayoutPolicy>
class paper_planner {
public:
    /// Takes the policies by value.
    paper_planner(OrderPolicy order_policy, LayoutPolicy layout_policy, paper_options options = {})
        : order_policy_(std::move(order_policy)), layout_policy_(std::move(layout_policy)),
          options_(std::move(options)) {}

    /// Plans `graph`; `report`, if given, receives how. Always a complete plan; errors as roam::planner.
    template <plannable Graph>
    [[nodiscard]] plan operator()(const Graph& graph, const options& options = {},
                                  paper_report* report = nullptr) const {
        const auto start = budget::clock::now();
        const auto& compact = make_tensor_graph(graph);
        return (*this)(compact, options, start, report);
    }

    /// The same with wall-clock time counted from `start`, e.g. the end of reading a file.
    [[nodiscard]] plan operator()(const tensor_graph& graph, const options& options,
                                  budget::clock::time_point start, paper_report* report = nullptr) const {
        if (options.alignment <= 0) {
            throw layout_error(
                "alignment " + std::to_string(options.alignment) + " of the plan is not positive", {});
        }
        budget order_account(detail::share_of(options.limits(), 0.5), start);
        const counted_program program(graph, common_granule(graph, options.alignment));
        // What any order needs: one pass, and a cut or two.
        budget bound_account = order_account.slice(bound_units);
        const order::solution bounds =
            order::plan(program.rounded(), order::bounds{}, bound_account, options.seed);
        order_account.settle(bound_account);
        paper_ordering ordering =
            order_as_paper(program.rounded(), order_policy_, order_account, options_.order, options.seed,
                           options.threads, [&](std::size_t done, std::size_t all) {
                               tell(options, "order", 0, bounds.lower_bound, done, all);
                           });
        ordered_layout made;
        made.ordered.order = ordering.ordered.order;
        made.ordered.peak = ordering.ordered.peak;
        made.ordered.lower_bound = bounds.lower_bound;
        made.ordered.witness = bounds.witness;
        if (ordering.schedule.segmentation.independent && ordering.ordered.lower_bound > bounds.lower_bound) {
            made.ordered.lower_bound = ordering.ordered.lower_bound;
            made.ordered.witness = {"segments", no_operator};
        }
        made.ordered.found_by = ordering.is_program_order ? "program" : "roam-paper";
        const auto ordered_at = budget::clock::now();
        budget cut_account = order_account.slice(2 * bound_units);
        proven_arena proven = arena_bound_by_cuts(program, made.ordered.lower_bound, made.ordered.witness,
                                                  made.ordered.order, cut_account, options.seed);
        if (program.granule() > 1)
            detail::back_from_rounded(program, made.ordered, cut_account, options.seed);
        proven.bytes = std::max({proven.bytes, made.ordered.lower_bound, highest_pin(graph).bytes});
        const std::int64_t bound = proven.bytes;

        made.items = layout::layout_problem_of(graph, made.ordered.order, options.alignment);
        ordering.schedule.boundaries = std::move(ordering.boundaries);
        subgraph_tree tree =
            make_subgraph_tree(graph, ordering.schedule, made.ordered.order, made.items, options_.tree);
        search_limits limits = options.limits();
        limits.states = std::max<std::uint64_t>(limits.states, made.items.item_count());
        const auto lay_out = [&](const layout::order_layout& items) {
            budget layout_account(limits, start);
            return lay_out_tree(tree, items, layout_policy_, layout_account, options_.concatenation,
                                options.seed, options.threads, [&](std::size_t done, std::size_t all) {
                                    tell(options, "layout", 0, bound, done, all);
                                });
        };
        tree_layout laid_out = lay_out(made.items);
        if (laid_out.arena > bound && laid_out.arena - bound < proven.witness.granule)
            lay_out_below_shelf(made.items, proven, lay_out, laid_out);
        made.laid_out.offsets = std::move(laid_out.offsets);
        made.laid_out.arena = laid_out.arena;
        made.laid_out.found_by = "subgraph tree";
        tell(options, "layout", laid_out.arena, bound, 1, 1);
        if (report != nullptr) {
            *report = {.trunk = ordering.trunk,
                       .radius = ordering.radius,
                       .alpha = ordering.alpha,
                       .branches = ordering.schedule.branches.size(),
                       .delayed = ordering.delayed(),
                       .is_program_order = ordering.is_program_order,
                       .segments = std::move(ordering.ordered.segments),
                       .tree = std::move(tree),
                       .leaves = std::move(laid_out.leaves),
                       .moved = laid_out.moved,
                       .moved_bytes = laid_out.moved_bytes};
        }
        plan result = detail::assemble(graph, std::move(made), std::move(proven), options.alignment);
        const auto end = budget::clock::now();
        result.seconds = {.order = seconds(ordered_at - start),
                          .layout = seconds(end - ordered_at),
                          .total = seconds(end - start)};
        return result;
    }

    /// The options that it was made with.
    [[nodiscard]] const paper_options& own_options() const noexcept { return options_; }

private:
    static constexpr std::uint64_t bound_units = 2'000;

    [[nodiscard]] static double seconds(budget::clock::duration span) {
        return std::chrono::duration<double>(span).count();
    }
    /// Where only padding keeps the arena above what is proven: the tree without the buffers that rounding
    /// raises most, and these on top (top_shelf.hpp), if that is better.
    template <class LayOut>
    static void lay_out_below_shelf(const layout::order_layout& items, const proven_arena& proven,
                                    const LayOut& lay_out, tree_layout& best) {
        const shelf_plan shelf = plan_shelf(items.problem, proven);
        if (shelf.buffers.empty()) return;
        layout::order_layout rest = items;
        rest.problem = shelf.rest_of(std::move(rest.problem));
        tree_layout other = lay_out(rest);
        shelf.put_on_top(other.arena, proven.witness.granule, other.offsets);
        other.arena = layout::arena_of(items.problem, other.offsets);
        if (other.arena < best.arena) best = std::move(other);
    }
    static void tell(const options& options, std::string_view phase, std::int64_t best, std::int64_t bound,
                     std::size_t done, std::size_t all) {
        if (!options.on_progress) return;
        const double share = all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all);
        options.on_progress({.phase = phase, .best_bytes = best, .bound_bytes = bound, .done = share});
    }
    OrderPolicy order_policy_;
    LayoutPolicy layout_policy_;
    paper_options options_;
};

/// Which segments and leaves the integer programs of roam::paper are tried on; larger ones are left to the
/// exact searches.
struct paper_program_limits {
    std::size_t operators = 30;  ///< most operators of a segment
    std::size_t pairs = 200;     ///< most pairs of tensors alive together in a leaf
};

/// The order policy of roam::paper for one segment: a list rule, ROAM's integer program where the rule's
/// order is not proven and the segment is small, the exact search where the program gives up.
template <solver::mip_solver Solver = solver::enumerator>
[[nodiscard]] auto paper_segment_policy(Solver solver = {}, const paper_program_limits& limits = {}) {
    return order::portfolio(order::lescea{},
                            order::integer_program<Solver>{.solver = std::move(solver),
                                                           .options = {.operators = limits.operators}},
                            order::exact{});
}

/// The layout policy of roam::paper for one leaf: a skyline, ROAM's integer program where that is above what
/// is proven and the leaf is small, the exact search where the program gives up.
template <solver::mip_solver Solver = solver::enumerator>
[[nodiscard]] auto paper_leaf_policy(Solver solver = {}, const paper_program_limits& limits = {}) {
    return layout::portfolio(
        layout::skylines{},
        layout::integer_program<Solver>{.solver = std::move(solver), .options = {.pairs = limits.pairs}},
        layout::exact{});
}

/// The paper's planner with its integer programs and a solver for them.
///
/// Example: `plan p = roam::paper(solver::glpk{})(step, {.threads = 4});`
template <solver::mip_solver Solver = solver::enumerator>
[[nodiscard]] auto paper(Solver solver = {}, paper_options options = {},
                         const paper_program_limits& limits = {}) {
    return paper_planner(paper_segment_policy(solver, limits), paper_leaf_policy(solver, limits),
                         std::move(options));
}

}  // namespace stowage::roam
