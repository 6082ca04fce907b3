#pragma once
// Iterators over the rows of a tensor_graph in the shape that Boost.Graph asks for: default constructible,
// with descriptors as values.

#include <cstddef>
#include <utility>

#include <boost/iterator/iterator_facade.hpp>

#include <stowage/graph/tensor_graph.hpp>

namespace stowage::interop {

/// An edge of a dependency_graph or a flow_graph, from operator to operator; no two edges have both ends
/// equal.
struct dependency {
    std::size_t from = 0;  ///< the operator that it leaves
    std::size_t to = 0;    ///< the operator that it enters
    friend bool operator==(const dependency&, const dependency&) = default;
    friend auto operator<=>(const dependency&, const dependency&) = default;
};

namespace detail {

/// What a row iterator yields, from the operator whose row it is and an entry of the row.
struct as_out_edge {
    using value = dependency;
    static value make(std::size_t at, std::size_t entry) noexcept { return {at, entry}; }
};
struct as_in_edge {
    using value = dependency;
    static value make(std::size_t at, std::size_t entry) noexcept { return {entry, at}; }
};
struct as_vertex {
    using value = std::size_t;
    static value make(std::size_t, std::size_t entry) noexcept { return entry; }
};

/// Walks over one row of operators.
template <class Yield>
class row_iterator
    : public boost::iterator_facade<row_iterator<Yield>, typename Yield::value,
                                    boost::random_access_traversal_tag, typename Yield::value> {
public:
    row_iterator() = default;
    row_iterator(std::size_t at, const operator_index* entry) noexcept : at_(at), entry_(entry) {}

private:
    friend class boost::iterator_core_access;
    [[nodiscard]] typename Yield::value dereference() const noexcept { return Yield::make(at_, *entry_); }
    [[nodiscard]] bool equal(const row_iterator& other) const noexcept { return entry_ == other.entry_; }
    void increment() noexcept { ++entry_; }
    void decrement() noexcept { --entry_; }
    void advance(std::ptrdiff_t n) noexcept { entry_ += n; }
    [[nodiscard]] std::ptrdiff_t distance_to(const row_iterator& other) const noexcept {
        return other.entry_ - entry_;
    }
    std::size_t at_ = 0;
    const operator_index* entry_ = nullptr;
};

/// Both ends of a row.
template <class Yield>
[[nodiscard]] std::pair<row_iterator<Yield>, row_iterator<Yield>> row_range(
    std::size_t at, std::span<const operator_index> row) noexcept {
    return {{at, row.data()}, {at, row.data() + row.size()}};
}

/// Walks over all edges that leave an operator in a flow_graph: to its successors, then to its predecessors.
class both_ways_iterator : public boost::iterator_facade<both_ways_iterator, dependency,
                                                         boost::random_access_traversal_tag, dependency> {
public:
    both_ways_iterator() = default;
    both_ways_iterator(const tensor_graph& graph, std::size_t at, std::size_t position) noexcept
        : graph_(&graph), at_(at), position_(position) {}

private:
    friend class boost::iterator_core_access;
    [[nodiscard]] dependency dereference() const noexcept {
        const auto op = static_cast<operator_index>(at_);
        const auto forwards = graph_->successors(op);
        return {at_, position_ < forwards.size() ? forwards[position_]
                                                 : graph_->predecessors(op)[position_ - forwards.size()]};
    }
    [[nodiscard]] bool equal(const both_ways_iterator& other) const noexcept {
        return position_ == other.position_ && at_ == other.at_;
    }
    void increment() noexcept { ++position_; }
    void decrement() noexcept { --position_; }
    void advance(std::ptrdiff_t n) noexcept {
        position_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(position_) + n);
    }
    [[nodiscard]] std::ptrdiff_t distance_to(const both_ways_iterator& other) const noexcept {
        return static_cast<std::ptrdiff_t>(other.position_) - static_cast<std::ptrdiff_t>(position_);
    }
    const tensor_graph* graph_ = nullptr;
    std::size_t at_ = 0;
    std::size_t position_ = 0;
};

/// Walks over all edges of a graph, operator by operator.
class edge_list_iterator : public boost::iterator_facade<edge_list_iterator, dependency,
                                                         boost::forward_traversal_tag, dependency> {
public:
    edge_list_iterator() = default;
    edge_list_iterator(const tensor_graph& graph, std::size_t at) noexcept : graph_(&graph), at_(at) {
        settle();
    }

private:
    friend class boost::iterator_core_access;
    [[nodiscard]] dependency dereference() const noexcept {
        return {at_, graph_->successors(static_cast<operator_index>(at_))[position_]};
    }
    [[nodiscard]] bool equal(const edge_list_iterator& other) const noexcept {
        return at_ == other.at_ && position_ == other.position_;
    }
    void increment() noexcept {
        ++position_;
        settle();
    }
    /// Moves on to an operator that has an edge at position_.
    void settle() noexcept {
        while (at_ < graph_->operator_count() &&
               position_ >= graph_->successors(static_cast<operator_index>(at_)).size()) {
            ++at_;
            position_ = 0;
        }
    }
    const tensor_graph* graph_ = nullptr;
    std::size_t at_ = 0;
    std::size_t position_ = 0;
};

}  // namespace detail

}  // namespace stowage::interop
