#pragma once
// The floors of the valley search, a height a section: what lies below is settled, what is pinned above
// stands there until the floor passes it. Each section also knows the bytes that are still to come over it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/layout/detail/obstacles.hpp>
#include <stowage/layout/detail/strip.hpp>

namespace stowage::layout::detail {

/// Floors, what remains above them, and a clock that tells what has changed. Not thread-safe.
template <class = void>
class basic_valley_floors {
public:
    basic_valley_floors(const std::vector<block>& blocks, int sections)
        : loads_(index(sections), 0), floors_(index(sections), 0), versions_(index(sections), 0) {
        for (const block& b : blocks) {
            plain_ = plain_ && b.plain();
            for (int s = b.first; s < b.last; ++s)
                loads_[index(s)] += b.size;
        }
        if (!plain_) above_.start(sections);
        for (const block& b : blocks) {
            for (int s = b.first; b.pinned() && s < b.last; ++s)
                possible_ = above_.insert(s, {b.pin, b.pin + b.size}) && possible_;
        }
    }
    /// All floors at 0, or on what is pinned there. O(sections).
    void reset() {
        clock_ = 1;
        floors_.assign(loads_.size(), 0);
        versions_.assign(loads_.size(), 0);
        remaining_ = loads_;
        if (plain_) return;
        above_.rewind_all();
        for (int s = 0; s < static_cast<int>(loads_.size()); ++s)
            settle(s, 0);
    }
    /// True if ranges and sizes are all that matters: nothing is pinned, in pieces or aligned to some units.
    [[nodiscard]] bool plain() const noexcept { return plain_; }
    /// False if two pinned blocks meet.
    [[nodiscard]] bool possible() const noexcept { return possible_; }
    /// What is pinned above the floors; not to be asked if plain().
    [[nodiscard]] const obstacles& above() const noexcept { return above_; }
    [[nodiscard]] std::int64_t load(int section) const { return loads_[index(section)]; }
    [[nodiscard]] std::int64_t height(int section) const { return floors_[index(section)]; }
    /// Bytes of unplaced blocks over this section, and of what is pinned above its floor.
    [[nodiscard]] std::int64_t remaining(int section) const { return remaining_[index(section)]; }
    /// When the section changed last.
    [[nodiscard]] std::int64_t version(int section) const { return versions_[index(section)]; }
    /// The present moment.
    [[nodiscard]] std::int64_t clock() const noexcept { return clock_; }

    /// A new moment.
    void tick() noexcept { ++clock_; }
    /// Something else about the section changes at this moment.
    void touch(int section) { versions_[index(section)] = clock_; }
    /// `size` bytes less are still to come (or more, if negative).
    void take(int section, std::int64_t size) { remaining_[index(section)] -= size; }
    /// Raises a floor to `height`, past the obstacles there; the floor that comes of it.
    std::int64_t raise(int section, std::int64_t height) {
        floors_[index(section)] = height;
        touch(section);
        return plain_ ? height : settle(section, height);
    }
    /// Takes a floor back to what it was.
    void lower(int section, std::int64_t height) {
        if (!plain_) remaining_[index(section)] += above_.rewind(section, height);
        floors_[index(section)] = height;
        touch(section);
    }
    /// Puts an obstacle on or above the floor, whose bytes are among those still to come.
    void pin(int section, obstacle entry) {
        above_.insert(section, entry);
        touch(section);
    }
    /// Takes it away again.
    void unpin(int section, std::int64_t bottom) {
        above_.erase(section, bottom);
        touch(section);
    }

private:
    [[nodiscard]] static constexpr std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }
    std::int64_t settle(int section, std::int64_t height) {
        std::int64_t passed = 0;
        floors_[index(section)] = above_.settle(section, height, passed);
        remaining_[index(section)] -= passed;
        return floors_[index(section)];
    }

    std::vector<std::int64_t> loads_;
    std::vector<std::int64_t> floors_;
    std::vector<std::int64_t> versions_;
    std::vector<std::int64_t> remaining_;
    obstacles above_;
    std::int64_t clock_ = 1;
    bool plain_ = true;
    bool possible_ = true;
};
using valley_floors = basic_valley_floors<>;

}  // namespace stowage::layout::detail
