// ctest-alone: it replaces operator new
#pragma once
// Counts what a whole program allocates by operator new, which this header replaces: one source of a program
// includes it.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace stowage::test {

/// Calls of operator new so far, by any thread.
inline std::atomic<std::size_t> allocations{0};

}  // namespace stowage::test

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    stowage::test::allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    stowage::test::allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
