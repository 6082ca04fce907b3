#pragma once
// A model's accesses, step by step: the model itself holds them instance by instance.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// Which accesses are made at a step. O(accesses + steps) to make, O(1) to ask.
template <class = void>
class basic_step_accesses {
public:
    explicit basic_step_accesses(const residency_model& model)
        : first_(model.steps.size() + 1, 0), accesses_(model.accesses.size()) {
        for (const model_access& a : model.accesses)
            ++first_[a.step + 1];
        for (std::size_t s = 0; s < model.steps.size(); ++s)
            first_[s + 1] += first_[s];
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        for (std::uint32_t a = 0; a < model.accesses.size(); ++a)
            accesses_[next[model.accesses[a].step]++] = a;
    }
    /// Indices of the accesses at `step`, by instance.
    [[nodiscard]] std::span<const std::uint32_t> at(std::uint32_t step) const {
        return std::span(accesses_).subspan(first_[step], first_[step + 1] - first_[step]);
    }

private:
    std::vector<std::uint32_t> first_;     // by step, and one more
    std::vector<std::uint32_t> accesses_;  // step by step
};
using step_accesses = basic_step_accesses<>;

}  // namespace stowage::turnip::detail
