#include <stowage/verify/proof.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/order/bounds.hpp>

#include "support/random_program.hpp"

using namespace stowage;

namespace {

/// The least bytes alive while `op` runs, by listing all sets of operators that may have run before it.
std::int64_t least_alive_by_listing(const tensor_graph& graph, operator_index op) {
    const auto count = static_cast<std::uint32_t>(graph.operator_count());
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t done = 0; done < 1U << count; ++done) {
        if ((done >> op & 1U) != 0) continue;
        bool legal = true;
        for (operator_index v = 0; v < count; ++v) {
            if ((done >> v & 1U) == 0 && v != op) continue;
            for (const operator_index p : graph.predecessors(v))
                legal = legal && (done >> p & 1U) != 0;
        }
        if (!legal) continue;
        const std::uint32_t with = done | 1U << op;
        std::int64_t live = graph.workspace(op);
        for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
            if (!graph.is_planned(b)) continue;
            std::uint32_t users = 0;
            for (const operator_index user : graph.users(b))
                users |= 1U << user;
            const operator_index maker = graph.producer(b);
            const bool born = maker == no_operator || (with >> maker & 1U) != 0;
            const bool needed = graph.kind(b) == buffer_kind::output || (users & ~done) != 0;
            if (born && needed) live += graph.bytes(b);
        }
        least = std::min(least, live);
    }
    return least;
}

}  // namespace

TEST_CASE("the least bytes alive at an operator agree with listing all sets") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 8}));
        for (operator_index op = 0; op < graph.operator_count(); ++op) {
            REQUIRE(verify::least_alive_at(graph, op) == least_alive_by_listing(graph, op));
        }
    }
}

TEST_CASE("what a min cut proves is accepted, a byte more is refused by name") {
    int cuts = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 12}));
        const order::bound proven = order::min_cut_bound(graph);
        if (proven.witness.rule != "min cut") continue;
        ++cuts;
        const verify::verdict yes = verify::check_certificate(graph, {proven.bytes, proven.witness.at});
        CHECK_MESSAGE(yes.ok, yes.reason);
        const verify::verdict no = verify::check_certificate(graph, {proven.bytes + 1, proven.witness.at});
        CHECK_FALSE(no.ok);
        REQUIRE(no.operators.size() == 1);
        CHECK(no.operators[0].index == proven.witness.at);
    }
    CHECK(cuts > 20);
}

TEST_CASE("an operator that does not exist proves nothing") {
    const tensor_graph graph = make_tensor_graph(test::random_program(1, {.operators = 3}));
    CHECK_FALSE(verify::check_certificate(graph, {1, no_operator}).ok);
    CHECK_FALSE(verify::check_certificate(graph, {1, 3}).ok);
}
