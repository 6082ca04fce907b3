#pragma once
// Component search (papers/order.md, rule 10). A smallest valley W - A is connected by tensors and
// dependencies: if it fell apart, the part whose f first returns to f(A) would be a valley by itself, with
// hills no higher. So valleys may be sought from one ready operator, a seed, with all other ready operators
// blocked. Where that ends, the explored operators E and the rest can only concern each other through a
// shared tensor or through an operator that both together make ready; the seeds behind those join. If there
// are none, no smallest valley holds any of the seeds: they stay blocked while the others are tried.
// Programs with many free small operators need it (64 of them have 2^64 states, and 64 components).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/order/detail/frontier.hpp>
#include <stowage/order/detail/state_set.hpp>
#include <stowage/order/detail/valley_engine.hpp>

namespace stowage::order::detail {

/// Searches valleys of one frontier component by component. Refers to the frontier and its engine.
template <class = void>
class basic_component_seeker {
public:
    basic_component_seeker(frontier& state, valley_engine& engine)
        : state_(&state), engine_(&engine), label_(state.problem().operator_count(), unlabelled),
          met_(state.problem().operator_count(), 0), mark_(state.problem().operator_count(), 0) {}

    /// As valley_engine::seek, after that has failed at `state`'s place: nothing there falls and fits.
    verdict seek(std::int64_t bound, std::uint64_t states, search_effort& effort) {
        last_state_ = effort.states + states;
        all_explored_.clear();
        seeds_.assign(state_->ready().begin(), state_->ready().end());
        std::sort(seeds_.begin(), seeds_.end());
        make_labels();
        for (const operator_index seed : seeds_)
            state_->block(seed);
        status_.assign(seeds_.size(), waiting);
        const verdict result = seek_rounds(bound, effort);
        for (std::size_t i = 0; i < seeds_.size(); ++i) {
            if (status_[i] != active) state_->unblock(seeds_[i]);
        }
        for (const operator_index op : labelled_)
            label_[op] = unlabelled;
        return result;
    }
    /// Operators that were ready at some state of the last seek(); one may be listed more than once.
    [[nodiscard]] const std::vector<operator_index>& explored() const noexcept { return all_explored_; }

private:
    static constexpr std::uint32_t unlabelled = static_cast<std::uint32_t>(-1);
    static constexpr std::uint32_t several = static_cast<std::uint32_t>(-2);
    static constexpr std::uint64_t first_limit = 256;
    enum seed_status : std::uint8_t { waiting, called, active, closed };

    /// The label of an operator is the one seed that, alone, makes it ready.
    void make_labels() {
        labelled_ = seeds_;
        size_of_.assign(seeds_.size(), 0);
        std::vector<operator_index>& met = scratch_;
        met.clear();
        for (std::uint32_t i = 0; i < seeds_.size(); ++i)
            label_[seeds_[i]] = i;
        for (std::size_t head = 0; head < labelled_.size(); ++head) {
            const std::uint32_t label = label_[labelled_[head]];
            ++size_of_[label];
            for (const operator_index next : state_->problem().successors[labelled_[head]]) {
                if (state_->is_blocked(next)) continue;
                if (met_[next]++ == 0) {
                    met.push_back(next);
                    label_[next] = label;
                } else if (label_[next] != label) {
                    label_[next] = several;
                }
                if (met_[next] == state_->waiting(next) && label_[next] != several) {
                    labelled_.push_back(next);
                }
            }
        }
        for (const operator_index op : met) {
            if (met_[op] != state_->waiting(op) || label_[op] == several) label_[op] = unlabelled;
            met_[op] = 0;
        }
        by_size_.resize(seeds_.size());
        for (std::uint32_t i = 0; i < seeds_.size(); ++i)
            by_size_[i] = i;
        std::stable_sort(by_size_.begin(), by_size_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return size_of_[a] > size_of_[b]; });
    }
    verdict seek_rounds(std::int64_t bound, search_effort& effort) {
        for (std::uint64_t limit = first_limit;; limit *= 8) {
            bool all_closed = true;
            for (const std::uint32_t seed : by_size_) {
                if (status_[seed] != waiting) continue;
                const verdict result = seek_from(seed, bound, limit, effort);
                if (result == verdict::found) return result;
                if (result == verdict::open) all_closed = false;
                if (effort.states >= last_state_ || effort.exhausted()) return verdict::open;
            }
            if (all_closed) return verdict::refuted;
        }
    }
    /// found: as ever; refuted: the seed is closed; open: `limit` ran out.
    verdict seek_from(std::uint32_t seed, std::int64_t bound, std::uint64_t limit, search_effort& effort) {
        active_.assign(1, seed);
        verdict result = verdict::refuted;
        activate(seed);
        for (std::size_t joining = 1;; joining *= 2) {
            explored_.clear();
            state_->record_ready(&explored_);
            dead_.clear();
            const std::uint64_t left = last_state_ - std::min(last_state_, effort.states);
            result = engine_->seek(bound, std::min(limit, left), dead_, effort);
            state_->record_ready(nullptr);
            all_explored_.insert(all_explored_.end(), explored_.begin(), explored_.end());
            if (result != verdict::refuted) break;
            find_interfering();
            if (interfering_.empty()) break;
            const std::size_t count = std::min(joining, interfering_.size());
            for (std::size_t i = 0; i < count; ++i) {
                active_.push_back(interfering_[i]);
                activate(interfering_[i]);
            }
        }
        if (result == verdict::found) return result;
        for (const std::uint32_t a : active_) {
            state_->block(seeds_[a]);
            status_[a] = result == verdict::refuted ? closed : waiting;
        }
        return result;
    }
    void activate(std::uint32_t seed) {
        status_[seed] = active;
        state_->unblock(seeds_[seed]);
    }

    /// Seeds neither active nor closed that concern the explored operators: joins first.
    void find_interfering() {
        interfering_.clear();
        if (++stamp_ == 0) {
            std::fill(mark_.begin(), mark_.end(), 0);
            stamp_ = 1;
        }
        for (const operator_index op : explored_)
            mark_[op] = stamp_;
        find_enabled();
        const order_problem& problem = state_->problem();
        for (const operator_index op : explored_) {
            for (const operator_index next : problem.successors[op]) {
                if (is_enabled(next)) add_seeds_behind(next);
            }
        }
        for (const operator_index op : explored_) {
            for (const tensor_index t : problem.tensors[op]) {
                for (const operator_index user : problem.users[t]) {
                    if (is_enabled(user)) add_seeds_behind(user);
                }
            }
        }
        for (const std::uint32_t seed : interfering_)
            status_[seed] = waiting;
        for (const operator_index op : enabled_)
            enabled_mark_[op] = 0;
        for (const operator_index op : walked_)
            walked_mark_[op] = 0;
        walked_.clear();
    }
    [[nodiscard]] bool is_explored(operator_index op) const { return mark_[op] == stamp_; }
    /// Not explored, but ready once the explored operators and all waiting seeds had run with what follows.
    [[nodiscard]] bool is_enabled(operator_index op) const { return enabled_mark_[op] != 0; }
    /// Ready only through seeds that are active, and then explored if at all, or closed.
    [[nodiscard]] bool is_settled(operator_index op) const {
        return label_[op] != unlabelled && status_[label_[op]] != waiting;
    }
    void find_enabled() {
        const order_problem& problem = state_->problem();
        enabled_mark_.resize(problem.operator_count(), 0);
        walked_mark_.resize(problem.operator_count(), 0);
        enabled_.clear();
        std::vector<operator_index>& queue = scratch_;
        queue = explored_;
        for (std::uint32_t i = 0; i < seeds_.size(); ++i) {
            if (status_[i] != waiting) continue;
            queue.push_back(seeds_[i]);
            enabled_mark_[seeds_[i]] = 1;
            enabled_.push_back(seeds_[i]);
        }
        met_list_.clear();
        for (std::size_t head = 0; head < queue.size(); ++head) {
            for (const operator_index next : problem.successors[queue[head]]) {
                if (state_->is_blocked(next) || is_explored(next) || is_settled(next)) continue;
                if (met_[next]++ == 0) met_list_.push_back(next);
                if (met_[next] == state_->waiting(next)) {
                    queue.push_back(next);
                    enabled_mark_[next] = 1;
                    enabled_.push_back(next);
                }
            }
        }
        for (const operator_index op : met_list_)
            met_[op] = 0;
    }
    /// Adds the waiting seeds among `op` and what must run before it.
    void add_seeds_behind(operator_index op) {
        stack_.assign(1, op);
        while (!stack_.empty()) {
            const operator_index at = stack_.back();
            stack_.pop_back();
            if (walked_mark_[at] != 0) continue;
            walked_mark_[at] = 1;
            walked_.push_back(at);
            const std::uint32_t label = label_[at];
            if (label != unlabelled) {
                if (status_[label] == waiting) {
                    status_[label] = called;
                    interfering_.push_back(label);
                }
                continue;
            }
            for (const operator_index before : state_->problem().predecessors[at]) {
                if (!state_->contains(before) && !is_explored(before)) stack_.push_back(before);
            }
        }
    }

    frontier* state_;
    valley_engine* engine_;
    std::uint64_t last_state_ = 0;
    state_set dead_;
    std::vector<operator_index> seeds_;
    std::vector<seed_status> status_;
    std::vector<std::uint32_t> label_;      // place in seeds_
    std::vector<operator_index> labelled_;  // operators with a label
    std::vector<std::size_t> size_of_;      // operators with the seed's label
    std::vector<std::uint32_t> by_size_;
    std::vector<std::uint32_t> active_;
    std::vector<std::uint32_t> interfering_;
    std::vector<operator_index> explored_;  // in the search from the active seeds
    std::vector<operator_index> all_explored_;
    std::vector<std::uint32_t> met_;
    std::vector<operator_index> met_list_;
    std::vector<std::uint32_t> mark_;
    std::uint32_t stamp_ = 0;
    std::vector<std::uint8_t> enabled_mark_;
    std::vector<operator_index> enabled_;
    std::vector<std::uint8_t> walked_mark_;
    std::vector<operator_index> walked_;
    std::vector<operator_index> stack_;
    std::vector<operator_index> scratch_;
};
using component_seeker = basic_component_seeker<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_component_seeker<>;
#endif

}  // namespace stowage::order::detail
