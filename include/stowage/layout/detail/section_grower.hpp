#pragma once
// Section growing: solve a strip through a tenth of its sections first, take the offsets as the order in
// which blocks are tried, add sections, and so on to all of them. Source: papers/layout.md, "Section
// growing". Some sections alone are a relaxation, so "infeasible" there is a proof for the whole.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_engine.hpp>
#include <stowage/layout/detail/valley_restarts.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// Attempts at one capacity; call run() as often as wanted, each call starts with a new attempt.
class section_grower {
public:
    /// `whole` must outlive this; `durations` are those of its blocks.
    section_grower(const strip& whole, std::vector<std::int64_t> durations, std::uint64_t seed)
        : whole_(whole), durations_(std::move(durations)), random_(seed) {
        loads_.assign(static_cast<std::size_t>(whole.sections), 0);
        for (const block& b : whole.blocks) {
            for (std::int32_t s = b.first; s < b.last; ++s)
                loads_[static_cast<std::size_t>(s)] += b.size;
        }
    }
    /// Attempts until there is an answer or the account runs out.
    status run(const valley_rules& rules, budget& account) {
        while (!account.exhausted()) {
            const status answer = attempt(rules, account);
            ++attempts_;
            if (answer != status::unknown) return answer;
        }
        return status::unknown;
    }
    /// Offsets of the blocks, in units of the strip, after `feasible`.
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return offsets_; }
    /// Sections that sufficed for the proof, ascending, after `infeasible`.
    [[nodiscard]] const std::vector<std::int32_t>& witness() const noexcept { return chosen_; }
    /// Nodes of all searches.
    [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::size_t attempts() const noexcept { return attempts_; }

private:
    status attempt(const valley_rules& rules, budget& account) {
        static constexpr std::array growths{1.3, 1.15, 1.07};
        const double growth = growths[attempts_ / 12 % growths.size()];
        const std::vector<std::int32_t> order = section_order();
        offsets_.assign(whole_.blocks.size(), -1);
        double count = std::max(4.0, 0.1 * whole_.sections);
        for (;;) {
            const auto sections = static_cast<std::int32_t>(std::min<double>(count, whole_.sections));
            chosen_.assign(order.begin(), order.begin() + sections);
            std::sort(chosen_.begin(), chosen_.end());
            const strip part = restrict_to(whole_, chosen_, origin_);
            const status answer = solve(part, rules, account);
            if (answer != status::feasible || sections == whole_.sections) return answer;
            count = std::max(count + 1, count * growth);
        }
    }
    /// The sections in the order in which this attempt adds them: by load, by nearness to the peak, from one
    /// end.
    std::vector<std::int32_t> section_order() {
        const auto count = static_cast<std::size_t>(whole_.sections);
        const double noise = 0.05 * static_cast<double>(attempts_ / 12 % 3);
        auto peak =
            static_cast<std::int32_t>(std::max_element(loads_.begin(), loads_.end()) - loads_.begin());
        if (attempts_ % 4 == 3) peak = static_cast<std::int32_t>(random_.below(count));
        std::vector<double> score(count);
        for (std::size_t s = 0; s < count; ++s) {
            const auto place = static_cast<double>(s);
            switch (attempts_ % 3) {
                case 0: score[s] = static_cast<double>(loads_[s]) * noise_factor(random_, noise); break;
                case 1: score[s] = -std::abs(place - peak); break;
                default: score[s] = attempts_ / 12 % 2 == 1 ? -place : place; break;
            }
        }
        std::vector<std::int32_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            const double x = score[static_cast<std::size_t>(a)];
            const double y = score[static_cast<std::size_t>(b)];
            return x != y ? x > y : a < b;
        });
        return order;
    }
    /// Restarts on a part, keys by the offsets found so far (lowest first), the others anywhere between them.
    status solve(const strip& part, valley_rules rules, budget& account) {
        valley_engine engine(part.blocks, part.sections);
        const std::size_t n = part.blocks.size();
        const std::uint64_t most_nodes = (whole_.blocks.size() > 600 ? 10 : 30) * n;
        std::vector<double> keys(n);
        std::uint64_t used = 0;
        for (std::uint64_t run = 0; used < most_nodes; ++run) {
            static constexpr std::array pivots{pivot_rule::fewest_lowest, pivot_rule::lowest_fewest,
                                               pivot_rule::fewest_narrowest};
            rules.pivot = pivots[run % pivots.size()];
            const double noise = run < 3 ? 0 : 0.05 * static_cast<double>(1 + run % 5);
            const bool by_key = run >= 6 && run % 4 == 3;
            for (std::size_t i = 0; i < n; ++i) {
                const auto at = static_cast<std::size_t>(origin_[i]);
                const bool known = offsets_[at] >= 0;
                if (by_key) {
                    const auto key = static_cast<block_key>(run / 3 % block_keys);
                    keys[i] = 0.05 * std::log(key_of(part.blocks[i], durations_[at], key));
                } else {
                    keys[i] = known ? -static_cast<double>(offsets_[at]) / static_cast<double>(part.capacity)
                                    : -random_.uniform();
                }
                const double spread = 2 * (random_.uniform() + random_.uniform() + random_.uniform()) - 3;
                keys[i] += noise * spread * (known ? 0.09 : 0.3);
            }
            engine.set_keys(keys);
            const status answer =
                solve_within(engine, part.capacity, rules, 2 * n * luby(run / 3 + 1) + 50, account);
            used += engine.nodes();
            nodes_ += engine.nodes();
            if (answer == status::feasible) {
                for (std::size_t i = 0; i < n; ++i)
                    offsets_[static_cast<std::size_t>(origin_[i])] = engine.offsets()[i];
            }
            if (answer != status::unknown || account.exhausted()) return answer;
        }
        return status::unknown;
    }

    const strip& whole_;
    std::vector<std::int64_t> durations_;
    stowage::detail::splitmix64 random_;
    std::vector<std::int64_t> loads_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> chosen_;
    std::vector<std::int32_t> origin_;
    std::size_t attempts_ = 0;
    std::uint64_t nodes_ = 0;
};

}  // namespace stowage::layout::detail
