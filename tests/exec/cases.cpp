// The executor on the published kinds of faults of other runtimes: each case is a few vertices with times in
// which something goes wrong, and what must be true then for every priority, window and seed.

#include <doctest/doctest.h>
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/graph.hpp>
#include <stowage/io/file.hpp>

using namespace stowage;
using nlohmann::json;

namespace {

constexpr std::int64_t unit = 1'000'000;  // nanoseconds that stand for one of a case's units of time

/// A case as a program of operators without operands and its memgraph.
struct exec_case {
    json doc;
    tensor_graph program;
    turnip::memgraph graph;
    std::uint32_t compute_lanes = 1;

    explicit exec_case(json given) : doc(std::move(given)) {
        stowage::program source;
        source.add_buffer({.bytes = 0, .kind = buffer_kind::input, .name = "nothing"});
        std::uint32_t operators = 0;
        for (const json& v : doc["vertices"]) {
            if (lane_of(v).ends_with("compute"))
                source.add_operator({.name = v["name"], .device = device_of(v)});
        }
        program = make_tensor_graph(source);
        graph.arena_bytes.assign(2, 0);
        for (const json& v : doc["vertices"]) {
            const turnip::operand moved{0, device_of(v), 0};
            if (lane_of(v).ends_with("compute"))
                graph.add({.op = operators++, .device = device_of(v)}, {}, {});
            else if (lane_of(v).ends_with("h2d"))
                graph.add({.kind = turnip::vertex_kind::reload, .device = device_of(v)}, {}, {&moved, 1});
            else
                graph.add({.kind = turnip::vertex_kind::offload, .device = device_of(v)}, {&moved, 1}, {});
        }
        for (const json& e : doc["edges"])
            graph.edges.push_back({e[0], e[1], turnip::edge_kind::control});
        for (const json& lane : doc["lanes"])
            compute_lanes = std::max(compute_lanes, lane["width"].get<std::uint32_t>());
    }
    [[nodiscard]] static std::string lane_of(const json& v) { return v["lane"]; }
    [[nodiscard]] static std::uint32_t device_of(const json& v) { return lane_of(v)[1] == '1' ? 1 : 0; }
    [[nodiscard]] const json& vertex(turnip::vertex_index v) const { return doc["vertices"][v]; }
    [[nodiscard]] std::string name(turnip::vertex_index v) const { return vertex(v)["name"]; }
};

[[nodiscard]] json read_case(const std::string& name) {
    return json::parse(
        io::read_file(std::filesystem::path(STOWAGE_TEST_DATA "/cases") / (name + ".exec.json")));
}

/// What started in one run.
struct record {
    std::vector<std::string> started;
    [[nodiscard]] bool has_started(const std::string& name) const {
        return std::find(started.begin(), started.end(), name) != started.end();
    }
};

/// Kernels that throw where the case says so.
struct case_kernels {
    const exec_case* of;
    record* kept = nullptr;
    std::function<void(turnip::vertex_index)> inside = {};
    void operator()(const exec::kernel_call<exec::lane_index>& call) const {
        if (kept != nullptr) kept->started.push_back(of->name(call.vertex));
        if (inside) inside(call.vertex);
        if (of->vertex(call.vertex)["effect"] == "throw") throw std::runtime_error("thrown on purpose");
    }
};

/// A device in virtual time that does what the case says, and keeps what started.
[[nodiscard]] exec::simulated_device make_device(const exec_case& c, record& kept) {
    const bool loses = c.doc.contains("act") && c.doc["act"].contains("after_failure");
    return exec::simulated_device(
        {.compute_lanes = c.compute_lanes,
         .duration =
             [&c](const exec::lane_work& work) {
                 return c.vertex(work.vertex)["duration"].get<double>() * 1e-9 * unit;
             },
         .memory = false,
         .inject = [&c, &kept, loses](const exec::lane_work& work) -> exec::injection {
             const std::string effect = c.vertex(work.vertex)["effect"];
             if (effect == "fail_on_submit") return {exec::injected_effect::refuse};
             if (work.kind == exec::work_kind::copy) kept.started.push_back(c.name(work.vertex));
             if (effect != "fail") return {};
             return {loses ? exec::injected_effect::lose_device : exec::injected_effect::fail};
         }});
}

[[nodiscard]] std::vector<exec::executor_options> ways() {
    std::vector<exec::executor_options> result;
    for (std::uint32_t window = 1; window <= 3; ++window) {
        result.push_back({.priority = exec::fifo{}, .window = window});
        result.push_back({.priority = exec::critical_path{}, .window = window});
        result.push_back({.priority = exec::need{}, .window = window});
        result.push_back({.priority = exec::seeded_random{}, .window = window});
    }
    return result;
}

/// Runs the case in every way; `check` looks at each run.
void in_every_way(const exec_case& c,
                  const std::function<void(const exec::run_report&, const record&)>& check) {
    for (const exec::executor_options& options : ways()) {
        record kept;
        exec::simulated_device device = make_device(c, kept);
        exec::executor executor{c.program, c.graph, case_kernels{&c, &kept}, device, options};
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            kept = {};
            const exec::run_report& report = executor.run({.seed = seed});
            check(report, kept);
            if (report.device_lost) break;
        }
    }
}

[[nodiscard]] bool one_of(const json& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("a failure ends the run, names the vertex, and nothing after it starts") {
    for (const std::string name :
         {"failure-inside-dispatch", "one-of-many-siblings-fails", "two-failures-at-the-same-time"}) {
        const exec_case c(read_case(name));
        const json& expect = c.doc["expect"];
        CAPTURE(name);
        in_every_way(c, [&](const exec::run_report& report, const record& kept) {
            CHECK(report.status == exec::run_status::failed);
            REQUIRE(report.error.has_value());
            CHECK(one_of(expect["first_error_one_of"], c.name(report.error->vertex)));
            for (const std::string never : expect["never_started_in_any_run"])
                CHECK_FALSE(kept.has_started(never));
            for (const exec::fault& later : report.later) {
                CHECK(one_of(expect["first_error_one_of"], c.name(later.vertex)));
                CHECK(later.vertex != report.error->vertex);
            }
        });
    }
}

TEST_CASE("two failures at one time are both told, the first as the error") {
    const exec_case c(read_case("two-failures-at-the-same-time"));
    in_every_way(c, [](const exec::run_report& report, const record&) { CHECK(report.later.size() == 1); });
}

TEST_CASE("a lost device is reported with all that was under way, and runs no more") {
    const exec_case c(read_case("innocent-vertex-blamed"));
    for (const exec::executor_options& options : ways()) {
        record kept;
        exec::simulated_device device = make_device(c, kept);
        exec::executor executor{c.program, c.graph, case_kernels{&c, &kept}, device, options};
        const exec::run_report& report = executor.run();
        CHECK(report.status == exec::run_status::failed);
        REQUIRE(report.error.has_value());
        CHECK(report.error->kind == exec::fault_kind::device_lost);
        CHECK(c.name(report.error->vertex) == "guilty");
        CHECK(report.device_lost);
        if (options.window == 1) CHECK_FALSE(kept.has_started("later"));
        CHECK_THROWS_AS(executor.run(), exec::usage_error);
    }
}

TEST_CASE("a cycle is refused before anything starts, by its vertices") {
    const exec_case c(read_case("cyclic-graph"));
    record kept;
    exec::simulated_device device = make_device(c, kept);
    try {
        exec::executor executor{c.program, c.graph, case_kernels{&c, &kept}, device};
        FAIL("a cycle was accepted");
    } catch (const exec::memgraph_error& error) {
        std::vector<std::string> names;
        for (const turnip::vertex_index v : error.vertices())
            names.push_back(c.name(v));
        std::sort(names.begin(), names.end());
        CHECK(names == std::vector<std::string>{"a", "b", "c"});
    }
    CHECK(kept.started.empty());
}

TEST_CASE("a request to stop reaches lanes that sleep; what runs is waited for") {
    const exec_case c(read_case("stop-while-a-lane-sleeps"));
    record kept;
    exec::simulated_device device = make_device(c, kept);
    exec::executor executor{c.program, c.graph, case_kernels{&c, &kept}, device};
    std::stop_source stop;
    device.at(2 * unit, [&] { stop.request_stop(); });
    const exec::run_report& report = executor.run({.stop = stop.get_token()});
    CHECK(report.status == exec::run_status::stopped);
    CHECK(report.makespan.count() == 10 * unit);
    CHECK(report.vertices == 1);
    CHECK(kept.started == std::vector<std::string>{"copy"});

    const exec::run_report& again = executor.run();  // it can run again
    CHECK(again.status == exec::run_status::ok);
    const exec::run_report& late = executor.run({.deadline = std::chrono::nanoseconds(5 * unit)});
    CHECK(late.status == exec::run_status::timed_out);
    CHECK(late.makespan.count() == 10 * unit);
    CHECK(late.vertices == 1);
}

TEST_CASE("an executor that is destroyed while it runs waits for what runs") {
    const exec_case c(read_case("executor-destroyed-while-running"));
    record kept;
    exec::simulated_device device = make_device(c, kept);
    exec::event ended;
    {
        exec::executor executor{c.program, c.graph, case_kernels{&c, &kept}, device};
        executor.start({.signal = &ended});
        bool acted = false;
        device.at(2 * unit, [&] { acted = true; });
        while (!acted) {
            REQUIRE_FALSE(executor.poll());
            executor.wait();
        }
    }
    CHECK(ended.is_set());
    CHECK(device.now() == 8 * unit);
    CHECK_FALSE(kept.has_started("b"));
}

TEST_CASE("a kernel that runs its own executor gets an error, and the run ends") {
    const exec_case c(read_case("run-inside-a-kernel"));
    record kept;
    exec::simulated_device device = make_device(c, kept);
    std::function<void()> inner;
    case_kernels kernels{&c, &kept, [&](turnip::vertex_index v) {
                             if (v == 0) inner();
                         }};
    exec::executor executor{c.program, c.graph, kernels, device};
    inner = [&] { executor.run(); };
    const exec::run_report& report = executor.run();
    CHECK(report.status == exec::run_status::failed);
    REQUIRE(report.error.has_value());
    CHECK(c.name(report.error->vertex) == "outer");
    CHECK_THROWS_AS(std::rethrow_exception(report.error->exception), exec::usage_error);
}

TEST_CASE("a lane that cannot be made is an error by its name, and a later try works") {
    const exec_case c(read_case("start-up-fails"));
    const auto name = c.doc["expect"]["names"][0].get<std::string>();
    bool broken = true;
    const auto before_lane = [&](const exec::lane_description& lane) {
        if (broken && lane.name == name) throw std::runtime_error("no stream can be had");
    };
    exec::simulated_device simulated({.memory = false, .before_lane = before_lane});
    exec::host_device threads({.before_lane = before_lane});
    exec::host_device set_up({.in_lane = before_lane});
    const auto try_it = [&](auto& device) {
        broken = true;
        try {
            exec::executor executor{c.program, c.graph, case_kernels{&c}, device};
            FAIL("it was made");
        } catch (const exec::device_error& error) {
            CHECK(error.place() == name);
        }
        broken = false;
        exec::executor executor{c.program, c.graph, case_kernels{&c}, device};
        CHECK(executor.run().status == exec::run_status::ok);
    };
    try_it(simulated);
    try_it(threads);
    try_it(set_up);
}

TEST_CASE("copies go by need: a bulk copy does not hold up a small one") {
    const exec_case c(read_case("bulk-copy-before-a-small-one"));
    const auto makespan = [&](const exec::any_priority& priority, std::int64_t parts) {
        record kept;
        exec::simulated_device device = make_device(c, kept);
        exec::executor executor{c.program,
                                c.graph,
                                case_kernels{&c, &kept},
                                device,
                                {.priority = priority, .copy_chunk_bytes = parts}};
        const exec::run_report& report = executor.run();
        CHECK(report.status == exec::run_status::ok);
        return report.makespan.count();
    };
    CHECK(makespan(exec::need{}, 0) == c.doc["expect"]["best_makespan"].get<std::int64_t>() * unit);
    CHECK(makespan(exec::fifo{}, 0) == c.doc["expect"]["fifo_makespan"].get<std::int64_t>() * unit);
}

TEST_CASE("a chain of 100,000 vertices runs on a small stack, and fails where it fails") {
    json doc = {{"lanes", {{{"name", "d0.compute"}, {"width", 1}}}}};
    std::vector<json> vertices;
    std::vector<json> edges;
    static constexpr int count = 100'000;
    for (int i = 0; i < count; ++i) {
        vertices.push_back({{"name", "v" + std::to_string(i)},
                            {"lane", i % 2 == 0 ? "d0.compute" : "d0.h2d"},
                            {"duration", 0},
                            {"effect", "ok"}});
        if (i > 0) edges.push_back({i - 1, i});
    }
    doc["vertices"] = std::move(vertices);
    doc["edges"] = std::move(edges);
    exec_case c(std::move(doc));
    const auto body = [](void* given) -> void* {
        const exec_case& chain = *static_cast<const exec_case*>(given);
        std::optional<turnip::vertex_index> bad;
        const auto kernel = [&](const exec::kernel_call<exec::lane_index>& call) {
            if (call.vertex == bad) throw std::runtime_error("here");
        };
        exec::inline_device at_once({.memory = false});
        exec::simulated_device in_time({.memory = false});
        const auto try_it = [&](auto& device) {
            exec::executor executor{chain.program, chain.graph, kernel, device};
            bad.reset();
            CHECK(executor.run().status == exec::run_status::ok);
            CHECK(executor.report().vertices == count);
            bad = 50'000;
            CHECK(executor.run().status == exec::run_status::failed);
            CHECK(executor.report().vertices == 50'000);
            CHECK(executor.report().error->vertex == 50'000);
        };
        try_it(at_once);
        try_it(in_time);
        return nullptr;
    };
    pthread_attr_t small;
    REQUIRE(pthread_attr_init(&small) == 0);
    REQUIRE(pthread_attr_setstacksize(&small, 256 * 1024) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, &small, body, &c) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&small);
}

TEST_CASE("bytes moved that cannot be added up are refused before anything is made") {
    constexpr std::int64_t half = std::int64_t{1} << 62U;
    program source;
    source.add_buffer({.bytes = half, .kind = buffer_kind::input});
    const tensor_graph made = make_tensor_graph(source);
    turnip::memgraph graph;
    graph.arena_bytes = {half};
    graph.host_bytes = half;
    const turnip::operand place{0, 0, 0};
    for (int i = 0; i < 2; ++i)
        graph.add({.kind = turnip::vertex_kind::reload, .host_address = 0}, {}, {&place, 1});
    graph.edges.push_back({0, 1, turnip::edge_kind::memory});
    exec::inline_device device({.memory = false});
    const auto kernel = [](const exec::kernel_call<exec::lane_index>&) {};
    CHECK_THROWS_AS(exec::executor(made, graph, kernel, device), overflow_error);
}
