#pragma once
// The shape that arenas over a replay share, whoever decides the places, and the standard Allocator over
// them: containers whose storage lies at a buffer's place.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <stowage/error.hpp>
#include <stowage/layout/replay.hpp>

namespace stowage::layout {

namespace detail {

/// True if the address is a multiple of `alignment` (> 0).
template <class = void>
[[nodiscard]] bool is_aligned(const void* memory, std::int64_t alignment) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uint64_t>(alignment) == 0;
}

/// True if the address lies in the block.
template <class = void>
[[nodiscard]] bool is_inside(const std::byte* memory, std::span<const std::byte> block) noexcept {
    constexpr std::less<> before;  // a total order of pointers, whatever they point into
    return !before(memory, block.data()) && before(memory, block.data() + block.size());
}

}  // namespace detail

/// A memory resource that serves the buffers of a replay by name, run after run.
template <class Arena>
concept replay_arena = std::derived_from<Arena, std::pmr::memory_resource> &&
    requires(Arena& arena, const Arena& constant, std::size_t slot, std::string_view name, buffer_id buffer) {
    { arena.place(slot) } -> std::same_as<void*>;
    { arena.place(name) } -> std::same_as<void*>;
    { arena.place(buffer) } -> std::same_as<void*>;
    { arena.release(slot) } -> std::same_as<void>;
    { arena.release(name) } -> std::same_as<void>;
    { constant.is_alive(slot) } -> std::same_as<bool>;
    { arena.rewind() }
    noexcept->std::same_as<void>;
    { constant.recorded() } -> std::same_as<const replay&>;
    { constant.block() } -> std::same_as<std::span<std::byte>>;
    { constant.arena_bytes() } -> std::same_as<std::int64_t>;
};

static_assert(!replay_arena<std::pmr::monotonic_buffer_resource>, "it knows no names");

/// A standard Allocator over an arena. Bound to a slot it allocates that buffer and no other, so that
/// `std::vector<float, arena_allocator<...>> v(n, allocator_for<float>(arena, "conv1.out"))` lies at the
/// planned place; unbound it asks in the order of the plan. Threads as the arena.
template <class T, replay_arena Arena>
class arena_allocator {
public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    /// Unbound: each allocation is a plain request. The arena must outlive the allocator.
    explicit arena_allocator(Arena& arena) noexcept : arena_(&arena) {}
    /// Bound to the slot (replay::slot_of gives it).
    arena_allocator(Arena& arena, std::size_t slot) noexcept : arena_(&arena), slot_(slot) {}
    /// The same arena and slot for another type.
    template <class U>
    arena_allocator(const arena_allocator<U, Arena>& other) noexcept  // NOLINT(google-explicit-constructor)
        : arena_(&other.arena()), slot_(other.slot()) {}

    /// Memory for `count` objects. Throws std::bad_array_new_length if their size is beyond std::size_t,
    /// arena_error as the arena does and, where bound, if the buffer is smaller or not aligned for T.
    [[nodiscard]] T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        if (slot_ == no_index) return static_cast<T*>(arena_->allocate(bytes, alignof(T)));
        if (bytes > static_cast<std::uint64_t>(arena_->recorded().size(slot_))) {
            throw arena_error("asked for " + std::to_string(bytes) + " bytes, the plan has " +
                                  std::to_string(arena_->recorded().size(slot_)),
                              arena_->recorded().describe(slot_));
        }
        void* const memory = arena_->place(slot_);
        if (!detail::is_aligned(memory, alignof(T))) {
            arena_->release(slot_);
            throw arena_error(
                "asked for at alignment " + std::to_string(alignof(T)) + ", which its place does not have",
                arena_->recorded().describe(slot_));
        }
        return static_cast<T*>(memory);
    }
    /// Gives the memory back.
    void deallocate(T* memory, std::size_t count) noexcept {
        const std::size_t bytes =
            slot_ == no_index ? count * sizeof(T) : static_cast<std::size_t>(arena_->recorded().size(slot_));
        arena_->deallocate(memory, bytes, alignof(T));
    }

    /// The arena.
    [[nodiscard]] Arena& arena() const noexcept { return *arena_; }
    /// The slot that it is bound to; no_index if it is not.
    [[nodiscard]] std::size_t slot() const noexcept { return slot_; }
    /// True if the one can deallocate what the other allocated.
    template <class U>
    [[nodiscard]] bool operator==(const arena_allocator<U, Arena>& other) const noexcept {
        return arena_ == &other.arena();
    }

private:
    Arena* arena_;
    std::size_t slot_ = no_index;
};

/// An allocator of T bound to a buffer of the plan. Throws arena_error, naming it, if it is not planned.
template <class T, replay_arena Arena, slot_name Who>
[[nodiscard]] arena_allocator<T, Arena> allocator_for(Arena& arena, const Who& who) {
    return {arena, arena.recorded().slot_of(who)};
}

}  // namespace stowage::layout
