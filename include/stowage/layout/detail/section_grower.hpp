#pragma once
// Section growing: solve a strip through a tenth of its sections first, take the offsets as the order in
// which blocks are tried, add sections, and so on to all of them. Source: papers/layout.md, "Section
// growing". Some sections alone are a relaxation, so "infeasible" there is a proof for the whole.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/math.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/learnt_factors.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_engine.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// Attempts at one capacity; call run() as often as wanted, it goes on where it was.
template <class Tag = void>
class basic_section_grower {
public:
    /// `whole` must outlive this; `durations` are those of its blocks.
    basic_section_grower(const strip& whole, std::vector<std::int64_t> durations, std::uint64_t seed)
        : whole_(whole), durations_(std::move(durations)), random_(seed) {
        std::vector<std::int64_t> loads(static_cast<std::size_t>(whole.sections), 0);
        for (const block& b : whole.blocks) {
            for (std::int32_t s = b.first; s < b.last; ++s)
                loads[static_cast<std::size_t>(s)] += b.size;
        }
        peak_ = static_cast<std::int32_t>(std::max_element(loads.begin(), loads.end()) - loads.begin());
    }
    /// Attempts until there is an answer or the account runs out.
    status run(const valley_rules& rules, budget& account) {
        while (!account.exhausted()) {
            if (!engine_) start_attempt();
            const status answer = solve_part(rules, account);
            if (answer == status::infeasible) return answer;
            if (answer == status::feasible) {
                if (sections_ == whole_.sections) return answer;
                count_ = std::max(count_ + 1, count_ * growth_);
                take_sections();
            } else if (used_ >= most_nodes()) {
                engine_.reset();
                ++attempts_;
            }
        }
        return status::unknown;
    }
    /// Offsets of the blocks, in units of the strip, after `feasible`.
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return offsets_; }
    /// Sections that sufficed for the proof, ascending, after `infeasible`.
    [[nodiscard]] const std::vector<std::int32_t>& witness() const noexcept { return chosen_; }
    /// Nodes of all searches.
    [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
    /// Attempts given up.
    [[nodiscard]] std::size_t attempts() const noexcept { return attempts_; }

private:
    void start_attempt() {
        static constexpr std::array growths{1.3, 1.15, 1.3, 1.07};
        growth_ = growths[attempts_ / 3 % growths.size()];
        order_sections();
        offsets_.assign(whole_.blocks.size(), -1);
        count_ = std::max(4.0, 0.1 * whole_.sections);
        take_sections();
    }
    /// The order in which this attempt adds sections: from the left, around the peak (at times around any
    /// section), from the right. All keep the sections taken together; by load they would lie apart, which
    /// serves nothing.
    void order_sections() {
        const auto count = static_cast<std::size_t>(whole_.sections);
        std::int32_t middle = peak_;
        if (attempts_ % 12 == 10) middle = static_cast<std::int32_t>(random_.below(count));
        order_.resize(count);
        std::iota(order_.begin(), order_.end(), 0);
        if (attempts_ % 3 == 1) {
            std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
                const std::int32_t x = std::abs(a - middle);
                const std::int32_t y = std::abs(b - middle);
                return x != y ? x < y : a < b;
            });
        } else if (attempts_ % 3 == 2) {
            std::reverse(order_.begin(), order_.end());
        }
    }
    void take_sections() {
        sections_ = static_cast<std::int32_t>(std::min<double>(count_, whole_.sections));
        chosen_.assign(order_.begin(), order_.begin() + sections_);
        std::sort(chosen_.begin(), chosen_.end());
        part_ = restrict_to(whole_, chosen_, origin_);
        engine_ = std::make_unique<basic_valley_engine<Tag>>(part_.blocks, part_.sections);
        keys_.resize(part_.blocks.size());
        used_ = 0;
        run_ = 0;
    }
    /// What a part may cost before the attempt is given up.
    [[nodiscard]] std::uint64_t most_nodes() const noexcept {
        return (whole_.blocks.size() > 600 ? 10 : 20) * part_.blocks.size();
    }
    /// One restart on the part, keys by the offsets found so far (lowest first), new blocks anywhere between
    /// them.
    status solve_part(valley_rules rules, budget& account) {
        static constexpr std::array pivots{pivot_rule::fewest_lowest, pivot_rule::lowest_fewest,
                                           pivot_rule::fewest_narrowest};
        rules.pivot = pivots[run_ % pivots.size()];
        const std::size_t n = part_.blocks.size();
        const double noise = run_ < 3 ? 0 : 0.05 * static_cast<double>(1 + run_ % 5);
        const bool by_key = run_ >= 6 && run_ % 4 == 3;
        for (std::size_t i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(origin_[i]);
            const bool known = offsets_[at] >= 0;
            if (by_key) {
                const auto key = static_cast<block_key>(run_ / 3 % block_keys);
                keys_[i] = 0.05 * stowage::detail::logarithm(key_of(part_.blocks[i], durations_[at], key));
            } else {
                keys_[i] = known ? -static_cast<double>(offsets_[at]) / static_cast<double>(part_.capacity)
                                 : -random_.uniform();
            }
            const double spread = 2 * (random_.uniform() + random_.uniform() + random_.uniform()) - 3;
            keys_[i] += noise * spread * (known ? 0.09 : 0.3);
        }
        engine_->set_keys(keys_);
        const std::uint64_t limit = 2 * n * luby(run_ / 3 + 1) + 50;
        const status answer = solve_within(*engine_, part_.capacity, rules, limit, account);
        ++run_;
        used_ += engine_->nodes();
        nodes_ += engine_->nodes();
        if (answer == status::feasible) {
            for (std::size_t i = 0; i < n; ++i) {
                offsets_[static_cast<std::size_t>(origin_[i])] = engine_->offsets()[i];
            }
        }
        return answer;
    }

    const strip& whole_;
    std::vector<std::int64_t> durations_;
    stowage::detail::splitmix64 random_;
    std::int32_t peak_ = 0;
    std::vector<std::int64_t> offsets_;
    std::size_t attempts_ = 0;
    std::uint64_t nodes_ = 0;
    // of the attempt
    std::vector<std::int32_t> order_;
    double growth_ = 1;
    double count_ = 0;
    // of the part
    std::int32_t sections_ = 0;
    std::vector<std::int32_t> chosen_;
    std::vector<std::int32_t> origin_;
    strip part_;
    std::unique_ptr<basic_valley_engine<Tag>> engine_;
    std::vector<double> keys_;
    std::uint64_t used_ = 0;
    std::uint64_t run_ = 0;
};
using section_grower = basic_section_grower<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_section_grower<>;
#endif

}  // namespace stowage::layout::detail
