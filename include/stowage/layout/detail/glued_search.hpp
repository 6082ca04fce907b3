#pragma once
// Gluing: the blocks are joined to boxes at random (see boxing.hpp), tightly and loosely in turn, and the
// valley search places the boxes. What is found is a layout of the whole problem; what is not found says
// nothing. On the hard public problems it needs a hundredth of the work of the search without boxes, most of
// all with boxes that waste nothing and are joined until no two can be: a third or a fifth of the blocks.

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
template <class Tag = void>
class basic_glued_search {
public:
    /// `whole` must outlive this; `durations` are those of its blocks.
    basic_glued_search(const strip& whole, std::vector<std::int64_t> durations, std::uint64_t seed)
        : durations_(std::move(durations)), random_(seed), boxing_(whole, durations_) {}
    /// False once nothing could be joined in every way: then this is no other search than the one without.
    [[nodiscard]] bool worthwhile() const noexcept { return idle_ < most_idle; }
    /// After `feasible`: asks for `units` less. The boxes that led there and what has been learnt of them are
    /// kept: they often lead further down for a hundredth of what other boxes would take.
    void lower_by(std::int64_t units) {
        boxing_.lower_by(units);
        run_ = 1;
        warm_ = true;
    }
    /// True from lower_by() until its boxes are given up, which ends run().
    [[nodiscard]] bool warm() const noexcept { return warm_; }
    /// feasible or unknown.
    status run(const valley_rules& rules, budget& account) {
        while (worthwhile() && !account.exhausted()) {
            if (run_ == 0 && !join(account)) continue;
            valley_rules here = rules;
            here.pivot = pivot_;
            factors_->apply(key_);
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
                if (warm_) break;
            }
        }
        warm_ = warm_ && run_ > 0;
        return status::unknown;
    }
    /// Offsets of the blocks of the whole, in units of the strip, after `feasible`.
    [[nodiscard]] std::vector<std::int64_t> offsets() const {
        return boxing_.offsets_of_blocks(engine_->offsets());
    }

private:
    static constexpr std::size_t runs_an_episode = 30;
    /// Boxes that waste nothing, joined to the end, and ways that waste a little: the more rounds, the less
    /// may one joint waste. Where the first leave less than half as many boxes as there are blocks they are
    /// by far the better ones and have five of six episodes, else one of four.
    static constexpr boxing_rules tight{.rounds = 20, .chance = 0.5, .share = 0, .most = 0};
    static constexpr std::array loose{boxing_rules{.rounds = 8, .chance = 0.7, .share = 0.3, .most = 0.05},
                                      boxing_rules{.rounds = 4, .chance = 0.85, .share = 0.3, .most = 0.1},
                                      boxing_rules{.rounds = 12, .chance = 0.55, .share = 0.5, .most = 0.03}};
    static constexpr std::size_t most_idle = 8;  // episodes in a row that join nothing, all ways among them
    /// Which key and which pivot serve a problem best cannot be told before: they are drawn. By size learning
    /// is best, as without boxes.
    static constexpr std::array keys{block_key::size, block_key::size, block_key::width_squared,
                                     block_key::size, block_key::size, block_key::width,
                                     block_key::size, block_key::size, block_key::duration,
                                     block_key::size, block_key::size, block_key::area};
    static constexpr std::array pivots{pivot_rule::fewest_lowest, pivot_rule::lowest_fewest,
                                       pivot_rule::fewest_lowest, pivot_rule::fewest_narrowest};

    /// Makes this episode's boxes; false if none could be joined, and the episode is over.
    bool join(budget& account) {
        const bool tightly = tight_serves_ ? episode_ % 6 != 1 : episode_ % 4 == 0;
        boxing_rules way = tightly ? tight : loose[loosely_++ % loose.size()];
        way.share *= random_.uniform();
        way.most *= random_.uniform();
        const std::uint64_t before = boxing_.work();
        boxing_.join(way, random_);
        account.spend(1 + durations_.size() / 16 + (boxing_.work() - before) / 400);
        if (tightly) tight_serves_ = 2 * boxing_.boxes().blocks.size() < durations_.size();
        if (!boxing_.joined()) {
            ++idle_;
            ++episode_;
            return false;
        }
        idle_ = 0;
        engine_ =
            std::make_unique<basic_valley_engine<Tag>>(boxing_.boxes().blocks, boxing_.boxes().sections);
        factors_ = std::make_unique<basic_learnt_factors<Tag>>(*engine_, boxing_.durations());
        if (episode_ > 0) factors_->shake(0.05, random_);
        key_ = keys[random_.below(keys.size())];
        pivot_ = pivots[random_.below(pivots.size())];
        return true;
    }

    std::vector<std::int64_t> durations_;
    stowage::detail::splitmix64 random_;
    boxing boxing_;
    std::unique_ptr<basic_valley_engine<Tag>> engine_;
    std::unique_ptr<basic_learnt_factors<Tag>> factors_;
    block_key key_ = block_key::size;
    pivot_rule pivot_ = pivot_rule::fewest_lowest;
    bool warm_ = false;
    bool tight_serves_ = true;
    std::size_t loosely_ = 0;  // episodes of boxes that waste something
    std::size_t run_ = 0;
    std::size_t episode_ = 0;
    std::size_t idle_ = 0;  // episodes in a row without boxes
};
using glued_search = basic_glued_search<>;

}  // namespace stowage::layout::detail
