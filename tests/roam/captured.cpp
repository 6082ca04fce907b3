// The paper's order on captured training steps, beside a list rule over the whole program and the optimum.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include <stowage/budget.hpp>
#include <stowage/io/access_list.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/roam/paper.hpp>
#include <stowage/roam/paper_order.hpp>
#include <stowage/verify.hpp>

using namespace stowage;

TEST_CASE("delayed updates: never above LESCEA's order, at the optimum where a delay keeps nothing") {
    struct expectation {
        const char* program;
        std::int64_t peak;            // optimal for the first two (tests/order/captured.cpp)
        std::optional<double> alpha;  // that it takes
    };
    for (const expectation& e : {expectation{"vgg16-b32", 2343236612, 3.0},
                                 {"mnasnet1_0-b1", 45253924, {}},
                                 {"resnet50-b1", 94539172, {}}}) {
        CAPTURE(e.program);
        const tensor_graph graph =
            io::read_access_list(STOWAGE_EXAMPLE_DATA "/" + std::string(e.program) + ".json.gz").graph;
        budget account;
        const roam::paper_ordering found = roam::order_as_paper(graph, order::lescea{}, account);
        CHECK(verify::check_order(graph, found.ordered.order).peak == found.ordered.peak);
        CHECK(found.ordered.peak == e.peak);
        CHECK(found.alpha == e.alpha);
        budget other;
        CHECK(found.ordered.peak <= order::plan(graph, order::lescea{}, other).peak);
        // Whole branches delayed, as far as each stands: not as good.
        budget third;
        roam::paper_order_options whole;
        whole.updates.part = roam::delayed_part::branch;
        whole.alphas = {};
        CHECK(roam::order_as_paper(graph, order::lescea{}, third, whole).ordered.peak > found.ordered.peak);
    }
}

TEST_CASE("where only padding is in the way, roam::paper's arena meets what is proven") {
    const tensor_graph graph = io::read_access_list(STOWAGE_EXAMPLE_DATA "/alexnet-b1.json.gz").graph;
    const plan made = roam::paper(solver::enumerator{})(graph, roam::options{.alignment = 512});
    CHECK(verify::check_plan(graph, made).ok);
    CHECK(made.arena.bytes % 512 == 4);
    CHECK(made.status == status::optimal);
}
