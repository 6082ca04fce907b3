#pragma once
// An order under local search: its hills, the excess of its hills over a threshold, and what replacing a
// window of it would do, at a cost that depends on the window alone.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order::detail {

/// A legal order of a problem that runs forwards. Refers to the problem.
///
/// The excess is the sum of (hill - threshold) over all higher hills, each scaled down by a power of two and
/// rounded up where sizes are so large that the sum could pass 2^62.
template <class = void>
class basic_tracked_order {
public:
    explicit basic_tracked_order(const order_problem& problem)
        : problem_(&problem), count_(problem.operator_count()), position_(count_), hill_(count_),
          live_after_(count_), hot_place_(count_, not_hot), dies_at_once_(count_, 0),
          tensors_(problem.tensor_count()), start_live_(problem.live_at_start()) {
        for (tensor_index t = 0; t < problem.tensor_count(); ++t)
            tensors_[t].bytes = problem.bytes[t];
        for (operator_index op = 0; op < count_; ++op) {
            for (const tensor_index t : problem.products(op)) {
                if (problem.stays_alive[t] == 0 && problem.users[t].size() == 1)
                    dies_at_once_[op] += problem.bytes[t];
            }
            for (const tensor_index t : problem.uses(op)) {
                if (problem.stays_alive[t] == 0) mortal_uses_.values.push_back(t);
            }
            mortal_uses_.begin.push_back(static_cast<std::uint32_t>(mortal_uses_.values.size()));
        }
    }

    /// Takes up an order; the threshold becomes its peak. O(size).
    void assign(std::span<const operator_index> order) {
        order_.assign(order.begin(), order.end());
        for (tensor_state& tensor : tensors_)
            tensor.last = 0;
        for (std::size_t at = 0; at < count_; ++at) {
            position_[order_[at]] = static_cast<std::uint32_t>(at);
            for (const tensor_index t : mortal_uses_[order_[at]])
                tensors_[t].last = static_cast<std::uint32_t>(at);
        }
        std::int64_t live = start_live_;
        for (std::size_t at = 0; at < count_; ++at) {
            const operator_index op = order_[at];
            live += problem_->born_bytes[op];
            hill_[at] = live + problem_->workspace[op];
            live -= dies_at_once_[op];
            for (const tensor_index t : mortal_uses_[op])
                live -= tensors_[t].last == at ? tensors_[t].bytes : 0;
            live_after_[at] = live;
        }
        const std::int64_t peak = hill_.empty() ? 0 : *std::max_element(hill_.begin(), hill_.end());
        const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(peak)) +
                                           std::bit_width(static_cast<std::uint64_t>(count_)));
        shift_ = std::max(0, bits - 61);
        set_threshold(peak);
    }
    /// Sets the threshold. O(n).
    void set_threshold(std::int64_t threshold) {
        threshold_ = threshold;
        hot_.clear();
        excess_ = 0;
        for (std::size_t at = 0; at < count_; ++at) {
            hot_place_[at] = not_hot;
            note_hill(at);
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::span<const operator_index> order() const noexcept { return order_; }
    [[nodiscard]] operator_index at(std::size_t position) const noexcept { return order_[position]; }
    [[nodiscard]] std::size_t position(operator_index op) const noexcept { return position_[op]; }
    [[nodiscard]] std::int64_t hill(std::size_t position) const noexcept { return hill_[position]; }
    [[nodiscard]] std::int64_t threshold() const noexcept { return threshold_; }
    [[nodiscard]] std::int64_t excess() const noexcept { return excess_; }
    /// Positions of the hills above the threshold, in no particular order.
    [[nodiscard]] std::span<const std::uint32_t> hot() const noexcept { return hot_; }
    /// The highest hill. O(hot positions), or O(n) where there are none.
    [[nodiscard]] std::int64_t peak() const noexcept {
        std::int64_t peak = 0;
        if (hot_.empty()) {
            for (const std::int64_t hill : hill_)
                peak = std::max(peak, hill);
        }
        for (const std::uint32_t at : hot_)
            peak = std::max(peak, hill_[at]);
        return peak;
    }

    /// The excess of `count` hills from position `first` on.
    [[nodiscard]] std::int64_t excess_in(std::size_t first, std::size_t count) const noexcept {
        std::int64_t sum = 0;
        for (std::size_t at = first; at < first + count; ++at)
            sum += excess_of(hill_[at]);
        return sum;
    }
    /// What excess_in(first, window.size()) would be if the operators there were ordered as in `window`, a
    /// permutation of them that must be legal; nothing if it is more than `most`. O(accesses of the window).
    [[nodiscard]] std::optional<std::int64_t> trial(std::size_t first, std::span<const operator_index> window,
                                                    std::int64_t most) {
        const std::size_t last = first + window.size() - 1;
        for (const operator_index op : window) {
            for (const tensor_index t : mortal_uses_[op])
                ++tensors_[t].users_left;
        }
        trial_hill_.clear();
        trial_live_.clear();
        trial_last_.clear();
        std::int64_t live = first == 0 ? start_live_ : live_after_[first - 1];
        std::int64_t sum = 0;
        std::size_t i = 0;
        for (; i < window.size() && sum <= most; ++i) {
            const operator_index op = window[i];
            live += problem_->born_bytes[op];
            trial_hill_.push_back(live + problem_->workspace[op]);
            sum += excess_of(trial_hill_.back());
            live -= dies_at_once_[op];
            for (const tensor_index t : mortal_uses_[op]) {
                tensor_state& tensor = tensors_[t];
                if (--tensor.users_left != 0 || tensor.last > last) continue;
                live -= tensor.bytes;
                trial_last_.emplace_back(t, static_cast<std::uint32_t>(first + i));
            }
            trial_live_.push_back(live);
        }
        if (sum <= most) return sum;
        for (; i < window.size(); ++i) {
            for (const tensor_index t : mortal_uses_[window[i]])
                --tensors_[t].users_left;
        }
        return std::nullopt;
    }
    /// Does what the last trial tried, which must have had an answer. O(accesses of the window).
    void accept(std::size_t first, std::span<const operator_index> window) {
        for (std::size_t i = 0; i < window.size(); ++i) {
            const std::size_t at = first + i;
            excess_ -= excess_of(hill_[at]);
            order_[at] = window[i];
            position_[window[i]] = static_cast<std::uint32_t>(at);
            hill_[at] = trial_hill_[i];
            live_after_[at] = trial_live_[i];
            note_hill(at);
        }
        for (const auto& [tensor, at] : trial_last_)
            tensors_[tensor].last = at;
    }

private:
    static constexpr std::uint32_t not_hot = std::numeric_limits<std::uint32_t>::max();
    struct tensor_state {
        std::int64_t bytes = 0;
        std::uint32_t last = 0;        // position of its last user
        std::uint32_t users_left = 0;  // in the window on trial; 0 between trials
    };

    [[nodiscard]] std::int64_t excess_of(std::int64_t hill) const noexcept {
        return hill <= threshold_ ? 0 : ((hill - threshold_ - 1) >> shift_) + 1;
    }
    void note_hill(std::size_t at) {
        excess_ += excess_of(hill_[at]);
        const bool is_hot = hill_[at] > threshold_;
        if (is_hot == (hot_place_[at] != not_hot)) return;
        if (is_hot) {
            hot_place_[at] = static_cast<std::uint32_t>(hot_.size());
            hot_.push_back(static_cast<std::uint32_t>(at));
            return;
        }
        hot_place_[hot_.back()] = hot_place_[at];
        hot_[hot_place_[at]] = hot_.back();
        hot_.pop_back();
        hot_place_[at] = not_hot;
    }

    const order_problem* problem_;
    std::size_t count_;
    sequence order_;
    std::vector<std::uint32_t> position_;
    std::vector<std::int64_t> hill_;        // by position
    std::vector<std::int64_t> live_after_;  // by position
    std::vector<std::uint32_t> hot_;
    std::vector<std::uint32_t> hot_place_;    // by position: where in hot_
    std::vector<std::int64_t> dies_at_once_;  // by operator: its products that nobody else uses
    rows mortal_uses_;                        // by operator: tensors that it uses and that can die
    std::vector<tensor_state> tensors_;
    std::vector<std::int64_t> trial_hill_;
    std::vector<std::int64_t> trial_live_;
    std::vector<std::pair<tensor_index, std::uint32_t>> trial_last_;
    std::int64_t start_live_ = 0;
    std::int64_t threshold_ = 0;
    std::int64_t excess_ = 0;
    int shift_ = 0;
};
using tracked_order = basic_tracked_order<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_tracked_order<>;
#endif

}  // namespace stowage::order::detail
