#pragma once
// Addresses on the host: every copy lives from the offload that makes it, or the start, to the last reload
// that reads it, or the end. The library's layout engine places them, as it does a device's buffers. Source:
// papers/turnip.md, pitfall 3: a host store that is allocated at run time can fail in the middle.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::turnip::detail {

/// What the host needs for a script.
struct host_plan {
    std::int64_t bytes = 0;  ///< its arena
    std::int64_t load = 0;   ///< the most that is there at one moment: no layout of this script needs less
};

/// Fills the host addresses of a script. `stays(buffer)`: its copy at the start must be intact at the end;
/// `returns(buffer)`: it must be at the end where it was at the start, in whatever version.
template <class Stays, class Returns>
[[nodiscard]] host_plan plan_host(script& script, const tensor_graph& program, std::int64_t alignment,
                                  std::int64_t capacity, const search_limits& limits, Stays stays,
                                  Returns returns) {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    const auto end = static_cast<std::int64_t>(script.lines.size()) + 1;  // the start is moment 0
    layout::problem problem;
    problem.alignment = alignment;
    std::vector<std::uint32_t> first(program.buffer_count(), none);  // the copy at the start
    std::vector<std::uint32_t> now(program.buffer_count(), none);
    std::vector<std::uint32_t> copy_of_line(script.lines.size(), none);
    const auto begin = [&](buffer_index b, std::int64_t moment) {
        now[b] = static_cast<std::uint32_t>(problem.buffers.size());
        problem.buffers.push_back({.lower = moment,
                                   .upper = moment + 1,
                                   .size = program.bytes(b),
                                   .alignment = program.alignment(b)});
        return now[b];
    };
    for (const residence& r : script.start) {
        if (r.memory == host) first[r.buffer] = begin(r.buffer, 0);
    }
    for (std::size_t k = 0; k < script.lines.size(); ++k) {
        const script_line& line = script.lines[k];
        const auto moment = static_cast<std::int64_t>(k) + 1;
        if (line.kind == vertex_kind::offload) copy_of_line[k] = begin(line.buffer, moment);
        if (line.kind != vertex_kind::reload) continue;
        copy_of_line[k] = now[line.buffer];
        problem.buffers[now[line.buffer]].upper = moment + 1;
    }
    for (const residence& r : script.start) {
        if (r.memory == host && stays(r.buffer)) problem.buffers[first[r.buffer]].upper = end + 1;
    }
    std::vector<std::uint32_t> joined(problem.buffers.size(), none);
    std::vector<std::uint32_t> copy_at_end(script.final.size(), none);
    for (std::size_t k = 0; k < script.final.size(); ++k) {
        const residence& r = script.final[k];
        if (r.memory != host) continue;
        const std::uint32_t last = now[r.buffer];
        copy_at_end[k] = last;
        problem.buffers[last].upper = end + 1;
        const std::uint32_t one = first[r.buffer];
        if (one == none || one == last || !returns(r.buffer)) continue;
        // One buffer with a gap, where the first copy has gone and the last is not there yet.
        layout::buffer& tied = problem.buffers[one];
        layout::buffer& other = problem.buffers[last];
        if (tied.upper < other.lower) tied.gaps.push_back({tied.upper, other.lower});
        tied.upper = other.upper;
        other.size = 0;
        joined[last] = one;
    }
    host_plan result;
    layout::offset_list offsets;
    if (capacity == std::numeric_limits<std::int64_t>::max()) {
        layout::solution found = layout::plan(problem, layout::best_fit{});
        result = {found.arena, found.load};
        offsets = std::move(found.offsets);
    } else {
        layout::capacity_answer found = layout::fit(problem, capacity, limits);
        result = {found.least_capacity, found.load};
        offsets = std::move(found.offsets);
    }
    const auto address = [&](std::uint32_t copy) {
        return offsets[joined[copy] == none ? copy : joined[copy]];
    };
    for (std::size_t k = 0; k < script.lines.size(); ++k) {
        if (copy_of_line[k] != none) script.lines[k].host_address = address(copy_of_line[k]);
    }
    for (residence& r : script.start) {
        if (r.memory == host) r.address = address(first[r.buffer]);
    }
    for (std::size_t k = 0; k < script.final.size(); ++k) {
        if (copy_at_end[k] != none) script.final[k].address = address(copy_at_end[k]);
    }
    return result;
}

}  // namespace stowage::turnip::detail
