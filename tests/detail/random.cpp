#include <stowage/detail/random.hpp>

#include <doctest/doctest.h>

using stowage::detail::splitmix64;

TEST_CASE("splitmix64 gives the published sequence") {
    splitmix64 random(1234567);
    CHECK(random() == 6457827717110365317U);
    CHECK(random() == 3203168211198807973U);
    CHECK(random() == 9817491932198370423U);
}

TEST_CASE("numbers stay in range and reach both ends") {
    splitmix64 random(1);
    bool low = false;
    bool high = false;
    for (int i = 0; i < 1000; ++i) {
        const auto value = random.below(5);
        REQUIRE(value < 5);
        low = low || value == 0;
        high = high || value == 4;
        const double u = random.uniform();
        REQUIRE(u >= 0.0);
        REQUIRE(u < 1.0);
    }
    CHECK(low);
    CHECK(high);
}
