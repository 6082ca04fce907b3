#pragma once
// Gluing: blocks with the same range are joined at random, two of three where there are any, so that the
// search has fewer and more telling blocks to place. What is found is a layout of the whole problem; what is
// not found says nothing. It brings most where many small blocks live long beside few large ones.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/learnt_factors.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_engine.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// Episodes of learning restarts, each with another gluing; call run() as often as wanted, it goes on where
/// it was.
template <class = void>
class basic_glued_search {
public:
    /// `whole` must outlive this; `durations` are those of its blocks.
    basic_glued_search(const strip& whole, std::vector<std::int64_t> durations, std::uint64_t seed)
        : whole_(whole), durations_(std::move(durations)), random_(seed), by_range_(whole.blocks.size()) {
        std::iota(by_range_.begin(), by_range_.end(), 0);
        std::sort(by_range_.begin(), by_range_.end(), [&](std::int32_t a, std::int32_t b) {
            const block& x = whole_.blocks[static_cast<std::size_t>(a)];
            const block& y = whole_.blocks[static_cast<std::size_t>(b)];
            if (x.first != y.first) return x.first < y.first;
            if (x.last != y.last) return x.last < y.last;
            return x.headroom != y.headroom ? x.headroom < y.headroom : a < b;
        });
        for (std::size_t k = 1; k < by_range_.size(); ++k) {
            if (alike(by_range_[k - 1], by_range_[k])) worthwhile_ = true;
        }
    }
    /// False if no two blocks can be glued: then this is no other search than the one without.
    [[nodiscard]] bool worthwhile() const noexcept { return worthwhile_; }
    /// feasible or unknown.
    status run(const valley_rules& rules, budget& account) {
        static constexpr std::array keys{block_key::duration,      block_key::size,
                                         block_key::width,         block_key::area,
                                         block_key::width_squared, block_key::section_area};
        while (worthwhile_ && !account.exhausted()) {
            if (run_ == 0) glue();
            valley_rules here = rules;
            here.pivot = episode_ % 3 == 2 ? pivot_rule::lowest_fewest : pivot_rule::fewest_lowest;
            factors_->apply(keys[episode_ % keys.size()]);
            const std::uint64_t limit = 2 * glued_.blocks.size() + 50;
            const status answer = solve_within(*engine_, glued_.capacity, here, limit, account);
            if (answer == status::feasible) return answer;
            // A gluing can be refused before the first node, which alone would spend nothing.
            if (!account.spend(1 + whole_.blocks.size() / 16)) break;
            factors_->learn(0.5, random_);
            // A gluing without a layout is a bad one.
            if (++run_ == runs_an_episode || answer == status::infeasible) {
                run_ = 0;
                ++episode_;
            }
        }
        return status::unknown;
    }
    /// Offsets of the blocks of the whole, in units of the strip, after `feasible`.
    [[nodiscard]] std::vector<std::int64_t> offsets() const {
        std::vector<std::int64_t> result(whole_.blocks.size());
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = engine_->offsets()[places_[i].glued] + places_[i].distance;
        }
        return result;
    }

private:
    static constexpr std::size_t runs_an_episode = 30;
    struct place {
        std::size_t glued = 0;
        std::int64_t distance = 0;
    };

    [[nodiscard]] bool alike(std::int32_t a, std::int32_t b) const {
        const block& x = whole_.blocks[static_cast<std::size_t>(a)];
        const block& y = whole_.blocks[static_cast<std::size_t>(b)];
        return x.first == y.first && x.last == y.last && x.headroom == y.headroom;
    }
    void glue() {
        static constexpr std::array chances{0.7, 0.85, 0.55};
        const double chance = chances[episode_ % chances.size()];
        glued_.capacity = whole_.capacity;
        glued_.unit = whole_.unit;
        glued_.sections = whole_.sections;
        glued_.blocks.clear();
        glued_durations_.clear();
        places_.assign(whole_.blocks.size(), {});
        for (std::size_t k = 0; k < by_range_.size(); ++k) {
            const auto i = static_cast<std::size_t>(by_range_[k]);
            const bool join = k > 0 && alike(by_range_[k - 1], by_range_[k]) && random_.uniform() < chance;
            if (!join) {
                places_[i] = {glued_.blocks.size(), 0};
                glued_.blocks.push_back(whole_.blocks[i]);
                glued_durations_.push_back(durations_[i]);
                continue;
            }
            places_[i] = {glued_.blocks.size() - 1, glued_.blocks.back().size};
            glued_.blocks.back().size += whole_.blocks[i].size;
        }
        engine_ = std::make_unique<valley_engine>(glued_.blocks, glued_.sections);
        factors_ = std::make_unique<learnt_factors>(*engine_, glued_durations_);
        if (episode_ > 0) factors_->shake(0.05, random_);
    }

    const strip& whole_;
    std::vector<std::int64_t> durations_;
    stowage::detail::splitmix64 random_;
    std::vector<std::int32_t> by_range_;
    bool worthwhile_ = false;
    strip glued_;
    std::vector<std::int64_t> glued_durations_;
    std::vector<place> places_;  // one a block of the whole
    std::unique_ptr<valley_engine> engine_;
    std::unique_ptr<learnt_factors> factors_;
    std::size_t run_ = 0;
    std::size_t episode_ = 0;
};
using glued_search = basic_glued_search<>;

}  // namespace stowage::layout::detail
