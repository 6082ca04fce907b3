#include <stowage/graph/program.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace stowage;

static_assert(stowage::tensor_program<stowage::program>);

namespace {

/// The text of the program_error that `act` throws.
template <class Act>
std::string message_of(Act act) {
    try {
        act();
    } catch (const program_error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("a program hands back what it was given") {
    program p;
    const auto x = p.add_buffer({.bytes = 10, .kind = buffer_kind::input, .name = "x"});
    const auto y = p.add_buffer(
        {.bytes = std::numeric_limits<std::int64_t>::max(), .alignment = 64, .pinned_offset = 128});
    const auto first = p.add_operator({.name = "make", .reads = {x}, .writes = {y}});
    const auto second = p.add_operator({.reads = {y},
                                        .workspace = 7,
                                        .stage = stage::backward,
                                        .flops = 1e9,
                                        .seconds = 0.5,
                                        .device = 3,
                                        .after = {first}});
    CHECK(static_cast<int>(y) == 1);
    CHECK(static_cast<int>(second) == 1);
    CHECK(p.buffers().size() == 2);
    CHECK(p.operators().size() == 2);
    const auto& a = p.operators()[0];
    const auto& b = p.operators()[1];
    CHECK(p.reads(a).size() == 1);
    CHECK(p.writes(a)[0] == y);
    CHECK(p.operator_name(a) == "make");
    CHECK(p.buffer_name(p.buffers()[0]) == "x");
    CHECK(p.bytes(p.buffers()[1]) == std::numeric_limits<std::int64_t>::max());
    CHECK(p.kind(p.buffers()[0]) == buffer_kind::input);
    CHECK(p.alignment(p.buffers()[1]) == 64);
    CHECK(p.pinned_offset(p.buffers()[1]) == 128);
    CHECK(!p.pinned_offset(p.buffers()[0]));
    CHECK(p.workspace(b) == 7);
    CHECK(p.stage(b) == stage::backward);
    CHECK(p.stage(a) == stage::unknown);
    CHECK(p.flops(b) == 1e9);
    CHECK(!p.flops(a));
    CHECK(p.seconds(b) == 0.5);
    CHECK(p.device(b) == 3);
    CHECK(p.control_predecessors(b)[0] == first);
}

TEST_CASE("bad buffers and operators are refused by name, and leave the program as it was") {
    program p;
    CHECK(message_of([&] { p.add_buffer({.bytes = -1, .name = "x"}); }) ==
          "buffer 0 (x): its size is negative");
    CHECK(message_of([&] { p.add_buffer({.alignment = 0}); }) == "buffer 0: its alignment is not positive");
    CHECK(message_of([&] { p.add_buffer({.pinned_offset = -8}); }) == "buffer 0: its offset is negative");
    const auto x = p.add_buffer({.bytes = 1});
    CHECK(message_of([&] {
              p.add_operator({.name = "f", .reads = {x, buffer_id{7}}});
          }) == "operator 0 (f), buffer 7: reads a buffer that does not exist");
    CHECK(message_of([&] { p.add_operator({.writes = {buffer_id{1}}}); }) ==
          "operator 0, buffer 1: writes a buffer that does not exist");
    CHECK(message_of([&] { p.add_operator({.workspace = -5}); }) == "operator 0: its workspace is negative");
    CHECK(message_of([&] { p.add_operator({.after = {operator_id{0}}}); }) ==
          "operator 0: it is to run after an operator that was not added before it");
    CHECK(p.buffers().size() == 1);
    CHECK(p.operators().empty());
}
