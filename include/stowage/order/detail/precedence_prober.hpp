#pragma once
// Precedence probing at a bound B (papers/order.md, rule 15). For v and an operator u free at v: if every
// down-set from which v can run and that holds u is too large for the hill of v to keep within B, then v runs
// before u in every order within B; if every one without u is, u runs before v. Such dependencies are added;
// every order within B keeps them, so all rules hold for the new problem, and the cuts there are sharper. It
// goes round until nothing is added. A cycle or a cut above B refutes B.
//
// Most probes are spared by witnesses: a down-set D found feasible gives an order, the base order restricted
// to D and then to the rest; one walk along it marks, for every operator whose hill fits there, what has run
// and what has not. Operators whose cut leaves much more room than the tightest are not probed: nothing
// follows there. Where no single cut comes near the bound, the tightest have much room too, and it is their
// pairs that prove it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/order/detail/closure.hpp>
#include <stowage/order/detail/cut_network.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/residual.hpp>
#include <stowage/order/detail/valley_engine.hpp>

namespace stowage::order::detail {

/// How far probing goes.
struct probing_settings {
    std::size_t most_operators = 8'000;  ///< problems with more are left alone: bits grow as the square
    std::size_t rounds = 6;              ///< passes over all operators, each with new dependencies
    /// Per cent of the bound: operators whose cut leaves so much more room than the tightest are not probed.
    int most_slack = 10;
    bool witnesses = true;  ///< harvest witnesses from every set found feasible
};

/// Probes one residual problem, to which it adds dependencies. Refers to it.
template <class = void>
class basic_precedence_prober {
public:
    basic_precedence_prober(residual& rest, const probing_settings& settings)
        : rest_(&rest), settings_(settings) {}

    /// refuted: no order is within the bound; open: nothing more follows, or limits ran out.
    verdict run(search_effort& effort) {
        added_ = 0;
        log_.clear();
        refuted_at_ = no_operator;
        if (rest_->problem().operator_count() > settings_.most_operators) return verdict::open;
        const auto tightest = rest_->least_slack(1, effort);
        least_slack_ = tightest.empty() ? 0 : std::max<std::int64_t>(0, tightest.front().first);
        for (const std::vector<operator_index>& order : rest_->orders())
            pool_.push_back(order);
        for (std::size_t round = 0; round < settings_.rounds; ++round) {
            dependencies_.clear();
            if (probe_all(effort) == verdict::refuted) return verdict::refuted;
            if (dependencies_.empty()) return verdict::open;
            added_ += dependencies_.size();
            for (std::vector<operator_index>& order : pool_)
                rest_->offer(std::move(order));
            if (!rest_->add_dependencies(dependencies_)) return verdict::refuted;
            pool_.assign(rest_->orders().begin(), rest_->orders().end());
            if (effort.exhausted()) return verdict::open;
        }
        return verdict::open;
    }
    /// A dependency that follows from the cut at one of its operators, in the numbers of the whole.
    struct shown {
        operator_index before;
        operator_index after;
        operator_index at;
    };
    /// What was shown by the last run(), in order: each follows from those before it.
    [[nodiscard]] const std::vector<shown>& log() const noexcept { return log_; }
    /// The operator whose cut was above the bound, in the numbers of the whole, if that refuted it;
    /// no_operator where a cycle did.
    [[nodiscard]] operator_index refuted_at() const noexcept { return refuted_at_; }
    /// Dependencies added by the last run().
    [[nodiscard]] std::size_t added() const noexcept { return added_; }

private:
    static constexpr std::size_t most_orders = 64;
    static constexpr std::uint64_t work_a_unit = 256;

    [[nodiscard]] const order_problem& problem() const noexcept { return rest_->problem(); }
    [[nodiscard]] std::int64_t room_of(operator_index v) const noexcept {
        return rest_->bound() - problem().born_bytes[v] - problem().workspace[v];
    }

    verdict probe_all(search_effort& effort) {
        const std::size_t count = problem().operator_count();
        const closure order_of(problem());
        closure_ = &order_of;
        can_hold_ = bit_rows(count);
        can_lack_ = bit_rows(count);
        prefix_.assign(can_hold_.words(), 0);
        least_hill_.assign(count, std::numeric_limits<std::int64_t>::max());
        most_slack_ = least_slack_ + rest_->bound() / 100 * settings_.most_slack +
                      rest_->bound() % 100 * settings_.most_slack / 100;
        for (const std::vector<operator_index>& order : pool_)
            harvest(order);
        cut_network network(problem());
        network_ = &network;
        for (operator_index v = 0; v < count; ++v) {
            if (effort.exhausted()) break;
            if (rest_->bound() - least_hill_[v] > most_slack_) continue;
            if (probe_at(v, effort) == verdict::refuted) return verdict::refuted;
        }
        return verdict::open;
    }

    verdict probe_at(operator_index v, search_effort& effort) {
        if (witnessed(v)) return verdict::open;
        held_before_.clear();
        held_after_.clear();
        while (!effort.exhausted()) {
            network_->build(v, held_before_, held_after_);
            const std::uint64_t visited = network_->flow().visited();
            const std::int64_t slack = room_of(v) - network_->solve();
            pay(effort, network_->work() + network_->flow().visited() - visited);
            if (slack < 0) refuted_at_ = rest_->origin(v);
            if (slack < 0 || contradicted()) return verdict::refuted;
            if (slack > most_slack_) return verdict::open;
            network_->mark_least(in_set_);
            note_set(v);
            network_->mark_greatest(in_set_);
            note_set(v);
            const std::size_t known = held_before_.size() + held_after_.size();
            probe_holding(v, slack, effort);
            probe_lacking(v, slack, effort);
            if (held_before_.size() + held_after_.size() == known) return verdict::open;
        }
        return verdict::open;
    }
    [[nodiscard]] bool contradicted() const {
        const auto on = [&](side where) {
            return [this, where](operator_index op) { return network_->side_of(op) == where; };
        };
        return !std::all_of(held_before_.begin(), held_before_.end(), on(side::before)) ||
               !std::all_of(held_after_.begin(), held_after_.end(), on(side::after));
    }
    /// True if every operator free at v is known to be in some feasible set and to be missing from one.
    [[nodiscard]] bool witnessed(operator_index v) const {
        const auto above = closure_->ancestors[v];
        const auto below = closure_->descendants[v];
        const auto hold = can_hold_[v];
        const auto lack = can_lack_[v];
        const std::size_t count = problem().operator_count();
        if (least_hill_[v] > rest_->bound()) return false;
        for (std::size_t w = 0; w < prefix_.size(); ++w) {
            std::uint64_t missing = ~(above[w] | below[w]) & ~(hold[w] & lack[w]);
            if (w == v / 64) missing &= ~(std::uint64_t{1} << (v % 64));
            if (w + 1 == prefix_.size() && count % 64 != 0) missing &= (std::uint64_t{1} << (count % 64)) - 1;
            if (missing != 0) return false;
        }
        return true;
    }

    void add(operator_index before, operator_index after, operator_index at) {
        dependencies_.emplace_back(before, after);
        log_.push_back({rest_->origin(before), rest_->origin(after), rest_->origin(at)});
    }
    /// Must some operator free at v be missing? Ancestors first: what cannot be there, its descendants
    /// cannot.
    void probe_holding(operator_index v, std::int64_t slack, search_effort& effort) {
        flow_network& flow = network_->flow();
        saved_ = flow.residual();
        const std::vector<operator_index> free = network_->free_operators();
        for (const operator_index u : free) {
            if (can_hold_.test(v, u) || effort.exhausted()) continue;
            const std::uint64_t visited = flow.visited();
            const std::int64_t more = flow.augment(network_->node_of(u), cut_network::sink, slack + 1);
            pay(effort, saved_.size() + flow.visited() - visited);
            if (more > slack) {
                held_after_.push_back(u);
                add(v, u, v);
                for (const operator_index w : free) {
                    if (w == u || closure_->descendants.test(u, w)) can_hold_.set(v, w);
                }
            } else {
                mark_reached(network_->node_of(u));
                note_set(v);
            }
            flow.restore(saved_);
        }
    }
    /// Must some operator free at v be there? Descendants first.
    void probe_lacking(operator_index v, std::int64_t slack, search_effort& effort) {
        flow_network& flow = network_->flow();
        saved_ = flow.residual();
        const std::vector<operator_index> free = network_->free_operators();
        for (std::size_t k = free.size(); k-- > 0;) {
            const operator_index u = free[k];
            if (can_lack_.test(v, u) || effort.exhausted()) continue;
            const std::uint64_t visited = flow.visited();
            const std::int64_t more = flow.augment(cut_network::source, network_->node_of(u), slack + 1);
            pay(effort, saved_.size() + flow.visited() - visited);
            if (more > slack) {
                held_before_.push_back(u);
                add(u, v, v);
                for (const operator_index w : free) {
                    if (w == u || closure_->ancestors.test(u, w)) can_lack_.set(v, w);
                }
            } else {
                mark_reached(cut_network::source);
                note_set(v);
            }
            flow.restore(saved_);
        }
    }
    /// in_set_: the least down-set that holds what `start` reaches.
    void mark_reached(flow_network::node start) {
        flow_network& flow = network_->flow();
        flow.mark_reached_from(cut_network::source, reached_);
        if (start != cut_network::source) {
            flow.mark_reached_from(start, also_reached_);
            for (std::size_t i = 0; i < reached_.size(); ++i)
                reached_[i] = reached_[i] | also_reached_[i];
        }
        in_set_.assign(problem().operator_count(), 0);
        for (operator_index op = 0; op < in_set_.size(); ++op) {
            const side where = network_->side_of(op);
            in_set_[op] =
                where == side::before || (where == side::free && reached_[network_->node_of(op)] != 0);
        }
    }
    /// v can run from in_set_: its operators can be there, the others can be missing; and the same for all
    /// operators along an order that passes through it.
    void note_set(operator_index v) {
        for (const operator_index op : network_->free_operators())
            (in_set_[op] != 0 ? can_hold_ : can_lack_).set(v, op);
        if (!settings_.witnesses || pool_.empty()) return;
        const std::vector<operator_index>& base = pool_[random_.below(pool_.size())];
        std::vector<operator_index> order;
        order.reserve(base.size());
        for (const operator_index op : base) {
            if (in_set_[op] != 0) order.push_back(op);
        }
        for (const operator_index op : base) {
            if (in_set_[op] == 0) order.push_back(op);
        }
        harvest(order);
        if (pool_.size() < most_orders) {
            pool_.push_back(std::move(order));
        } else {
            pool_[random_.below(pool_.size())] = std::move(order);
        }
    }
    void harvest(std::span<const operator_index> order) {
        std::fill(prefix_.begin(), prefix_.end(), 0);
        live_state state(problem());
        for (const operator_index v : order) {
            const std::int64_t hill = state.run(v);
            least_hill_[v] = std::min(least_hill_[v], hill);
            if (hill <= rest_->bound() && rest_->bound() - hill <= most_slack_) {
                const auto hold = can_hold_[v];
                const auto lack = can_lack_[v];
                for (std::size_t w = 0; w < prefix_.size(); ++w) {
                    hold[w] |= prefix_[w];
                    lack[w] |= ~prefix_[w];
                }
            }
            prefix_[v / 64] |= std::uint64_t{1} << (v % 64);
        }
    }
    static void pay(search_effort& effort, std::uint64_t work) {
        if (effort.account != nullptr) effort.account->spend(1 + work / work_a_unit);
    }

    residual* rest_;
    probing_settings settings_;
    std::vector<std::vector<operator_index>> pool_;
    std::vector<std::pair<operator_index, operator_index>> dependencies_;
    std::vector<shown> log_;
    operator_index refuted_at_ = no_operator;
    std::size_t added_ = 0;
    const closure* closure_ = nullptr;
    cut_network* network_ = nullptr;
    bit_rows can_hold_;  // row v: operators that are in some down-set from which v keeps within the bound
    bit_rows can_lack_;  // row v: operators that are missing from one
    std::vector<std::int64_t> least_hill_;
    std::int64_t least_slack_ = 0;
    std::int64_t most_slack_ = 0;
    std::vector<std::uint64_t> prefix_;
    std::vector<operator_index> held_before_;
    std::vector<operator_index> held_after_;
    std::vector<std::int64_t> saved_;
    std::vector<std::uint8_t> in_set_;
    std::vector<std::uint8_t> reached_;
    std::vector<std::uint8_t> also_reached_;
    stowage::detail::splitmix64 random_{7};
};
using precedence_prober = basic_precedence_prober<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_precedence_prober<>;
#endif

}  // namespace stowage::order::detail
