#include <stowage/graph/detail/handle_map.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

using namespace stowage;
using stowage::detail::handle_map;

namespace {
struct thing {
    int value = 0;
};
enum class id : int {};
}  // namespace

TEST_CASE("integers that are 0, 1, 2, ... are positions themselves; others are looked up") {
    handle_map<int, true> dense;
    for (int i = 0; i < 4; ++i)
        CHECK(dense.add(i));
    CHECK(dense.find(3) == 3);
    CHECK(dense.find(4) == no_index);
    CHECK(dense.find(-1) == no_index);
    CHECK(dense.find(std::uint8_t{2}) == 2);
    CHECK(!dense.add(2));

    handle_map<id, true> sparse;
    for (const int value : {0, 1, 40, -7})
        CHECK(sparse.add(id{value}));
    CHECK(sparse.find(id{1}) == 1);
    CHECK(sparse.find(id{40}) == 2);
    CHECK(sparse.find(id{-7}) == 3);
    CHECK(sparse.find(id{2}) == no_index);
    CHECK(!sparse.add(id{40}));
}

TEST_CASE("objects, pointers and wrappers of one thing name the same position") {
    std::vector<std::unique_ptr<thing>> things;
    for (int i = 0; i < 3; ++i)
        things.push_back(std::make_unique<thing>());
    handle_map<const std::unique_ptr<thing>&, false> map;
    for (const auto& each : things)
        CHECK(map.add(each));
    CHECK(map.find(*things[1]) == 1);
    CHECK(map.find(things[2].get()) == 2);
    CHECK(map.find(things[0]) == 0);
    CHECK(map.find(std::cref(*things[2])) == 2);
    CHECK(map.find(1) == 1);
    CHECK(map.find(3) == no_index);
    CHECK(map.find(std::unique_ptr<thing>{}) == no_index);
    CHECK(map.find(static_cast<const thing*>(nullptr)) == no_index);
    const thing stranger;
    CHECK(map.find(stranger) == no_index);
    CHECK(!map.add(things[1]));
}

TEST_CASE("where only positions are looked up, addresses are not kept") {
    const std::vector<thing> things(5);
    handle_map<const thing&, true> map;
    for (const thing& each : things)
        CHECK(map.add(each));
    CHECK(map.find(4) == 4);
    CHECK(map.find(5) == no_index);
}
