#pragma once
// Who serves the requests that a plan does not know: a policy of an arena.

#include <concepts>
#include <cstddef>
#include <memory_resource>

namespace stowage::layout {

/// Serves what was not planned. `allocate` returns a null pointer to refuse, whereupon the arena throws an
/// arena_error that names the request; `deallocate` gets back what `allocate` gave, with the same figures.
template <class Policy>
concept fallback_policy = std::movable<Policy> &&
    requires(Policy& policy, void* memory, std::size_t bytes, std::size_t alignment) {
    { policy.allocate(bytes, alignment) } -> std::same_as<void*>;
    { policy.deallocate(memory, bytes, alignment) } -> std::same_as<void>;
};

/// Refuses everything that was not planned.
struct refuse_unplanned {
    /// A null pointer.
    template <class = void>
    [[nodiscard]] void* allocate(std::size_t /*bytes*/, std::size_t /*alignment*/) const noexcept {
        return nullptr;
    }
    /// Nothing was given, nothing comes back.
    void deallocate(void* /*memory*/, std::size_t /*bytes*/, std::size_t /*alignment*/) const noexcept {}
};

/// Forwards to a memory resource, which must outlive the arena; without one it refuses.
struct forward_to {
    std::pmr::memory_resource* upstream = nullptr;  ///< who serves; null: refuse
    /// What the resource gives; throws what it throws.
    template <class = void>
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
        return upstream == nullptr ? nullptr : upstream->allocate(bytes, alignment);
    }
    /// Gives it back.
    template <class = void>
    void deallocate(void* memory, std::size_t bytes, std::size_t alignment) const {
        if (upstream != nullptr) upstream->deallocate(memory, bytes, alignment);
    }
};

static_assert(fallback_policy<refuse_unplanned> && fallback_policy<forward_to>);
static_assert(!fallback_policy<std::pmr::memory_resource*>, "a pointer is wrapped in forward_to");

}  // namespace stowage::layout
