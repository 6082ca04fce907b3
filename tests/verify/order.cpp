#include <stowage/verify/order.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <stowage/graph.hpp>
#include <support/random_plans.hpp>

using namespace stowage;

namespace {

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

bool legal(const program& p, const std::vector<operator_index>& order) {
    const auto must = test::must_follow(p);
    for (std::size_t t = 0; t < order.size(); ++t) {
        for (std::size_t u = t + 1; u < order.size(); ++u) {
            if (must[order[t]][order[u]]) return false;
        }
    }
    return true;
}

program hazards() {
    program p;
    const auto a = p.add_buffer({.bytes = 10, .name = "a"});
    const auto b = p.add_buffer({.bytes = 20, .kind = buffer_kind::output, .name = "b"});
    p.add_operator({.name = "write", .writes = {a}});
    p.add_operator({.name = "read", .reads = {a}, .writes = {b}});
    p.add_operator({.name = "rewrite", .writes = {a}});
    p.add_operator({.name = "apart", .workspace = 15});
    p.add_operator({.name = "later", .after = {operator_id{3}}});
    return p;
}

verify::verdict check(const tensor_graph& graph, const std::vector<operator_index>& order) {
    return verify::check_order(graph, order);
}

}  // namespace

TEST_CASE("a legal order is accepted with its peak") {
    const tensor_graph graph = make_tensor_graph(hazards());
    const verify::verdict yes = check(graph, {0, 1, 2, 3, 4});
    CHECK(yes);
    CHECK(yes.reason.empty());
    CHECK(yes.peak == 35);
    CHECK(check(graph, {3, 4, 0, 1, 2}).peak == 30);
    CHECK(verify::check_order(tensor_graph{}, std::vector<operator_index>{}));
}

TEST_CASE("each broken rule is named with its operators and buffers") {
    const tensor_graph graph = make_tensor_graph(hazards());
    struct wrong {
        std::vector<operator_index> order;
        std::string reason;
        std::size_t operators;
        std::size_t buffers;
    };
    const std::vector<wrong> all = {
        {{0, 1, 2, 3}, "operator 4 (later) is not in the order", 1, 0},
        {{0, 1, 2, 3, 3}, "operator 3 (apart) stands twice in the order", 1, 0},
        {{0, 1, 2, 3, 9}, "step 4 runs operator 9, which does not exist", 1, 0},
        {{0, 1, 2, 3, 4, 0}, "operator 0 (write) stands twice in the order", 1, 0},
        {{1, 0, 2, 3, 4},
         "operator 1 (read) runs before operator 0 (write), which writes what it reads: buffer 0 (a)",
         2,
         1},
        {{0, 2, 1, 3, 4},
         "operator 2 (rewrite) runs before operator 1 (read), which reads what it overwrites: buffer 0 (a)",
         2,
         1},
        {{0, 1, 2, 4, 3},
         "operator 4 (later) runs before operator 3 (apart), after which it is to run",
         2,
         0},
    };
    for (const wrong& w : all) {
        const verify::verdict no = check(graph, w.order);
        CHECK(!no);
        CHECK(no.reason == w.reason);
        CHECK(no.operators.size() == w.operators);
        CHECK(no.buffers.size() == w.buffers);
    }
}

TEST_CASE("a write after a write without a reader between is a dependency") {
    program p;
    const auto a = p.add_buffer({.bytes = 1, .name = "a"});
    p.add_operator({.name = "first", .writes = {a}});
    p.add_operator({.name = "second", .writes = {a}});
    const verify::verdict no = check(make_tensor_graph(p), {1, 0});
    CHECK(mentions(no.reason,
                   "operator 1 (second) runs before operator 0 (first), whose result it overwrites"));
}

TEST_CASE("orders with one change agree with the comparison of all pairs") {
    detail::splitmix64 random(11);
    int refused = 0;
    int accepted = 0;
    for (int round = 0; round < 400; ++round) {
        const program p = test::wide_program(random);
        const tensor_graph graph = make_tensor_graph(p);
        std::vector<operator_index> order = test::random_order(p, random);
        const verify::verdict yes = check(graph, order);
        REQUIRE(yes);
        CHECK(yes.peak == peak_bytes(graph, order));
        for (int change = 0; change < 4; ++change) {
            std::vector<operator_index> other = order;
            const std::size_t from = random.below(order.size());
            const std::size_t to = random.below(order.size());
            const operator_index moved = other[from];
            other.erase(other.begin() + static_cast<std::ptrdiff_t>(from));
            other.insert(other.begin() + static_cast<std::ptrdiff_t>(to), moved);
            const verify::verdict found = check(graph, other);
            REQUIRE(found.ok == legal(p, other));
            if (found) {
                ++accepted;
                CHECK(found.peak == peak_bytes(graph, other));
                continue;
            }
            ++refused;
            REQUIRE(found.operators.size() == 2);
            const std::size_t late = found.operators[0].index;
            const std::size_t early = found.operators[1].index;
            CHECK(test::must_follow(p)[late][early]);
            const auto step = [&](std::size_t op) {
                return std::find(other.begin(), other.end(), op) - other.begin();
            };
            CHECK(step(late) < step(early));
            CHECK((late == moved || early == moved));
        }
    }
    CHECK(refused > 300);
    CHECK(accepted > 300);
}

TEST_CASE("what a solution claims of its order must agree") {
    const tensor_graph graph = make_tensor_graph(hazards());
    order::solution good;
    good.order = {0, 1, 2, 3, 4};
    good.peak = 35;
    good.lower_bound = 30;
    good.witness = {"working set", 1};
    CHECK(verify::check_order(graph, good));
    const auto refused = [&](auto change, const std::string& part) {
        order::solution bad = good;
        change(bad);
        const verify::verdict no = verify::check_order(graph, bad);
        CHECK(!no);
        CHECK_MESSAGE(mentions(no.reason, part), no.reason);
    };
    refused([](order::solution& s) { s.peak = 34; }, "the peak is said to be 34, it is 35");
    refused([](order::solution& s) { s.lower_bound = 36; }, "lower bound 36 of the peak is above");
    refused([](order::solution& s) { s.lower_bound = -1; }, "negative");
    refused([](order::solution& s) { s.status = status::optimal; }, "called optimal");
    refused([](order::solution& s) { s.witness.at = 5; }, "does not exist");
    refused([](order::solution& s) { std::swap(s.order[0], s.order[1]); }, "operator 1 (read)");
    good.lower_bound = 35;
    good.status = status::optimal;
    CHECK(verify::check_order(graph, good));
}
