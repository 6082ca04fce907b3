#pragma once
// Faults of a cuda_device drawn by seed, on the fake of CUDA's runtime: kernels that throw, launches and
// copies that are refused, contexts lost, work that hangs, stops, deadlines, destruction, memory and streams
// that are refused. After each, what must be true is looked at, nothing may be left behind, and where the
// context is well a good run follows.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <stowage/exec.hpp>
#include <stowage/exec/cuda.hpp>

#include "support/cuda_samples.hpp"
#include "support/fake_cuda.hpp"
#include "support/fault_campaign.hpp"

namespace stowage::test {

enum class cuda_draw : std::uint8_t {
    kernel_throws,
    launch_refused,
    copy_refused,
    context_lost,
    work_hangs,
    stop_requested,
    deadline_passes,
    destroyed,
    memory_refused,
    stream_refused,
};
inline constexpr std::size_t cuda_draws = 10;
[[nodiscard]] constexpr std::string_view to_string(cuda_draw draw) noexcept {
    constexpr std::string_view names[cuda_draws] = {
        "kernel throws",  "launch refused", "copy refused", "context lost",   "work hangs",
        "stop requested", "deadline",       "destroyed",    "memory refused", "stream refused"};
    return names[static_cast<std::size_t>(draw)];
}

/// One faulty run.
class cuda_faulty_run {
public:
    cuda_faulty_run(std::uint64_t seed, fault_counts& counts)
        : seed_(seed), random_(seed * 31 + 7), counts_(counts), sample_(random_.below(40)) {}

    /// Throws wrong_campaign.
    void go() {
        draw_ = static_cast<cuda_draw>(seed_ % cuda_draws);
        const turnip::memgraph& graph = sample_.made.graph;
        std::uint64_t operators = 0;
        for (const turnip::vertex& v : graph.vertices)
            operators += v.kind == turnip::vertex_kind::op ? 1U : 0U;
        number_ = static_cast<std::int64_t>(
            random_.below(draw_ == cuda_draw::launch_refused ? operators : graph.vertices.size()));
        if (draw_ == cuda_draw::copy_refused)
            number_ = static_cast<std::int64_t>(
                random_.below(std::max<std::uint64_t>(1, graph.vertices.size() - operators)));
        victim_ = next_of(turnip::vertex_kind::op, graph,
                          static_cast<turnip::vertex_index>(random_.below(graph.vertices.size())));
        behaviour_ = {.peers = random_.below(2) == 0, .delay_seed = random_.below(2) * seed_};
        options_ = two_devices(static_cast<exec::notifier>(random_.below(3)));
        options_.stage_bytes = 1024;  // in pieces so few that a stream that hangs has room for them
        executor_options_ = {.window = 1 + static_cast<std::uint32_t>(random_.below(3))};
        if (random_.below(2) == 0) executor_options_.priority = exec::seeded_random{};
        ++counts_.kinds[std::string(to_string(draw_))];
        // a machine that is busy may be silent before the work hangs
        while (!one_run())
            watchdog_ *= 4;
        expect(fake_cuda::world::get().reset(), "something is left behind");
    }

private:
    [[nodiscard]] static fake_cuda::world& world() { return fake_cuda::world::get(); }

    void expect(bool holds, const std::string& what) const {
        if (holds) return;
        throw wrong_campaign("CUDA, seed " + std::to_string(seed_) + " (" + std::string(to_string(draw_)) +
                             "): " + what);
    }
    [[nodiscard]] bool one_run() {
        expect(world().reset(behaviour_), "something was left behind");
        if (draw_ == cuda_draw::memory_refused || draw_ == cuda_draw::stream_refused) {
            refuse();
            expect(world().reset(behaviour_), "what was made before a refusal is left behind");
        }
        std::atomic<bool> armed = draw_ == cuda_draw::kernel_throws;
        const auto kernels = [&](const exec::kernel_call<cudaStream_t>& call) {
            if (armed && call.vertex == victim_) throw std::domain_error("drawn");
            sample_.kernels(call);
        };
        exec::cuda_device device(options_);
        using executor_type = exec::executor<decltype(kernels), exec::cuda_device>;
        std::optional<executor_type> executor;
        executor.emplace(sample_.made.program, sample_.made.graph, kernels, device, executor_options_);
        sample_.kernels.contents.fill(*executor, sample_.made.graph.start);
        if (!run_faulty(*executor)) return false;
        armed = false;
        if (draw_ == cuda_draw::destroyed) {
            executor.reset();
            executor.emplace(sample_.made.program, sample_.made.graph, kernels, device, executor_options_);
        }
        if (executor->report().device_lost) {
            bool refused = false;
            try {
                executor->run();
            } catch (const exec::usage_error&) {
                refused = true;
            }
            expect(refused, "a lost device runs");
            return true;
        }
        sample_.kernels.contents.fill(*executor, sample_.made.graph.start);
        const exec::run_report& good = executor->run({.seed = seed_});
        expect(good.status == exec::run_status::ok,
               "the good run failed: " + (good.error ? good.error->text() : ""));
        sample_.kernels.contents.check(*executor, sample_.made.graph.final);
        return true;
    }
    /// What cannot be made is refused by its name.
    void refuse() {
        fake_cuda::behaviour how = behaviour_;
        std::string expected = "host";
        if (draw_ == cuda_draw::stream_refused)
            how.failing_stream = 0;
        else if (sample_.made.graph.host_bytes > 0 && random_.below(2) == 0)
            how.pinned = 0;
        else
            how.memory = 0;
        if (how.memory == 0) expected = "device 0";
        if (draw_ == cuda_draw::stream_refused) expected = "d0.compute";
        expect(world().reset(how), "something was left behind");
        std::string place = "nothing";
        try {
            exec::cuda_device device(options_);
            exec::executor executor{sample_.made.program, sample_.made.graph, sample_.kernels, device};
        } catch (const exec::device_error& error) {
            place = error.place();
        }
        expect(place == expected, "refused is `" + place + "`");
    }

    template <class Executor>
    [[nodiscard]] bool run_faulty(Executor& executor) {
        exec::run_options options{.seed = seed_, .keep_times = random_.below(2) == 0};
        world().change([&](fake_cuda::behaviour& how) {
            world().works = world().copies = world().launches = 0;
            if (draw_ == cuda_draw::launch_refused) how.failing_launch = number_;
            if (draw_ == cuda_draw::copy_refused) how.failing_copy = number_;
            if (draw_ == cuda_draw::context_lost) how.failing_work = number_;
            if (draw_ == cuda_draw::work_hangs) how.hanging_work = number_;
        });
        std::stop_source stop;
        options.stop = stop.get_token();
        std::optional<std::jthread> stopper;
        const std::chrono::nanoseconds time(random_.below(300'000));
        switch (draw_) {
            case cuda_draw::work_hangs: options.watchdog = watchdog_; break;
            case cuda_draw::deadline_passes: options.deadline = time; break;
            case cuda_draw::stop_requested:
                stopper.emplace([&stop, time] {
                    std::this_thread::sleep_for(time);
                    stop.request_stop();
                });
                break;
            case cuda_draw::destroyed:
                executor.start(options);
                for (std::uint64_t i = random_.below(8); i > 0 && !executor.poll(); --i)
                    executor.wait();
                return true;
            default: break;
        }
        const exec::run_report& report = executor.run(options);
        const bool hung = world().is_hanging();
        world().unhang();
        if (draw_ == cuda_draw::work_hangs && report.error && !hung) return false;
        world().change(
            [](fake_cuda::behaviour& how) { how.failing_launch = how.failing_copy = how.failing_work = -1; });
        check(report);
        return true;
    }
    void check(const exec::run_report& report) {
        const bool whole = report.vertices == sample_.made.graph.vertices.size();
        // a word that hangs after the last vertex is watched like a vertex
        const bool watched = draw_ == cuda_draw::work_hangs && report.device_lost;
        expect((report.status == exec::run_status::ok) == (whole && !watched),
               "status and number of vertices do not agree");
        switch (draw_) {
            case cuda_draw::kernel_throws: check_fault(report, exec::fault_kind::kernel); return;
            case cuda_draw::launch_refused: check_fault(report, exec::fault_kind::submission); return;
            case cuda_draw::context_lost: check_fault(report, exec::fault_kind::device_lost); return;
            case cuda_draw::work_hangs: check_fault(report, exec::fault_kind::no_progress); return;
            case cuda_draw::copy_refused:
                if (whole) return;  // links without staging make no such copies
                check_fault(report, exec::fault_kind::submission);
                return;
            default: expect(!report.error.has_value(), "an error that nobody drew"); return;
        }
    }
    void check_fault(const exec::run_report& report, exec::fault_kind kind) {
        expect(report.status == exec::run_status::failed && report.error.has_value(), "it did not fail");
        const exec::fault& fault = *report.error;
        expect(fault.kind == kind, "the kind is " + std::string(exec::to_string(fault.kind)));
        const bool lost = kind == exec::fault_kind::device_lost || kind == exec::fault_kind::no_progress;
        expect(report.device_lost == lost, "lost or not is told wrongly");
        expect(std::binary_search(fault.in_flight.begin(), fault.in_flight.end(), fault.vertex),
               "its vertex was not under way");
        if (kind == exec::fault_kind::kernel) expect(fault.vertex == victim_, "the vertex is another");
        const turnip::vertex& at = sample_.made.graph.vertices[fault.vertex];
        if (draw_ == cuda_draw::launch_refused) expect(at.kind == turnip::vertex_kind::op, "it was a kernel");
        const std::string wrong = wrong_names(fault, sample_.made.program, sample_.made.graph);
        expect(wrong.empty(), wrong);
        counts_.add_hit(to_string(draw_), at.kind, fault.lane_name);
    }

    std::uint64_t seed_;
    stowage::detail::splitmix64 random_;
    fault_counts& counts_;
    cuda_sample sample_;
    cuda_draw draw_ = cuda_draw::kernel_throws;
    std::int64_t number_ = 0;  // of the launch, copy or work that goes wrong
    turnip::vertex_index victim_ = 0;
    fake_cuda::behaviour behaviour_;
    exec::cuda_device_options options_;
    exec::executor_options executor_options_;
    std::chrono::milliseconds watchdog_{60};
};

/// Runs seeds [first, first + runs).
inline void run_cuda_campaign(std::uint64_t first, std::uint64_t runs, fault_counts& counts) {
    for (std::uint64_t seed = first; seed < first + runs; ++seed)
        cuda_faulty_run(seed, counts).go();
}

}  // namespace stowage::test
