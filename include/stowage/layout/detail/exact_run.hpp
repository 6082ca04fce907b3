#pragma once
// The race behind layout::exact: engines take turns in slices of growing length, first at the proven bound,
// then also between the bound and the best arena so far; whoever answers first ends its question for all.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/glued_search.hpp>
#include <stowage/layout/detail/key_search.hpp>
#include <stowage/layout/detail/section_grower.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_restarts.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// Valley search, the same on glued blocks and section growing on one question: "within this capacity?".
template <class Tag = void>
class basic_capacity_question {
public:
    basic_capacity_question(const sections& compact, std::int64_t capacity, std::uint64_t seed,
                            bool slow_only)
        : bytes_(capacity), whole_(make_strip(compact, capacity)), durations_(durations_of(compact)),
          seed_(seed), slow_only_(slow_only) {
        if (compact.gapped) apart_ = make_strip(compact, capacity, true);
        fits_apart_ = !compact.gapped;
    }
    /// Refutes the question with the pieces of buffers with gaps apart: infeasible, or unknown.
    status refute(const valley_rules& rules, budget& account) {
        if (fits_apart_) return status::unknown;
        if (!refuter_)
            refuter_ = std::make_unique<basic_valley_restarts<Tag>>(apart_, durations_, seed_, slow_only_);
        const status answer = refuter_->run(rules, rules.bound, account);
        fits_apart_ = answer == status::feasible;
        return fits_apart_ ? status::unknown : answer;
    }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] const strip& whole() const noexcept { return whole_; }
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return offsets_; }
    status search(const valley_rules& rules, budget& account) {
        if (!valley_)
            valley_ = std::make_unique<basic_valley_restarts<Tag>>(whole_, durations_, seed_, slow_only_);
        const status answer = valley_->run(rules, rules.bound, account);
        if (answer == status::feasible) offsets_ = valley_->offsets();
        return answer;
    }
    status glue(const valley_rules& rules, budget& account) {
        if (!glued_) glued_ = std::make_unique<basic_glued_search<Tag>>(whole_, durations_, seed_);
        const status answer = glued_->run(rules, account);
        if (answer == status::feasible) offsets_ = glued_->offsets();
        return answer;
    }
    /// After `feasible` by gluing: lets that ask for at least `step` bytes less than `arena`, and no less
    /// than `least`, with the boxes that it has; false if there is nothing between. No other search is asked
    /// from then on.
    bool lower(std::int64_t arena, std::int64_t step, std::int64_t least) {
        const std::int64_t unit = whole_.unit;
        const std::int64_t units = std::max<std::int64_t>(1, (bytes_ - arena + step + unit - 1) / unit);
        if (units > (bytes_ - least) / unit) return false;
        glued_->lower_by(units);
        bytes_ -= units * unit;
        return true;
    }
    /// True from lower() until the boxes are given up.
    [[nodiscard]] bool warm() const { return glued_ && glued_->warm(); }
    status grow(const valley_rules& rules, budget& account) {
        if (!grower_) grower_ = std::make_unique<basic_section_grower<Tag>>(whole_, durations_, seed_);
        const status answer = grower_->run(rules, account);
        if (answer == status::feasible) offsets_ = grower_->offsets();
        return answer;
    }

private:
    std::int64_t bytes_;
    strip whole_;
    strip apart_;  // with gaps: each piece at an offset of its own
    std::vector<std::int64_t> durations_;
    std::uint64_t seed_;
    bool slow_only_;
    bool fits_apart_;
    std::unique_ptr<basic_valley_restarts<Tag>> refuter_;
    std::unique_ptr<basic_valley_restarts<Tag>> valley_;
    std::unique_ptr<basic_glued_search<Tag>> glued_;
    std::unique_ptr<basic_section_grower<Tag>> grower_;
    std::vector<std::int64_t> offsets_;
};
using capacity_question = basic_capacity_question<>;

/// What the race may do; see layout::exact_options.
struct exact_settings {
    valley_rules rules;
    std::size_t small = 0;
    std::size_t middling = 0;
    bool keys = true;
    bool between = true;
};

/// One race for the best layout of a problem in one pool. With pins or gaps the keys of skylines take no
/// part.
template <class Tag = void>
class basic_exact_run {
public:
    basic_exact_run(const problem& problem, const sections& compact, context& context,
                    const exact_settings& settings)
        : problem_(problem), compact_(compact), context_(context), settings_(settings), base_(compact),
          learnt_(base_, context.seed, 100, 0.2), noisy_(base_, context.seed), best_(context.target),
          first_bound_(context.lower_bound) {}

    /// The best layout below context.target, or an empty list; raises context.lower_bound where it can.
    offset_list operator()() {
        const std::size_t n = compact_.items.size();
        const bool complete = n <= settings_.middling;
        const bool keys = settings_.keys && !compact_.pinned && !compact_.gapped;
        if (!complete && !keys) return {};
        shares part = shares_of(n);
        double slice = std::clamp(20.0 * static_cast<double>(n), 5'000.0, 400'000.0);
        for (int round = 0; !done(); ++round, slice *= 1.5) {
            if (complete && n <= settings_.small) ask_both(part, slice);
            if (keys) ask_keys(part, slice);
            if (complete && n > settings_.small) ask_both(part, slice);
            if (complete && settings_.between && round > 1) ask_between(2.5 * slice);
            // What was not found early is found through boxes, if at all, and rather above the bound.
            if (round == 3) {
                part.search *= 0.5;
                part.glue *= 0.25;
            }
        }
        return std::move(offsets_);
    }

private:
    /// How long the engines' turns are. The complete ones decide small problems; conflict-driven keys are at
    /// their best on 500 to 3,000 buffers, noise on more.
    struct shares {
        double search;
        double glue;
        double grow;
        double learn;
        double noise;
    };
    [[nodiscard]] static shares shares_of(std::size_t n) noexcept {
        if (n <= 480) return {0.8, 1.2, 0.1, 0.1, 0.05};
        if (n <= 600) return {0.5, 0.5, 0.2, 1, 0.2};
        if (n <= 4000) return {0.5, 0.5, 0.2, 1, 0.5};
        return {0, 0, 0, 0.25, 1};
    }
    [[nodiscard]] bool done() {
        return best_ <= context_.lower_bound || (context_.decide && context_.lower_bound > first_bound_) ||
               context_.account.exhausted() || !affords_ranking(context_.account, compact_.items.size());
    }

    /// Lets `work` spend at most `units` of the account.
    template <class Work>
    auto within(double units, Work work) {
        budget part = context_.account.slice(static_cast<std::uint64_t>(units));
        auto result = work(part);
        context_.account.settle(part);
        return result;
    }

    void offer(std::int64_t arena, offset_list offsets, const char* who) {
        if (arena >= best_) return;
        best_ = arena;
        offsets_ = std::move(offsets);
        context_.found_by = who;
    }
    /// Takes a question's answer into account; true if it is answered.
    bool settle(const capacity_question& question, status answer, const char* who) {
        if (answer == status::feasible) {
            offset_list offsets = offsets_in_bytes(problem_, compact_, question.whole(), question.offsets());
            const std::int64_t arena = arena_of(problem_, offsets);
            offer(arena, std::move(offsets), who);
        } else if (answer == status::infeasible) {
            context_.lower_bound = std::max(context_.lower_bound, next_arena(compact_, question.bytes()));
        }
        return answer != status::unknown;
    }
    /// All engines on one question; true if it is answered.
    bool ask(capacity_question& question, const shares& part, double slice) {
        const auto refute = [&](budget& account) { return question.refute(settings_.rules, account); };
        if (compact_.gapped &&
            (settle(question, within(0.2 * part.search * slice, refute), "valley search") ||
             context_.account.exhausted()))
            return true;
        const auto search = [&](budget& account) { return question.search(settings_.rules, account); };
        if (settle(question, within(part.search * slice, search), "valley search") ||
            context_.account.exhausted())
            return true;
        const auto glue = [&](budget& account) { return question.glue(settings_.rules, account); };
        if (settle(question, within(part.glue * slice, glue), "glued valley search") ||
            context_.account.exhausted())
            return true;
        const auto grow = [&](budget& account) { return question.grow(settings_.rules, account); };
        return settle(question, within(part.grow * slice, grow), "section growing");
    }
    void ask_both(const shares& part, double slice) {
        while (!done()) {
            if (!at_bound_ || at_bound_->bytes() != context_.lower_bound) {
                at_bound_ = std::make_unique<basic_capacity_question<Tag>>(compact_, context_.lower_bound,
                                                                           context_.seed, false);
            }
            if (!ask(*at_bound_, part, slice)) return;
        }
    }
    void ask_keys(const shares& part, double slice) {
        if (part.noise > part.learn) add_noise(part.noise * slice);
        if (!done() && within(part.learn * slice, [&](budget& account) { return learn(account); })) {
            offer(arena_of_items(compact_, base_.offsets), by_buffer(), "conflict keys");
        }
        if (part.noise <= part.learn) add_noise(part.noise * slice);
    }
    bool learn(budget& account) { return learnt_.run(context_.lower_bound, account); }
    void add_noise(double units) {
        if (done()) return;
        within(units, [&](budget& account) {
            while (best_ > context_.lower_bound) {
                const std::int64_t arena = noisy_.run(context_.lower_bound, best_, account);
                if (arena < 0) break;
                offer(arena, by_buffer(), "perturbed keys");
            }
            return true;
        });
    }
    [[nodiscard]] offset_list by_buffer() const {
        return offsets_by_buffer(problem_, compact_, base_.offsets);
    }

    /// Capacities between the bound and the best arena, the middle first: what the bound refuses for long may
    /// still be had in part. A question that stays open for two turns gives way to one nearer to the best
    /// arena, the nearest to the middle again; the boxes that answered one go on, in small steps, as long as
    /// they serve.
    void ask_between(double units) {
        while (units >= 1 && !done() && best_ != std::numeric_limits<std::int64_t>::max()) {
            if (!between_ || between_->bytes() >= best_ || between_->bytes() < context_.lower_bound) {
                const auto gap = static_cast<double>(best_ - context_.lower_bound);
                const std::int64_t aim = context_.lower_bound + static_cast<std::int64_t>(gap * share_);
                if (aim <= context_.lower_bound || aim >= best_) return;
                const std::uint64_t seed = stowage::detail::splitmix64(context_.seed + ++questions_)();
                between_ = std::make_unique<basic_capacity_question<Tag>>(compact_, aim, seed, true);
                patience_ = 0;
            }
            const std::uint64_t before = context_.account.spent();
            const double turn =
                std::min(units, std::max(20'000.0, 100.0 * static_cast<double>(compact_.items.size())));
            const auto search = [&](budget& account) { return between_->search(settings_.rules, account); };
            const auto glue = [&](budget& account) { return between_->glue(settings_.rules, account); };
            const bool warm = between_->warm();
            const bool searched = !warm && settle(*between_, within(0.15 * turn, search), "valley search");
            const bool glued =
                !searched && settle(*between_, within(0.85 * turn, glue), "glued valley search");
            if (context_.account.spent() == before) return;  // what is left is too little for a turn
            units -= static_cast<double>(context_.account.spent() - before);
            if (searched || glued) share_ = 0.5;
            if (glued) {
                const std::int64_t step = (best_ - context_.lower_bound) / 16;
                if (!between_->lower(best_, std::max<std::int64_t>(1, step), context_.lower_bound))
                    between_.reset();
            } else if (searched || (warm && !between_->warm())) {
                between_.reset();
            } else if (!warm && ++patience_ == 2) {
                share_ = share_ < 0.85 ? share_ + 0.2 : 0.5;
                between_.reset();
            }
        }
    }

    const problem& problem_;
    const sections& compact_;
    context& context_;
    const exact_settings& settings_;
    basic_key_search_base<Tag> base_;
    basic_learnt_keys<Tag> learnt_;
    basic_noisy_keys<Tag> noisy_;
    std::unique_ptr<basic_capacity_question<Tag>> at_bound_;
    std::unique_ptr<basic_capacity_question<Tag>> between_;
    std::int64_t best_;
    std::int64_t first_bound_;
    offset_list offsets_;
    std::uint64_t questions_ = 0;
    double share_ = 0.5;
    int patience_ = 0;
};
using exact_run = basic_exact_run<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_exact_run<>;
#endif

}  // namespace stowage::layout::detail
