#pragma once
// Faults drawn by seed over every kind, every kind of vertex and every lane, in runs of random memgraphs;
// after each, what must be true is looked at, and where the device is not lost a good run follows. One call
// is one faulty run; it answers what was done, or what was wrong.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include <stowage/exec.hpp>

#include "support/random_memgraph.hpp"

namespace stowage::test {

enum class fault_draw : std::uint8_t {
    kernel_throws,
    work_fails,
    submission_refused,
    device_lost,
    work_hangs,
    stop_requested,
    deadline_passes,
    destroyed,
    memory_refused,
    lane_refused,
};
inline constexpr std::size_t fault_draws = 10;
[[nodiscard]] constexpr std::string_view to_string(fault_draw draw) noexcept {
    constexpr std::string_view names[fault_draws] = {
        "kernel throws",  "work fails", "submission refused", "device lost",    "work hangs",
        "stop requested", "deadline",   "destroyed",          "memory refused", "lane refused"};
    return names[static_cast<std::size_t>(draw)];
}

/// What a campaign has done: runs by kind of fault; of those that hit a vertex, by its kind, by lane, and by
/// kind of fault, kind of vertex and lane.
struct fault_counts {
    std::map<std::string, std::size_t> kinds;
    std::map<std::string, std::size_t> vertices;
    std::map<std::string, std::size_t> lanes;
    std::map<std::string, std::size_t> hits;
    void add_hit(std::string_view draw, turnip::vertex_kind kind, const std::string& lane) {
        const std::string hit(turnip::to_string(kind));
        ++vertices[hit];
        ++hits[std::string(draw) + " at " + hit + " in " + lane];
        ++lanes[lane];
    }
    [[nodiscard]] std::string text() const {
        std::string result;
        for (const auto* map : {&kinds, &vertices, &lanes, &hits}) {
            for (const auto& [name, count] : *map)
                result += name + ": " + std::to_string(count) + "; ";
        }
        return result;
    }
};

class wrong_campaign : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What is wrong of what a fault says of the vertex that it names; empty if nothing is.
[[nodiscard]] inline std::string wrong_names(const exec::fault& fault, const tensor_graph& program,
                                             const turnip::memgraph& graph) {
    const turnip::vertex& at = graph.vertices[fault.vertex];
    if (fault.vertex_kind != at.kind) return "the kind of vertex is wrong";
    if (at.kind == turnip::vertex_kind::op) {
        if (fault.op.index != at.op || fault.op.name != program.operator_name(at.op))
            return "the operator is wrong";
    } else {
        if (fault.buffer.index != graph.moved(fault.vertex)) return "the buffer is wrong";
        if (fault.bytes != program.bytes(graph.moved(fault.vertex))) return "the bytes are wrong";
    }
    return fault.lane_name.empty() || fault.message.empty() ? "lane or message is missing" : "";
}
/// The first vertex of a kind from `v` on, round about; `v` if there is none.
[[nodiscard]] inline turnip::vertex_index next_of(turnip::vertex_kind kind, const turnip::memgraph& graph,
                                                  turnip::vertex_index v) {
    const auto count = static_cast<turnip::vertex_index>(graph.vertices.size());
    for (turnip::vertex_index i = 0; i < count; ++i) {
        if (graph.vertices[(v + i) % count].kind == kind) return (v + i) % count;
    }
    return v;
}

/// One faulty run and a good one after it. `Device` is exec::host_device or exec::simulated_device.
template <class Device>
class faulty_run {
public:
    faulty_run(std::uint64_t seed, fault_counts& counts)
        : seed_(seed), random_(seed * 31 + 7), counts_(counts) {}

    /// Throws wrong_campaign.
    void go() {
        draw_ = static_cast<fault_draw>(seed_ % fault_draws);
        made_ = make_random_memgraph(
            random_.below(40),
            {.operators = 12, .devices = 1 + static_cast<std::uint32_t>(random_.below(2))});
        victim_ = static_cast<turnip::vertex_index>(random_.below(made_.graph.vertices.size()));
        if (random_.below(3) == 0)  // or lanes between devices would be hit too seldom
            victim_ = next_of(turnip::vertex_kind::transfer, made_.graph, victim_);
        if (draw_ == fault_draw::kernel_throws)
            victim_ = next_of(turnip::vertex_kind::op, made_.graph, victim_);
        exec::executor_options options{.window = 1 + static_cast<std::uint32_t>(random_.below(3))};
        if (random_.below(2) == 0) options.priority = exec::seeded_random{};
        const exec::synthetic_digests digests(made_.program);
        const exec::synthetic_kernels contents(made_.program, digests);
        const auto kernels = [this, contents](const exec::kernel_call<exec::lane_index>& call) {
            if (armed_ && draw_ == fault_draw::kernel_throws && call.vertex == victim_)
                throw std::domain_error("drawn");
            contents(call);
        };
        ++counts_.kinds[std::string(to_string(draw_))];
        // A machine that is busy may keep a worker off its processor for as long as the watchdog allows,
        // before the victim hangs. That is a silence too: then it is tried again with more patience.
        while (one_run(contents, kernels, options) == verdict::too_early)
            watchdog_ *= 4;
    }

private:
    static constexpr bool simulated = std::is_same_v<Device, exec::simulated_device>;
    enum class verdict : std::uint8_t { right, too_early };

    template <class Kernels>
    [[nodiscard]] verdict one_run(const exec::synthetic_kernels& contents, const Kernels& kernels,
                                  const exec::executor_options& options) {
        hangs_ = false;
        Device device(device_options());
        if (draw_ == fault_draw::memory_refused || draw_ == fault_draw::lane_refused) {
            turnip::memgraph greedy = made_.graph;
            if (draw_ == fault_draw::memory_refused) greedy.host_bytes = std::int64_t{1} << 60U;
            try {
                exec::executor executor{made_.program, greedy, kernels, device, options};
            } catch (const exec::device_error& error) {
                refused_ = error.place();
            }
            expect(refused_ == (draw_ == fault_draw::memory_refused ? "host" : "d0.d2h"),
                   "refused is `" + refused_ + "`");
            armed_ = false;
        }
        using executor_type = exec::executor<Kernels, Device>;
        auto executor = std::make_unique<executor_type>(made_.program, made_.graph, kernels, device, options);
        contents.fill(*executor, made_.graph.start);
        if (armed_ && run_faulty(device, *executor) == verdict::too_early) return verdict::too_early;
        if (draw_ == fault_draw::destroyed) {
            executor.reset();
            executor = std::make_unique<executor_type>(made_.program, made_.graph, kernels, device, options);
        }
        if (executor->report().device_lost) return verdict::right;
        armed_ = false;
        contents.fill(*executor, made_.graph.start);
        const exec::run_report& good = executor->run({.seed = seed_});
        expect(good.status == exec::run_status::ok,
               "the good run failed: " + (good.error ? good.error->text() : ""));
        contents.check(*executor, made_.graph.final);
        return verdict::right;
    }

    void expect(bool holds, const std::string& what) const {
        if (holds) return;
        throw wrong_campaign("seed " + std::to_string(seed_) + " (" + std::string(to_string(draw_)) +
                             ", vertex " + std::to_string(victim_) + "): " + what);
    }

    auto device_options() {
        const auto inject = [this](const exec::lane_work& work) -> exec::injection {
            exec::injection fate;
            if (!simulated && random_.below(8) == 0)
                fate.delay = std::chrono::microseconds(random_.below(60));
            if (!armed_ || work.vertex != victim_) return fate;
            switch (draw_) {
                case fault_draw::work_fails: fate.effect = exec::injected_effect::fail; break;
                case fault_draw::submission_refused: fate.effect = exec::injected_effect::refuse; break;
                case fault_draw::device_lost: fate.effect = exec::injected_effect::lose_device; break;
                case fault_draw::work_hangs:
                    fate.effect = exec::injected_effect::hang;
                    hangs_ = true;
                    break;
                default: break;
            }
            return fate;
        };
        const auto before_lane = [this](const exec::lane_description& lane) {
            if (armed_ && draw_ == fault_draw::lane_refused && lane.name == "d0.d2h")
                throw std::runtime_error("drawn");
        };
        if constexpr (simulated) {
            return exec::simulated_device_options{
                .duration = exec::modelled_duration{&made_.program, &made_.graph},
                .jitter = 0.9,
                .before_lane = before_lane,
                .inject = inject,
            };
        } else {
            exec::host_device_options options{.notifier = static_cast<exec::notifier>(random_.below(3)),
                                              .before_lane = before_lane,
                                              .inject = inject};
            return options;
        }
    }

    template <class Executor>
    [[nodiscard]] verdict run_faulty(Device& device, Executor& executor) {
        exec::run_options options{.seed = seed_, .keep_times = random_.below(2) == 0};
        std::stop_source stop;
        options.stop = stop.get_token();
        if (draw_ == fault_draw::work_hangs) options.watchdog = watchdog_;
        const std::int64_t time = static_cast<std::int64_t>(random_.below(simulated ? 150'000 : 120'000));
        if (draw_ == fault_draw::deadline_passes) options.deadline = std::chrono::nanoseconds(time);
        std::optional<std::jthread> stopper;
        if (draw_ == fault_draw::stop_requested) {
            if constexpr (simulated)
                device.at(time, [&stop] { stop.request_stop(); });
            else
                stopper.emplace([&stop, time] {
                    std::this_thread::sleep_for(std::chrono::nanoseconds(time));
                    stop.request_stop();
                });
        }
        if (draw_ == fault_draw::destroyed) {
            executor.start(options);
            for (std::uint64_t i = random_.below(8); i > 0 && !executor.poll(); --i)
                executor.wait();
            return verdict::right;
        }
        const exec::run_report& report = executor.run(options);
        constexpr std::chrono::seconds patience(60);
        if (draw_ == fault_draw::work_hangs && !hangs_ && watchdog_ < patience) return verdict::too_early;
        check_report(report);
        return verdict::right;
    }
    void check_report(const exec::run_report& report) const {
        switch (draw_) {
            case fault_draw::kernel_throws: check_fault(report, exec::fault_kind::kernel); return;
            case fault_draw::work_fails: check_fault(report, exec::fault_kind::device); return;
            case fault_draw::submission_refused: check_fault(report, exec::fault_kind::submission); return;
            case fault_draw::device_lost:
                check_fault(report, exec::fault_kind::device_lost);
                expect(report.device_lost, "the device is not said to be lost");
                return;
            case fault_draw::work_hangs:
                check_fault(report, exec::fault_kind::no_progress);
                expect(report.device_lost, "the device is not said to be lost");
                return;
            case fault_draw::stop_requested:
                expect(report.status == exec::run_status::stopped || report.status == exec::run_status::ok,
                       "not stopped");
                check_prefix(report);
                return;
            case fault_draw::deadline_passes:
                expect(report.status == exec::run_status::timed_out || report.status == exec::run_status::ok,
                       "not timed out");
                check_prefix(report);
                return;
            default: return;
        }
    }
    void check_prefix(const exec::run_report& report) const {
        expect(!report.error.has_value(), "an error that nobody drew");
        expect((report.status == exec::run_status::ok) == (report.vertices == made_.graph.vertices.size()),
               "status and number of vertices do not agree");
    }
    void check_fault(const exec::run_report& report, exec::fault_kind kind) const {
        expect(report.status == exec::run_status::failed, "it did not fail");
        expect(report.error.has_value(), "no error is told");
        const exec::fault& fault = *report.error;
        expect(fault.kind == kind, "the kind is " + std::string(exec::to_string(fault.kind)));
        const bool among =
            std::find(fault.in_flight.begin(), fault.in_flight.end(), victim_) != fault.in_flight.end();
        // a busy machine may keep another lane's worker off its processor for as long: that is silent too
        const bool exact = simulated || kind != exec::fault_kind::no_progress;
        expect(exact ? fault.vertex == victim_ : among, "the vertex is " + std::to_string(fault.vertex));
        expect(among, "the victim was not under way");
        const std::string wrong = wrong_names(fault, made_.program, made_.graph);
        expect(wrong.empty(), wrong);
        expect(report.vertices < made_.graph.vertices.size(), "every vertex is said to have run");
        counts_.add_hit(to_string(draw_), made_.graph.vertices[victim_].kind, fault.lane_name);
    }

    std::uint64_t seed_;
    stowage::detail::splitmix64 random_;
    fault_counts& counts_;
    fault_draw draw_ = fault_draw::kernel_throws;
    random_memgraph made_;
    turnip::vertex_index victim_ = 0;
    std::atomic<bool> armed_{true};
    bool hangs_ = false;  // the victim was given to its lane
    std::chrono::milliseconds watchdog_{simulated ? 1000 : 100};
    std::string refused_;
};

/// Runs seeds [first, first + runs).
template <class Device>
void run_campaign(std::uint64_t first, std::uint64_t runs, fault_counts& counts) {
    for (std::uint64_t seed = first; seed < first + runs; ++seed)
        faulty_run<Device>(seed, counts).go();
}

}  // namespace stowage::test
