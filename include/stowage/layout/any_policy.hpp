#pragma once
// A layout policy chosen at run time, e.g. by a name on a command line: one type for all of them.

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include <stowage/layout/policy.hpp>
#include <stowage/layout/portfolio.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// Holds any layout policy, the library's or a user's, and is one. A copy costs what a copy of the policy
/// costs.
///
/// Example: `layout::any_policy chosen = fast ? layout::any_policy(layout::llfb{}) :
/// layout::any_policy(my_layout{});`
class any_policy {
public:
    /// Takes over a policy.
    template <class Policy>
        requires(!std::same_as<Policy, any_policy> && layout_policy<Policy>)
    explicit any_policy(Policy policy)
        : name_(detail::name_of(policy)),
          lay_out_([held = std::move(policy)](const problem& problem, context& shared) {
              return apply(held, problem, shared);
          }) {}

    /// What the policy answers.
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& shared) const {
        return lay_out_(problem, shared);
    }
    /// The policy's own name, for reports.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::string name_;
    std::function<offset_list(const problem&, context&)> lay_out_;
};
static_assert(searching_layout_policy<any_policy>);

}  // namespace stowage::layout
