#include <stowage/layout/key.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

TEST_CASE("every key has a name of its own") {
    std::set<std::string> names;
    for (const auto key : stowage::layout::all_keys)
        names.insert(std::string(to_string(key)));
    CHECK(names.size() == stowage::layout::all_keys.size());
    CHECK(names.contains("size_duration"));
}
