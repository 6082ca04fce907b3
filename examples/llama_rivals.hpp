#pragma once
// Other ways to run a program that does not fit, as memgraphs, so that any device runs them: one vertex at a
// time, and layer by layer with the next layer's weights copied in while one computes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace examples {

/// The same moves and operators, each after the one before: synchronous offload.
[[nodiscard]] inline stowage::turnip::memgraph one_at_a_time(stowage::turnip::memgraph graph) {
    graph.edges.clear();
    for (stowage::turnip::vertex_index v = 1; v < graph.vertices.size(); ++v)
        graph.edges.push_back({v - 1, v, stowage::turnip::edge_kind::control});
    return graph;
}

/// Layer streaming in the manner of ZeRO-Inference and FlexGen, on one device: the weights that no operator
/// writes are on the host, and are copied into one of two places while the layer before computes; everything
/// else stays on the device. `layer` is by operator, ascending.
class streamed_layers {
public:
    streamed_layers(const stowage::turnip::taskgraph& tasks, std::span<const std::uint32_t> layer,
                    std::int64_t alignment)
        : program_(tasks.program), layer_(layer), alignment_(alignment) {
        result_.fingerprint = program_.fingerprint();
        result_.alignment = alignment;
        result_.repeatable = true;
        streamed_.resize(program_.buffer_count());
        for (stowage::buffer_index b = 0; b < streamed_.size(); ++b)
            streamed_[b] =
                program_.kind(b) == stowage::buffer_kind::parameter && !tasks.is_written(b) ? 1 : 0;
        address_.resize(program_.buffer_count(), stowage::turnip::no_address);
        find_weights();
        place();
    }
    [[nodiscard]] stowage::turnip::memgraph graph() && {
        std::vector<stowage::turnip::vertex_index> last_of_visit;
        std::vector<std::vector<stowage::turnip::vertex_index>> reloads(weights_.size());
        stowage::operator_index op = 0;
        for (std::size_t visit = 0; visit < weights_.size(); ++visit) {
            for (std::size_t next = visit == 0 ? 0 : visit + 1; next < visit + 2; ++next) {
                if (next < weights_.size()) reload(next, last_of_visit, reloads[next]);
            }
            while (op < program_.operator_count() && visit_of_[op] == visit) {
                const auto v = add_operator(op, visit);
                if (op == 0 || visit_of_[op - 1] != visit) {
                    for (const auto r : reloads[visit])
                        result_.edges.push_back({r, v, stowage::turnip::edge_kind::control});
                }
                if (op > 0) result_.edges.push_back({last_operator_, v, stowage::turnip::edge_kind::control});
                last_operator_ = v;
                ++op;
            }
            last_of_visit.push_back(last_operator_);
        }
        return std::move(result_);
    }

private:
    struct lifetime {
        std::int64_t lower, upper, size, alignment;
    };
    struct weight {
        stowage::buffer_index buffer;
        std::int64_t address;  // in its visit's place
    };

    [[nodiscard]] std::int64_t whole(std::int64_t bytes) const {
        return (bytes + alignment_ - 1) / alignment_ * alignment_;
    }
    /// A visit is a run of operators of one layer; each needs its weights anew.
    void find_weights() {
        for (stowage::operator_index op = 0; op < program_.operator_count(); ++op) {
            if (op == 0 || layer_[op] != layer_[op - 1]) weights_.emplace_back();
            visit_of_.push_back(weights_.size() - 1);
            std::vector<weight>& here = weights_.back();
            for (const stowage::buffer_index b : program_.reads(op)) {
                const auto is_b = [b](const weight& w) { return w.buffer == b; };
                if (streamed_[b] == 0 || std::any_of(here.begin(), here.end(), is_b)) continue;
                const std::int64_t at =
                    here.empty() ? 0 : here.back().address + whole(program_.bytes(here.back().buffer));
                here.push_back({b, at});
                room_ = std::max(room_, at + whole(program_.bytes(b)));
            }
        }
    }
    void place() {
        const auto steps = static_cast<std::int64_t>(program_.operator_count());
        std::vector<stowage::operator_index> order(program_.operator_count());
        std::iota(order.begin(), order.end(), 0U);
        const std::vector<stowage::lifespan> lives = stowage::lifespans(program_, order);
        std::vector<lifetime> lifetimes = {{0, steps, room_, alignment_}, {0, steps, room_, alignment_}};
        std::vector<std::int64_t*> places = {&rooms_[0], &rooms_[1]};
        for (stowage::buffer_index b = 0; b < address_.size(); ++b) {
            const std::int64_t bytes = program_.bytes(b);
            const bool stays = is_persistent(program_.kind(b));
            if (streamed_[b] != 0) {
                result_.start.push_back({b, stowage::turnip::host, result_.host_bytes});
                address_[b] = result_.host_bytes;
                result_.host_bytes += whole(bytes);
            } else if (bytes > 0 && (stays || lives[b].planned())) {
                lifetimes.push_back({stays ? 0 : lives[b].first,
                                     stays ? steps : lives[b].last + std::int64_t{1}, bytes, alignment_});
                places.push_back(&address_[b]);
            }
        }
        workspaces_.resize(program_.operator_count(), stowage::turnip::no_address);
        for (std::int64_t op = 0; op < steps; ++op) {
            const auto index = static_cast<stowage::operator_index>(op);
            if (program_.workspace(index) == 0) continue;
            lifetimes.push_back({op, op + 1, program_.workspace(index), alignment_});
            places.push_back(&workspaces_[index]);
        }
        const auto made = stowage::layout::plan(stowage::layout::make_problem(lifetimes));
        for (std::size_t i = 0; i < places.size(); ++i)
            *places[i] = made.offsets[i];
        result_.arena_bytes = {made.arena};
        for (stowage::buffer_index b = 0; b < address_.size(); ++b) {
            if (streamed_[b] == 0 && is_alive_at_start(program_.kind(b)))
                result_.start.push_back({b, 0, address_[b]});
        }
        for (const auto& r : result_.start) {
            if (is_persistent(program_.kind(r.buffer))) result_.final.push_back(r);
        }
        for (stowage::buffer_index b = 0; b < address_.size(); ++b) {
            if (program_.kind(b) == stowage::buffer_kind::output)
                result_.final.push_back({b, 0, address_[b]});
        }
    }
    /// The weights of `visit`, into the place of the visit before the last.
    void reload(std::size_t visit, std::span<const stowage::turnip::vertex_index> last_of_visit,
                std::vector<stowage::turnip::vertex_index>& made) {
        for (const weight& w : weights_[visit]) {
            const stowage::turnip::operand there{w.buffer, 0, rooms_[visit % 2] + w.address};
            const auto v = result_.add(
                {.kind = stowage::turnip::vertex_kind::reload, .host_address = address_[w.buffer]}, {},
                std::span(&there, 1));
            if (visit >= 2)
                result_.edges.push_back({last_of_visit[visit - 2], v, stowage::turnip::edge_kind::control});
            made.push_back(v);
        }
    }
    [[nodiscard]] stowage::turnip::vertex_index add_operator(stowage::operator_index op, std::size_t visit) {
        const auto operands = [&](const auto& buffers) {
            std::vector<stowage::turnip::operand> result;
            for (const stowage::buffer_index b : buffers) {
                std::int64_t at = address_[b];
                if (streamed_[b] != 0) {
                    const auto& here = weights_[visit];
                    at = rooms_[visit % 2] + std::find_if(here.begin(), here.end(), [b](const weight& w) {
                                                 return w.buffer == b;
                                             })->address;
                }
                const stowage::turnip::operand there{b, 0, at};
                if (std::find(result.begin(), result.end(), there) == result.end()) result.push_back(there);
            }
            return result;
        };
        return result_.add({.op = op, .workspace_address = workspaces_[op]}, operands(program_.reads(op)),
                           operands(program_.writes(op)));
    }

    const stowage::tensor_graph& program_;
    std::span<const std::uint32_t> layer_;
    std::int64_t alignment_;
    stowage::turnip::memgraph result_;
    std::vector<std::uint8_t> streamed_;        // by buffer
    std::vector<std::int64_t> address_;         // by buffer: on the device, of a streamed one on the host
    std::vector<std::int64_t> workspaces_;      // by operator
    std::vector<std::size_t> visit_of_;         // by operator
    std::vector<std::vector<weight>> weights_;  // by visit
    std::int64_t room_ = 0;                     // bytes of a place
    std::int64_t rooms_[2] = {0, 0};            // places of weights, in turn
    stowage::turnip::vertex_index last_operator_ = 0;
};

}  // namespace examples
