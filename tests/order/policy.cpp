#include <stowage/order/policy.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include <stowage/graph.hpp>

namespace {

using namespace stowage;

struct simple {
    order::sequence operator()(const tensor_graph& graph) const { return program_order(graph); }
};
struct searching {
    order::sequence operator()(const tensor_graph&, order::context& shared) const {
        shared.lower_bound = 7;
        return {};
    }
};
struct without_const {
    order::sequence operator()(const tensor_graph& graph) { return program_order(graph); }
};
struct without_copy {
    std::unique_ptr<int> state;
    order::sequence operator()(const tensor_graph& graph) const { return program_order(graph); }
};
struct without_sequence {
    std::string operator()(const tensor_graph&) const { return {}; }
};
struct with_a_copied_context {
    order::sequence operator()(const tensor_graph&, order::context&&) const { return {}; }
};

static_assert(order::simple_order_policy<simple> && !order::searching_order_policy<simple>);
static_assert(order::searching_order_policy<searching> && !order::simple_order_policy<searching>);
static_assert(order::order_policy<simple> && order::order_policy<searching>);
static_assert(!order::order_policy<without_const>);
static_assert(!order::order_policy<without_copy>);
static_assert(!order::order_policy<without_sequence>);
static_assert(!order::order_policy<with_a_copied_context>);

}  // namespace

TEST_CASE("a policy of either shape is called the same way") {
    program step;
    step.add_operator({});
    const tensor_graph graph = make_tensor_graph(step);
    budget account;
    order::context shared{.account = account};
    CHECK(order::apply(simple{}, graph, shared) == order::sequence{0});
    CHECK(shared.lower_bound == 0);
    CHECK(order::apply(searching{}, graph, shared).empty());
    CHECK(shared.lower_bound == 7);
}
