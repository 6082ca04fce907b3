#pragma once
// Keys of the valley search that learn from dead ends, and the calls that book its work on an account.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_engine.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// Term i >= 1 of Luby's sequence: 1 1 2 1 1 2 4 1 1 2 ...
[[nodiscard]] constexpr std::uint64_t luby(std::uint64_t i) noexcept {
    for (;;) {
        std::uint64_t power = 1;
        while (power - 1 < i)
            power *= 2;
        if (power - 1 == i) return power / 2;
        i -= power / 2 - 1;
    }
}

/// A factor that is spread like exp(strength * normal), from arithmetic alone, so that it is the same
/// everywhere.
template <class = void>
[[nodiscard]] double noise_factor(stowage::detail::splitmix64& random, double strength) {
    const double spread = 2 * (random.uniform() + random.uniform() + random.uniform()) - 3;  // variance 1
    return spread >= 0 ? 1 + strength * spread : 1 / (1 - strength * spread);
}

/// What a block is ranked by; the greater first.
enum class block_key : std::uint8_t { size, width, area, duration, section_area, width_squared };
inline constexpr std::size_t block_keys = 6;

/// The key of a block that lasts `duration` in the user's time.
template <class = void>
[[nodiscard]] double key_of(const block& b, std::int64_t duration, block_key key) noexcept {
    const auto size = static_cast<double>(b.size);
    const auto width = static_cast<double>(b.last - b.first);
    switch (key) {
        case block_key::size: return size;
        case block_key::width: return width;
        case block_key::area: return size * static_cast<double>(duration);
        case block_key::duration: return static_cast<double>(duration);
        case block_key::section_area: return size * width;
        case block_key::width_squared: break;
    }
    return width * width * size;
}

/// Calls of the engine that book their work on an account: about a unit a microsecond.
template <class = void>
status solve_within(valley_engine& engine, std::int64_t capacity, const valley_rules& rules,
                    std::uint64_t node_limit, budget& account) {
    std::uint64_t nodes = 0;
    std::uint64_t booked = engine.work();
    return engine.solve(capacity, rules, [&] {
        const std::uint64_t work = engine.work();
        const std::uint64_t units = 1 + (work - booked) / 400;
        booked = work;
        return account.spend(units) && ++nodes < node_limit;
    });
}

/// A key for each block: what it is ranked by times what has been learnt. Each dead end of a run counts
/// against the blocks that were still to come over its section; the more it counts the earlier they are tried
/// in the next run. That is the idea of conflict-driven keys (see key_search.hpp) and of activities in SAT
/// solvers; it brings 3 to 100 times on the hard public problems, where noise alone served before.
template <class = void>
class basic_learnt_factors {
public:
    /// Both must outlive this; durations are those of the engine's blocks.
    basic_learnt_factors(valley_engine& engine, std::span<const std::int64_t> durations)
        : engine_(engine), durations_(durations), keys_(durations.size()), factors_(durations.size(), 1) {}
    /// Ranks the engine's blocks by `key` and what has been learnt.
    void apply(block_key key) {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            keys_[i] = key_of(engine_.blocks()[i], durations_[i], key) * factors_[i];
        }
        engine_.set_keys(keys_);
    }
    /// Learns from the engine's last run: multiplies by up to exp(strength), strength 0 to 1.
    void learn(double strength, stowage::detail::splitmix64& random) {
        const std::vector<std::uint32_t>& blamed = engine_.blamed();
        if (blamed.empty()) return;
        const std::uint32_t most = std::max(1U, *std::max_element(blamed.begin(), blamed.end()));
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            // exp(x) for small x, from arithmetic alone, so that it is the same everywhere
            const double x = strength * random.uniform() * blamed[i] / most;
            factors_[i] *= 1 + x * (1 + x / 2 * (1 + x / 3));
        }
    }
    /// Forgets what has been learnt, and draws noise of this strength instead (0: none).
    void shake(double strength, stowage::detail::splitmix64& random) {
        for (double& factor : factors_)
            factor = strength > 0 ? noise_factor(random, strength) : 1;
    }

private:
    valley_engine& engine_;
    std::span<const std::int64_t> durations_;
    std::vector<double> keys_;
    std::vector<double> factors_;
};
using learnt_factors = basic_learnt_factors<>;

}  // namespace stowage::layout::detail
