#pragma once
// Per section a number that is lowered over ranges; which section of a range has the least? O(log k) a call.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace stowage::layout::detail {

template <class = void>
class basic_slack_tree {
public:
    /// Takes `count` values, value(s) for section s. O(count).
    template <class Value>
    void assign(std::size_t count, const Value& value) {
        leaves_ = std::bit_ceil(std::max<std::size_t>(count, 1));
        nodes_.assign(2 * leaves_, {unused, 0});
        for (std::size_t s = 0; s < count; ++s)
            nodes_[leaves_ + s].least = value(s);
        for (std::size_t x = leaves_; x-- > 1;)
            nodes_[x].least = std::min(nodes_[2 * x].least, nodes_[2 * x + 1].least);
    }

    /// Adds `amount` to the sections [from, to).
    void add(std::size_t from, std::size_t to, std::int64_t amount) {
        std::size_t l = from + leaves_;
        std::size_t r = to + leaves_;
        while (l < r) {
            if (l % 2 == 1) apply(l++, amount);
            if (r % 2 == 1) apply(--r, amount);
            l /= 2;
            r /= 2;
        }
        renew_above(from + leaves_);
        if (to > from) renew_above(to - 1 + leaves_);
    }

    /// The least value in [from, to), from < to, and the leftmost section that has it.
    [[nodiscard]] std::pair<std::int64_t, std::size_t> least(std::size_t from, std::size_t to) const {
        // The pending amounts above a node are summed on the way up from it: O(log k) nodes of O(log k)
        // height would be log squared, so the two edges of the range are walked once each, carrying their
        // sums.
        std::int64_t left_least = unused;
        std::int64_t right_least = unused;
        std::size_t left_node = 0;
        std::size_t right_node = 0;
        std::size_t l = from + leaves_;
        std::size_t r = to - 1 + leaves_;
        left_least = nodes_[l].least;
        left_node = l;
        right_least = nodes_[r].least;
        right_node = r;
        while (l / 2 != r / 2) {
            if (l % 2 == 0 && nodes_[l + 1].least < left_least) {
                left_least = nodes_[l + 1].least;
                left_node = l + 1;
            }
            if (r % 2 == 1 && nodes_[r - 1].least <= right_least) {
                right_least = nodes_[r - 1].least;
                right_node = r - 1;
            }
            l /= 2;
            r /= 2;
            left_least += nodes_[l].pending;
            right_least += nodes_[r].pending;
        }
        std::int64_t value = left_least <= right_least ? left_least : right_least;
        std::size_t x = left_least <= right_least ? left_node : right_node;
        for (l /= 2; l >= 1; l /= 2)
            value += nodes_[l].pending;
        while (x < leaves_)
            x = nodes_[2 * x].least <= nodes_[2 * x + 1].least ? 2 * x : 2 * x + 1;
        return {value, x - leaves_};
    }

private:
    static constexpr std::int64_t unused = std::numeric_limits<std::int64_t>::max() / 2;

    struct node {
        std::int64_t least;    // of the sections below, without what is pending above this node
        std::int64_t pending;  // added to all sections below
    };

    void apply(std::size_t x, std::int64_t amount) {
        nodes_[x].least += amount;
        nodes_[x].pending += amount;
    }

    void renew_above(std::size_t x) {
        for (x /= 2; x >= 1; x /= 2) {
            nodes_[x].least = std::min(nodes_[2 * x].least, nodes_[2 * x + 1].least) + nodes_[x].pending;
        }
    }

    std::size_t leaves_ = 1;
    std::vector<node> nodes_;
};
using slack_tree = basic_slack_tree<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_slack_tree<>;
#endif

}  // namespace stowage::layout::detail
