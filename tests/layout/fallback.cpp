#include <stowage/layout/fallback.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory_resource>

using namespace stowage;

TEST_CASE("refusing gives a null pointer") {
    const layout::refuse_unplanned none;
    CHECK(none.allocate(1, 1) == nullptr);
    CHECK_NOTHROW(none.deallocate(nullptr, 1, 1));
    const layout::forward_to nobody;
    CHECK(nobody.allocate(1, 1) == nullptr);
    CHECK_NOTHROW(nobody.deallocate(nullptr, 1, 1));
}

TEST_CASE("forwarding gives what the resource gives") {
    std::array<std::byte, 64> bytes{};
    std::pmr::monotonic_buffer_resource resource(bytes.data(), bytes.size(),
                                                 std::pmr::null_memory_resource());
    const layout::forward_to to{&resource};
    CHECK(to.allocate(8, 1) == bytes.data());
    CHECK_THROWS_AS((void)to.allocate(100, 1), std::bad_alloc);
}
