// ctest-alone: GCC 12 takes the frames of its coroutines for types of a header
// ctest-label: threads
// What a reviewer tries: executors destroyed while a run is awaited, callbacks and kernels that throw, stops
// at every moment, runs at once, nothing to run, no bytes, files that cannot be.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/graph.hpp>

#include "support/detached.hpp"
#include "support/random_memgraph.hpp"
#include "support/temporary_folder.hpp"

using namespace stowage;
using namespace std::chrono_literals;
using exec::lane_index;

namespace {

using call_type = exec::kernel_call<lane_index>;
using any_kernel = std::function<void(const call_type&)>;

/// Operators without operands, one after the other.
struct chain {
    tensor_graph program;
    turnip::memgraph graph;
    explicit chain(std::uint32_t count) {
        stowage::program source;
        graph.arena_bytes = {0};
        for (std::uint32_t i = 0; i < count; ++i) {
            source.add_operator({});
            graph.add({.op = i}, {}, {});
            if (i > 0) graph.edges.push_back({i - 1, i, turnip::edge_kind::control});
        }
        program = make_tensor_graph(source);
    }
};

/// Calls `check` with a device of each kind.
template <class Check>
void on_every_device(const Check& check) {
    exec::host_device threads;
    exec::simulated_device simulated;
    exec::inline_device at_once;
    check(threads);
    check(simulated);
    check(at_once);
}

/// Awaits runs until there can be no more.
template <class Executor>
test::detached run_for_ever(Executor& executor, std::vector<exec::run_status>& seen, bool& refused) {
    while (true) {
        try {
            const exec::run_report& report = co_await executor.run_async();
            seen.push_back(report.status);
        } catch (const exec::usage_error&) {
            refused = true;
            co_return;
        }
    }
}

/// Operators that are coroutines; `first` makes that of operator 0.
struct coroutines {
    std::function<exec::kernel_task()> first;
    [[nodiscard]] static bool is_coroutine(operator_index) { return true; }
    void operator()(const call_type&) const {}
    [[nodiscard]] exec::kernel_task start(exec::kernel_context<lane_index>& kernel) const {
        return kernel.call().op == 0 && first ? first() : sleep(kernel);
    }
    [[nodiscard]] static exec::kernel_task sleep(exec::kernel_context<lane_index>& kernel) {
        co_await kernel.sleep(1us);
    }
};

template <class Executor>
test::detached await_one(Executor& executor, const std::function<void(const exec::progress&)>& progress,
                         std::atomic<int>& caught) {
    try {
        (void)co_await executor.run_async({.on_progress = &progress});
    } catch (const std::domain_error&) {
        caught = 1;
    }
    caught.notify_all();
}

/// A buffer comes in, an operator makes another of it, which goes out and to a second device.
struct round_trip {
    tensor_graph program;
    turnip::memgraph graph;
    round_trip() {
        stowage::program source;
        const buffer_id x = source.add_buffer({.bytes = 16, .kind = buffer_kind::input});
        const buffer_id y = source.add_buffer({.bytes = 16, .kind = buffer_kind::output});
        source.add_operator({.reads = {x}, .writes = {y}, .workspace = 16});
        program = make_tensor_graph(source);
        graph.arena_bytes = {48, 16};
        graph.host_bytes = 32;
        graph.alignment = 16;
        const turnip::operand places[] = {{0, 0, 0}, {1, 0, 16}, {1, 1, 0}};
        graph.start = {{0, turnip::host, 0}};
        graph.final = {{1, turnip::host, 16}};
        graph.add({.kind = turnip::vertex_kind::reload, .host_address = 0}, {}, {places, 1});
        graph.add({.op = 0, .workspace_address = 32}, {places, 1}, {places + 1, 1});
        graph.add({.kind = turnip::vertex_kind::offload, .host_address = 16}, {places + 1, 1}, {});
        graph.add({.kind = turnip::vertex_kind::transfer, .device = 1}, {places + 1, 1}, {places + 2, 1});
        graph.edges = {{0, 1}, {1, 2}, {1, 3}};
    }
};

}  // namespace

TEST_CASE("a memgraph that was never made cannot be run") {
    const chain one(1);
    turnip::memgraph none;
    none.first_read = {0};
    on_every_device([&](auto& device) {
        const any_kernel kernel = [](const call_type&) {};
        CHECK_THROWS_AS(exec::executor(one.program, none, kernel, device), exec::memgraph_error);
        CHECK_THROWS_AS(exec::executor(one.program, turnip::memgraph{}, kernel, device),
                        exec::memgraph_error);
    });
}

TEST_CASE("a memgraph that would have bytes outside its arenas touched is refused before anything is made") {
    using change = std::function<void(turnip::memgraph&)>;
    // operands: 0 the reload's, 1 and 2 the operator's, 3 the offload's, 4 and 5 the transfer's
    const std::vector<change> changes = {
        [](auto& g) { g.alignment = 0; },
        [](auto& g) { g.alignment = -8; },
        [](auto& g) { g.arena_bytes[1] = -1; },
        [](auto& g) { g.host_bytes = -1; },
        [](auto& g) { g.arena_bytes[0] = 47; },
        [](auto& g) { g.host_bytes = 31; },
        [](auto& g) { g.arena_bytes.clear(); },
        [](auto& g) { g.operands[0].device = 1; },
        [](auto& g) { g.operands[1].device = 1; },
        [](auto& g) { g.operands[1].buffer = 1; },  // the operator reads buffer 0, which has no place now
        [](auto& g) { g.operands[2].buffer = 0; },
        [](auto& g) { g.operands[2].address = -16; },
        [](auto& g) { g.operands[2].address = std::numeric_limits<std::int64_t>::max(); },
        [](auto& g) { g.operands[3].device = 1; },
        [](auto& g) { g.operands[4].buffer = 0; },
        [](auto& g) { g.operands[5].device = 0; },
        [](auto& g) { g.operands[5].device = 7; },
        [](auto& g) { g.operands[5].buffer = 9; },
        [](auto& g) { g.vertices[1].op = 1; },
        [](auto& g) { g.vertices[1].workspace_address = 40; },
        [](auto& g) { g.vertices[1].workspace_address = turnip::no_address; },
        [](auto& g) { g.vertices[2].host_address = 17; },
        [](auto& g) { g.vertices[3].device = 2; },
        [](auto& g) { g.vertices[0].kind = turnip::vertex_kind::offload; },
        [](auto& g) { g.first_read.pop_back(); },
        [](auto& g) {
            g.edges.push_back({2, 2});
        },
        [](auto& g) {
            g.edges.push_back({3, 0});
        },
        [](auto& g) {
            g.edges.push_back({0, 4});
        },
        [](auto& g) { g.start[0].address = 17; },
        [](auto& g) { g.final[0].memory = 2; },
        [](auto& g) { g.fingerprint = 1; },
    };
    const any_kernel kernel = [](const call_type&) {};
    const auto check = [&](auto& device) {
        const round_trip good;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            turnip::memgraph bad = good.graph;
            changes[i](bad);
            CAPTURE(i);
            const auto make = [&] { exec::executor executor{good.program, bad, kernel, device}; };
            CHECK_THROWS_AS(make(), exec::memgraph_error);
            CHECK(device.base(0) == nullptr);
        }
        exec::executor executor{good.program, good.graph, kernel, device};
        std::vector<std::byte> bytes(17);
        CHECK_THROWS_AS(executor.write(0, bytes), exec::usage_error);
        CHECK_THROWS_AS(executor.read(1, bytes), exec::usage_error);
        CHECK(executor.run().vertices == 4);
    };
    on_every_device(check);
}

TEST_CASE("a deadline that has passed, and options that make no sense, do no harm") {
    const chain ten(10);
    const any_kernel kernel = [](const call_type&) {};
    const auto check = [&](auto& device) {
        constexpr std::uint32_t much = std::numeric_limits<std::uint32_t>::max();
        for (const std::uint32_t number : {0U, 1U, much}) {
            exec::executor executor{
                ten.program,
                ten.graph,
                kernel,
                device,
                {.window = number, .copy_window = number, .copy_chunk_bytes = 1, .kernel_slots = number}};
            for (const auto past : {-1ns, 0ns, std::chrono::nanoseconds::min()}) {
                const exec::run_report& report = executor.run({.deadline = past});
                CHECK(report.status == exec::run_status::timed_out);
                CHECK(report.vertices == 0);
            }
            CHECK(executor.run({.deadline = std::chrono::nanoseconds::max()}).vertices == 10);
        }
        for (const std::uint32_t slots : {0U, 1U, much}) {
            const coroutines kernels;
            exec::executor executor{ten.program, ten.graph, kernels, device, {.kernel_slots = slots}};
            CHECK(executor.run().vertices == 10);
        }
    };
    on_every_device(check);
}

TEST_CASE("a kernel that makes no coroutine, or throws when it is to make one, fails the run") {
    const chain two(2);
    for (const bool throws : {false, true}) {
        const auto check_one = [&](auto& device) {
            coroutines kernels;
            kernels.first = [throws]() -> exec::kernel_task {
                if (throws) throw 3;
                return {};
            };
            exec::executor executor{two.program, two.graph, kernels, device};
            for (int i = 0; i < 2; ++i) {
                const exec::run_report& report = executor.run();
                CHECK(report.error.value().kind == exec::fault_kind::kernel);
                CHECK(report.error->op.index == 0);
                CHECK(report.vertices == 0);
            }
        };
        on_every_device(check_one);
    }
}

TEST_CASE("what a progress callback throws reaches the coroutine that awaits the run") {
    const chain ten(10);
    const any_kernel kernel = [](const call_type&) {};
    const std::function<void(const exec::progress&)> throws = [](const exec::progress&) {
        throw std::domain_error("no more of it");
    };
    exec::host_device device;
    std::atomic<int> caught = 0;
    exec::executor executor{ten.program, ten.graph, kernel, device};
    await_one(executor, throws, caught);
    caught.wait(0);
    CHECK(caught == 1);
}

TEST_CASE("progress is told in order, up to the last vertex") {
    const chain ten(10);
    const any_kernel kernel = [](const call_type&) {};
    const auto check = [&](auto& device) {
        exec::executor executor{ten.program, ten.graph, kernel, device, {.window = 1}};
        std::vector<std::uint32_t> told;
        const std::function<void(const exec::progress&)> tell = [&](const exec::progress& at) {
            told.push_back(at.done);
            CHECK(at.total == 10);
        };
        CHECK(executor.run({.on_progress = &tell}));
        REQUIRE_FALSE(told.empty());
        CHECK(std::is_sorted(told.begin(), told.end()));
        CHECK(told.back() == 10);
    };
    on_every_device(check);
}

TEST_CASE("an executor may be destroyed after any number of polls, and the device serves the next one") {
    const auto made = test::make_random_memgraph(8);
    const exec::synthetic_digests digests(made.program);
    const exec::synthetic_kernels kernels(made.program, digests);
    const auto check = [&](auto& device) {
        for (std::uint32_t polls = 0; polls < 40; ++polls) {
            exec::executor executor{made.program, made.graph, kernels, device, {.window = 1 + polls % 3}};
            kernels.fill(executor, made.graph.start);
            executor.start({.trace = polls % 2 == 0});
            for (std::uint32_t i = 0; i < polls && !executor.poll(); ++i)
                if (polls % 4 == 3) executor.wait();
        }
        exec::executor executor{made.program, made.graph, kernels, device};
        kernels.fill(executor, made.graph.start);
        CHECK(executor.run());
        kernels.check(executor, made.graph.final);
    };
    on_every_device(check);
}

TEST_CASE(
    "an executor that is destroyed while its runs are awaited stops them, resumes who awaits and is gone") {
    for (int pause = 0; pause < 20; ++pause) {
        const chain ten(10);
        std::atomic<int> calls{0};
        const any_kernel kernel = [&](const call_type&) { ++calls; };
        std::vector<exec::run_status> seen;
        bool refused = false;
        exec::host_device device({.notifier = static_cast<exec::notifier>(pause % 3)});
        {
            exec::executor executor{ten.program, ten.graph, kernel, device};
            run_for_ever(executor, seen, refused);
            std::this_thread::sleep_for(pause * 50us);
        }
        CHECK(refused);
        CHECK_FALSE(seen.empty());
        const auto ran = [](exec::run_status status) { return status == exec::run_status::ok; };
        CHECK(std::is_partitioned(seen.begin(), seen.end(), ran));
    }
}

TEST_CASE("what a progress callback throws comes out of run, and the next run is a good one") {
    const chain ten(10);
    const any_kernel kernel = [](const call_type&) {};
    const auto check = [&](auto& device) {
        exec::executor executor{ten.program, ten.graph, kernel, device, {.window = 2}};
        const std::function<void(const exec::progress&)> throws = [](const exec::progress&) {
            throw std::domain_error("no more of it");
        };
        for (int i = 0; i < 3; ++i) {
            CHECK_THROWS_AS(executor.run({.on_progress = &throws}), std::domain_error);
            CHECK_FALSE(executor.running());
            CHECK(executor.run().vertices == 10);
        }
        executor.start({.on_progress = &throws});  // and is destroyed
    };
    on_every_device(check);
}

TEST_CASE("a stop before, during and after a run; anything may be thrown") {
    const chain ten(10);
    std::stop_source stop;
    bool stops = false;
    bool throws = false;
    const any_kernel kernel = [&](const call_type& call) {
        if (stops && call.op == 4) stop.request_stop();
        if (throws && call.op == 4) throw 7;
    };
    const auto check = [&](auto& device) {
        exec::executor executor{ten.program, ten.graph, kernel, device, {.window = 1}};
        stop = {};
        stop.request_stop();
        CHECK(executor.run({.stop = stop.get_token()}).status == exec::run_status::stopped);
        CHECK(executor.report().vertices == 0);
        stop = {};
        stops = true;
        const exec::run_report& report = executor.run({.stop = stop.get_token()});
        CHECK((report.status == exec::run_status::stopped) == (report.vertices < 10));
        CHECK(report.vertices >= 5);
        stops = false;
        stop = {};
        CHECK(executor.run({.stop = stop.get_token()}));
        stop.request_stop();
        throws = true;
        CHECK(executor.run().error.value().op.index == 4);
        CHECK_FALSE(executor.report().error.value().message.empty());
        throws = false;
        CHECK(executor.run().vertices == 10);
    };
    on_every_device(check);
}

TEST_CASE(
    "runs asked for by two threads at once: one is made, the other refused; two executors run at once") {
    const auto made = test::make_random_memgraph(5);
    const exec::synthetic_digests digests(made.program);
    const exec::synthetic_kernels kernels(made.program, digests);
    std::atomic<int> good{0};
    std::atomic<int> refused{0};
    const chain ten(10);
    const any_kernel nothing = [](const call_type&) {};
    exec::host_device shared;
    exec::executor executor{ten.program, ten.graph, nothing, shared};
    const auto work = [&] {
        exec::host_device device;
        exec::executor own{made.program, made.graph, kernels, device, {.window = 2}};
        for (int i = 0; i < 10; ++i) {
            kernels.fill(own, made.graph.start);
            if (own.run()) kernels.check(own, made.graph.final);
            try {
                executor.start();
                while (!executor.poll())
                    executor.wait();
                ++good;
            } catch (const exec::usage_error&) {
                ++refused;
            }
        }
    };
    {
        std::jthread other(work);
        work();
    }
    CHECK(good + refused == 20);
    CHECK(good > 0);
}

TEST_CASE("nothing to run, on no device and on one") {
    const tensor_graph program = make_tensor_graph(stowage::program());
    for (const std::size_t devices : {0U, 1U}) {
        turnip::memgraph graph;
        graph.arena_bytes.assign(devices, 0);
        const any_kernel kernel = [](const call_type&) {};
        const auto check = [&](auto& device) {
            exec::executor executor{program, graph, kernel, device};
            for (int i = 0; i < 2; ++i) {
                const exec::run_report& report = executor.run({.watchdog = 10s, .trace = true});
                CHECK(report.status == exec::run_status::ok);
                CHECK(report.vertices == 0);
            }
        };
        on_every_device(check);
    }
}

TEST_CASE("buffers without bytes are moved and used like others") {
    stowage::program source;
    const buffer_id x = source.add_buffer({.bytes = 0, .kind = buffer_kind::input});
    const buffer_id y = source.add_buffer({.bytes = 0, .kind = buffer_kind::output});
    source.add_operator({.reads = {x}, .writes = {y}});
    const tensor_graph program = make_tensor_graph(source);
    turnip::memgraph graph;
    graph.arena_bytes = {0};
    const turnip::operand places[] = {{0, 0, 0}, {1, 0, 0}};
    graph.start = {{0, turnip::host, 0}};
    graph.final = {{1, turnip::host, 0}};
    graph.add({.kind = turnip::vertex_kind::reload}, {}, {places, 1});
    graph.add({.op = 0}, {places, 1}, {places + 1, 1});
    graph.add({.kind = turnip::vertex_kind::offload}, {places + 1, 1}, {});
    graph.edges = {{0, 1}, {1, 2}};
    const any_kernel kernel = [](const call_type& call) {
        if (!call.input<float>(0).empty() || !call.output<float>(0).empty()) throw std::logic_error("bytes");
    };
    const test::temporary_folder folder;
    const auto check = [&](auto& device) {
        exec::executor executor{program, graph, kernel, device, {.window = 2, .copy_chunk_bytes = 8}};
        executor.write(0, {});
        CHECK(executor.run());
        CHECK(executor.report().vertices == 3);
        executor.read(1, {});
    };
    exec::host_device file({.host_file = folder / "store"});
    check(file);
    on_every_device(check);
}

TEST_CASE("a host store larger than its disk is refused before anything runs, and leaves no file") {
    auto made = test::make_random_memgraph(2);
    made.graph.host_bytes = std::int64_t{1} << 60U;
    const exec::synthetic_digests digests(made.program);
    const exec::synthetic_kernels kernels(made.program, digests);
    const test::temporary_folder folder;
    exec::host_device device({.host_file = folder / "store"});
    std::string place;
    try {
        exec::executor executor{made.program, made.graph, kernels, device};
    } catch (const exec::device_error& error) {
        place = error.place();
        CHECK(error.bytes() == made.graph.host_bytes);
    }
    CHECK(place == "host");
    CHECK(folder.size() == 0);
}
