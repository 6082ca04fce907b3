// ctest-label: threads
// Free functions are reentrant: threads that read one program at the same time disturb each other nowhere.
// Under the thread sanitizer this finds hidden shared state.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/layout/of_order.hpp>

namespace {

stowage::program random_program(std::uint64_t seed, std::size_t operators) {
    stowage::detail::splitmix64 random(seed);
    stowage::program program;
    std::vector<stowage::buffer_id> written;
    for (std::size_t i = 0; i < operators; ++i) {
        stowage::operator_options op{.name = "op" + std::to_string(i), .workspace = 8};
        for (int reads = 0; reads < 2 && !written.empty(); ++reads) {
            const auto buffer = written[random.below(written.size())];
            if (op.reads.empty() || op.reads.front() != buffer) op.reads.push_back(buffer);
        }
        const auto bytes = static_cast<std::int64_t>(random.below(1000));
        op.writes = {program.add_buffer({.bytes = bytes, .name = "b" + std::to_string(i)})};
        written.push_back(op.writes.front());
        program.add_operator(op);
    }
    return program;
}

std::vector<std::int64_t> answers(const stowage::program& program, const stowage::tensor_graph& shared) {
    const stowage::tensor_graph own = stowage::make_tensor_graph(program);
    std::vector<std::int64_t> result = stowage::live_bytes(own, stowage::program_order(own));
    const auto posed = stowage::layout::layout_problem_of(shared, stowage::program_order(shared), 64);
    for (const auto& buffer : posed.problem.buffers) {
        result.insert(result.end(), {buffer.lower, buffer.upper, buffer.size});
    }
    return result;
}

}  // namespace

TEST_CASE("threads that share a program and a graph get the answers of one thread") {
    const stowage::program program = random_program(7, 300);
    const stowage::tensor_graph graph = stowage::make_tensor_graph(program);
    const std::vector<std::int64_t> expected = answers(program, graph);
    std::vector<std::vector<std::int64_t>> found(4);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : found) {
            threads.emplace_back([&] { mine = answers(program, graph); });
        }
    }
    for (const auto& mine : found) {
        CHECK(mine == expected);
    }
}
