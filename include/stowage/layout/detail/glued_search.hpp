#pragma once
// Gluing: the blocks are joined to boxes at random (see boxing.hpp), tightly and loosely in turn, and the
// valley search places the boxes. What is found is a layout of the whole problem; what is not found says
// nothing. On the hard public problems it needs a hundredth of the work of the search without boxes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/boxing.hpp>
#include <stowage/layout/detail/learnt_factors.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_engine.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// Episodes of learning restarts, each with other boxes; call run() as often as wanted, it goes on where it
/// was.
template <class = void>
class basic_glued_search {
public:
    /// `whole` must outlive this; `durations` are those of its blocks.
    basic_glued_search(const strip& whole, std::vector<std::int64_t> durations, std::uint64_t seed)
        : durations_(std::move(durations)), random_(seed), boxing_(whole, durations_) {}
    /// False once nothing could be joined in every way: then this is no other search than the one without.
    [[nodiscard]] bool worthwhile() const noexcept { return idle_ < ways.size(); }
    /// feasible or unknown.
    status run(const valley_rules& rules, budget& account) {
        static constexpr std::array keys{block_key::duration,      block_key::size,
                                         block_key::width,         block_key::area,
                                         block_key::width_squared, block_key::section_area};
        while (worthwhile() && !account.exhausted()) {
            if (run_ == 0 && !join(account)) continue;
            valley_rules here = rules;
            here.pivot = episode_ % 3 == 2 ? pivot_rule::lowest_fewest : pivot_rule::fewest_lowest;
            factors_->apply(keys[episode_ % keys.size()]);
            const std::size_t count = boxing_.boxes().blocks.size();
            const status answer =
                solve_within(*engine_, boxing_.boxes().capacity, here, 2 * count + 50, account);
            if (answer == status::feasible) return answer;
            // Boxes can be refused before the first node, which alone would spend nothing.
            if (!account.spend(1 + count / 16)) break;
            factors_->learn(0.5, random_);
            // Boxes without a layout are bad ones.
            if (++run_ == runs_an_episode || answer == status::infeasible) {
                run_ = 0;
                ++episode_;
            }
        }
        return status::unknown;
    }
    /// Offsets of the blocks of the whole, in units of the strip, after `feasible`.
    [[nodiscard]] std::vector<std::int64_t> offsets() const {
        return boxing_.offsets_of_blocks(engine_->offsets());
    }

private:
    static constexpr std::size_t runs_an_episode = 30;
    /// Nothing wasted, then more and more joined; the more rounds, the less may one joint waste.
    static constexpr std::array ways{boxing_rules{.rounds = 2, .chance = 0.7, .share = 0, .most = 0},
                                     boxing_rules{.rounds = 8, .chance = 0.7, .share = 0.3, .most = 0.05},
                                     boxing_rules{.rounds = 4, .chance = 0.85, .share = 0.3, .most = 0.1},
                                     boxing_rules{.rounds = 12, .chance = 0.55, .share = 0.5, .most = 0.03}};

    /// Makes this episode's boxes; false if none could be joined, and the episode is over.
    bool join(budget& account) {
        boxing_rules way = ways[episode_ % ways.size()];
        way.share *= random_.uniform();
        way.most *= random_.uniform();
        const std::uint64_t before = boxing_.work();
        boxing_.join(way, random_);
        account.spend(1 + durations_.size() / 16 + (boxing_.work() - before) / 400);
        if (!boxing_.joined()) {
            ++idle_;
            ++episode_;
            return false;
        }
        idle_ = 0;
        engine_ = std::make_unique<valley_engine>(boxing_.boxes().blocks, boxing_.boxes().sections);
        factors_ = std::make_unique<learnt_factors>(*engine_, boxing_.durations());
        if (episode_ > 0) factors_->shake(0.05, random_);
        return true;
    }

    std::vector<std::int64_t> durations_;
    stowage::detail::splitmix64 random_;
    boxing boxing_;
    std::unique_ptr<valley_engine> engine_;
    std::unique_ptr<learnt_factors> factors_;
    std::size_t run_ = 0;
    std::size_t episode_ = 0;
    std::size_t idle_ = 0;  // episodes in a row without boxes
};
using glued_search = basic_glued_search<>;

}  // namespace stowage::layout::detail
