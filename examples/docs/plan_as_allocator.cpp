// docs/cookbook.md, "Use the plan as an allocator".
#include <cstddef>
#include <iostream>
#include <memory>
#include <span>
#include <vector>

#include <stowage/layout/planned_arena.hpp>
#include <stowage/roam.hpp>

int main() {
    stowage::program step;
    const auto hidden = step.add_buffer({.bytes = 4096, .name = "hidden"});
    const auto result =
        step.add_buffer({.bytes = 1024, .kind = stowage::buffer_kind::output, .name = "result"});
    step.add_operator({.name = "first", .writes = {hidden}});
    const auto second =
        step.add_operator({.name = "second", .reads = {hidden}, .writes = {result}, .workspace = 512});
    // [arena]
    const stowage::tensor_graph graph = stowage::make_tensor_graph(step);
    const stowage::plan plan = stowage::roam::best(graph, {.alignment = 64});

    // The block is yours: host memory here, or device memory, whose contents are never touched.
    std::vector<std::byte> memory(static_cast<std::size_t>(plan.arena.bytes) + 64);
    void* start = memory.data();
    std::size_t room = memory.size();
    std::align(64, static_cast<std::size_t>(plan.arena.bytes), start, room);
    const std::span<std::byte> block(static_cast<std::byte*>(start), room);

    stowage::layout::planned_arena arena(stowage::layout::make_replay(graph, plan), block);
    for (int run = 0; run < 2; ++run) {
        arena.rewind();
        void* const h = arena.place("hidden");  // by name, by buffer_id, by index
        void* const r = arena.place(result);
        void* const scratch = arena.place(second);  // an operator_id: its workspace
        std::cout << static_cast<std::byte*>(h) - block.data() << ' '
                  << static_cast<std::byte*>(r) - block.data() << ' '
                  << static_cast<std::byte*>(scratch) - block.data() << '\n';
        arena.release(second);
        arena.release("hidden");
    }
    // [arena]
    // [container]
    arena.rewind();
    std::vector<float, stowage::layout::arena_allocator<float, stowage::layout::planned_arena<>>> values(
        256, stowage::layout::allocator_for<float>(arena, "result"));
    std::cout << "values at " << reinterpret_cast<std::byte*>(values.data()) - block.data() << '\n';
    // [container]
    // [refused]
    try {
        static_cast<void>(arena.place("gradient"));
    } catch (const stowage::layout::arena_error& error) {
        std::cout << error.what() << '\n';
    }
    // [refused]
}
