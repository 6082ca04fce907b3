#include <stowage/budget.hpp>

#include <doctest/doctest.h>

using namespace stowage;
using namespace std::chrono_literals;

TEST_CASE("a number of states is spent exactly") {
    budget account({.states = 3});
    CHECK(account.spend());
    CHECK(account.spend());
    CHECK_FALSE(account.spend());
    CHECK(account.exhausted());
    CHECK(account.left() == 0);
    CHECK_FALSE(account.timed());
}

TEST_CASE("a clock replaces the states") {
    budget open({.states = 1, .time = 1h});
    CHECK(open.spend(1'000'000));
    CHECK(open.timed());
    budget late({.time = 1ms}, budget::clock::now() - 1s);
    CHECK(late.exhausted());
    CHECK_FALSE(late.spend());
}

TEST_CASE("states can end the work beside a clock") {
    budget both({.states = 3, .time = 1h, .states_too = true});
    CHECK(both.timed());
    CHECK(both.left() == 3);
    CHECK_FALSE(both.spend(3));
    budget late({.states = 3, .time = 0ns, .states_too = true});
    CHECK(late.exhausted());
}

TEST_CASE("a part of the time that is left, and the rest of it for another account") {
    const budget open({.states = 7, .time = 4h});
    CHECK(open.share_of_time(4).time_left().value() <= 1h);
    CHECK(open.share_of_time(4).time_left().value() > 59min);
    const search_limits rest = open.rest_of({.states = 5, .time = 9h, .states_too = true, .seed = 3});
    CHECK(rest.time.value() <= 4h);
    CHECK(rest.states == 5);
    CHECK(rest.states_too);
    CHECK(rest.seed == 3);
    const budget counted({.states = 7});
    CHECK_FALSE(counted.share_of_time(4).timed());
    CHECK(counted.share_of_time(4).left() == 7);
    CHECK_FALSE(counted.rest_of({.states = 5}).time);
    CHECK(budget({.time = 1ms}, budget::clock::now() - 1s).share_of_time(2).exhausted());
}

TEST_CASE("an account beside a spent one has states of its own and the same clock") {
    budget spent({.states = 1});
    CHECK_FALSE(spent.spend());
    budget other = spent.beside(3);
    CHECK(other.left() == 3);
    CHECK_FALSE(other.exhausted());
    CHECK(budget({.time = 0ns}).beside(3).exhausted());
    CHECK_FALSE(detail::is_over(nullptr));
    CHECK_FALSE(detail::is_over(&other));
    CHECK(detail::is_over(&spent));
}

TEST_CASE("a request to stop ends the work") {
    std::stop_source source;
    budget account({.stop = source.get_token()});
    CHECK(account.spend());
    source.request_stop();
    CHECK(account.exhausted());
}

TEST_CASE("a slice never has more than the whole, and is settled into it") {
    budget account({.states = 100});
    budget small = account.slice(10);
    CHECK(small.left() == 10);
    CHECK_FALSE(small.spend(10));
    account.settle(small);
    CHECK(account.left() == 90);
    CHECK(account.slice(1000).left() == 90);
    CHECK_FALSE(account.spend(90));
    CHECK(account.slice(10).exhausted());
}

TEST_CASE("what is left of the clock, and the user's token, can be handed on") {
    CHECK_FALSE(budget({.states = 10}).time_left());
    std::stop_source source;
    budget open({.time = 1h, .stop = source.get_token()});
    CHECK(open.time_left().value() > 59min);
    CHECK(open.time_left().value() <= 1h);
    CHECK_FALSE(open.stop_token().stop_requested());
    source.request_stop();
    CHECK(open.stop_token().stop_requested());
    const budget late({.time = 1ms}, budget::clock::now() - 1s);
    CHECK(late.time_left().value() == 0ns);
}

TEST_CASE("an account without states keeps its clock and its stop token") {
    stowage::budget spent({.states = 1});
    CHECK_FALSE(spent.spend(5));
    stowage::budget passes = spent.without_states();
    CHECK_FALSE(passes.exhausted());
    CHECK(passes.spend(1'000'000));
    stowage::budget late({.time = std::chrono::nanoseconds{0}});
    CHECK(late.without_states().exhausted());
    std::stop_source stopped;
    stopped.request_stop();
    stowage::budget asked({.stop = stopped.get_token()});
    CHECK(asked.without_states().exhausted());
}
