#pragma once
// What the programs `llama` and `lora` do: compute a model's step in memory and under ever less of it, show
// that the results are the same bit for bit, and how long it takes beside the bound and other ways to run.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
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
#include "llama_rivals.hpp"

namespace examples {

struct llama_arguments {
    llama_shape shape{"small", 4, 256, 8, 688, 1024};
    llama_run run{.sequence = 256, .batch = 1, .devices = 1, .rank = 8, .value_bytes = 4};
    std::uint64_t seeds = 100;
    std::uint64_t seed = 1;
    int repeats = 5;
    std::uint64_t states = stowage::turnip::compile_options{}.limits.states;
    bool seven_billion = false;
    bool rivals = true;
    bool least = true;
};

/// A copy between two places, and the devices that have them.
struct moved_bytes {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    std::size_t bytes = 0;
    stowage::turnip::memory_index to_memory = 0;
    stowage::turnip::memory_index from_memory = 0;
};

/// The host, whose threads compute.
class host_machine {
    using kernel_call_type = stowage::exec::kernel_call<stowage::exec::lane_index>;

public:
    using device_type = stowage::exec::host_device;
    using kernels_type = std::reference_wrapper<const llama_kernels>;
    static constexpr bool is_host = true;
    static constexpr std::int64_t alignment = 64;

    host_machine(const stowage::tensor_graph& /*program*/, const llama_kernels& kernels,
                 const llama_arguments& /*given*/)
        : kernels_(kernels) {}
    [[nodiscard]] device_type device() const { return device_type(); }
    [[nodiscard]] kernels_type kernels() const { return std::cref(kernels_); }
    [[nodiscard]] static double units() { return std::max(1U, std::thread::hardware_concurrency()); }

    /// Has memory alone.
    using memory_type = stowage::exec::inline_device;
    [[nodiscard]] static memory_type memory() { return memory_type(); }
    /// Threads that an event loop puts work into, in memory that `call_of` and `bytes_of` know.
    class event_lanes {
    public:
        event_lanes(const host_machine& machine, const std::vector<stowage::turnip::memory_index>& lanes)
            : kernels_(machine.kernels_), threads_(lanes.size()) {}
        void start(std::size_t lane, const kernel_call_type& call, std::function<void()> ended) {
            threads_.call(lane, [this, call, ended = std::move(ended)] {
                kernels_(call);
                ended();
            });
        }
        void start(std::size_t lane, const moved_bytes& copy, std::function<void()> ended) {
            threads_.call(lane, [copy, ended = std::move(ended)] {
                std::memcpy(copy.to, copy.from, copy.bytes);
                ended();
            });
        }

    private:
        const llama_kernels& kernels_;
        lane_threads threads_;
    };

private:
    const llama_kernels& kernels_;
};

/// One program with its kernels on one machine, and everything that is measured of it. A `Machine` has
/// `device()`, which makes a device, `kernels()` for it, `units()`: how much of it computes at a time, and
/// the alignment that suits it; `memory()`, a device for its memories, and `event_lanes`, lanes that an event
/// loop puts work into. On the host, a plain loop gives what all runs must give; elsewhere a run in
/// memory does, and the plain loop must be near it.
template <class Machine>
class llama_experiment {
public:
    /// `out` gets the table.
    llama_experiment(const llama_arguments& given, const llama_program& made, std::FILE* out = stdout)
        : given_(given), out_(out), layer_(made.layer), program_(stowage::make_tensor_graph(made.program)),
          kernels_(program_, given.shape, given.run), machine_(program_, kernels_, given),
          tasks_(stowage::turnip::make_taskgraph(program_,
                                                 {.devices = static_cast<std::uint32_t>(given.run.devices),
                                                  .start = stowage::turnip::start_rule::steady})) {}

    /// Prints the table; false if some result differs.
    bool run() {
        std::fprintf(out_, "%s, %lld layers of %lld, %lld x %lld tokens, %lld device%s: %zu operators\n",
                     given_.shape.name.c_str(), number(given_.shape.layers), number(given_.shape.hidden),
                     number(given_.run.batch), number(given_.run.sequence), number(given_.run.devices),
                     given_.run.devices == 1 ? "" : "s", program_.operator_count());
        if constexpr (Machine::is_host) sequential();
        const auto whole = compile(1.0);
        if (!whole) return false;
        needed_ = whole->memgraph.arena_bytes;
        std::fprintf(out_, "%-24s %9s %9s %9s %7s %9s %7s %8s  %s\n", "way to run", "MB a dev.", "moved MB",
                     "ms", "x mem.", "bound ms", "x bound", "hidden %", "results");
        whole_.emplace(*this, whole->memgraph);
        if constexpr (!Machine::is_host) compare_with_host();
        measure("in memory", whole->memgraph);
        if constexpr (Machine::is_host) plain_loop();
        constexpr std::int64_t much = std::int64_t{1} << 30U;
        if (std::accumulate(needed_.begin(), needed_.end(), std::int64_t{0}) > much)
            whole_.reset();  // its memory is wanted: what comes is compared with the time that it took
        int enough = 100;
        for (const int percent : {75, 50, 30}) {
            const std::string name = std::to_string(percent) + "% of it";
            if (const auto made = compile(percent / 100.0)) {
                measure(name, made->memgraph);
                enough = percent;
            } else {
                std::fprintf(out_, "%-24s does not fit\n", name.c_str());
            }
        }
        if (given_.least) least(enough);
        if (given_.rivals) others();
        whole_.reset();
        std::fputs("bound: the busiest lane by measured times; hidden: copying beside computing\n", out_);
        std::fputs(good_ ? "all results are the same, bit for bit\n" : "SOME RESULTS DIFFER\n", out_);
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

    [[nodiscard]] std::optional<stowage::turnip::compiled> compile(
        double part, bool fixed_order = false, stowage::turnip::goal goal = stowage::turnip::goal::time) {
        stowage::turnip::compile_options options{
            .goal = goal, .fixed_order = fixed_order, .alignment = Machine::alignment};
        options.limits.states = given_.states;
        for (std::int64_t d = 0; d < given_.run.devices; ++d) {
            const std::int64_t all = needed_.empty() ? 0 : needed_[static_cast<std::size_t>(d)];
            const auto capacity = static_cast<std::int64_t>(part * static_cast<double>(all));
            options.devices.push_back(
                {needed_.empty() ? std::numeric_limits<std::int64_t>::max() / 4 : capacity});
        }
        auto made = stowage::turnip::compile(tasks_, options);
        if (!made.ok()) {
            if (fixed_order || needed_.empty()) std::fprintf(out_, "%s\n", made.reason.c_str());
            return std::nullopt;
        }
        const auto verdict = stowage::verify::check_memgraph(program_, made.memgraph);
        if (!verdict) throw std::logic_error("the memgraph was not verified: " + verdict.reason);
        return made;
    }
    /// The least capacity at which a memgraph is found, to 1% of what all needs: by halves below `enough`,
    /// at which there is one.
    void least(int enough) {
        int percent = enough;
        for (int too_little = 0; percent - too_little > 1;) {
            const int middle = (percent + too_little) / 2;
            if (compile(middle / 100.0, false, stowage::turnip::goal::bytes)) {
                percent = middle;
            } else {
                too_little = middle;
            }
        }
        const std::string name = "least: " + std::to_string(percent) + "%";
        const auto made = percent < enough ? compile(percent / 100.0) : std::nullopt;
        if (made)
            measure(name, made->memgraph);
        else
            std::fprintf(out_, "%-24s see above\n", name.c_str());
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
    /// Calls `body(b)` for outputs and written persistent buffers.
    template <class Body>
    void each_result(const Body& body) const {
        for (stowage::buffer_index b = 0; b < program_.buffer_count(); ++b) {
            if (program_.kind(b) == stowage::buffer_kind::output ||
                (is_persistent(program_.kind(b)) && tasks_.is_written(b)))
                body(b);
        }
    }
    [[nodiscard]] std::uint64_t hash_of(const std::vector<std::vector<std::byte>>& memory) const {
        return hash_of([&](stowage::buffer_index b) { return std::span<const std::byte>(memory[b]); });
    }
    /// Of all results, `bytes_of(b)` being their contents: values of four bytes.
    template <class Bytes>
    [[nodiscard]] std::uint64_t hash_of(const Bytes& bytes_of) const {
        stowage::detail::fnv1a_64 hash;
        each_result([&](stowage::buffer_index b) {
            const std::span<const std::byte> bytes = bytes_of(b);
            for (std::size_t at = 0; at < bytes.size(); at += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
                hash.add(word);
            }
        });
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
    [[nodiscard]] std::uint64_t hash_in(Executor& executor) const {
        std::vector<std::byte> bytes;
        return hash_of([&](stowage::buffer_index b) {
            bytes.resize(static_cast<std::size_t>(program_.bytes(b)));
            executor.read(b, bytes);
            return std::span<const std::byte>(bytes);
        });
    }
    template <class Executor>
    [[nodiscard]] bool right(Executor& executor) const {
        return expected_ == hash_in(executor);
    }
    /// One memgraph, run again and again.
    struct runner {
        using device_type = typename Machine::device_type;
        const memgraph& graph;
        device_type device;
        stowage::exec::executor<typename Machine::kernels_type, device_type> executor;
        bool same = true;
        bool ran = false;

        runner(const llama_experiment& all, const memgraph& to_run,
               const stowage::exec::executor_options& options = our_options())
            : graph(to_run), device(all.machine_.device()),
              executor(all.program_, graph, all.machine_.kernels(), device, options) {}
        const stowage::exec::run_report& once(const llama_experiment& all) {
            all.fill(executor, graph, ran);
            ran = true;
            return executor.run({.trace = true});
        }
        /// Returns the run's seconds.
        double run(const llama_experiment& all) {
            const stowage::exec::run_report& report = once(all);
            same = same && report && all.right(executor);
            return std::chrono::duration<double>(report.makespan).count();
        }
    };
    /// What the host computes one operator after the other and what a run in memory gives must be the same
    /// but for rounding; that run's results are what all others must give bit for bit.
    void compare_with_host() {
        if (!whole_->once(*this)) good_ = false;
        expected_ = hash_in(whole_->executor);
        double work = 0;
        for (stowage::operator_index op = 0; op < program_.operator_count(); ++op)
            work += program_.flops(op).value_or(0);
        constexpr double much = 1e12;
        if (work > much) {
            std::fprintf(out_, "not compared with the host, which would take too long\n");
            return;
        }
        std::vector<std::vector<std::byte>> memory = start();
        run_operators(memory, [](stowage::operator_index) {});
        double worst = 0;
        std::vector<float> got;
        each_result([&](stowage::buffer_index b) {
            got.resize(memory[b].size() / sizeof(float));
            whole_->executor.read(b, std::as_writable_bytes(std::span(got)));
            double squares = 0;
            double apart = 0;
            for (std::size_t i = 0; i < got.size(); ++i) {
                float value = 0;
                std::memcpy(&value, memory[b].data() + i * sizeof(float), sizeof(float));
                squares += static_cast<double>(value) * static_cast<double>(value);
                apart += std::pow(static_cast<double>(value) - static_cast<double>(got[i]), 2);
            }
            const double relative = std::sqrt(apart / std::max(squares, 1e-30));
            worst = relative <= worst ? worst : relative;  // not a number counts too
        });
        constexpr double rounding = 1e-3;
        const bool close = worst <= rounding;
        good_ = good_ && close;
        std::fprintf(out_, "beside the host's results: %s, %.1e apart at most\n",
                     close ? "the same but for rounding" : "DIFFERENT", worst);
    }
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
    [[nodiscard]] static stowage::exec::executor_options our_options() {
        return {.priority = stowage::exec::need{}, .copy_chunk_bytes = 4 << 20};
    }
    void measure(const std::string& name, const memgraph& graph,
                 const stowage::exec::executor_options& options = our_options()) {
        double bound = 0;
        double seconds = 0;
        double hidden = -1;
        bool same = false;
        {
            runner way(*this, graph, options);
            seconds = in_turn([&] { return way.run(*this); });
            bound = bound_of(way.executor.report(), graph);
            hidden = hidden_part(way.executor.report(), graph);
            same = way.same;
        }
        same = same && in_any_order(graph);
        print(name, graph, seconds, bound, hidden, same);
    }
    [[nodiscard]] bool in_any_order(const memgraph& graph) const {
        auto device = machine_.device();
        const stowage::exec::executor_options options{
            .priority = stowage::exec::seeded_random{}, .window = 2, .copy_chunk_bytes = 1 << 20};
        stowage::exec::executor executor{program_, graph, machine_.kernels(), device, options};
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
    /// No run can be shorter than what its busiest lane has to do, nor than all work parted among what
    /// computes, by measured times.
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
        return std::max(bound, all / machine_.units());
    }
    /// Of the time in which something is copied, the part in which something computes too; below 0 where
    /// nothing is copied.
    [[nodiscard]] static double hidden_part(const stowage::exec::run_report& report, const memgraph& graph) {
        struct change {
            std::int64_t when;
            bool computes;
            int by;
        };
        std::vector<change> changes;
        for (const auto& entry : report.trace) {
            const bool computes = graph.vertices[entry.vertex].kind == stowage::turnip::vertex_kind::op;
            changes.push_back({entry.started, computes, 1});
            changes.push_back({entry.finished, computes, -1});
        }
        std::sort(changes.begin(), changes.end(),
                  [](const change& a, const change& b) { return a.when < b.when; });
        std::int64_t copying = 0;
        std::int64_t both = 0;
        int open[2] = {0, 0};  // copies, operators
        for (std::size_t i = 0; i < changes.size(); ++i) {
            const std::int64_t passed = i == 0 ? 0 : changes[i].when - changes[i - 1].when;
            if (open[0] > 0) copying += passed;
            if (open[0] > 0 && open[1] > 0) both += passed;
            open[changes[i].computes ? 1 : 0] += changes[i].by;
        }
        return copying > 0 ? static_cast<double>(both) / static_cast<double>(copying) : -1;
    }
    void print(const std::string& name, const memgraph& graph, double seconds, double bound, double hidden,
               bool same) {
        good_ = good_ && same;
        std::int64_t moved = 0;
        for (stowage::turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
            if (graph.vertices[v].kind != stowage::turnip::vertex_kind::op)
                moved += program_.bytes(graph.moved(v));
        }
        const std::int64_t arena = *std::max_element(graph.arena_bytes.begin(), graph.arena_bytes.end());
        std::fprintf(out_, "%-24s %9.2f %9.2f %9.2f %7.3f ", name.c_str(), megabytes(arena), megabytes(moved),
                     seconds * 1e3, seconds / in_memory_);
        if (bound > 0)
            std::fprintf(out_, "%9.2f %7.3f ", bound * 1e3, seconds / bound);
        else
            std::fprintf(out_, "%9s %7s ", "", "");
        if (hidden >= 0)
            std::fprintf(out_, "%8.0f  ", hidden * 100);
        else
            std::fprintf(out_, "%8s  ", "");
        std::fprintf(out_, "%s\n", same ? "same" : "DIFFERENT");
    }

    // Other ways to run, at half the memory.

    void others() {
        const auto half = compile(0.5);
        if (!half) return;
        synchronous(half->memgraph);
        if (const auto fixed = compile(0.5, true)) measure("50%, fixed order", fixed->memgraph);
        published(half->memgraph);
        if (given_.run.devices == 1) streaming();
    }
    /// On the host without threads, which costs least; on another device each vertex is waited for.
    void synchronous(const memgraph& graph) {
        if constexpr (Machine::is_host) {
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
            print("50%, synchronous", graph, seconds, 0, -1, same);
        } else {
            const memgraph chain = one_at_a_time(graph);
            measure("50%, synchronous", chain, {.priority = stowage::exec::fifo{}, .window = 1});
        }
    }
    /// The same memgraph by the event loop of the published implementation.
    void published(const memgraph& graph) {
        auto memory = machine_.memory();
        stowage::exec::executor executor{program_, graph, machine_.kernels(), memory};
        stowage::exec::detail::operand_views views;
        views.prepare(program_, graph, memory);
        bool same = true;
        bool ran = false;
        const double seconds = in_turn([&] {
            fill(executor, graph, ran);
            ran = true;
            event_loop loop(graph);
            typename Machine::event_lanes lanes(machine_, loop.devices());
            const auto from = clock::now();
            loop.run([&](std::size_t lane, stowage::turnip::vertex_index v, std::function<void()> ended) {
                if (graph.vertices[v].kind != stowage::turnip::vertex_kind::op) {
                    const auto copy = stowage::exec::detail::copy_of(program_, graph, v);
                    const moved_bytes bytes{memory.base(copy.to) + copy.to_address,
                                            memory.base(copy.from) + copy.from_address,
                                            static_cast<std::size_t>(copy.bytes), copy.to, copy.from};
                    lanes.start(lane, bytes, std::move(ended));
                    return;
                }
                stowage::exec::kernel_call<typename Machine::device_type::native_handle> call;
                call.op = graph.vertices[v].op;
                call.vertex = v;
                call.device = graph.vertices[v].device;
                views.fill(call);
                lanes.start(lane, call, std::move(ended));
            });
            const double taken = since(from);
            same = same && right(executor);
            return taken;
        });
        print("50%, event loop", graph, seconds, 0, -1, same);
    }
    /// Layer by layer, the next layer's weights copied in while one computes; everything but weights stays.
    void streaming() {
        const memgraph graph = streamed_layers(tasks_, layer_, Machine::alignment).graph();
        const auto verdict = stowage::verify::check_memgraph(program_, graph);
        if (!verdict) throw std::logic_error("the streamed memgraph was not verified: " + verdict.reason);
        measure("layer streaming", graph, {.priority = stowage::exec::fifo{}, .copy_chunk_bytes = 4 << 20});
    }
    void print_plain(const char* name, std::int64_t moved, double seconds, bool same) {
        good_ = good_ && same;
        std::fprintf(out_, "%-24s %9s %9.2f %9.2f %7.3f %9s %7s %8s  %s\n", name, "", megabytes(moved),
                     seconds * 1e3, seconds / in_memory_, "", "", "", same ? "same" : "DIFFERENT");
    }

    llama_arguments given_;
    std::FILE* out_;
    std::vector<std::uint32_t> layer_;  // by operator
    stowage::tensor_graph program_;
    llama_kernels kernels_;  // the host's
    Machine machine_;
    stowage::turnip::taskgraph tasks_;
    std::uint64_t expected_ = 0;
    std::vector<std::int64_t> needed_;  // by device: the arena in memory
    std::vector<double> operator_seconds_;
    std::optional<runner> whole_;  // in memory
    double in_memory_ = 1;         // its seconds, in turn with the way measured last
    bool good_ = true;
};

}  // namespace examples
