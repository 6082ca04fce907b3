#pragma once
// The compact form of a problem for a policy: the one that plan() has made already, or its own.

#include <optional>

#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// Borrows the context's compact form if it is this problem's, else makes one. O(1) or O(n log n).
template <class = void>
class basic_compact_form {
public:
    basic_compact_form(const problem& problem, const context& context) {
        if (context.compact != nullptr && context.compact_of == &problem) {
            borrowed_ = context.compact;
        } else {
            own_.emplace(make_sections(problem));
        }
    }
    [[nodiscard]] const sections& operator*() const noexcept { return own_ ? *own_ : *borrowed_; }

private:
    std::optional<sections> own_;
    const sections* borrowed_ = nullptr;
};
using compact_form = basic_compact_form<>;

}  // namespace stowage::layout::detail
