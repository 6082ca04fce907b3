#pragma once
// A segment as a program of its own, with its boundary: what enters with uses left is `donated`, what leaves
// is `output`, what passes through is a constant that is added to every live sum. Then an order of the small
// program has, operator for operator, the live bytes that it has in the whole. Source: ROAM, equations 1 to
// 3, which are exact only with the boundary (docs/from-the-paper-to-the-code.md).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/graph/program.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/roam/segments.hpp>

namespace stowage::roam {

/// One segment, ready for any order policy.
struct segment_program {
    tensor_graph graph;                     ///< operator k of it is operators[k] of the whole program
    std::vector<operator_index> operators;  ///< ascending
    std::int64_t passing_bytes = 0;         ///< alive from before the segment to after it
    std::int64_t entering_bytes = 0;        ///< alive before it, and last used in it
    std::int64_t leaving_bytes = 0;         ///< born in it, and used after it or an output

    /// An order of the small program in operators of the whole. O(operators).
    template <class = void>
    [[nodiscard]] std::vector<operator_index> in_whole(const std::vector<operator_index>& order) const {
        std::vector<operator_index> result;
        result.reserve(order.size());
        for (const operator_index op : order)
            result.push_back(operators[op]);
        return result;
    }
};

/// Makes the segments of one program into programs. Keeps references to both; may be used by several threads
/// at once.
template <class = void>
class basic_segment_programs {
public:
    /// O(operators + accesses + segments). Throws program_error, naming the operator, unless each one stands
    /// in one segment and none depends on a later segment's.
    basic_segment_programs(const tensor_graph& graph, const segmentation& segmentation)
        : graph_(&graph), segments_(&segmentation) {
        check();
        passing_.assign(segmentation.segments.size() + 1, 0);
        first_.assign(graph.buffer_count(), 0);
        last_.assign(graph.buffer_count(), 0);
        const auto end = static_cast<std::int64_t>(segmentation.segments.size());
        for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
            if (!graph.is_planned(b)) continue;
            std::int64_t first = end;
            std::int64_t last = -1;
            for (const operator_index op : graph.users(b)) {
                first = std::min(first, std::int64_t{segment_of_[op]});
                last = std::max(last, std::int64_t{segment_of_[op]});
            }
            if (graph.kind(b) == buffer_kind::donated) first = -1;
            if (graph.kind(b) == buffer_kind::output) last = end;
            first_[b] = first;
            last_[b] = last;
            if (last - first < 2) continue;
            passing_[static_cast<std::size_t>(first + 1)] += graph.bytes(b);
            passing_[static_cast<std::size_t>(last)] -= graph.bytes(b);
        }
        for (std::size_t i = 1; i < passing_.size(); ++i)
            passing_[i] += passing_[i - 1];
    }

    /// Number of segments.
    [[nodiscard]] std::size_t size() const noexcept { return segments_->segments.size(); }
    /// Segment `index` as a program. Operators keep their names, stages, work and workspaces; buffers their
    /// names and sizes. O(its operators, accesses and dependencies, and their logarithm).
    [[nodiscard]] segment_program operator[](std::size_t index) const {
        segment_program result;
        result.operators = segments_->segments[index].operators;
        result.passing_bytes = passing_[index];
        const auto here = static_cast<std::int64_t>(index);
        std::vector<buffer_index> used;
        for (const operator_index op : result.operators) {
            for (const buffer_index b : graph_->accesses(op)) {
                if (takes_part(b, here)) used.push_back(b);
            }
        }
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        program part;
        for (const buffer_index b : used) {
            buffer_kind kind = buffer_kind::intermediate;
            if (first_[b] < here) kind = buffer_kind::donated;
            if (last_[b] > here) kind = buffer_kind::output;
            if (kind == buffer_kind::donated) result.entering_bytes += graph_->bytes(b);
            if (kind == buffer_kind::output) result.leaving_bytes += graph_->bytes(b);
            part.add_buffer(
                {.bytes = graph_->bytes(b), .kind = kind, .name = std::string(graph_->buffer_name(b))});
        }
        const auto listed = [&](std::span<const buffer_index> accesses) {
            std::vector<buffer_id> ids;
            for (const buffer_index b : accesses) {
                if (takes_part(b, here)) ids.push_back(buffer_id{place(used, b)});
            }
            return ids;
        };
        for (const operator_index op : result.operators) {
            operator_options made{.name = std::string(graph_->operator_name(op)),
                                  .reads = listed(graph_->reads(op)),
                                  .writes = listed(graph_->writes(op)),
                                  .workspace = graph_->workspace(op),
                                  .stage = graph_->stage(op),
                                  .flops = graph_->flops(op),
                                  .seconds = graph_->seconds(op)};
            for (const operator_index p : graph_->predecessors(op)) {
                if (segment_of_[p] == index) made.after.push_back(operator_id{place(result.operators, p)});
            }
            part.add_operator(std::move(made));
        }
        result.graph = make_tensor_graph(part);
        return result;
    }

private:
    void check() {
        std::vector<bool> seen(graph_->operator_count(), false);
        std::size_t count = 0;
        for (const segment& part : segments_->segments) {
            for (const operator_index op : part.operators) {
                if (op >= seen.size()) throw program_error("a segment names an operator too many", {op, {}});
                if (seen[op]) throw program_error("it stands in two segments", graph_->describe_operator(op));
                seen[op] = true;
                ++count;
            }
        }
        for (operator_index op = 0; count < seen.size() && op < seen.size(); ++op) {
            if (!seen[op]) throw program_error("it is in no segment", graph_->describe_operator(op));
        }
        segment_of_ = segments_->segment_of();
        for (operator_index op = 0; op < seen.size(); ++op) {
            for (const operator_index p : graph_->predecessors(op)) {
                if (segment_of_[p] > segment_of_[op])
                    throw program_error("it depends on a later segment", graph_->describe_operator(op));
            }
        }
    }
    /// True if the buffer is born or dies in segment `here`; what passes through is a constant there.
    [[nodiscard]] bool takes_part(buffer_index b, std::int64_t here) const {
        return graph_->is_planned(b) && graph_->bytes(b) > 0 && (first_[b] == here || last_[b] == here);
    }
    [[nodiscard]] static std::uint32_t place(const std::vector<std::uint32_t>& sorted, std::uint32_t value) {
        return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                          sorted.begin());
    }
    const tensor_graph* graph_;
    const segmentation* segments_;
    std::vector<std::uint32_t> segment_of_;
    std::vector<std::int64_t> passing_;
    std::vector<std::int64_t> first_;  // segment of the first use; -1: alive at the start
    std::vector<std::int64_t> last_;   // segment of the last use; the number of segments: alive at the end
};
using segment_programs = basic_segment_programs<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_segment_programs<>;
#endif

}  // namespace stowage::roam
