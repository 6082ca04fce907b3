// The programs `llama`, `lora` and `host_app` on shapes of a second: every capacity and every order gives the
// same bits. Left out where OpenBLAS, and so the programs, are not here.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "support/run_program.hpp"

namespace {

const std::string programs = STOWAGE_PROGRAM_DIR "/";

}  // namespace

TEST_CASE(
    "a prefill and a training step are the same at every capacity, in every order and on every device") {
    for (const std::string name : {"llama", "lora"}) {
        if (!std::filesystem::exists(programs + name)) continue;
        for (const std::string devices : {"1", "2", "3", "4"}) {
            if (name == "lora" && devices > "2") continue;  // each device has whole layers
            const stowage::test::outcome result = stowage::test::run(
                programs + name +
                " --layers 2 --hidden 48 --heads 12 --ffn 96 --vocabulary 96 --sequence 24 --batch 2 "
                "--seeds 10 --repeats 1 --states 2000 --devices " +
                devices);
            CAPTURE(name);
            CAPTURE(result.out);
            CAPTURE(result.err);
            CHECK(result.status == 0);
            CHECK(result.out.find("all results are the same, bit for bit") != std::string::npos);
            CHECK(result.out.find("50% of it") != std::string::npos);
            CHECK(result.out.find("least: ") != std::string::npos);
            CHECK(result.out.find("DIFFER") == std::string::npos);
        }
        CHECK(stowage::test::run(programs + name + " --heads 3").status == 2);
        for (const std::string option : {"--device gpu", "--layers 0", "--layers 1e30", "--hidden 4294967296",
                                         "--seeds -1", "--states -1", "--states x"}) {
            CAPTURE(option);
            CHECK(stowage::test::run(programs + name + " " + option).status == 2);
        }
    }
}

TEST_CASE("a host application runs two planned steps from its own loop, in its own memory") {
    const stowage::test::outcome result = stowage::test::run(programs + "host_app");
    CHECK(result.status == 0);
    CHECK(result.out.find("input 3: large 3 times the first result") != std::string::npos);
}
