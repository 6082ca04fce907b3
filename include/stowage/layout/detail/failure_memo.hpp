#pragma once
// Remembers the states that a search has refuted. A hash finds the state, the whole key decides: two states
// that share a hash never stand for each other, so that an answer "infeasible" rests on no probability.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace stowage::layout::detail {

/// A set of byte strings with a bound on its memory; once full it keeps what it has. Not thread-safe.
template <class = void>
class basic_failure_memo {
public:
    /// Holds keys of up to `byte_limit` bytes in all.
    explicit basic_failure_memo(std::size_t byte_limit) : byte_limit_(byte_limit) {}
    /// True if this key was added; `hash` must be a function of the key. O(length).
    [[nodiscard]] bool contains(std::uint64_t hash, const std::vector<std::uint8_t>& key) const {
        if (slots_.empty()) return false;
        for (std::size_t at = hash & mask(); slots_[at].length != 0; at = (at + 1) & mask()) {
            const slot& candidate = slots_[at];
            if (candidate.hash == hash && candidate.length == key.size() &&
                std::memcmp(bytes_.data() + candidate.begin, key.data(), key.size()) == 0) {
                return true;
            }
        }
        return false;
    }
    /// True if some key of this hash was added: cheaper than contains(), and enough to answer "no".
    [[nodiscard]] bool may_contain(std::uint64_t hash) const noexcept {
        if (slots_.empty()) return false;
        for (std::size_t at = hash & mask(); slots_[at].length != 0; at = (at + 1) & mask()) {
            if (slots_[at].hash == hash) return true;
        }
        return false;
    }
    /// Adds a non-empty key that is not there yet; does nothing once the memory is used up. Amortised
    /// O(length).
    void insert(std::uint64_t hash, const std::vector<std::uint8_t>& key) {
        if (key.empty() || bytes_.size() + key.size() > byte_limit_ ||
            key.size() > std::numeric_limits<std::uint32_t>::max()) {
            return;
        }
        if (2 * (count_ + 1) > slots_.size()) grow();
        place({hash, bytes_.size(), static_cast<std::uint32_t>(key.size())});
        bytes_.insert(bytes_.end(), key.begin(), key.end());
        ++count_;
    }
    /// Forgets everything, keeping the memory. O(slots).
    void clear() {
        slots_.assign(slots_.size(), slot{});
        bytes_.clear();
        count_ = 0;
    }
    /// Keys held.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

private:
    struct slot {
        std::uint64_t hash = 0;
        std::size_t begin = 0;
        std::uint32_t length = 0;  // 0: free
    };
    [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
    void place(const slot& entry) {
        std::size_t at = entry.hash & mask();
        while (slots_[at].length != 0)
            at = (at + 1) & mask();
        slots_[at] = entry;
    }
    void grow() {
        std::vector<slot> old(slots_.empty() ? 1024 : slots_.size() * 2);
        old.swap(slots_);
        for (const slot& entry : old) {
            if (entry.length != 0) place(entry);
        }
    }

    std::vector<slot> slots_;
    std::vector<std::uint8_t> bytes_;
    std::size_t count_ = 0;
    std::size_t byte_limit_;
};
using failure_memo = basic_failure_memo<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_failure_memo<>;
#endif

}  // namespace stowage::layout::detail
