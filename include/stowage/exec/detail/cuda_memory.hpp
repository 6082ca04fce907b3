#pragma once
// The memories of a cuda_device: an arena on each device, one on the host whose pages are touched by threads
// and then registered, so that copies need no staging. All of it is made before a run.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/exec/detail/arena.hpp>
#include <stowage/exec/detail/cuda_call.hpp>

namespace stowage::exec::detail {

/// Memory of one CUDA device, owned or the caller's.
template <class = void>
class basic_cuda_arena {
public:
    basic_cuda_arena() = default;
    basic_cuda_arena(basic_cuda_arena&& other) noexcept
        : block_(std::exchange(other.block_, nullptr)), data_(std::exchange(other.data_, nullptr)),
          ordinal_(other.ordinal_) {}
    basic_cuda_arena& operator=(basic_cuda_arena&& other) noexcept {
        std::swap(block_, other.block_);
        std::swap(data_, other.data_);
        std::swap(ordinal_, other.ordinal_);
        return *this;
    }
    ~basic_cuda_arena() {
        if (block_ == nullptr) return;
        const cuda_scope scope(ordinal_);
        (void)cudaFree(block_);
    }
    /// Throws device_error naming `place`; what is free there is told.
    [[nodiscard]] static basic_cuda_arena make(int ordinal, std::int64_t bytes, std::int64_t alignment,
                                               std::span<std::byte> given, const std::string& place) {
        constexpr std::int64_t natural = 256;
        basic_cuda_arena result;
        result.ordinal_ = ordinal;
        if (!given.empty()) {
            check_given(given, bytes, alignment, place);
            result.data_ = given.data();
            return result;
        }
        cuda_scope scope;
        cuda_check(scope.use(ordinal), "the CUDA device cannot be used", place);
        const std::int64_t extra = natural % alignment == 0 ? 0 : alignment;
        const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1) + extra);
        const cudaError_t code = cudaMalloc(&result.block_, size);
        if (code != cudaSuccess) {
            (void)cudaGetLastError();
            result.block_ = nullptr;
            std::size_t free = 0;
            std::size_t total = 0;
            const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
            throw device_error("there is no memory for its arena: " + cuda_text(code) +
                                   (known ? ", " + std::to_string(free) + " bytes are free" : ""),
                               place, bytes);
        }
        result.data_ = static_cast<std::byte*>(result.block_);
        if (extra > 0) {
            const auto rest = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(result.data_) %
                                                        static_cast<std::uintptr_t>(alignment));
            if (rest > 0) result.data_ += alignment - rest;
        }
        return result;
    }
    [[nodiscard]] std::byte* data() const noexcept { return data_; }

private:
    void* block_ = nullptr;
    std::byte* data_ = nullptr;
    int ordinal_ = 0;
};

/// The host's arena, pinned.
template <class = void>
class basic_pinned_arena {
public:
    basic_pinned_arena() = default;
    basic_pinned_arena(basic_pinned_arena&& other) noexcept
        : memory_(std::move(other.memory_)), registered_(std::exchange(other.registered_, false)) {}
    basic_pinned_arena& operator=(basic_pinned_arena&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(registered_, other.registered_);
        return *this;
    }
    ~basic_pinned_arena() {
        if (registered_) (void)cudaHostUnregister(memory_.data());
    }
    /// The caller's memory is taken as it is: pinned by its owner, or else slow. Throws device_error.
    [[nodiscard]] static basic_pinned_arena make(std::int64_t bytes, std::int64_t alignment,
                                                 std::span<std::byte> given, unsigned threads) {
        basic_pinned_arena result;
        // whole pages, which it shares with no other memory that may be pinned
        constexpr std::int64_t huge = std::int64_t{1} << 62;
        const bool rounds = given.empty() && bytes < huge;
        const std::int64_t whole = rounds ? (bytes + page - 1) / page * page : bytes;
        result.memory_ = arena::make(whole, std::max(alignment, page), given, "host");
        if (!given.empty() || bytes == 0) return result;
        const std::span<std::byte> all(result.memory_.data(), static_cast<std::size_t>(whole));
        touch(all, threads);
        cuda_check(cudaHostRegister(all.data(), all.size(), cudaHostRegisterPortable),
                   "its memory cannot be pinned", "host", bytes);
        result.registered_ = true;
        return result;
    }
    [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }

private:
    static constexpr std::int64_t page = 4096;
    /// Pages that exist are registered several times as fast as pages that do not.
    static void touch(std::span<std::byte> bytes, unsigned threads) {
        constexpr std::size_t least = std::size_t{1} << 24U;
        const std::size_t parts = std::clamp<std::size_t>(bytes.size() / least, 1, std::max(1U, threads));
        const auto touch_part = [&](std::size_t part) {
            for (std::size_t at = bytes.size() * part / parts; at < bytes.size() * (part + 1) / parts;
                 at += static_cast<std::size_t>(page))
                bytes[at] = std::byte{0};
        };
        std::vector<std::jthread> helpers;
        for (std::size_t part = 1; part < parts; ++part)
            helpers.emplace_back(touch_part, part);
        touch_part(0);
    }
    arena memory_;
    bool registered_ = false;
};

}  // namespace stowage::exec::detail
