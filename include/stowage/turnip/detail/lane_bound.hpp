#pragma once
// A lower bound on the time of any run of any memgraph for one order, from what its lanes carry: all runs of
// a memgraph make the same copies, and since one of them keeps the order, these obey the bound on bytes, with
// bytes in and bytes out weighed as one likes. No lane carries more than its rate allows. Source: the bound
// on bytes (detail/price_bound.hpp), once for each of some weights.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/price_bound.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/machine.hpp>

namespace stowage::turnip::detail {

/// One pool of memory, which is all devices' where there are several, and what is known of its bound on
/// bytes.
struct memory_pool {
    const residency_model* model = nullptr;  ///< of the pool, with one device
    std::int64_t capacity = 0;               ///< bytes
    std::vector<double> prices = {};         ///< by step: where searches start; may be empty
    std::size_t rounds = 0;                  ///< of the relaxed problem, for each weight; 0: searches only
    std::size_t evaluations = 120;           ///< of the bound's prices, for each weight
    budget* clock = nullptr;                 ///< if given: where it is exhausted, searches end
};

/// Seconds that the lanes of `devices` devices to and from the host are busy at least. O(gaps + steps)
/// memory, and so much time for each round.
template <class = void>
[[nodiscard]] double lane_bound(const memory_pool& pool, std::uint32_t devices, const machine& m) {
    struct weights {
        std::int64_t in;
        std::int64_t out;
    };
    constexpr std::array<weights, 5> all{{{1, 0}, {0, 1}, {1, 1}, {3, 1}, {1, 3}}};
    constexpr std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max() / 4;
    const residency_model& model = *pool.model;
    std::int64_t sum = model.constant_in;  // all of it fits: see model_builder
    for (const model_gap& gap : model.gaps)
        sum += gap.bytes_in;
    for (const model_version& version : model.versions)
        sum += version.bytes_out;
    if (sum > most_bytes) return 0;
    residency_model weighed = model;
    double bound = 0;
    for (const weights& w : all) {
        for (std::size_t g = 0; g < model.gaps.size(); ++g)
            weighed.gaps[g].bytes_in = w.in * model.gaps[g].bytes_in;
        for (std::size_t v = 0; v < model.versions.size(); ++v)
            weighed.versions[v].bytes_out = w.out * model.versions[v].bytes_out;
        weighed.constant_in = w.in * model.constant_in;
        weighed.constant_out = w.out * model.constant_out;
        residency_state quick(weighed, std::array{pool.capacity});
        insert_by_value(quick, gap_values(weighed, pool.prices));
        price_bound search(weighed, pool.capacity);
        if (!pool.prices.empty()) search.start_from(pool.prices);
        search.improve(quick.cost(), pool.evaluations, pool.rounds, pool.clock);
        const double rate = static_cast<double>(w.in) * m.host_to_device_bytes_per_second +
                            static_cast<double>(w.out) * m.device_to_host_bytes_per_second;
        bound = std::max(bound, static_cast<double>(search.proven()) / rate);
    }
    return bound / devices;
}

}  // namespace stowage::turnip::detail
