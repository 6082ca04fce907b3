#include <stowage/graph/stage.hpp>

#include <doctest/doctest.h>

using namespace stowage;

TEST_CASE("stages have the names that files use; unknown is the empty one") {
    CHECK(to_string(stage::unknown).empty());
    CHECK(to_string(stage::forward) == "forward");
    CHECK(to_string(stage::backward) == "backward");
    CHECK(to_string(stage::update) == "update");
    CHECK(to_string(static_cast<stage>(4)) == "?");
    for (std::size_t i = 0; i < stage_names.size(); ++i)
        CHECK(parse_stage(stage_names[i]) == static_cast<stage>(i));
    CHECK(!parse_stage("optimizer"));
}
