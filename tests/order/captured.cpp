// Programs taken from PyTorch, XLA and PyTorch Inductor, whose optima are known, and the cases of programs.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <stowage/io/access_list.hpp>
#include <stowage/order.hpp>
#include <stowage/verify/order.hpp>

namespace {

using namespace stowage;

struct captured {
    const char* name;
    double optimum;  // MiB, to four digits
};

constexpr captured programs[] = {{"alexnet-b1", 288.0},
                                 {"alexnet-b32", 288.0},
                                 {"bert-b1", 943.9443},
                                 {"bert-b32", 30206.2188},
                                 {"efficientnet_b0-b1", 85.0667},
                                 {"efficientnet_b0-b32", 2696.0667},
                                 {"gpt2-xl-b1", 24007.8899},
                                 {"gpt2-xl-b2", 48015.7718},
                                 {"gpt2-xl-b4", 96031.5355},
                                 {"llama-7b-lora-b1", 43119.2344},
                                 {"llama-7b-prefill-b1", 1064.0156},
                                 {"mnasnet1_0-b1", 43.1575},
                                 {"mnasnet1_0-b32", 1347.6447},
                                 {"mobilenet_v2-b1", 75.5146},
                                 {"mobilenet_v2-b32", 2383.5208},
                                 {"resnet50-b1", 90.1480},
                                 {"resnet50-b32", 2627.8276},
                                 {"resnet50-b32-donated", 2920.3047},
                                 {"vgg16-b1", 784.0},
                                 {"vgg16-b32", 2234.6846},
                                 {"vit_b_16-b1", 137.3613},
                                 {"vit_b_16-b32", 4321.6875},
                                 {"xla-resnet18-donate-mem", 453.1953},
                                 {"xla-unet-donate-mem", 367.3671},
                                 {"xla-lstm_unrolled-donate-mem", 217.3750},
                                 {"xla-gpt2-donate-mem", 2007.1943},
                                 {"inductor-gpt2-bwd", 472.8223},
                                 {"inductor-resnet50-bwd", 210.0071},
                                 {"inductor-densenet121-bwd", 236.3187}};

constexpr double mib = 1024.0 * 1024.0;

}  // namespace

TEST_CASE("every captured program within 1% of its optimum by lists, cuts and local search") {
    for (const captured& expected : programs) {
        CAPTURE(expected.name);
        const tensor_graph graph =
            io::read_access_list(std::string(STOWAGE_EXAMPLE_DATA) + "/" + expected.name + ".json.gz").graph;
        const order::portfolio search{order::list_orders{}, order::bounds{}, order::cut_moves{},
                                      order::bounds{}, order::local_search{.rounds = 1}};
        const order::solution found = search(graph, {.states = 30'000});
        CHECK(verify::check_order(graph, found).ok);
        const double peak = static_cast<double>(found.peak) / mib;
        CHECK(peak < expected.optimum * 1.01);
        CHECK(peak > expected.optimum - 0.0001);
        CHECK(static_cast<double>(found.lower_bound) / mib < expected.optimum + 0.0001);
    }
}

TEST_CASE("the programs among the cases") {
    const auto check = [](const char* name, std::int64_t in_program_order, std::int64_t best) {
        CAPTURE(name);
        const std::string path = std::string(STOWAGE_TEST_DATA) + "/cases/" + name + ".program.json";
        const tensor_graph graph = io::read_access_list(path).graph;
        CHECK(peak_bytes(graph, program_order(graph)) == in_program_order);
        const order::solution found = order::portfolio{}(graph);
        CHECK(found.peak == best);
        CHECK(found.lower_bound <= best);
        CHECK(verify::check_order(graph, found).ok);
    };
    check("workspace-decides-the-order", 130, 120);
    check("deferred-weight-gradients", 190, 147);
    check("independent-optimizer-steps", 253, 59);
    check("in-place-chain-with-a-reader", 108, 108);
    check("concatenation-in-one-storage", 52, 52);
}
