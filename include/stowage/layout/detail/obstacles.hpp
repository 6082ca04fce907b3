#pragma once
// What stands above the floors of the valley search before anything is placed there: pinned buffers, and the
// other pieces of buffers with gaps that have got their offset. A floor that reaches an obstacle goes on at
// its upper end, section by section.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stowage::layout::detail {

/// Bytes [bottom, top) of one section.
struct obstacle {
    std::int64_t bottom = 0;
    std::int64_t top = 0;
};

/// Obstacles by section, ascending, and for each section the first that its floor has not passed. Without
/// obstacles it holds nothing. Not thread-safe.
template <class = void>
class basic_obstacles {
public:
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    /// Makes room for obstacles in so many sections, none of them there yet.
    void start(int sections) {
        lists_.assign(at(sections), {});
        next_.assign(at(sections), 0);
    }
    /// Puts an obstacle above the section's floor. False if it meets another one there. O(length).
    bool insert(int section, obstacle entry) {
        std::vector<obstacle>& list = lists_[at(section)];
        const auto place = std::upper_bound(list.begin(), list.end(), entry.bottom,
                                            [](std::int64_t b, const obstacle& o) { return b < o.bottom; });
        const bool meets = (place != list.end() && place->bottom < entry.top) ||
                           (place != list.begin() && (place - 1)->top > entry.bottom);
        list.insert(place, entry);
        return !meets;
    }
    /// Takes the obstacle away that begins at `bottom` and that the floor has not passed.
    void erase(int section, std::int64_t bottom) {
        std::vector<obstacle>& list = lists_[at(section)];
        const auto place = std::lower_bound(list.begin(), list.end(), bottom,
                                            [](const obstacle& o, std::int64_t b) { return o.bottom < b; });
        list.erase(place);
    }
    /// The floor that comes of `floor` by passing what stands there; `passed` grows by the bytes passed.
    [[nodiscard]] std::int64_t settle(int section, std::int64_t floor, std::int64_t& passed) {
        const std::vector<obstacle>& list = lists_[at(section)];
        std::size_t& next = next_[at(section)];
        for (; next < list.size() && list[next].bottom <= floor; ++next) {
            floor = std::max(floor, list[next].top);
            passed += list[next].top - list[next].bottom;
        }
        return floor;
    }
    /// The bytes of the obstacles that come back above the floor when it goes back to `floor`.
    [[nodiscard]] std::int64_t rewind(int section, std::int64_t floor) {
        const std::vector<obstacle>& list = lists_[at(section)];
        std::size_t& next = next_[at(section)];
        std::int64_t bytes = 0;
        for (; next > 0 && list[next - 1].bottom >= floor; --next)
            bytes += list[next - 1].top - list[next - 1].bottom;
        return bytes;
    }
    /// Goes back to the ground in all sections.
    void rewind_all() { std::fill(next_.begin(), next_.end(), 0); }
    /// The least height from `height` on at which `size` bytes meet no obstacle above the floor.
    [[nodiscard]] std::int64_t first_free(int section, std::int64_t height, std::int64_t size) const {
        for (const obstacle& o : ahead(section)) {
            if (o.bottom >= height && o.bottom - height >= size) break;
            height = std::max(height, o.top);
        }
        return height;
    }
    /// Where the first obstacle above the floor begins and ends; `none` if there is none.
    [[nodiscard]] obstacle first(int section) const {
        const auto rest = ahead(section);
        return rest.empty() ? obstacle{none, none} : rest.front();
    }
    /// Bytes of the obstacles above the floor and below `height`.
    [[nodiscard]] std::int64_t bytes_below(int section, std::int64_t height) const {
        std::int64_t bytes = 0;
        for (const obstacle& o : ahead(section)) {
            if (o.bottom >= height) break;
            bytes += std::min(o.top, height) - o.bottom;
        }
        return bytes;
    }
    /// The obstacles that the floor of a section has not passed, ascending.
    template <class Obstacle = obstacle>
    [[nodiscard]] std::span<const Obstacle> ahead(int section) const {
        const std::vector<Obstacle>& list = lists_[at(section)];
        return {list.data() + next_[at(section)], list.size() - next_[at(section)]};
    }

private:
    [[nodiscard]] static constexpr std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

    std::vector<std::vector<obstacle>> lists_;
    std::vector<std::size_t> next_;
};
using obstacles = basic_obstacles<>;

}  // namespace stowage::layout::detail
