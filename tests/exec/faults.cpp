// ctest-label: threads
// Some hundred runs of the fault campaign; bench/exec/faults.cpp makes 10,000.

#include <doctest/doctest.h>

#include <set>
#include <string>

#include <stowage/exec.hpp>

#include "support/fault_campaign.hpp"

using namespace stowage;

TEST_CASE("faulty runs in virtual time end with the right report, and a good run follows") {
    test::fault_counts counts;
    CHECK_NOTHROW(test::run_campaign<exec::simulated_device>(0, 600, counts));
    CHECK(counts.kinds.size() == test::fault_draws);
    CHECK(counts.vertices.size() == 4);
    std::set<std::string> pairs;
    for (const auto& [hit, count] : counts.hits)
        pairs.insert(hit.substr(0, hit.find(" in ")));
    CHECK(pairs.size() == 4 * 4 + 1);  // what throws is an operator; the others hit every kind
    CHECK(counts.lanes.size() == 10);  // compute, d2h, h2d, move and peer of two devices
    MESSAGE(counts.text());
}

TEST_CASE("faulty runs on threads end with the right report, and a good run follows") {
    test::fault_counts counts;
    CHECK_NOTHROW(test::run_campaign<exec::host_device>(0, 120, counts));
    CHECK(counts.kinds.size() == test::fault_draws);
    MESSAGE(counts.text());
}
