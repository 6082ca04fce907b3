#include <stowage/verify/verdict.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace stowage;

static_assert(!std::is_convertible_v<verify::verdict, bool>, "only explicitly, so that it is not added up");
static_assert(std::is_constructible_v<bool, verify::verdict>);

TEST_CASE("a verdict is a yes until it is refused") {
    CHECK(verify::verdict{});
    const verify::verdict no = verify::detail::refuse("why", {{1, "f"}}, {{2, "x"}, {3, {}}});
    CHECK(!no);
    CHECK(no.reason == "why");
    CHECK(no.operators.size() == 1);
    CHECK(no.buffers[1].text("buffer") == "buffer 3");
    CHECK(verify::detail::differs("the peak", 5, 7) == "the peak is said to be 5, it is 7");
}
