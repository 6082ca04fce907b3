#pragma once
// Canonical branch and bound: buffers are placed in ascending order of (offset, index), each at the least
// offset that those below it allow. It knows everything that a problem can have in one pool: pins, gaps,
// alignments of their own. Source: minimalloc (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
// Hardware-Accelerated Machine Learning", ASPLOS 2023), for its canonical solutions and dominance rule;
// widened here to pins, gaps and mixed alignments.
//
// Why it is complete: take a layout within the capacity whose offsets have the least sum. No buffer of it can
// be moved down, so each unpinned one lies at the least multiple of its alignment at or above the tops of
// those below it; taken in ascending order of (offset, index) the search meets exactly these offsets.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/layout/detail/sections.hpp>

namespace stowage::layout {

/// Which rules the canonical branch and bound uses; each may be switched off and none changes the answer.
struct canonical_rules {
    /// Bytes still to come in a section lie above both its floor and the last offset, and must fit. Reason:
    /// offsets ascend, and sizes add up where lifetimes meet.
    bool bound = true;
    /// Skip a buffer at an offset at or above the end that another candidate would have now. Reason: that
    /// other one could be moved down to where it is a candidate, so this is no layout of least sum. Sound
    /// with pins, gaps and alignments: what moves down was checked against them as a candidate.
    bool dominance = true;
    /// Place buffers that are equal in all but the index in the order of the index. Reason: they can be
    /// exchanged.
    bool identical = true;
};

namespace detail {

/// The search; explicit stack. Memory O(sum of widths + n^2 in the worst case for the candidates on the
/// stack).
template <class = void>
class basic_canonical_search {
public:
    /// `compact` must outlive this.
    explicit basic_canonical_search(const sections& compact) : compact_(compact) {
        const std::size_t n = compact.items.size();
        members_.resize(static_cast<std::size_t>(compact.count()));
        for (std::size_t i = 0; i < n; ++i) {
            for_each_section(i, [&](std::size_t s) { members_[s].push_back(static_cast<std::uint32_t>(i)); });
        }
        twin_.assign(n, none);
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            const int c = compare(a, b);
            return c != 0 ? c < 0 : a < b;
        });
        for (std::size_t k = 1; k < n; ++k) {
            if (!compact.items[order[k]].pinned() && compare(order[k - 1], order[k]) == 0)
                twin_[order[k]] = order[k - 1];
            if (compact.items[order[k]].pinned()) pinned_.push_back(order[k]);
        }
        if (n > 0 && compact.items[order[0]].pinned()) pinned_.push_back(order[0]);
    }

    /// Starts anew: looks for layouts of at most `capacity` bytes.
    void start(std::int64_t capacity, const canonical_rules& rules) {
        const std::size_t n = compact_.items.size();
        capacity_ = capacity;
        rules_ = rules;
        floors_.assign(members_.size(), 0);
        remaining_ = compact_.load;
        least_.assign(n, 0);
        offsets_.assign(n, -1);
        placed_.clear();
        trail_.clear();
        frames_.clear();
        candidates_.clear();
        complete_ = n == 0 && capacity >= 0;
        dead_ = capacity < 0;
        for (const item& entry : compact_.items) {
            dead_ = dead_ || entry.size > capacity || (entry.pinned() && entry.pin > capacity - entry.size);
        }
        for (const std::int64_t load : compact_.load)
            dead_ = dead_ || load > capacity;
        if (!dead_) open();
    }
    /// Goes on to the next layout within the capacity. True: offsets() is one; false: there is none any more,
    /// or `go_on` (called once a node) said no, see stopped().
    template <class GoOn>
    bool next(GoOn go_on) {
        stopped_ = false;
        while (!dead_) {
            if (complete_) {
                complete_ = false;
                return true;
            }
            if (frames_.empty()) break;
            frame& top = frames_.back();
            undo(top);
            if (top.next == top.end) {
                candidates_.resize(top.first);
                frames_.pop_back();
                continue;
            }
            if (!go_on()) {
                stopped_ = true;
                return false;
            }
            const std::uint32_t chosen = candidates_[top.next++];
            if (place(chosen)) {
                open();
                complete_ = placed_.size() == compact_.items.size();
            }
        }
        return false;
    }
    /// True if the last next() ended because of `go_on`.
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    /// From now on only layouts of at most `capacity` bytes, less than before, count.
    void tighten(std::int64_t capacity) noexcept { capacity_ = capacity; }
    /// One an item, after next() said true.
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return offsets_; }
    /// Work so far, in visits of list entries.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    struct frame {
        std::size_t trail = 0;
        std::size_t placed = 0;
        std::size_t first = 0;
        std::size_t next = 0;
        std::size_t end = 0;
    };
    struct change {
        std::uint32_t item;
        std::int64_t least;
    };

    template <class Visit>
    void for_each_section(std::size_t i, Visit visit) const {
        for (const section_range& piece : compact_.pieces_of(i)) {
            for (std::int32_t s = piece.first; s < piece.last; ++s)
                visit(static_cast<std::size_t>(s));
        }
    }
    /// Orders items by all that matters but the index.
    [[nodiscard]] int compare(std::uint32_t a, std::uint32_t b) const {
        const item& x = compact_.items[a];
        const item& y = compact_.items[b];
        if (x.size != y.size) return x.size < y.size ? -1 : 1;
        if (x.alignment != y.alignment) return x.alignment < y.alignment ? -1 : 1;
        if (x.pin != y.pin) return x.pin < y.pin ? -1 : 1;
        const auto p = compact_.pieces_of(a);
        const auto q = compact_.pieces_of(b);
        for (std::size_t k = 0; k < p.size() && k < q.size(); ++k) {
            if (p[k].first != q[k].first) return p[k].first < q[k].first ? -1 : 1;
            if (p[k].last != q[k].last) return p[k].last < q[k].last ? -1 : 1;
        }
        if (p.size() != q.size()) return p.size() < q.size() ? -1 : 1;
        return 0;
    }
    /// Where i would lie now: its pin, or the least multiple of its alignment above what is below it; -1 if
    /// nowhere.
    [[nodiscard]] std::int64_t position(std::uint32_t i) const {
        const item& entry = compact_.items[i];
        if (entry.pinned()) return entry.pin;
        const std::int64_t pad = stowage::detail::padding(least_[i], entry.alignment);
        return pad > 0 && pad > capacity_ - least_[i] ? -1 : least_[i] + pad;
    }
    [[nodiscard]] bool meet(std::uint32_t a, std::uint32_t b) const {
        for (const section_range& x : compact_.pieces_of(a)) {
            for (const section_range& y : compact_.pieces_of(b)) {
                if (x.first < y.last && y.first < x.last) return true;
            }
        }
        return false;
    }

    bool place(std::uint32_t i) {
        const std::int64_t at = position(i);
        const std::int64_t top = at + compact_.items[i].size;
        offsets_[i] = at;
        placed_.push_back({i, floors_before_.size()});
        bool fits = top <= capacity_;
        for_each_section(i, [&](std::size_t s) {
            floors_before_.push_back(floors_[s]);
            floors_[s] = top;
            remaining_[s] -= compact_.items[i].size;
            fits = fits && remaining_[s] <= capacity_ - top;
            for (const std::uint32_t j : members_[s]) {
                ++work_;
                if (offsets_[j] >= 0 || least_[j] >= top) continue;
                trail_.push_back({j, least_[j]});
                least_[j] = top;
                const item& other = compact_.items[j];
                fits = fits && other.size <= capacity_ - top && (!other.pinned() || top <= other.pin);
            }
        });
        if (!fits || !rules_.bound) return fits;
        for (std::size_t s = 0; s < remaining_.size(); ++s) {
            if (remaining_[s] > capacity_ - std::max(at, floors_[s])) return false;
        }
        work_ += remaining_.size() / 4;
        return true;
    }
    void undo(const frame& to) {
        while (trail_.size() > to.trail) {
            least_[trail_.back().item] = trail_.back().least;
            trail_.pop_back();
        }
        while (placed_.size() > to.placed) {
            const auto [i, floors] = placed_.back();
            std::size_t k = floors;
            for_each_section(i, [&](std::size_t s) {
                floors_[s] = floors_before_[k++];
                remaining_[s] += compact_.items[i].size;
            });
            floors_before_.resize(floors);
            offsets_[i] = -1;
            placed_.pop_back();
        }
    }
    /// Pushes the choices of the state: which buffer has the next offset.
    void open() {
        frame entry;
        entry.trail = trail_.size();
        entry.placed = placed_.size();
        entry.first = entry.next = candidates_.size();
        const std::uint32_t last = placed_.empty() ? none : placed_.back().item;
        const std::int64_t level = placed_.empty() ? 0 : offsets_[last];
        // Pinned buffers have their turn fixed: nothing after the next of them may come before it.
        std::uint32_t next_pin = none;
        for (const std::uint32_t p : pinned_) {
            if (offsets_[p] >= 0) continue;
            if (next_pin == none || before(compact_.items[p].pin, p, compact_.items[next_pin].pin, next_pin))
                next_pin = p;
        }
        std::int64_t nearest_end = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t i = 0; i < offsets_.size(); ++i) {
            ++work_;
            if (offsets_[i] >= 0) continue;
            const std::int64_t at = position(i);
            if (at < 0 || at < least_[i] || compact_.items[i].size > capacity_ - at) {
                // Floors never sink: no descendant can place it either.
                candidates_.resize(entry.first);
                entry.next = entry.end = entry.first;
                frames_.push_back(entry);
                return;
            }
            if (last != none && before(at, i, level, last)) continue;
            if (next_pin != none && next_pin != i && before(compact_.items[next_pin].pin, next_pin, at, i))
                continue;
            if (rules_.identical && twin_[i] != none && offsets_[twin_[i]] < 0) continue;
            if (!compact_.items[i].pinned() && hits_pin(i, at)) continue;
            nearest_end = std::min(nearest_end, at + compact_.items[i].size);
            candidates_.push_back(i);
        }
        if (rules_.dominance) {
            const auto dominated = [&](std::uint32_t i) {
                return !compact_.items[i].pinned() && position(i) >= nearest_end;
            };
            candidates_.erase(std::remove_if(candidates_.begin() + static_cast<std::ptrdiff_t>(entry.first),
                                             candidates_.end(), dominated),
                              candidates_.end());
        }
        std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(entry.first), candidates_.end(),
                  [&](std::uint32_t a, std::uint32_t b) {
                      const std::int64_t x = position(a);
                      const std::int64_t y = position(b);
                      if (x != y) return x < y;
                      const double u = weight(a);
                      const double v = weight(b);
                      return u != v ? u > v : a < b;
                  });
        entry.end = candidates_.size();
        frames_.push_back(entry);
    }
    [[nodiscard]] static bool before(std::int64_t a, std::uint32_t i, std::int64_t b,
                                     std::uint32_t j) noexcept {
        return a != b ? a < b : i < j;
    }
    [[nodiscard]] bool hits_pin(std::uint32_t i, std::int64_t at) const {
        for (const std::uint32_t p : pinned_) {
            const item& other = compact_.items[p];
            if (offsets_[p] < 0 && at + compact_.items[i].size > other.pin && at < other.pin + other.size &&
                meet(i, p)) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] double weight(std::uint32_t i) const {
        return static_cast<double>(compact_.items[i].size) * static_cast<double>(compact_.items[i].width());
    }

    struct placement {
        std::uint32_t item;
        std::size_t floors;
    };
    const sections& compact_;
    std::vector<std::vector<std::uint32_t>> members_;
    std::vector<std::uint32_t> twin_;  // the equal item that comes before this one
    std::vector<std::uint32_t> pinned_;
    std::int64_t capacity_ = 0;
    canonical_rules rules_;
    std::vector<std::int64_t> floors_;
    std::vector<std::int64_t> remaining_;
    std::vector<std::int64_t> least_;  // the highest floor under each item
    std::vector<std::int64_t> offsets_;
    std::vector<placement> placed_;
    std::vector<std::int64_t> floors_before_;
    std::vector<change> trail_;
    std::vector<frame> frames_;
    std::vector<std::uint32_t> candidates_;
    std::uint64_t work_ = 0;
    bool complete_ = false;
    bool dead_ = false;
    bool stopped_ = false;
};
using canonical_search = basic_canonical_search<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_canonical_search<>;
#endif

}  // namespace detail

}  // namespace stowage::layout
