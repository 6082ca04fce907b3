// Lays out buffers with known lifetimes: offsets, how large the arena is, and how small it could be at best.
// Files, options and exit statuses are those of docs/formats.md. Example: layout problem.csv --capacity 1GiB
// -o answer.csv

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io.hpp>
#include <stowage/layout.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/verify.hpp>

#include "bytes.hpp"
#include "command_line.hpp"

namespace {

using nlohmann::ordered_json;
using namespace stowage;

struct arguments : examples::search_arguments {
    std::string problem;
    std::string answer_file;
    std::string svg_file;
    std::optional<std::string> capacity_text;
    std::vector<std::int64_t> capacities;  // one a pool; empty: as much as is needed
    std::int64_t alignment = 1;
    bool json = false;
};

/// Reads the problem and completes it by what the command line says. Errors name the file.
[[nodiscard]] layout::problem read_problem(const arguments& given) {
    layout::problem problem = io::read_layout_problem(given.problem);
    problem.alignment = given.alignment;
    problem.capacities = given.capacities;
    if (given.capacities.empty()) {
        std::uint32_t pools = 0;
        for (const layout::buffer& b : problem.buffers)
            pools = std::max(pools, b.pool ? *b.pool + 1 : 0);
        if (pools > 1) problem.capacities.assign(pools, std::numeric_limits<std::int64_t>::max());
    }
    return problem;
}

/// What the program has found.
struct answer {
    stowage::status status = status::unknown;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> pools;  // one a buffer; empty: one pool
    std::vector<std::int64_t> arenas;  // one a pool
    std::int64_t load = 0;
    std::int64_t lower_bound = 0;
    std::vector<std::size_t> blame;                   // if infeasible: these buffers alone do not fit
    std::optional<std::int64_t> least_capacity = {};  // known to do, where a capacity was asked for
    std::string found_by;
    double seconds = 0;
};

/// The problem with as many pools, but no limit on them: what the best layout there is keeps in any case.
[[nodiscard]] layout::problem without_limits(layout::problem problem) {
    for (std::int64_t& capacity : problem.capacities)
        capacity = std::numeric_limits<std::int64_t>::max();
    return problem;
}

/// Recomputes the arenas of what was found; a layout that breaks a rule is a bug of the library.
void verify_layout(const layout::problem& problem, answer& found) {
    const verify::verdict verdict = verify::check_layout(without_limits(problem), found.offsets, found.pools);
    if (!verdict) throw std::logic_error("the layout was not verified: " + verdict.reason);
    found.arenas = verdict.arenas;
}

/// What verifying a layout takes, up to 1.2 us a buffer or gap on a busy machine: time that a budget must
/// leave.
[[nodiscard]] std::chrono::nanoseconds time_to_verify(const layout::problem& problem) {
    std::size_t spans = problem.buffers.size();
    for (const layout::buffer& b : problem.buffers)
        spans += b.gaps.size();
    return std::chrono::nanoseconds(1'200 * spans);
}

/// The buffers that must be in a pool, as a problem of their own; `index` receives their places in the whole.
[[nodiscard]] layout::problem part_of(const layout::problem& whole, std::uint32_t pool,
                                      std::vector<std::size_t>& index) {
    layout::problem part;
    part.alignment = whole.alignment;
    index.clear();
    for (std::size_t i = 0; i < whole.buffers.size(); ++i) {
        if (whole.buffers[i].pool != pool) continue;
        part.buffers.push_back(whole.buffers[i]);
        part.buffers.back().pool.reset();
        part.names.push_back(whole.names[i]);
        index.push_back(i);
    }
    return part;
}

/// One pool: does it fit?
void fit(const layout::problem& problem, answer& found, const search_limits& limits) {
    layout::capacity_answer fitted = layout::fit(problem, problem.capacities[0], limits);
    found.status = fitted.status;
    if (fitted.status == status::feasible && fitted.least_capacity == fitted.lower_bound) {
        found.status = status::optimal;
    }
    found.offsets = std::move(fitted.offsets);
    found.load = fitted.load;
    found.lower_bound = fitted.lower_bound;
    found.blame = std::move(fitted.blame.buffers);
    found.least_capacity = fitted.least_capacity;
    found.found_by = std::move(fitted.found_by);
    verify_layout(problem, found);
}

/// Several pools with capacities: a buffer without a pool may lie in any.
void fit_pools(const layout::problem& problem, answer& found, const search_limits& limits) {
    layout::pool_answer fitted = layout::fit_pools(problem, {.limits = limits});
    found.status = fitted.status;
    found.offsets = std::move(fitted.offsets);
    found.pools = std::move(fitted.pools);
    found.blame = std::move(fitted.blame.buffers);
    found.found_by = "fit_pools";
    std::vector<std::size_t> index;
    for (std::uint32_t pool = 0; pool < problem.capacities.size(); ++pool) {
        const std::int64_t load = layout::load_bound(part_of(problem, pool, index)).bytes;
        found.load = std::max(found.load, load);
    }
    found.lower_bound = found.load;
    verify_layout(problem, found);
}

void plan(const layout::problem& problem, answer& found, const search_limits& limits) {
    layout::solution best = layout::plan(problem, limits);
    found.status = best.status;
    found.offsets = std::move(best.offsets);
    found.load = best.load;
    found.lower_bound = best.lower_bound;
    found.found_by = std::move(best.found_by);
    verify_layout(problem, found);
}

[[nodiscard]] answer solve(const layout::problem& problem, const arguments& given) {
    const auto start = budget::clock::now();
    search_limits limits = given.limits();
    limits.states = std::max<std::uint64_t>(limits.states, problem.buffers.size());
    if (limits.time) *limits.time -= std::min(*limits.time, time_to_verify(problem));
    answer found;
    if (given.capacities.size() == 1)
        fit(problem, found, limits);
    else if (given.capacities.size() > 1)
        fit_pools(problem, found, limits);
    else
        plan(problem, found, limits);
    found.seconds = std::chrono::duration<double>(budget::clock::now() - start).count();
    return found;
}

[[nodiscard]] ordered_json summary_json(const layout::problem& problem, const answer& found) {
    ordered_json summary = {
        {"buffers", problem.buffers.size()}, {"load", found.load}, {"lower_bound", found.lower_bound}};
    if (found.arenas.size() == 1)
        summary["arena"] = found.arenas[0];
    else
        summary["arena"] = found.arenas;
    summary["status"] = to_string(found.status);
    summary["seconds"] = found.seconds;
    summary["found_by"] = found.found_by;
    if (found.status == status::infeasible) {
        summary["blame"] = ordered_json::array();
        for (const std::size_t b : found.blame)
            summary["blame"].push_back(problem.names[b]);
        if (found.least_capacity) summary["least_capacity"] = *found.least_capacity;
    }
    return summary;
}

/// One line of figures.
[[nodiscard]] std::string summary_text(const layout::problem& problem, const answer& found) {
    std::string arenas;
    for (const std::int64_t arena : found.arenas)
        arenas += (arenas.empty() ? "" : " + ") + std::to_string(arena);
    return std::to_string(problem.buffers.size()) + " buffers, load " + std::to_string(found.load) +
           ", lower bound " + std::to_string(found.lower_bound) + ", arena " + arenas + ": " +
           std::string(to_string(found.status)) + " (" + found.found_by + ", " +
           std::to_string(found.seconds) + " s)\n";
}

/// Why there is no layout within the capacity, or none was found; what would do.
[[nodiscard]] std::string reason_text(const layout::problem& problem, const answer& found,
                                      const arguments& given) {
    constexpr std::size_t most_names = 20;
    std::string text = std::string(to_string(found.status)) + " at capacity " + *given.capacity_text;
    if (found.status == status::infeasible) {
        text += ": these buffers alone do not fit:";
        for (std::size_t i = 0; i < found.blame.size() && i < most_names; ++i)
            text += (i == 0 ? " " : ", ") + problem.names[found.blame[i]];
        if (found.blame.size() > most_names) {
            text += " and " + std::to_string(found.blame.size() - most_names) + " more";
        }
    }
    if (found.least_capacity) text += "; " + std::to_string(*found.least_capacity) + " is known to do";
    return text;
}

/// Every file asked for, before the first becomes visible.
[[nodiscard]] std::vector<io::atomic_file> files_of(const layout::problem& problem, const answer& found,
                                                    const arguments& given) {
    std::vector<io::atomic_file> files;
    if (!given.svg_file.empty()) {
        io::picture picture =
            io::make_picture(problem, found.offsets, io::short_name(given.problem), found.pools);
        picture.status = to_string(found.status);
        picture.levels = {{"lower bound", found.lower_bound}};
        files.emplace_back(given.svg_file, io::to_svg(picture));
    }
    if (!given.answer_file.empty()) {
        files.emplace_back(given.answer_file, io::layout_answer_text(problem, found.offsets, found.pools));
    }
    return files;
}

void add_options(CLI::App& app, arguments& given) {
    app.add_option("problem", given.problem, "layout problem (CSV, plain or .gz)")
        ->required()
        ->type_name("PROBLEM");
    app.add_option("-o", given.answer_file, "write the answer (CSV); - is standard output")
        ->type_name("ANSWER");
    app.add_option("--capacity", given.capacity_text,
                   "bytes, with suffix or without (512MiB, 16GB); several pools: one each, parted by commas")
        ->type_name("BYTES[,BYTES...]");
    app.add_option("--alignment", given.alignment, "every offset is a multiple of this")
        ->transform(examples::positive_bytes())
        ->type_name("BYTES")
        ->capture_default_str();
    given.add_to(app);
    app.add_option("--svg", given.svg_file, "write a picture")->type_name("FILE");
    app.add_flag("--json", given.json, "print one JSON object");
}

void check(arguments& given) {
    if (given.capacity_text) {
        const auto list = examples::parse_byte_list(*given.capacity_text);
        if (!list)
            throw CLI::ValidationError("--capacity",
                                       "`" + *given.capacity_text + "` is no list of byte counts");
        given.capacities = *list;
    }
    given.check_budget();
    examples::check_distinct({given.answer_file, given.svg_file, given.json ? "-" : ""});
}

[[nodiscard]] int run(const arguments& given) {
    const layout::problem problem = read_problem(given);
    const answer found = solve(problem, given);
    examples::show(files_of(problem, found, given), [&] {
        if (given.json)
            std::cout << io::json_text(summary_json(problem, found));
        else if (given.answer_file != "-" && given.svg_file != "-")
            std::cout << summary_text(problem, found);
    });
    if (found.status == status::optimal || found.status == status::feasible) return 0;
    std::cerr << "layout: " << given.problem << ": " << reason_text(problem, found, given) << "\n";
    return examples::exit_no;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Lays out buffers with known lifetimes, with proof."};
    arguments given;
    given.default_states = layout::default_states;
    add_options(app, given);
    const auto parse = [&] {
        app.parse(argc, argv);
        check(given);
    };
    return examples::run_program(app, "layout", given.problem, parse, [&] { return run(given); });
}
