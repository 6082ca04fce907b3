#pragma once
// An ordered map that keeps the nodes of erased entries for later ones, so that it allocates only when it
// holds more entries than ever before. For allocators, which must not allocate while they serve.

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace stowage::layout::detail {

/// std::map with spare nodes; every operation is O(log n).
template <class Key, class Value>
class recycling_map {
public:
    using map_type = std::map<Key, Value>;
    using iterator = typename map_type::iterator;

    [[nodiscard]] iterator begin() noexcept { return entries_.begin(); }
    [[nodiscard]] iterator end() noexcept { return entries_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] iterator lower_bound(const Key& key) { return entries_.lower_bound(key); }
    [[nodiscard]] iterator find(const Key& key) { return entries_.find(key); }

    /// Adds an entry whose key is not there yet; cannot fail where there is room.
    void insert(const Key& key, const Value& value) {
        if (spare_.empty()) reserve(entries_.size() + 1);
        spare_.back().key() = key;
        spare_.back().mapped() = value;
        entries_.insert(std::move(spare_.back()));
        spare_.pop_back();
    }
    /// Removes an entry.
    void erase(iterator where) noexcept { spare_.push_back(entries_.extract(where)); }
    /// Makes room for `count` entries in all; amortised O(1) an entry. Strong guarantee.
    void reserve(std::size_t count) {
        if (spare_.capacity() < count) spare_.reserve(std::max(count, 2 * spare_.capacity()));
        map_type fresh;
        while (entries_.size() + spare_.size() < count) {
            fresh.try_emplace(Key{});
            spare_.push_back(fresh.extract(fresh.begin()));
        }
    }

private:
    map_type entries_;
    std::vector<typename map_type::node_type>
        spare_;  // its capacity covers all nodes, so that erase cannot fail
};

}  // namespace stowage::layout::detail
