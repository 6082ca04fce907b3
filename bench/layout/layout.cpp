// Layout policies by the number of buffers, on synthetic training steps and on a hard mixture, with the
// growth exponent fitted; and each policy on every public layout problem, with its gap to the load. The
// public problems are read from the folder that the environment variable STOWAGE_LAYOUT_FILES names, or from
// ../shared/layout.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout.hpp>

namespace {

using namespace stowage::layout;

/// A training step: layer by layer forward, then backward; of 20 buffers a layer 8 are activations that live
/// until their layer's backward pass, 12 are temporaries of a few steps, in sizes that recur.
problem training_step(std::size_t buffers) {
    stowage::detail::splitmix64 random(7);
    problem result;
    const auto layers = static_cast<std::int64_t>(buffers / 20);
    const auto size = [&] {
        constexpr std::int64_t classes[] = {4'096, 65'536, 262'144, 1'048'576, 3'145'728, 12'582'912};
        return classes[random.below(std::size(classes))] * (1 + static_cast<std::int64_t>(random.below(3)));
    };
    const auto add = [&](std::int64_t lower, std::int64_t upper) {
        result.buffers.push_back({.lower = lower, .upper = upper, .size = size()});
    };
    const auto few = [&] { return 1 + static_cast<std::int64_t>(random.below(4)); };
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const std::int64_t forward = 10 * layer;
        const std::int64_t backward = 20 * layers - forward - 10;
        for (std::int64_t k = 0; k < 8; ++k)
            add(forward + k, backward + 10 - k);
        for (std::int64_t k = 0; k < 6; ++k) {
            add(forward + k, forward + k + few());
            add(backward + k, backward + k + few());
        }
    }
    return result;
}

/// Births anywhere, lifetimes and sizes log-normal.
problem hard_mixture(std::size_t buffers) {
    stowage::detail::splitmix64 random(7);
    problem result;
    for (std::size_t i = 0; i < buffers; ++i) {
        const auto lower = static_cast<std::int64_t>(random.below(buffers));
        const auto duration = static_cast<std::int64_t>(std::exp(2.0 * random.normal() + 3));
        const auto size = static_cast<std::int64_t>(std::exp(1.5 * random.normal() + 8));
        result.buffers.push_back({.lower = lower, .upper = lower + 1 + duration, .size = 1 + size});
    }
    return result;
}

void report(benchmark::State& state, const problem& problem, std::int64_t arena) {
    const std::int64_t load = load_bound(problem).bytes;
    state.counters["above_load_%"] = 100.0 * static_cast<double>(arena - load) / static_cast<double>(load);
}

template <class Policy>
void policy_by_size(benchmark::State& state, problem (*make)(std::size_t), const Policy& policy) {
    const problem problem = make(static_cast<std::size_t>(state.range(0)));
    offset_list offsets;
    for (auto _ : state)
        offsets = policy(problem);
    state.SetComplexityN(state.range(0));
    report(state, problem, arena_of(problem, offsets));
}

void plan_by_size(benchmark::State& state, problem (*make)(std::size_t)) {
    const problem problem = make(static_cast<std::size_t>(state.range(0)));
    solution found;
    for (auto _ : state)
        found = plan(problem);
    state.SetComplexityN(state.range(0));
    state.SetLabel(found.found_by);
    report(state, problem, found.arena);
}

void by_size(benchmark::internal::Benchmark* benchmark) {
    benchmark->RangeMultiplier(10)->Range(1'000, 1'000'000)->Unit(benchmark::kMillisecond)->Complexity();
}

problem read_csv(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    const auto cells_of = [](const std::string& text) {
        std::vector<std::string> cells;
        std::stringstream stream(text);
        for (std::string cell; std::getline(stream, cell, ',');) {
            while (!cell.empty() && cell.back() == '\r')
                cell.pop_back();
            cells.push_back(cell);
        }
        return cells;
    };
    const std::vector<std::string> columns = cells_of(line);
    problem result;
    while (std::getline(in, line)) {
        const std::vector<std::string> cells = cells_of(line);
        buffer entry;
        for (std::size_t c = 0; c < std::min(cells.size(), columns.size()); ++c) {
            if (columns[c] == "lower") entry.lower = std::stoll(cells[c]);
            if (columns[c] == "upper") entry.upper = std::stoll(cells[c]);
            if (columns[c] == "size") entry.size = std::stoll(cells[c]);
            if (columns[c] == "alignment" && !cells[c].empty()) entry.alignment = std::stoll(cells[c]);
        }
        result.buffers.push_back(entry);
    }
    return result;
}

template <class Policy>
void register_policy(const std::string& file, const std::shared_ptr<const stowage::layout::problem>& problem,
                     const std::string& name, const Policy& policy) {
    benchmark::RegisterBenchmark((file + "/" + name).c_str(), [problem, policy](benchmark::State& state) {
        offset_list offsets;
        for (auto _ : state)
            offsets = policy(*problem);
        report(state, *problem, arena_of(*problem, offsets));
    })->Unit(benchmark::kMillisecond);
}

void register_file(const std::filesystem::path& path) {
    const auto problem = std::make_shared<const stowage::layout::problem>(read_csv(path));
    const std::string file = path.stem().string();
    register_policy(file, problem, "first_fit", first_fit{});
    register_policy(file, problem, "best_fit", best_fit{});
    register_policy(file, problem, "llfb", llfb{});
    register_policy(file, problem, "llfb_fit", llfb_fit{});
    benchmark::RegisterBenchmark((file + "/plan").c_str(), [problem](benchmark::State& state) {
        solution found;
        for (auto _ : state)
            found = plan(*problem);
        state.SetLabel(std::string(to_string(found.status)) + ", " + found.found_by);
        report(state, *problem, found.arena);
    })->Unit(benchmark::kMillisecond);
}

bool register_files() {
    const char* given = std::getenv("STOWAGE_LAYOUT_FILES");
    const std::filesystem::path folder = given != nullptr ? given : "../shared/layout";
    if (!std::filesystem::is_directory(folder)) return false;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".csv") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
        register_file(file);
    return !files.empty();
}

BENCHMARK_CAPTURE(policy_by_size, training_step / skyline, training_step, skyline{})->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, training_step / skyline_slack_aware, training_step,
                  skyline{{.slack = slack_rule::when_needed}})
    ->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, training_step / llfb, training_step, llfb{})->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, training_step / llfb_fit, training_step, llfb_fit{})->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, training_step / first_fit_by_birth, training_step, first_fit{})
    ->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, training_step / first_fit_by_size, training_step,
                  first_fit{{.order = placement_order::size}})
    ->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, training_step / best_fit_by_size, training_step, best_fit{})
    ->Apply(by_size);
BENCHMARK_CAPTURE(plan_by_size, training_step, training_step)->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, hard_mixture / skyline, hard_mixture, skyline{})->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, hard_mixture / first_fit_by_birth, hard_mixture, first_fit{})
    ->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, hard_mixture / first_fit_by_size, hard_mixture,
                  first_fit{{.order = placement_order::size}})
    ->Apply(by_size);
BENCHMARK_CAPTURE(policy_by_size, hard_mixture / best_fit_by_size, hard_mixture, best_fit{})->Apply(by_size);
BENCHMARK_CAPTURE(plan_by_size, hard_mixture, hard_mixture)->Apply(by_size);
[[maybe_unused]] const bool files_registered = register_files();

}  // namespace
