#include <stowage/turnip/detail/shared_time.hpp>

#include <doctest/doctest.h>

#include <chrono>

namespace turnip = stowage::turnip;
using std::chrono::nanoseconds;

TEST_CASE("a limit of time is parted, one of states is not") {
    turnip::compile_options asked{.limits = {.states = 70, .time = nanoseconds(10)}};
    const turnip::detail::shared_time timed = turnip::detail::share_time(asked, 4);
    CHECK(timed.choosing.limits.time == nanoseconds(2));
    CHECK(timed.compiling.limits.time == nanoseconds(8));
    asked.limits.time.reset();
    const turnip::detail::shared_time counted = turnip::detail::share_time(asked, 3);
    CHECK_FALSE(counted.choosing.limits.time.has_value());
    CHECK_FALSE(counted.compiling.limits.time.has_value());
    CHECK(counted.choosing.limits.states == 70);
    CHECK(counted.compiling.limits.states == 70);
}
