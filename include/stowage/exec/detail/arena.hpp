#pragma once
// Arenas in the process's own memory: made, or the caller's. Large ones are mapped, so that the system says
// no at once where it has not the memory, and pages are taken when they are touched.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec/fault.hpp>
#include <stowage/exec/lane.hpp>

namespace stowage::exec::detail {

/// Throws device_error naming `place` for an arena of the caller's that is too small, or at an address that
/// no aligned place in it would be aligned at.
template <class = void>
void check_given(std::span<std::byte> given, std::int64_t bytes, std::int64_t alignment,
                 const std::string& place) {
    if (static_cast<std::int64_t>(given.size()) < bytes) {
        throw device_error("the arena given has only " + std::to_string(given.size()) + " bytes", place,
                           bytes);
    }
    const auto power = static_cast<std::uintptr_t>(alignment & -alignment);
    if (reinterpret_cast<std::uintptr_t>(given.data()) % power != 0) {
        throw device_error("the arena given is not at a multiple of " + std::to_string(power), place, bytes);
    }
}
/// Throws device_error where two of the caller's arenas have bytes in common that `request` asks for.
template <class = void>
void check_apart(const device_request& request, std::span<const std::span<std::byte>> devices,
                 std::span<std::byte> host) {
    struct used {
        std::uintptr_t first, last;
        std::string place;
    };
    std::vector<used> all;
    const auto add = [&](std::span<std::byte> given, std::int64_t bytes, std::string place) {
        if (given.empty() || bytes < 1) return;
        const auto first = reinterpret_cast<std::uintptr_t>(given.data());
        all.push_back({first, first + static_cast<std::uintptr_t>(bytes), std::move(place)});
    };
    for (std::size_t d = 0; d < std::min(devices.size(), request.arena_bytes.size()); ++d)
        add(devices[d], request.arena_bytes[d], "device " + std::to_string(d));
    add(host, request.host_bytes, "host");
    std::sort(all.begin(), all.end(), [](const used& a, const used& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i].first < all[i - 1].last)
            throw device_error("the arena given overlaps that of " + all[i - 1].place, all[i].place);
    }
}

/// One block of bytes, owned or not.
class arena {
public:
    arena() = default;
    arena(arena&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), align_(other.align_), bytes_(other.bytes_),
          source_(std::exchange(other.source_, source::caller)) {}
    arena& operator=(arena&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(align_, other.align_);
        std::swap(bytes_, other.bytes_);
        std::swap(source_, other.source_);
        return *this;
    }
    ~arena() {
        if (source_ == source::heap) ::operator delete(data_, std::align_val_t(align_));
        if (source_ == source::mapping) ::munmap(data_, bytes_);
    }
    /// A block of `bytes` bytes for addresses that are multiples of `alignment`: `given` where it is not
    /// empty. Throws device_error naming `place`.
    [[nodiscard]] static arena make(std::int64_t bytes, std::int64_t alignment, std::span<std::byte> given,
                                    const std::string& place) {
        arena result;
        result.align_ = 64;
        while (static_cast<std::int64_t>(result.align_) % alignment != 0 && result.align_ < max_alignment)
            result.align_ *= 2;
        if (!given.empty()) {
            check_given(given, bytes, alignment, place);
            result.data_ = given.data();
            return result;
        }
        result.bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
        void* block = nullptr;
        if (bytes >= mapped_from) {
            block =
                ::mmap(nullptr, result.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (block == MAP_FAILED) block = nullptr;
            result.source_ = source::mapping;
        } else {
            block = ::operator new(result.bytes_, std::align_val_t(result.align_), std::nothrow);
            result.source_ = source::heap;
        }
        if (block == nullptr) {
            result.source_ = source::caller;
            throw device_error("there is no memory for its arena", place, bytes);
        }
        result.data_ = static_cast<std::byte*>(block);
        return result;
    }
    [[nodiscard]] std::byte* data() const noexcept { return data_; }

private:
    enum class source : std::uint8_t { caller, heap, mapping };
    static constexpr std::size_t max_alignment = 4096;
    static constexpr std::int64_t mapped_from = std::int64_t{1} << 26U;
    std::byte* data_ = nullptr;
    std::size_t align_ = 64;
    std::size_t bytes_ = 0;
    source source_ = source::caller;
};

/// The arenas of all devices and the host.
class memories {
public:
    /// Throws device_error naming a memory; then none is left. `devices` are arenas given, by device; `host`
    /// is the host's; empty ones are made. `with_host` false: the host has none.
    void make(const device_request& request, std::span<const std::span<std::byte>> devices,
              std::span<std::byte> host, bool with_host = true) {
        check_apart(request, devices, host);
        std::vector<arena> made;
        for (std::size_t d = 0; d < request.arena_bytes.size(); ++d) {
            const std::span<std::byte> given = d < devices.size() ? devices[d] : std::span<std::byte>{};
            made.push_back(
                arena::make(request.arena_bytes[d], request.alignment, given, "device " + std::to_string(d)));
        }
        if (with_host) host_ = arena::make(request.host_bytes, request.alignment, host, "host");
        devices_ = std::move(made);
    }
    void clear() noexcept {
        devices_.clear();
        host_ = arena();
    }
    [[nodiscard]] std::byte* base(turnip::memory_index memory) const noexcept {
        if (memory == turnip::host) return host_.data();
        return memory < devices_.size() ? devices_[memory].data() : nullptr;
    }
    void copy(const copy_request& copy) const noexcept {
        const std::byte* const from =
            copy.bound != nullptr ? copy.bound : base(copy.from) + copy.from_address;
        std::memcpy(base(copy.to) + copy.to_address, from, static_cast<std::size_t>(copy.bytes));
    }

private:
    std::vector<arena> devices_;
    arena host_;
};

}  // namespace stowage::exec::detail
