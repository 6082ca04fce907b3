#pragma once
// What the programs `llama` and `lora` do: compute a model's step on the host in memory and under ever less
// of it, show that the results are the same bit for bit, and how long it takes beside the bound and other
// ways to run.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/detail/fnv.hpp>
#include <stowage/exec.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/verify/memgraph.hpp>

#include "event_loop.hpp"
#include "llama_kernels.hpp"
#include "llama_programs.hpp"

namespace examples {

struct llama_arguments {
    llama_shape shape{"small", 4, 256, 8, 688, 1024};
    llama_run run{.sequence = 256, .batch = 1, .devices = 1, .rank = 8, .value_bytes = 4};
    std::uint64_t seeds = 100;
    std::uint64_t seed = 1;
    int repeats = 5;
    bool seven_billion = false;
    bool rivals = true;
};

/// Adds the options of both programs.
inline void add_llama_options(CLI::App& app, llama_arguments& given) {
    app.add_option("--layers", given.shape.layers, "layers")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--hidden", given.shape.hidden, "width")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--heads", given.shape.heads, "attention heads")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--ffn", given.shape.ffn, "width between")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--vocabulary", given.shape.vocabulary, "tokens that there are")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("--7b", given.seven_billion, "the shape of LLaMA 7B");
    app.add_option("--sequence", given.run.sequence, "tokens of a sequence")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--batch", given.run.batch, "sequences")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--devices", given.run.devices,
                   "devices: each has a compute lane and an arena on the host")
        ->check(CLI::Range(1, 4))
        ->capture_default_str();
    app.add_option("--seeds", given.seeds, "runs in an order by chance, at each capacity")
        ->capture_default_str();
    app.add_option("--seed", given.seed, "of the weights")->capture_default_str();
    app.add_option("--repeats", given.repeats, "timed runs, of which the fastest counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("!--no-rivals", given.rivals, "leave out the other ways to run");
}

/// One program with its kernels, and everything that is measured of it.
class llama_experiment {
public:
    llama_experiment(const llama_arguments& given, const llama_program& made)
        : given_(given), layer_(made.layer), program_(stowage::make_tensor_graph(made.program)),
          kernels_(program_, given.shape, given.run),
          tasks_(stowage::turnip::make_taskgraph(program_,
                                                 {.devices = static_cast<std::uint32_t>(given.run.devices),
                                                  .start = stowage::turnip::start_rule::steady})) {}

    /// Prints the table; false if some result differs.
    bool run() {
        std::printf("%s, %lld layers of %lld, %lld x %lld tokens, %lld device%s: %zu operators\n",
                    given_.shape.name.c_str(), number(given_.shape.layers), number(given_.shape.hidden),
                    number(given_.run.batch), number(given_.run.sequence), number(given_.run.devices),
                    given_.run.devices == 1 ? "" : "s", program_.operator_count());
        sequential();
        const auto whole = compile(1.0, false);
        if (!whole) return false;
        needed_ = whole->memgraph.arena_bytes;
        std::printf("%-24s %9s %9s %9s %7s %9s %7s  %s\n", "way to run", "MB a dev.", "moved MB", "ms",
                    "x mem.", "bound ms", "x bound", "results");
        whole_.emplace(*this, whole->memgraph);
        measure("in memory", whole->memgraph);
        plain_loop();
        constexpr std::int64_t much = std::int64_t{1} << 30U;
        if (std::accumulate(needed_.begin(), needed_.end(), std::int64_t{0}) > much)
            whole_.reset();  // its memory is wanted: what comes is compared with the time that it took
        for (const double part : {0.75, 0.5, 0.3}) {
            if (const auto made = compile(part, false))
                measure(std::to_string(static_cast<int>(part * 100 + 0.5)) + "% of it", made->memgraph);
        }
        least();
        if (given_.rivals) others();
        whole_.reset();
        std::printf(good_ ? "all results are the same, bit for bit\n" : "SOME RESULTS DIFFER\n");
        return good_;
    }

private:
    using memgraph = stowage::turnip::memgraph;
    using lane_index = stowage::exec::lane_index;
    using clock = std::chrono::steady_clock;

    [[nodiscard]] static long long number(std::int64_t value) { return value; }
    [[nodiscard]] static double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }
    [[nodiscard]] static double since(clock::time_point start) {
        return std::chrono::duration<double>(clock::now() - start).count();
    }

    [[nodiscard]] std::optional<stowage::turnip::compiled> compile(double part, bool fixed_order) {
        stowage::turnip::compile_options options{
            .goal = stowage::turnip::goal::time, .fixed_order = fixed_order, .alignment = 64};
        for (std::int64_t d = 0; d < given_.run.devices; ++d) {
            const std::int64_t all = needed_.empty() ? 0 : needed_[static_cast<std::size_t>(d)];
            const auto capacity = static_cast<std::int64_t>(part * static_cast<double>(all));
            options.devices.push_back(
                {needed_.empty() ? std::numeric_limits<std::int64_t>::max() / 4 : capacity});
        }
        auto made = stowage::turnip::compile(tasks_, options);
        if (!made.ok()) {
            if (fixed_order || needed_.empty()) std::printf("%s\n", made.reason.c_str());
            return std::nullopt;
        }
        const auto verdict = stowage::verify::check_memgraph(program_, made.memgraph);
        if (!verdict) throw std::logic_error("the memgraph was not verified: " + verdict.reason);
        return made;
    }
    /// The least capacity at which a memgraph is found, in steps of 2% of what all needs.
    void least() {
        for (int percent = 2; percent < 30; percent += 2) {
            const auto made = compile(percent / 100.0, false);
            if (!made) continue;
            measure("least: " + std::to_string(percent) + "%", made->memgraph);
            return;
        }
    }

    // Plainly, one operator after the other, every buffer apart.

    void sequential() {
        std::vector<std::vector<std::byte>> memory = start();
        run_operators(memory, [](stowage::operator_index) {});
        expected_ = hash_of(memory);
    }
    void plain_loop() {
        std::vector<std::vector<std::byte>> memory = start();
        bool ran = false;
        const double seconds = in_turn([&] {
            for (stowage::buffer_index b = 0; ran && b < memory.size(); ++b)
                if (is_consumed(b)) fill_buffer(b, memory[b]);
            ran = true;
            const auto from = clock::now();
            run_operators(memory, [](stowage::operator_index) {});
            return since(from);
        });
        print_plain("plain loop", 0, seconds, expected_ == hash_of(memory));
    }
    [[nodiscard]] std::vector<std::vector<std::byte>> start() const {
        std::vector<std::vector<std::byte>> memory(program_.buffer_count());
        for (stowage::buffer_index b = 0; b < memory.size(); ++b) {
            memory[b].resize(static_cast<std::size_t>(program_.bytes(b)));
            fill_buffer(b, memory[b]);
        }
        return memory;
    }
    void fill_buffer(stowage::buffer_index b, std::span<std::byte> bytes) const {
        if (is_alive_at_start(program_.kind(b)))
            llama_kernels::fill(program_, b, given_.seed, given_.shape, bytes);
    }
    /// A run may leave other contents in it than it found.
    [[nodiscard]] bool is_consumed(stowage::buffer_index b) const {
        return !is_persistent(program_.kind(b)) || program_.kind(b) == stowage::buffer_kind::input ||
               tasks_.is_written(b);
    }
    template <class Before>
    void run_operators(std::vector<std::vector<std::byte>>& memory, const Before& before) const {
        std::vector<std::span<std::byte>> views;
        for (stowage::operator_index op = 0; op < program_.operator_count(); ++op) {
            before(op);
            views.clear();
            for (const stowage::buffer_index b : program_.accesses(op))
                views.emplace_back(memory[b]);
            stowage::exec::kernel_call<lane_index> call;
            call.op = op;
            const std::size_t reads = program_.reads(op).size();
            call.reads = std::span(views).first(reads);
            call.writes = std::span(views).subspan(reads);
            kernels_(call);
        }
    }
    [[nodiscard]] std::uint64_t hash_of(const std::vector<std::vector<std::byte>>& memory) const {
        return hash_of([&](stowage::buffer_index b) { return std::span<const std::byte>(memory[b]); });
    }
    /// Of outputs and written persistent buffers, `bytes_of(b)` being their contents.
    template <class Bytes>
    [[nodiscard]] std::uint64_t hash_of(const Bytes& bytes_of) const {
        stowage::detail::fnv1a_64 hash;
        for (stowage::buffer_index b = 0; b < program_.buffer_count(); ++b) {
            if (program_.kind(b) != stowage::buffer_kind::output &&
                !(is_persistent(program_.kind(b)) && tasks_.is_written(b)))
                continue;
            const std::span<const std::byte> bytes = bytes_of(b);
            for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes.data() + at, 8);
                hash.add(word);
            }
        }
        return hash.value();
    }

    // By the executor.

    /// Everything that is there at the start; `again`: what a run of a repeatable memgraph may have changed.
    template <class Executor>
    void fill(Executor& executor, const memgraph& graph, bool again) const {
        std::vector<std::byte> bytes;
        for (const auto& r : graph.start) {
            if (again && graph.repeatable && !is_consumed(r.buffer)) continue;
            bytes.resize(static_cast<std::size_t>(program_.bytes(r.buffer)));
            fill_buffer(r.buffer, bytes);
            executor.write(r.buffer, bytes);
        }
    }
    template <class Executor>
    [[nodiscard]] bool right(Executor& executor) const {
        std::vector<std::byte> bytes;
        return expected_ == hash_of([&](stowage::buffer_index b) {
                   bytes.resize(static_cast<std::size_t>(program_.bytes(b)));
                   executor.read(b, bytes);
                   return std::span<const std::byte>(bytes);
               });
    }
    /// One memgraph on the host, run again and again.
    struct runner {
        using kernels = std::reference_wrapper<const llama_kernels>;
        const memgraph& graph;
        stowage::exec::host_device device;
        stowage::exec::executor<kernels, stowage::exec::host_device> executor;
        bool same = true;
        bool ran = false;

        runner(const llama_experiment& all, const memgraph& to_run)
            : graph(to_run), executor(all.program_, graph, std::cref(all.kernels_), device,
                                      {.priority = stowage::exec::need{}, .copy_chunk_bytes = 4 << 20}) {}
        /// Returns the run's seconds.
        double run(const llama_experiment& all) {
            all.fill(executor, graph, ran);
            ran = true;
            const stowage::exec::run_report& report = executor.run({.trace = true});
            same = same && report && all.right(executor);
            return std::chrono::duration<double>(report.makespan).count();
        }
    };
    /// The least time of `once`, and in in_memory_ that of runs in memory in turn with it, so that whatever
    /// else the machine does slows down both; a program too large for both is compared with its runs before.
    template <class Once>
    [[nodiscard]] double in_turn(const Once& once) {
        double seconds = 1e30;
        if (whole_) in_memory_ = 1e30;
        for (int i = 0; i <= given_.repeats; ++i) {  // the first is for the caches
            if (whole_) {
                const double whole = whole_->run(*this);
                keep_times(whole_->executor.report(), whole_->graph);
                good_ = good_ && whole_->same;
                if (i > 0) in_memory_ = std::min(in_memory_, whole);
            }
            const double way = once();
            if (i > 0) seconds = std::min(seconds, way);
        }
        return seconds;
    }
    void measure(const std::string& name, const memgraph& graph) {
        double bound = 0;
        double seconds = 0;
        bool same = false;
        {
            runner way(*this, graph);
            seconds = in_turn([&] { return way.run(*this); });
            bound = bound_of(way.executor.report(), graph);
            same = way.same;
        }
        same = same && in_any_order(graph);
        print(name, graph, seconds, bound, same);
    }
    [[nodiscard]] bool in_any_order(const memgraph& graph) const {
        stowage::exec::host_device device;
        const stowage::exec::executor_options options{
            .priority = stowage::exec::seeded_random{}, .window = 2, .copy_chunk_bytes = 1 << 20};
        stowage::exec::executor executor{program_, graph, std::cref(kernels_), device, options};
        for (std::uint64_t seed = 0; seed < given_.seeds; ++seed) {
            fill(executor, graph, seed > 0);
            if (!executor.run({.seed = seed, .keep_times = false}) || !right(executor)) return false;
        }
        return true;
    }
    /// The shortest time of every operator, over all runs in memory.
    void keep_times(const stowage::exec::run_report& report, const memgraph& graph) {
        operator_seconds_.resize(program_.operator_count(), 1e30);
        for (const auto& entry : report.trace) {
            const auto& at = graph.vertices[entry.vertex];
            if (at.kind != stowage::turnip::vertex_kind::op) continue;
            double& shortest = operator_seconds_[at.op];
            shortest = std::min(shortest, static_cast<double>(entry.finished - entry.started) * 1e-9);
        }
    }
    /// No run can be shorter than what its busiest lane has to do, nor than all work parted among the host's
    /// processors, by measured times.
    [[nodiscard]] double bound_of(const stowage::exec::run_report& report, const memgraph& graph) const {
        std::vector<double> compute(graph.arena_bytes.size(), 0.0);
        double all = 0;
        for (const auto& at : graph.vertices) {
            if (at.kind != stowage::turnip::vertex_kind::op) continue;
            compute[at.device] += operator_seconds_[at.op];
            all += operator_seconds_[at.op];
        }
        double bound = *std::max_element(compute.begin(), compute.end());
        for (const auto& lane : report.lanes) {
            if (lane.kind == stowage::exec::lane_kind::compute) continue;
            bound = std::max(bound, std::chrono::duration<double>(lane.busy).count());
        }
        return std::max(bound, all / std::max(1U, std::thread::hardware_concurrency()));
    }
    void print(const std::string& name, const memgraph& graph, double seconds, double bound, bool same) {
        good_ = good_ && same;
        std::int64_t moved = 0;
        for (stowage::turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
            if (graph.vertices[v].kind != stowage::turnip::vertex_kind::op)
                moved += program_.bytes(graph.moved(v));
        }
        const std::int64_t arena = *std::max_element(graph.arena_bytes.begin(), graph.arena_bytes.end());
        std::printf("%-24s %9.2f %9.2f %9.2f %7.3f ", name.c_str(), megabytes(arena), megabytes(moved),
                    seconds * 1e3, seconds / in_memory_);
        if (bound > 0)
            std::printf("%9.2f %7.3f  ", bound * 1e3, seconds / bound);
        else
            std::printf("%9s %7s  ", "", "");
        std::printf("%s\n", same ? "same" : "DIFFERENT");
    }

    // Other ways to run, at half the memory.

    void others() {
        const auto half = compile(0.5, false);
        if (!half) return;
        synchronous(half->memgraph);
        if (const auto fixed = compile(0.5, true)) measure("50%, fixed order", fixed->memgraph);
        published(half->memgraph);
        if (given_.run.devices == 1) streaming();
    }
    void synchronous(const memgraph& graph) {
        stowage::exec::inline_device device;
        stowage::exec::executor executor{
            program_, graph, std::cref(kernels_), device, {.priority = stowage::exec::need{}}};
        bool same = true;
        bool ran = false;
        const double seconds = in_turn([&] {
            fill(executor, graph, ran);
            ran = true;
            const auto& report = executor.run({.keep_times = false});
            same = same && report && right(executor);
            return std::chrono::duration<double>(report.makespan).count();
        });
        print("50%, synchronous", graph, seconds, 0, same);
    }
    /// The same memgraph by the event loop of the published implementation.
    void published(const memgraph& graph) {
        stowage::exec::inline_device memory;  // for its arenas alone
        stowage::exec::executor executor{program_, graph, std::cref(kernels_), memory};
        stowage::exec::detail::operand_views views;
        views.prepare(program_, graph, memory);
        const auto body = [&](stowage::turnip::vertex_index v) {
            if (graph.vertices[v].kind != stowage::turnip::vertex_kind::op) {
                const auto copy = stowage::exec::detail::copy_of(program_, graph, v);
                std::memcpy(memory.base(copy.to) + copy.to_address,
                            memory.base(copy.from) + copy.from_address, static_cast<std::size_t>(copy.bytes));
                return;
            }
            stowage::exec::kernel_call<lane_index> call;
            call.op = graph.vertices[v].op;
            call.vertex = v;
            views.fill(call);
            kernels_(call);
        };
        bool same = true;
        bool ran = false;
        const double seconds = in_turn([&] {
            fill(executor, graph, ran);
            ran = true;
            event_loop loop(graph, body);
            const auto from = clock::now();
            loop.run();
            const double taken = since(from);
            same = same && right(executor);
            return taken;
        });
        print("50%, event loop", graph, seconds, 0, same);
    }
    /// Layer by layer, the next layer's weights copied in while one computes (FlexGen's manner); everything
    /// but weights stays.
    void streaming() {
        const std::vector<std::vector<std::byte>> store = start();
        std::vector<std::vector<std::byte>> memory(program_.buffer_count());
        std::vector<std::vector<stowage::buffer_index>> weights(
            layer_.empty() ? 0 : *std::max_element(layer_.begin(), layer_.end()) + 1);
        std::vector<std::uint8_t> listed(program_.buffer_count(), 0);
        std::int64_t moved = 0;
        for (stowage::operator_index op = 0; op < program_.operator_count(); ++op) {
            for (const stowage::buffer_index b : program_.accesses(op)) {
                if (program_.kind(b) != stowage::buffer_kind::parameter || tasks_.is_written(b)) continue;
                if (listed[b] != 0) continue;
                listed[b] = 1;
                moved += program_.bytes(b);
                weights[layer_[op]].push_back(b);
            }
        }
        for (stowage::buffer_index b = 0; b < memory.size(); ++b)
            memory[b].resize(store[b].size());
        const double seconds = in_turn([&] {
            for (stowage::buffer_index b = 0; b < memory.size(); ++b)
                if (listed[b] == 0) memory[b] = store[b];
            const auto bring = [&](std::size_t layer) {
                for (const stowage::buffer_index b : weights[layer])
                    std::memcpy(memory[b].data(), store[b].data(), store[b].size());
            };
            const auto from = clock::now();
            bring(0);
            std::thread copier;
            std::uint32_t current = std::numeric_limits<std::uint32_t>::max();
            run_operators(memory, [&](stowage::operator_index op) {
                if (layer_[op] == current) return;
                current = layer_[op];
                if (copier.joinable()) copier.join();
                if (current + 1 < weights.size())
                    copier = std::thread([&bring, next = current + 1] { bring(next); });
            });
            if (copier.joinable()) copier.join();
            return since(from);
        });
        print_plain("layer streaming", moved, seconds, expected_ == hash_of(memory));
    }
    void print_plain(const char* name, std::int64_t moved, double seconds, bool same) {
        good_ = good_ && same;
        std::printf("%-24s %9s %9.2f %9.2f %7.3f %9s %7s  %s\n", name, "", megabytes(moved), seconds * 1e3,
                    seconds / in_memory_, "", "", same ? "same" : "DIFFERENT");
    }

    llama_arguments given_;
    std::vector<std::uint32_t> layer_;  // by operator
    stowage::tensor_graph program_;
    llama_kernels kernels_;
    stowage::turnip::taskgraph tasks_;
    std::uint64_t expected_ = 0;
    std::vector<std::int64_t> needed_;  // by device: the arena in memory
    std::vector<double> operator_seconds_;
    std::optional<runner> whole_;  // in memory
    double in_memory_ = 1;         // its seconds, in turn with the way measured last
    bool good_ = true;
};

/// The main function of both programs; `make` makes the program of a shape and a run.
template <class Make>
[[nodiscard]] int run_llama(int argc, char** argv, const char* what, llama_arguments given,
                            const Make& make) {
    CLI::App app{what};
    add_llama_options(app, given);
    try {
        app.parse(argc, argv);
        if (given.seven_billion) given.shape = llama_7b();
        const auto divides = [&](std::int64_t n) { return n % given.run.devices == 0; };
        if (given.shape.hidden % given.shape.heads != 0 || given.shape.hidden / given.shape.heads % 2 != 0)
            throw CLI::ValidationError("--heads", "each must be an even part of --hidden");
        if (!divides(given.shape.heads) || !divides(given.shape.ffn) || !divides(given.shape.vocabulary))
            throw CLI::ValidationError("--devices", "must divide heads, ffn and vocabulary");
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        return llama_experiment(given, make(given.shape, given.run)).run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << argv[0] << ": " << error.what() << "\n";
        return 1;
    }
}

}  // namespace examples
