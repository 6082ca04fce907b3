#pragma once
// Leaves out dependencies that others imply, while rows of predecessors are appended in program order: fewer
// edges for every planner, and the compact form stays compact where one operator gathers hundreds of results.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stowage::detail {

/// Finds, for a new operator, those of its predecessors that another of its predecessors already comes after.
/// The walk of one row is cut off after a number of steps that is linear in the row, so that all rows
/// together take linear time; what is not found in time stays, and does no harm.
template <class = void>
class basic_implied_edges {
public:
    explicit basic_implied_edges(std::size_t operators) : seen_(operators, none) {}

    /// Removes implied entries from the last row, values[begin...], ascending and distinct, of operator `op`;
    /// row(p) gives the predecessors of an earlier operator.
    template <class Row>
    void filter(std::vector<std::uint32_t>& values, std::size_t begin, std::uint32_t op, Row row) {
        const std::size_t count = values.size() - begin;
        if (count < 2) return;
        const std::uint32_t lowest = values[begin];
        std::size_t steps = steps_an_entry * count;
        std::size_t kept = values.size();
        for (std::size_t k = values.size(); k-- > begin;) {
            const std::uint32_t candidate = values[k];
            if (seen_[candidate] == op) continue;
            seen_[candidate] = op;
            values[--kept] = candidate;
            open_.assign(1, candidate);
            while (!open_.empty() && steps > 0) {
                const std::uint32_t at = open_.back();
                open_.pop_back();
                for (const std::uint32_t before : row(at)) {
                    if (steps > 0) --steps;
                    if (before < lowest || seen_[before] == op) continue;
                    seen_[before] = op;
                    open_.push_back(before);
                }
            }
        }
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(begin),
                     values.begin() + static_cast<std::ptrdiff_t>(kept));
    }

private:
    static constexpr std::size_t steps_an_entry = 16;
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> seen_;  // seen_[p] == op: p is known to come before op
    std::vector<std::uint32_t> open_;
};
using implied_edges = basic_implied_edges<>;

}  // namespace stowage::detail
