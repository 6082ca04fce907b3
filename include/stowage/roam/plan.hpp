#pragma once
// The value that planning ends in: an operator order, an offset for every buffer, and what is proven of both.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/graph/program.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/status.hpp>

namespace stowage {

/// A figure in bytes beside the least that it could have been.
struct bounded_bytes {
    std::int64_t bytes = 0;        ///< what the plan needs
    std::int64_t lower_bound = 0;  ///< proven: no plan of the program needs less
    /// How far the figure may be above the optimum, as a share of the bound; 0 if proven optimal or if both
    /// are 0.
    [[nodiscard]] double gap() const noexcept {
        if (bytes <= lower_bound) return 0.0;
        return static_cast<double>(bytes - lower_bound) /
               static_cast<double>(lower_bound > 0 ? lower_bound : std::int64_t{1});
    }
};

/// Why no plan has a smaller arena than it claims where every offset is a multiple of a granule. Sizes are
/// counted: rounded up to the granule, and a granule less where rounding adds `threshold` bytes or more. In
/// every legal order some moment has more than `bytes` - granule counted bytes alive, so that no arena is
/// below `bytes` - threshold + 1 (roam/granule.hpp has the proof). With a granule of 1 this says that the
/// arena is at least the least peak.
struct arena_witness {
    std::int64_t granule = 1;      ///< every offset is a multiple of this
    std::int64_t threshold = 1;    ///< sizes that rounding raises by this or more count a granule less
    std::int64_t bytes = 0;        ///< a multiple of the granule; 0: nothing is claimed
    order::bound_witness by = {};  ///< why every order has such a moment
    /// The least arena that follows.
    [[nodiscard]] std::int64_t arena_bound() const noexcept { return bytes - threshold + 1; }
};

/// Wall-clock seconds that planning took, by part.
struct plan_seconds {
    double order = 0;   ///< order search and its bounds
    double layout = 0;  ///< layout search and its bounds
    double total = 0;   ///< everything, reading the user's graph included
};

/// An order and a layout of one program.
struct plan {
    std::vector<operator_index> order;  ///< operators in running order
    /// With several streams, which operators run at once, step by step: `order` in pieces, all that a piece's
    /// operators touch being alive together. Empty: one operator a step.
    std::vector<std::vector<operator_index>> timesteps;
    std::vector<std::int64_t> offsets;  ///< one a buffer; -1 for one that the plan does not place
    std::vector<std::int64_t>
        workspace_offsets;         ///< one an operator, -1 without workspace; empty where none has any
    std::int64_t alignment = 1;    ///< every offset is a multiple of this
    bounded_bytes peak;            ///< largest live bytes of a step of the order, workspace included
    bounded_bytes arena;           ///< largest offset + size: what the user allocates
    order::bound_witness witness;  ///< why peak.lower_bound holds
    stowage::arena_witness arena_witness = {};  ///< why arena.lower_bound holds, where alignment raises it
    std::int64_t persistent_bytes = 0;          ///< sum of persistent buffers, beside the arena
    stowage::status status = status::feasible;  ///< optimal if the arena meets its lower bound
    std::uint64_t fingerprint = 0;              ///< of the program that the plan is for
    std::string order_by;                       ///< policy that found the order
    std::string layout_by;                      ///< policy that found the layout
    plan_seconds seconds;                       ///< time spent

    /// Offset of a buffer of the program; -1 for one that the plan does not place. O(1).
    [[nodiscard]] std::int64_t offset(buffer_id buffer) const {
        return offsets.at(static_cast<std::size_t>(buffer));
    }
    /// Share of the arena that holds nothing at the peak: (arena - peak) / arena.
    [[nodiscard]] double fragmentation() const noexcept {
        if (arena.bytes <= 0) return 0.0;
        return static_cast<double>(arena.bytes - peak.bytes) / static_cast<double>(arena.bytes);
    }
};

}  // namespace stowage
