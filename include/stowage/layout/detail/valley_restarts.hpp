#pragma once
// Restarts of the valley search: its run times are heavy-tailed, so many short runs with other keys, pivots
// and noise beat a long one (Luby, Sinclair, Zuckerman 1993), and refuted states are kept from one to the
// next.

#include <array>
#include <cmath>
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

/// Restarts at one capacity; call run() as often as wanted, it goes on where it was.
template <class = void>
class basic_valley_restarts {
public:
    /// `whole` must outlive this; `durations` are those of its blocks.
    basic_valley_restarts(const strip& whole, std::vector<std::int64_t> durations, std::uint64_t seed)
        : whole_(whole), durations_(std::move(durations)), engine_(whole.blocks, whole.sections),
          random_(seed), keys_(whole.blocks.size()) {}
    /// Runs until there is an answer or the account runs out. Where `vary` is set, the pivot and the use of
    /// the bound change from run to run: which serves a problem best cannot be told before.
    status run(valley_rules rules, bool vary, budget& account) {
        static constexpr std::array pivots{pivot_rule::fewest_lowest, pivot_rule::lowest_fewest,
                                           pivot_rule::fewest_narrowest};
        static constexpr std::size_t plain_runs = block_keys * pivots.size();
        while (!account.exhausted()) {
            const std::size_t round = runs_ / block_keys;
            const double noise = runs_ < plain_runs ? 0 : round / pivots.size() % 2 == 1 ? 0.3 : 0.05;
            const auto key = static_cast<block_key>(runs_ % block_keys);
            for (std::size_t i = 0; i < keys_.size(); ++i) {
                keys_[i] = key_of(whole_.blocks[i], durations_[i], key);
                if (noise > 0) keys_[i] *= noise_factor(random_, noise);
            }
            engine_.set_keys(keys_);
            if (vary) {
                rules.pivot = pivots[round % pivots.size()];
                rules.bound = runs_ % 2 == 0;
            }
            ++runs_;
            const std::uint64_t limit = 2 * keys_.size() * luby(round + 1) + 50;
            const status answer = solve_within(engine_, whole_.capacity, rules, limit, account);
            nodes_ += engine_.nodes();
            if (answer != status::unknown) return answer;
        }
        return status::unknown;
    }
    /// Offsets of the blocks, in units of the strip, after `feasible`.
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return engine_.offsets(); }
    /// Nodes of all runs.
    [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }

private:
    const strip& whole_;
    std::vector<std::int64_t> durations_;
    valley_engine engine_;
    stowage::detail::splitmix64 random_;
    std::vector<double> keys_;
    std::size_t runs_ = 0;
    std::uint64_t nodes_ = 0;
};
using valley_restarts = basic_valley_restarts<>;

}  // namespace stowage::layout::detail
