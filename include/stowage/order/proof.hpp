#pragma once
// Why no order of a program keeps within a bound, as a list of steps that a checker can redo one by one with
// a maximum flow and a depth-first search of its own (verify/order_proof.hpp; docs/proofs.md has the argument
// for each step).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>

namespace stowage::order {

/// How one step of a proof argues. D is a set of operators that may have run at some time; "from here" means
/// between what was committed so far at the front and at the back, with the dependencies shown so far.
enum class proof_rule : std::uint8_t {
    only,        ///< operators: every other one is forgotten, and what only others touch. Comes first
    lazy,        ///< operators {l, v}: l frees nothing, and all that waits for it runs after v; so may l
    sink,        ///< operators {s, v}: s allocates nothing, and all that it waits for runs before v; so may s
    within,      ///< operators {u, w}: every other one is before or after each of them; only what lies
                 ///< between them matters (no_operator: from the start, to the end)
    front,       ///< operators may run first, in this order: no set on the way has less alive than the last
    back,        ///< operators may run last, in this order
    before,      ///< operators {a, b, v}: a before b, by the cut at v, which is a or b
    cut,         ///< operators {v}: the cut at v is above the bound. Ends the proof
    front_ends,  ///< nothing leads on from the front; states: see detail::exhaustion. Ends the proof
    back_ends,   ///< nothing leads on from the back. Ends the proof
    either,      ///< operators {a, b}: cases {a before b, b before a}. Ends the proof
    split_after,   ///< operators {v}, states {Y}: cases are starts X >= Y. Ends the proof
    split_before,  ///< operators {v}, states {Y}: cases are starts X <= Y. Ends the proof
    start,         ///< first step of a case of a split: operators are X without Y, or Y without X; states
                   ///< {one operator of each component that is tried then}. Alone: v does not fit
    other_side,    ///< second step of such a case: what follows is shown on the other side of v
};

/// The rule's name, as proof/1 spells it.
[[nodiscard]] constexpr std::string_view to_string(proof_rule rule) noexcept {
    constexpr std::array<std::string_view, 15> names = {
        "only",       "lazy",      "sink",   "within",      "front",        "back",  "before",    "cut",
        "front_ends", "back_ends", "either", "split_after", "split_before", "start", "other_side"};
    return names[static_cast<std::size_t>(rule)];
}

/// One step; what its fields hold depends on the rule.
struct proof_step {
    proof_rule rule = proof_rule::cut;
    std::vector<operator_index> operators;
    std::vector<std::vector<operator_index>> states;
    std::vector<std::vector<proof_step>> cases;
};

/// A proof that every legal order has a peak above `bound`.
struct order_proof {
    std::int64_t bound = 0;
    std::vector<operator_index> left_out;  ///< operators that touch no bytes: only their dependencies count
    std::vector<proof_step> steps;
};

}  // namespace stowage::order
