// ctest-alone: it specialises a template of namespace stowage
#include <stowage/graph/concepts.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <list>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

using namespace stowage;

namespace {

struct op {
    std::vector<int> in, out;
};
struct tensor {
    std::int64_t bytes;
};

/// A graph that models the concept with nothing to spare; each negative model below takes one thing away.
struct good {
    const std::vector<op>& operators() const { return ops; }
    const std::vector<tensor>& buffers() const { return tensors; }
    const std::vector<int>& reads(const op& of) const { return of.in; }
    const std::vector<int>& writes(const op& of) const { return of.out; }
    std::int64_t bytes(const tensor& of) const { return of.bytes; }
    buffer_kind kind(const tensor&) const { return buffer_kind::intermediate; }
    std::vector<op> ops;
    std::vector<tensor> tensors;
};
static_assert(tensor_program<good>);

struct without_operators : good {
    void operators() const = delete;
};
struct without_buffers : good {
    void buffers() const = delete;
};
struct without_reads : good {
    void reads(const op&) const = delete;
};
struct without_writes : good {
    void writes(const op&) const = delete;
};
struct without_bytes : good {
    void bytes(const tensor&) const = delete;
};
struct without_kind : good {
    void kind(const tensor&) const = delete;
};
static_assert(!has_operators<without_operators> && !tensor_program<without_operators>);
static_assert(!has_buffers<without_buffers> && !tensor_program<without_buffers>);
static_assert(!has_reads<without_reads> && !tensor_program<without_reads>);
static_assert(!has_writes<without_writes> && !tensor_program<without_writes>);
static_assert(!has_bytes<without_bytes> && !tensor_program<without_bytes>);
static_assert(!has_kind<without_kind> && !tensor_program<without_kind>);

// What is taken away does not take the rest with it, so that a message names the one thing that is missing.
static_assert(has_writes<without_reads> && has_bytes<without_reads> && has_kind<without_reads>);
static_assert(has_reads<without_writes> && has_operators<without_bytes> && has_bytes<without_kind>);

struct with_fractional_bytes : good {
    double bytes(const tensor&) const { return 1.5; }
};
struct with_kind_as_integer : good {
    int kind(const tensor&) const { return 0; }
};
struct with_reads_of_one : good {
    int reads(const op&) const { return 0; }
};
struct with_reads_that_are_text : good {
    std::vector<std::string> reads(const op&) const { return {}; }
};
struct with_copied_operators : good {
    std::vector<op> operators() const { return ops; }
};
struct with_copied_buffers : good {
    std::vector<tensor> buffers() const { return tensors; }
};
struct with_mutable_operators : good {
    std::vector<op>& operators() { return ops; }
};
static_assert(!has_bytes<with_fractional_bytes> && !tensor_program<with_fractional_bytes>);
static_assert(!has_kind<with_kind_as_integer> && !tensor_program<with_kind_as_integer>);
static_assert(!has_reads<with_reads_of_one> && !tensor_program<with_reads_of_one>);
static_assert(!has_reads<with_reads_that_are_text> && !tensor_program<with_reads_that_are_text>);
static_assert(!has_operators<with_copied_operators> && !tensor_program<with_copied_operators>);
static_assert(!has_buffers<with_copied_buffers> && !tensor_program<with_copied_buffers>);
static_assert(!has_operators<with_mutable_operators> && !tensor_program<with_mutable_operators>);

// Copies of handles that are no objects are fine: an index or a pointer is a name wherever it lies.
struct with_copied_indices : good {
    std::vector<int> reads(const op& of) const { return of.in; }
    std::vector<const tensor*> writes(const op&) const { return {}; }
};
struct with_operators_as_view : good {
    auto operators() const { return std::views::all(ops); }
};
struct with_generated_operators : good {
    auto operators() const { return std::views::iota(0, 3); }
    const std::vector<int>& reads(int) const { return none; }
    const std::vector<int>& writes(int) const { return none; }
    std::vector<int> none;
};
static_assert(tensor_program<with_copied_indices>);
static_assert(tensor_program<with_operators_as_view>);
static_assert(tensor_program<with_generated_operators>);

// A type that cannot be changed is adapted by a specialisation, whatever its own members are called.
struct closed {
    std::list<op> nodes;
};

// What names a thing, and what does not.
enum class id : unsigned {};
static_assert(handle<int> && handle<const std::size_t&> && handle<id>);
static_assert(handle<op*> && handle<const op* const&> && handle<std::unique_ptr<op>&>);
static_assert(handle<std::shared_ptr<const op>> && handle<std::list<op>::iterator>);
static_assert(handle<std::reference_wrapper<const op>>);
static_assert(handle<op&> && handle<const op&>);
static_assert(!handle<op> && !handle<op&&> && !handle<std::string>);
static_assert(!handle_range<std::vector<op>> && handle_range<std::vector<op>&>);
static_assert(!handle_range<int> && handle_range<std::vector<int>>);

}  // namespace

template <>
struct stowage::program_traits<closed> {
    static const std::list<op>& operators(const closed& graph) { return graph.nodes; }
    static auto buffers(const closed&) { return std::views::iota(0, 2); }
    static const std::vector<int>& reads(const closed&, const op& of) { return of.in; }
    static const std::vector<int>& writes(const closed&, const op& of) { return of.out; }
    static int bytes(const closed&, int) { return 4; }
    static buffer_kind kind(const closed&, int) { return buffer_kind::intermediate; }
};
static_assert(tensor_program<closed>);
static_assert(!tensor_program<int> && !tensor_program<std::vector<op>>);

TEST_CASE("the handles of a graph have the types that its ranges yield") {
    CHECK(std::is_same_v<operator_handle_t<good>, const op&>);
    CHECK(std::is_same_v<buffer_handle_t<closed>, int>);
}
