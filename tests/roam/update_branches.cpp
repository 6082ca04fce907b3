#include <stowage/roam/update_branches.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/training_steps.hpp"

using namespace stowage;
using test::optimizer;

namespace {

using names = std::set<std::string>;

names names_of(const tensor_graph& graph, const roam::update_branch& branch) {
    names result;
    for (const operator_index op : branch.operators)
        result.emplace(graph.operator_name(op));
    return result;
}

/// The branches of a step, checked to be complete: one a trained layer, by the names of its operators.
std::vector<roam::update_branch> expect(const test::training_step_options& options, const names& parts,
                                        std::size_t count) {
    const tensor_graph graph = test::training_graph(options);
    const std::vector<roam::update_branch> found = roam::update_branches(graph, stages_of(graph));
    REQUIRE(found.size() == count);
    std::vector<bool> seen(graph.operator_count(), false);
    for (const roam::update_branch& branch : found) {
        const std::string first(graph.operator_name(branch.operators.back()));
        const std::string layer = first.substr(first.find_first_of("0123456789"));
        names wanted;
        for (const std::string& part : parts)
            wanted.insert(part + layer);
        // The end of the backward pass leads to the first parameter alone; in place, the second one's update
        // waits for it too.
        if (options.by == optimizer::adam_functional && layer == "0") wanted.insert("dx1");
        CHECK(names_of(graph, branch) == wanted);
        CHECK(branch.gradient_bytes == options.weight_bytes);
        for (const operator_index op : branch.operators) {
            CHECK_FALSE(seen[op]);
            seen[op] = true;
        }
    }
    return found;
}

}  // namespace

TEST_CASE("each kind of optimizer: a branch a parameter, with alpha as its update alone needs") {
    const auto alpha = [](optimizer by, const names& parts) {
        const auto branches = expect({.by = by}, parts, 4);
        for (const auto& branch : branches)
            CHECK(branch.alpha == branches[0].alpha);
        return branches[0].alpha;
    };
    CHECK(alpha(optimizer::sgd, {"dw", "update"}) == 1);
    CHECK(alpha(optimizer::sgd_momentum, {"dw", "m", "update"}) == 1);
    CHECK(alpha(optimizer::adam, {"dw", "m", "v", "root", "update"}) == 1);  // the gradient dies before root
    CHECK(alpha(optimizer::adam_functional, {"dw", "m", "v", "root", "update"}) == 4);
    CHECK(alpha(optimizer::adamw, {"dw", "decay", "m", "v", "root", "update"}) == 1);
    CHECK(alpha(optimizer::adafactor, {"dw", "row", "column", "scale", "update"}) == 2);
    // clipping by the global norm makes the gradients the trunk's: only what follows it is a branch, which
    // needs the 4 bytes of the factor too
    CHECK(alpha(optimizer::clipped_adam, {"clip", "m", "v", "root", "update"}) == 68.0 / 64);
    CHECK(alpha(optimizer::accumulated_sgd, {"dw", "add", "update"}) == 0);
}

TEST_CASE("a tied weight has one branch with both gradients, a frozen one none") {
    const tensor_graph tied = test::training_graph({.by = optimizer::sgd, .tied = true});
    const auto found = roam::update_branches(tied, stages_of(tied));
    REQUIRE(found.size() == 3);
    const auto both = std::find_if(found.begin(), found.end(), [&](const roam::update_branch& branch) {
        return names_of(tied, branch).contains("update0");
    });
    REQUIRE(both != found.end());
    CHECK(names_of(tied, *both) == names{"dw0", "dw3", "sum0", "update0"});
    expect({.by = optimizer::adam, .frozen = 2}, {"dw", "m", "v", "root", "update"}, 2);
}

TEST_CASE("stages need not be given") {
    for (const optimizer by : {optimizer::sgd, optimizer::adam, optimizer::adam_functional}) {
        const tensor_graph graph = test::training_graph({.by = by});
        const auto given = roam::update_branches(graph, stages_of(graph));
        const auto inferred = roam::update_branches(graph, inferred_stages(graph));
        REQUIRE(given.size() == inferred.size());
        for (std::size_t i = 0; i < given.size(); ++i)
            CHECK(given[i].operators == inferred[i].operators);
    }
}

TEST_CASE("on any program no branch depends on another's, and what leads into two is in none") {
    stowage::detail::splitmix64 random(77);
    std::size_t seen = 0;
    for (int round = 0; round < 300; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 14}));
        std::vector<stage> stages(graph.operator_count());
        for (std::size_t op = 0; op < stages.size(); ++op)
            stages[op] = op < 4 ? stage::forward : random.below(2) == 0 ? stage::backward : stage::update;
        std::vector<int> branch_of(graph.operator_count(), -1);
        const auto branches = roam::update_branches(graph, stages);
        for (std::size_t i = 0; i < branches.size(); ++i) {
            for (const operator_index op : branches[i].operators) {
                CHECK(branch_of[op] == -1);
                CHECK(stages[op] != stage::forward);
                branch_of[op] = static_cast<int>(i);
            }
        }
        for (operator_index op = 0; op < graph.operator_count(); ++op) {
            for (const operator_index p : graph.predecessors(op)) {
                if (branch_of[p] < 0) continue;
                CHECK((branch_of[op] == branch_of[p] || branch_of[op] == -1));
                seen += branch_of[op] == branch_of[p] ? 1U : 0U;
            }
        }
    }
    CHECK(seen > 100);
}

TEST_CASE("inference has no branches, and stages are one an operator") {
    program step;
    const auto a = step.add_buffer({.bytes = 4});
    step.add_operator({.writes = {a}});
    const tensor_graph graph = make_tensor_graph(step);
    CHECK(roam::update_branches(graph, stages_of(graph)).empty());
    CHECK_THROWS_AS((void)roam::update_branches(graph, {}), program_error);
}
