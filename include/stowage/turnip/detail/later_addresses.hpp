#pragma once
// Among layouts that fit: the one that reuses the bytes which were freed longest ago, so that a reload need
// not wait for a kernel that has only just let go of them. Source: docs/design.md, "How a memgraph is
// compiled"; papers/offload.md, "Address reuse".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// One sweep over the steps of one device's layout. Use it once.
template <class = void>
class basic_address_chooser {
public:
    basic_address_chooser(const tensor_graph& program, const residency_model& model, stay_plan& plan,
                          memory_index device, std::int64_t capacity)
        : plan_(plan), capacity_(capacity) {
        for (std::uint32_t r = 0; r < plan.rectangles.size(); ++r) {
            const rectangle& stay = plan.rectangles[r];
            const model_instance& instance = model.instances[stay.instance];
            if (instance.device != device) continue;
            const bool may_move = !instance.tied && stay.lower > 0;
            boxes_.push_back({stay.address, program.bytes(instance.buffer), stay.lower, stay.upper,
                              may_move ? r : rectangle::none,
                              std::lcm(program.alignment(instance.buffer), model.alignment)});
        }
        for (std::uint32_t s = 0; s < plan.workspace.size(); ++s) {
            if (plan.workspace[s] < 0 || model.steps[s].device != device) continue;
            boxes_.push_back({plan.workspace[s], program.workspace(model.steps[s].op), s, s});
        }
        std::sort(boxes_.begin(), boxes_.end(), [](const box& a, const box& b) {
            if (a.from != b.from) return a.from < b.from;
            return a.to != b.to ? a.to < b.to : a.address < b.address;
        });
        pieces_.emplace(0, piece{capacity, 0});
    }
    void operator()() {
        for (std::size_t k = 0; k < boxes_.size(); ++k) {
            box& mine = boxes_[k];
            looks_ += 1 + pieces_.size();
            if (looks_ > most_looks) return;
            if (mine.rectangle != rectangle::none && last_user(mine.address, mine.bytes) + 1 >= mine.from / 2)
                look_for_better(k);
            occupy(mine.address, mine.bytes, mine.to + 1);
        }
    }

private:
    struct box {
        std::int64_t address = 0;
        std::int64_t bytes = 0;
        std::uint32_t from = 0;  // steps, both included
        std::uint32_t to = 0;
        std::uint32_t rectangle = rectangle::none;  // none: it stays where it is
        std::int64_t alignment = 1;
    };
    struct piece {
        std::int64_t upper;
        std::uint32_t until;  // the step from which on it is free
    };
    struct window {
        std::uint32_t until;
        std::int64_t address;
    };
    using piece_map = std::map<std::int64_t, piece>;

    [[nodiscard]] std::uint32_t last_user(std::int64_t address, std::int64_t bytes) const {
        std::uint32_t until = 0;
        for (auto at = std::prev(pieces_.upper_bound(address));
             at != pieces_.end() && at->first < address + bytes; ++at)
            until = std::max(until, at->second.until);
        return until;
    }
    void split(std::int64_t address) {
        if (address >= capacity_) return;
        const auto at = std::prev(pieces_.upper_bound(address));
        if (at->first == address) return;
        const piece rest = at->second;
        at->second.upper = address;
        pieces_.emplace(address, rest);
    }
    void occupy(std::int64_t address, std::int64_t bytes, std::uint32_t until) {
        split(address);
        split(address + bytes);
        const auto first = pieces_.find(address);
        first->second = {address + bytes, until};
        pieces_.erase(std::next(first), pieces_.lower_bound(address + bytes));
    }
    /// The windows whose last users ended earliest are tried; those that come later must not be met.
    void look_for_better(std::size_t k) {
        box& mine = boxes_[k];
        const std::uint32_t held = last_user(mine.address, mine.bytes);
        windows_.clear();
        // A window begins where a piece does, or ends there; its last user is the latest of its pieces'.
        flat_.assign(pieces_.begin(), pieces_.end());
        std::size_t last = 0;
        latest_.clear();
        std::size_t front = 0;  // of latest_: those before it have been left behind
        for (std::size_t first = 0; first < flat_.size(); ++first) {
            const std::int64_t address =
                (flat_[first].first + mine.alignment - 1) / mine.alignment * mine.alignment;
            if (address > capacity_ - mine.bytes) break;
            for (; last < flat_.size() && flat_[last].first < address + mine.bytes; ++last) {
                while (latest_.size() > front &&
                       flat_[latest_.back()].second.until <= flat_[last].second.until)
                    latest_.pop_back();
                latest_.push_back(last);
            }
            while (flat_[latest_[front]].second.upper <= address)
                ++front;
            const std::uint32_t until = flat_[latest_[front]].second.until;
            if (until < held && until <= mine.from) windows_.push_back({until, address});
        }
        const std::size_t tried = std::min(windows_.size(), most_windows);
        std::partial_sort(windows_.begin(), windows_.begin() + static_cast<std::ptrdiff_t>(tried),
                          windows_.end(), [](const window& a, const window& b) {
                              return a.until != b.until ? a.until < b.until : a.address < b.address;
                          });
        windows_.resize(tried);
        if (windows_.empty()) return;
        std::size_t end = k + 1;
        while (end < boxes_.size() && boxes_[end].from <= mine.to)
            ++end;
        if (end - k > most_later) return;
        looks_ += end - k;
        for (const window& w : windows_) {
            const bool open = std::none_of(
                boxes_.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                boxes_.begin() + static_cast<std::ptrdiff_t>(end), [&](const box& later) {
                    return later.address < w.address + mine.bytes && w.address < later.address + later.bytes;
                });
            if (!open) continue;
            mine.address = w.address;
            plan_.rectangles[mine.rectangle].address = w.address;
            return;
        }
    }

    static constexpr std::size_t most_windows = 24;
    static constexpr std::size_t most_looks = 4'000'000;  // pieces and boxes; some tenths of a second
    static constexpr std::size_t most_later = 4'000;
    stay_plan& plan_;
    std::int64_t capacity_;
    std::vector<box> boxes_;  // by the step at which they begin
    piece_map pieces_;        // all of [0, capacity)
    std::vector<std::pair<std::int64_t, piece>> flat_;
    std::vector<std::size_t> latest_;  // positions in flat_ of a window, those that can be its latest
    std::vector<window> windows_;
    std::size_t looks_ = 0;
};
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_address_chooser<>;
#endif

/// Moves rectangles of each device, in the order in which they begin, to free addresses below its capacity
/// whose last users ended earliest; nothing is moved onto another, and what is tied to one place stays. The
/// plan's addresses are a layout. About O(rectangles x rectangles alive together), and it stops after some
/// millions of looks a device: a layout is right at every moment.
template <class = void>
void choose_later_addresses(const tensor_graph& program, const residency_model& model, stay_plan& plan,
                            std::span<const std::int64_t> capacities) {
    for (memory_index d = 0; d < model.devices; ++d)
        basic_address_chooser<>(program, model, plan, d, capacities[d])();
}

}  // namespace stowage::turnip::detail
