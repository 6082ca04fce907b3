#pragma once
// "Longest lifetime first, best fit" (Sekiyama et al. 2018), the layout baseline of the ROAM paper, in the
// two forms that its readers have built: papers/roam.md, "Baselines". The skyline is much the stronger of the
// two.

#include <string>

#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/skyline.hpp>

namespace stowage::layout {

/// Form A: at the lowest place of the skyline lies the unplaced buffer with the longest lifetime that fits
/// inside it, else the place is raised to its lower neighbour. The same as skyline by key::duration; see
/// there for the rest.
struct llfb {
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem) const {
        return policy()(problem);
    }
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        return policy()(problem, context);
    }
    [[nodiscard]] std::string name() const { return "llfb"; }

private:
    static constexpr skyline policy() { return {{.key = key::duration}}; }
};

/// Form B: the buffers in the order of their lifetimes, the longest first, each in the smallest gap that
/// takes it. The same as best_fit by placement_order::duration; see there for the rest.
struct llfb_fit {
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem) const {
        return policy()(problem);
    }
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        return policy()(problem, context);
    }
    [[nodiscard]] std::string name() const { return "llfb_fit"; }

private:
    static constexpr best_fit policy() { return {{.order = placement_order::duration}}; }
};

static_assert(simple_layout_policy<llfb> && searching_layout_policy<llfb>);
static_assert(simple_layout_policy<llfb_fit> && searching_layout_policy<llfb_fit>);

}  // namespace stowage::layout
