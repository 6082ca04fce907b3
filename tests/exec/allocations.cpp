// ctest-label: threads
// A run allocates nothing, and a vertex has little state.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <stowage/exec.hpp>

#include "support/counted_allocations.hpp"
#include "support/random_memgraph.hpp"

using namespace stowage;

namespace {

/// Contents as the synthetic kernels', and every third operator a coroutine.
struct kernels_by_third {
    exec::synthetic_kernels contents;
    [[nodiscard]] bool is_coroutine(operator_index op) const { return op % 3 == 0; }
    void operator()(const exec::kernel_call<exec::lane_index>& call) const { contents(call); }
    [[nodiscard]] exec::kernel_task start(exec::kernel_context<exec::lane_index>& kernel) const {
        auto body = [this](const exec::kernel_call<exec::lane_index>& call) { contents(call); };
        co_await kernel.sleep(std::chrono::nanoseconds(10));
        co_await kernel.run(body);
    }
};

template <class Device>
void check_run(Device& device, const exec::executor_options& options) {
    const auto sample = test::make_random_memgraph(5, {.operators = 60, .devices = 2});
    const exec::synthetic_digests digests(sample.program);
    const exec::synthetic_kernels contents(sample.program, digests);
    exec::executor executor{sample.program, sample.graph, kernels_by_third{contents}, device, options};
    for (int round = 0; round < 4; ++round) {
        contents.fill(executor, sample.graph.start);
        const exec::run_options run{.seed = 7, .trace = true};
        if (round == 0) {  // the tables of times are made by the first run that keeps them
            CHECK(executor.run(run));
            continue;
        }
        const std::size_t before = test::allocations.load();
        const exec::run_report& report = executor.run(run);
        const std::size_t after = test::allocations.load();
        CHECK(after - before == 0);
        CHECK(report.status == exec::run_status::ok);
        contents.check(executor, sample.graph.final);
    }
}

}  // namespace

TEST_CASE("no run allocates, on any device, with any window") {
    for (const std::uint32_t window : {1U, 3U}) {
        const exec::executor_options options{
            .priority = exec::seeded_random{}, .window = window, .copy_chunk_bytes = 16};
        exec::inline_device at_once;
        check_run(at_once, options);
        exec::simulated_device in_time;
        check_run(in_time, options);
        for (const exec::notifier how :
             {exec::notifier::poll, exec::notifier::pinned_word, exec::notifier::callback}) {
            exec::host_device threads({.notifier = how});
            check_run(threads, options);
        }
    }
}

TEST_CASE("a vertex has at most 64 bytes of state, with every option on") {
    const auto sample = test::make_random_memgraph(6, {.operators = 400});
    const auto kernel = [](const exec::kernel_call<exec::lane_index>&) {};
    exec::inline_device device;
    const exec::executor least{sample.program, sample.graph, kernel, device, {.priority = exec::fifo{}}};
    CHECK(least.bytes_per_vertex() <= 40);
    exec::inline_device other;
    const exec::executor most{sample.program,
                              sample.graph,
                              kernel,
                              other,
                              {.priority = exec::need{}, .window = 4, .copy_chunk_bytes = 16}};
    CHECK(most.bytes_per_vertex() <= 64);
}
