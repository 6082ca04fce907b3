// ctest-label: threads
// Some hundred runs of the fault campaign on CUDA's fake; bench/exec/cuda_faults.cpp makes thousands.

#include <doctest/doctest.h>

#include "support/fake_cuda.hpp"

#include "support/cuda_faults.hpp"

using namespace stowage;

TEST_CASE("faulty runs on CUDA end with the right report, nothing is left, and a good run follows") {
    test::fault_counts counts;
    CHECK_NOTHROW(test::run_cuda_campaign(0, 200, counts));
    CHECK(counts.kinds.size() == test::cuda_draws);
    CHECK(counts.vertices.size() >= 3);
    MESSAGE(counts.text());
}
