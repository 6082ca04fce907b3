#pragma once
// One device's arena while the stower sweeps over the steps: newcomers go to where the layout wants them, or
// to the snuggest free place; where fragmentation leaves none, residents are moved inside the device, and
// only as a last resort sent to the host. As long as the bytes fit, this always succeeds. Source:
// papers/offload.md, "Addresses"; a move may not overlap itself (formats.md).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/turnip/detail/arena_map.hpp>

namespace stowage::turnip::detail {

/// Something that wants a place at this step.
struct newcomer {
    std::uint32_t owner = 0;     ///< whoever it is
    std::int64_t bytes = 0;      ///< > 0
    std::int64_t alignment = 1;  ///< its address is a multiple of it
    std::int64_t wanted = -1;    ///< where it should go if that is free; -1: anywhere
    std::int64_t address = -1;   ///< where it goes
};

/// What a shelf tells its owner: residents that it moves or sends away, in this order, before the newcomers
/// come. `sent_away` may append to the newcomers: a resident that is needed at this very step comes back.
template <class Hooks>
concept shelf_hooks = requires(Hooks& hooks, std::uint32_t owner, std::int64_t address,
                               std::vector<newcomer>& newcomers) {
    hooks.moved(owner, address, address);
    hooks.sent_away(owner, address, newcomers);
};

/// The residents of one arena. One thread at a time.
template <class = void>
class basic_shelf {
public:
    explicit basic_shelf(std::int64_t capacity) : map_(capacity) {}

    /// Finds a place for every newcomer. False if even an empty arena has none for them.
    template <shelf_hooks Hooks>
    [[nodiscard]] bool place(std::vector<newcomer>& newcomers, Hooks& hooks) {
        ++calls_;
        if (place_all(newcomers)) return true;
        if (make_windows(newcomers, hooks)) return true;
        compact(newcomers, hooks, false);
        if (place_all(newcomers)) return true;
        compact(newcomers, hooks, true);
        if (place_all(newcomers) || place_stacked(newcomers)) return true;
        while (!map_.used().empty())
            send_away(map_.used().begin()->first, newcomers, hooks);
        return place_stacked(newcomers);
    }
    /// The bytes at `address` are free again.
    void give(std::int64_t address) {
        residents_.erase(map_.used().at(address).owner);
        map_.give(address);
    }
    /// Puts a resident elsewhere: [to, to + its bytes) is free.
    template <shelf_hooks Hooks>
    void move(std::int64_t from, std::int64_t to, Hooks& hooks) {
        const auto used = map_.used().at(from);
        map_.take(to, used.upper - from, used.owner);
        map_.give(from);
        hooks.moved(used.owner, from, to);
    }
    template <shelf_hooks Hooks>
    void send_away(std::int64_t address, std::vector<newcomer>& newcomers, Hooks& hooks) {
        const std::uint32_t owner = map_.used().at(address).owner;
        give(address);
        hooks.sent_away(owner, address, newcomers);
    }
    /// Moves what lies in [lower, upper) to free places outside of it; false, and nothing moved, if there are
    /// none. O(log residents) for each, and what arena_map::snuggest says.
    template <shelf_hooks Hooks>
    [[nodiscard]] bool clear(std::int64_t lower, std::int64_t upper, Hooks& hooks) {
        struct one {
            std::int64_t bytes;
            std::int64_t address;
            std::uint32_t owner;
            std::int64_t to;
        };
        std::vector<one> met;
        for (auto at = first_met(lower); at != map_.used().end() && at->first < upper; ++at)
            met.push_back({at->second.upper - at->first, at->first, at->second.owner, -1});
        std::sort(met.begin(), met.end(), [](const one& a, const one& b) {
            return a.bytes != b.bytes ? a.bytes > b.bytes : a.address > b.address;
        });
        // First it must be known that all of them find a place; then they go there.
        bool all = true;
        for (one& m : met) {
            m.to = map_.snuggest(m.bytes, residents_.at(m.owner).alignment, lower, upper);
            if (m.to < 0) {
                all = false;
                break;
            }
            map_.take(m.to, m.bytes, m.owner);
        }
        for (const one& m : met) {
            if (m.to < 0) break;
            map_.give(all ? m.address : m.to);
            if (all) hooks.moved(m.owner, m.address, m.to);
        }
        return all;
    }
    [[nodiscard]] const arena_map& map() const noexcept { return map_; }

private:
    [[nodiscard]] static bool larger(const newcomer& a, const newcomer& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.owner < b.owner;
    }
    void put(newcomer& n, std::int64_t address) {
        n.address = address;
        map_.take(address, n.bytes, n.owner);
        residents_.insert_or_assign(n.owner, resident{n.alignment, calls_});
    }
    void undo(std::vector<newcomer>& newcomers) {
        for (newcomer& n : newcomers) {
            if (n.address >= 0) give(n.address);
            n.address = -1;
        }
    }
    /// First where they are wanted, then the largest first; all or none.
    [[nodiscard]] bool place_all(std::vector<newcomer>& newcomers) {
        bool open = false;
        for (newcomer& n : newcomers) {
            if (n.wanted >= 0 && map_.is_free(n.wanted, n.bytes)) {
                put(n, n.wanted);
            } else {
                open = true;
            }
        }
        if (!open) return true;
        std::sort(newcomers.begin(), newcomers.end(), larger);
        return place_in_turn(newcomers);
    }
    /// Those that have no place yet, each where it fits most snugly; all or none.
    [[nodiscard]] bool place_in_turn(std::vector<newcomer>& newcomers) {
        for (newcomer& n : newcomers) {
            if (n.address >= 0) continue;
            const std::int64_t address = map_.snuggest(n.bytes, n.alignment);
            if (address < 0) {
                undo(newcomers);
                return false;
            }
            put(n, address);
        }
        return true;
    }
    /// One on top of the other from the first free byte, the largest alignment first.
    [[nodiscard]] bool place_stacked(std::vector<newcomer>& newcomers) {
        std::sort(newcomers.begin(), newcomers.end(), [](const newcomer& a, const newcomer& b) {
            if (a.alignment != b.alignment) return a.alignment > b.alignment;
            const std::int64_t pad_a = a.bytes % a.alignment;
            const std::int64_t pad_b = b.bytes % b.alignment;
            // What needs padding behind it goes last.
            if ((pad_a == 0) != (pad_b == 0)) return pad_a == 0;
            return pad_a != pad_b ? pad_a > pad_b : a.owner < b.owner;
        });
        return place_in_turn(newcomers);
    }
    /// For the largest newcomers a window is cleared by moving the fewest bytes to free places outside of it.
    template <shelf_hooks Hooks>
    [[nodiscard]] bool make_windows(std::vector<newcomer>& newcomers, Hooks& hooks) {
        std::sort(newcomers.begin(), newcomers.end(), larger);
        for (newcomer& n : newcomers) {
            std::int64_t address = map_.snuggest(n.bytes, n.alignment);
            if (address < 0) address = clear_window(n, hooks);
            if (address < 0) {
                undo(newcomers);
                return false;
            }
            put(n, address);
        }
        return true;
    }
    struct window {
        std::int64_t lower;
        std::int64_t moved;
    };
    template <shelf_hooks Hooks>
    [[nodiscard]] std::int64_t clear_window(const newcomer& n, Hooks& hooks) {
        std::vector<window> windows = list_windows(n);
        std::sort(windows.begin(), windows.end(), [](const window& a, const window& b) {
            return a.moved != b.moved ? a.moved < b.moved : a.lower < b.lower;
        });
        if (windows.size() > most_windows) windows.resize(most_windows);
        for (const window& w : windows) {
            if (clear(w.lower, w.lower + n.bytes, hooks)) return w.lower;
        }
        return -1;
    }
    /// The first used range that ends behind `lower`.
    [[nodiscard]] arena_map::used_map::const_iterator first_met(std::int64_t lower) const {
        auto at = map_.used().upper_bound(lower);
        if (at != map_.used().begin() && std::prev(at)->second.upper > lower) --at;
        return at;
    }
    /// Windows that begin or end where a free range does, with the bytes of the residents that they meet, who
    /// are none of the newcomers: round the largest free ranges, as many as some thousand looks allow.
    [[nodiscard]] std::vector<window> list_windows(const newcomer& n) const {
        std::vector<std::int64_t> starts{0, map_.capacity() - n.bytes};
        std::size_t ranges = 0;
        for (auto it = map_.free().rbegin(); it != map_.free().rend() && ranges < most_ranges; ++it) {
            starts.push_back(it->second);
            starts.push_back(it->second + it->first - n.bytes);
            ++ranges;
        }
        std::vector<window> windows;
        std::size_t looks = 0;
        for (std::size_t k = 0; k < starts.size() && looks < most_looks; ++k) {
            const bool begins = k % 2 == 0;
            if (starts[k] < 0) continue;
            const std::int64_t lower =
                (starts[k] + (begins ? n.alignment - 1 : 0)) / n.alignment * n.alignment;
            if (lower > map_.capacity() - n.bytes) continue;
            std::int64_t moved = 0;
            bool open = true;
            for (auto at = first_met(lower); open && at != map_.used().end() && at->first < lower + n.bytes;
                 ++at) {
                ++looks;
                moved += at->second.upper - at->first;
                open = residents_.at(at->second.owner).since != calls_;
            }
            if (open) windows.push_back({lower, moved});
        }
        return windows;
    }
    /// Slides the residents down, one after the other; one that would overlap itself hops over the others
    /// first or stays. `strictly`: it is sent away instead of staying.
    template <shelf_hooks Hooks>
    void compact(std::vector<newcomer>& newcomers, Hooks& hooks, bool strictly) {
        std::vector<std::uint32_t> hopped;
        std::int64_t top = 0;
        for (auto at = map_.used().begin(); at != map_.used().end(); at = map_.used().lower_bound(top)) {
            const std::int64_t from = at->first;
            const std::int64_t bytes = at->second.upper - from;
            const std::uint32_t owner = at->second.owner;
            const std::int64_t alignment = residents_.at(owner).alignment;
            const std::int64_t to = (top + alignment - 1) / alignment * alignment;
            if (from <= to) {
                top = from + bytes;
            } else if (to + bytes <= from) {
                move(from, to, hooks);
                top = to + bytes;
            } else {
                const bool again = std::find(hopped.begin(), hopped.end(), owner) != hopped.end();
                const std::int64_t place = again ? -1 : map_.snuggest(bytes, alignment, 0, from + bytes);
                if (place >= 0) {
                    hopped.push_back(owner);
                    move(from, place, hooks);
                } else if (strictly) {
                    send_away(from, newcomers, hooks);
                } else {
                    top = from + bytes;
                }
            }
        }
    }

    struct resident {
        std::int64_t alignment;
        std::uint64_t since;  // the call of place() in which it came
    };
    static constexpr std::size_t most_windows = 8;
    static constexpr std::size_t most_ranges = 256;
    static constexpr std::size_t most_looks = 8192;
    arena_map map_;
    std::unordered_map<std::uint32_t, resident> residents_;  // by owner
    std::uint64_t calls_ = 0;
};
using shelf = basic_shelf<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_shelf<>;
#endif

}  // namespace stowage::turnip::detail
