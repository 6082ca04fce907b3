// A solver that cannot be called with a model and options: the message names the concept.
// expect: solves_models
#include <stowage/layout/integer_program.hpp>

struct solver {
    [[nodiscard]] std::string_view name() const { return "mine"; }
    stowage::solver::result operator()(const stowage::solver::model&, const stowage::solver::options&) const {
        return {};
    }
};

struct solver_without_solve : solver {
#ifndef PASS
    stowage::solver::result operator()(const stowage::solver::model&) const {
        return {};
    }
#endif
};

int main() {
    stowage::budget account;
    stowage::layout::context context{.account = account};
    return static_cast<int>(
        stowage::layout::integer_program<solver_without_solve>{}(stowage::layout::problem{}, context).size());
}
