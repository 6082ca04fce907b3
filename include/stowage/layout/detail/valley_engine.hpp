#pragma once
// The complete search behind layout::valley_search: is there a layout of these blocks within a capacity?
// Depth first on an explicit stack. The rules and the reasons why they lose nothing are told at valley_rules.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/failure_memo.hpp>
#include <stowage/layout/detail/valley_pivot.hpp>
#include <stowage/layout/detail/valley_state.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// One search over one set of blocks, run again and again with other keys, rules and limits. Not thread-safe.
template <class = void>
class basic_valley_engine {
public:
    /// `blocks` must outlive the engine; `memo_bytes` bounds the memory of refuted states.
    basic_valley_engine(const std::vector<block>& blocks, int sections,
                        std::size_t memo_bytes = std::size_t{64} << 20U)
        : state_(blocks, sections), finder_(state_), memo_(memo_bytes), rank_(blocks.size(), 0) {
        order_.resize(blocks.size());
        for (std::size_t i = 0; i < order_.size(); ++i)
            order_[i] = static_cast<int>(i);
    }
    /// Blocks of a greater key are tried first (ties: the lower index). One key a block. O(n log n).
    void set_keys(const std::vector<double>& keys) {
        std::sort(order_.begin(), order_.end(), [&](int a, int b) {
            const double x = keys[index(a)];
            const double y = keys[index(b)];
            return x != y ? x > y : a < b;
        });
        for (std::size_t k = 0; k < order_.size(); ++k)
            rank_[index(order_[k])] = static_cast<int>(k);
    }
    /// Dead ends of the last search, counted against each block that was still to come over their sections.
    [[nodiscard]] const std::vector<std::uint32_t>& blamed() const noexcept { return finder_.blamed(); }
    /// Nodes entered by the last search.
    [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
    /// Work of all searches so far, in visits of list entries.
    [[nodiscard]] std::uint64_t work() const noexcept { return state_.work() + finder_.work() + own_work_; }
    /// Offsets of the blocks after `feasible`.
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return state_.offsets(); }
    [[nodiscard]] const std::vector<block>& blocks() const noexcept { return state_.blocks(); }
    [[nodiscard]] int sections() const noexcept { return state_.sections(); }

    /// feasible: offsets() is a layout within `capacity`; infeasible: there is none; unknown: `go_on`, called
    /// once a node, said no, or buffers in pieces leave the question open. Refuted states are kept from call
    /// to call while the capacity stays the same.
    template <class GoOn>
    [[nodiscard]] status solve(std::int64_t capacity, const valley_rules& rules, GoOn go_on) {
        if (capacity < 0) return status::infeasible;
        if (capacity != memo_capacity_) memo_.clear();
        memo_capacity_ = capacity;
        rules_ = rules;
        // A piece that is placed stands in the way of what no state of its component knows of.
        rules_.memo = rules.memo && !state_.linked();
        const bool possible = state_.reset(capacity);
        finder_.reset();
        finder_.forgive();
        frames_.clear();
        parts_.clear();
        choices_.clear();
        nodes_ = 0;
        if (!possible) return status::infeasible;
        for (int s = 0; s < state_.sections(); ++s) {
            if (state_.load(s) > capacity) return status::infeasible;
        }
        split(0, state_.sections());
        outcome now = outcome::solved;
        for (;;) {
            if (now == outcome::solved) {
                if (!next_part()) return status::feasible;
                ++nodes_;
                if (!go_on()) return status::unknown;
                now = enter();
            } else if (now == outcome::descend) {
                ++nodes_;
                if (!go_on()) return status::unknown;
                now = enter();
            } else {
                // A piece can be carried in one section and hang over the floor in another, which no child
                // covers.
                if (frames_.empty()) return state_.linked() ? status::unknown : status::infeasible;
                now = next_choice();
            }
        }
    }

private:
    enum class outcome : std::uint8_t { solved, failed, descend };
    /// A node (a component with its choices) or a split (components to solve one after the other).
    struct frame {
        bool is_split = false;
        int left = 0;
        int right = 0;
        std::size_t mark = 0;         // of the state before the node
        std::size_t choice_mark = 0;  // of the state before its choices, after its forced moves
        std::uint64_t hash = 0;
        pivot at;
        std::size_t first = 0;  // of its choices or parts, which end where those of the frame above begin
        std::size_t next = 0;
        std::size_t end = 0;
        int tried = -1;  // the block whose child is being searched
        bool may_rise = false;
        bool branched = false;  // it has children: refuting it again would cost more than looking it up
    };
    struct part {
        int left;
        int right;
        int busy;
    };
    [[nodiscard]] static constexpr std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }

    /// Pushes the components of [left, right) that have something to place, the smallest first.
    void split(int left, int right) {
        frame entry;
        entry.is_split = true;
        entry.first = entry.next = parts_.size();
        int from = left;
        own_work_ += static_cast<std::uint64_t>(right - left) / 4;
        if (rules_.decompose) {
            int busy = 0;
            for (int s = left; s < right; ++s) {
                if (s > left && state_.crossing(s) == 0) {
                    if (busy > 0) parts_.push_back({from, s, busy});
                    from = s;
                    busy = 0;
                }
                if (state_.busy(s)) ++busy;
            }
            if (busy > 0) parts_.push_back({from, right, busy});
            std::sort(parts_.begin() + static_cast<std::ptrdiff_t>(entry.first), parts_.end(),
                      [](const part& a, const part& b) {
                          return a.busy != b.busy ? a.busy < b.busy : a.left < b.left;
                      });
        } else if (right > left) {
            parts_.push_back({left, right, right - left});
        }
        entry.end = parts_.size();
        frames_.push_back(entry);
    }
    /// After a component was solved: drops its node and goes to the next component of the split below. False:
    /// done.
    bool next_part() {
        while (!frames_.empty()) {
            frame& top = frames_.back();
            if (top.is_split && top.next < top.end) {
                const part p = parts_[top.next++];
                push_node(p.left, p.right);
                return true;
            }
            pop();
        }
        return false;
    }
    void pop() {
        const frame& top = frames_.back();
        if (top.is_split) {
            parts_.resize(top.first);
        } else {
            choices_.resize(top.first);
        }
        frames_.pop_back();
    }
    void push_node(int left, int right) {
        frame entry;
        entry.left = left;
        entry.right = right;
        entry.first = entry.next = entry.end = choices_.size();
        frames_.push_back(entry);
    }

    /// The new node on top: looks it up, makes forced moves, collects its choices.
    outcome enter() {
        frame& node = frames_.back();
        node.mark = node.choice_mark = state_.mark();
        if (rules_.memo) {
            node.hash = hash_of(node.left, node.right);
            if (memo_.may_contain(node.hash)) {
                encode(node.left, node.right);
                if (memo_.contains(node.hash, key_)) {
                    frames_.pop_back();
                    return outcome::failed;
                }
            }
        }
        for (;;) {
            const pivot at = finder_.find(node.left, node.right, rules_.pivot);
            if (at.section < 0) return outcome::solved;
            if (!at.idle && at.options() == 0) return outcome::failed;
            if (!at.idle && at.options() > 1) {
                node.at = at;
                break;
            }
            node.choice_mark = state_.mark();
            if (at.idle || at.candidates == 0) {
                if (!raise(at.section, at.height + at.rise)) return outcome::failed;
                continue;
            }
            const int b = only_candidate(at);
            if (out_of_order(b, at.height) || !place(b, at.height)) return outcome::failed;
            if (parts_after(b, node.left, node.right)) {
                split(node.left, node.right);
                return outcome::solved;
            }
        }
        node.choice_mark = state_.mark();
        for (const int j : state_.unplaced_over(node.at.section)) {
            if (finder_.fits(j, node.at.right, node.at.height) &&
                state_.blocks()[index(j)].first >= node.at.left) {
                choices_.push_back(j);
            }
        }
        std::sort(choices_.begin() + static_cast<std::ptrdiff_t>(node.first), choices_.end(),
                  [&](int a, int b) { return rank_[index(a)] < rank_[index(b)]; });
        node.end = choices_.size();
        node.may_rise = node.at.rise > 0;
        node.branched = true;
        return outcome::failed;  // no choice taken yet: next_choice() takes the first
    }

    /// The state below the top frame failed: undoes it and takes the next choice, or gives the frame up.
    outcome next_choice() {
        frame& node = frames_.back();
        if (node.is_split) {
            pop();
            return outcome::failed;
        }
        state_.undo(node.choice_mark);
        if (node.tried >= 0 && rules_.span && spans(node.tried, node.at)) {
            // The rest of the node may rely on it: below the wall this block has been refuted.
            if (!state_.forbid_below(node.tried, node.at.wall, rules_.bound)) return give_up();
            node.choice_mark = state_.mark();
        }
        node.tried = -1;
        while (node.next < node.end) {
            const int b = choices_[node.next++];
            if (rules_.symmetry && (twin_was_tried(node, b) || out_of_order(b, node.at.height))) continue;
            node.tried = b;
            if (place(b, node.at.height)) {
                if (!parts_after(b, node.left, node.right)) {
                    push_node(node.left, node.right);
                    return outcome::descend;
                }
                split(node.left, node.right);
                return outcome::solved;
            }
            return outcome::failed;
        }
        if (node.may_rise) {
            node.may_rise = false;
            if (raise(node.at.section, node.at.height + node.at.rise)) {
                push_node(node.left, node.right);
                return outcome::descend;
            }
        }
        return give_up();
    }
    bool place(int b, std::int64_t height) {
        if (state_.place(b, height, rules_.bound)) return true;
        if (state_.overfull() >= 0) finder_.note_failure(state_.overfull());
        return false;
    }
    bool raise(int section, std::int64_t height) {
        if (state_.raise(section, height, rules_.bound)) return true;
        if (state_.overfull() >= 0) finder_.note_failure(state_.overfull());
        return false;
    }
    outcome give_up() {
        const frame node = frames_.back();
        state_.undo(node.mark);
        if (rules_.memo && node.branched) {
            encode(node.left, node.right);
            memo_.insert(node.hash, key_);
        }
        pop();
        return outcome::failed;
    }

    [[nodiscard]] int only_candidate(const pivot& at) const {
        for (const int j : state_.unplaced_over(at.section)) {
            if (finder_.fits(j, at.right, at.height) && state_.blocks()[index(j)].first >= at.left) return j;
        }
        return -1;
    }
    /// With unequal headrooms, what moves up into b's place must be allowed as high as b. What is aligned,
    /// in pieces or under an obstacle cannot be moved up by b's size.
    [[nodiscard]] bool spans(int b, const pivot& at) const {
        const block& item = state_.blocks()[index(b)];
        if (item.first != at.left || item.last != at.right || item.headroom != state_.most_headroom())
            return false;
        return state_.plain() || finder_.may_exchange(at);
    }
    /// True if b would lie directly on a block of the same range that it should have been under.
    [[nodiscard]] bool out_of_order(int b, std::int64_t height) const {
        if (!rules_.symmetry) return false;
        const int below = state_.directly_below(b, height);
        return below >= 0 && rank_[index(below)] > rank_[index(b)];
    }
    [[nodiscard]] bool twin_was_tried(const frame& node, int b) const {
        for (std::size_t k = node.first; k + 1 < node.next; ++k) {
            if (state_.kind(choices_[k]) == state_.kind(b)) return true;
        }
        return false;
    }
    /// True if placing b has parted the component or emptied b's range.
    [[nodiscard]] bool parts_after(int b, int left, int right) const {
        if (!rules_.decompose) return false;
        const block& item = state_.blocks()[index(b)];
        const int end = std::min(item.last, right - 1);
        for (int s = std::max(item.first, left + 1); s <= end; ++s) {
            if (state_.crossing(s) == 0) return true;
        }
        for (int s = item.first; s < item.last; ++s) {
            if (state_.busy(s)) return false;
        }
        return true;
    }

    /// Of the unplaced blocks and the floors of a component.
    [[nodiscard]] std::uint64_t hash_of(int left, int right) {
        std::uint64_t set = 0;
        std::uint64_t floors =
            stowage::detail::splitmix64(static_cast<std::uint64_t>(left) << 32U | index(right))();
        std::int64_t last = -1;
        own_work_ += static_cast<std::uint64_t>(right - left) / 4;
        for (int s = left; s < right; ++s) {
            set ^= state_.hash_from(s);
            const std::int64_t floor = state_.floor(s);
            if (floor == last) continue;
            floors =
                (floors ^ (static_cast<std::uint64_t>(floor) + index(s) * 0x632be5abU)) * 0x9e3779b97f4a7c15U;
            floors ^= floors >> 32U;
            last = floor;
        }
        return stowage::detail::splitmix64(set ^ floors)();
    }
    /// Writes the whole key of a component to key_: its edges, the runs of equal floors, the set of unplaced
    /// blocks.
    void encode(int left, int right) {
        key_.clear();
        put(static_cast<std::uint64_t>(left));
        put(static_cast<std::uint64_t>(right));
        for (int s = left; s < right;) {
            int end = s + 1;
            while (end < right && state_.floor(end) == state_.floor(s))
                ++end;
            put(static_cast<std::uint64_t>(end - s));
            put(static_cast<std::uint64_t>(state_.floor(s)));
            s = end;
        }
        const std::size_t bits = key_.size();
        key_.resize(bits + (rank_.size() + 7) / 8, 0);
        for (int s = left; s < right; ++s) {
            for (const int j : state_.unplaced_from(s)) {
                std::uint8_t& byte = key_[bits + index(j) / 8];
                byte = static_cast<std::uint8_t>(byte | (1U << (index(j) % 8)));
            }
        }
        while (key_.size() > bits && key_.back() == 0)
            key_.pop_back();
        own_work_ += key_.size() / 4;
    }
    void put(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U)
            key_.push_back(static_cast<std::uint8_t>(value | 0x80U));
        key_.push_back(static_cast<std::uint8_t>(value));
    }

    valley_state state_;
    pivot_finder finder_;
    failure_memo memo_;
    valley_rules rules_;
    std::vector<int> order_;
    std::vector<int> rank_;
    std::vector<frame> frames_;
    std::vector<part> parts_;
    std::vector<int> choices_;
    std::vector<std::uint8_t> key_;
    std::int64_t memo_capacity_ = -1;
    std::uint64_t nodes_ = 0;
    std::uint64_t own_work_ = 0;
};
using valley_engine = basic_valley_engine<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_valley_engine<>;
#endif

}  // namespace stowage::layout::detail
