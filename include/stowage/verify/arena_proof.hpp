#pragma once
// Checks why no arena can be smaller than a plan claims where every offset is a multiple of a granule
// (docs/proofs.md, "Alignment"): sizes are counted anew here, and in those sizes the claim is one about
// peaks, which a cut or the steps of a search show.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/proof.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/verify/order_proof.hpp>
#include <stowage/verify/proof.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

namespace detail {

/// True if every offset that is a multiple of both alignments is one of `granule`.
template <class = void>
[[nodiscard]] bool is_multiple(std::int64_t alignment, std::int64_t own, std::int64_t granule) {
    if (alignment % granule == 0 || own % granule == 0) return true;
    std::int64_t both = 0;
    return !__builtin_mul_overflow(alignment / std::gcd(alignment, own), own, &both) && both % granule == 0;
}

/// The program in counted sizes; nothing where they cannot be summed.
template <class = void>
[[nodiscard]] std::optional<tensor_graph> in_counted_sizes(const tensor_graph& graph,
                                                           const arena_witness& claim) {
    std::int64_t left = std::numeric_limits<std::int64_t>::max();
    const auto counted = [&](std::int64_t size) {
        const std::int64_t over = size % claim.granule;
        if (over == 0) return size;
        const std::int64_t down = size - over;
        if (claim.granule - over >= claim.threshold) return down;
        return down > left - claim.granule ? std::int64_t{-1} : down + claim.granule;
    };
    std::vector<std::int64_t> bytes;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        bytes.push_back(graph.bytes(b));
        if (!graph.is_planned(b)) continue;
        bytes.back() = counted(graph.bytes(b));
        if (bytes.back() < 0 || bytes.back() > left) return std::nullopt;
        left -= bytes.back();
    }
    std::vector<std::int64_t> workspace;
    for (operator_index op = 0; graph.has_workspace() && op < graph.operator_count(); ++op) {
        workspace.push_back(counted(graph.workspace(op)));
        if (workspace.back() < 0 || workspace.back() > left) return std::nullopt;
    }
    return graph.with_sizes(std::move(bytes), std::move(workspace));
}

/// A no if the claim makes no sense of plans of this alignment.
template <class = void>
[[nodiscard]] verdict check_granule(const tensor_graph& graph, std::int64_t alignment,
                                    const arena_witness& claim) {
    if (alignment <= 0 || claim.granule <= 0 || claim.threshold <= 0 || claim.threshold > claim.granule ||
        claim.bytes <= 0 || claim.bytes % claim.granule != 0) {
        return refuse("the figures of the claim do not go together");
    }
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b) || graph.bytes(b) == 0) continue;
        if (!is_multiple(alignment, graph.alignment(b), claim.granule)) {
            const subject buffer = graph.describe_buffer(b);
            verdict bad = refuse(buffer.text("buffer") + ": its offset may be no multiple of the granule " +
                                 std::to_string(claim.granule));
            bad.buffers = {buffer};
            return bad;
        }
    }
    if (graph.has_workspace() && alignment % claim.granule != 0)
        return refuse("offsets of workspaces may be no multiples of the granule");
    return {};
}

}  // namespace detail

/// Checks that no plan of `graph` whose offsets are multiples of `alignment` has an arena below
/// claim.arena_bound(): by the cut at the claim's operator, or by `proof` if one is given, both in counted
/// sizes. Time as check_certificate or check_order_proof.
template <class = void>
[[nodiscard]] verdict check_arena_witness(const tensor_graph& graph, std::int64_t alignment,
                                          const arena_witness& claim,
                                          const order::order_proof* proof = nullptr) {
    verdict found = detail::check_granule(graph, alignment, claim);
    if (!found) return found;
    const std::optional<tensor_graph> counted = detail::in_counted_sizes(graph, claim);
    if (!counted) return detail::refuse("the counted sizes pass 2^63 - 1");
    const std::int64_t most = claim.bytes - claim.granule;
    if (proof == nullptr) return check_certificate(*counted, {.bytes = most + 1, .at = claim.by.at});
    if (proof->bound != most) return detail::refuse("the proof is of another bound");
    return check_order_proof(*counted, *proof);
}

/// Checks that no arena can be below `bytes` since a buffer that is part of the plan is pinned so far up.
template <class = void>
[[nodiscard]] verdict check_pinned_end(const tensor_graph& graph, buffer_index buffer, std::int64_t bytes) {
    if (buffer >= graph.buffer_count()) return detail::refuse("the proof names no buffer of the program");
    const std::optional<std::int64_t> pin = graph.pinned_offset(buffer);
    const bool placed = graph.is_planned(buffer) && graph.bytes(buffer) > 0;
    if (placed && pin && *pin >= bytes - graph.bytes(buffer)) return {};
    const subject named = graph.describe_buffer(buffer);
    verdict bad = detail::refuse(named.text("buffer") + " is not pinned so that it ends at " +
                                 std::to_string(bytes) + " or above");
    bad.buffers = {named};
    return bad;
}

}  // namespace stowage::verify
