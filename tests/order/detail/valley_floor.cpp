#include <stowage/order/detail/valley_floor.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/order/detail/live_state.hpp>

#include "support/order_problems.hpp"

using namespace stowage;
namespace detail_ = stowage::order::detail;

TEST_CASE("the floor is the greatest set of least f between two sets, in both directions") {
    stowage::detail::splitmix64 random(81);
    for (int round = 0; round < 3'000; ++round) {
        CAPTURE(round);
        detail_::order_problem problem = detail_::make_order_problem(test::order_graph(random));
        if (random.below(2) == 0) problem = detail_::reverse(problem);
        const std::vector<operator_index> order = test::random_order(random, problem);
        const std::size_t last = 1 + random.below(order.size());
        const std::size_t first = random.below(last);
        detail_::frontier state(problem);
        for (std::size_t k = 0; k < last; ++k)
            state.run(order[k]);
        // By hand: all down-sets between.
        const std::size_t free = last - first;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::uint32_t greatest = 0;
        for (std::uint32_t set = 0; set < 1U << free; ++set) {
            detail_::live_state live(problem);
            std::vector<std::uint8_t> run(problem.operator_count(), 0);
            bool legal = true;
            for (std::size_t k = 0; k < last; ++k) {
                if (k >= first && (set >> (k - first) & 1U) == 0) continue;
                for (const operator_index before : problem.predecessors[order[k]])
                    legal = legal && run[before] != 0;
                live.run(order[k]);
                run[order[k]] = 1;
            }
            if (!legal || live.live() > least) continue;
            greatest = live.live() < least ? set : greatest | set;
            least = live.live();
        }
        detail_::valley_floor floor(problem);
        floor.descend(state, first);
        CHECK(state.live() == least);
        std::uint32_t found = 0;
        for (std::size_t k = first; k < last; ++k)
            found |= static_cast<std::uint32_t>(state.contains(order[k])) << (k - first);
        CHECK(found == greatest);
    }
}
