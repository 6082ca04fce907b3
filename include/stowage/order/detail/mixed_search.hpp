#pragma once
// The local search of papers/order.md, rules 12 and 13: chunks of hoist and sink moves, then cut moves at the
// highest hills, then cut moves at random high hills that need not gain.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/order/detail/cut_library.hpp>
#include <stowage/order/detail/order_moves.hpp>
#include <stowage/order/detail/tracked_order.hpp>
#include <stowage/order/detail/workbench.hpp>

namespace stowage::order::detail {

/// `value` less so many ten-thousandths of it.
[[nodiscard]] constexpr std::int64_t lowered(std::int64_t value, std::int64_t ten_thousandths) noexcept {
    return value - value / 10'000 * ten_thousandths - value % 10'000 * ten_thousandths / 10'000;
}

/// Improves orders of a bench's program and offers what is better than the best there. Spends the bench's
/// account.
template <class = void>
class basic_mixed_search {
public:
    explicit basic_mixed_search(workbench& bench)
        : bench_(&bench), order_(bench.problem()), moves_(bench.problem(), order_) {}

    /// Takes up an order to improve.
    void start(std::span<const operator_index> order) {
        order_.assign(order);
        peak_ = order_.peak();
        found_.clear();
    }
    /// Peak of the best order since start().
    [[nodiscard]] std::int64_t peak() const noexcept { return peak_; }

    /// Cut moves at the twelve highest hills, both sets of each, while they lower the excess over 99.9% of
    /// the peak; at most `tries` of them.
    void descend(std::size_t tries) {
        constexpr std::size_t most_hills = 12;
        while (order_.peak() > bench_->lower_bound()) {
            order_.set_threshold(std::max(bench_->lower_bound(), lowered(order_.peak(), 10)));
            highest_.assign(order_.hot().begin(), order_.hot().end());
            const auto higher = [&](std::uint32_t a, std::uint32_t b) {
                return order_.hill(a) != order_.hill(b) ? order_.hill(a) > order_.hill(b) : a < b;
            };
            const std::size_t kept = std::min(most_hills, highest_.size());
            std::partial_sort(highest_.begin(), highest_.begin() + static_cast<std::ptrdiff_t>(kept),
                              highest_.end(), higher);
            bool moved = false;
            for (std::size_t i = 0; i < 2 * kept && !moved; ++i) {
                if (tries-- == 0 || !goes_on()) return;
                moved = cut_at(highest_[i / 2], i % 2 != 0, false);
            }
            if (!moved) return;
            note_peak();
        }
    }

    /// Rounds of hoist and sink moves, cut moves and random cut moves over a threshold that is so many
    /// ten-thousandths below the peak; `moves` hoist and sink moves in all. Ends early when the best order of
    /// the bench is proven or the account exhausted.
    void run(std::size_t moves, std::int64_t ten_thousandths, stowage::detail::splitmix64& random) {
        constexpr std::size_t round = 1'000;
        constexpr std::size_t tries_a_round = 30;
        constexpr int random_cuts_a_round = 8;
        while (moves > 0 && goes_on()) {
            const std::size_t part = std::min(round, moves);
            moves -= part;
            chunks(part, ten_thousandths, random);
            descend(tries_a_round);
            set_threshold(ten_thousandths);
            for (int i = 0; i < random_cuts_a_round && !order_.hot().empty() && goes_on(); ++i) {
                const std::uint32_t position = order_.hot()[random.below(order_.hot().size())];
                cut_at(position, random.below(2) == 0, true);
            }
            note_peak();
        }
    }

    /// Offers the best order since start(), if it was moved at all.
    void offer(std::string_view finder) {
        if (!found_.empty()) bench_->offer(std::exchange(found_, {}), finder);
    }

private:
    static constexpr std::uint64_t work_a_unit = 128;

    [[nodiscard]] bool goes_on() {
        return std::min(peak_, bench_->best_peak()) > bench_->lower_bound() && !bench_->account().exhausted();
    }
    void set_threshold(std::int64_t ten_thousandths) {
        const std::int64_t peak = std::min({order_.peak(), peak_, bench_->best_peak()});
        order_.set_threshold(std::max(bench_->lower_bound(), lowered(peak, ten_thousandths)));
    }
    void note_peak() {
        const std::int64_t peak = order_.peak();
        if (peak >= peak_) return;
        peak_ = peak;
        found_.assign(order_.order().begin(), order_.order().end());
    }
    void spend(std::uint64_t before) { bench_->account().spend(1 + (moves_.work() - before) / work_a_unit); }
    bool cut_at(std::uint32_t position, bool greatest, bool sideways) {
        const std::uint64_t work = moves_.work();
        cut_library& cuts = bench_->cuts();
        const std::uint64_t units = cuts.units();
        const operator_index op = order_.at(position);
        if (!cuts.knows(op) && !bench_->affords_cut()) return false;
        bench_->raise(cuts.least_hill(op), "min cut", op);
        const cut_sets& sets = cuts.sets(op);
        bench_->account().spend(cuts.units() - units);
        const bool moved = moves_.cut(position, greatest ? sets.greatest : sets.least, sideways);
        spend(work);
        return moved;
    }
    void chunks(std::size_t count, std::int64_t ten_thousandths, stowage::detail::splitmix64& random) {
        constexpr std::int64_t first_step = 50;  // a threshold that can be passed soon
        set_threshold(std::max(first_step, ten_thousandths));
        for (; count > 0 && goes_on(); --count) {
            const std::uint64_t work = moves_.work();
            const bool moved = moves_.chunk(random);
            spend(work);
            if (!moved) continue;
            if (order_.excess() == 0) {
                note_peak();
                set_threshold(ten_thousandths);
            } else if (order_.threshold() < peak_) {
                note_peak();
            }
        }
    }

    workbench* bench_;
    tracked_order order_;
    order_moves moves_;
    std::int64_t peak_ = 0;
    sequence found_;
    std::vector<std::uint32_t> highest_;
};
using mixed_search = basic_mixed_search<>;

}  // namespace stowage::order::detail
