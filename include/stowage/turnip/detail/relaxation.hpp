#pragma once
// Good prices for the bound on bytes moved, where searches along single prices get stuck: the relaxed problem
// (parts of gaps may leave) is solved by a primal-dual method with averages and restarts, whose steps are
// scaled by how many steps a gap spans and how many gaps span a step. Sources: Chambolle and Pock, "A
// first-order primal-dual algorithm" (2011) and "Diagonal preconditioning" (2011); Applegate et al.,
// "Practical large-scale linear programming using primal-dual hybrid gradient" (2021).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stowage::turnip::detail {

/// A gap of the relaxed problem.
struct relaxed_gap {
    std::uint32_t lower = 0;
    std::uint32_t upper = 0;  ///< steps [lower, upper]; wrapped: [lower, last] and [0, upper]
    bool wrapped = false;
    double bytes = 0;     ///< > 0
    double bytes_in = 0;  ///< what it costs if all of it leaves
};

/// Gaps in groups that share their way out, and how many bytes must leave at each step.
struct relaxed_problem {
    std::vector<relaxed_gap> gaps;     ///< group by group
    std::vector<std::uint32_t> first;  ///< by group, and one more: its gaps
    std::vector<double> out;           ///< by group: what it costs if one of its gaps leaves
    std::vector<double> lacking;       ///< by step: bytes that must leave; not above 0: none
};

/// One run of the method. A round is O(gaps + steps) (times log of a group's size). One thread at a time.
template <class = void>
class basic_relaxation {
public:
    /// `prices`: by step, where to start; at first nothing leaves.
    basic_relaxation(relaxed_problem problem, std::vector<double> prices)
        : problem_(std::move(problem)), prices_(std::move(prices)) {
        double sum = 0;
        for (const relaxed_gap& gap : problem_.gaps)
            sum += gap.bytes * gap.bytes;
        unit_ = std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, problem_.gaps.size())));
        if (unit_ <= 0) unit_ = 1;
        left_.assign(problem_.gaps.size(), 0);
        for (double& bytes : problem_.lacking)
            bytes /= unit_;
        for (std::size_t v = 0; v + 1 < problem_.first.size(); ++v) {
            const double bytes = problem_.gaps[problem_.first[v]].bytes;
            out_rate_.push_back(problem_.out[v] / bytes);
            whole_.push_back(bytes / unit_);
            for (std::uint32_t g = problem_.first[v]; g < problem_.first[v + 1]; ++g)
                in_rate_.push_back(problem_.gaps[g].bytes_in / bytes);
        }
        scale();
        begin_stretch();
    }
    /// So many rounds more. The averages over all rounds since the last restart are kept.
    void run(std::size_t rounds) {
        for (std::size_t round = 0; round < rounds; ++round) {
            leave();
            price();
            for (std::size_t g = 0; g < left_.size(); ++g)
                left_sum_[g] += left_[g];
            for (std::size_t s = 0; s < prices_.size(); ++s)
                price_sum_[s] += prices_[s];
            ++rounds_;
        }
    }
    /// By step: the prices now.
    [[nodiscard]] const std::vector<double>& prices() const noexcept { return prices_; }
    /// Averages since the last restart. There was a round since.
    [[nodiscard]] std::vector<double> mean_prices() const {
        std::vector<double> mean(price_sum_);
        for (double& price : mean)
            price /= static_cast<double>(rounds_);
        return mean;
    }
    /// By gap: the part that leaves on average, 0 to 1.
    [[nodiscard]] std::vector<double> mean_absent() const {
        std::vector<double> mean(left_sum_);
        for (std::size_t g = 0; g < mean.size(); ++g)
            mean[g] *= unit_ / problem_.gaps[g].bytes / static_cast<double>(rounds_);
        return mean;
    }
    /// Goes on from the averages.
    void restart_from_mean() {
        prices_ = mean_prices();
        for (std::size_t g = 0; g < left_.size(); ++g)
            left_[g] = left_sum_[g] / static_cast<double>(rounds_);
        restart();
    }
    /// Forgets the averages, and balances the strides of prices and gaps by how far both went.
    void restart() {
        double far_prices = 0;
        for (std::size_t s = 0; s < prices_.size(); ++s) {
            const double far = prices_[s] - prices_before_[s];
            if (step_stride_[s] > 0) far_prices += far * far / step_stride_[s];
        }
        double far_gaps = 0;
        for (std::size_t v = 0; v + 1 < problem_.first.size(); ++v) {
            for (std::uint32_t g = problem_.first[v]; g < problem_.first[v + 1]; ++g) {
                const double far = left_[g] - left_before_[g];
                far_gaps += far * far / gap_stride_[v];
            }
        }
        if (far_prices > 1e-20 && far_gaps > 1e-20) {
            const double wanted = std::clamp(std::sqrt(far_prices / far_gaps), 1e-3, 1e3);
            weight_ = std::sqrt(weight_ * wanted);
        }
        begin_stretch();
    }
    /// Rounds since the last restart.
    [[nodiscard]] std::size_t rounds() const noexcept { return rounds_; }

private:
    void begin_stretch() {
        left_sum_.assign(left_.size(), 0);
        price_sum_.assign(prices_.size(), 0);
        left_before_ = left_;
        prices_before_ = prices_;
        rounds_ = 0;
    }
    void sum_prices(std::span<const double> prices) {
        before_.resize(prices.size() + 1);
        before_[0] = 0;
        for (std::size_t s = 0; s < prices.size(); ++s)
            before_[s + 1] = before_[s] + prices[s];
    }
    [[nodiscard]] double over(const relaxed_gap& gap) const {
        const double whole = before_[gap.upper + 1];
        return gap.wrapped ? whole + before_.back() - before_[gap.lower] : whole - before_[gap.lower];
    }
    void spread(const relaxed_gap& gap, double bytes) {
        if (gap.wrapped) taken_[0] += bytes;
        taken_[gap.upper + 1] -= bytes;
        taken_[gap.lower] += bytes;
    }
    /// Strides: a gap's by the steps that it spans, a step's by the gaps that span it.
    void scale() {
        std::vector<double> counts(prices_.size(), 0);
        for (std::size_t s = 0; s < counts.size(); ++s)
            counts[s] = problem_.lacking[s] > 0 ? 1 : 0;
        sum_prices(counts);
        taken_.assign(prices_.size() + 1, 0);
        for (std::size_t v = 0; v + 1 < problem_.first.size(); ++v) {
            double most = 1e-9;
            for (std::uint32_t g = problem_.first[v]; g < problem_.first[v + 1]; ++g) {
                most = std::max(most, over(problem_.gaps[g]));
                spread(problem_.gaps[g], 1);
            }
            gap_stride_.push_back(1 / most);
        }
        double spanning = 0;
        for (std::size_t s = 0; s < prices_.size(); ++s) {
            spanning += taken_[s];
            step_stride_.push_back(counts[s] > 0 && spanning > 0.5 ? 1 / spanning : 0);
            if (step_stride_[s] <= 0) prices_[s] = 0;
        }
    }
    /// Gaps leave where the prices of their steps are worth it.
    void leave() {
        sum_prices(prices_);
        taken_.assign(prices_.size() + 1, 0);
        const double gaps_pace = 1 / weight_;
        for (std::size_t v = 0; v + 1 < problem_.first.size(); ++v) {
            const std::uint32_t begin = problem_.first[v];
            const std::uint32_t end = problem_.first[v + 1];
            const double stride = gap_stride_[v] * gaps_pace;
            const double out = stride * out_rate_[v];
            if (end == begin + 1) {
                const double wanted = left_[begin] + stride * (over(problem_.gaps[begin]) - in_rate_[begin]);
                const double next = std::clamp(wanted - out, 0.0, whole_[v]);
                spread(problem_.gaps[begin], 2 * next - left_[begin]);
                left_[begin] = next;
                continue;
            }
            wanted_.clear();
            for (std::uint32_t g = begin; g < end; ++g)
                wanted_.push_back(left_[g] + stride * (over(problem_.gaps[g]) - in_rate_[g]));
            const double most = std::clamp(level(out), 0.0, whole_[v]);
            for (std::uint32_t g = begin; g < end; ++g) {
                const double next = std::clamp(wanted_[g - begin], 0.0, most);
                spread(problem_.gaps[g], 2 * next - left_[g]);
                left_[g] = next;
            }
        }
    }
    /// The level to which what is wanted is cut, if a unit of level costs as much as `out` of what is cut.
    [[nodiscard]] double level(double out) {
        ranked_ = wanted_;
        std::sort(ranked_.begin(), ranked_.end());
        double above = 0;
        double found = 0;
        for (std::size_t k = ranked_.size(); k-- > 0;) {
            above += ranked_[k];
            found = (above - out) / static_cast<double>(ranked_.size() - k);
            if (k == 0 || found >= ranked_[k - 1]) break;
        }
        return found;
    }
    /// Prices rise where too little leaves.
    void price() {
        double leaving = 0;
        for (std::size_t s = 0; s < prices_.size(); ++s) {
            leaving += taken_[s];
            prices_[s] =
                std::max(0.0, prices_[s] + weight_ * step_stride_[s] * (problem_.lacking[s] - leaving));
        }
    }

    relaxed_problem problem_;
    double weight_ = 1;                // of the prices' strides, against the gaps'
    double unit_ = 1;                  // bytes in the unit of left_
    std::vector<double> in_rate_;      // by gap: what a byte's return costs
    std::vector<double> out_rate_;     // by group: what a byte's way out costs
    std::vector<double> whole_;        // by group: all of a gap, in units
    std::vector<double> prices_;       // by step
    std::vector<double> left_;         // by gap: how much of it is absent
    std::vector<double> gap_stride_;   // by group
    std::vector<double> step_stride_;  // by step
    std::vector<double> left_sum_;
    std::vector<double> left_before_;  // at the last restart
    std::vector<double> prices_before_;
    std::vector<double> price_sum_;
    std::size_t rounds_ = 0;
    std::vector<double> before_;  // by step: the sum of the prices before it
    std::vector<double> taken_;   // by step: change of what leaves
    std::vector<double> wanted_;  // of one group
    std::vector<double> ranked_;
};
using relaxation = basic_relaxation<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_relaxation<>;
#endif

}  // namespace stowage::turnip::detail
