#pragma once
// The relaxed problem of a bound on bytes, without what cannot matter or hardly does: steps whose demand
// another step's implies, gaps over no step that is over-full, and a trifle of the smallest buffers. Rounds
// of its solution are then several times as cheap, and fewer are needed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <stowage/turnip/detail/relaxation.hpp>
#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// One relaxed problem made smaller, and the way back. O(gaps log gaps + steps) to make. The model and the
/// gaps must outlive it.
template <class = void>
class basic_compact_relaxation {
public:
    /// `gaps`: of the model, group by group; group v has [first[v], first[v + 1]) of them and costs `out[v]`
    /// if one leaves. `free`, by step: bytes for all that stay.
    basic_compact_relaxation(const residency_model& model, const std::vector<std::uint32_t>& gaps,
                             const std::vector<std::uint32_t>& first, const std::vector<std::int64_t>& out,
                             const std::vector<std::int64_t>& free)
        : model_(model), gaps_(gaps), first_(first), steps_(free.size()), used_(gaps.size(), 1) {
        std::vector<double> lacking = lacks(free);
        leave_out_idle(lacking);
        leave_out_trifles(lacking);
        lacking = lacks(free);
        choose_steps(lacking, free);
        map_gaps(out);
        for (const std::uint32_t s : chosen_)
            problem_.lacking.push_back(lacking[s]);
    }
    [[nodiscard]] const relaxed_problem& problem() const noexcept { return problem_; }
    /// Prices of all steps, each given to the step of the problem before it (or the first one).
    [[nodiscard]] std::vector<double> fold(const std::vector<double>& prices) const {
        std::vector<double> folded(chosen_.size(), 0);
        for (std::size_t k = 0, s = 0; s < prices.size() && !folded.empty(); ++s) {
            while (k + 1 < chosen_.size() && chosen_[k + 1] <= s)
                ++k;
            folded[k] += prices[s];
        }
        return folded;
    }
    /// Prices of all steps from those of the problem's.
    [[nodiscard]] std::vector<double> unfold(const std::vector<double>& prices) const {
        std::vector<double> unfolded(steps_, 0);
        for (std::size_t k = 0; k < chosen_.size(); ++k)
            unfolded[chosen_[k]] = prices[k];
        return unfolded;
    }
    /// `shares`, by position in `gaps`: what stays, given the part of each of the problem's gaps that leaves;
    /// of those left out what `stayed`.
    void read_shares(const std::vector<double>& absent, const std::vector<char>& stayed,
                     std::vector<double>& shares) const {
        for (std::size_t k = 0; k < shares.size(); ++k)
            shares[k] = stayed[k];
        for (std::size_t g = 0; g < absent.size(); ++g)
            shares[position_[g]] = 1 - absent[g];
    }

private:
    static constexpr double trifle = 1e-4;  // of the bytes that lack at the fullest step

    [[nodiscard]] const model_gap& gap(std::size_t k) const { return model_.gaps[gaps_[k]]; }
    /// By step: bytes that lack if all gaps in use stay.
    [[nodiscard]] std::vector<double> lacks(const std::vector<std::int64_t>& free) const {
        std::vector<double> load(steps_ + 1, 0);
        for (std::size_t k = 0; k < gaps_.size(); ++k) {
            if (used_[k] == 0) continue;
            const auto bytes = static_cast<double>(gap(k).bytes);
            if (gap(k).wrapped) load[0] += bytes;
            load[gap(k).upper + 1] -= bytes;
            load[gap(k).lower] += bytes;
        }
        for (std::size_t s = 1; s < load.size(); ++s)
            load[s] += load[s - 1];
        load.pop_back();
        for (std::size_t s = 0; s < steps_; ++s)
            load[s] -= static_cast<double>(free[s]);
        return load;
    }
    /// Gaps that span no step where anything lacks stay.
    void leave_out_idle(const std::vector<double>& lacking) {
        std::vector<std::uint32_t> before(steps_ + 1, 0);
        for (std::size_t s = 0; s < steps_; ++s)
            before[s + 1] = before[s] + (lacking[s] > 0 ? 1 : 0);
        for (std::size_t k = 0; k < gaps_.size(); ++k) {
            const model_gap& g = gap(k);
            std::uint32_t spanned = before[g.upper + 1] - before[g.wrapped ? 0 : g.lower];
            if (g.wrapped) spanned += before[steps_] - before[g.lower];
            if (spanned == 0) used_[k] = 0;
        }
    }
    /// The smallest buffers, as far as they make up a trifle, are taken to leave.
    void leave_out_trifles(const std::vector<double>& lacking) {
        double most = 0;
        for (const double bytes : lacking)
            most = std::max(most, bytes);
        std::vector<std::pair<std::int64_t, std::uint32_t>> by_size;
        for (std::uint32_t v = 0; v + 1 < first_.size(); ++v)
            by_size.emplace_back(gap(first_[v]).bytes, v);
        std::sort(by_size.begin(), by_size.end());
        double sum = 0;
        for (const auto& [bytes, v] : by_size) {
            for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k)
                sum += used_[k] != 0 ? static_cast<double>(bytes) : 0;
            if (sum > trifle * most) break;
            for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k)
                used_[k] = 0;
        }
    }
    /// Of neighbours, a step is implied if all that could leave at the other could leave at it too, and no
    /// more must; or if all that could stay at it could stay at the other, which has no more room.
    void choose_steps(const std::vector<double>& lacking, const std::vector<std::int64_t>& free) {
        std::vector<char> begins(steps_ + 1, 0);
        std::vector<char> ends(steps_ + 1, 0);
        for (std::size_t k = 0; k < gaps_.size(); ++k) {
            if (used_[k] == 0) continue;
            begins[gap(k).lower] = 1;
            ends[gap(k).upper] = 1;
        }
        std::vector<std::uint32_t> begun(steps_, 0);  // by step: the last one until then where a gap begins
        std::vector<std::uint32_t> ended(steps_, 0);  // by step: 1 + the last one before where a gap ends
        for (std::uint32_t s = 1; s < steps_; ++s) {
            begun[s] = begins[s] != 0 ? s : begun[s - 1];
            ended[s] = ends[s - 1] != 0 ? s : ended[s - 1];
        }
        for (std::uint32_t s = 0; s < steps_; ++s) {
            if (lacking[s] <= 0) continue;
            bool implied = false;
            while (!chosen_.empty() && !implied) {
                const std::uint32_t t = chosen_.back();
                const bool fewer_here = begun[s] <= t;   // what spans s spans t
                const bool fewer_there = ended[s] <= t;  // what spans t spans s
                implied = (fewer_there && lacking[t] >= lacking[s]) || (fewer_here && free[s] >= free[t]);
                if (implied) break;
                if (!(fewer_here && lacking[s] >= lacking[t]) && !(fewer_there && free[t] >= free[s])) break;
                chosen_.pop_back();
            }
            if (!implied) chosen_.push_back(s);
        }
    }
    void map_gaps(const std::vector<std::int64_t>& out) {
        std::vector<std::uint32_t> at(steps_ + 1, 0);  // by step: how many chosen ones are before it
        for (const std::uint32_t s : chosen_)
            at[s + 1] = 1;
        for (std::size_t s = 0; s < steps_; ++s)
            at[s + 1] += at[s];
        problem_.first.push_back(0);
        for (std::size_t v = 0; v + 1 < first_.size(); ++v) {
            for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k) {
                if (used_[k] == 0) continue;
                const model_gap& g = gap(k);
                const std::uint32_t until = at[g.upper + 1];  // one past its last
                const std::uint32_t from = at[g.lower];
                relaxed_gap made{from, until - 1, false, static_cast<double>(g.bytes),
                                 static_cast<double>(g.bytes_in)};
                if (g.wrapped && until > 0 && from < chosen_.size()) {
                    made.wrapped = true;
                } else if (g.wrapped) {
                    made.lower = until > 0 ? 0 : from;
                    made.upper = static_cast<std::uint32_t>(until > 0 ? until : chosen_.size()) - 1;
                    if (until == 0 && from == chosen_.size()) continue;
                } else if (until <= from) {
                    continue;
                }
                problem_.gaps.push_back(made);
                position_.push_back(k);
            }
            const auto count = static_cast<std::uint32_t>(problem_.gaps.size());
            if (count == problem_.first.back()) continue;
            problem_.first.push_back(count);
            problem_.out.push_back(static_cast<double>(out[v]));
        }
    }

    const residency_model& model_;
    const std::vector<std::uint32_t>& gaps_;
    const std::vector<std::uint32_t>& first_;
    std::size_t steps_;
    std::vector<char> used_;               // by position in gaps_
    std::vector<std::uint32_t> chosen_;    // the problem's steps
    std::vector<std::uint32_t> position_;  // by gap of the problem, in gaps_
    relaxed_problem problem_;
};
using compact_relaxation = basic_compact_relaxation<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_compact_relaxation<>;
#endif

}  // namespace stowage::turnip::detail
