#pragma once
// Small random programs with every feature (donated, output, in place, workspace, zero sizes, alignment,
// control edges, pins), and plans of them made by the plainest means: dependencies by comparing all pairs of
// operators, offsets by trying each. Quadratic on purpose, and nothing of the library's planners in it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/roam/plan.hpp>

namespace stowage::test {

struct wide_program_options {
    std::uint64_t operators = 8;
    std::uint64_t buffers = 10;
    bool workspace = true;
    bool alignment = true;
    bool control = true;
};

/// A random valid program; other than random_program it has alignments and buffers without a user.
inline program wide_program(detail::splitmix64& random, const wide_program_options& options = {}) {
    program result;
    std::vector<buffer_id> ids;
    std::vector<bool> written;
    std::vector<buffer_kind> kinds;
    constexpr buffer_kind choice[] = {buffer_kind::parameter,    buffer_kind::donated,
                                      buffer_kind::intermediate, buffer_kind::intermediate,
                                      buffer_kind::intermediate, buffer_kind::output};
    const std::uint64_t buffers = 2 + random.below(options.buffers);
    for (std::uint64_t b = 0; b < buffers; ++b) {
        buffer_options o;
        o.bytes = random.below(8) == 0 ? 0 : static_cast<std::int64_t>(1 + random.below(60));
        o.kind = choice[random.below(std::size(choice))];
        o.name = "b" + std::to_string(b);
        if (options.alignment && random.below(4) == 0) o.alignment = std::int64_t{1} << random.below(5);
        kinds.push_back(o.kind);
        written.push_back(is_alive_at_start(o.kind));
        ids.push_back(result.add_buffer(o));
    }
    const std::uint64_t operators = 1 + random.below(options.operators);
    for (std::uint64_t i = 0; i < operators; ++i) {
        operator_options o;
        o.name = "op" + std::to_string(i);
        for (std::uint64_t k = random.below(4); k > 0; --k) {
            const std::uint64_t b = random.below(buffers);
            if (written[b]) o.reads.push_back(ids[b]);
        }
        for (std::uint64_t k = random.below(3); k > 0; --k) {
            const std::uint64_t b = random.below(buffers);
            o.writes.push_back(ids[b]);
            written[b] = true;
        }
        if (options.workspace && random.below(3) == 0) {
            o.workspace = static_cast<std::int64_t>(random.below(50));
        }
        if (options.control && i > 0 && random.below(4) == 0) {
            o.after.push_back(operator_id{static_cast<std::uint32_t>(random.below(i))});
        }
        result.add_operator(std::move(o));
    }
    operator_options last{.name = "last"};
    for (std::uint64_t b = 0; b < buffers; ++b) {
        if (kinds[b] == buffer_kind::output && !written[b]) last.writes.push_back(ids[b]);
    }
    result.add_operator(std::move(last));
    return result;
}

/// must[i][j]: operator j has to run before operator i; by comparing the accesses of every pair.
inline std::vector<std::vector<bool>> must_follow(const program& p) {
    const auto ops = p.operators();
    const auto shares = [](const std::vector<buffer_id>& a, const std::vector<buffer_id>& b) {
        return std::any_of(a.begin(), a.end(),
                           [&](buffer_id x) { return std::find(b.begin(), b.end(), x) != b.end(); });
    };
    std::vector<std::vector<bool>> must(ops.size(), std::vector<bool>(ops.size(), false));
    for (std::size_t i = 0; i < ops.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            must[i][j] = shares(ops[j].writes, ops[i].reads) || shares(ops[j].writes, ops[i].writes) ||
                         shares(ops[j].reads, ops[i].writes);
        }
        for (const operator_id before : ops[i].after)
            must[i][static_cast<std::size_t>(before)] = true;
    }
    return must;
}

/// A random legal order.
inline std::vector<operator_index> random_order(const program& p, detail::splitmix64& random) {
    const auto must = must_follow(p);
    const std::size_t count = p.operators().size();
    std::vector<bool> done(count, false);
    std::vector<operator_index> order;
    while (order.size() < count) {
        std::vector<operator_index> ready;
        for (std::size_t i = 0; i < count; ++i) {
            bool can = !done[i];
            for (std::size_t j = 0; j < count && can; ++j)
                can = !must[i][j] || done[j];
            if (can) ready.push_back(static_cast<operator_index>(i));
        }
        order.push_back(ready[random.below(ready.size())]);
        done[order.back()] = true;
    }
    return order;
}

/// What occupies bytes: a buffer, or an operator's workspace.
struct holder {
    bool workspace = false;
    std::size_t index = 0;
    std::size_t first = 0;  ///< first step alive
    std::size_t last = 0;   ///< last step alive, included
    std::int64_t size = 0;
    std::int64_t alignment = 1;
};

/// Everything that a plan of `order` places, zero sizes included.
inline std::vector<holder> holders(const program& p, const std::vector<operator_index>& order) {
    std::vector<holder> result;
    const auto ops = p.operators();
    for (std::size_t b = 0; b < p.buffers().size(); ++b) {
        const buffer_options& buffer = p.buffers()[b];
        if (is_persistent(buffer.kind)) continue;
        const auto id = buffer_id{static_cast<std::uint32_t>(b)};
        bool used = false;
        holder h{false, b, 0, 0, buffer.bytes, buffer.alignment};
        for (std::size_t t = 0; t < order.size(); ++t) {
            const operator_options& op = ops[order[t]];
            const bool touches = std::find(op.reads.begin(), op.reads.end(), id) != op.reads.end() ||
                                 std::find(op.writes.begin(), op.writes.end(), id) != op.writes.end();
            if (!touches) continue;
            if (!used) h.first = t;
            h.last = t;
            used = true;
        }
        if (!used) continue;
        if (buffer.kind == buffer_kind::donated) h.first = 0;
        if (buffer.kind == buffer_kind::output) h.last = order.size() - 1;
        result.push_back(h);
    }
    for (std::size_t t = 0; t < order.size(); ++t) {
        if (ops[order[t]].workspace > 0) result.push_back({true, order[t], t, t, ops[order[t]].workspace, 1});
    }
    return result;
}

/// True if the two share a moment and both hold bytes.
inline bool meet(const holder& a, const holder& b) {
    return a.size > 0 && b.size > 0 && a.first <= b.last && b.first <= a.last;
}

/// A valid plan: a random legal order, and each holder, in random sequence, at the least offset that is free.
inline plan random_plan(const program& p, const tensor_graph& graph, detail::splitmix64& random,
                        std::int64_t alignment = 1) {
    plan result;
    result.order = random_order(p, random);
    result.alignment = alignment;
    result.fingerprint = graph.fingerprint();
    result.offsets.assign(p.buffers().size(), -1);
    std::vector<holder> all = holders(p, result.order);
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[random.below(i)]);
    std::vector<std::int64_t> at(all.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto fits = [&] {
            if (at[i] % alignment != 0 || at[i] % all[i].alignment != 0) return false;
            for (std::size_t j = 0; j < i; ++j) {
                if (meet(all[i], all[j]) && at[i] < at[j] + all[j].size && at[j] < at[i] + all[i].size)
                    return false;
            }
            return true;
        };
        while (!fits())
            ++at[i];
        if (all[i].size > 0) result.arena.bytes = std::max(result.arena.bytes, at[i] + all[i].size);
        if (!all[i].workspace) {
            result.offsets[all[i].index] = at[i];
            continue;
        }
        result.workspace_offsets.resize(p.operators().size(), -1);
        result.workspace_offsets[all[i].index] = at[i];
    }
    for (std::size_t t = 0; t < result.order.size(); ++t) {
        std::int64_t live = 0;
        for (const holder& h : all) {
            if (h.first <= t && t <= h.last) live += h.size;
        }
        result.peak.bytes = std::max(result.peak.bytes, live);
    }
    for (const buffer_options& b : p.buffers()) {
        if (is_persistent(b.kind)) result.persistent_bytes += b.bytes;
    }
    return result;
}

}  // namespace stowage::test
