#pragma once
// The rules of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator, 1.13) over a plain address space:
// a size is rounded up; small and large requests have pools of their own; a pool serves the smallest free
// block that is large enough, the lowest of equal ones; what is left over is split off where it is worth it;
// free neighbours in a segment are merged; where no block fits, a new segment is taken behind the last.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/layout/detail/recycling_map.hpp>
#include <stowage/units.hpp>

namespace stowage::layout {

/// The figures of PyTorch's caching allocator; the defaults are those of PyTorch 1.13. All are bytes, > 0.
struct caching_options {
    std::int64_t rounding = 512;            ///< a size is rounded up to a multiple of this
    std::int64_t small_request = MiB;       ///< the largest rounded size that the small pool serves
    std::int64_t small_segment = 2 * MiB;   ///< size of the small pool's segments; >= small_request
    std::int64_t large_request = 10 * MiB;  ///< from this rounded size on a segment is made for one request
    std::int64_t large_segment = 20 * MiB;  ///< size of the segments of requests below; >= large_request
    std::int64_t segment_rounding =
        2 * MiB;  ///< a segment for one request is rounded up to a multiple of this
    friend bool operator==(const caching_options&, const caching_options&) = default;
};

namespace detail {

/// The allocator's state. Allocates memory only when it holds more blocks than ever before, and then before
/// it changes anything; giving back cannot fail.
template <class = void>
class basic_caching_engine {
public:
    /// Position of a block in use; valid until it is released.
    using block_id = std::uint32_t;
    /// "no block".
    static constexpr block_id none = std::numeric_limits<block_id>::max();

    /// Addresses are multiples of `alignment` beside options.rounding and end at or below `capacity`. Throws
    /// layout_error if an option breaks its rule.
    explicit basic_caching_engine(const caching_options& options, std::int64_t alignment = 1,
                                  std::int64_t capacity = std::numeric_limits<std::int64_t>::max())
        : options_(options), capacity_(capacity) {
        if (options.rounding <= 0 || options.small_request <= 0 || options.segment_rounding <= 0 ||
            options.small_segment < options.small_request || options.large_request <= 0 ||
            options.large_segment < options.large_request) {
            throw layout_error(
                "the caching allocator's figures must be positive, and a segment no smaller than its "
                "requests",
                {});
        }
        unit_ = common_multiple(options.rounding, alignment);
    }

    /// The least common multiple of two alignments; throws layout_error past 2^62.
    [[nodiscard]] static std::int64_t common_multiple(std::int64_t a, std::int64_t b) {
        const std::int64_t result = stowage::detail::saturating_multiply(a / std::gcd(a, b), b);
        if (result > std::numeric_limits<std::int64_t>::max() / 2) {
            throw layout_error("the alignments have no common multiple below 2^62", {});
        }
        return result;
    }

    /// Bytes that a request of `size` (> 0) takes before any left-over.
    [[nodiscard]] std::int64_t rounded(std::int64_t size) const {
        return stowage::detail::align_up(size, unit_);
    }

    /// A block for `size` bytes (> 0); `none` if a new segment would pass the capacity. O(log blocks). Throws
    /// overflow_error past 2^63 - 1.
    [[nodiscard]] block_id allocate(std::int64_t size) {
        const std::int64_t wanted = rounded(size);
        const bool small = wanted <= options_.small_request;
        make_room(small, 2);  // a segment and what is split off
        free_list& pool = list(small);
        const auto found = pool.free.lower_bound({wanted, 0});
        block_id taken = none;
        if (found != pool.free.end()) {
            taken = found->second;
            pool.free.erase(found);
        } else {
            taken = new_segment(wanted, small);
            if (taken == none) return none;
        }
        const std::int64_t rest = blocks_[taken].size - wanted;
        if (small ? rest >= options_.rounding : rest > options_.small_request) split(taken, wanted);
        blocks_[taken].used = true;
        allocated_ += blocks_[taken].size;
        return taken;
    }

    /// Gives a block back. O(log blocks).
    void release(block_id id) noexcept {
        allocated_ -= blocks_[id].size;
        blocks_[id].used = false;
        by_size& pool = list(blocks_[id].small).free;
        const auto is_free = [&](block_id other) { return other != none && !blocks_[other].used; };
        if (const block_id next = blocks_[id].next; is_free(next)) {
            pool.erase(pool.find({blocks_[next].size, blocks_[next].address}));
            absorb_next(id);
        }
        if (const block_id previous = blocks_[id].previous; is_free(previous)) {
            pool.erase(pool.find({blocks_[previous].size, blocks_[previous].address}));
            absorb_next(previous);
            id = previous;
        }
        pool.insert({blocks_[id].size, blocks_[id].address}, id);
    }

    /// First address of a block.
    [[nodiscard]] std::int64_t address(block_id id) const noexcept { return blocks_[id].address; }
    /// Sum of all segments.
    [[nodiscard]] std::int64_t reserved() const noexcept { return reserved_; }
    /// Sum of the blocks in use, rounding and left-over included.
    [[nodiscard]] std::int64_t allocated() const noexcept { return allocated_; }
    /// Number of segments.
    [[nodiscard]] std::size_t segments() const noexcept { return segments_; }
    /// Makes room for `count` further blocks of each pool, free or in use.
    void reserve(std::size_t count) {
        make_room(true, count);
        make_room(false, count);
    }

private:
    struct block {
        std::int64_t address = 0;
        std::int64_t size = 0;
        block_id previous = none;  // in the same segment
        block_id next = none;
        bool small = false;
        bool used = false;
    };
    using by_size = recycling_map<std::pair<std::int64_t, std::int64_t>, block_id>;  // (size, address)
    struct free_list {
        by_size free;
        std::size_t blocks = 0;  // of this pool, free or in use
    };

    [[nodiscard]] free_list& list(bool small) noexcept { return small ? small_ : large_; }
    template <class T>
    static void grow(std::vector<T>& values, std::size_t count) {
        if (values.capacity() < count) values.reserve(std::max(count, 2 * values.capacity()));
    }
    void make_room(bool small, std::size_t further) {
        grow(blocks_, blocks_.size() + further);
        grow(unused_, blocks_.size() + further);
        list(small).free.reserve(list(small).blocks + further);
    }
    [[nodiscard]] block_id new_block(const block& value) noexcept {
        ++list(value.small).blocks;
        if (!unused_.empty()) {
            const block_id id = unused_.back();
            unused_.pop_back();
            blocks_[id] = value;
            return id;
        }
        blocks_.push_back(value);
        return static_cast<block_id>(blocks_.size() - 1);
    }
    [[nodiscard]] block_id new_segment(std::int64_t wanted, bool small) {
        using stowage::detail::align_up;
        std::int64_t size = options_.small_segment;
        if (!small) {
            size = wanted < options_.large_request ? options_.large_segment
                                                   : align_up(wanted, options_.segment_rounding);
        }
        const std::int64_t address = align_up(end_, unit_);
        const std::int64_t end = stowage::detail::checked_add(address, size, "sum of segments");
        if (end > capacity_) return none;
        const block_id id = new_block({.address = address, .size = size, .small = small});
        end_ = end;
        reserved_ += size;
        ++segments_;
        return id;
    }
    void split(block_id id, std::int64_t wanted) noexcept {
        block rest = blocks_[id];
        rest.address += wanted;
        rest.size -= wanted;
        rest.previous = id;
        const block_id made = new_block(rest);
        if (rest.next != none) blocks_[rest.next].previous = made;
        blocks_[id].next = made;
        blocks_[id].size = wanted;
        list(rest.small).free.insert({rest.size, rest.address}, made);
    }
    void absorb_next(block_id id) noexcept {
        const block_id gone = blocks_[id].next;
        blocks_[id].size += blocks_[gone].size;
        blocks_[id].next = blocks_[gone].next;
        if (blocks_[id].next != none) blocks_[blocks_[id].next].previous = id;
        --list(blocks_[gone].small).blocks;
        unused_.push_back(gone);
    }

    caching_options options_;
    std::int64_t unit_ = 1;
    std::int64_t capacity_;
    std::int64_t end_ = 0;
    std::int64_t reserved_ = 0;
    std::int64_t allocated_ = 0;
    std::size_t segments_ = 0;
    std::vector<block> blocks_;
    std::vector<block_id> unused_;
    free_list small_;
    free_list large_;
};
using caching_engine = basic_caching_engine<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_caching_engine<>;
#endif

}  // namespace detail

}  // namespace stowage::layout
