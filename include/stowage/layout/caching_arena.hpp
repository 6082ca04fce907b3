#pragma once
// The simulated caching allocator as an arena over the caller's block: the same calls as
// layout::planned_arena, but it decides the places as it goes, as PyTorch does. To compare a plan with, on
// one's own kernels.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/layout/detail/caching_engine.hpp>
#include <stowage/layout/detail/recycling_map.hpp>
#include <stowage/layout/fallback.hpp>
#include <stowage/layout/replay.hpp>
#include <stowage/layout/replay_arena.hpp>

namespace stowage::layout {

/// Serves requests as PyTorch's caching allocator would, its segments lying one after the other in the block,
/// which must outlive it; contents are never touched. Buffers of a replay are asked for by name, with their
/// planned size; plain requests may have any size and come in any order. What does not fit the block goes to
/// the fallback (plain requests) or is an error. `rewind()` frees everything but keeps the segments, as a
/// training step after the first finds them. O(log n) a call; allocates only when it holds more blocks than
/// ever before. One thread at a time.
template <fallback_policy Fallback = refuse_unplanned>
class caching_arena final : public std::pmr::memory_resource {
public:
    /// Throws arena_error if the block's address is no multiple of the rounding and of every alignment of the
    /// replay, layout_error for bad options.
    caching_arena(replay recorded, std::span<std::byte> block, Fallback fallback = {},
                  const caching_options& options = {})
        : recorded_(std::move(recorded)), block_(block), fallback_(std::move(fallback)),
          unit_(unit_of(recorded_, options)),
          engine_(options, unit_,
                  static_cast<std::int64_t>(
                      std::min<std::uint64_t>(block.size(), std::numeric_limits<std::int64_t>::max()))),
          block_of_(recorded_.slot_count(), none) {
        if (!detail::is_aligned(block_.data(), unit_)) {
            throw arena_error("the block's address is no multiple of " + std::to_string(unit_));
        }
    }
    /// With a memory resource for what does not fit; null: refuse.
    caching_arena(replay recorded, std::span<std::byte> block, std::pmr::memory_resource* upstream,
                  const caching_options& options = {}) requires std::same_as<Fallback, forward_to>
        : caching_arena(std::move(recorded), block, forward_to{upstream}, options) {}
    caching_arena(const caching_arena&) = delete;
    caching_arena& operator=(const caching_arena&) = delete;
    caching_arena(caching_arena&&) = delete;
    caching_arena& operator=(caching_arena&&) = delete;
    ~caching_arena() override = default;

    /// Allocates a buffer of the replay; one without bytes gets the block's start and takes part in nothing.
    /// Throws arena_error, naming it, if it is not planned, allocated already, or does not fit the block.
    template <slot_name Who>
    [[nodiscard]] void* place(const Who& who) {
        const std::size_t slot = recorded_.slot_of(who);
        if (recorded_.size(slot) == 0) return block_.data();
        if (block_of_[slot] != none) throw arena_error("it is allocated already", recorded_.describe(slot));
        const block_id taken = take(recorded_.size(slot), slot);
        if (taken == none) throw arena_error(no_room(recorded_.size(slot)), recorded_.describe(slot));
        block_of_[slot] = taken;
        return block_.data() + engine_.address(taken);
    }
    /// Gives a buffer's bytes back. Throws arena_error, naming it, if it is not planned or not allocated.
    template <slot_name Who>
    void release(const Who& who) {
        const std::size_t slot = recorded_.slot_of(who);
        if (recorded_.size(slot) == 0) return;
        if (block_of_[slot] == none) {
            throw arena_error("released, but it is not allocated", recorded_.describe(slot));
        }
        drop(used_.find(engine_.address(block_of_[slot])));
    }
    /// True if a planned buffer is allocated.
    template <slot_name Who>
    [[nodiscard]] bool is_alive(const Who& who) const {
        return block_of_[recorded_.slot_of(who)] != none;
    }
    /// Frees everything that the block serves, and keeps the segments. Pointers handed out before are no
    /// longer theirs who hold them; what is deallocated after this is ignored, unless its place has been
    /// handed out again. O(b log b) for b blocks in use.
    void rewind() noexcept {
        while (used_.size() > 0)
            drop(used_.begin());
    }

    /// What is replayed.
    [[nodiscard]] const replay& recorded() const noexcept { return recorded_; }
    /// The caller's block.
    [[nodiscard]] std::span<std::byte> block() const noexcept { return block_; }
    /// Bytes of the block that segments use so far: what PyTorch calls reserved.
    [[nodiscard]] std::int64_t arena_bytes() const noexcept { return engine_.reserved(); }
    /// Bytes in blocks in use, rounding and left-over included.
    [[nodiscard]] std::int64_t allocated_bytes() const noexcept { return engine_.allocated(); }
    /// Makes room for `blocks` further blocks of each pool, so that up to there nothing is allocated.
    void reserve(std::size_t blocks) {
        engine_.reserve(blocks);
        used_.reserve(used_.size() + blocks);
    }

private:
    using block_id = detail::caching_engine::block_id;
    static constexpr block_id none = detail::caching_engine::none;
    struct use {
        block_id block = none;
        std::size_t slot = no_index;
    };
    using use_map = detail::recycling_map<std::int64_t, use>;

    [[nodiscard]] static std::int64_t unit_of(const replay& recorded, const caching_options& options) {
        using engine = detail::caching_engine;
        std::int64_t unit =
            engine::common_multiple(std::max<std::int64_t>(1, options.rounding), recorded.alignment());
        for (std::size_t slot = 0; slot < recorded.slot_count(); ++slot) {
            if (recorded.is_planned(slot)) unit = engine::common_multiple(unit, recorded.alignment(slot));
        }
        return unit;
    }
    [[nodiscard]] std::string no_room(std::int64_t bytes) const {
        return std::to_string(bytes) + " bytes do not fit: segments hold " +
               std::to_string(engine_.reserved()) + " of the block's " + std::to_string(block_.size());
    }
    [[nodiscard]] block_id take(std::int64_t bytes, std::size_t slot) {
        used_.reserve(used_.size() + 1);
        const block_id taken = engine_.allocate(bytes);
        if (taken != none) used_.insert(engine_.address(taken), {taken, slot});
        return taken;
    }
    void drop(typename use_map::iterator where) noexcept {
        if (where->second.slot != no_index) block_of_[where->second.slot] = none;
        engine_.release(where->second.block);
        used_.erase(where);
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        const bool can =
            bytes > 0 && bytes <= block_.size() && unit_ % static_cast<std::int64_t>(alignment) == 0;
        if (can) {
            const block_id taken = take(static_cast<std::int64_t>(bytes), no_index);
            if (taken != none) return block_.data() + engine_.address(taken);
        }
        if (void* const memory = fallback_.allocate(bytes, alignment)) return memory;
        throw arena_error(no_room(static_cast<std::int64_t>(bytes)) + ", at alignment " +
                          std::to_string(alignment));
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        const auto* const start = static_cast<const std::byte*>(memory);
        if (!detail::is_inside(start, block_)) {
            fallback_.deallocate(memory, bytes, alignment);
            return;
        }
        if (bytes == 0) return;
        const auto found = used_.find(start - block_.data());
        if (found != used_.end()) drop(found);
    }
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    replay recorded_;
    std::span<std::byte> block_;
    Fallback fallback_;
    std::int64_t unit_;  // every address is a multiple of this
    detail::caching_engine engine_;
    use_map used_;                    // blocks in use by address
    std::vector<block_id> block_of_;  // by slot
};

caching_arena(replay, std::span<std::byte>)->caching_arena<refuse_unplanned>;
caching_arena(replay, std::span<std::byte>, std::pmr::memory_resource*)->caching_arena<forward_to>;
caching_arena(replay, std::span<std::byte>, std::pmr::memory_resource*, caching_options)
    ->caching_arena<forward_to>;

static_assert(replay_arena<caching_arena<>>);

}  // namespace stowage::layout
