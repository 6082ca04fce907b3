#pragma once
// Proofs as files: the format proof/1 of docs/proofs.md. It says why no plan of a program can need less than
// the bound of a plan, in a form that a checker replays without trusting the planner.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/io/plan_file.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/verify/proof.hpp>

namespace stowage::io {

/// The proof of a plan's bound as JSON. `replayable` is true if the bound is a minimum cut at the operator
/// named, which is checked here by a flow of its own; false if it rests on a search, whose log is not
/// written. One maximum flow.
[[nodiscard]] inline nlohmann::ordered_json proof_json(const tensor_graph& graph, const plan& plan,
                                                       std::string_view name) {
    const order::bound_witness& witness = plan.witness;
    nlohmann::ordered_json json = {{"format", "proof/1"},
                                   {"graph", name},
                                   {"fingerprint", fingerprint_text(plan.fingerprint)},
                                   {"status", to_string(plan.status)},
                                   {"peak_lower_bound_bytes", plan.peak.lower_bound},
                                   {"arena_lower_bound_bytes", plan.arena.lower_bound},
                                   {"rule", witness.rule},
                                   {"operator", nullptr}};
    bool replayable = false;
    if (witness.at != no_operator) {
        json["operator"] = witness.at;
        replayable = verify::check_certificate(graph, {.bytes = plan.peak.lower_bound, .at = witness.at}).ok;
    }
    json["replayable"] = replayable;
    return json;
}

}  // namespace stowage::io
