#include <stowage/layout/detail/obstacles.hpp>

#include <cstdint>

#include <doctest/doctest.h>

using stowage::layout::detail::obstacle;
using stowage::layout::detail::obstacles;

TEST_CASE("a floor passes what it reaches and goes back to where it was") {
    obstacles above;
    above.start(2);
    CHECK(above.insert(0, {4, 6}));
    CHECK(above.insert(0, {6, 9}));
    CHECK(above.insert(0, {12, 13}));
    std::int64_t passed = 0;
    CHECK(above.settle(0, 3, passed) == 3);
    CHECK(above.first(0).bottom == 4);
    CHECK(above.settle(0, 4, passed) == 9);
    CHECK(passed == 5);
    CHECK(above.first(0).bottom == 12);
    CHECK(above.bytes_below(0, 13) == 1);
    CHECK(above.rewind(0, 4) == 5);
    CHECK(above.first(0).bottom == 4);
    CHECK(above.bytes_below(0, 8) == 4);
    CHECK(above.first(1).bottom == obstacles::none);
}

TEST_CASE("room between obstacles, and obstacles that come and go") {
    obstacles above;
    above.start(1);
    CHECK(above.insert(0, {4, 6}));
    CHECK(above.insert(0, {8, 9}));
    CHECK(above.first_free(0, 0, 4) == 0);
    CHECK(above.first_free(0, 1, 4) == 9);
    CHECK(above.first_free(0, 1, 2) == 1);
    CHECK(above.first_free(0, 5, 2) == 6);
    CHECK(above.insert(0, {6, 7}));
    CHECK(above.first_free(0, 5, 2) == 9);
    above.erase(0, 6);
    CHECK(above.first_free(0, 5, 2) == 6);
    CHECK_FALSE(above.insert(0, {5, 7}));
}
