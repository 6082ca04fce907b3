#pragma once
// Paths in a memgraph, for its verifier: one legal order, and answers to many questions "does a path lead
// from u to v?" at once. 512 sources a pass, so that memory stays at 64 bytes a vertex.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/turnip/memgraph.hpp>

namespace stowage::verify::detail {

/// The vertices in one legal order (that of their indices, if it is one), with each one's predecessors.
template <class = void>
class basic_vertex_order {
public:
    /// All edges name vertices that exist. O(vertices + edges).
    explicit basic_vertex_order(const turnip::memgraph& graph) {
        const std::size_t count = graph.vertices.size();
        begin_.assign(count + 1, 0);
        bool as_listed = true;
        std::vector<std::uint32_t> first(count + 1, 0);
        for (const turnip::edge& e : graph.edges) {
            ++begin_[e.to + 1];
            ++first[e.from + 1];
            as_listed = as_listed && e.from < e.to;
        }
        for (std::size_t v = 0; v < count; ++v) {
            begin_[v + 1] += begin_[v];
            first[v + 1] += first[v];
        }
        predecessors_.resize(graph.edges.size());
        std::vector<std::uint32_t> successors(graph.edges.size());
        std::vector<std::uint32_t> fill(begin_.begin(), begin_.end() - 1);
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (const turnip::edge& e : graph.edges) {
            predecessors_[fill[e.to]++] = e.from;
            successors[next[e.from]++] = e.to;
        }
        std::vector<std::uint32_t> left(count);
        order_.reserve(count);
        for (std::size_t v = 0; v < count; ++v) {
            left[v] = begin_[v + 1] - begin_[v];
            if (left[v] == 0 || as_listed) order_.push_back(static_cast<std::uint32_t>(v));
        }
        for (std::size_t i = 0; !as_listed && i < order_.size(); ++i) {
            const std::uint32_t v = order_[i];
            for (std::uint32_t k = first[v]; k < first[v + 1]; ++k) {
                if (--left[successors[k]] == 0) order_.push_back(successors[k]);
            }
        }
        position_.assign(count, none);
        for (std::size_t i = 0; i < order_.size(); ++i)
            position_[order_[i]] = static_cast<std::uint32_t>(i);
    }

    [[nodiscard]] bool has_cycle() const noexcept { return order_.size() < position_.size(); }
    [[nodiscard]] const std::vector<std::uint32_t>& order() const noexcept { return order_; }
    [[nodiscard]] std::uint32_t position(std::uint32_t v) const noexcept { return position_[v]; }
    [[nodiscard]] std::span<const std::uint32_t> predecessors(std::uint32_t v) const noexcept {
        return {predecessors_.data() + begin_[v], predecessors_.data() + begin_[v + 1]};
    }
    [[nodiscard]] bool has_edge(std::uint32_t from, std::uint32_t to) const noexcept {
        const auto row = predecessors(to);
        return std::find(row.begin(), row.end(), from) != row.end();
    }
    /// The vertices of one cycle, in the order of its edges; there is one.
    [[nodiscard]] std::vector<std::uint32_t> cycle() const {
        std::vector<std::uint32_t> walk;
        std::vector<std::uint32_t> step(position_.size(), none);
        std::uint32_t v = 0;
        while (position_[v] != none)
            ++v;
        while (step[v] == none) {
            step[v] = static_cast<std::uint32_t>(walk.size());
            walk.push_back(v);
            for (const std::uint32_t p : predecessors(v)) {
                if (position_[p] == none) v = p;
            }
        }
        walk.erase(walk.begin(), walk.begin() + step[v]);
        std::reverse(walk.begin(), walk.end());
        return walk;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> begin_;
    std::vector<std::uint32_t> predecessors_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> position_;  // none: on a cycle, or behind one
};
using vertex_order = basic_vertex_order<>;

/// A question about two vertices.
struct path_question {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool longer = false;  ///< asks for a path of two edges or more
};

/// Answers all questions: answer[i] is 1 if such a path exists. O(vertices * edges / 64) in the worst case;
/// a pass ends at the last vertex that its sources are asked about.
template <class = void>
[[nodiscard]] std::vector<std::uint8_t> answer_paths(const vertex_order& graph,
                                                     std::span<const path_question> questions) {
    constexpr std::size_t block = 512;
    constexpr std::size_t words = block / 64;
    using bits = std::array<std::uint64_t, words>;
    std::vector<std::uint8_t> answer(questions.size(), 0);
    std::vector<std::uint32_t> asked;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const path_question& q = questions[i];
        if (graph.position(q.from) >= graph.position(q.to)) continue;
        if (!q.longer && graph.has_edge(q.from, q.to))
            answer[i] = 1;
        else
            asked.push_back(static_cast<std::uint32_t>(i));
    }
    const auto key = [&](std::uint32_t i) {
        return std::pair(graph.position(questions[i].from) / block, graph.position(questions[i].to));
    };
    std::sort(asked.begin(), asked.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<bits> reached(asked.empty() ? 0 : graph.order().size());  // by position
    for (std::size_t next = 0; next < asked.size();) {
        const std::size_t first = key(asked[next]).first * block;  // position of the first source
        std::size_t end = next;
        while (end < asked.size() && key(asked[end]).first * block == first)
            ++end;
        const std::size_t last = key(asked[end - 1]).second;
        reached[first] = {};
        for (std::size_t at = first + 1; at <= last; ++at) {
            bits longer = {};
            bits direct = {};
            for (const std::uint32_t p : graph.predecessors(graph.order()[at])) {
                const std::size_t position = graph.position(p);
                if (position < first) continue;
                for (std::size_t w = 0; w < words; ++w)
                    longer[w] |= reached[position][w];
                const std::size_t source = position - first;
                if (source < block) direct[source / 64] |= std::uint64_t{1} << (source % 64);
            }
            for (; next < end && key(asked[next]).second == at; ++next) {
                const path_question& q = questions[asked[next]];
                const std::size_t source = graph.position(q.from) - first;
                const std::uint64_t word = longer[source / 64] | (q.longer ? 0 : direct[source / 64]);
                answer[asked[next]] = static_cast<std::uint8_t>(word >> (source % 64) & 1U);
            }
            for (std::size_t w = 0; w < words; ++w)
                reached[at][w] = longer[w] | direct[w];
        }
    }
    return answer;
}

}  // namespace stowage::verify::detail
