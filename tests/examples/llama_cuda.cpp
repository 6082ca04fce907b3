// ctest-label: threads
// LLaMA on CUDA as the programs `llama` and `lora` run it with --device cuda, on fakes of CUDA's runtime and
// of cuBLAS: the same host code, and the same arithmetic for one value or row, compiled for the host. The
// results are near the host's own, and the same bit for bit at every capacity and in every order.

#include <doctest/doctest.h>

#include "support/fake_cublas.hpp"
#include "support/fake_cuda.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../../examples/cuda/llama/kernels.hpp"
#include "../../examples/cuda/llama/machine.hpp"
#include "../../examples/llama_experiment.hpp"

namespace {

/// A block of threads, one thread after the other: sums in the order of the real one.
struct block_group {
    template <class Body>
    void each(std::int64_t count, const Body& body) const {
        for (std::int64_t i = 0; i < count; ++i)
            body(i);
    }
    template <class Value>
    [[nodiscard]] double sum(std::int64_t count, const Value& value) const {
        return reduced(count, 0.0, value, [](double a, double b) { return a + b; });
    }
    template <class Value>
    [[nodiscard]] float most(std::int64_t count, const Value& value) const {
        return static_cast<float>(
            reduced(count, -1e38, value, [](double a, double b) { return std::max(a, b); }));
    }

private:
    template <class Value, class Join>
    [[nodiscard]] static double reduced(std::int64_t count, double none, const Value& value,
                                        const Join& join) {
        constexpr std::size_t threads = examples::math::group_threads;
        std::array<double, threads> shared;
        shared.fill(none);
        for (std::int64_t i = 0; i < count; ++i) {
            double& mine = shared[static_cast<std::size_t>(i) % threads];
            mine = join(mine, static_cast<double>(value(i)));
        }
        for (std::size_t half = threads / 2; half > 0; half /= 2) {
            for (std::size_t i = 0; i < half; ++i)
                shared[i] = join(shared[i], shared[i + half]);
        }
        return shared[0];
    }
};

struct launch {
    template <class Body>
    static void values(cudaStream_t stream, std::int64_t count, const Body& body) {
        fake_cuda::launch(stream, [=] {
            for (std::int64_t i = 0; i < count; ++i)
                body(i);
        });
    }
    template <class Body>
    static void rows(cudaStream_t stream, std::int64_t count, const Body& body) {
        fake_cuda::launch(stream, [=] {
            for (std::int64_t row = 0; row < count; ++row)
                body(block_group(), row);
        });
    }
};

struct answer {
    bool good = false;
    std::string text;
};

/// What the program prints for a small shape with `--device cuda`.
[[nodiscard]] answer run(bool training, std::int64_t layers, std::int64_t devices) {
    const auto make = training ? examples::llama_lora_step : examples::llama_prefill;
    examples::llama_arguments given;
    given.shape = {"small", layers, 24, 4, 48, 64};
    given.run = {.sequence = 66, .batch = 2, .devices = devices, .rank = 4, .value_bytes = 4};
    given.run.scratch = examples::cuda_machine::scratch_bytes(given);
    given.seeds = 2;
    given.repeats = 1;
    given.states = 2'000;
    given.least = layers == 1 && devices == 1 && !training;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    answer result;
    try {
        result.good = examples::llama_experiment<examples::cuda_machine>(given, make(given.shape, given.run),
                                                                         file.get())
                          .run();
    } catch (const std::exception& error) {
        result.text = error.what();
    }
    std::rewind(file.get());
    std::array<char, 4096> part;
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), file.get()))
        result.text.append(part.data(), size);
    return result;
}

}  // namespace

namespace examples {

llama_cuda_function make_llama_cuda_kernels(const stowage::tensor_graph& program, const llama_shape& shape,
                                            const llama_run& run, const std::vector<int>& ordinals) {
    const auto kernels = std::make_shared<const llama_cuda_kernels<launch>>(program, shape, run, ordinals);
    return [kernels](const stowage::exec::kernel_call<cudaStream_t>& call) { (*kernels)(call); };
}

}  // namespace examples

TEST_CASE("a prefill and a training step on CUDA are near the host's and the same at every capacity") {
    for (const bool training : {false, true}) {
        REQUIRE(fake_cuda::world::get().reset({.delay_seed = training ? 3U : 0U}));
        const answer result = training ? run(true, 1, 1) : run(false, 2, 2);
        CAPTURE(result.text);
        CHECK(result.good);
        CHECK(result.text.find("beside the host's results: the same but for rounding") != std::string::npos);
        CHECK(result.text.find("50% of it") != std::string::npos);
        for (const std::string rival : {"synchronous", "fixed order", "event loop"})
            CHECK(result.text.find("50%, " + rival) != std::string::npos);
        CHECK((result.text.find("layer streaming") != std::string::npos) == training);  // on one device alone
        CHECK(fake_cuda::world::get().pageable_copies == 0);
        CHECK(fake_cublas::world::get().handles.empty());
    }
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("what cuBLAS refuses fails the run and not the program") {
    REQUIRE(fake_cuda::world::get().reset());
    fake_cublas::world::get().products = 0;
    fake_cublas::world::get().failing_product = 40;
    const answer result = run(false, 1, 1);
    fake_cublas::world::get().failing_product = -1;
    CAPTURE(result.text);
    CHECK_FALSE(result.good);
    CHECK(fake_cublas::world::get().products > 40);
    CHECK(fake_cublas::world::get().handles.empty());
    CHECK(fake_cuda::world::get().reset());
}
