// ctest-label: threads
// CUDA's own rules, which a first run on a real machine would break: the current device is the thread's and
// others change it, a context costs memory, errors stay until they are taken, bytes that were written may not
// have arrived, work may hang. On the fake of CUDA's runtime, which has these rules.

#include <doctest/doctest.h>

#include "support/fake_cuda.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/exec/cuda.hpp>

#include "support/cuda_samples.hpp"

using namespace stowage;
using test::cuda_sample;
using test::two_devices;
using call_type = exec::kernel_call<cudaStream_t>;

namespace {

[[nodiscard]] int current() {
    int device = -1;
    (void)cudaGetDevice(&device);
    return device;
}

}  // namespace

TEST_CASE("whatever else the thread makes current, work goes to its own device, and that is left current") {
    REQUIRE(fake_cuda::world::get().reset({.delay_seed = 5}));
    const cuda_sample s(5);
    const cuda_sample other(7);
    {
        REQUIRE(cudaSetDevice(1) == cudaSuccess);
        REQUIRE(cudaSetDevice(0) == cudaSuccess);
        exec::cuda_device device(two_devices(exec::notifier::poll));
        exec::cuda_device_options swapped = two_devices(exec::notifier::callback);
        swapped.ordinals = {1, 0};
        exec::cuda_device second(swapped);
        exec::executor executor{s.made.program, s.made.graph, s.kernels, device, {.window = 3}};
        exec::executor beside{other.made.program, other.made.graph, other.kernels, second};
        CHECK(current() == 0);
        for (int run = 0; run < 3; ++run) {
            REQUIRE(cudaSetDevice(0) == cudaSuccess);
            s.kernels.contents.fill(executor, s.made.graph.start);
            other.kernels.contents.fill(beside, other.made.graph.start);
            CHECK(current() == 0);
            executor.start();
            beside.start();
            bool runs = true;
            bool runs_beside = true;
            bool left = true;
            for (int turn = 0; runs || runs_beside; ++turn) {  // both on this thread, in turn
                (void)cudaSetDevice(turn % 2);
                if (runs) runs = !executor.poll();
                if (runs_beside) runs_beside = !beside.poll();
                left = left && current() == turn % 2;
            }
            CHECK(left);
            CHECK(executor.report());
            CHECK(beside.report());
            s.kernels.contents.check(executor, s.made.graph.final);
            other.kernels.contents.check(beside, other.made.graph.final);
        }
        REQUIRE(cudaSetDevice(0) == cudaSuccess);
    }
    CHECK(current() == 0);
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("runs make nothing on the device, and look for the driver's functions once in a process") {
    for (int how = 0; how < 6; ++how) {
        const bool peers = how < 3;  // else copies between devices are staged
        REQUIRE(fake_cuda::world::get().reset({.peers = peers}));
        const cuda_sample s(5);
        {
            exec::cuda_device device(two_devices(static_cast<exec::notifier>(how % 3)));
            exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
            const std::int64_t made = fake_cuda::world::get().made;
            CHECK(made > 0);
            for (const bool trace : {false, true, false}) {
                s.kernels.contents.fill(executor, s.made.graph.start);
                CHECK(executor.run({.keep_times = trace, .trace = trace}));
                s.kernels.contents.check(executor, s.made.graph.final);
            }
            CHECK(fake_cuda::world::get().made == made);
        }
        CHECK(fake_cuda::world::get().reset());
    }
    CHECK(fake_cuda::world::get().lookups == 1);
}

TEST_CASE("a device that nobody uses gets no context") {
    REQUIRE(fake_cuda::world::get().reset());
    const cuda_sample s(2);
    std::jthread([&] {  // whose current device is 0, as every thread's at first
        exec::cuda_device device(1);
        exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
        s.kernels.contents.fill(executor, s.made.graph.start);
        CHECK(executor.run());
        s.kernels.contents.check(executor, s.made.graph.final);
    })
        .join();
    CHECK(fake_cuda::world::get().contexts == std::set<int>{1});
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("errors that others left are not the run's, and a launch that fails is, and not the next run's") {
    REQUIRE(fake_cuda::world::get().reset());
    const cuda_sample s(3);
    {
        exec::cuda_device device(two_devices(exec::notifier::poll));
        exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
        s.kernels.contents.fill(executor, s.made.graph.start);
        executor.start();
        bool runs = true;
        while (runs) {
            (void)cudaSetDevice(99);  // by the application, which does not look at what it answers
            runs = !executor.poll();
        }
        CHECK(executor.report());
        s.kernels.contents.check(executor, s.made.graph.final);

        s.kernels.contents.fill(executor, s.made.graph.start);
        fake_cuda::world::get().launches = 0;
        fake_cuda::world::get().change([](fake_cuda::behaviour& how) { how.failing_launch = 4; });
        const exec::run_report& report = executor.run();
        CHECK(report.error.value().kind == exec::fault_kind::submission);
        CHECK(report.error->message.find("cudaErrorInvalidConfiguration") != std::string::npos);
        CHECK(report.error->vertex_kind == turnip::vertex_kind::op);
        CHECK_FALSE(report.device_lost);
        s.kernels.contents.fill(executor, s.made.graph.start);
        CHECK(executor.run());
        s.kernels.contents.check(executor, s.made.graph.final);
    }
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("work that hangs ends the run by the watchdog, and what it may touch is kept until it ends") {
    for (std::int64_t work = 0; work < 18; ++work) {
        REQUIRE(fake_cuda::world::get().reset());
        const cuda_sample s(static_cast<std::uint64_t>(work));
        {
            exec::cuda_device device(two_devices(static_cast<exec::notifier>(work % 3)));
            exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
            s.kernels.contents.fill(executor, s.made.graph.start);
            fake_cuda::world& w = fake_cuda::world::get();
            w.works = 0;
            w.change([&](fake_cuda::behaviour& how) { how.hanging_work = work; });
            exec::run_options options{.watchdog = std::chrono::milliseconds(30)};
            const exec::run_report& report = executor.run(options);
            REQUIRE(report.error.has_value());
            CHECK(report.error->kind == exec::fault_kind::no_progress);
            CHECK(report.device_lost);
            CHECK_THROWS_AS(executor.run(), exec::usage_error);
            const std::jthread later([&w] {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                w.unhang();
            });
            // here executor and device go, which wait for it
        }
        CHECK(fake_cuda::world::get().reset());
    }
}

TEST_CASE(
    "what is left in a stream after all ends were told is watched too, and bounded by no caller's work") {
    // one operator: work 0; its announcement, where it is a word: work 1
    stowage::program source;
    source.add_operator({});
    const tensor_graph program = make_tensor_graph(source);
    turnip::memgraph graph;
    graph.arena_bytes = {0};
    graph.add({.op = 0}, {}, {});
    fake_cuda::world& w = fake_cuda::world::get();
    for (const bool throws : {false, true}) {
        REQUIRE(w.reset());
        bool launches = true;
        const auto kernel = [&](const call_type& call) {
            if (launches) fake_cuda::launch(call.handle, [] {});
            if (throws && launches) throw std::domain_error("after the launch");
        };
        {
            exec::cuda_device device({.notifier = exec::notifier::pinned_word});
            exec::executor executor{program, graph, kernel, device};
            w.works = 0;
            w.change([&](fake_cuda::behaviour& how) { how.hanging_work = throws ? 0 : 1; });
            const auto from = std::chrono::steady_clock::now();
            const exec::run_report& report = executor.run({.watchdog = std::chrono::milliseconds(30)});
            CHECK(std::chrono::steady_clock::now() - from < std::chrono::seconds(10));
            CHECK(report.status == exec::run_status::failed);
            CHECK(report.device_lost);
            const exec::fault& silent = throws ? report.later.at(0) : report.error.value();
            CHECK(silent.kind == exec::fault_kind::no_progress);
            CHECK(silent.lane_name == "d0.compute");
            CHECK(silent.vertex == 0);
            CHECK(report.vertices == (throws ? 0 : 1));
            CHECK_THROWS_AS(executor.run(), exec::usage_error);
            w.unhang();
        }
        CHECK(w.reset());
    }
    for (const bool throws : {false, true}) {  // the context is lost by it
        REQUIRE(w.reset());
        const auto kernel = [&](const call_type& call) {
            fake_cuda::launch(call.handle, [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
            if (throws) throw std::domain_error("after the launch");
        };
        {
            exec::cuda_device device({.notifier = exec::notifier::pinned_word});
            exec::executor executor{program, graph, kernel, device};
            w.works = 0;
            w.change([&](fake_cuda::behaviour& how) { how.failing_work = throws ? 0 : 1; });
            const exec::run_report& report = executor.run();
            CHECK(report.status == exec::run_status::failed);
            CHECK(report.device_lost);
            CHECK(report.error.value().kind ==
                  (throws ? exec::fault_kind::kernel : exec::fault_kind::device_lost));
            CHECK(report.error->vertex == 0);
            CHECK_THROWS_AS(executor.run(), exec::usage_error);
        }
        CHECK(w.reset());
    }
    cudaStream_t mine = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&mine, cudaStreamNonBlocking, 0) == cudaSuccess);
    const auto kernel = [](const call_type& call) { fake_cuda::launch(call.handle, [] {}); };
    for (int how = 0; how < 3; ++how) {
        std::atomic<bool> over = false;
        exec::cuda_device device(
            {.notifier = static_cast<exec::notifier>(how), .stream = [&](const exec::lane_description& lane) {
                 return lane.kind == exec::lane_kind::compute ? mine : nullptr;
             }});
        exec::executor executor{program, graph, kernel, device};
        const std::function<void(const exec::progress&)> goes_on = [&](const exec::progress&) {
            fake_cuda::launch(mine, [&] {
                while (!over)
                    std::this_thread::yield();
            });
        };
        CHECK(executor.run({.watchdog = std::chrono::seconds(5), .on_progress = &goes_on}));
        CHECK_FALSE(over);
        over = true;
    }
    REQUIRE(cudaStreamDestroy(mine) == cudaSuccess);
    CHECK(w.reset());
}

TEST_CASE("memory that is bound without being pinned gives the same contents, by copies that block") {
    REQUIRE(fake_cuda::world::get().reset({.delay_seed = 9}));
    std::size_t bound = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const cuda_sample s(seed);
        exec::cuda_device device(two_devices(exec::notifier::poll));
        exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
        s.kernels.contents.fill(executor, s.made.graph.start);
        std::vector<std::unique_ptr<std::vector<std::byte>>> mine;
        for (const turnip::residence& r : s.made.graph.start) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(s.made.program.bytes(r.buffer)));
            executor.read(r.buffer, bytes);
            try {
                mine.push_back(std::make_unique<std::vector<std::byte>>(bytes));
                executor.bind(r.buffer, *mine.back());
            } catch (const exec::usage_error&) {  // one that is written, or begins on a device
                continue;
            }
            ++bound;
        }
        CHECK(executor.run());
        s.kernels.contents.check(executor, s.made.graph.final);
    }
    CHECK(bound > 0);
    CHECK(fake_cuda::world::get().pageable_copies > 0);
}

TEST_CASE("a run starts after what is in the caller's stream") {
    REQUIRE(fake_cuda::world::get().reset());
    const cuda_sample s(8);
    cudaStream_t mine = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&mine, cudaStreamNonBlocking, 0) == cudaSuccess);
    {
        std::atomic<bool> ready = false;
        std::atomic<bool> early = false;
        const auto kernels = [&](const call_type& call) {
            fake_cuda::launch(call.handle, [&] { early = early || !ready; });
            s.kernels(call);
        };
        exec::cuda_device device(0);
        exec::executor executor{s.made.program, s.made.graph, kernels, device};
        for (int run = 0; run < 3; ++run) {
            s.kernels.contents.fill(executor, s.made.graph.start);
            ready = false;
            fake_cuda::launch(mine, [&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                ready = true;
            });
            device.start_after_stream(mine);
            CHECK(executor.run());
            CHECK_FALSE(early);
            s.kernels.contents.check(executor, s.made.graph.final);
        }
    }
    REQUIRE(cudaStreamDestroy(mine) == cudaSuccess);
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("a stream to start after may be named before the executor is made") {
    REQUIRE(fake_cuda::world::get().reset());
    const cuda_sample s(8);
    cudaStream_t mine = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&mine, cudaStreamNonBlocking, 0) == cudaSuccess);
    {
        exec::cuda_device device(0);
        device.start_after_stream(mine);
        exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
        s.kernels.contents.fill(executor, s.made.graph.start);
        CHECK(executor.run());
        s.kernels.contents.check(executor, s.made.graph.final);
    }
    REQUIRE(cudaStreamDestroy(mine) == cudaSuccess);
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("what the caller has put into memory that it gives is there after links were tried") {
    REQUIRE(fake_cuda::world::get().reset());
    const cuda_sample s(5);
    REQUIRE(s.made.graph.arena_bytes.size() == 2);
    std::vector<void*> blocks(2);
    {
        exec::cuda_device_options options = two_devices(exec::notifier::poll);
        std::vector<std::vector<std::byte>> before(2);
        for (std::size_t d = 0; d < 2; ++d) {
            const auto size = static_cast<std::size_t>(s.made.graph.arena_bytes[d]);
            REQUIRE(cudaSetDevice(static_cast<int>(d)) == cudaSuccess);
            REQUIRE(cudaMalloc(&blocks[d], size) == cudaSuccess);
            options.arenas.emplace_back(static_cast<std::byte*>(blocks[d]), size);
            for (std::size_t i = 0; i < size; ++i)
                before[d].push_back(static_cast<std::byte>(i * 7 + d));
            REQUIRE(cudaMemcpy(blocks[d], before[d].data(), size, cudaMemcpyDefault) == cudaSuccess);
            REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
        }
        exec::cuda_device device(options);
        exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
        CHECK(fake_cuda::world::get().bytes_by_peers > 0);
        for (std::size_t d = 0; d < 2; ++d) {
            const auto* const now = static_cast<const std::byte*>(blocks[d]);
            CHECK(std::equal(before[d].begin(), before[d].end(), now));
        }
        s.kernels.contents.fill(executor, s.made.graph.start);
        CHECK(executor.run());
        s.kernels.contents.check(executor, s.made.graph.final);
    }
    for (void* block : blocks)
        CHECK(cudaFree(block) == cudaSuccess);
    CHECK(fake_cuda::world::get().reset());
}
