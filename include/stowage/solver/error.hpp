#pragma once
// What can go wrong with a solver, as a typed error that still carries the best answer known.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <stowage/error.hpp>
#include <stowage/solver/result.hpp>

namespace stowage::solver {

/// Kinds of solver faults.
enum class fault : std::uint8_t {
    bad_model,     ///< the model or the options break a rule: bounds crossed, an index out of range, ...
    wrong_answer,  ///< the solver's answer breaks a bound or row of the model, or its figures contradict it
    aborted,       ///< the solver gave up with an error of its own
    callback,      ///< a callback of the caller threw
};

/// "bad model", "wrong answer", "aborted" or "callback".
[[nodiscard]] constexpr std::string_view to_string(fault value) noexcept {
    switch (value) {
        case fault::bad_model: return "bad model";
        case fault::wrong_answer: return "wrong answer";
        case fault::aborted: return "aborted";
        case fault::callback: break;
    }
    return "callback";
}

/// A solver failed. The best answer known before it did is not lost: see best().
class solver_error : public error {
public:
    /// `rule` says in words what went wrong; `best` is what is known nevertheless.
    solver_error(fault kind, std::string solver, std::string rule, result best = {})
        : error("solver " + solver + ", " + std::string(to_string(kind)) + ": " + rule), kind_(kind),
          solver_(std::move(solver)), rule_(std::move(rule)), best_(std::move(best)) {}
    /// The kind of fault.
    [[nodiscard]] fault kind() const noexcept { return kind_; }
    /// Name of the solver.
    [[nodiscard]] const std::string& solver() const noexcept { return solver_; }
    /// What went wrong, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The best answer known, checked; status unknown where there is none.
    [[nodiscard]] const result& best() const noexcept { return best_; }

private:
    fault kind_;
    std::string solver_;
    std::string rule_;
    result best_;
};

}  // namespace stowage::solver
