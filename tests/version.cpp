#include <doctest/doctest.h>

#include <stowage/version.hpp>
#include <string>

TEST_CASE("the package has the version of the headers") {
    const auto v = stowage::version;
    const auto text = std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch);
    CHECK(text == STOWAGE_PROJECT_VERSION);
}

TEST_CASE("versions are ordered by age") {
    using stowage::version_number;
    static_assert(version_number{1, 0, 0} > version_number{0, 9, 9});
    static_assert(version_number{0, 2, 0} > version_number{0, 1, 9});
    static_assert(version_number{0, 1, 1} > version_number{0, 1, 0});
    static_assert(version_number{0, 1, 0} == version_number{0, 1, 0});
}
