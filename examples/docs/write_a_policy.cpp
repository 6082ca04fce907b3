// docs/cookbook.md, "Write your own policy".
#include <algorithm>
#include <iostream>
#include <vector>

#include <stowage/layout.hpp>
#include <stowage/order.hpp>
#include <stowage/roam.hpp>

// [order]
// Runs, of the operators that are ready, the one that writes the fewest bytes.
struct fewest_bytes_first {
    stowage::order::sequence operator()(const stowage::tensor_graph& graph) const {
        using stowage::operator_index;
        const auto written = [&](operator_index op) {
            std::int64_t sum = 0;
            for (const stowage::buffer_index b : graph.writes(op))
                sum += graph.bytes(b);
            return sum;
        };
        std::vector<std::size_t> waits(graph.operator_count());
        std::vector<operator_index> ready;
        for (operator_index op = 0; op < graph.operator_count(); ++op) {
            waits[op] = graph.predecessors(op).size();
            if (waits[op] == 0) ready.push_back(op);
        }
        stowage::order::sequence order;
        while (!ready.empty()) {
            const auto next =
                std::min_element(ready.begin(), ready.end(), [&](operator_index a, operator_index b) {
                    return std::pair(written(a), a) < std::pair(written(b), b);  // ties end in the index
                });
            order.push_back(*next);
            ready.erase(next);
            for (const operator_index op : graph.successors(order.back()))
                if (--waits[op] == 0) ready.push_back(op);
        }
        return order;
    }
};
static_assert(stowage::order::order_policy<fewest_bytes_first>);
// [order]

int main() {
    stowage::program step;
    const auto small = step.add_buffer({.bytes = 10, .name = "small"});
    const auto large = step.add_buffer({.bytes = 90, .name = "large"});
    const auto sum = step.add_buffer({.bytes = 10, .kind = stowage::buffer_kind::output, .name = "sum"});
    const auto rest = step.add_buffer({.bytes = 5, .name = "rest"});
    step.add_operator({.name = "make_large", .writes = {large}});
    step.add_operator({.name = "make_small", .writes = {small}});
    step.add_operator({.name = "shrink", .reads = {large}, .writes = {rest}});
    step.add_operator({.name = "add", .reads = {small, rest}, .writes = {sum}});
    // [compose]
    const auto by_birth = [](const stowage::layout::problem& problem) {  // a lambda is a layout policy too
        stowage::layout::offset_list offsets;
        std::int64_t end = 0;
        for (const stowage::layout::buffer& b : problem.buffers) {
            offsets.push_back(b.takes_part() ? end : 0);
            if (b.takes_part()) end += b.size;  // one after the other: nothing is shared
        }
        return offsets;
    };
    const stowage::roam::planner mine{fewest_bytes_first{}, by_birth};
    const stowage::roam::planner best{
        stowage::order::portfolio{fewest_bytes_first{}, stowage::order::list_orders{},
                                  stowage::order::bounds{}},
        stowage::layout::portfolio{by_birth, stowage::layout::skyline{}}};
    std::cout << "mine: " << mine(step).arena.bytes << " bytes\n";
    const stowage::plan plan = best(step);
    std::cout << "in a portfolio: " << plan.arena.bytes << " bytes, " << to_string(plan.status) << '\n';
    // [compose]
}
