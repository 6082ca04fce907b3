// ctest-label: threads
// cuda_device, unmodified, on a fake of CUDA's runtime: contents under delays by seed, every notifier and
// window, several devices with and without peer access; lost contexts, refused memory, streams and copies;
// nothing leaks.

#include <doctest/doctest.h>

#include "support/fake_cuda.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/exec/cuda.hpp>
#include <stowage/exec/cuda_nvtx.hpp>

#include "../examples/run_memgraph/staged_contents.hpp"
#include "support/cuda_samples.hpp"

using namespace stowage;

using test::cuda_sample;
using test::two_devices;
using call_type = exec::kernel_call<cudaStream_t>;

TEST_CASE("the contents are right under delays, with every notifier, window and kind of link") {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        REQUIRE(fake_cuda::world::get().reset(
            {.peers = seed % 4 < 2, .peer_writes_vanish = seed % 8 == 1, .delay_seed = seed}));
        const cuda_sample s(seed);
        {
            exec::cuda_device device(two_devices(static_cast<exec::notifier>(seed % 3)));
            exec::executor executor{s.made.program,
                                    s.made.graph,
                                    s.kernels,
                                    device,
                                    {.priority = exec::seeded_random{},
                                     .window = static_cast<std::uint32_t>(seed / 3 % 5),
                                     .copy_window = 1 + static_cast<std::uint32_t>(seed % 4),
                                     .copy_chunk_bytes = seed % 2 == 0 ? 0 : 24}};
            for (std::uint64_t run = 0; run < 3; ++run) {
                s.kernels.contents.fill(executor, s.made.graph.start);
                const exec::run_report& report = executor.run({.seed = run, .trace = true});
                const std::string error = report.error ? report.error->text() : "";
                CHECK_MESSAGE(report.status == exec::run_status::ok, error);
                s.kernels.contents.check(executor, s.made.graph.final);
                CHECK(report.trace.size() >= s.made.graph.vertices.size());
            }
        }
        CHECK(fake_cuda::world::get().pageable_copies == 0);
    }
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("a link that loses writes is found out, and copies go through the host") {
    std::uint64_t seed = 1;
    while (true) {  // one with copies between devices
        const cuda_sample s(seed);
        bool links = false;
        for (turnip::vertex_index v = 0; v < s.made.graph.vertices.size(); ++v) {
            links = links || (s.made.graph.vertices[v].kind == turnip::vertex_kind::transfer &&
                              s.made.graph.reads(v).front().device != s.made.graph.vertices[v].device);
        }
        if (links) break;
        seed += 2;
    }
    const cuda_sample s(seed);
    for (const bool vanish : {false, true}) {
        REQUIRE(fake_cuda::world::get().reset({.peer_writes_vanish = vanish}));
        exec::cuda_device device(two_devices(exec::notifier::poll));
        exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
        s.kernels.contents.fill(executor, s.made.graph.start);
        const std::int64_t probed = fake_cuda::world::get().bytes_by_peers;
        CHECK(executor.run());
        s.kernels.contents.check(executor, s.made.graph.final);
        CHECK((fake_cuda::world::get().bytes_by_peers == probed) == vanish);
    }
}

TEST_CASE("a lost context ends the run with all that was in flight, and no other run starts") {
    for (std::int64_t work = 0; work < 30; ++work) {
        const auto how = static_cast<exec::notifier>(work % 3);
        const cuda_sample s(static_cast<std::uint64_t>(work));
        REQUIRE(fake_cuda::world::get().reset());
        {
            exec::cuda_device device(two_devices(how));
            exec::executor executor{s.made.program,
                                    s.made.graph,
                                    s.kernels,
                                    device,
                                    {.window = 1 + static_cast<std::uint32_t>(work % 3)}};
            s.kernels.contents.fill(executor, s.made.graph.start);
            fake_cuda::world::get().works = 0;
            fake_cuda::world::get().change([&](fake_cuda::behaviour& b) { b.failing_work = work; });
            const exec::run_report& report = executor.run();
            CHECK(report.status == exec::run_status::failed);
            REQUIRE(report.error.has_value());
            CHECK(report.error->kind == exec::fault_kind::device_lost);
            CHECK(report.error->message.find("cudaErrorLaunchFailure") != std::string::npos);
            CHECK_FALSE(report.error->in_flight.empty());
            CHECK(report.device_lost);
            CHECK_THROWS_AS(executor.run(), exec::usage_error);
        }
    }
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("a copy that is refused, and a kernel that throws on the host, fail one run and not the next") {
    const cuda_sample s(4);
    REQUIRE(fake_cuda::world::get().reset());
    exec::cuda_device device(two_devices(exec::notifier::callback));
    bool throws = false;
    const auto kernels = [&](const call_type& call) {
        if (throws && call.op == 3) throw std::domain_error("no plan for this shape");
        s.kernels(call);
    };
    exec::executor executor{s.made.program, s.made.graph, kernels, device, {.window = 2}};
    const auto good_run = [&] {
        s.kernels.contents.fill(executor, s.made.graph.start);
        CHECK(executor.run());
        s.kernels.contents.check(executor, s.made.graph.final);
    };
    good_run();
    s.kernels.contents.fill(executor, s.made.graph.start);
    fake_cuda::world::get().copies = 0;
    fake_cuda::world::get().change([](fake_cuda::behaviour& how) { how.failing_copy = 2; });
    CHECK(executor.run().error.value().kind == exec::fault_kind::submission);
    CHECK(executor.report().error->message.find("cudaErrorInvalidValue") != std::string::npos);
    CHECK(executor.report().error->vertex_kind != turnip::vertex_kind::op);
    good_run();
    s.kernels.contents.fill(executor, s.made.graph.start);
    throws = true;
    CHECK(executor.run().error.value().kind == exec::fault_kind::kernel);
    CHECK(executor.report().error->op.index == 3);
    throws = false;
    good_run();
}

TEST_CASE("what cannot be made is an error by its name, and nothing is left behind") {
    const cuda_sample s(6);
    const auto refused = [&](const fake_cuda::behaviour& how) -> std::string {
        REQUIRE(fake_cuda::world::get().reset(how));
        exec::cuda_device device(two_devices(exec::notifier::pinned_word));
        std::string place = "nothing";
        try {
            exec::executor executor{s.made.program, s.made.graph, s.kernels, device};
        } catch (const exec::device_error& error) {
            place = error.place();
            CHECK(std::string(error.what()).find("cudaErrorMemoryAllocation") != std::string::npos);
        }
        CHECK(fake_cuda::world::get().memory.empty());
        CHECK(fake_cuda::world::get().registered.empty());
        CHECK(fake_cuda::world::get().streams.empty());
        CHECK(fake_cuda::world::get().events.empty());
        return place;
    };
    CHECK(refused({.memory = 100}) == "device 0");
    CHECK(refused({.pinned = 100}) == "host");
    CHECK(refused({.failing_stream = 1}) == "d0.h2d");
    CHECK(refused({}) == "nothing");
}

TEST_CASE("a run starts after the caller's event and records one at its end; streams may be the caller's") {
    REQUIRE(fake_cuda::world::get().reset());
    const cuda_sample s(8);
    cudaStream_t mine = nullptr;
    cudaEvent_t before = nullptr;
    cudaEvent_t after = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&mine, cudaStreamNonBlocking, 0) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&before, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&after, cudaEventDisableTiming) == cudaSuccess);
    {
        exec::cuda_device_options options = two_devices(exec::notifier::poll);
        cudaStream_t lane_stream = nullptr;
        REQUIRE(cudaStreamCreateWithPriority(&lane_stream, cudaStreamNonBlocking, 0) == cudaSuccess);
        options.stream = [&](const exec::lane_description& lane) {
            return lane.name == "d0.compute" ? lane_stream : nullptr;
        };
        {
            exec::cuda_device device(options);
            std::atomic<bool> ready = false;
            std::atomic<bool> early = false;
            const auto kernels = [&](const call_type& call) {
                if (call.device == 0) CHECK(call.handle == lane_stream);
                fake_cuda::launch(call.handle, [&] { early = early || !ready; });
                s.kernels(call);
            };
            exec::executor executor{s.made.program, s.made.graph, kernels, device, {.window = 4}};
            s.kernels.contents.fill(executor, s.made.graph.start);
            fake_cuda::launch(mine, [&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(3));
                ready = true;
            });
            REQUIRE(cudaEventRecord(before, mine) == cudaSuccess);
            device.start_after(before);
            device.signal(after);
            CHECK(executor.run());
            CHECK(cudaStreamSynchronize(lane_stream) == cudaSuccess);
            CHECK(cudaEventQuery(after) == cudaSuccess);
            CHECK_FALSE(early);
            s.kernels.contents.check(executor, s.made.graph.final);
        }
        REQUIRE(cudaStreamDestroy(lane_stream) == cudaSuccess);
    }
    REQUIRE(cudaStreamDestroy(mine) == cudaSuccess);
    REQUIRE(cudaEventDestroy(before) == cudaSuccess);
    REQUIRE(cudaEventDestroy(after) == cudaSuccess);
    CHECK(fake_cuda::world::get().reset());
}

TEST_CASE("contents are checked through staging memory, where kernels cannot be compiled") {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        REQUIRE(fake_cuda::world::get().reset({.peers = seed % 2 == 0, .delay_seed = seed}));
        const cuda_sample s(seed);
        {
            examples::staged_contents staged(s.made.program, s.made.graph, s.kernels.contents);
            exec::cuda_device device(two_devices(exec::notifier::poll));
            exec::executor executor{s.made.program,
                                    s.made.graph,
                                    exec::nvtx_kernels(s.made.program, std::ref(staged)),
                                    device,
                                    {.priority = exec::seeded_random{}}};
            bool wrong = false;
            for (std::uint64_t run = 0; run < 3; ++run) {
                s.kernels.contents.fill(executor, s.made.graph.start);
                for (const turnip::residence& r : s.made.graph.start) {  // all that is there is wrong
                    const std::vector<std::byte> zeros(
                        static_cast<std::size_t>(s.made.program.bytes(r.buffer)));
                    if (seed >= 6) executor.write(r.buffer, zeros);
                }
                CHECK(executor.run({.seed = run}).status == exec::run_status::ok);
                try {
                    staged.rethrow();
                    s.kernels.contents.check(executor, s.made.graph.final);
                } catch (const exec::contents_error&) {
                    wrong = true;
                }
            }
            CHECK(wrong == (seed >= 6));
        }
    }
    CHECK(fake_cuda::world::get().reset());
}
