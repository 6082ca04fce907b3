#include <stowage/graph/detail/implied_edges.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <stowage/detail/random.hpp>

using stowage::detail::implied_edges;
using stowage::detail::splitmix64;

namespace {
using row_list = std::vector<std::vector<std::uint32_t>>;

/// reach[v][u]: there is a path from u to v.
std::vector<std::vector<bool>> closure(const row_list& rows) {
    std::vector<std::vector<bool>> reach(rows.size(), std::vector<bool>(rows.size(), false));
    for (std::size_t v = 0; v < rows.size(); ++v) {
        for (const std::uint32_t u : rows[v]) {
            reach[v][u] = true;
            for (std::size_t w = 0; w < u; ++w)
                if (reach[u][w]) reach[v][w] = true;
        }
    }
    return reach;
}

row_list filtered(const row_list& rows) {
    row_list result;
    implied_edges filter(rows.size());
    for (std::size_t v = 0; v < rows.size(); ++v) {
        std::vector<std::uint32_t> values = {99, 98};  // what stands before the row is left alone
        values.insert(values.end(), rows[v].begin(), rows[v].end());
        filter.filter(values, 2, static_cast<std::uint32_t>(v),
                      [&](std::uint32_t u) -> const std::vector<std::uint32_t>& { return result[u]; });
        CHECK(values[0] == 99);
        CHECK(values[1] == 98);
        result.emplace_back(values.begin() + 2, values.end());
    }
    return result;
}
}  // namespace

TEST_CASE("paths stay, and in small graphs no implied edge is left") {
    splitmix64 random(1);
    for (int round = 0; round < 300; ++round) {
        row_list rows(2 + random.below(9));
        for (std::size_t v = 0; v < rows.size(); ++v) {
            for (std::uint32_t u = 0; u < v; ++u)
                if (random.below(3) == 0) rows[v].push_back(u);
        }
        const row_list fewer = filtered(rows);
        const auto reach = closure(rows);
        CHECK(closure(fewer) == reach);
        for (std::size_t v = 0; v < rows.size(); ++v) {
            CHECK(std::is_sorted(fewer[v].begin(), fewer[v].end()));
            for (const std::uint32_t u : fewer[v])
                for (const std::uint32_t w : fewer[v])
                    CHECK(!reach[w][u]);
        }
    }
}

TEST_CASE("a chain in which each operator names all before it becomes a chain") {
    row_list rows(300);
    for (std::uint32_t v = 0; v < rows.size(); ++v)
        for (std::uint32_t u = 0; u < v; ++u)
            rows[v].push_back(u);
    const row_list fewer = filtered(rows);
    for (std::uint32_t v = 1; v < fewer.size(); ++v)
        CHECK(fewer[v] == std::vector<std::uint32_t>{v - 1});
}
