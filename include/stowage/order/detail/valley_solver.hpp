#pragma once
// The decision "is there an order within B?" by committed valleys from both ends (papers/order.md, rules 2 to
// 5 and 10). A valley exists from the end of the interval whose f is higher, since the other end is one; so
// a search exhausted there refutes B. Where the other end has one too it may be taken just as well.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/order/detail/frontier.hpp>
#include <stowage/order/detail/state_set.hpp>
#include <stowage/order/detail/valley_components.hpp>
#include <stowage/order/detail/valley_engine.hpp>

namespace stowage::order::detail {

/// How valleys are sought.
struct valley_settings {
    bool components = true;           ///< rule 10: component by component where a plain search takes long
    std::uint64_t plain_states = 64;  ///< states of the plain search before that
};

/// Commits valleys from both ends of one problem, for one bound after the other. Refers to the problem.
template <class = void>
class basic_valley_solver {
public:
    explicit basic_valley_solver(const order_problem& problem, const valley_settings& settings = {})
        : settings_(settings), turned_(reverse(problem)), first_(problem), last_(turned_) {}

    /// Commits at either end until every operator is placed (found), or the end with the higher f has no
    /// valley (refuted), or neither end has one that `states` a valley and the effort suffice for (open).
    /// Commits made within a smaller bound are kept (rule 5), others are taken back.
    verdict decide(std::int64_t bound, std::uint64_t states, search_effort& effort) {
        take_back_above(bound);
        verdict result = verdict::open;
        bool stuck_first = false;
        bool stuck_last = false;
        bool progress = false;  // since an end was stuck
        while (!effort.exhausted()) {
            if (first_.state.trail().size() + last_.state.trail().size() == operator_count()) {
                result = verdict::found;
                break;
            }
            const bool first_is_higher = first_.state.live() >= last_.state.live();
            const bool level = first_.state.live() == last_.state.live();
            const bool forwards = first_is_higher ? !stuck_first : stuck_last;
            const verdict step = seek(forwards ? first_ : last_, bound, states, effort);
            if (step == verdict::found) {
                hand_over();
                progress = true;
                continue;
            }
            failed_forwards_ = forwards;
            if (step == verdict::refuted && (forwards == first_is_higher || level)) {
                result = step;
                break;
            }
            bool& stuck = forwards ? stuck_first : stuck_last;
            bool& other_stuck = forwards ? stuck_last : stuck_first;
            stuck = true;
            if (!other_stuck) {
                progress = false;
                continue;
            }
            // The other end has less to choose from by now: one more look, but not after each commit here.
            if (!progress) break;
            progress = false;
            other_stuck = false;
        }
        if (result != verdict::found) marks_.push_back({bound, first_.handed, last_.handed});
        return result;
    }
    /// Operators committed at the front, in order.
    [[nodiscard]] std::span<const operator_index> front() const noexcept { return first_.state.trail(); }
    /// Operators committed at the back, in order. O(them).
    [[nodiscard]] std::vector<operator_index> back() const {
        std::vector<operator_index> result;
        for (auto op = last_.state.trail().rbegin(); op != last_.state.trail().rend(); ++op)
            result.push_back(turn(*op));
        return result;
    }
    /// Front and back; after found, a whole order within the bound.
    [[nodiscard]] std::vector<operator_index> order() const {
        std::vector<operator_index> result(front().begin(), front().end());
        const std::vector<operator_index> rest = back();
        result.insert(result.end(), rest.begin(), rest.end());
        return result;
    }
    /// True if the last valley sought, and not found, was one from the front.
    [[nodiscard]] bool failed_forwards() const noexcept { return failed_forwards_; }
    /// Operators that were ready at some state of that search; one may be listed more than once. O(them).
    [[nodiscard]] std::vector<operator_index> explored() const {
        std::vector<operator_index> result = explored_;
        if (!failed_forwards_) {
            for (operator_index& op : result)
                op = turn(op);
        }
        return result;
    }

private:
    struct direction {
        explicit direction(const order_problem& problem)
            : state(problem), engine(state), components(state, engine) {}
        direction(const direction&) = delete;
        direction& operator=(const direction&) = delete;
        frontier state;
        valley_engine engine;
        component_seeker components;
        state_set dead;
        bool by_components = false;  // the last valley was found so, after a plain search had failed
        std::size_t handed = 0;      // operators of the trail that are blocked at the other end
    };
    struct mark {
        std::int64_t bound;
        std::size_t first;
        std::size_t last;
    };

    [[nodiscard]] std::size_t operator_count() const noexcept { return turned_.operator_count(); }
    [[nodiscard]] operator_index turn(operator_index op) const noexcept {
        return static_cast<operator_index>(operator_count() - 1 - op);
    }
    verdict seek(direction& end, std::int64_t bound, std::uint64_t states, search_effort& effort) {
        explored_.clear();
        if (!settings_.components) return seek_plainly(end, bound, states, effort);
        // Where one component after the other has its valley, the plain search fails each time at some cost.
        if (end.by_components) {
            const std::size_t length = end.state.trail().size();
            end.engine.run_falling(bound, effort);
            if (end.state.trail().size() > length) return verdict::found;
            const verdict result = seek_by_components(end, bound, states, effort);
            if (result != verdict::open || effort.exhausted()) return result;
            end.by_components = false;
            return seek_plainly(end, bound, std::min(states, settings_.plain_states), effort);
        }
        const verdict plain = seek_plainly(end, bound, std::min(states, settings_.plain_states), effort);
        if (plain != verdict::open || states <= settings_.plain_states || effort.exhausted()) return plain;
        const verdict result = seek_by_components(end, bound, states - settings_.plain_states, effort);
        end.by_components = result == verdict::found;
        return result;
    }
    verdict seek_plainly(direction& end, std::int64_t bound, std::uint64_t states, search_effort& effort) {
        explored_.clear();
        end.state.record_ready(&explored_);
        const verdict result = end.engine.seek(bound, states, end.dead, effort);
        end.state.record_ready(nullptr);
        return result;
    }
    verdict seek_by_components(direction& end, std::int64_t bound, std::uint64_t states,
                               search_effort& effort) {
        const verdict result = end.components.seek(bound, states, effort);
        explored_ = end.components.explored();
        return result;
    }
    void hand_over() {
        for (; first_.handed < first_.state.trail().size(); ++first_.handed)
            last_.state.block(turn(first_.state.trail()[first_.handed]));
        for (; last_.handed < last_.state.trail().size(); ++last_.handed)
            first_.state.block(turn(last_.state.trail()[last_.handed]));
    }
    /// Keeps the commits of the largest bound so far that is not above `bound`.
    void take_back_above(std::int64_t bound) {
        while (!marks_.empty() && marks_.back().bound > bound)
            marks_.pop_back();
        const std::size_t first = marks_.empty() ? 0 : marks_.back().first;
        const std::size_t last = marks_.empty() ? 0 : marks_.back().last;
        for (; first_.handed > first; --first_.handed)
            last_.state.unblock(turn(first_.state.trail()[first_.handed - 1]));
        for (; last_.handed > last; --last_.handed)
            first_.state.unblock(turn(last_.state.trail()[last_.handed - 1]));
        first_.state.rewind(first);
        last_.state.rewind(last);
        first_.dead.clear();
        last_.dead.clear();
    }

    valley_settings settings_;
    order_problem turned_;
    direction first_;
    direction last_;
    std::vector<mark> marks_;
    std::vector<operator_index> explored_;
    bool failed_forwards_ = true;
};
using valley_solver = basic_valley_solver<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_valley_solver<>;
#endif

}  // namespace stowage::order::detail
