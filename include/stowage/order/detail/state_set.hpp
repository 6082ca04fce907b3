#pragma once
// A set of search states by their 128-bit keys: open addressing, no deletion, one allocation a doubling.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/order/detail/frontier.hpp>

namespace stowage::order::detail {

/// Keys of states; the key of the empty set of operators, {0, 0}, cannot be held.
template <class = void>
class basic_state_set {
public:
    /// Drops all keys. O(size).
    void clear() {
        slots_.assign(slots_.size() > 1024 ? 1024 : slots_.size(), {});
        count_ = 0;
    }
    /// Amortised O(1).
    void insert(state_key key) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        if (place(key)) ++count_;
    }
    [[nodiscard]] bool contains(state_key key) const noexcept {
        if (count_ == 0) return false;
        for (std::size_t at = key.low & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at] == key) return true;
            if (slots_[at] == state_key{}) return false;
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

private:
    bool place(state_key key) noexcept {
        std::size_t at = key.low & (slots_.size() - 1);
        while (slots_[at] != state_key{}) {
            if (slots_[at] == key) return false;
            at = (at + 1) & (slots_.size() - 1);
        }
        slots_[at] = key;
        return true;
    }
    void grow() {
        std::vector<state_key> old = std::move(slots_);
        slots_.assign(old.empty() ? 256 : 2 * old.size(), {});
        for (const state_key key : old) {
            if (key != state_key{}) place(key);
        }
    }
    std::vector<state_key> slots_;
    std::size_t count_ = 0;
};
using state_set = basic_state_set<>;

}  // namespace stowage::order::detail
