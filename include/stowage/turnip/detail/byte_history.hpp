#pragma once
// Who wrote the bytes of one arena last, and who has read them since: all that a dependency needs to know.
// Source: papers/offload.md, "derive every edge from who touched these bytes last".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include <stowage/turnip/fwd.hpp>

namespace stowage::turnip::detail {

/// Stands for "the contents were there before the first vertex".
inline constexpr vertex_index no_vertex = std::numeric_limits<vertex_index>::max();

/// The history of one arena's bytes, as vertices touch them in one total order. Every write makes one
/// generation; a piece of the arena names the generation that lies in it. A touch costs O(log pieces +
/// generations met + readers of those that are overwritten). One thread at a time.
template <class = void>
class basic_byte_history {
public:
    /// Vertex `v` reads [lower, upper). Calls `depends_on(writer)` for each generation met that a vertex
    /// wrote.
    template <class DependsOn>
    void read(std::int64_t lower, std::int64_t upper, vertex_index v, DependsOn depends_on) {
        visit(lower, upper, [&](generation& met) {
            if (met.writer != no_vertex) depends_on(met.writer);
            // A reader that is itself waited for by this one need not be remembered.
            if (met.readers.empty() || met.readers.back() != v) met.readers.push_back(v);
        });
    }
    /// Vertex `v` writes [lower, upper); lower < upper. Calls `depends_on(u)` for each reader of a generation
    /// met, or its writer if nobody has read it; `v` itself is left out.
    template <class DependsOn>
    void write(std::int64_t lower, std::int64_t upper, vertex_index v, DependsOn depends_on) {
        visit(lower, upper, [&](generation& met) {
            bool waited = false;
            for (const vertex_index reader : met.readers) {
                if (reader == v) continue;
                depends_on(reader);
                waited = true;
            }
            if (!waited && met.writer != no_vertex && met.writer != v) depends_on(met.writer);
        });
        replace(lower, upper, v);
    }
    /// [lower, upper) holds contents before the first vertex.
    void begin_with(std::int64_t lower, std::int64_t upper) { replace(lower, upper, no_vertex); }

private:
    struct generation {
        vertex_index writer;
        std::vector<vertex_index> readers;
    };
    struct piece {
        std::int64_t upper;
        std::uint32_t generation;
    };
    using piece_map = std::map<std::int64_t, piece>;

    [[nodiscard]] typename piece_map::iterator first_at(std::int64_t lower) {
        auto at = pieces_.upper_bound(lower);
        if (at != pieces_.begin() && std::prev(at)->second.upper > lower) --at;
        return at;
    }
    template <class Met>
    void visit(std::int64_t lower, std::int64_t upper, Met met) {
        std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
        for (auto at = first_at(lower); at != pieces_.end() && at->first < upper; ++at) {
            if (at->second.generation == last) continue;
            last = at->second.generation;
            met(generations_[last]);
        }
    }
    void replace(std::int64_t lower, std::int64_t upper, vertex_index writer) {
        auto at = first_at(lower);
        while (at != pieces_.end() && at->first < upper) {
            const std::int64_t from = at->first;
            const piece old = at->second;
            at = pieces_.erase(at);
            if (from < lower) pieces_.emplace(from, piece{lower, old.generation});
            if (old.upper > upper) pieces_.emplace(upper, old);
        }
        pieces_.emplace(lower, piece{upper, static_cast<std::uint32_t>(generations_.size())});
        generations_.push_back({writer, {}});
    }

    piece_map pieces_;
    std::vector<generation> generations_;
};
using byte_history = basic_byte_history<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_byte_history<>;
#endif

}  // namespace stowage::turnip::detail
