// docs/choosing-policies.md, "Replace every part": an order policy, a layout policy and a solver of one's own
// in the ROAM paper's planner.
#include <atomic>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

#include <stowage/roam/paper.hpp>

// [order]
// Runs the operator that became ready first.
struct oldest_first {
    static constexpr std::string_view name = "oldest first";  // for reports
    stowage::order::sequence operator()(const stowage::tensor_graph& graph) const {
        std::vector<std::size_t> waits(graph.operator_count());
        std::vector<stowage::operator_index> ready;
        for (stowage::operator_index op = 0; op < graph.operator_count(); ++op) {
            waits[op] = graph.predecessors(op).size();
            if (waits[op] == 0) ready.push_back(op);
        }
        stowage::order::sequence order;
        while (!ready.empty()) {
            order.push_back(ready.front());
            ready.erase(ready.begin());
            for (const stowage::operator_index op : graph.successors(order.back()))
                if (--waits[op] == 0) ready.push_back(op);
        }
        return order;
    }
};
static_assert(stowage::order::order_policy<oldest_first>);
// [order]

// [layout]
// Every buffer in bytes of its own.
struct one_after_the_other {
    stowage::layout::offset_list operator()(const stowage::layout::problem& problem) const {
        stowage::layout::offset_list offsets;
        std::int64_t end = 0;
        for (const stowage::layout::buffer& b : problem.buffers) {
            offsets.push_back(b.offset.value_or(b.takes_part() ? end : 0));  // pins are kept
            if (b.takes_part()) end = std::max(end, offsets.back() + b.size);
        }
        return offsets;
    }
};
static_assert(stowage::layout::layout_policy<one_after_the_other>);
// [layout]

// [solver]
// Is content with the values that it is given to begin from, and counts how often it is asked.
struct content_solver {
    std::shared_ptr<std::atomic<int>> asked = std::make_shared<std::atomic<int>>(0);
    [[nodiscard]] std::string_view name() const { return "content"; }
    stowage::solver::result operator()(const stowage::solver::model& model,
                                       const stowage::solver::options& how) const {
        ++*asked;
        if (how.start.empty()) return {};  // unknown: it has found nothing
        return {.status = stowage::status::feasible,
                .values = how.start,
                .objective = model.objective(how.start)};
    }
};
static_assert(stowage::solver::mip_solver<content_solver>);
// [solver]

int main() {
    stowage::program step;
    const auto tensor = [&](std::int64_t bytes) { return step.add_buffer({.bytes = bytes}); };
    const auto ab = tensor(10), bc = tensor(20), bd = tensor(30), de = tensor(40), ef = tensor(50),
               cf = tensor(60);
    const auto fg = step.add_buffer({.bytes = 10, .kind = stowage::buffer_kind::output});
    step.add_operator({.name = "a", .writes = {ab}});
    step.add_operator({.name = "b", .reads = {ab}, .writes = {bc, bd}});
    step.add_operator({.name = "c", .reads = {bc}, .writes = {cf}});
    step.add_operator({.name = "d", .reads = {bd}, .writes = {de}});
    step.add_operator({.name = "e", .reads = {de}, .writes = {ef}});
    step.add_operator({.name = "f", .reads = {ef, cf}, .writes = {fg}});
    // [compose]
    const content_solver solver;
    const stowage::roam::paper_planner mine(
        stowage::order::portfolio{oldest_first{}, stowage::order::integer_program<content_solver>{solver}},
        stowage::layout::portfolio{one_after_the_other{},
                                   stowage::layout::integer_program<content_solver>{solver}});
    const auto print = [&](const char* who, const stowage::plan& plan) {
        std::cout << who << ": ";
        for (const stowage::operator_index op : plan.order)
            std::cout << step.operators()[op].name << ' ';
        std::cout << "- peak " << plan.peak.bytes << ", arena " << plan.arena.bytes << '\n';
    };
    print("mine", mine(step));
    print("the paper's", stowage::roam::paper()(step));
    std::cout << "my solver was asked " << (*solver.asked > 0 ? "and changed nothing" : "nothing") << '\n';
    // [compose]
}
