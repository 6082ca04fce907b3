#pragma once
// A problem taken apart: reduced (rule 6), cut into segments (rules 7, 8), each segment a problem of its own
// with a bench of its own. The least peak of the whole is the largest of the least peaks of the parts and of
// the hills between them, which are the same in every order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/order/detail/interval.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/reduction.hpp>
#include <stowage/order/detail/segments.hpp>
#include <stowage/order/detail/workbench.hpp>

namespace stowage::order::detail {

/// Which rules take a problem apart.
struct parts_settings {
    reduction_settings reductions{};  ///< rule 6
    bool segments = true;             ///< rule 7: cut at operators that every order runs at the same set
    bool relaxed = true;              ///< rule 8: lazy operators and sinks do not stand in the way
    bool components = true;           ///< with segments: independent components one after the other
};

/// One segment as a problem of its own. Its bench knows nothing of `base` bytes that are alive all through
/// it.
template <class Tag = void>
struct basic_part_bench {
    basic_part_bench(interval whole, budget& account, std::uint64_t seed)
        : base(whole.base), shared{.account = account, .seed = seed},
          bench(std::move(whole.problem), shared) {}
    basic_part_bench(const basic_part_bench&) = delete;
    basic_part_bench& operator=(const basic_part_bench&) = delete;
    ~basic_part_bench() = default;
    std::int64_t base;
    context shared;
    basic_workbench<Tag> bench;
};
using part_bench = basic_part_bench<>;

/// A problem and its parts. Refers to the problem.
template <class Tag = void>
class basic_problem_parts {
public:
    /// O(n log n + size).
    explicit basic_problem_parts(const order_problem& problem, const parts_settings& settings = {})
        : problem_(&problem), reduced_(reduce(problem, settings.reductions)) {
        const order_problem& small = reduced_.problem;
        segments_ = settings.segments ? find_segments(small, settings.relaxed, settings.components)
                                      : whole_segment(small);
        cutter_.emplace(small, segments_.order);
        for (const auto& [first, last] : segments_.spans)
            parts_.push_back({.first = first, .last = last});
        place_.resize(segments_.order.size());
        for (std::size_t k = 0; k < segments_.order.size(); ++k)
            place_[segments_.order[k]] = static_cast<std::uint32_t>(k);
        best_ = segments_.order;
        const std::vector<std::int64_t> hills = hills_of(small, best_);
        for (const std::size_t cut : segments_.cuts) {
            if (hills[cut] <= between_ && between_at_ != no_operator) continue;
            between_ = hills[cut];
            between_at_ = reduced_.origin[best_[cut]];
        }
        take(best_, hills);
    }

    /// Takes in a legal order of the whole: each part keeps its share if it is better. O(n log n + size).
    void offer(std::span<const operator_index> order) {
        std::vector<operator_index> normal = by_groups(
            segments_.group,
            normalise(reduced_.problem, segments_.moves, restrict_order(*problem_, reduced_, order)));
        take(normal, hills_of(reduced_.problem, normal));
        orders_.push_back(std::move(normal));
    }
    /// Peak of the best order.
    [[nodiscard]] std::int64_t upper() const noexcept {
        std::int64_t bytes = between_;
        for (const part& p : parts_)
            bytes = std::max(bytes, p.upper);
        return bytes;
    }
    /// The best order of the whole: the best of each part. O(size).
    [[nodiscard]] std::vector<operator_index> order() const { return expand(*problem_, reduced_, best_); }
    /// The highest hill of the operators between parts, the same in every order; 0 if there is none.
    [[nodiscard]] std::int64_t between() const noexcept { return between_; }
    /// The operator of that hill.
    [[nodiscard]] operator_index between_at() const noexcept { return between_at_; }
    /// Parts whose best order is above `bytes`, the worst first.
    [[nodiscard]] std::vector<std::size_t> parts_above(std::int64_t bytes) const {
        std::vector<std::size_t> result;
        for (std::size_t k = 0; k < parts_.size(); ++k) {
            if (parts_[k].upper > bytes) result.push_back(k);
        }
        std::stable_sort(result.begin(), result.end(),
                         [&](std::size_t a, std::size_t b) { return parts_[a].upper > parts_[b].upper; });
        return result;
    }
    /// Peak of the best order of part `k`, base included.
    [[nodiscard]] std::int64_t upper(std::size_t k) const noexcept { return parts_[k].upper; }
    /// The bench of part `k`, made when first asked for, with its share of every order offered.
    [[nodiscard]] part_bench& bench(std::size_t k, budget& account, std::uint64_t seed) {
        part& p = parts_[k];
        if (p.bench) return *p.bench;
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): there are parts only once the cutter is there
        p.bench = std::make_unique<basic_part_bench<Tag>>(cutter_->cut(p.first, p.last), account, seed);
        std::vector<operator_index> share(p.last - p.first);
        const auto offer_share = [&](const std::vector<operator_index>& whole) {
            for (std::size_t i = 0; i < share.size(); ++i)
                share[i] = static_cast<operator_index>(place_[whole[p.first + i]] - p.first);
            p.bench->bench.offer(share, "segments");
        };
        offer_share(best_);
        for (const std::vector<operator_index>& order : orders_)
            offer_share(order);
        return *p.bench;
    }
    /// Takes the best order of part `k` from its bench.
    void collect(std::size_t k) {
        part& p = parts_[k];
        const std::int64_t peak = p.bench->bench.best_peak() + p.bench->base;
        if (peak >= p.upper) return;
        p.upper = peak;
        const sequence& order = p.bench->bench.best();
        for (std::size_t i = 0; i < order.size(); ++i)
            best_[p.first + i] = segments_.order[p.first + order[i]];
    }
    /// Operator `op` of part `k`, as the whole numbers it.
    [[nodiscard]] operator_index origin(std::size_t k, operator_index op) const {
        return op == no_operator ? op : reduced_.origin[segments_.order[parts_[k].first + op]];
    }
    /// True if operator `op` of part `k` has the same least hill in the whole: one that rule 8 moves into its
    /// part may run with fewer live bytes elsewhere, where it does harm to others.
    [[nodiscard]] bool is_fixed(std::size_t k, operator_index op) const {
        return segments_.moves[segments_.order[parts_[k].first + op]] == mobility::fixed;
    }
    /// Where part `k` begins and ends in the order of segments().
    [[nodiscard]] std::pair<std::size_t, std::size_t> span_of(std::size_t k) const noexcept {
        return {parts_[k].first, parts_[k].last};
    }
    /// How the reduced problem falls apart.
    [[nodiscard]] const segmentation& segments() const noexcept { return segments_; }
    [[nodiscard]] const reduction& reduced() const noexcept { return reduced_; }

private:
    struct part {
        std::size_t first = 0;  // where it begins in segments_.order
        std::size_t last = 0;
        std::int64_t upper = std::numeric_limits<std::int64_t>::max();
        std::unique_ptr<basic_part_bench<Tag>> bench = nullptr;
    };

    void take(const std::vector<operator_index>& order, const std::vector<std::int64_t>& hills) {
        for (part& p : parts_) {
            const auto first = static_cast<std::ptrdiff_t>(p.first);
            const auto last = static_cast<std::ptrdiff_t>(p.last);
            const std::int64_t peak = *std::max_element(hills.begin() + first, hills.begin() + last);
            if (peak >= p.upper) continue;
            p.upper = peak;
            std::copy(order.begin() + first, order.begin() + last, best_.begin() + first);
        }
    }

    const order_problem* problem_;
    reduction reduced_;
    segmentation segments_;
    std::optional<basic_interval_cutter<Tag>> cutter_;
    std::vector<part> parts_;
    std::vector<std::uint32_t> place_;                 // in segments_.order
    std::vector<operator_index> best_;                 // of the reduced problem
    std::vector<std::vector<operator_index>> orders_;  // offered, normalised
    std::int64_t between_ = 0;
    operator_index between_at_ = no_operator;
};
using problem_parts = basic_problem_parts<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_problem_parts<>;
#endif

}  // namespace stowage::order::detail
