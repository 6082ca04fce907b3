// docs/cookbook.md, "Lay out lifetimes".
#include <iostream>
#include <vector>

// [lifetimes]
#include <stowage/layout.hpp>

struct my_lifetime {   // any struct with these three members; alignment is optional
    int lower, upper;  // alive in [lower, upper)
    long size;
    int alignment = 1;
};
const std::vector<my_lifetime> lifetimes = {
    {0, 2, 256, 256}, {1, 3, 100, 256}, {2, 4, 256, 256}, {3, 5, 100}, {5, 5, 900}};
// [lifetimes]

int main() {
    // [layout]
    const auto answer = stowage::layout::plan(stowage::layout::make_problem(lifetimes));
    for (const std::int64_t offset : answer.offsets)
        std::cout << offset << ' ';
    std::cout << "\narena " << answer.arena << ", load " << answer.load << ", " << to_string(answer.status)
              << '\n';
    // [layout]
}
