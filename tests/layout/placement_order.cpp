#include <stowage/layout/placement_order.hpp>

#include <doctest/doctest.h>

TEST_CASE("every order has its name") {
    using stowage::layout::placement_order;
    CHECK(to_string(placement_order::birth) == "birth");
    CHECK(to_string(placement_order::size) == "size");
    CHECK(to_string(placement_order::duration) == "duration");
    CHECK(to_string(placement_order::size_duration) == "size_duration");
    CHECK(to_string(placement_order::load) == "load");
}
