#pragma once
// Where a few huge buffers decide, prices alone are a weak bound: half a buffer cannot stay. Branches on
// whether the largest such gap stays, with the prices' bound in each branch; the least bound of all open
// branches holds for every plan. Each branch also offers a decision. Source: papers/offload.md, "a small
// exact search when a few huge storages decide".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/price_bound.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>

namespace stowage::turnip::detail {

/// Best-first branching on one model that is a bound's too (one device). The model must outlive it.
template <class = void>
class basic_bound_branching {
public:
    basic_bound_branching(const residency_model& model, std::int64_t capacity)
        : model_(model), capacity_(capacity) {}

    /// Raises `bound`, which holds at `prices` and `shares`, and improves `best`, until they meet or the
    /// account is exhausted. A unit of work is about a microsecond.
    void operator()(std::int64_t& bound, const price_bound& root, residency_state& best, budget& account) {
        const std::uint64_t cost = 1 + (model_.gaps.size() + model_.steps.size()) / 150;
        if (account.left() < least_visits * evaluations * cost) return;
        nodes_.clear();
        open_ = {};
        add_node({}, root, bound);
        const std::int64_t first_bound = bound;
        const std::int64_t first_cost = best.cost();
        const std::uint64_t enough = account.left() - account.left() / 4;
        while (!open_.empty()) {
            const auto [value, index] = open_.top();
            bound = std::max(bound, std::min(value, best.cost()));
            if (value >= best.cost() || nodes_.size() > most_nodes) break;
            // Where a quarter of the work brought nothing, the rest mostly does not either.
            if (account.left() < enough && bound == first_bound && best.cost() == first_cost) break;
            if (!account.spend(cost)) break;
            open_.pop();
            const std::uint32_t gap = nodes_[index].branch_on;
            for (const gap_decision choice : {gap_decision::kept, gap_decision::absent}) {
                std::vector<settled> path = nodes_[index].path;
                path.push_back({gap, choice});
                if (!visit(std::move(path), nodes_[index].prices, value, best, account)) continue;
                // The other half was not looked at: what is open no longer covers all plans.
                if (!account.spend(evaluations * cost) && choice == gap_decision::kept) return;
            }
            nodes_[index].prices = {};
        }
        if (open_.empty()) bound = std::max(bound, best.cost());
    }

private:
    struct settled {
        std::uint32_t gap;
        gap_decision choice;
    };
    struct node {
        std::vector<settled> path;
        std::vector<double> prices;
        std::uint32_t branch_on = 0;
    };
    struct open_node {
        std::int64_t bound;
        std::size_t index;
        friend bool operator<(const open_node& a, const open_node& b) {
            return a.bound != b.bound ? a.bound > b.bound : a.index < b.index;
        }
    };
    static constexpr std::size_t most_nodes = 4000;
    static constexpr std::size_t evaluations = 60;
    static constexpr std::uint64_t least_visits = 20;  // fewer prove nothing, nor do they find anything

    /// Bounds one branch and offers a decision; false if no plan agrees with it.
    bool visit(std::vector<settled> path, std::span<const double> prices, std::int64_t parent,
               residency_state& best, budget& account) {
        std::vector<gap_decision> decided(model_.gaps.size(), gap_decision::open);
        for (const settled& s : path)
            decided[s.gap] = s.choice;
        price_bound part(model_, capacity_, decided);
        if (!part.possible()) return false;
        part.start_from(prices);
        part.improve(best.cost(), evaluations, 0, &account);
        const std::int64_t value = std::max(parent, part.proven());
        if (value >= best.cost()) return true;  // nothing better is there
        offer(path, part, best);
        if (value < best.cost()) add_node(std::move(path), part, value);
        return true;
    }
    void add_node(std::vector<settled> path, const price_bound& part, std::int64_t value) {
        const std::vector<double> shares = part.stay_shares();
        std::vector<char> used(model_.gaps.size(), 0);
        for (const settled& s : path)
            used[s.gap] = 1;
        std::uint32_t chosen = none;
        double most = 0;
        for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
            if (used[g] != 0) continue;
            const double score =
                static_cast<double>(model_.gaps[g].bytes) * (0.1 + std::min(shares[g], 1 - shares[g]));
            if (score <= most) continue;
            most = score;
            chosen = g;
        }
        if (chosen == none) return;  // all is settled, and the decision was offered
        nodes_.push_back({std::move(path), part.prices(), chosen});
        open_.push({value, nodes_.size() - 1});
    }
    void offer(const std::vector<settled>& path, const price_bound& part, residency_state& best) {
        const std::vector<double> values = gap_values(model_, part.prices());
        std::vector<double> keys = part.stay_shares();
        for (std::size_t g = 0; g < keys.size(); ++g)
            keys[g] = (0.02 + keys[g]) * values[g];
        const auto settle = [&](const std::vector<double>& open, const auto& insert) {
            std::vector<double> key = open;
            residency_state made(model_, std::span(&capacity_, 1));
            for (const settled& s : path) {
                if (s.choice == gap_decision::kept) made.keep(s.gap);
                if (s.choice == gap_decision::absent) key[s.gap] = 0;
            }
            insert(made, key);
            if (made.cost() < best.cost()) best = std::move(made);
        };
        settle(values, [](residency_state& made, const std::vector<double>& key) {
            insert_by_value(made, key, true);
        });
        settle(keys,
               [](residency_state& made, const std::vector<double>& key) { shared_insertion(made, key)(); });
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    const residency_model& model_;
    std::int64_t capacity_;
    std::vector<node> nodes_;
    std::priority_queue<open_node> open_;
};
using bound_branching = basic_bound_branching<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_bound_branching<>;
#endif

}  // namespace stowage::turnip::detail
