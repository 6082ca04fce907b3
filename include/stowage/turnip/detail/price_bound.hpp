#pragma once
// A proven lower bound on the bytes that any memgraph for one order moves, with its witness: a price for each
// step. Each gap takes the cheaper of staying (its bytes at the prices of its steps) and leaving (its bytes
// in, its version's bytes out); the sum of these, less what the capacity is worth at the prices, can be
// passed by no plan, even by one that moves single bytes. Source: linear programming duality;
// papers/offload.md, "The bound".
//
// To check a witness: with prices p(t) >= 0, free(t) = capacity + round_off - forced(t) and
// stay(g) = bytes(g) x the sum of p over the gap's steps, the bound is constant_in + constant_out
// - sum of p(t) free(t) + sum over versions of min(sum of stay(g), bytes_out + sum of min(bytes_in(g),
// stay(g))).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/turnip/detail/compact_relaxation.hpp>
#include <stowage/turnip/detail/relaxation.hpp>
#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// Sums of prices times bytes, whole; g++ and clang have the type, the standard does not.
__extension__ using wide_int = __int128;

/// What is settled about a gap.
enum class gap_decision : std::uint8_t { open, kept, absent };

/// Searches for prices with a large bound. The model must outlive it; all of its devices count as one pool of
/// `capacity` bytes. O(gaps + steps) memory and time for one evaluation.
template <class = void>
class basic_price_bound {
public:
    /// `decided`, by gap: what is settled beforehand (empty: nothing); the bound is then one of all plans
    /// that agree with it. `device`: only its gaps and steps count, as if no other had any.
    basic_price_bound(const residency_model& model, std::int64_t capacity,
                      std::span<const gap_decision> decided = {}, memory_index device = anywhere)
        : model_(model), prices_(model.steps.size(), 0), free_(model.steps.size()),
          constant_(model.constant_in + model.constant_out) {
        std::int64_t round_off = 0;
        for (const std::int64_t bytes : model.round_off)
            round_off = std::max(round_off, bytes);
        for (std::size_t s = 0; s < free_.size(); ++s) {
            free_[s] = capacity > std::numeric_limits<std::int64_t>::max() - round_off ? capacity
                                                                                       : capacity + round_off;
            for (memory_index d = 0; d < model.devices; ++d) {
                if (device == anywhere || device == d) free_[s] -= model.forced[d][s];
            }
        }
        settle(decided);
        group_gaps(decided, device);
    }
    /// False if the decisions alone overfill some step: no plan agrees with them.
    [[nodiscard]] bool possible() const noexcept { return possible_; }

    /// Raises the bound by exact line searches on the price of the most over-full step, then by rounds of the
    /// relaxed problem's solution and by steps along subgradients; stops when it meets `known`, the bytes of
    /// a plan, or `clock`, if given, is exhausted. `evaluations`: at most so many; `rounds`: of the relaxed
    /// problem, each about as long.
    void improve(std::int64_t known, std::size_t evaluations, std::size_t rounds = 0,
                 budget* clock = nullptr) {
        const auto target = static_cast<double>(known) * (1 - 1e-7);
        best_ = evaluate();
        best_prices_ = prices_;
        const std::size_t searches = std::min<std::size_t>(evaluations / 2, most_searches);
        std::size_t stuck = 0;
        for (std::size_t k = 0;
             k < searches && best_ < target && stuck < 8 && !stowage::detail::is_over(clock); ++k) {
            const std::size_t step = most_overfull();
            if (step == free_.size()) break;
            search_line(step);
            stuck = note(evaluate()) ? 0 : stuck + 1;
        }
        shares_.assign(gaps_.size(), 0.5);
        if (!relax(target, rounds, clock)) climb(target, evaluations - searches, clock);
        prices_ = best_prices_;
    }
    /// The bound at the best prices, in whole arithmetic: rounding cannot make it too large.
    [[nodiscard]] std::int64_t proven() const {
        constexpr int scale_bits = 24;
        const auto scale = static_cast<double>(std::int64_t{1} << scale_bits);
        std::vector<std::int64_t> before(prices_.size() + 1, 0);
        wide_int value = wide_int{constant_} << scale_bits;
        for (std::size_t s = 0; s < prices_.size(); ++s) {
            const auto price = static_cast<std::int64_t>(prices_[s] * scale);
            before[s + 1] = before[s] + price;
            value -= wide_int{price} * free_[s];
        }
        const auto stay = [&](const model_gap& gap) {
            wide_int length = before[gap.upper + 1] - before[gap.wrapped ? 0 : gap.lower];
            if (gap.wrapped) length += before.back() - before[gap.lower];
            return length * gap.bytes;
        };
        for (std::size_t v = 0; v + 1 < first_.size(); ++v) {
            wide_int all = 0;
            wide_int some = wide_int{out_[v]} << scale_bits;
            for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k) {
                const model_gap& gap = model_.gaps[gaps_[k]];
                const wide_int kept = stay(gap);
                all += kept;
                some += std::min(wide_int{gap.bytes_in} << scale_bits, kept);
            }
            value += std::min(all, some);
        }
        const wide_int whole = value <= 0 ? 0 : (value + (wide_int{1} << scale_bits) - 1) >> scale_bits;
        return std::max(constant_, static_cast<std::int64_t>(whole));
    }
    /// By gap: how much of it stayed, on average over the last steps of the search; close to what the relaxed
    /// problem keeps, and so a good order for insertion.
    [[nodiscard]] std::vector<double> stay_shares() const {
        std::vector<double> shares(model_.gaps.size(), 0);
        for (std::size_t k = 0; k < gaps_.size(); ++k)
            shares[gaps_[k]] = shares_[k];
        return shares;
    }
    /// Starts from these prices instead of 0.
    void start_from(std::span<const double> prices) { prices_.assign(prices.begin(), prices.end()); }
    /// The witness: a price of each step, in bytes moved for each byte of capacity.
    [[nodiscard]] const std::vector<double>& prices() const noexcept { return prices_; }

private:
    static constexpr std::size_t most_searches = 120;

    /// Takes decided gaps out of the problem: kept ones out of the free bytes, the others into the constant.
    void settle(std::span<const gap_decision> decided) {
        out_once_.assign(model_.versions.size(), 0);
        if (decided.empty()) return;
        std::vector<std::int64_t> taken(free_.size() + 1, 0);
        for (std::uint32_t g = 0; g < decided.size(); ++g) {
            const model_gap& gap = model_.gaps[g];
            if (decided[g] == gap_decision::kept) {
                taken[gap.wrapped ? 0 : gap.lower] += gap.bytes;
                taken[gap.upper + 1] -= gap.bytes;
                if (gap.wrapped) taken[gap.lower] += gap.bytes;
            } else if (decided[g] == gap_decision::absent) {
                const std::uint32_t v = model_.copy_of[gap.version];
                constant_ += gap.bytes_in;
                if (!gap.needs_copy || model_.versions[v].goes_out || out_once_[v] != 0) continue;
                out_once_[v] = 1;
                constant_ += model_.versions[v].bytes_out;
            }
        }
        std::int64_t sum = 0;
        for (std::size_t s = 0; s < free_.size(); ++s) {
            sum += taken[s];
            free_[s] -= sum;
            possible_ = possible_ && free_[s] >= 0;
        }
    }
    /// Gaps by the version that goes out for them; gaps that need no copy are versions of their own.
    void group_gaps(std::span<const gap_decision> decided, memory_index device) {
        std::vector<std::uint32_t> group(model_.gaps.size(), none);
        std::vector<std::uint32_t> of_version(model_.versions.size(), none);
        for (std::size_t g = 0; g < group.size(); ++g) {
            if (!decided.empty() && decided[g] != gap_decision::open) continue;
            const model_gap& gap = model_.gaps[g];
            if (device != anywhere && model_.instances[gap.instance].device != device) continue;
            const std::uint32_t v = model_.copy_of[gap.version];
            const bool shares = gap.needs_copy && !model_.versions[v].goes_out && out_once_[v] == 0;
            if (shares && of_version[v] != none) {
                group[g] = of_version[v];
                continue;
            }
            group[g] = static_cast<std::uint32_t>(out_.size());
            if (shares) of_version[v] = group[g];
            out_.push_back(shares ? model_.versions[v].bytes_out : 0);
        }
        first_.assign(out_.size() + 1, 0);
        for (const std::uint32_t v : group) {
            if (v != none) ++first_[v + 1];
        }
        for (std::size_t v = 0; v < out_.size(); ++v)
            first_[v + 1] += first_[v];
        gaps_.resize(first_.back());
        group_of_.resize(first_.back());
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        for (std::uint32_t g = 0; g < group.size(); ++g) {
            if (group[g] == none) continue;
            group_of_[next[group[g]]] = group[g];
            gaps_[next[group[g]]++] = g;
        }
        for (const std::uint32_t g : gaps_) {
            const model_gap& gap = model_.gaps[g];
            spans_.push_back({gap.lower, gap.upper, gap.wrapped, static_cast<double>(gap.bytes),
                              static_cast<double>(gap.bytes_in)});
        }
    }
    /// What the searches need of a gap, side by side in their order.
    struct span_of_gap {
        std::uint32_t lower;
        std::uint32_t upper;
        bool wrapped;
        double bytes;
        double bytes_in;

        [[nodiscard]] bool covers(std::size_t step) const noexcept {
            return wrapped ? step <= upper || step >= lower : step >= lower && step <= upper;
        }
    };
    [[nodiscard]] double stay(const span_of_gap& gap) const {
        double length = before_[gap.upper + 1] - before_[gap.wrapped ? 0 : gap.lower];
        if (gap.wrapped) length += before_.back() - before_[gap.lower];
        return gap.bytes * length;
    }
    void sum_prices() {
        before_.resize(prices_.size() + 1);
        before_[0] = 0;
        for (std::size_t s = 0; s < prices_.size(); ++s)
            before_[s + 1] = before_[s] + prices_[s];
    }
    /// The bound at the current prices; over_ becomes by how much each step is over-full at them.
    double evaluate() {
        sum_prices();
        double value = static_cast<double>(constant_);
        over_.assign(prices_.size() + 1, 0);
        const auto use = [&](std::size_t lower, std::size_t upper, double bytes) {
            over_[lower] += bytes;
            over_[upper + 1] -= bytes;
        };
        stays_.resize(gaps_.size());
        stayed_.assign(gaps_.size(), 0);
        for (std::size_t v = 0; v < out_.size(); ++v) {
            double all = 0;
            auto some = static_cast<double>(out_[v]);
            for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k) {
                stays_[k] = stay(spans_[k]);
                all += stays_[k];
                some += std::min(spans_[k].bytes_in, stays_[k]);
            }
            const bool keeps_all = all <= some;
            value += keeps_all ? all : some;
            for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k) {
                const span_of_gap& gap = spans_[k];
                if (!keeps_all && stays_[k] >= gap.bytes_in) continue;
                stayed_[k] = 1;
                if (gap.wrapped) use(0, gap.upper, gap.bytes);
                use(gap.lower, gap.wrapped ? prices_.size() - 1 : gap.upper, gap.bytes);
            }
        }
        double used = 0;
        for (std::size_t s = 0; s < prices_.size(); ++s) {
            used += over_[s];
            over_[s] = used - static_cast<double>(free_[s]);
            value -= prices_[s] * static_cast<double>(free_[s]);
        }
        return value;
    }
    /// Keeps the best prices; true if they are better by more than a trifle.
    bool note(double value) {
        if (value <= best_) return false;
        const bool better = value > best_ + 1e-7 * std::abs(best_);
        best_ = value;
        best_prices_ = prices_;
        return better;
    }
    [[nodiscard]] std::size_t most_overfull() const {
        std::size_t step = free_.size();
        double most = 0;
        for (std::size_t s = 0; s < free_.size(); ++s) {
            if (over_[s] > most) {
                most = over_[s];
                step = s;
            }
        }
        return step;
    }
    /// The price of one step at which it stops being over-full, the others fixed: the bound is concave in it.
    void search_line(std::size_t step) {
        touched_.clear();
        for (std::uint32_t k = 0; k < gaps_.size(); ++k) {
            if (!spans_[k].covers(step)) continue;
            if (touched_.empty() || touched_.back() != group_of_[k]) touched_.push_back(group_of_[k]);
        }
        const double old = prices_[step];
        double lower = 0;
        double upper = 4;
        for (int round = 0; round < 30; ++round) {
            const double middle = (lower + upper) / 2;
            (used_at(step, middle - old) > static_cast<double>(free_[step]) ? lower : upper) = middle;
        }
        prices_[step] = (lower + upper) / 2;
    }
    /// Bytes that stay at `step` if its price rises by `more`.
    [[nodiscard]] double used_at(std::size_t step, double more) const {
        double used = 0;
        for (const std::uint32_t v : touched_) {
            double all = 0;
            auto some = static_cast<double>(out_[v]);
            double here = 0;
            double here_some = 0;
            for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k) {
                const span_of_gap& gap = spans_[k];
                const bool covered = gap.covers(step);
                const double kept = stays_[k] + (covered ? gap.bytes * more : 0);
                all += kept;
                some += std::min(gap.bytes_in, kept);
                if (!covered) continue;
                here += gap.bytes;
                if (kept < gap.bytes_in) here_some += gap.bytes;
            }
            used += all <= some ? here : here_some;
        }
        return used;
    }
    /// Rounds of the relaxed problem, from the best prices; false if none. Made smaller, it gets more of
    /// them.
    bool relax(double target, std::size_t rounds, budget* clock) {
        const std::size_t stretch = 40;
        if (rounds < stretch || best_ >= target || gaps_.empty()) return false;
        const compact_relaxation compact(model_, gaps_, first_, out_, free_);
        const relaxed_problem& small = compact.problem();
        if (small.gaps.empty()) return false;
        rounds = rounds * (gaps_.size() + free_.size()) / (small.gaps.size() + small.lacking.size());
        relaxation solver(small, compact.fold(best_prices_));
        std::vector<double> absent;
        for (std::size_t done = stretch; done <= rounds && best_ < target && !stowage::detail::is_over(clock);
             done += stretch) {
            solver.run(stretch);
            prices_ = compact.unfold(solver.prices());
            const double now = evaluate();
            note(now);
            prices_ = compact.unfold(solver.mean_prices());
            const double mean = evaluate();
            note(mean);
            absent = solver.mean_absent();
            if (solver.rounds() < std::max(stretch, done / 3)) continue;
            if (mean > now) {
                solver.restart_from_mean();
            } else {
                solver.restart();
            }
        }
        if (!absent.empty()) compact.read_shares(absent, stayed_, shares_);
        return true;
    }
    /// Steps along subgradients with momentum, as long as the target lies above.
    void climb(double target, std::size_t rounds, budget* clock) {
        std::vector<double> direction(prices_.size(), 0);
        double length = 1;
        std::size_t stall = 0;
        prices_ = best_prices_;
        for (std::size_t round = 0;
             round < rounds && best_ < target && length > 1e-6 && !stowage::detail::is_over(clock); ++round) {
            const double value = evaluate();
            for (std::size_t k = 0; k < shares_.size(); ++k)
                shares_[k] += 0.05 * (stayed_[k] - shares_[k]);
            if (note(value)) {
                stall = 0;
            } else if (++stall >= 30) {
                length *= 0.7;
                stall = 0;
                prices_ = best_prices_;
                std::fill(direction.begin(), direction.end(), 0);
                continue;
            }
            double norm = 0;
            for (std::size_t s = 0; s < prices_.size(); ++s) {
                const double slope = prices_[s] <= 0 && over_[s] < 0 ? 0 : over_[s];
                direction[s] = slope + 0.6 * direction[s];
                norm += direction[s] * direction[s];
            }
            if (norm <= 0) break;
            const double stride = length * (target * 1.002 - value) / norm;
            for (std::size_t s = 0; s < prices_.size(); ++s)
                prices_[s] = std::max(0.0, prices_[s] + stride * direction[s]);
        }
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    const residency_model& model_;
    std::vector<double> prices_;
    std::vector<std::int64_t> free_;  // by step: bytes beside those that must be there
    std::int64_t constant_;           // bytes that move whatever is open
    bool possible_ = true;
    std::vector<char> out_once_;        // by version: it goes out by decision
    std::vector<std::int64_t> out_;     // by group: what going out costs
    std::vector<std::uint32_t> first_;  // by group: its gaps in gaps_
    std::vector<std::uint32_t> gaps_;
    std::vector<std::uint32_t> group_of_;  // by position in gaps_
    std::vector<span_of_gap> spans_;       // by position in gaps_
    std::vector<double> before_;           // by step: the sum of the prices before it
    std::vector<double> over_;             // by step: bytes over the capacity at the current prices
    std::vector<double> stays_;            // by position in gaps_: what staying costs
    std::vector<char> stayed_;             // by position in gaps_: 1 if it stayed at the last evaluation
    std::vector<double> shares_;           // by position in gaps_: the average of that
    std::vector<std::uint32_t> touched_;   // groups with a gap over the step that is searched
    double best_ = 0;
    std::vector<double> best_prices_;
};
using price_bound = basic_price_bound<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_price_bound<>;
#endif

}  // namespace stowage::turnip::detail
