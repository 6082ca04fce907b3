// Plans tensor programs: an operator order and a memory layout with a proof of how good they are. Files,
// options and exit statuses are those of docs/formats.md. Example: plan step.json.gz --html report.html -o
// plan.json

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io.hpp>
#include <stowage/roam.hpp>
#include <stowage/roam/streams.hpp>
#include <stowage/verify.hpp>

#include "../command_line.hpp"
#include "policies.hpp"
#include "rivals.hpp"

namespace {

using nlohmann::ordered_json;
using namespace stowage;
using plan_program::rival;

struct arguments : examples::search_arguments {
    std::vector<std::string> programs;
    std::string plan_file;
    std::string html_file;
    std::string svg_file;
    std::string dot_file;
    std::string proof_file;
    std::string order = "roam-best";
    std::optional<std::string> layout;
    std::size_t streams = 1;
    std::optional<std::int64_t> alignment;
    bool compare = false;
    bool json = false;

    /// Name of the layout policy.
    [[nodiscard]] std::string layout_name() const { return layout.value_or("portfolio"); }
    /// roam-paper lays out leaf by leaf, unless another layout is asked for.
    [[nodiscard]] bool paper_whole() const { return order == "roam-paper" && !layout; }
    /// What --order and --layout say, in one word or two.
    [[nodiscard]] std::string planner_name() const {
        if (order == "roam-best" && layout_name() == "portfolio") return "roam-best";
        return paper_whole() ? order : order + "+" + layout_name();
    }
    /// Time for one integer program over a whole program.
    [[nodiscard]] std::chrono::nanoseconds program_time() const {
        return time().value_or(plan_program::program_seconds);
    }
    /// Alignment of the plan.
    [[nodiscard]] std::int64_t plan_alignment() const { return alignment.value_or(1); }
    /// Alignment at which planners are compared: PyTorch's, unless the user asked for one, or pinned buffers,
    /// which may lie anywhere.
    [[nodiscard]] std::int64_t compare_alignment(const tensor_graph& graph) const {
        bool pinned = false;
        for (buffer_index b = 0; b < graph.buffer_count() && !pinned; ++b)
            pinned = graph.pinned_offset(b).has_value();
        return alignment.value_or(pinned ? 1 : plan_program::pytorch_alignment);
    }
};

/// A program with its plan and what others would need for it.
struct planned {
    io::access_list program;
    plan made;
    std::int64_t arena_for_comparison = 0;  // at the alignment of comparisons
    std::int64_t program_peak = 0;
    std::vector<rival> rivals;  // PyTorch first, LESCEA + LLFB second
    roam::subgraph_tree tree;   // of roam-paper, where it lays out by one
};

[[nodiscard]] roam::options planning_options(const arguments& given) {
    roam::options options{.alignment = given.plan_alignment(), .seed = given.seed, .threads = given.threads};
    options.try_other_orders = given.order == "roam-best";
    if (given.states) options.states = *given.states;
    options.budget = given.time();
    return options;
}

/// The arena of the plan's order when it is laid out at the alignment of comparisons.
[[nodiscard]] std::int64_t arena_to_compare(const tensor_graph& graph, const plan& made,
                                            const layout::any_policy& policy, const arguments& given) {
    const std::int64_t alignment = given.compare_alignment(graph);
    if (made.alignment == alignment) return made.arena.bytes;
    const layout::order_layout items =
        made.timesteps.empty()
            ? layout::layout_problem_of(graph, made.order, alignment)
            : layout::layout_problem_of(graph, order::timesteps{made.timesteps}, alignment);
    try {
        return layout::plan(items.problem, policy, planning_options(given).limits()).arena;
    } catch (const overflow_error&) {  // only padding passes 2^63 - 1
        return std::numeric_limits<std::int64_t>::max();
    }
}

/// The plan that was asked for.
[[nodiscard]] plan make_plan(const tensor_graph& graph, const layout::any_policy& layout_policy,
                             const arguments& given, budget::clock::time_point start,
                             roam::subgraph_tree& tree) {
    const roam::options options = planning_options(given);
    plan made;
    if (given.order == "model-ms") {
        using solver = plan_program::whole_program_solver;
        budget account({.time = 2 * given.program_time(), .seed = given.seed}, start);
        const order::model_ms<solver> steps{
            .options = {.limits = plan_program::model_limits(given.program_time())}};
        made = plan_program::plan_of_timesteps(graph, steps(graph, account), layout_policy,
                                               given.plan_alignment(), options.limits());
    } else if (given.paper_whole()) {
        roam::paper_report report;
        made = roam::paper(plan_program::small_part_solver{})(graph, options, start, &report);
        tree = std::move(report.tree);
    } else {
        made = roam::planner(plan_program::order_policies().at(given.order), layout_policy)(graph, options,
                                                                                            start);
    }
    return made.timesteps.empty()
               ? roam::in_streams(graph, std::move(made), given.streams, layout_policy, options)
               : made;
}

[[nodiscard]] planned plan_one(io::access_list program, const arguments& given) {
    planned result;
    result.program = std::move(program);
    const auto start = budget::clock::now();
    const tensor_graph& graph = result.program.graph;
    const auto layout_policy = plan_program::layout_policies().at(given.layout_name());
    result.made = make_plan(graph, layout_policy, given, start, result.tree);
    const verify::verdict verdict = verify::check_plan(graph, result.made);
    if (!verdict) throw std::logic_error("the plan was not verified: " + verdict.reason);

    const std::int64_t proven = result.made.arena.lower_bound;
    result.program_peak = peak_bytes(graph, program_order(graph));
    const std::int64_t alignment = given.compare_alignment(graph);
    const auto compare = [&](const std::string& name, const auto& rival_plan) {
        result.rivals.push_back(plan_program::rival_or_unknown(name, graph, rival_plan));
    };
    compare("pytorch", [&] { return plan_program::pytorch(graph, proven); });
    compare("lescea+llfb", [&] { return plan_program::lescea_llfb(graph, alignment, proven); });
    if (given.compare) {
        compare("lescea+llfb-fit", [&] { return plan_program::lescea_llfb_fit(graph, alignment, proven); });
        compare("xla-list", [&] { return plan_program::xla_list(graph, alignment, proven); });
        const plan_program::whole_program_solver solver;
        const auto time =
            std::min<std::chrono::nanoseconds>(given.program_time(), plan_program::compare_seconds);
        compare("model-ss", [&] { return plan_program::model_ss(solver, graph, alignment, proven, time); });
        compare("model-ms", [&] { return plan_program::model_ms(solver, graph, alignment, proven, time); });
        if (!given.paper_whole())
            compare("roam-paper", [&] { return plan_program::roam_paper(graph, alignment, proven); });
    }
    result.arena_for_comparison = arena_to_compare(graph, result.made, layout_policy, given);
    return result;
}

[[nodiscard]] std::string percent(double share, int digits) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.*f %%", digits, 100.0 * share);
    return text.data();
}

[[nodiscard]] std::string seconds_text(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f s", seconds);
    return text.data();
}

/// Share of `before` that is not needed any more.
[[nodiscard]] double saved(std::int64_t before, std::int64_t after) {
    return before <= 0 ? 0.0 : static_cast<double>(before - after) / static_cast<double>(before);
}

/// "-35.7 %": how much less `after` is than `before`.
[[nodiscard]] std::string change(std::int64_t before, std::int64_t after) {
    const std::string text = percent(saved(before, after), 1);
    if (text.front() == '-') return "+" + text.substr(1);
    return text == "0.0 %" ? text : "-" + text;
}

[[nodiscard]] ordered_json compare_json(const planned& result, const arguments& given) {
    ordered_json list = ordered_json::array();
    const auto add = [&](const std::string& name, std::int64_t arena, std::int64_t peak, double seconds,
                         status state) {
        list.push_back({{"planner", name},
                        {"arena_bytes", arena},
                        {"peak_bytes", peak},
                        {"seconds", seconds},
                        {"status", to_string(state)}});
    };
    for (const rival& other : result.rivals)
        add(other.planner, other.arena, other.peak, other.seconds, other.status);
    add(given.planner_name(), result.arena_for_comparison, result.made.peak.bytes, result.made.seconds.total,
        result.arena_for_comparison <= result.made.arena.lower_bound ? status::optimal : status::feasible);
    return list;
}

[[nodiscard]] io::plan_labels labels_of(const planned& result, const arguments& given) {
    io::plan_labels labels{.graph = result.program.name};
    labels.planner = {{"order", given.order},
                      {"layout", given.paper_whole() ? "subgraph tree" : given.layout_name()},
                      {"seed", given.seed}};
    if (given.streams > 1) labels.planner["streams"] = given.streams;
    if (given.states) labels.planner["states"] = *given.states;
    if (given.budget) labels.planner["budget_seconds"] = *given.budget;
    return labels;
}

[[nodiscard]] ordered_json summary_json(const planned& result, const arguments& given) {
    const bool whole = given.plan_file == "-";
    ordered_json summary = io::plan_json(result.made, labels_of(result, given),
                                         whole ? io::plan_parts::all : io::plan_parts::figures);
    summary["program_peak_bytes"] = result.program_peak;
    summary["pytorch_reserved_bytes"] = result.rivals[0].arena;
    if (given.compare) summary["compare"] = compare_json(result, given);
    return summary;
}

[[nodiscard]] io::picture picture_of(const planned& result) {
    const tensor_graph& graph = result.program.graph;
    const std::vector<operator_index> program = program_order(graph);
    const std::array<io::other_order, 2> others = {io::other_order{"program order", program},
                                                   io::other_order{"LESCEA", result.rivals[1].order}};
    io::picture shown = io::make_picture(graph, result.made, result.program.name, others);
    shown.levels = {{"lower bound", result.made.arena.lower_bound},
                    {"PyTorch's allocator reserves", result.rivals[0].arena}};
    const plan& made = result.made;
    if (made.timesteps.empty() && !result.tree.nodes.empty()) {
        shown.bands = io::bands_of(result.tree, layout::layout_problem_of(graph, made.order, made.alignment));
    }
    shown.figures = {
        {"operators", std::to_string(graph.operator_count())},
        {"buffers", std::to_string(graph.buffer_count())},
        {"stowage: arena", io::human_bytes(made.arena.bytes)},
        {"lower bound, any plan", io::human_bytes(made.arena.lower_bound)},
        {"gap to the bound", percent(made.arena.gap(), 3)},
        {"peak of the order", io::human_bytes(made.peak.bytes)},
        {"fragmentation", percent(made.fragmentation(), 3)},
        {"peak in program order", io::human_bytes(result.program_peak)},
        {"PyTorch reserves", io::human_bytes(result.rivals[0].arena)},
        {"LESCEA + LLFB", io::human_bytes(result.rivals[1].arena)},
        {"saved against PyTorch", percent(saved(result.rivals[0].arena, result.arena_for_comparison), 1)},
        {"saved against LESCEA + LLFB",
         percent(saved(result.rivals[1].arena, result.arena_for_comparison), 1)},
        {"persistent beside it", io::human_bytes(made.persistent_bytes)},
        {"bound proven by", made.witness.rule.empty() ? "none" : made.witness.rule},
        {"order by", made.order_by},
        {"layout by", made.layout_by},
        {"planned in", seconds_text(made.seconds.total)}};
    return shown;
}

/// Columns as wide as their widest cell; the first is flush left.
void print_table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> width(rows[0].size());
    for (const auto& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c)
            width[c] = std::max(width[c], row[c].size());
    }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string fill(width[c] - row[c].size(), ' ');
            line += c == 0 ? row[c] + fill : "  " + fill + row[c];
        }
        std::cout << line << "\n";
    }
}

[[nodiscard]] std::vector<std::string> table_head() {
    return {"program", "operators", "PyTorch",    "LESCEA+LLFB", "stowage", "bound",
            "gap",     "fragm.",    "vs PyTorch", "vs LESCEA",   "seconds", "status"};
}

[[nodiscard]] std::vector<std::string> table_row(const planned& result) {
    const plan& made = result.made;
    return {result.program.name,
            std::to_string(result.program.graph.operator_count()),
            io::human_bytes(result.rivals[0].arena),
            io::human_bytes(result.rivals[1].arena),
            io::human_bytes(made.arena.bytes),
            io::human_bytes(made.arena.lower_bound),
            percent(made.arena.gap(), 3),
            percent(made.fragmentation(), 3),
            change(result.rivals[0].arena, result.arena_for_comparison),
            change(result.rivals[1].arena, result.arena_for_comparison),
            seconds_text(made.seconds.total),
            std::string(to_string(made.status))};
}

void print_comparison(const planned& result, const arguments& given) {
    std::vector<std::vector<std::string>> rows = {
        {result.program.name, "arena", "peak", "fragm.", "gap", "seconds", "status"}};
    const std::int64_t proven = result.made.arena.lower_bound;
    for (const auto& entry : compare_json(result, given)) {
        const std::int64_t arena = entry["arena_bytes"];
        const std::int64_t peak = entry["peak_bytes"];
        rows.push_back(
            {entry["planner"], io::human_bytes(arena), io::human_bytes(peak), percent(saved(arena, peak), 3),
             percent(bounded_bytes{.bytes = arena, .lower_bound = proven}.gap(), 3),
             seconds_text(entry["seconds"]), entry["status"] == "unknown" ? "not solved" : entry["status"]});
    }
    std::cout << "\n";
    print_table(rows);
}

void print_text(const std::vector<planned>& results, const arguments& given) {
    std::vector<std::vector<std::string>> rows = {table_head()};
    for (const planned& result : results)
        rows.push_back(table_row(result));
    print_table(rows);
    if (given.compare) {
        for (const planned& result : results)
            print_comparison(result, given);
    }
    std::cout << "\nPyTorch: program order and the bytes that its caching allocator reserves. LESCEA+LLFB "
                 "and the two\n"
                 "savings: at alignment "
              << given.alignment.value_or(plan_program::pytorch_alignment)
              << (given.alignment ? "" : " (1 where buffers are pinned)")
              << ". stowage: the arena at alignment " << given.plan_alignment() << ".\n";
}

void print_json(const std::vector<planned>& results, const arguments& given) {
    if (results.size() == 1) {
        std::cout << io::json_text(summary_json(results[0], given));
        return;
    }
    ordered_json all = {{"plans", ordered_json::array()}};
    for (const planned& result : results)
        all["plans"].push_back(summary_json(result, given));
    std::cout << io::json_text(all);
}

/// Every file asked for, before the first becomes visible.
[[nodiscard]] std::vector<io::atomic_file> files_of(const std::vector<planned>& results,
                                                    const arguments& given) {
    std::vector<io::atomic_file> files;
    const auto prepare = [&](const std::string& path, const auto& text) {
        if (!path.empty()) files.emplace_back(path, text());
    };
    if (!(given.json && given.plan_file == "-")) {
        prepare(given.plan_file,
                [&] { return io::json_text(io::plan_json(results[0].made, labels_of(results[0], given))); });
    }
    prepare(given.dot_file,
            [&] { return io::dot_text(results[0].program.graph, {.name = results[0].program.name}); });
    prepare(given.proof_file, [&] {
        return io::json_text(
            io::proof_json(results[0].program.graph, results[0].made, results[0].program.name));
    });
    std::vector<io::picture> pictures;
    if (!given.svg_file.empty() || !given.html_file.empty()) {
        for (const planned& result : results)
            pictures.push_back(picture_of(result));
    }
    prepare(given.svg_file, [&] { return io::to_svg(pictures[0]); });
    prepare(given.html_file, [&] { return io::to_html(pictures); });
    return files;
}

[[nodiscard]] std::vector<planned> plan_all(const arguments& given) {
    std::vector<planned> results;
    const bool terminal = isatty(STDERR_FILENO) != 0;
    for (const std::string& path : given.programs) {
        if (terminal) {
            std::cerr << "\r\033[K[" << results.size() + 1 << "/" << given.programs.size() << "] " << path
                      << std::flush;
        }
        io::access_list program = io::read_access_list(path);  // its errors name the file
        try {
            results.push_back(plan_one(std::move(program), given));
        } catch (const stowage::error& error) {
            throw stowage::error(path + ": " + error.what());
        }
    }
    if (terminal) std::cerr << "\r\033[K";
    return results;
}

/// True if a file asked for is standard output, so that nothing else may be printed there.
[[nodiscard]] bool writes_output(const arguments& given) {
    for (const std::string* file :
         {&given.plan_file, &given.svg_file, &given.html_file, &given.dot_file, &given.proof_file}) {
        if (*file == "-") return true;
    }
    return false;
}

/// Options that name one file need one program, and no two the same file.
void check(const arguments& given) {
    const bool one_file = !given.plan_file.empty() || !given.svg_file.empty() || !given.dot_file.empty() ||
                          !given.proof_file.empty();
    if (given.programs.size() > 1 && one_file) {
        throw CLI::ValidationError("-o, --svg, --dot and --proof", "take one PROGRAM; --html takes several");
    }
    given.check_budget();
    // With --json, -o - adds the whole plan to that one object.
    const bool output_taken = given.json && given.plan_file != "-";
    examples::check_distinct({given.plan_file, given.svg_file, given.html_file, given.dot_file,
                              given.proof_file, output_taken ? "-" : ""});
}

void add_options(CLI::App& app, arguments& given) {
    std::vector<std::string> orders;
    for (const auto& [name, policy] : plan_program::order_policies())
        orders.push_back(name);
    orders.emplace_back("model-ms");
    std::vector<std::string> layouts;
    for (const auto& [name, policy] : plan_program::layout_policies())
        layouts.push_back(name);
    app.add_option("programs", given.programs, "programs (access-list/1, plain or .gz)")
        ->required()
        ->type_name("PROGRAM");
    app.add_option("-o", given.plan_file, "write the plan (plan/1); - is standard output")->type_name("PLAN");
    app.add_option("--html", given.html_file, "write the report")->type_name("FILE");
    app.add_option("--svg", given.svg_file, "write the picture")->type_name("FILE");
    app.add_option("--dot", given.dot_file, "write the graph for Graphviz")->type_name("FILE");
    app.add_option("--proof", given.proof_file, "write why no plan can need less (proof/1)")
        ->type_name("FILE");
    app.add_option("--order", given.order, "order policy")
        ->check(CLI::IsMember(orders))
        ->capture_default_str();
    app.add_option("--layout", given.layout, "layout policy (default portfolio; of roam-paper its own)")
        ->check(CLI::IsMember(layouts));
    app.add_option("--streams", given.streams, "operators that may run at once")
        ->check(examples::whole_number(1))
        ->capture_default_str();
    app.add_flag("--compare", given.compare, "compare with other planners");
    app.add_option("--alignment", given.alignment, "every offset is a multiple of this")
        ->transform(examples::positive_bytes())
        ->type_name("BYTES");
    given.add_to(app);
    app.add_flag("--json", given.json, "print one JSON object");
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Plans tensor programs: operator order and memory layout, with proof."};
    arguments given;
    given.default_states = roam::options{}.states;
    add_options(app, given);
    const auto parse = [&] {
        app.parse(argc, argv);
        check(given);
    };
    const auto work = [&] {
        const std::vector<planned> results = plan_all(given);
        examples::show(files_of(results, given), [&] {
            if (given.json)
                print_json(results, given);
            else if (!writes_output(given))
                print_text(results, given);
        });
        return 0;
    };
    return examples::run_program(app, "plan", "", parse, work);
}
