// The cost of one allocation and its release: a planned arena by index, by name and as a plain memory
// resource, the caching allocator over a block, and the standard pool, on one training-like program of a
// thousand operators (a chain with its activations kept until the way back).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <stowage/layout.hpp>
#include <stowage/units.hpp>

namespace {

namespace layout = stowage::layout;

/// Of the caller's block, beyond what any of them needs.
constexpr std::size_t block_bytes = std::size_t{64} * stowage::MiB;

/// Births and deaths in running order.
struct event {
    bool birth;
    std::size_t slot;
};

struct script {
    layout::problem problem;
    std::vector<std::int64_t> offsets;
    std::vector<event> events;
};

const script& training() {
    static const script made = [] {
        script s;
        constexpr std::int64_t layers = 500;
        for (std::int64_t i = 0; i < layers; ++i) {
            s.problem.buffers.push_back({.lower = i, .upper = 2 * layers - i, .size = 4096 + 512 * (i % 7)});
            s.problem.buffers.push_back({.lower = i, .upper = i + 1, .size = 8192 + 1024 * (i % 5)});
            s.problem.buffers.push_back(
                {.lower = 2 * layers - i - 1, .upper = 2 * layers - i + 1, .size = 4096 + 512 * (i % 7)});
        }
        s.problem.alignment = 512;
        for (std::size_t i = 0; i < s.problem.buffers.size(); ++i)
            s.problem.names.push_back("layer" + std::to_string(i / 3) + ".tensor" + std::to_string(i % 3));
        s.offsets = layout::plan(s.problem).offsets;
        for (std::int64_t time = 0; time <= 2 * layers + 1; ++time) {
            for (std::size_t i = 0; i < s.problem.buffers.size(); ++i) {
                if (s.problem.buffers[i].upper == time) s.events.push_back({false, i});
            }
            for (std::size_t i = 0; i < s.problem.buffers.size(); ++i) {
                if (s.problem.buffers[i].lower == time) s.events.push_back({true, i});
            }
        }
        return s;
    }();
    return made;
}

std::span<std::byte> aligned_block(std::vector<std::byte>& storage) {
    void* start = storage.data();
    std::size_t space = storage.size();
    std::align(4096, space - 4096, start, space);
    return {static_cast<std::byte*>(start), space};
}

template <class Arena, class Place, class Release>
void replay(benchmark::State& state, Arena& arena, Place place, Release release) {
    const script& s = training();
    for ([[maybe_unused]] auto _ : state) {
        for (const event& e : s.events) {
            if (e.birth) {
                benchmark::DoNotOptimize(place(e.slot));
            } else {
                release(e.slot);
            }
        }
        if constexpr (layout::replay_arena<Arena>) arena.rewind();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(s.problem.buffers.size()));
}

template <class Arena>
void by_index(benchmark::State& state) {
    std::vector<std::byte> storage(block_bytes);
    Arena arena(layout::replay(training().problem, training().offsets), aligned_block(storage));
    replay(
        state, arena, [&](std::size_t slot) { return arena.place(slot); },
        [&](std::size_t slot) { arena.release(slot); });
}

void by_name(benchmark::State& state) {
    const script& s = training();
    std::vector<std::byte> storage(block_bytes);
    layout::planned_arena<> arena(layout::replay(s.problem, s.offsets), aligned_block(storage));
    replay(
        state, arena, [&](std::size_t slot) { return arena.place(s.problem.names[slot]); },
        [&](std::size_t slot) { arena.release(s.problem.names[slot]); });
}

template <class Resource>
void plain(benchmark::State& state, Resource& resource) {
    const script& s = training();
    std::vector<void*> at(s.problem.buffers.size());
    const auto bytes = [&](std::size_t slot) {
        return static_cast<std::size_t>(s.problem.buffers[slot].size);
    };
    replay(
        state, resource, [&](std::size_t slot) { return at[slot] = resource.allocate(bytes(slot), 64); },
        [&](std::size_t slot) { resource.deallocate(at[slot], bytes(slot), 64); });
}

void plain_planned(benchmark::State& state) {
    std::vector<std::byte> storage(block_bytes);
    layout::planned_arena<> arena(layout::replay(training().problem, training().offsets),
                                  aligned_block(storage));
    plain(state, arena);
}

void plain_caching(benchmark::State& state) {
    std::vector<std::byte> storage(block_bytes);
    layout::caching_arena<> arena(layout::replay{}, aligned_block(storage));
    plain(state, arena);
}

void plain_pool(benchmark::State& state) {
    std::pmr::unsynchronized_pool_resource pool;
    plain(state, pool);
}

void plain_new(benchmark::State& state) {
    plain(state, *std::pmr::new_delete_resource());
}

BENCHMARK(by_index<layout::planned_arena<>>)->Name("planned_arena/by_index");
BENCHMARK(by_name)->Name("planned_arena/by_name");
BENCHMARK(plain_planned)->Name("planned_arena/memory_resource");
BENCHMARK(by_index<layout::caching_arena<>>)->Name("caching_arena/by_index");
BENCHMARK(plain_caching)->Name("caching_arena/memory_resource");
BENCHMARK(plain_pool)->Name("unsynchronized_pool_resource");
BENCHMARK(plain_new)->Name("new_delete_resource");

}  // namespace
