// A program that asks for stowage::glpk alone: it gets the core and GLPK with it.
#include <stowage/solver/check.hpp>
#include <stowage/solver/glpk.hpp>
#include <stowage/version.hpp>

int main() {
    static_assert(stowage::version.major == EXPECTED_MAJOR && stowage::version.minor == EXPECTED_MINOR);
    stowage::solver::model program;
    program.add_binary(-1);
    return stowage::solver::solve(stowage::solver::glpk{}, program).objective == -1 ? 0 : 1;
}
