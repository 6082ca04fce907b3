// What it costs to find and start a vertex: the executor beside a plain countdown loop and other runtimes, on
// one graph in one run, bodies empty. An iteration is one run of the whole graph, which is built before where
// the runtime allows it. Those that are not installed are left out; Taskflow is asked for by CMake's
// -DSTOWAGE_TASKFLOW_INCLUDE=<folder>.
// bench-may-use: TBB OpenMP StarPU Taskflow

#include <benchmark/benchmark.h>

#include <algorithm>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec.hpp>

#include "dispatch_graph.hpp"
#include "support/counted_allocations.hpp"

#if defined(STOWAGE_BENCH_TBB)
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#endif
#if defined(STOWAGE_BENCH_OPENMP)
#include <omp.h>
#endif
#if defined(STOWAGE_BENCH_STARPU)
#include <starpu.h>
#endif
#if defined(STOWAGE_BENCH_TASKFLOW)
#include <taskflow/taskflow.hpp>
#endif

namespace {

using bench::dispatch_graph;

const dispatch_graph& the_graph() {
    static const dispatch_graph graph = bench::make_dispatch_graph();
    return graph;
}

/// Runs `once` in every iteration and sets the counters.
template <class Once>
void measure(benchmark::State& state, const Once& once) {
    once();  // not measured: first touches
    std::size_t made = 0;
    for (auto _ : state) {
        const std::size_t before = stowage::test::allocations.load(std::memory_order_relaxed);
        once();
        made += stowage::test::allocations.load(std::memory_order_relaxed) - before;
    }
    const auto runs = static_cast<double>(std::max<benchmark::IterationCount>(1, state.iterations()));
    state.counters["vertices"] = static_cast<double>(the_graph().vertices);
    state.counters["allocations"] = static_cast<double>(made) / runs;
}

void dispatch_plain(benchmark::State& state) {
    const dispatch_graph& g = the_graph();
    std::vector<std::uint32_t> left(g.vertices);
    std::vector<std::uint32_t> queue(g.vertices);
    measure(state, [&] {
        left = g.indegree;
        std::uint32_t tail = 0;
        for (std::uint32_t v = 0; v < g.vertices; ++v) {
            if (left[v] == 0) queue[tail++] = v;
        }
        for (std::uint32_t head = 0; head < tail; ++head) {
            const std::uint32_t v = queue[head];
            benchmark::DoNotOptimize(v);
            for (std::uint32_t i = g.successor_begin[v]; i < g.successor_begin[v + 1]; ++i) {
                if (--left[g.successors[i]] == 0) queue[tail++] = g.successors[i];
            }
        }
        if (tail != g.vertices) std::abort();
    });
}
BENCHMARK(dispatch_plain)->Unit(benchmark::kMillisecond);

void dispatch_plain_heap(benchmark::State& state) {
    const dispatch_graph& g = the_graph();
    std::vector<std::uint32_t> left(g.vertices);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> heap;
    heap.reserve(g.vertices);
    stowage::detail::splitmix64 random(1);
    std::vector<std::uint64_t> keys(g.vertices);
    for (auto& key : keys)
        key = random();
    measure(state, [&] {
        left = g.indegree;
        std::uint32_t done = 0;
        const auto push = [&](std::uint32_t v) {
            heap.emplace_back(keys[v], v);
            std::push_heap(heap.begin(), heap.end(), std::greater<>());
        };
        for (std::uint32_t v = 0; v < g.vertices; ++v) {
            if (left[v] == 0) push(v);
        }
        while (!heap.empty()) {
            std::pop_heap(heap.begin(), heap.end(), std::greater<>());
            const std::uint32_t v = heap.back().second;
            heap.pop_back();
            ++done;
            benchmark::DoNotOptimize(v);
            for (std::uint32_t i = g.successor_begin[v]; i < g.successor_begin[v + 1]; ++i) {
                if (--left[g.successors[i]] == 0) push(g.successors[i]);
            }
        }
        if (done != g.vertices) std::abort();
    });
}
BENCHMARK(dispatch_plain_heap)->Unit(benchmark::kMillisecond);

struct no_kernel {
    void operator()(const stowage::exec::kernel_call<stowage::exec::lane_index>& call) const {
        auto op = call.op;
        benchmark::DoNotOptimize(op);
    }
};

void run_executor(benchmark::State& state, const stowage::exec::any_priority& priority) {
    namespace exec = stowage::exec;
    const bench::dispatch_memgraph made(the_graph(), static_cast<std::uint32_t>(state.range(0)));
    exec::inline_device device({.memory = false});
    exec::executor executor{made.program, made.graph, no_kernel{}, device, {.priority = priority}};
    const exec::run_options options{.keep_times = false};
    measure(state, [&] {
        if (!executor.run(options)) std::abort();
    });
    // No counter: the same ones for all are what a table in CSV asks for.
    state.SetLabel(std::to_string(executor.bytes_per_vertex()) + " bytes a vertex");
}
void dispatch_executor(benchmark::State& state) {
    run_executor(state, stowage::exec::fifo{});
}
BENCHMARK(dispatch_executor)->ArgName("lanes")->Arg(1)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);
void dispatch_executor_priority(benchmark::State& state) {
    run_executor(state, stowage::exec::seeded_random{});
}
BENCHMARK(dispatch_executor_priority)->ArgName("lanes")->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

#if defined(STOWAGE_BENCH_TBB)
void dispatch_tbb(benchmark::State& state) {
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
    const dispatch_graph& g = the_graph();
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                              static_cast<std::size_t>(state.range(0)));
    tbb::flow::graph graph;
    tbb::flow::broadcast_node<tbb::flow::continue_msg> start(graph);
    std::vector<std::unique_ptr<node>> nodes;
    for (std::uint32_t v = 0; v < g.vertices; ++v) {
        nodes.push_back(std::make_unique<node>(graph, [v](const tbb::flow::continue_msg&) {
            auto body = v;
            benchmark::DoNotOptimize(body);
        }));
        if (g.indegree[v] == 0) tbb::flow::make_edge(start, *nodes.back());
        for (std::uint32_t i = g.predecessor_begin[v]; i < g.predecessor_begin[v + 1]; ++i)
            tbb::flow::make_edge(*nodes[g.predecessors[i]], *nodes.back());
    }
    measure(state, [&] {
        start.try_put(tbb::flow::continue_msg());
        graph.wait_for_all();
    });
}
BENCHMARK(dispatch_tbb)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

#if defined(STOWAGE_BENCH_OPENMP)
void dispatch_openmp(benchmark::State& state) {
    const dispatch_graph& g = the_graph();
    std::vector<char> token(g.vertices);
    char* const t = token.data();
    measure(state, [&] {
#pragma omp parallel num_threads(2)
#pragma omp single
        for (std::uint32_t v = 0; v < g.vertices; ++v) {
            const std::uint32_t* const p = g.predecessors.data() + g.predecessor_begin[v];
            const std::uint32_t count = g.indegree[v];
            const std::uint32_t a = count > 0 ? p[0] : v;
            const std::uint32_t b = count > 1 ? p[1] : a;
            const std::uint32_t c = count > 2 ? p[2] : b;
#pragma omp task depend(in : t[a], t[b], t[c]) depend(out : t[v]) firstprivate(v)
            {
                auto body = v;
                benchmark::DoNotOptimize(body);
            }
        }
    });
}
BENCHMARK(dispatch_openmp)->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

#if defined(STOWAGE_BENCH_STARPU)
void starpu_body(void**, void*) {}
void dispatch_starpu(benchmark::State& state) {
    const dispatch_graph& g = the_graph();
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = 1;
    conf.ncuda = 0;
    conf.nopencl = 0;
    conf.sched_policy_name = "eager";
    if (starpu_init(&conf) != 0) {
        state.SkipWithError("StarPU does not start here");
        return;
    }
    starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = starpu_body;
    codelet.where = STARPU_CPU;
    starpu_tag_t base = 0;
    measure(state, [&] {
        for (std::uint32_t v = 0; v < g.vertices; ++v) {
            starpu_task* const task = starpu_task_create();
            task->cl = &codelet;
            task->use_tag = 1;
            task->tag_id = base + v;
            if (g.indegree[v] > 0) {
                starpu_tag_t before[3];
                for (std::uint32_t i = 0; i < g.indegree[v]; ++i)
                    before[i] = base + g.predecessors[g.predecessor_begin[v] + i];
                starpu_tag_declare_deps_array(base + v, g.indegree[v], before);
            }
            if (starpu_task_submit(task) != 0) std::abort();
        }
        starpu_task_wait_for_all();
        base += g.vertices;
    });
    starpu_shutdown();
}
BENCHMARK(dispatch_starpu)->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

#if defined(STOWAGE_BENCH_TASKFLOW)
void dispatch_taskflow(benchmark::State& state) {
    const dispatch_graph& g = the_graph();
    tf::Executor executor(static_cast<std::size_t>(state.range(0)));
    tf::Taskflow flow;
    std::vector<tf::Task> tasks;
    for (std::uint32_t v = 0; v < g.vertices; ++v) {
        tasks.push_back(flow.emplace([v] {
            auto body = v;
            benchmark::DoNotOptimize(body);
        }));
        for (std::uint32_t i = g.predecessor_begin[v]; i < g.predecessor_begin[v + 1]; ++i)
            tasks[g.predecessors[i]].precede(tasks.back());
    }
    measure(state, [&] { executor.run(flow).wait(); });
}
BENCHMARK(dispatch_taskflow)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
#endif

}  // namespace
