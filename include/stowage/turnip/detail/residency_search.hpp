#pragma once
// Improves a residency by ruin and recreation round over-full steps: some kept gaps are let go, or one absent
// gap is forced in, and what then fits comes back in an order with noise. Source: papers/offload.md, "The
// policy".

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/turnip/detail/gap_index.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>

namespace stowage::turnip::detail {

/// A local search on one state. The model must outlive it. One thread at a time.
template <class = void>
class basic_residency_search {
public:
    basic_residency_search(const residency_model& model, std::span<const double> values, std::uint64_t seed)
        : model_(model), index_(model), random_(seed), gaps_of_version_(model.versions.size()) {
        std::vector<std::uint32_t> sharing(model.versions.size(), 0);
        for (const model_gap& gap : model.gaps)
            sharing[model.copy_of[gap.version]] += gap.needs_copy ? 1 : 0;
        for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
            gaps_of_version_[model.copy_of[model.gaps[g].version]].push_back(g);
            weight_.push_back(static_cast<double>(model.gaps[g].bytes));
            // A gap's value is what it saves by what it takes; what it saves changes with its siblings.
            const model_gap& gap = model.gaps[g];
            const std::uint32_t version = model.copy_of[gap.version];
            double saved = static_cast<double>(gap.bytes_in);
            if (gap.needs_copy && !model.versions[version].goes_out)
                saved += static_cast<double>(model.versions[version].bytes_out) / sharing[version];
            taken_.push_back(std::log2((saved + 1e-300) / (values[g] + 1e-300)));
        }
    }

    /// Changes `state` for the better until the account is exhausted or its cost is `target`. A unit of work
    /// is about a microsecond.
    /// A byte of buffers that are split (residency_state::split_bytes) counts as `split_cost` bytes moved.
    void operator()(residency_state& state, std::int64_t target, double split_cost, budget& account) {
        const auto objective = [&] {
            return static_cast<double>(state.cost()) + split_cost * static_cast<double>(state.split_bytes());
        };
        list_overfull(state);
        if (overfull_.empty()) return;
        const auto goal = static_cast<double>(target);
        while (objective() > goal && account.spend(1 + work_ / 20)) {
            work_ = 0;
            const place at = overfull_[random_.below(overfull_.size())];
            const double before = objective();
            changes_.clear();
            look(state, at);
            if (absent_.empty()) continue;
            if (random_.below(2) == 0) {
                force_in(state, pick_absent());
            } else {
                ruin(state);
            }
            recreate(state);
            if (objective() > before) undo(state);
        }
    }

private:
    struct place {
        std::uint32_t step;
        memory_index device;
    };
    /// Steps at which not every gap can be kept.
    void list_overfull(const residency_state& state) {
        overfull_.clear();
        for (memory_index d = 0; d < model_.devices; ++d) {
            std::vector<std::int64_t> wanted(model_.steps.size() + 1, 0);
            for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
                const model_gap& gap = model_.gaps[g];
                if (model_.instances[gap.instance].device != d || state.is_kept(g)) continue;
                wanted[gap.wrapped ? 0 : gap.lower] += gap.bytes;
                wanted[gap.upper + 1] -= gap.bytes;
                if (gap.wrapped) wanted[gap.lower] += gap.bytes;
            }
            std::int64_t sum = 0;
            for (std::uint32_t s = 0; s < model_.steps.size(); ++s) {
                sum += wanted[s];
                if (sum > 0) overfull_.push_back({s, d});
            }
        }
    }
    void look(const residency_state& state, place at) {
        kept_.clear();
        absent_.clear();
        index_.at(at.step, at.device, [&](std::uint32_t g) {
            (state.is_kept(g) ? kept_ : absent_).push_back(g);
            ++work_;
        });
    }
    void keep(residency_state& state, std::uint32_t g) {
        state.keep(g);
        changes_.emplace_back(g, true);
        work_ += 4;
    }
    void drop(residency_state& state, std::uint32_t g) {
        state.drop(g);
        changes_.emplace_back(g, false);
        candidates_.push_back(g);
        work_ += 4;
    }
    [[nodiscard]] double noisy(const residency_state& state, std::uint32_t g, double noise) {
        return std::log2(state.marginal(g) + 1e-300) - taken_[g] + noise * (random_.uniform() - 0.5);
    }
    /// An absent gap, those that cost much more often.
    [[nodiscard]] std::uint32_t pick_absent() {
        double total = 0;
        for (const std::uint32_t g : absent_)
            total += weight_[g];
        double left = total * random_.uniform();
        for (const std::uint32_t g : absent_) {
            left -= weight_[g];
            if (left <= 0) return g;
        }
        return absent_.back();
    }
    /// Lets go of the least worthy kept gaps at the tightest steps of the span until `g` fits. Half of the
    /// time small gaps that cannot make the room are passed over, unless there are no others; else many small
    /// ones may make room for a large one.
    void force_in(residency_state& state, std::uint32_t g) {
        candidates_ = absent_;
        const double noise = random_.below(2) == 0 ? 2 : 12;
        const bool any_size = random_.below(2) == 0;
        const memory_index device = model_.instances[model_.gaps[g].instance].device;
        for (int round = 0; round < 60 && !state.fits(g); ++round) {
            const std::uint32_t step = state.tightest(g);
            std::int64_t lacking = model_.gaps[g].bytes - state.free_at(step, device);
            rank_kept(state, {step, device}, noise);
            while (lacking > 0 && !ranked_.empty()) {
                const std::size_t at = least_worthy(lacking, any_size);
                const std::uint32_t other = ranked_[at].second;
                ranked_.erase(ranked_.begin() + static_cast<std::ptrdiff_t>(at));
                drop(state, other);
                lacking -= model_.gaps[other].bytes;
            }
            if (lacking > 0) return;
        }
        if (state.fits(g)) keep(state, g);
    }
    /// The kept gaps at a step, the least worthy first, give or take.
    void rank_kept(const residency_state& state, place at, double noise) {
        ranked_.clear();
        index_.at(at.step, at.device, [&](std::uint32_t g) {
            ++work_;
            if (state.is_kept(g)) ranked_.emplace_back(noisy(state, g, noise), g);
        });
        work_ += ranked_.size();
        std::sort(ranked_.begin(), ranked_.end());
    }
    /// Of the ranked gaps the least worthy one, if what it takes beyond what is lacking counts against it.
    [[nodiscard]] std::size_t least_worthy(std::int64_t lacking, bool any_size) const {
        std::size_t best = ranked_.size();
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < ranked_.size() && ranked_[k].first < least; ++k) {
            const std::int64_t bytes = model_.gaps[ranked_[k].second].bytes;
            if (!any_size && bytes < lacking / 8) continue;
            const double beyond = std::max(1.0, static_cast<double>(bytes) / static_cast<double>(lacking));
            const double worth = ranked_[k].first + std::log2(beyond);
            if (worth >= least) continue;
            best = k;
            least = worth;
        }
        return best < ranked_.size() ? best : 0;
    }
    void ruin(residency_state& state) {
        candidates_ = absent_;
        const std::size_t count = 1 + random_.below(6);
        for (std::size_t k = 0; k < count && !kept_.empty(); ++k) {
            const std::size_t at = random_.below(kept_.size());
            const std::uint32_t g = kept_[at];
            kept_[at] = kept_.back();
            kept_.pop_back();
            if (!state.is_kept(g)) continue;
            drop(state, g);
            if (random_.below(3) != 0) continue;
            for (const std::uint32_t other : gaps_of_version_[model_.copy_of[model_.gaps[g].version]]) {
                if (state.is_kept(other)) drop(state, other);
            }
        }
    }
    /// What fits comes back, the worthiest first, give or take.
    void recreate(residency_state& state) {
        if (candidates_.size() > most_candidates) thin();
        const double noise = random_.below(2) == 0 ? 1.2 : 6;
        ranked_.clear();
        const std::size_t direct = candidates_.size();
        for (std::size_t k = 0; k < candidates_.size(); ++k) {
            const std::uint32_t g = candidates_[k];
            const double worth = noisy(state, g, noise) + (random_.below(20) == 0 ? 20 : 0);
            ranked_.emplace_back(worth, g);
            // Gaps of one version share its way out: they come back together or not at all.
            if (k >= direct || random_.below(3) != 0) continue;
            const auto& siblings = gaps_of_version_[model_.copy_of[model_.gaps[g].version]];
            for (std::size_t q = 0; q < siblings.size() && q < 8; ++q) {
                if (siblings[q] != g && !state.is_kept(siblings[q]))
                    ranked_.emplace_back(worth - 1e-3, siblings[q]);
            }
        }
        std::sort(ranked_.begin(), ranked_.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        for (const auto& [worth, g] : ranked_) {
            if (state.is_kept(g)) continue;
            work_ += 2;
            if (state.fits(g)) keep(state, g);
        }
    }
    /// A random part of the candidates, the larger ones more often; those just dropped stay.
    void thin() {
        const std::size_t loose = absent_.size();
        const std::size_t fixed = std::min(candidates_.size() - loose, most_candidates / 2);
        const std::size_t chosen = std::min(most_candidates - fixed, loose);
        ranked_.clear();
        for (std::size_t k = 0; k < loose; ++k)
            ranked_.emplace_back(weight_[candidates_[k]] * (0.05 + random_.uniform()), candidates_[k]);
        std::nth_element(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(chosen),
                         ranked_.end(), [](const auto& a, const auto& b) {
                             return a.first != b.first ? a.first > b.first : a.second < b.second;
                         });
        for (std::size_t k = 0; k < chosen; ++k)
            candidates_[k] = ranked_[k].second;
        candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(chosen),
                          candidates_.begin() + static_cast<std::ptrdiff_t>(loose));
        work_ += loose;
    }
    void undo(residency_state& state) {
        while (!changes_.empty()) {
            const auto [g, was_kept] = changes_.back();
            changes_.pop_back();
            if (was_kept) {
                state.drop(g);
            } else {
                state.keep(g);
            }
            work_ += 4;
        }
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::size_t most_candidates = 160;
    const residency_model& model_;
    gap_index index_;
    stowage::detail::splitmix64 random_;
    std::vector<double> taken_;   // by gap, log2: bytes times the price of its span
    std::vector<double> weight_;  // by gap: bytes
    std::vector<std::vector<std::uint32_t>> gaps_of_version_;
    std::vector<place> overfull_;
    std::vector<std::uint32_t> kept_;  // at the step that is looked at
    std::vector<std::uint32_t> absent_;
    std::vector<std::uint32_t> candidates_;
    std::vector<std::pair<double, std::uint32_t>> ranked_;
    std::vector<std::pair<std::uint32_t, bool>> changes_;  // gap; kept or dropped
    std::uint64_t work_ = 0;
};
using residency_search = basic_residency_search<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_residency_search<>;
#endif

}  // namespace stowage::turnip::detail
