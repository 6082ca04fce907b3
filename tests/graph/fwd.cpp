#include <stowage/graph/fwd.hpp>
// Only names are known so far; the definitions that follow must agree with them.
stowage::tensor_graph* a_graph();
stowage::buffer_kind a_kind(const stowage::program&);
#include <doctest/doctest.h>
#include <stowage/graph.hpp>

#include <type_traits>

TEST_CASE("forward declarations agree with the definitions") {
    static_assert(std::is_same_v<std::underlying_type_t<stowage::buffer_id>, std::uint32_t>);
    static_assert(std::is_same_v<std::underlying_type_t<stowage::operator_id>, std::uint32_t>);
    static_assert(sizeof(stowage::stage) == 1 && sizeof(stowage::buffer_kind) == 1);
    CHECK(stowage::tensor_graph().operator_count() == 0);
}
