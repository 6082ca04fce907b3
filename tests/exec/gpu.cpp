// ctest-label: gpu
// What only a CUDA device can show: the CUDA examples, where nvcc has built them and a device is here.
// STOWAGE_PROGRAM_DIR is where they are.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "support/run_program.hpp"

TEST_CASE("a step with half of its memory gives the same bits on a CUDA device") {
    const std::string program = STOWAGE_PROGRAM_DIR "/cuda_stream";
    if (!std::filesystem::exists(program)) {
        MESSAGE("skipped: nvcc is not here");
        return;
    }
    const stowage::test::outcome result = stowage::test::run(program);
    if (result.status == 3) {
        MESSAGE("skipped: ", result.out);
        return;
    }
    CAPTURE(result.out);
    CHECK(result.status == 0);
    CHECK(result.out.find("the same bits") != std::string::npos);
}
