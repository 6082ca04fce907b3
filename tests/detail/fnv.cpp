#include <stowage/detail/fnv.hpp>

#include <doctest/doctest.h>

using stowage::detail::fnv1a_64;

TEST_CASE("FNV-1a-64 of nothing is its offset basis, of words that of their bytes") {
    CHECK(fnv1a_64{}.value() == 0xcbf29ce484222325U);
    fnv1a_64 hash;
    hash.add(1);
    hash.add(2);
    // the same as mix(1, 2) of shared/check/program.py
    CHECK(hash.value() == 0x7717980363c8e066U);
}
