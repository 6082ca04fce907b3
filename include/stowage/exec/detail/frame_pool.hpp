#pragma once
// Memory for the frames of kernels that are coroutines: blocks of one size, made before a run. A frame that
// is larger, or one too many, comes from the heap. One thread, the dispatcher.

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace stowage::exec::detail {

class frame_pool {
public:
    /// `blocks` blocks for frames of up to `bytes` bytes.
    void prepare(std::size_t blocks, std::size_t bytes) {
        stride_ = (bytes + sizeof(header) + alignment - 1) / alignment * alignment;
        memory_.assign((blocks * stride_ + sizeof(line) - 1) / sizeof(line), line{});
        free_ = nullptr;
        for (std::size_t i = blocks; i-- > 0;)
            push(reinterpret_cast<std::byte*>(memory_.data()) + i * stride_);
    }
    /// A frame of `bytes` bytes, from `pool` or, if it has none, from the heap.
    [[nodiscard]] static void* allocate(frame_pool* pool, std::size_t bytes) {
        std::byte* block = nullptr;
        if (pool != nullptr && pool->free_ != nullptr && bytes + sizeof(header) <= pool->stride_) {
            block = reinterpret_cast<std::byte*>(pool->free_);
            pool->free_ = pool->free_->next;
        } else {
            block = static_cast<std::byte*>(::operator new(bytes + sizeof(header)));
            pool = nullptr;
        }
        ::new (block) header{pool, nullptr};
        return block + sizeof(header);
    }
    /// Gives a frame back to where it came from.
    static void deallocate(void* frame) noexcept {
        std::byte* const block = static_cast<std::byte*>(frame) - sizeof(header);
        frame_pool* const pool = reinterpret_cast<header*>(block)->pool;
        if (pool != nullptr)
            pool->push(block);
        else
            ::operator delete(block);
    }

private:
    static constexpr std::size_t alignment = alignof(std::max_align_t);
    struct alignas(std::max_align_t) header {
        frame_pool* pool;
        header* next;
    };
    struct line {
        alignas(std::max_align_t) std::byte bytes[alignment];
    };
    void push(std::byte* block) noexcept { free_ = ::new (block) header{this, free_}; }

    std::vector<line> memory_;
    std::size_t stride_ = 0;
    header* free_ = nullptr;
};

}  // namespace stowage::exec::detail
