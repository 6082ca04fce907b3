#include <stowage/turnip/detail/byte_history.hpp>

#include <cstdint>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

namespace turnip = stowage::turnip;
using turnip::detail::no_vertex;

TEST_CASE("writers and readers of bytes agree with a table of bytes") {
    stowage::detail::splitmix64 random(21);
    for (int round = 0; round < 100; ++round) {
        constexpr std::int64_t size = 24;
        struct cell {
            turnip::vertex_index writer = no_vertex;
            std::set<turnip::vertex_index> readers = {};
        };
        std::vector<cell> table(size);
        turnip::detail::byte_history history;
        for (turnip::vertex_index v = 0; v < 60; ++v) {
            const auto lower = static_cast<std::int64_t>(random.below(size));
            const std::int64_t upper =
                lower + 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size - lower)));
            std::set<turnip::vertex_index> found;
            std::set<turnip::vertex_index> expected;
            const auto note = [&](turnip::vertex_index u) { found.insert(u); };
            if (random.below(2) == 0) {
                history.read(lower, upper, v, note);
                // A read counts for the whole of each generation that it meets.
                std::set<turnip::vertex_index> met;
                for (std::int64_t i = lower; i < upper; ++i) {
                    const turnip::vertex_index writer = table[static_cast<std::size_t>(i)].writer;
                    if (writer == no_vertex) continue;
                    expected.insert(writer);
                    met.insert(writer);
                }
                for (cell& c : table) {
                    if (met.count(c.writer) != 0) c.readers.insert(v);
                }
            } else {
                history.write(lower, upper, v, note);
                for (std::int64_t i = lower; i < upper; ++i) {
                    cell& c = table[static_cast<std::size_t>(i)];
                    if (c.readers.empty() && c.writer != no_vertex) expected.insert(c.writer);
                    expected.insert(c.readers.begin(), c.readers.end());
                    c = {v, {}};
                }
            }
            CHECK(found == expected);
        }
    }
}
