#pragma once
// Min cuts at operators, each computed once: its value, and the least and the greatest down-set that have it.
// Bounds, cut moves and searches ask for the same few operators again and again.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/detail/cut_network.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// A set of operators, one bit each.
template <class = void>
class basic_operator_bits {
public:
    basic_operator_bits() = default;
    /// Of the operators with a mark.
    explicit basic_operator_bits(const std::vector<std::uint8_t>& mark) : words_((mark.size() + 63) / 64, 0) {
        for (std::size_t op = 0; op < mark.size(); ++op)
            words_[op / 64] |= std::uint64_t{mark[op] != 0} << (op % 64);
    }
    [[nodiscard]] bool contains(operator_index op) const noexcept {
        return (words_[op / 64] >> (op % 64) & 1U) != 0;
    }

private:
    std::vector<std::uint64_t> words_;
};
using operator_bits = basic_operator_bits<>;

/// The min cut at an operator v: both sets hold the ancestors of v and neither v nor any of its descendants.
struct cut_sets {
    operator_bits least;     ///< the least down-set from which v runs with the fewest live bytes
    operator_bits greatest;  ///< the greatest one
};

/// Cuts of one problem, made on demand. Refers to the problem, which must run forwards. On deep networks of a
/// million operators one flow may take ten seconds; given an account, it is broken off when the clock runs
/// out, or once it has taken some times the states that are left. What was found by then is a bound, and the
/// sets are sets from which v can run, though not with the fewest live bytes.
template <class = void>
class basic_cut_library {
public:
    explicit basic_cut_library(const order_problem& problem, const budget* account = nullptr)
        : problem_(&problem), account_(account), network_(problem), hill_(problem.operator_count(), unknown),
          slot_(problem.operator_count(), no_slot) {
        const std::size_t bytes_a_cut = problem.operator_count() / 4 + sizeof(cut_sets);
        kept_.reserve(std::min(problem.operator_count(), most_kept_bytes / bytes_a_cut + 1));
    }

    /// The least hill of `v` over all legal orders, or less: a lower bound on every peak. O(1) if it is
    /// known, else O(size) and a flow.
    [[nodiscard]] std::int64_t least_hill(operator_index v) {
        if (hill_[v] == unknown) make(v);
        return hill_[v];
    }
    /// True if least_hill(v) takes no work.
    [[nodiscard]] bool knows(operator_index v) const noexcept { return hill_[v] != unknown; }
    /// The sets at `v`; valid until another operator is asked for.
    [[nodiscard]] const cut_sets& sets(operator_index v) {
        if (slot_[v] == no_slot && loose_owner_ != v) make(v);
        return slot_[v] == no_slot ? loose_ : kept_[slot_[v]];
    }
    /// Work done so far, in units of a budget (about a microsecond).
    [[nodiscard]] std::uint64_t units() const noexcept { return work_ / work_a_unit; }
    /// Flows computed so far.
    [[nodiscard]] std::size_t cuts() const noexcept { return cuts_; }

private:
    static constexpr std::int64_t unknown = -1;
    static constexpr std::uint32_t no_slot = static_cast<std::uint32_t>(-1);
    static constexpr std::size_t most_kept_bytes = std::size_t{32} << 20U;
    static constexpr std::uint64_t work_a_unit = 128;

    void make(operator_index v) {
        const std::uint64_t visited = network_.flow().visited();
        const std::uint64_t most = most_visits();
        network_.build(v);
        const std::int64_t least =
            network_.solve_while([&] { return network_.flow().visited() - visited < most && in_time(); });
        hill_[v] = least + problem_->born_bytes[v] + problem_->workspace[v];
        network_.mark_least(mark_);
        loose_.least = operator_bits(mark_);
        network_.mark_greatest(mark_);
        loose_.greatest = operator_bits(mark_);
        work_ += network_.work() + network_.flow().visited() - visited;
        ++cuts_;
        loose_owner_ = v;
        if (kept_.size() == kept_.capacity()) return;
        slot_[v] = static_cast<std::uint32_t>(kept_.size());
        kept_.push_back(std::move(loose_));
    }

    [[nodiscard]] std::uint64_t most_visits() const {
        constexpr std::uint64_t least_units = 50'000;
        constexpr std::uint64_t overdraft = 2;  // the last tenth of a flow takes most of its time
        constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t left = account_ == nullptr ? all : std::max(account_->left(), least_units);
        return left > all / overdraft / work_a_unit ? all : left * overdraft * work_a_unit;
    }
    [[nodiscard]] bool in_time() const {
        return account_ == nullptr ||
               (account_->affords(std::chrono::nanoseconds(0)) && !account_->stop_token().stop_requested());
    }

    const order_problem* problem_;
    const budget* account_;
    cut_network network_;
    std::vector<std::int64_t> hill_;
    std::vector<std::uint32_t> slot_;
    std::vector<cut_sets> kept_;
    cut_sets loose_;  // the last one, where there is no room to keep it
    operator_index loose_owner_ = no_operator;
    std::vector<std::uint8_t> mark_;
    std::uint64_t work_ = 0;
    std::size_t cuts_ = 0;
};
using cut_library = basic_cut_library<>;

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_cut_library<>;
#endif

}  // namespace stowage::order::detail
