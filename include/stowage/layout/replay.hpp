#pragma once
// What an arena replays: the buffers of a plan under their names, with size, place and alignment, and the
// sequence in which they are born. Made once from a plan; the arenas hand out memory by it, run after run.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/program.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// A request that an arena cannot serve: not planned, allocated already, on bytes that are still held, not
/// aligned, beyond the block.
class arena_error : public error {
public:
    /// `rule` says in words what is wrong; subjects that do not apply stay empty.
    explicit arena_error(std::string rule, subject buffer = {}, subject other = {})
        : error(make_text(rule, buffer, other)), rule_(std::move(rule)), buffer_(std::move(buffer)),
          other_(std::move(other)) {}
    /// What is wrong, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The buffer concerned; index `no_index` if none.
    [[nodiscard]] const subject& buffer_concerned() const noexcept { return buffer_; }
    /// The buffer that holds the bytes; index `no_index` if none.
    [[nodiscard]] const subject& other_concerned() const noexcept { return other_; }

private:
    static std::string make_text(const std::string& rule, const subject& buffer, const subject& other) {
        std::string text = rule;
        if (buffer.index != no_index || !buffer.name.empty()) text = buffer.text("buffer") + ": " + text;
        if (other.index != no_index || !other.name.empty()) text += " " + other.text("buffer");
        return text;
    }
    std::string rule_;
    subject buffer_;
    subject other_;
};

/// The allocations of a plan. Immutable; may be read by any number of threads. A slot is a buffer of the
/// problem, under its index.
class replay {
public:
    /// Nothing is planned.
    replay() = default;

    /// Every buffer of `problem` with a lifetime, at `offsets` (one a buffer). A buffer with gaps is born
    /// again after each. O(n log n). Throws arena_error naming the buffer if an offset is negative or its end
    /// passes 2^63 - 1, or if the problem has several pools: an arena is one block.
    replay(const problem& problem, std::span<const std::int64_t> offsets)
        : alignment_(problem.alignment), names_(problem.names) {
        if (problem.capacities.size() > 1)
            throw arena_error("an arena is one block, the problem has several pools");
        if (offsets.size() != problem.buffers.size()) {
            throw arena_error(std::to_string(offsets.size()) + " offsets for " +
                              std::to_string(problem.buffers.size()) + " buffers");
        }
        slots_.reserve(offsets.size());
        struct birth {
            std::int64_t time;
            std::uint32_t slot;
        };
        std::vector<birth> births;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const buffer& b = problem.buffers[i];
            const bool planned = b.lower < b.upper;
            slots_.push_back({planned ? offsets[i] : -1, b.takes_part() ? b.size : 0, b.alignment});
            if (!planned) continue;
            if (offsets[i] < 0) throw arena_error("it has no offset", describe(i));
            if (!b.takes_part()) continue;
            if (offsets[i] > std::numeric_limits<std::int64_t>::max() - b.size) {
                throw arena_error("its end passes 2^63 - 1", describe(i));
            }
            arena_bytes_ = std::max(arena_bytes_, offsets[i] + b.size);
            std::int64_t from = b.lower;
            for (const interval& gap : b.gaps) {
                if (from < gap.lower) births.push_back({from, static_cast<std::uint32_t>(i)});
                from = gap.upper;
            }
            if (from < b.upper) births.push_back({from, static_cast<std::uint32_t>(i)});
        }
        std::sort(births.begin(), births.end(), [](const birth& a, const birth& b) {
            return a.time != b.time ? a.time < b.time : a.slot < b.slot;
        });
        sequence_.reserve(births.size());
        for (const birth& b : births)
            sequence_.push_back(b.slot);
        by_name_.resize(names_.size());
        std::iota(by_name_.begin(), by_name_.end(), std::uint32_t{0});
        std::sort(by_name_.begin(), by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return names_[a] != names_[b] ? names_[a] < names_[b] : a < b;
        });
    }

    /// Buffers and workspaces of an order, at `offsets` (one an item of `made`). As above.
    replay(const order_layout& made, std::span<const std::int64_t> offsets) : replay(made.problem, offsets) {
        workspace_slot_ = made.workspace_item;
    }

    /// Number of slots, planned or not.
    [[nodiscard]] std::size_t slot_count() const noexcept { return slots_.size(); }
    /// True if the slot has a place.
    template <class = void>
    [[nodiscard]] bool is_planned(std::size_t slot) const noexcept {
        return slot < slots_.size() && slots_[slot].offset >= 0;
    }
    /// Bytes of a slot.
    [[nodiscard]] std::int64_t size(std::size_t slot) const noexcept { return slots_[slot].size; }
    /// Planned offset of a slot; -1 if it is not planned.
    [[nodiscard]] std::int64_t offset(std::size_t slot) const noexcept { return slots_[slot].offset; }
    /// Its address is a multiple of this, beside alignment().
    [[nodiscard]] std::int64_t alignment(std::size_t slot) const noexcept { return slots_[slot].alignment; }
    /// Every address is a multiple of this.
    [[nodiscard]] std::int64_t alignment() const noexcept { return alignment_; }
    /// Largest offset + size: the least block that does.
    [[nodiscard]] std::int64_t arena_bytes() const noexcept { return arena_bytes_; }
    /// Slots with bytes in the order of their births; those of one moment by index.
    [[nodiscard]] std::span<const std::uint32_t> sequence() const noexcept { return sequence_; }
    /// Index and name of a slot, for errors.
    template <class = void>
    [[nodiscard]] subject describe(std::size_t slot) const {
        return {slot, slot < names_.size() ? names_[slot] : std::string{}};
    }

    /// The slot of that index. This and the following throw arena_error naming what is not planned.
    template <class = void>
    [[nodiscard]] std::size_t slot_of(std::size_t index) const {
        if (!is_planned(index)) throw arena_error("it is not part of the plan", describe(index));
        return index;
    }
    /// The slot of a buffer of the program.
    template <class = void>
    [[nodiscard]] std::size_t slot_of(buffer_id buffer) const {
        return slot_of(static_cast<std::size_t>(buffer));
    }
    /// The slot of an operator's workspace.
    template <class = void>
    [[nodiscard]] std::size_t slot_of(operator_id op) const {
        const auto index = static_cast<std::size_t>(op);
        if (index >= workspace_slot_.size() || workspace_slot_[index] == no_item) {
            throw arena_error("the plan has no workspace of operator " + std::to_string(index));
        }
        return workspace_slot_[index];
    }
    /// The slot of that name. O(log n). Also throws where several have it.
    template <class = void>
    [[nodiscard]] std::size_t slot_of(std::string_view name) const {
        const auto found =
            std::lower_bound(by_name_.begin(), by_name_.end(), name,
                             [&](std::uint32_t a, std::string_view b) { return names_[a] < b; });
        if (name.empty() || found == by_name_.end() || names_[*found] != name) {
            throw arena_error("it is not part of the plan", {no_index, std::string(name)});
        }
        if (found + 1 != by_name_.end() && names_[*(found + 1)] == name) {
            throw arena_error("it shares its name with", describe(*found), describe(*(found + 1)));
        }
        return slot_of(std::size_t{*found});
    }

private:
    struct slot_facts {
        std::int64_t offset = -1;
        std::int64_t size = 0;
        std::int64_t alignment = 1;
    };
    std::vector<slot_facts> slots_;
    std::vector<std::uint32_t> sequence_;
    std::vector<std::uint32_t> workspace_slot_;  // by operator; may be empty
    std::vector<std::uint32_t> by_name_;
    std::int64_t arena_bytes_ = 0;
    std::int64_t alignment_ = 1;
    std::vector<std::string> names_;
};

/// What names a slot of a replay: its index, a buffer_id, an operator_id (its workspace) or a name.
template <class Who>
concept slot_name = requires(const replay& recorded, const Who& who) {
    { recorded.slot_of(who) } -> std::same_as<std::size_t>;
};

static_assert(slot_name<std::size_t> && slot_name<buffer_id> && slot_name<operator_id>);
static_assert(slot_name<std::string> && slot_name<const char*>);
static_assert(!slot_name<buffer_options>, "a buffer's options name nothing");

/// A plan of a program, such as stowage::plan: an order, an offset a buffer (-1: not placed), an offset an
/// operator's workspace (or an empty list), and an alignment.
template <class Plan>
concept program_plan = requires(const Plan& plan) {
    {std::span<const operator_index>(plan.order)};
    {std::span<const std::int64_t>(plan.offsets)};
    {std::span<const std::int64_t>(plan.workspace_offsets)};
    { plan.alignment } -> std::convertible_to<std::int64_t>;
    { plan.fingerprint } -> std::convertible_to<std::uint64_t>;
};

/// The replay of a plan of `graph`: a buffer's slot is its index, workspaces follow. O(accesses + n log n).
/// Throws arena_error if the plan is of another program or lacks an offset, program_error if its order is no
/// permutation.
template <program_plan Plan>
[[nodiscard]] replay make_replay(const tensor_graph& graph, const Plan& plan) {
    if (plan.fingerprint != graph.fingerprint()) throw arena_error("the plan was made for another program");
    const order_layout made = layout_problem_of(graph, plan.order, plan.alignment);
    const std::span<const std::int64_t> of_buffers = plan.offsets;
    const std::span<const std::int64_t> of_workspaces = plan.workspace_offsets;
    if (of_buffers.size() != made.buffer_count)
        throw arena_error("the plan does not have one offset a buffer");
    std::vector<std::int64_t> offsets(of_buffers.begin(), of_buffers.end());
    for (const operator_index op : made.workspace_owner)
        offsets.push_back(op < of_workspaces.size() ? of_workspaces[op] : -1);
    return replay(made, offsets);
}

}  // namespace stowage::layout
