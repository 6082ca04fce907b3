// ctest-alone: GCC 12 takes the frames of its coroutines for types of a header
// ctest-label: threads
// Kernels that are coroutines, runs that are awaited or wait for the caller, inputs that are bound, and the
// order that figure 1 of the paper asks for. Where the clock is virtual everything is resumed by hand.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/graph.hpp>

#include "support/detached.hpp"
#include "support/random_memgraph.hpp"

using namespace stowage;
using namespace std::chrono_literals;
using exec::lane_index;

namespace {

/// So many operators without operands on one device, in any order.
struct loose_operators {
    tensor_graph program;
    turnip::memgraph graph;
    explicit loose_operators(std::uint32_t count) {
        stowage::program source;
        for (std::uint32_t i = 0; i < count; ++i)
            source.add_operator({.name = "op" + std::to_string(i)});
        program = make_tensor_graph(source);
        graph.arena_bytes = {0};
        for (std::uint32_t i = 0; i < count; ++i)
            graph.add({.op = i}, {}, {});
    }
};

using context = exec::kernel_context<lane_index>;
using call_type = exec::kernel_call<lane_index>;

/// Kernels whose even operators are coroutines made by `make`, the others calls of `plain`.
struct mixed_kernels {
    std::function<exec::kernel_task(context&)> make;
    std::function<void(const call_type&)> plain = [](const call_type&) {};
    [[nodiscard]] bool is_coroutine(operator_index op) const { return op % 2 == 0; }
    [[nodiscard]] exec::kernel_task start(context& kernel) const { return make(kernel); }
    void operator()(const call_type& call) const { plain(call); }
};
static_assert(exec::coroutine_kernels<mixed_kernels, lane_index>);
static_assert(exec::plain_kernels<mixed_kernels, lane_index>);
static_assert(!exec::coroutine_kernels<std::function<void(const call_type&)>, lane_index>);

exec::kernel_task sleeper(context& kernel, std::vector<std::string>& log) {
    log.push_back("begins");
    co_await kernel.sleep(100us);
    log.push_back("goes on");
}

exec::kernel_task worker(context& kernel, std::vector<std::thread::id>& threads) {
    threads.push_back(std::this_thread::get_id());
    auto body = [&](const call_type&) { threads.push_back(std::this_thread::get_id()); };
    co_await kernel.run(body);
    threads.push_back(std::this_thread::get_id());
    co_await kernel.run(body);
}

exec::kernel_task waiter(context& kernel, exec::event& awaited, std::shared_ptr<int> held) {
    co_await kernel.wait(awaited);
    *held = 1;
}

exec::kernel_task thrower(context& kernel, bool in_body) {
    auto body = [&](const call_type&) {
        if (in_body) throw std::runtime_error("in its body");
    };
    co_await kernel.run(body);
    throw std::runtime_error("after its body");
}

exec::kernel_task hanger(context& kernel, std::atomic<bool>& goes_on, std::atomic<int>& ended) {
    const std::vector<int> of_frame(100, 42);
    auto body = [&](const call_type&) {
        while (!goes_on)
            std::this_thread::sleep_for(1ms);
        ended = of_frame.back();
    };
    co_await kernel.run(body);
}

template <class Executor>
test::detached run_twice(Executor& executor, std::atomic<int>& done, std::thread::id& thread) {
    const exec::run_options options{.seed = 1};
    const exec::run_report& first = co_await executor.run_async(options);
    if (first) ++done;
    thread = std::this_thread::get_id();
    const exec::run_report& second = co_await executor.run_async(options);
    if (second) ++done;
    ++done;
    done.notify_all();
}

}  // namespace

TEST_CASE("a kernel that sleeps leaves its lane to another") {
    const loose_operators two(2);
    std::vector<std::string> log;
    mixed_kernels kernels{[&](context& kernel) { return sleeper(kernel, log); },
                          [&](const call_type&) { log.push_back("another"); }};
    exec::simulated_device device(
        {.duration = [](const exec::lane_work&) { return 10e-6; }, .memory = false});
    exec::executor executor{two.program, two.graph, kernels, device, {.priority = exec::fifo{}}};
    for (int i = 0; i < 3; ++i) {
        log.clear();
        const exec::run_report& report = executor.run();
        CHECK(report.status == exec::run_status::ok);
        CHECK(report.makespan == 100us);
        CHECK(log == std::vector<std::string>{"begins", "another", "goes on"});
    }
}

TEST_CASE("a coroutine's body runs on its lane's thread, the rest on the dispatcher's") {
    const loose_operators one(1);
    std::vector<std::thread::id> threads;
    mixed_kernels kernels{[&](context& kernel) { return worker(kernel, threads); }};
    exec::host_device device;
    exec::executor executor{one.program, one.graph, kernels, device};
    CHECK(executor.run().status == exec::run_status::ok);
    REQUIRE(threads.size() == 4);
    CHECK(threads[0] == std::this_thread::get_id());
    CHECK(threads[1] != threads[0]);
    CHECK(threads[2] == threads[0]);
    CHECK(threads[3] == threads[1]);
}

TEST_CASE("a kernel waits for an event that another thread sets; a run that is stopped destroys it") {
    const loose_operators one(1);
    exec::event awaited;
    const auto held = std::make_shared<int>(0);
    mixed_kernels kernels{[&](context& kernel) { return waiter(kernel, awaited, held); }};
    exec::host_device device;
    exec::executor executor{one.program, one.graph, kernels, device};
    {
        const std::jthread setter([&] {
            std::this_thread::sleep_for(2ms);
            awaited.set();
        });
        CHECK(executor.run().status == exec::run_status::ok);
    }
    CHECK(*held == 1);
    awaited.reset();
    const long before = held.use_count();
    std::stop_source stop;
    const std::jthread stopper([&] {
        std::this_thread::sleep_for(2ms);
        stop.request_stop();
    });
    CHECK(executor.run({.stop = stop.get_token()}).status == exec::run_status::stopped);
    CHECK(held.use_count() == before);  // nothing of its frame is left
    awaited.set();                      // and nobody is woken
}

TEST_CASE("an exception of a coroutine, or of its body, fails the run and names the operator") {
    const loose_operators three(3);
    for (const bool in_body : {true, false}) {
        mixed_kernels kernels{[&](context& kernel) { return thrower(kernel, in_body); }};
        exec::host_device threads;
        exec::inline_device at_once;
        const auto check = [&](auto& device) {
            exec::executor executor{three.program, three.graph, kernels, device};
            for (int i = 0; i < 2; ++i) {
                const exec::run_report& report = executor.run();
                CHECK(report.status == exec::run_status::failed);
                REQUIRE(report.error.has_value());
                CHECK(report.error->op.index % 2 == 0);
                CHECK(report.error->message == (in_body ? "in its body" : "after its body"));
            }
        };
        check(threads);
        check(at_once);
    }
}

TEST_CASE("a run is awaited in the user's own coroutine, which resumes on the executor's thread") {
    const auto made = test::make_random_memgraph(3);
    const exec::synthetic_digests digests(made.program);
    const exec::synthetic_kernels kernels(made.program, digests);
    exec::host_device device;
    std::atomic<int> done = 0;
    std::thread::id thread;
    exec::executor executor{made.program, made.graph, kernels, device};
    kernels.fill(executor, made.graph.start);
    run_twice(executor, done, thread);
    for (int seen = done; seen < 2; seen = done)
        done.wait(seen);
    while (done < 2)
        std::this_thread::yield();
    CHECK(thread != std::this_thread::get_id());
}

TEST_CASE("a run starts after the caller's event, and sets one at its end") {
    const loose_operators two(2);
    exec::event before;
    exec::event after;
    std::atomic<int> ran = 0;
    const auto kernel = [&](const call_type&) {
        CHECK(before.is_set());
        ++ran;
    };
    exec::host_device device;
    exec::executor executor{two.program, two.graph, kernel, device};
    executor.start({.start_after = &before, .signal = &after});
    CHECK_FALSE(executor.poll());
    CHECK_FALSE(after.is_set());
    CHECK_THROWS_AS(executor.start(), exec::usage_error);
    before.set();
    while (!executor.poll())
        executor.wait();
    CHECK(after.is_set());
    CHECK(ran == 2);

    before.reset();
    std::stop_source stop;
    stop.request_stop();
    CHECK(executor.run({.stop = stop.get_token(), .start_after = &before}).status ==
          exec::run_status::stopped);
    CHECK(ran == 2);
}

TEST_CASE("an input that is bound is read from the caller's memory in every run") {
    stowage::program source;
    const buffer_id x = source.add_buffer({.bytes = 16, .kind = buffer_kind::input, .name = "x"});
    const buffer_id y = source.add_buffer({.bytes = 16, .kind = buffer_kind::output, .name = "y"});
    source.add_operator({.reads = {x}, .writes = {y}});
    const tensor_graph program = make_tensor_graph(source);
    turnip::memgraph graph;
    graph.arena_bytes = {32};
    graph.host_bytes = 32;
    const turnip::operand on_device[] = {{0, 0, 0}, {1, 0, 16}};
    graph.start = {{0, turnip::host, 0}};
    graph.final = {{1, turnip::host, 16}};
    graph.add({.kind = turnip::vertex_kind::reload, .host_address = 0}, {}, {on_device, 1});
    graph.add({.op = 0}, {on_device, 1}, {on_device + 1, 1});
    graph.add({.kind = turnip::vertex_kind::offload, .host_address = 16}, {on_device + 1, 1}, {});
    graph.edges = {{0, 1}, {1, 2}};
    const auto kernel = [](const call_type& call) {
        for (std::size_t i = 0; i < 4; ++i)
            call.output<std::int32_t>(0)[i] = 2 * call.input<std::int32_t>(0)[i];
    };
    exec::host_device device;
    exec::executor executor{program, graph, kernel, device, {.copy_chunk_bytes = 8}};
    std::vector<std::int32_t> given = {1, 2, 3, 4};
    std::vector<std::int32_t> got(4);
    executor.bind(0, std::as_bytes(std::span(given)));
    for (int round = 1; round < 4; ++round) {
        CHECK(executor.run().status == exec::run_status::ok);
        executor.read(1, std::as_writable_bytes(std::span(got)));
        CHECK(got[3] == 2 * given[3]);
        given[3] += 10;
    }
    executor.bind(0, {});
    executor.write(0, std::as_bytes(std::span(given)));
    given[0] = 77;
    CHECK(executor.run().status == exec::run_status::ok);
    executor.read(1, std::as_writable_bytes(std::span(got)));
    CHECK(got[0] == 2);
    CHECK_THROWS_AS(executor.bind(1, std::as_bytes(std::span(given))), exec::usage_error);
    CHECK_THROWS_AS(executor.bind(0, std::as_bytes(std::span(given)).first(8)), exec::usage_error);
    CHECK_THROWS_AS(executor.write(7, {}), exec::usage_error);
    CHECK_THROWS_AS(executor.write(1, std::as_bytes(std::span(given))), exec::usage_error);
}

TEST_CASE("figure 1: whichever copy ends first, the kernel that waits for it starts at once") {
    stowage::program source;
    const buffer_id a = source.add_buffer({.bytes = 0, .kind = buffer_kind::input});
    for (const char* name : {"X", "Y"})
        source.add_operator({.name = name, .reads = {a}});
    const tensor_graph program = make_tensor_graph(source);
    turnip::memgraph graph;
    graph.arena_bytes = {0};
    const turnip::operand o{0, 0, 0};
    graph.add({.kind = turnip::vertex_kind::offload}, {&o, 1}, {});
    graph.add({.kind = turnip::vertex_kind::reload}, {}, {&o, 1});
    graph.add({.op = 0}, {&o, 1}, {});
    graph.add({.op = 1}, {&o, 1}, {});
    graph.edges = {{0, 2, turnip::edge_kind::memory}, {1, 3, turnip::edge_kind::data}};
    for (const bool reload_first : {false, true}) {
        exec::simulated_device device({.duration =
                                           [&](const exec::lane_work& work) {
                                               if (work.vertex == 0) return reload_first ? 5e-6 : 2e-6;
                                               return work.vertex == 1 && !reload_first
                                                          ? 5e-6
                                                          : (work.vertex == 1 ? 2e-6 : 3e-6);
                                           },
                                       .memory = false});
        std::vector<operator_index> order;
        const auto kernel = [&](const call_type& call) { order.push_back(call.op); };
        exec::executor executor{program, graph, kernel, device};
        const exec::run_report& report = executor.run();
        CHECK(report.makespan == 8us);
        CHECK(order.front() == (reload_first ? 1 : 0));
        const exec::lane_report& compute = report.lanes[0];
        CHECK(compute.name == "d0.compute");
        CHECK(compute.busy == 6us);
        const auto first =
            static_cast<std::size_t>(reload_first ? exec::idle_cause::reload : exec::idle_cause::offload);
        CHECK(compute.idle[first] == 2us);
        std::chrono::nanoseconds idle{0};
        for (const auto part : compute.idle)
            idle += part;
        CHECK(idle == 2us);
    }
}

TEST_CASE("a kernel whose body hangs keeps its frame until the body has ended") {
    const loose_operators one(1);
    std::atomic<bool> goes_on = false;
    std::atomic<int> ended = 0;
    const mixed_kernels kernels{[&](context& kernel) { return hanger(kernel, goes_on, ended); }};
    exec::host_device device;
    {
        exec::executor executor{one.program, one.graph, kernels, device};
        const exec::run_report& report = executor.run({.watchdog = 20ms});
        CHECK(report.error.value().kind == exec::fault_kind::no_progress);
        CHECK(report.device_lost);
        goes_on = true;
    }
    CHECK(ended == 42);
}
