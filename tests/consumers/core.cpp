// A program that has nothing but stowage::stowage.
#include <stowage/error.hpp>
#include <stowage/version.hpp>

int main() {
    static_assert(stowage::version.major == EXPECTED_MAJOR && stowage::version.minor == EXPECTED_MINOR);
    try {
        throw stowage::program_error("a rule", {.index = 1, .name = "relu"});
    } catch (const stowage::error&) {
        return 0;
    }
    return 1;
}
