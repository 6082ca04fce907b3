// A program that asks for stowage::cbc alone: it gets the core and Cbc with it.
#include <stowage/solver/cbc.hpp>
#include <stowage/solver/check.hpp>
#include <stowage/version.hpp>

int main() {
    static_assert(stowage::version.major == EXPECTED_MAJOR && stowage::version.minor == EXPECTED_MINOR);
    stowage::solver::model program;
    program.add_binary(-1);
    return stowage::solver::solve(stowage::solver::cbc{}, program).objective == -1 ? 0 : 1;
}
