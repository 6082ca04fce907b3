// The graph room on the captured programs in examples/data: fingerprints, size, dependencies, stages.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/io/access_list.hpp>

using namespace stowage;

namespace {

struct captured {
    const char* name;
    std::uint64_t fingerprint;  // by shared/check/program.py
    bool traced;                // the tracer recorded the stages itself
};

const std::vector<captured> programs = {
    {"alexnet-b1", 0x1467f97c1444e666, true},
    {"alexnet-b32", 0x65c7a31773f08d65, true},
    {"bert-b1", 0x3fa1ed2cc042b55b, true},
    {"bert-b32", 0xb5023b0e5e5d34e7, true},
    {"efficientnet_b0-b1", 0xa01771c25d35970d, true},
    {"efficientnet_b0-b32", 0xf7ffc5dbed74f026, true},
    {"gpt2-xl-b1", 0x7b6a70505111bf49, true},
    {"gpt2-xl-b2", 0x4524f9e5045e7aaf, true},
    {"gpt2-xl-b4", 0x00d0e2ce35d93725, true},
    {"inductor-densenet121-bwd", 0x6df3ed1ddfed1461, false},
    {"inductor-gpt2-bwd", 0x632bfadca2608800, false},
    {"inductor-resnet50-bwd", 0x692ea09f7b0b1d25, false},
    {"llama-7b-lora-b1", 0xb469882be7242918, true},
    {"llama-7b-prefill-b1", 0x72e93c9d6e82ccc6, true},
    {"mnasnet1_0-b1", 0x0b73d5686a58b5d6, true},
    {"mnasnet1_0-b32", 0x7bf72085048df81c, true},
    {"mobilenet_v2-b1", 0xe1ecd84f19196e84, true},
    {"mobilenet_v2-b32", 0xb2d35a03703bfb1d, true},
    {"resnet50-b1", 0xa33fa06e6533833a, true},
    {"resnet50-b32", 0xc59b370f783ffc30, true},
    {"resnet50-b32-donated", 0xade90738aa94313b, true},
    {"vgg16-b1", 0x7905130aa49a2a6c, true},
    {"vgg16-b32", 0xccb7e7e2eb704e4d, true},
    {"vit_b_16-b1", 0xe0242e84b87f2ef3, true},
    {"vit_b_16-b32", 0xf0004be868f89386, true},
    {"xla-gpt2-donate-mem", 0x1320541ad55d57a9, false},
    {"xla-lstm_unrolled-donate-mem", 0xf108239da8289b3e, false},
    {"xla-resnet18-donate-mem", 0x863a032369014c23, false},
    {"xla-unet-donate-mem", 0x59acbef79f879584, false},
};

tensor_graph read(const captured& program) {
    return io::read_access_list(std::string(STOWAGE_EXAMPLE_DATA) + "/" + program.name + ".json.gz").graph;
}

}  // namespace

TEST_CASE(
    "captured programs have their fingerprints, and take at most 64 bytes an operator and 8 an access") {
    for (const captured& program : programs) {
        CAPTURE(program.name);
        const tensor_graph graph = read(program);
        CHECK(graph.fingerprint() == program.fingerprint);
        CHECK(graph.memory_bytes() <= 64 * graph.operator_count() + 8 * graph.access_count());
    }
}

TEST_CASE("stages inferred are the stages that were recorded") {
    for (const captured& program : programs) {
        if (!program.traced) continue;
        CAPTURE(program.name);
        const tensor_graph graph = read(program);
        const std::vector<stage> recorded = stages_of(graph);
        CHECK(inferred_stages(graph) == recorded);
        if (std::string(program.name) != "llama-7b-prefill-b1") CHECK(!activations(graph, recorded).empty());
    }
}

TEST_CASE("a compiler's backward graph, with saved activations donated, has no update") {
    for (const captured& program : programs) {
        if (std::string(program.name).rfind("inductor", 0) != 0) continue;
        const tensor_graph graph = read(program);
        CHECK(stages_of(graph) == std::vector<stage>(graph.operator_count(), stage::forward));
    }
}

TEST_CASE("reachability as labels agrees with reachability as bits on captured programs") {
    for (const char* name : {"resnet50-b1", "xla-lstm_unrolled-donate-mem", "efficientnet_b0-b1"}) {
        const tensor_graph graph = read({name, 0, false});
        reachability bits(graph), labels(graph, {.most_as_bits = 0});
        const auto count = static_cast<operator_index>(graph.operator_count());
        std::size_t different = 0;
        for (operator_index v = 0; v < count; v += 3)
            for (operator_index u = v % 2; u < v; u += 2)
                different += bits.reaches(u, v) != labels.reaches(u, v) ? 1U : 0U;
        CHECK(different == 0);
    }
}
