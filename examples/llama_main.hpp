#pragma once
// The command line of the programs `llama` and `lora`. Exit status 0: all results are the same; 1: some
// differ, or there was an error; 2: wrong options; 3: there is no CUDA device here.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <limits>
#include <string>

#include "command_line.hpp"
#include "llama_experiment.hpp"
#include "llama_programs.hpp"
#if defined(STOWAGE_HAS_CUDA)
#include "cuda/llama/machine.hpp"
#endif

namespace examples {

/// Adds the options of both programs.
inline void add_llama_options(CLI::App& app, llama_arguments& given, std::string& device) {
    app.add_option(
           "--device", device,
           "host: OpenBLAS on its threads; cuda: cuBLAS on CUDA devices, where this was built with it")
        ->check(CLI::IsMember({"host", "cuda"}))
        ->capture_default_str();
    const auto add = [&]<class Number>(const char* name, Number& number, const char* what,
                                       std::uint64_t least = 0,
                                       std::uint64_t most = std::numeric_limits<Number>::max()) {
        app.add_option(name, number, what)->check(whole_number(least, most))->capture_default_str();
    };
    constexpr std::uint64_t widest = 1 << 20;  // so that the bytes of no tensor overflow
    add("--layers", given.shape.layers, "layers", 1, 10'000);
    add("--hidden", given.shape.hidden, "width", 1, widest);
    add("--heads", given.shape.heads, "attention heads", 1, widest);
    add("--ffn", given.shape.ffn, "width between", 1, widest);
    add("--vocabulary", given.shape.vocabulary, "tokens that there are", 1, widest);
    app.add_flag("--7b", given.seven_billion, "the shape of LLaMA 7B");
    add("--sequence", given.run.sequence, "tokens of a sequence", 1, widest);
    add("--batch", given.run.batch, "sequences", 1, 1024);
    add("--devices", given.run.devices, "devices: each has a compute lane and an arena on the host", 1, 4);
    add("--seeds", given.seeds, "runs in an order by chance, at each capacity");
    add("--seed", given.seed, "of the weights");
    add("--repeats", given.repeats, "timed runs, of which the fastest counts", 1);
    add("--states", given.states, "search states of each compilation");
    app.add_flag("!--no-rivals", given.rivals, "leave out the other ways to run");
    app.add_flag("!--no-least", given.least, "leave out the search for the least capacity");
}

/// Exit status: there is no CUDA device to run on.
inline constexpr int exit_no_device = 3;

/// The main function of both programs; `make` makes the program of a shape and a run.
template <class Make>
[[nodiscard]] int run_llama(int argc, char** argv, const char* what, llama_arguments given,
                            const Make& make) {
    CLI::App app{what};
    std::string device = "host";
    add_llama_options(app, given, device);
    try {
        app.parse(argc, argv);
        if (given.seven_billion) given.shape = llama_7b();
        const auto divides = [&](std::int64_t n) { return n % given.run.devices == 0; };
        if (given.shape.hidden % given.shape.heads != 0 || given.shape.hidden / given.shape.heads % 2 != 0)
            throw CLI::ValidationError("--heads", "each must be an even part of --hidden");
        if (!divides(given.shape.heads) || !divides(given.shape.ffn) || !divides(given.shape.vocabulary))
            throw CLI::ValidationError("--devices", "must divide heads, ffn and vocabulary");
#if !defined(STOWAGE_HAS_CUDA)
        if (device == "cuda") throw CLI::ValidationError("--device", "this build has no CUDA");
#endif
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
#if defined(STOWAGE_HAS_CUDA)
        if (device == "cuda") {
            if (const std::string missing = cuda_machine::missing(); !missing.empty()) {
                std::cout << "no CUDA device here: " << missing << "\n";
                return exit_no_device;
            }
            given.run.scratch = cuda_machine::scratch_bytes(given);
            return llama_experiment<cuda_machine>(given, make(given.shape, given.run)).run() ? 0 : 1;
        }
#endif
        return llama_experiment<host_machine>(given, make(given.shape, given.run)).run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << argv[0] << ": " << error.what() << "\n";
        return 1;
    }
}

}  // namespace examples
