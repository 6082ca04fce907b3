#pragma once
// A plan as an allocator: a std::pmr::memory_resource over the caller's block that puts every named buffer at
// its planned place, and refuses by name what is not planned or would overwrite a buffer in use.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/layout/detail/rank_set.hpp>
#include <stowage/layout/fallback.hpp>
#include <stowage/layout/replay.hpp>
#include <stowage/layout/replay_arena.hpp>

namespace stowage::layout {

/// Replays a plan over a block of the caller's, which must outlive it; contents are never touched, so that
/// the block may be device memory.
///
/// Two ways to ask, which may be mixed: by name (`place(buffer)`, `release(buffer)`), or as a memory resource
/// (`allocate(bytes, alignment)`), where the requests must come in the order of the plan's births: the next
/// one of exactly the next buffer's size is that buffer, any other goes to the fallback. `rewind()` begins
/// the next run. Every call is O(log n) or better and allocates nothing itself. One thread at a time.
template <fallback_policy Fallback = refuse_unplanned>
class planned_arena final : public std::pmr::memory_resource {
public:
    /// Throws arena_error, naming the first buffer concerned, if the block is smaller than the plan's arena
    /// or if its address puts a buffer off its alignment. O(n log n).
    planned_arena(replay recorded, std::span<std::byte> block, Fallback fallback = {})
        : recorded_(std::move(recorded)), block_(block), fallback_(std::move(fallback)) {
        rank_of_.assign(recorded_.slot_count(), 0);
        for (std::size_t slot = 0; slot < recorded_.slot_count(); ++slot) {
            if (!recorded_.is_planned(slot) || recorded_.size(slot) == 0) continue;
            const std::int64_t end = recorded_.offset(slot) + recorded_.size(slot);
            if (static_cast<std::uint64_t>(end) > block_.size()) {
                throw arena_error("it ends at " + std::to_string(end) + ", the block has " +
                                      std::to_string(block_.size()) + " bytes",
                                  recorded_.describe(slot));
            }
            const std::int64_t needed = std::max(recorded_.alignment(), recorded_.alignment(slot));
            if (!detail::is_aligned(address(slot), recorded_.alignment()) ||
                !detail::is_aligned(address(slot), recorded_.alignment(slot))) {
                throw arena_error("the block's address puts it off its alignment " + std::to_string(needed),
                                  recorded_.describe(slot));
            }
            slot_at_.push_back(static_cast<std::uint32_t>(slot));
        }
        std::sort(slot_at_.begin(), slot_at_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const std::int64_t first = recorded_.offset(a);
            const std::int64_t second = recorded_.offset(b);
            return first != second ? first < second : a < b;
        });
        for (std::size_t rank = 0; rank < slot_at_.size(); ++rank)
            rank_of_[slot_at_[rank]] = static_cast<std::uint32_t>(rank);
        alive_ = detail::rank_set(slot_at_.size());
    }
    /// With a memory resource for what is not planned; null: refuse.
    planned_arena(replay recorded, std::span<std::byte> block,
                  std::pmr::memory_resource* upstream) requires std::same_as<Fallback, forward_to>
        : planned_arena(std::move(recorded), block, forward_to{upstream}) {}
    planned_arena(const planned_arena&) = delete;
    planned_arena& operator=(const planned_arena&) = delete;
    planned_arena(planned_arena&&) = delete;
    planned_arena& operator=(planned_arena&&) = delete;
    ~planned_arena() override = default;

    /// Hands out a buffer at its planned place; a buffer without bytes gets the block's start and takes part
    /// in nothing. Throws arena_error, naming the buffer (and the other), if it is not planned, allocated
    /// already, or on bytes that another still holds.
    template <slot_name Who>
    [[nodiscard]] void* place(const Who& who) {
        const std::size_t slot = recorded_.slot_of(who);
        if (recorded_.size(slot) == 0) return block_.data();
        take(slot);
        return address(slot);
    }
    /// Gives a buffer's bytes back. Throws arena_error, naming it, if it is not planned or not allocated.
    template <slot_name Who>
    void release(const Who& who) {
        const std::size_t slot = recorded_.slot_of(who);
        if (recorded_.size(slot) == 0) return;
        if (!alive_.contains(rank_of_[slot])) {
            throw arena_error("released, but it is not allocated", recorded_.describe(slot));
        }
        alive_.erase(rank_of_[slot]);
    }
    /// True if a planned buffer is allocated.
    template <slot_name Who>
    [[nodiscard]] bool is_alive(const Who& who) const {
        const std::size_t slot = recorded_.slot_of(who);
        return recorded_.size(slot) > 0 && alive_.contains(rank_of_[slot]);
    }
    /// Begins the next run: nothing planned is allocated, the next plain request is the first of the plan.
    /// Pointers handed out before are no longer theirs who hold them; a buffer that is deallocated after this
    /// is ignored, unless its place has been handed out again. O(allocated buffers).
    void rewind() noexcept {
        alive_.clear();
        next_ = 0;
    }

    /// What is replayed.
    [[nodiscard]] const replay& recorded() const noexcept { return recorded_; }
    /// The caller's block.
    [[nodiscard]] std::span<std::byte> block() const noexcept { return block_; }
    /// Bytes of the block that the plan uses.
    [[nodiscard]] std::int64_t arena_bytes() const noexcept { return recorded_.arena_bytes(); }
    /// Requests that went to the fallback since construction, those that it refused included.
    [[nodiscard]] std::size_t unplanned_requests() const noexcept { return unplanned_; }

private:
    [[nodiscard]] std::byte* address(std::size_t slot) const noexcept {
        return block_.data() + recorded_.offset(slot);
    }

    /// Marks a slot as allocated. Those alive are disjoint, so only the neighbours by address can be in the
    /// way.
    void take(std::size_t slot) {
        const std::size_t rank = rank_of_[slot];
        if (alive_.contains(rank)) throw arena_error("it is allocated already", recorded_.describe(slot));
        const auto in_the_way = [&](std::size_t other) {
            if (other == no_index) return;
            const std::size_t holder = slot_at_[other];
            if (recorded_.offset(holder) >= recorded_.offset(slot) + recorded_.size(slot)) return;
            if (recorded_.offset(slot) >= recorded_.offset(holder) + recorded_.size(holder)) return;
            throw arena_error("its bytes are still held by", recorded_.describe(slot),
                              recorded_.describe(holder));
        };
        in_the_way(alive_.below(rank));
        in_the_way(alive_.at_or_above(rank));
        alive_.insert(rank);
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        const std::span<const std::uint32_t> sequence = recorded_.sequence();
        if (next_ < sequence.size() && bytes == static_cast<std::uint64_t>(recorded_.size(sequence[next_]))) {
            const std::size_t slot = sequence[next_];
            if (!detail::is_aligned(address(slot), static_cast<std::int64_t>(alignment))) {
                throw arena_error(
                    "asked for at alignment " + std::to_string(alignment) + ", which its place does not have",
                    recorded_.describe(slot));
            }
            take(slot);
            ++next_;
            return address(slot);
        }
        ++unplanned_;
        if (void* const memory = fallback_.allocate(bytes, alignment)) return memory;
        const std::string request = "a request of " + std::to_string(bytes) + " bytes is not planned here, ";
        if (next_ >= sequence.size())
            throw arena_error(request + "the last buffer of the plan was before it");
        const std::size_t slot = sequence[next_];
        throw arena_error(request + "the next one is its " + std::to_string(recorded_.size(slot)),
                          recorded_.describe(slot));
    }

    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        const auto* const start = static_cast<const std::byte*>(memory);
        if (!detail::is_inside(start, block_)) {
            fallback_.deallocate(memory, bytes, alignment);
            return;
        }
        if (bytes == 0) return;
        const std::int64_t offset = start - block_.data();
        const auto first = std::partition_point(slot_at_.begin(), slot_at_.end(), [&](std::uint32_t slot) {
            return recorded_.offset(slot) < offset;
        });
        const std::size_t rank = alive_.at_or_above(static_cast<std::size_t>(first - slot_at_.begin()));
        if (rank != no_index && recorded_.offset(slot_at_[rank]) == offset) alive_.erase(rank);
    }

    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    replay recorded_;
    std::span<std::byte> block_;
    Fallback fallback_;
    std::vector<std::uint32_t> slot_at_;  // slots with bytes, by (offset, slot)
    std::vector<std::uint32_t> rank_of_;  // position of a slot in slot_at_
    detail::rank_set alive_;              // ranks that are allocated
    std::size_t next_ = 0;                // in the sequence
    std::size_t unplanned_ = 0;
};

planned_arena(replay, std::span<std::byte>)->planned_arena<refuse_unplanned>;
planned_arena(replay, std::span<std::byte>, std::pmr::memory_resource*)->planned_arena<forward_to>;

static_assert(replay_arena<planned_arena<>>);

}  // namespace stowage::layout
