// Programs like the captured ones, so that no rule is right for those alone.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <stowage/io/access_list.hpp>
#include <stowage/order.hpp>
#include <stowage/verify/order.hpp>

#include "support/perturbed_program.hpp"

using namespace stowage;

TEST_CASE("perturbed captured programs are proven too, all but a few, and the rest nearly") {
    int proven = 0;
    int programs = 0;
    for (const char* name : {"alexnet-b32", "vgg16-b1", "mnasnet1_0-b1", "inductor-gpt2-bwd",
                             "inductor-resnet50-bwd", "xla-unet-donate-mem"}) {
        const tensor_graph captured =
            io::read_access_list(STOWAGE_EXAMPLE_DATA "/" + std::string(name) + ".json.gz").graph;
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            CAPTURE(name);
            CAPTURE(seed);
            const tensor_graph graph = test::perturbed_program(captured, seed);
            const order::solution found = order::portfolio{}(graph, {.states = 60'000});
            CHECK(verify::check_order(graph, found).ok);
            CHECK(found.peak <= peak_bytes(graph, program_order(graph)));
            CHECK(found.lower_bound <= found.peak);
            CHECK(found.peak - found.lower_bound <= found.lower_bound / 50);
            proven += found.status == status::optimal ? 1 : 0;
            ++programs;
        }
    }
    CHECK(proven >= programs - 3);
}
