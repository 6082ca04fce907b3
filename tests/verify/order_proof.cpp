#include <stowage/verify/order_proof.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io/access_list.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/prove.hpp>

#include "support/brute_force_order.hpp"
#include "support/order_problems.hpp"
#include "support/rounds.hpp"

using namespace stowage;

namespace {

/// One small change somewhere in the steps.
void change(stowage::detail::splitmix64& random, std::vector<order::proof_step>& steps,
            std::size_t operators) {
    if (steps.empty()) return;
    const std::size_t k = random.below(steps.size());
    order::proof_step& step = steps[k];
    const auto any = [&] { return static_cast<operator_index>(random.below(operators + 1)); };
    switch (random.below(7)) {
        case 0: steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(k)); break;
        case 1:
            steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(k), steps[random.below(steps.size())]);
            break;
        case 2:
            if (!step.operators.empty()) step.operators[random.below(step.operators.size())] = any();
            break;
        case 3:
            if (!step.operators.empty()) step.operators.pop_back();
            break;
        case 4:
            if (!step.states.empty())
                step.states.erase(step.states.begin() +
                                  static_cast<std::ptrdiff_t>(random.below(step.states.size())));
            break;
        case 5:
            if (!step.states.empty()) step.states[random.below(step.states.size())].push_back(any());
            break;
        default:
            if (!step.cases.empty()) {
                change(random, step.cases[random.below(step.cases.size())], operators);
            } else {
                step.rule = static_cast<order::proof_rule>(random.below(15));
            }
    }
}

std::optional<order::order_proof> prove(const tensor_graph& graph, std::int64_t bound,
                                        const order::proof_options& options) {
    budget account;
    const order::solution best = order::plan(graph, order::exact{}, account);
    budget again;
    return order::prove_no_order_within(graph, bound, best.order, again, options);
}

/// Connected in all ways, or side by side.
tensor_graph any_graph(stowage::detail::splitmix64& random) {
    return random.below(3) == 0 ? test::side_by_side(random) : test::order_graph(random);
}

order::proof_options any_options(stowage::detail::splitmix64& random) {
    order::proof_options options;
    options.parts = {.segments = random.below(4) != 0,
                     .relaxed = random.below(2) == 0,
                     .components = random.below(4) != 0};
    options.commit_states = 1 + random.below(4);
    options.probing.rounds = random.below(4) == 0 ? 1 : 0;
    options.probing.most_slack = 1000;
    options.split_operators = random.below(4);
    options.split.states = 1 + random.below(30);
    return options;
}

}  // namespace

TEST_CASE("one byte below the least peak has a proof, and the proof is accepted") {
    stowage::detail::splitmix64 random(91);
    int proofs = 0;
    int splits = 0;
    int alone = 0;
    for (int round = 0; round < stowage::test::rounds(2'500); ++round) {
        CAPTURE(round);
        const tensor_graph graph = any_graph(random);
        const std::int64_t least = test::least_peak(graph);
        if (least == 0) continue;
        const auto proof = prove(graph, least - 1, any_options(random));
        REQUIRE(proof);
        const verify::verdict checked = verify::check_order_proof(graph, *proof);
        CAPTURE(checked.reason);
        REQUIRE(checked.ok);
        ++proofs;
        alone += proof->steps.front().rule == order::proof_rule::only;
        for (const order::proof_step& step : proof->steps)
            splits +=
                step.rule == order::proof_rule::split_after || step.rule == order::proof_rule::split_before;
    }
    CHECK(proofs > stowage::test::rounds(2'000));
    CHECK(splits > stowage::test::rounds(15));
    CHECK(alone > stowage::test::rounds(150));
}

TEST_CASE("there is no proof against an order that exists, and none is accepted, however it is bent") {
    stowage::detail::splitmix64 random(92);
    for (int round = 0; round < stowage::test::rounds(1'500); ++round) {
        CAPTURE(round);
        const tensor_graph graph = any_graph(random);
        const std::int64_t least = test::least_peak(graph);
        if (least == 0) continue;
        const order::proof_options options = any_options(random);
        REQUIRE(!prove(graph, least + static_cast<std::int64_t>(random.below(3)), options));
        auto proof = prove(graph, least - 1, options);
        REQUIRE(proof);
        proof->bound = least;
        REQUIRE(!verify::check_order_proof(graph, *proof).ok);
        for (int bend = 0; bend < 12; ++bend) {
            order::order_proof bent = *proof;
            for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes)
                change(random, bent.steps, graph.operator_count());
            if (random.below(8) == 0)
                bent.left_out.push_back(static_cast<operator_index>(random.below(graph.operator_count())));
            const verify::verdict checked = verify::check_order_proof(graph, bent);
            REQUIRE(!checked.ok);
            REQUIRE(!checked.reason.empty());
        }
    }
}

TEST_CASE("operators are forgotten at the start or not at all, and what is forgotten is not named") {
    program step;  // two operators that add to each other's peak only if they must: 5 bytes, then 7
    const buffer_id a = step.add_buffer({.bytes = 5});
    const buffer_id b = step.add_buffer({.bytes = 7});
    step.add_operator({.writes = {a}});
    step.add_operator({.writes = {b}});
    const tensor_graph graph = make_tensor_graph(step);
    const order::proof_step cut{order::proof_rule::cut, {1}, {}, {}};
    const auto only = [](std::vector<operator_index> kept) {
        return order::proof_step{order::proof_rule::only, std::move(kept), {}, {}};
    };
    const auto reason = [&](std::vector<order::proof_step> steps, std::int64_t bound) {
        return verify::check_order_proof(graph, {bound, {}, std::move(steps)}).reason;
    };
    CHECK(reason({only({1}), cut}, 6).empty());
    CHECK(reason({only({1, 0}), cut}, 6).empty());
    CHECK(reason({only({1}), cut}, 7) == "the proof: operator 1: the cut is within the bound");
    CHECK(reason({only({0}), cut}, 4) == "the proof: a step names an operator that was forgotten");
    CHECK(reason({only({1, 1}), cut}, 6) == "the proof: operator 1: an operator is kept twice");
    CHECK(reason({only({2}), cut}, 6) == "the proof: a step names an operator that does not exist");
    CHECK(reason({only({1}), only({1}), cut}, 6) ==
          "the proof: operators are forgotten later than at the start");
    CHECK(reason({only({})}, 6) == "the proof: the steps end without a refutation");
    CHECK(reason({only({}), {order::proof_rule::front_ends, {}, {{}}, {}}}, 6) ==
          "the proof: everything runs within the bound");
}

TEST_CASE("no operator runs before itself, which would prove anything") {
    program step;
    step.add_operator({.writes = {step.add_buffer({.bytes = 5})}});
    const tensor_graph graph = make_tensor_graph(step);
    const std::string itself = "the proof: operator 0: an operator before itself";
    const order::proof_step either{order::proof_rule::either, {0, 0}, {}, {{}, {}}};
    CHECK(verify::check_order_proof(graph, {5, {}, {either}}).reason == itself);
    const order::proof_step before{order::proof_rule::before, {0, 0, 0}, {}, {}};
    CHECK(verify::check_order_proof(graph, {5, {}, {before}}).reason == itself);
}

TEST_CASE("captured programs whose optimum takes a search have proofs that are accepted") {
    for (const char* name :
         {"efficientnet_b0-b1", "mnasnet1_0-b1", "vgg16-b32", "vit_b_16-b1", "inductor-gpt2-bwd",
          "xla-gpt2-donate-mem", "xla-lstm_unrolled-donate-mem", "xla-unet-donate-mem"}) {
        CAPTURE(name);
        const tensor_graph graph =
            io::read_access_list(std::string(STOWAGE_EXAMPLE_DATA) + "/" + name + ".json.gz").graph;
        budget account;
        const order::solution best = order::plan(graph, order::exact{}, account);
        REQUIRE(best.status == status::optimal);
        budget again(search_limits{.states = 5'000'000});
        const auto proof = order::prove_no_order_within(graph, best.peak - 1, best.order, again);
        REQUIRE(proof);
        CHECK(verify::check_order_proof(graph, *proof).ok);
        order::order_proof more = *proof;
        more.bound = best.peak;
        CHECK(!verify::check_order_proof(graph, more).ok);
    }
}
