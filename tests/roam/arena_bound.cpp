#include <stowage/roam/arena_bound.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <stowage/layout/of_order.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/portfolio.hpp>
#include <stowage/roam/planner.hpp>
#include <stowage/verify.hpp>

#include "support/random_program.hpp"

using namespace stowage;

namespace {

/// The least arena of one layout problem: every layout that is pushed down comes from placing the items one
/// after the other, each as low as those before allow.
class all_layouts {
public:
    explicit all_layouts(const layout::problem& problem) : problem_(problem) {
        for (const layout::buffer& b : problem.buffers) {
            if (b.takes_part()) items_.push_back(b);
        }
        at_.assign(items_.size(), -1);
    }
    /// The least arena, or `limit` if that is no more.
    [[nodiscard]] std::int64_t least(std::int64_t limit) {
        best_ = limit;
        place(0, 0);
        return best_;
    }

private:
    void place(std::size_t placed, std::int64_t arena) {
        if (arena >= best_) return;
        if (placed == items_.size()) {
            best_ = arena;
            return;
        }
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (at_[i] >= 0) continue;
            at_[i] = lowest(i);
            place(placed + 1, std::max(arena, at_[i] + items_[i].size));
            at_[i] = -1;
        }
    }
    [[nodiscard]] std::int64_t lowest(std::size_t i) const {
        const layout::buffer& b = items_[i];
        for (std::int64_t offset = 0;; ++offset) {
            if (offset % b.alignment != 0 || offset % problem_.alignment != 0) continue;
            bool free = true;
            for (std::size_t k = 0; k < items_.size() && free; ++k) {
                const layout::buffer& other = items_[k];
                free = at_[k] < 0 || other.upper <= b.lower || b.upper <= other.lower ||
                       at_[k] + other.size <= offset || offset + b.size <= at_[k];
            }
            if (free) return offset;
        }
    }
    const layout::problem& problem_;
    std::vector<layout::buffer> items_;
    std::vector<std::int64_t> at_;
    std::int64_t best_ = 0;
};

/// The least arena of all legal orders and all layouts.
std::int64_t least_arena(const tensor_graph& graph, std::int64_t alignment) {
    std::vector<operator_index> order = program_order(graph);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    do {
        if (!verify::check_order(graph, order).ok) continue;
        const layout::order_layout items = layout::layout_problem_of(graph, order, alignment);
        best = all_layouts(items.problem).least(best);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

/// A small program whose buffers have alignments of their own, if asked for.
tensor_graph small_program(std::uint64_t seed, bool own_alignments) {
    stowage::detail::splitmix64 random(seed);
    program result;
    std::vector<buffer_id> made;
    const std::size_t operators = 3 + random.below(2);
    for (std::size_t i = 0; i < operators; ++i) {
        operator_options op;
        if (!made.empty() && random.below(4) != 0) op.reads.push_back(made[random.below(made.size())]);
        for (std::uint64_t k = random.below(3); k > 0 && made.size() < 5; --k) {
            made.push_back(result.add_buffer(
                {.bytes = 1 + static_cast<std::int64_t>(random.below(20)),
                 .kind = random.below(5) == 0 ? buffer_kind::output : buffer_kind::intermediate,
                 .alignment = own_alignments ? std::int64_t{1} << random.below(4) : 1}));
            op.writes.push_back(made.back());
        }
        if (random.below(4) == 0) op.workspace = 1 + static_cast<std::int64_t>(random.below(10));
        result.add_operator(std::move(op));
    }
    return make_tensor_graph(result);
}

}  // namespace

TEST_CASE("no bound is above the least arena of all orders and layouts, and best plans mostly meet it") {
    int optimal = 0;
    int above_peak = 0;
    int plans = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const tensor_graph graph = small_program(seed, seed % 2 == 1);
        for (const std::int64_t alignment : {1, 2, 4, 8}) {
            const std::int64_t least = least_arena(graph, alignment);
            const plan made = roam::best(graph, {.alignment = alignment, .states = 2'000});
            REQUIRE_MESSAGE(made.arena.lower_bound <= least, "seed ", seed, " alignment ", alignment);
            REQUIRE(made.arena.bytes >= least);
            CHECK(made.arena_witness.arena_bound() <= made.arena.lower_bound);
            CHECK(verify::check_plan(graph, made).ok);
            ++plans;
            optimal += made.status == status::optimal ? 1 : 0;
            above_peak += made.arena.lower_bound > made.peak.lower_bound ? 1 : 0;
        }
    }
    CHECK(optimal > plans * 9 / 10);
    CHECK(above_peak > plans / 4);
}

TEST_CASE("every threshold proves only what holds") {
    int proven_claims = 0;
    for (std::uint64_t seed = 500; seed < 540; ++seed) {
        const tensor_graph graph = small_program(seed, false);
        const std::int64_t least = least_arena(graph, 8);
        const roam::counted_program program(graph, 8);
        if (program.granule() == 1 || least == 0) continue;
        const std::vector<operator_index> order = program_order(graph);
        for (std::int64_t claim = std::max<std::int64_t>(1, least - 10); claim <= least + 10; ++claim) {
            budget account;
            roam::proven_arena proven;
            const order::sequence found =
                roam::undercut(program, claim, order, order::exact{}, account, 1, proven);
            REQUIRE((proven.bytes == 0 || proven.bytes == claim));
            REQUIRE(proven.bytes <= least);
            // either no order leaves room, or one is given
            CHECK(found.empty() == (proven.bytes == claim));
            if (!found.empty()) CHECK(verify::check_order(graph, found).ok);
            proven_claims += proven.bytes == claim ? 1 : 0;
        }
    }
    CHECK(proven_claims > 100);
}

TEST_CASE("a topmost buffer need not be rounded, unless another moment asks for it") {
    // Two moments of 1024 rounded bytes: one holds a buffer of 4 bytes, the other only full ones.
    program both;
    const auto small = both.add_buffer({.bytes = 4});
    const auto large = both.add_buffer({.bytes = 512});
    both.add_operator({.writes = {small, large}});
    both.add_operator({.reads = {small, large}});
    const plan one = roam::best(both, {.alignment = 512});
    CHECK(one.arena.bytes == 516);
    CHECK(one.status == status::optimal);
    CHECK(one.arena_witness.granule == 512);
    const auto first = both.add_buffer({.bytes = 512});
    const auto second = both.add_buffer({.bytes = 512});
    both.add_operator({.writes = {first, second}});
    const plan two = roam::best(both, {.alignment = 512});
    CHECK(two.arena.bytes == 1024);
    CHECK(two.status == status::optimal);
}

TEST_CASE("an account that is empty proves what the rounded peak says") {
    const tensor_graph graph = small_program(3, false);
    const roam::counted_program program(graph, 8);
    REQUIRE(program.granule() == 8);
    budget account;
    const order::solution found = order::plan(program.rounded(), order::portfolio{}, account);
    budget nothing({.states = 0});
    const roam::proven_arena proven =
        roam::arena_bound_by_cuts(program, found.lower_bound, found.witness, found.order, nothing);
    CHECK(proven.bytes == program.round(found.lower_bound) - program.no_threshold() + 1);
    CHECK(proven.witness.bytes == program.round(found.lower_bound));
}
