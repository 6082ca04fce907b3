#include <stowage/graph/make_tensor_graph.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

#include <stowage/graph/program.hpp>

using namespace stowage;

namespace {

// One program in the forms in which users' graphs name things: z = f(x, y); x = g(z, x) in place, after f.

struct form {
    buffer_kind kind(const auto& buffer) const {
        return number(buffer) == 2 ? buffer_kind::intermediate : buffer_kind::parameter;
    }
    std::int64_t bytes(const auto& buffer) const { return 10 + static_cast<std::int64_t>(number(buffer)); }

    template <class T>
    static std::size_t number(const T& value) {
        if constexpr (requires { value->number; })
            return value->number;
        else if constexpr (requires { value.number; })
            return value.number;
        else
            return static_cast<std::size_t>(value);
    }
};

struct tensor {
    std::size_t number;
};

struct with_indices : form {
    auto operators() const { return std::views::iota(0, 2); }
    auto buffers() const { return std::views::iota(0, 3); }
    std::vector<int> reads(int op) const { return op == 0 ? std::vector{0, 1} : std::vector{2, 0}; }
    std::vector<int> writes(int op) const { return {op == 0 ? 2 : 0}; }
};

enum class tensor_id : unsigned char {};
struct with_sparse_enums : form {
    std::vector<std::string> operators_ = {"f", "g"};
    const std::vector<std::string>& operators() const { return operators_; }
    std::vector<tensor_id> buffers() const { return {tensor_id{200}, tensor_id{7}, tensor_id{2}}; }
    std::vector<tensor_id> reads(const std::string& op) const {
        return op == "f" ? std::vector{tensor_id{200}, tensor_id{7}}
                         : std::vector{tensor_id{2}, tensor_id{200}};
    }
    std::vector<tensor_id> writes(const std::string& op) const {
        return {op == "f" ? tensor_id{2} : tensor_id{200}};
    }
    std::int64_t bytes(tensor_id id) const {
        return id == tensor_id{200} ? 10 : id == tensor_id{7} ? 11 : 12;
    }
    const std::string& operator_name(const std::string& op) const { return op; }
};

/// Operators as objects, tensors owned by unique_ptr and named by whatever Name is.
template <class Name>
struct with_pointers : form {
    struct node {
        std::vector<Name> in, out;
    };
    with_pointers() {
        for (std::size_t i = 0; i < 3; ++i)
            tensors.push_back(std::make_unique<tensor>(tensor{i}));
        nodes.resize(2);
        nodes[0].in.push_back(name(0));
        nodes[0].in.push_back(name(1));
        nodes[0].out.push_back(name(2));
        nodes[1].in.push_back(name(2));
        nodes[1].in.push_back(name(0));
        nodes[1].out.push_back(name(0));
    }
    Name name(std::size_t i) const {
        if constexpr (std::is_pointer_v<Name>)
            return tensors[i].get();
        else if constexpr (std::is_integral_v<Name>)
            return static_cast<Name>(i);
        else
            return Name(*tensors[i]);
    }
    const std::vector<node>& operators() const { return nodes; }
    const std::vector<std::unique_ptr<tensor>>& buffers() const { return tensors; }
    const std::vector<Name>& reads(const node& op) const { return op.in; }
    const std::vector<Name>& writes(const node& op) const { return op.out; }
    std::vector<std::unique_ptr<tensor>> tensors;
    std::vector<node> nodes;
};

/// Tensors as objects, seen through a view that filters.
struct with_views : form {
    std::vector<tensor> tensors = {{0}, {1}, {77}, {2}};
    auto buffers() const {
        return std::views::filter(tensors, [](const tensor& each) { return each.number < 3; });
    }
    auto operators() const { return std::views::iota(0, 2); }
    std::vector<const tensor*> reads(int op) const {
        return op == 0 ? std::vector{&tensors[0], &tensors[1]} : std::vector{&tensors[3], &tensors[0]};
    }
    auto writes(int op) const { return std::views::counted(&tensors[op == 0 ? 3 : 0], 1); }
};

program as_program() {
    program p;
    const auto x = p.add_buffer({.bytes = 10, .kind = buffer_kind::parameter});
    const auto y = p.add_buffer({.bytes = 11, .kind = buffer_kind::parameter});
    const auto z = p.add_buffer({.bytes = 12});
    p.add_operator({.reads = {x, y}, .writes = {z}});
    p.add_operator({.reads = {z, x}, .writes = {x}});
    return p;
}

template <class Act>
std::string message_of(Act act) {
    try {
        act();
    } catch (const error& caught) {
        return caught.what();
    }
    return "nothing was thrown";
}

/// A graph whose every answer can be spoilt.
struct spoilable {
    std::vector<int> buffers_ = {0, 1};
    std::vector<int> operators_ = {0, 1};
    std::vector<int> reads_of_1 = {1};
    std::vector<int> writes_of_0 = {1};
    std::vector<int> before_1 = {};
    std::uint64_t size_of_1 = 8;
    std::uint64_t size_of_0 = 8;
    buffer_kind kind_of_1 = buffer_kind::intermediate;
    stowage::stage stage_of_0 = stage::forward;
    std::uint64_t workspace_of_0 = 0;
    std::uint64_t alignment_of_0 = 1;
    std::optional<std::uint64_t> pin_of_0 = {};
    int device_of_0 = 0;

    const std::vector<int>& buffers() const { return buffers_; }
    const std::vector<int>& operators() const { return operators_; }
    std::vector<int> reads(int op) const { return op == 1 ? reads_of_1 : std::vector<int>{}; }
    std::vector<int> writes(int op) const { return op == 0 ? writes_of_0 : std::vector<int>{}; }
    std::uint64_t bytes(int buffer) const { return buffer == 0 ? size_of_0 : size_of_1; }
    buffer_kind kind(int buffer) const { return buffer == 0 ? buffer_kind::parameter : kind_of_1; }
    std::string operator_name(int op) const { return op == 0 ? "make" : "use"; }
    const char* buffer_name(int buffer) const { return buffer == 0 ? "weight" : "value"; }
    stowage::stage stage(int op) const { return op == 0 ? stage_of_0 : stage::unknown; }
    std::uint64_t workspace(int op) const { return op == 0 ? workspace_of_0 : 0; }
    std::uint64_t alignment(int buffer) const { return buffer == 0 ? alignment_of_0 : 1; }
    std::optional<std::uint64_t> pinned_offset(int buffer) const {
        return buffer == 0 ? pin_of_0 : std::nullopt;
    }
    std::optional<int> device(int op) const { return op == 0 ? std::optional(device_of_0) : std::nullopt; }
    std::vector<int> control_predecessors(int op) const { return op == 1 ? before_1 : std::vector<int>{}; }
};

std::string message_with(auto spoil) {
    spoilable graph;
    spoil(graph);
    return message_of([&] { static_cast<void>(make_tensor_graph(graph)); });
}

}  // namespace

TEST_CASE_TEMPLATE("objects, pointers, references, integers and enums all name the same program", Graph,
                   with_indices, with_sparse_enums, with_pointers<const tensor*>, with_pointers<tensor*>,
                   with_pointers<std::reference_wrapper<const tensor>>, with_pointers<std::size_t>,
                   with_views) {
    const tensor_graph expected = make_tensor_graph(as_program());
    const tensor_graph graph = make_tensor_graph(Graph{});
    CHECK(graph.fingerprint() == expected.fingerprint());
    REQUIRE(graph.operator_count() == 2);
    CHECK(graph.reads(1)[0] == 2);
    CHECK(graph.writes(1)[0] == 0);
    CHECK(graph.predecessors(1).size() == 1);
}

TEST_CASE("optional facts are taken where they are given") {
    spoilable graph;
    graph.workspace_of_0 = 5;
    graph.alignment_of_0 = 64;
    graph.pin_of_0 = 128;
    graph.device_of_0 = 2;
    graph.before_1 = {0};
    const tensor_graph made = make_tensor_graph(graph);
    CHECK(made.workspace(0) == 5);
    CHECK(made.workspace(1) == 0);
    CHECK(made.alignment(0) == 64);
    CHECK(made.pinned_offset(0) == 128);
    CHECK(!made.pinned_offset(1));
    CHECK(made.device(0) == 2);
    CHECK(made.device(1) == 0);
    CHECK(made.stage(0) == stage::forward);
    CHECK(made.operator_name(1) == "use");
    CHECK(made.buffer_name(0) == "weight");
    CHECK(!made.flops(0));
    CHECK(made.predecessors(1).size() == 1);
}

TEST_CASE("a tensor_graph is taken as it is") {
    const tensor_graph graph = make_tensor_graph(as_program());
    CHECK(&make_tensor_graph(graph) == &graph);
    static_assert(plannable<tensor_graph> && plannable<const program&> && plannable<with_indices>);
    static_assert(!plannable<int> && !plannable<tensor>);
}

TEST_CASE("every rule that a program breaks is named, with operator and buffer") {
    constexpr std::uint64_t too_large = std::uint64_t{1} << 63U;
    CHECK(message_with([](spoilable&) {}) == "nothing was thrown");
    CHECK(message_with([](spoilable& g) {
              g.reads_of_1 = {0, 7};
          }) == "operator 1 (use): reads a buffer that does not exist");
    CHECK(message_with([](spoilable& g) { g.reads_of_1 = {-1}; }) ==
          "operator 1 (use): reads a buffer that does not exist");
    CHECK(message_with([](spoilable& g) { g.writes_of_0 = {2}; }) ==
          "operator 0 (make): writes a buffer that does not exist");
    CHECK(message_with([](spoilable& g) { g.writes_of_0 = {}; }) ==
          "operator 1 (use), buffer 1 (value): it reads a buffer that no operator has written before");
    CHECK(message_with([](spoilable& g) {
              g.kind_of_1 = buffer_kind::output;
              g.writes_of_0 = {};
              g.reads_of_1 = {};
          }) == "buffer 1 (value): an output that no operator writes");
    CHECK(message_with([](spoilable& g) {
              g.kind_of_1 = buffer_kind::output;
              g.writes_of_0 = {};
          }) == "operator 1 (use), buffer 1 (value): it reads a buffer that no operator has written before");
    CHECK(message_with([](spoilable& g) { g.size_of_1 = too_large; }) ==
          "buffer 1 (value): its size is not in 0 to 2^63 - 1");
    CHECK(message_with([](spoilable& g) { g.kind_of_1 = static_cast<buffer_kind>(8); }) ==
          "buffer 1 (value): its kind is out of range");
    CHECK(message_with([](spoilable& g) { g.alignment_of_0 = 0; }) ==
          "buffer 0 (weight): its alignment is not in 1 to 2^63 - 1");
    CHECK(message_with([](spoilable& g) { g.alignment_of_0 = too_large; }) ==
          "buffer 0 (weight): its alignment is not in 1 to 2^63 - 1");
    CHECK(message_with([&](spoilable& g) { g.pin_of_0 = too_large; }) ==
          "buffer 0 (weight): its offset is not in 0 to 2^63 - 1");
    CHECK(message_with([](spoilable& g) { g.workspace_of_0 = too_large; }) ==
          "operator 0 (make): its workspace is not in 0 to 2^63 - 1");
    CHECK(message_with([](spoilable& g) { g.stage_of_0 = static_cast<stage>(4); }) ==
          "operator 0 (make): its stage is out of range");
    CHECK(message_with([](spoilable& g) { g.device_of_0 = -1; }) ==
          "operator 0 (make): its device is not in 0 to 2^32 - 1");
    for (const int before : {1, 2, -1}) {
        CHECK(message_with([=](spoilable& g) { g.before_1 = {before}; }) ==
              "operator 1 (use): it is to run after an operator that is not before it in program order");
    }
    CHECK(message_with([](spoilable& g) {
              g.buffers_ = {0, 0};
          }) == "buffer 1 (weight): it stands twice among the buffers");
    CHECK(message_with([](spoilable& g) {
              g.operators_ = {0, 1, 1};
          }) == "operator 2 (use): it stands twice among the operators");
}

TEST_CASE("an error says which operator and buffer it is about") {
    spoilable graph;
    graph.writes_of_0 = {};
    try {
        static_cast<void>(make_tensor_graph(graph));
        FAIL("nothing was thrown");
    } catch (const program_error& error) {
        CHECK(error.operator_concerned().index == 1);
        CHECK(error.operator_concerned().name == "use");
        CHECK(error.buffer_concerned().index == 1);
        CHECK(error.buffer_concerned().name == "value");
    }
}

TEST_CASE("sums of bytes up to 2^63 - 1 are served, beyond it they are an error") {
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    const auto both_largest = [](spoilable& g) { g.size_of_0 = g.size_of_1 = largest; };
    CHECK(message_with(both_largest) == "nothing was thrown");
    CHECK(message_with([&](spoilable& g) {
              both_largest(g);
              g.kind_of_1 = buffer_kind::constant;
          }) == "buffer 1 (value): the sum of bytes passes 2^63 - 1");
    CHECK(message_with([&](spoilable& g) {
              both_largest(g);
              g.workspace_of_0 = 1;
          }) == "the sum of planned bytes and the largest workspace passes 2^63 - 1");
    const auto make = [&] {
        spoilable graph;
        both_largest(graph);
        graph.kind_of_1 = buffer_kind::constant;
        return make_tensor_graph(graph);
    };
    CHECK_THROWS_AS(static_cast<void>(make()), overflow_error);
}

TEST_CASE("an empty program is one") {
    const tensor_graph graph = make_tensor_graph(program{});
    CHECK(graph.operator_count() == 0);
    CHECK(graph.buffer_count() == 0);
    CHECK(graph.fingerprint() == tensor_graph(make_tensor_graph(program{})).fingerprint());
}
