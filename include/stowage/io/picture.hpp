#pragma once
// What a picture of a plan shows, as a plain value: live bytes over time for several orders, every buffer as
// a rectangle time x address, the operator of the peak and what is alive there. io/svg.hpp and io/html.hpp
// draw it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/roam/plan.hpp>

namespace stowage::io {

/// Live bytes at each step of one order.
struct picture_curve {
    std::string label;               ///< e.g. "program order"
    std::vector<std::int64_t> live;  ///< bytes alive while each step runs, workspace included
};

/// A level to compare with: a horizontal line.
struct picture_level {
    std::string label;       ///< e.g. "lower bound"
    std::int64_t bytes = 0;  ///< its height
};

/// One buffer, or one workspace, in the plan.
struct picture_box {
    std::string name;         ///< the user's name, or "buffer 7"
    std::int64_t offset = 0;  ///< first byte
    std::int64_t bytes = 0;   ///< size
    std::uint32_t first = 0;  ///< first step at which it is alive
    std::uint32_t last = 0;   ///< last step at which it is alive, included
    std::uint32_t producer =
        no_operator;   ///< step of the operator that makes it; no_operator: there from the start
    std::string kind;  ///< "intermediate", "output", "donated" or "workspace"
    stowage::stage stage = stage::unknown;  ///< part of the training step of its producer
};

/// One unit of work of a run.
struct picture_bar {
    std::string name;        ///< the operator's, or the move's
    std::string kind;        ///< "op", "offload", "reload" or "transfer"
    std::int64_t begin = 0;  ///< nanoseconds since the run began
    std::int64_t end = 0;    ///< nanoseconds since the run began
    std::int64_t bytes = 0;  ///< of a move: how many, of its whole vertex
};

/// What one lane did in a run.
struct picture_lane {
    std::string name;                                        ///< "d0.compute"
    std::vector<picture_bar> bars;                           ///< as they began
    std::int64_t busy = 0;                                   ///< nanoseconds with work under way
    std::int64_t bytes = 0;                                  ///< copied through it
    std::vector<std::pair<std::string, std::int64_t>> idle;  ///< cause and nanoseconds without work
};

/// A part of the program, shown as a band under the time axis.
struct picture_band {
    std::string name;                                          ///< "IG 1"
    std::string text;                                          ///< what else there is to say of it
    std::uint32_t row = 0;                                     ///< 0 is the topmost
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;  ///< its steps [first, second)
};

/// One program with its plan, ready to be drawn.
struct picture {
    std::string title;                                         ///< name of the program
    std::string steps_are = "operators";                       ///< what its steps are, in the plural
    std::string status;                                        ///< "optimal" or "feasible"
    std::vector<std::string> operators;                        ///< names, by step of the plan
    std::vector<stowage::stage> stages;                        ///< by step of the plan
    std::vector<picture_curve> curves;                         ///< the last one is the plan's own
    std::vector<picture_level> levels;                         ///< lines across the curves
    std::vector<picture_box> boxes;                            ///< by birth, then by offset
    std::vector<picture_band> bands;                           ///< parts of the program; none: not shown
    std::int64_t arena_bytes = 0;                              ///< height of the address axis
    std::uint32_t peak_step = 0;                               ///< step with the most live bytes
    std::vector<std::pair<std::string, std::string>> figures;  ///< label and text, in the order to show
    /// Boxes alive at the peak, as positions in `boxes`, largest first.
    std::vector<std::uint32_t> alive_at_peak;
    std::vector<picture_lane> lanes;  ///< of a run of it, shown beside it; empty: none was made
    std::int64_t makespan = 0;        ///< of that run, nanoseconds
};

/// Another order to show beside the plan's.
struct other_order {
    std::string label;                      ///< name of the curve
    std::span<const operator_index> order;  ///< a permutation of the operators
};

namespace detail {

template <class = void>
[[nodiscard]] std::vector<picture_box> boxes_of(const tensor_graph& graph, const plan& plan) {
    const std::vector<lifespan> lives = lifespans(graph, plan.order);
    const std::vector<std::uint32_t> step = steps_of(graph, plan.order);
    std::vector<picture_box> boxes;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!lives[b].planned() || plan.offsets[b] < 0 || graph.bytes(b) == 0) continue;
        picture_box box;
        box.name =
            graph.buffer_name(b).empty() ? graph.describe_buffer(b).text("buffer") : graph.buffer_name(b);
        box.offset = plan.offsets[b];
        box.bytes = graph.bytes(b);
        box.first = lives[b].first;
        box.last = lives[b].last;
        box.kind = to_string(graph.kind(b));
        if (graph.producer(b) != no_operator) {
            box.producer = step[graph.producer(b)];
            box.stage = graph.stage(graph.producer(b));
        }
        boxes.push_back(std::move(box));
    }
    for (operator_index op = 0; op < plan.workspace_offsets.size(); ++op) {
        if (plan.workspace_offsets[op] < 0 || graph.workspace(op) == 0) continue;
        picture_box box;
        box.name = "workspace of " + graph.describe_operator(op).text("operator");
        box.offset = plan.workspace_offsets[op];
        box.bytes = graph.workspace(op);
        box.first = box.last = box.producer = step[op];
        box.kind = "workspace";
        box.stage = graph.stage(op);
        boxes.push_back(std::move(box));
    }
    std::stable_sort(boxes.begin(), boxes.end(), [](const picture_box& a, const picture_box& b) {
        return std::pair(a.first, a.offset) < std::pair(b.first, b.offset);
    });
    return boxes;
}

}  // namespace detail

/// Gathers what a picture shows: curves of `others` and then of the plan, the plan's boxes and its peak.
/// Levels and figures are left to the caller. O(accesses + n log n) and O(n) for each other order. Throws
/// program_error if an order or the plan is not of this graph.
template <class = void>
[[nodiscard]] picture make_picture(const tensor_graph& graph, const plan& plan, std::string title,
                                   std::span<const other_order> others = {}) {
    if (plan.offsets.size() != graph.buffer_count())
        throw program_error("the plan is of another program", {});
    picture result;
    result.title = std::move(title);
    result.status = to_string(plan.status);
    result.arena_bytes = plan.arena.bytes;
    for (const other_order& other : others)
        result.curves.push_back({other.label, live_bytes(graph, other.order)});
    result.curves.push_back({"the plan", live_bytes(graph, plan.order)});
    for (const operator_index op : plan.order) {
        result.operators.emplace_back(graph.operator_name(op).empty()
                                          ? graph.describe_operator(op).text("operator")
                                          : std::string(graph.operator_name(op)));
        result.stages.push_back(graph.stage(op));
    }
    result.boxes = detail::boxes_of(graph, plan);
    const std::vector<std::int64_t>& live = result.curves.back().live;
    result.peak_step = static_cast<std::uint32_t>(std::max_element(live.begin(), live.end()) - live.begin());
    for (std::uint32_t i = 0; i < result.boxes.size(); ++i) {
        const picture_box& box = result.boxes[i];
        if (box.first <= result.peak_step && result.peak_step <= box.last) result.alive_at_peak.push_back(i);
    }
    std::stable_sort(
        result.alive_at_peak.begin(), result.alive_at_peak.end(),
        [&](std::uint32_t a, std::uint32_t b) { return result.boxes[a].bytes > result.boxes[b].bytes; });
    return result;
}

/// Bytes as people read them: "512 B", "1.50 MiB", "93.78 GiB".
template <class = void>
[[nodiscard]] std::string human_bytes(std::int64_t bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < std::size(units)) {
        value /= 1024.0;
        ++unit;
    }
    if (unit == 0) return std::to_string(bytes) + " B";
    const auto hundredths = static_cast<std::int64_t>(value * 100.0);
    std::string text = std::to_string(hundredths / 100) + ".";
    if (hundredths % 100 < 10) text += "0";
    return text + std::to_string(hundredths % 100) + " " + units[unit];
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template picture make_picture(const tensor_graph&, const plan&, std::string,
                                                std::span<const other_order>);
#endif

}  // namespace stowage::io
