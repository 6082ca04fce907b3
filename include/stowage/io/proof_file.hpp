#pragma once
// Proofs as files: the format proof/1 of docs/proofs.md. It says why no plan of a program can need less than
// the bound of a plan, in a form that a checker replays without trusting the planner.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/io/plan_file.hpp>
#include <stowage/order/proof.hpp>
#include <stowage/order/prove.hpp>
#include <stowage/roam/granule.hpp>
#include <stowage/roam/highest_pin.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/verify/arena_proof.hpp>
#include <stowage/verify/order_proof.hpp>
#include <stowage/verify/proof.hpp>

namespace stowage::io {

namespace detail {

/// Steps as [rule, operators, states, cases], no operator as null. As deep as cases are nested.
template <class Json = nlohmann::ordered_json>
[[nodiscard]] Json steps_json(const std::vector<order::proof_step>& steps) {
    const auto list = [](const std::vector<operator_index>& operators) {
        Json entries = Json::array();
        for (const operator_index op : operators)
            entries.push_back(op == no_operator ? Json(nullptr) : Json(op));
        return entries;
    };
    Json entries = Json::array();
    for (const order::proof_step& step : steps) {
        Json states = Json::array();
        for (const std::vector<operator_index>& state : step.states)
            states.push_back(list(state));
        Json cases = Json::array();
        for (const std::vector<order::proof_step>& of_case : step.cases)
            cases.push_back(steps_json(of_case));
        entries.push_back({to_string(step.rule), list(step.operators), std::move(states), std::move(cases)});
    }
    return entries;
}

}  // namespace detail

/// The proof of a plan's bound as JSON. `replayable` is true if the bound is a minimum cut at the operator
/// named, or if the steps of a search show it, both checked here by a verifier of its own, or if it is 0;
/// false if the steps could not be written within `limits`. Where alignment raises the bound on the arena
/// above the one on the peak, the proof is of the arena, in counted sizes; where a pin does, it names the
/// buffer. One maximum flow, or the time of the search again.
template <class Json = nlohmann::ordered_json>
[[nodiscard]] Json proof_json(const tensor_graph& graph, const plan& plan, std::string_view name,
                              const search_limits& limits = {.states = 20'000'000}) {
    const arena_witness& aligned = plan.arena_witness;
    const bool by_granule = aligned.granule > 1 && aligned.arena_bound() == plan.arena.lower_bound &&
                            plan.arena.lower_bound > plan.peak.lower_bound;
    const order::bound_witness& witness = by_granule ? aligned.by : plan.witness;
    Json json = {{"format", "proof/1"},
                 {"graph", name},
                 {"fingerprint", fingerprint_text(plan.fingerprint)},
                 {"status", to_string(plan.status)}};
    if (by_granule) {
        json["alignment"] = plan.alignment;
        json["granule"] = aligned.granule;
        json["threshold"] = aligned.threshold;
        json["counted_bytes"] = aligned.bytes;
    } else {
        json["peak_lower_bound_bytes"] = plan.peak.lower_bound;
    }
    json["arena_lower_bound_bytes"] = plan.arena.lower_bound;
    json["rule"] = witness.rule;
    json["operator"] = nullptr;
    if (witness.at != no_operator) json["operator"] = witness.at;
    const auto holds = [&](const order::order_proof* proof) {
        if (by_granule) return verify::check_arena_witness(graph, plan.alignment, aligned, proof).ok;
        if (proof != nullptr) return verify::check_order_proof(graph, *proof).ok;
        return verify::check_certificate(graph, {.bytes = plan.peak.lower_bound, .at = witness.at}).ok;
    };
    const bool nothing = !by_granule && plan.peak.lower_bound == 0;
    bool replayable = nothing || (witness.at != no_operator && holds(nullptr));
    if (!replayable) {
        budget account(limits);
        const auto proof =
            by_granule ? order::prove_no_order_within(
                             roam::counted_program(graph, aligned.granule).counted(aligned.threshold),
                             aligned.bytes - aligned.granule, plan.order, account)
                       : order::prove_no_order_within(graph, plan.peak.lower_bound - 1, plan.order, account);
        replayable = proof && holds(&*proof);
        if (replayable) {
            json["left_out"] = proof->left_out;
            json["steps"] = detail::steps_json(proof->steps);
        }
    }
    if (!by_granule && plan.arena.lower_bound > plan.peak.lower_bound) {
        const roam::pinned_end pin = roam::highest_pin(graph);
        replayable = replayable && pin.bytes > 0 &&
                     verify::check_pinned_end(graph, pin.buffer, plan.arena.lower_bound).ok;
        if (replayable) json["pinned"] = pin.buffer;
    }
    json["replayable"] = replayable;
    return json;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template nlohmann::ordered_json proof_json(const tensor_graph&, const plan&,
                                                             std::string_view, const search_limits&);
#endif

}  // namespace stowage::io
