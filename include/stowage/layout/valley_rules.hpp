#pragma once
// The rules of the valley search, each with the reason why it loses nothing, and which valley it works on
// first. Source: papers/layout.md, "Valley search".

#include <cstdint>

namespace stowage::layout {

/// Which of several valleys the search works on first. Forced moves and dead ends always come first.
enum class pivot_rule : std::uint8_t {
    fewest_lowest,     ///< fewest options, then the lowest floor
    lowest_fewest,     ///< lowest floor, then fewest options
    fewest_narrowest,  ///< fewest options, then the narrowest valley
    most_failures      ///< fewest options divided by 1 + the dead ends met in the section so far
};

/// Which rules the valley search uses; each may be switched off and none changes what is found possible.
///
/// The search itself: floors rise from 0, one a section. A *valley* is a run of sections of equal floor h
/// between higher ones. Take a section s in it. Push the blocks of any layout above the floors down as far as
/// they go. Either one that covers s now lies on h, then it lies inside the valley: that is a child a block.
/// Or none does: then the blocks below any that covers s begin with one on h that does not cover s, or the
/// walls carry it, so the floor of s alone may be raised to the lower of the walls and h + the smallest such
/// block: that is the last child.
struct valley_rules {
    /// Keep each block's least offset (the greatest floor under it); in a section all blocks of at least that
    /// offset lie above it, one on another, so their sum must fit. Reason: sizes add up where lifetimes meet.
    bool bound = true;
    /// Never search a refuted state (unplaced blocks and floors of a component) again. Reason: what can be
    /// completed depends on nothing else; the other rules cut only what a refuted sibling covers.
    bool memo = true;
    /// Of blocks with equal range that lie directly on each other, keep the order of the keys; of equal
    /// blocks try one. Reason: exchanging two such blocks changes nothing else, and the one of the better key
    /// was tried first.
    bool symmetry = true;
    /// A block that spans a whole valley and failed on its floor lies at or above the wall from then on.
    /// Reason: from anywhere below the wall it could be moved to the floor and what is under it be moved up
    /// on it.
    bool span = true;
    /// Search parts that no unplaced block connects one after the other; what is solved stays. Reason: they
    /// share no section, so one has nothing to say about the other.
    bool decompose = true;
    pivot_rule pivot = pivot_rule::fewest_lowest;  ///< which valley to work on first; any is complete
};

}  // namespace stowage::layout
