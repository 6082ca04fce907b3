#pragma once
// What a picture of a memgraph shows: for each device one picture, address x time, with every stay of a
// buffer as a rectangle and every move as a mark over the bytes that it reads or writes. io/svg.hpp and
// io/html.hpp draw it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/picture.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/simulation.hpp>

namespace stowage::io {

namespace detail {

/// Gathers the picture of one device.
class memgraph_painter {
public:
    memgraph_painter(const tensor_graph& program, const turnip::memgraph& graph, turnip::memory_index device)
        : program_(program), graph_(graph), device_(device) {}

    [[nodiscard]] picture paint(std::span<const turnip::vertex_index> order) {
        for (const turnip::residence& r : graph_.start) {
            if (r.memory == device_) arrive(r.buffer, r.address, 0, no_operator, stage::unknown);
        }
        for (const turnip::vertex_index v : order) {
            if (touches(v)) paint_vertex(v);
        }
        const auto last = static_cast<std::uint32_t>(std::max<std::size_t>(1, shown_.operators.size()) - 1);
        for (const turnip::residence& r : graph_.final) {
            const auto found = current_.find({r.buffer, r.address});
            if (r.memory == device_ && found != current_.end()) shown_.boxes[found->second].last = last;
        }
        finish();
        return std::move(shown_);
    }

private:
    using place = std::pair<buffer_index, std::int64_t>;

    [[nodiscard]] bool touches(turnip::vertex_index v) const {
        if (graph_.vertices[v].device == device_) return true;
        const auto reads = graph_.reads(v);
        return !reads.empty() && reads.front().device == device_;
    }
    [[nodiscard]] static std::string name_of(const subject& what, const char* word) {
        return what.name.empty() ? what.text(word) : what.name;
    }
    void arrive(buffer_index b, std::int64_t address, std::uint32_t step, std::uint32_t producer,
                stowage::stage made_in) {
        if (program_.bytes(b) == 0) return;
        current_[{b, address}] = shown_.boxes.size();
        picture_box box;
        box.name = name_of(program_.describe_buffer(b), "buffer");
        box.offset = address;
        box.bytes = program_.bytes(b);
        box.first = box.last = step;
        box.producer = producer;
        box.kind = to_string(program_.kind(b));
        box.stage = made_in;
        shown_.boxes.push_back(std::move(box));
    }
    void mark(std::string name, std::int64_t address, std::int64_t bytes, std::uint32_t step,
              std::string_view kind, stowage::stage made_in) {
        if (bytes == 0 || address < 0) return;
        picture_box box;
        box.name = std::move(name);
        box.offset = address;
        box.bytes = bytes;
        box.first = box.last = box.producer = step;
        box.kind = kind;
        box.stage = made_in;
        marks_.push_back(std::move(box));
    }
    void paint_vertex(turnip::vertex_index v) {
        const turnip::vertex& at = graph_.vertices[v];
        const auto step = static_cast<std::uint32_t>(shown_.operators.size());
        const bool moves = at.kind != turnip::vertex_kind::op;
        const stowage::stage stage = moves ? stage::unknown : program_.stage(at.op);
        const std::string kind(turnip::to_string(at.kind));
        shown_.operators.push_back(moves ? kind + " of " +
                                               name_of(program_.describe_buffer(graph_.moved(v)), "buffer")
                                         : name_of(program_.describe_operator(at.op), "operator"));
        shown_.stages.push_back(stage);
        const auto reads = graph_.reads(v);
        for (const turnip::operand& o : reads) {
            if (o.device != device_) continue;
            const auto found = current_.find({o.buffer, o.address});
            if (found != current_.end()) shown_.boxes[found->second].last = step;
        }
        for (const turnip::operand& o : graph_.writes(v)) {
            if (o.device != device_) continue;
            const bool in_place = std::any_of(reads.begin(), reads.end(), [&](const turnip::operand& r) {
                return !moves && r.buffer == o.buffer;
            });
            if (!in_place) arrive(o.buffer, o.address, step, step, stage);
        }
        if (moves) {
            for (const auto list : {reads, graph_.writes(v)}) {
                for (const turnip::operand& o : list) {
                    if (o.device != device_) continue;
                    mark(shown_.operators.back(), o.address, program_.bytes(o.buffer), step, kind, stage);
                }
            }
        } else if (program_.workspace(at.op) > 0) {
            mark("workspace of " + shown_.operators.back(), at.workspace_address, program_.workspace(at.op),
                 step, "workspace", stage);
        }
    }
    void finish() {
        shown_.steps_are = "operators and moves";
        shown_.arena_bytes = graph_.arena_bytes[device_];
        std::vector<std::uint64_t> change(shown_.operators.size() + 1,
                                          0);  // wraps on the way, not in the sums
        const auto count = [&](const picture_box& box) {
            if (shown_.operators.empty()) return;
            change[box.first] += static_cast<std::uint64_t>(box.bytes);
            change[box.last + 1] -= static_cast<std::uint64_t>(box.bytes);
        };
        for (const picture_box& box : shown_.boxes)
            count(box);
        for (picture_box& box : marks_) {
            if (box.kind == "workspace") count(box);
            shown_.boxes.push_back(std::move(box));
        }
        std::stable_sort(shown_.boxes.begin(), shown_.boxes.end(),
                         [](const picture_box& a, const picture_box& b) {
                             return std::pair(a.first, a.offset) < std::pair(b.first, b.offset);
                         });
        std::vector<std::int64_t> live;
        std::uint64_t sum = 0;
        for (std::size_t t = 0; t < shown_.operators.size(); ++t) {
            sum += change[t];
            live.push_back(static_cast<std::int64_t>(sum));
        }
        if (!live.empty()) {
            shown_.peak_step =
                static_cast<std::uint32_t>(std::max_element(live.begin(), live.end()) - live.begin());
        }
        shown_.curves.push_back({"bytes that hold contents", std::move(live)});
        for (std::uint32_t i = 0; i < shown_.boxes.size(); ++i) {
            const picture_box& box = shown_.boxes[i];
            if (box.first <= shown_.peak_step && shown_.peak_step <= box.last)
                shown_.alive_at_peak.push_back(i);
        }
        std::stable_sort(
            shown_.alive_at_peak.begin(), shown_.alive_at_peak.end(),
            [&](std::uint32_t a, std::uint32_t b) { return shown_.boxes[a].bytes > shown_.boxes[b].bytes; });
    }

    const tensor_graph& program_;
    const turnip::memgraph& graph_;
    turnip::memory_index device_;
    std::map<place, std::size_t> current_;  // the box of what is there
    std::vector<picture_box> marks_;
    picture shown_;
};

/// One picture a device of a memgraph of which vertex v begins at began(v); those that begin together, in the
/// memgraph's own order.
template <class Began>
[[nodiscard]] std::vector<picture> paint_devices(const tensor_graph& program, const turnip::memgraph& graph,
                                                 const std::string& title, const Began& began) {
    std::vector<turnip::vertex_index> order(graph.vertices.size());
    std::iota(order.begin(), order.end(), turnip::vertex_index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](turnip::vertex_index a, turnip::vertex_index b) { return began(a) < began(b); });
    std::vector<picture> pictures;
    for (turnip::memory_index d = 0; d < graph.arena_bytes.size(); ++d) {
        pictures.push_back(detail::memgraph_painter(program, graph, d).paint(order));
        picture& shown = pictures.back();
        shown.title = graph.arena_bytes.size() == 1 ? title : title + ", device " + std::to_string(d);
        std::int64_t offloaded = 0;
        std::int64_t reloaded = 0;
        std::int64_t transferred = 0;
        for (turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
            const turnip::vertex& at = graph.vertices[v];
            if (at.kind == turnip::vertex_kind::op || at.device != d) continue;
            (at.kind == turnip::vertex_kind::offload  ? offloaded
             : at.kind == turnip::vertex_kind::reload ? reloaded
                                                      : transferred) += program.bytes(graph.moved(v));
        }
        shown.figures = {{"offloaded to the host", human_bytes(offloaded)},
                         {"reloaded from the host", human_bytes(reloaded)}};
        if (transferred > 0) shown.figures.emplace_back("transferred to it", human_bytes(transferred));
    }
    return pictures;
}

}  // namespace detail

/// One picture a device, in the order of their indices, of a right memgraph of `program`. Time is the order
/// in which the vertices begin in `run`, a run of this memgraph; without one, the memgraph's own order.
/// Status, levels and figures are left to the caller, but for the bytes moved. O(n log n).
template <class = void>
[[nodiscard]] std::vector<picture> make_pictures(const tensor_graph& program, const turnip::memgraph& graph,
                                                 const std::string& title,
                                                 const turnip::simulation* run = nullptr) {
    return detail::paint_devices(program, graph, title, [&](turnip::vertex_index v) {
        return run != nullptr ? run->runs[v].begin : 0.0;
    });
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::vector<picture> make_pictures(const tensor_graph&, const turnip::memgraph&,
                                                              const std::string&, const turnip::simulation*);
#endif

}  // namespace stowage::io
