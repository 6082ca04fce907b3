// ctest-label: gpu
// What only a CUDA device can show: the CUDA examples, where nvcc has built them and a device is here.
// STOWAGE_PROGRAM_DIR is where they are. ctest calls a test skipped that says why.

#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "support/run_program.hpp"

namespace {

/// What the program `command` names answers; nothing, with a line that says why, where it cannot run here.
[[nodiscard]] std::optional<stowage::test::outcome> run(const std::string& name,
                                                        const std::string& arguments) {
    constexpr int no_device = 3;
    const std::string program = STOWAGE_PROGRAM_DIR "/" + name;
    if (!std::filesystem::exists(program)) {
        MESSAGE("skipped: ", name, " was not built");
        return std::nullopt;
    }
    stowage::test::outcome result = stowage::test::run(program + " " + arguments);
    if (result.err.find("this build has no CUDA") != std::string::npos || result.status == no_device) {
        MESSAGE("skipped: ", result.out, result.err);
        return std::nullopt;
    }
    return result;
}

}  // namespace

TEST_CASE("a step with half of its memory gives the same bits on a CUDA device") {
    const auto result = run("cuda_stream", "");
    if (!result) return;
    CAPTURE(result->out);
    CHECK(result->status == 0);
    CHECK(result->out.find("the same bits") != std::string::npos);
}

TEST_CASE(
    "LLaMA by cuBLAS is near the host's results and the same bits at every capacity and in every order") {
    for (const std::string name : {"llama", "lora"}) {
        for (const std::string devices : {"1", "2"}) {
            const auto result = run(name, "--device cuda --seeds 10 --devices " + devices);
            if (!result) return;
            CAPTURE(result->out);
            CAPTURE(result->err);
            CHECK(result->status == 0);
            CHECK(result->out.find("the same but for rounding") != std::string::npos);
            CHECK(result->out.find("all results are the same, bit for bit") != std::string::npos);
        }
    }
}
