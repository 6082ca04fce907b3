// A solver that does not say who it is: the message names the concept.
// expect: has_solver_name
#include <stowage/layout/integer_program.hpp>

struct solver {
    [[nodiscard]] std::string_view name() const { return "mine"; }
    stowage::solver::result operator()(const stowage::solver::model&, const stowage::solver::options&) const {
        return {};
    }
};

struct solver_without_name : solver {
#ifndef PASS
    void name() const = delete;
#endif
};

int main() {
    stowage::budget account;
    stowage::layout::context context{.account = account};
    return static_cast<int>(
        stowage::layout::integer_program<solver_without_name>{}(stowage::layout::problem{}, context).size());
}
