#pragma once
// A lower bound on the time of runs whose operators keep their order that is sharp where computing, copies
// out and copies in take turns to be the bottleneck, and prices of either lane and of memory that tell what
// had better leave, and when. The starts of some operators divide a run into blocks
// (detail/block_division.hpp). A block takes at least as long as what is computed in it, as what the lane to
// the host carries, and as what the lane from it carries; at each moment between two blocks, contents that
// were made before and are wanted after are on the device, or were copied out in an earlier block and come
// back in a later one. That is a linear program. Its dual gives each block weights for computing and for
// either lane, which sum up to 1, and each moment a price of memory; then each version of a buffer chooses
// for itself in which blocks it is copied, if at all. Any weights and prices prove a bound, even for plans
// that move single bytes. Sources: linear programming duality; the split bound of papers/offload.md is the
// case of one moment; F. Barahona, R. Anbil, "The volume algorithm: producing primal solutions with a
// subgradient method" (2000).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/block_division.hpp>
#include <stowage/turnip/detail/moment_versions.hpp>
#include <stowage/turnip/detail/onto_simplex.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// What a relaxation says of each gap.
struct timed_gaps {
    std::vector<double> values;  ///< seconds of the lanes that leaving costs, by what its memory is worth
    std::vector<double> stays;   ///< how much of it stays, 0 to 1
};

/// The bound by one division of one order, on one device with one compute lane. Everything given must outlive
/// it. One thread at a time.
template <class = void>
class basic_moment_bound {
public:
    basic_moment_bound(const taskgraph& task, const residency_model& model, std::int64_t capacity,
                       const machine& m, const block_division& division)
        : model_(model), machine_(m), blocks_(division.size()),
          versions_(list_moment_versions(task, model, m, division)),
          unit_(std::max(m.host_to_device_bytes_per_second, m.device_to_host_bytes_per_second)),
          division_(division) {
        best_weights_.assign(blocks_, {1, 0, 0});
        best_prices_.assign(blocks_, 0);
        excess_.assign(blocks_, 0);
        const double free = static_cast<double>(capacity) + static_cast<double>(model.round_off[0]);
        for (std::uint32_t k = 1; k < blocks_; ++k)
            excess_[k] = static_cast<double>(model.forced[0][division.steps[k - 1]]) - free;
        computed_.assign(blocks_, 0);
        for (std::uint32_t s = 0; s < model.steps.size(); ++s) {
            if (model.steps[s].op != no_operator)
                computed_[division.blocks[s]] += operator_seconds(task.program, model.steps[s].op, m);
        }
        for (moment_version& v : versions_.list) {
            for (std::uint32_t k = v.from; k <= v.to; ++k) {
                if (!versions_.is_read_at(v, k)) excess_[k % blocks_] += v.bytes;
            }
            absent_first_.push_back(absent_.size());
            absent_.resize(absent_.size() + (v.to + 1 - std::min(v.from, v.to + 1)), 0);
        }
    }

    /// Raises the bound by so many rounds, each O(versions x blocks), or until it is `known`, the seconds of
    /// a run, or `clock`, if given, is exhausted. The bound, in seconds.
    double improve(double known, std::size_t rounds, budget* clock = nullptr) {
        begin_from_one_moment();
        weights_ = best_weights_;
        prices_ = best_prices_;
        best_ = evaluate();
        std::vector<triple> way(slope_);
        std::vector<double> price_way(price_slope_);
        // There are fewer seconds in a block than bytes alive at a moment: weights take longer strides.
        const auto scale = static_cast<double>(blocks_);
        double length = 1;
        std::size_t stall = 0;
        for (std::size_t round = 0;
             round < rounds && best_ < known * 0.9995 && !stowage::detail::is_over(clock); ++round) {
            double norm = 0;
            for (std::uint32_t k = 0; k < blocks_; ++k) {
                const double mean = (way[k][0] + way[k][1] + way[k][2]) / 3;
                for (const double part : way[k])
                    norm += scale * (part - mean) * (part - mean);
                if (best_prices_[k] > 0 || price_way[k] > 0) norm += price_way[k] * price_way[k];
            }
            if (norm <= 0) break;
            const double stride = length * 0.05 * best_ / norm;
            for (std::uint32_t k = 0; k < blocks_; ++k) {
                for (std::size_t part = 0; part < 3; ++part)
                    weights_[k][part] = best_weights_[k][part] + scale * stride * way[k][part];
                onto_simplex(weights_[k]);
                prices_[k] = k == 0 ? 0 : std::max(0.0, best_prices_[k] + stride * price_way[k]);
            }
            for (float& share : absent_)
                share *= 1 - pace;
            noting_ = true;
            const double value = evaluate();
            noting_ = false;
            for (std::uint32_t k = 0; k < blocks_; ++k) {
                for (std::size_t part = 0; part < 3; ++part)
                    way[k][part] += static_cast<double>(pace) * (slope_[k][part] - way[k][part]);
                price_way[k] += static_cast<double>(pace) * (price_slope_[k] - price_way[k]);
            }
            if (value > best_) {
                best_ = value;
                best_weights_ = weights_;
                best_prices_ = prices_;
                stall = 0;
                length = std::min(4.0, length * 1.1);
            } else if (++stall >= 8) {
                stall = 0;
                length = std::max(length * 0.7, 1e-4);
            }
        }
        return best_;
    }
    /// What the best weights and prices say of the gaps. O(gaps x blocks).
    [[nodiscard]] timed_gaps gaps() {
        timed_gaps found{std::vector<double>(model_.gaps.size(), 1e6),
                         std::vector<double>(model_.gaps.size(), 1)};
        weights_ = best_weights_;
        prices_ = best_prices_;
        sum_prices();
        // Where a moment costs nothing, a short gap is still better than a long one.
        const double least = 1e-3 * sums_[blocks_] / blocks_;
        std::vector<std::vector<std::uint32_t>> of_instance(model_.instances.size());
        for (std::uint32_t q = 0; q < versions_.list.size(); ++q)
            of_instance[versions_.list[q].instance].push_back(q);
        for (std::size_t g = 0; g < model_.gaps.size(); ++g) {
            const model_gap& gap = model_.gaps[g];
            // those of the contents that the last run left are of the next run
            const bool next_run = model_.copy_of[gap.version] != gap.version;
            const std::uint32_t from = moment_from(gap.lower) + (next_run ? blocks_ : 0);
            std::uint32_t to = division_.blocks[gap.upper] + (next_run ? blocks_ : 0);
            if (gap.wrapped) to = gap.bytes_in > 0 ? blocks_ + division_.blocks[gap.upper] : blocks_ - 1;
            if (from > to) continue;  // it meets no moment, and frees nothing
            for (const std::uint32_t q : of_instance[gap.instance]) {
                const moment_version& v = versions_.list[q];
                if (from < v.from || from > v.to) continue;
                double in = gap.bytes_in > 0 ? v.seconds_in : 0;
                for (std::uint32_t k = from; k <= std::min(to, v.to); ++k) {
                    in = std::min(in, part_of(k, reloads) * v.seconds_in);
                    found.stays[g] = std::min(
                        found.stays[g], 1.0 - static_cast<double>(absent_[absent_first_[q] + k - v.from]));
                }
                double out = v.dirty && gap.needs_copy ? v.seconds_out : 0;
                for (std::uint32_t k = v.made; k < to; ++k)
                    out = std::min(out, part_of(k, offloads) * v.seconds_out);
                const double price = sums_[to + 1] - sums_[from] + least * (to + 1 - from);
                found.values[g] = (in + out + 1e-9) / (v.bytes / unit_ * price + 1e-12);
            }
        }
        return found;
    }

private:
    enum resource : std::size_t { computing, offloads, reloads };
    using triple = std::array<double, 3>;
    static constexpr std::uint32_t never = ~std::uint32_t{0};
    static constexpr float pace = 0.1F;  // of averages: what one evaluation counts

    /// The split bound: one side of one moment is limited by computing or by one lane.
    void begin_from_one_moment() {
        best_ = -1;
        const double out_price = unit_ / machine_.device_to_host_bytes_per_second;
        const double in_price = unit_ / machine_.host_to_device_bytes_per_second;
        for (std::uint32_t k = 0; k < blocks_; ++k) {
            for (const bool out : {false, true}) {
                for (const bool in : {false, true}) {
                    weights_.assign(blocks_, {1, 0, 0});
                    prices_.assign(blocks_, 0);
                    for (std::uint32_t q = 0; q < blocks_; ++q) {
                        if (q < k && out) weights_[q] = {0, 1, 0};
                        if (q >= k && in) weights_[q] = {0, 0, 1};
                    }
                    if (k > 0) prices_[k] = (out ? out_price : 0) + (in ? in_price : 0);
                    const double value = evaluate();
                    if (value <= best_) continue;
                    best_ = value;
                    best_weights_ = weights_;
                    best_prices_ = prices_;
                }
            }
        }
    }
    /// The first moment that is not before a step.
    [[nodiscard]] std::uint32_t moment_from(std::uint32_t step) const {
        const std::uint32_t at = division_.moment_at(step);
        return at > 0 ? at : division_.blocks[step] + 1;
    }
    [[nodiscard]] double part_of(std::uint32_t block, resource which) const {
        return weights_[block % blocks_][which];
    }
    void sum_prices() {
        sums_.assign(2 * blocks_ + 1, 0);
        for (std::uint32_t k = 0; k < 2 * blocks_; ++k)
            sums_[k + 1] = sums_[k] + prices_[k % blocks_];
    }
    /// The bound at the weights and prices; slopes become its derivatives.
    double evaluate() {
        slope_.assign(blocks_, {0, 0, 0});
        price_slope_.assign(blocks_, 0);
        sum_prices();
        double value = 0;
        for (std::uint32_t k = 1; k < blocks_; ++k) {
            price_slope_[k] = excess_[k] / unit_;
            value += prices_[k] * price_slope_[k];
        }
        for (std::uint32_t k = 0; k < blocks_; ++k) {
            slope_[k][computing] = computed_[k];
            value += computed_[k] * weights_[k][computing];
        }
        for (std::size_t q = 0; q < versions_.list.size(); ++q)
            value += cheapest(q);
        return value;
    }
    /// What the cheapest way of one version costs, less what the memory is worth that it leaves free; adds
    /// that way to the slopes.
    double cheapest(std::size_t q) {
        const moment_version& v = versions_.list[q];
        const double bytes = v.bytes / unit_;
        const std::uint32_t low = std::min(v.from, v.to + 1);
        std::uint32_t next = v.readers;
        std::uint32_t deadline = never;  // the last block in which it can come in
        plan_absences(v, low, next, deadline);
        const auto cost_from = [&](std::uint32_t k) { return k > v.to ? 0 : cost_[std::max(k, low)]; };
        double total = cost_from(low);
        std::uint32_t back = 0;  // from this moment on it may be absent (again)
        if (v.comes_in) {
            versions_.pass(v, 0, next, deadline);
            total = part_of(0, reloads) * v.seconds_in + cost_from(1);
            for (std::uint32_t j = 1; j <= std::min(deadline, blocks_ - 1); ++j) {
                const double now =
                    part_of(j, reloads) * v.seconds_in - bytes * (sums_[j + 1] - sums_[1]) + cost_from(j + 1);
                if (now >= total) continue;
                total = now;
                back = j;
            }
            slope_[back][reloads] += v.seconds_in;
            note_absence(q, 1, back);
            ++back;
        } else if (v.dirty) {
            total = 0;
            std::uint32_t saved = never;
            for (std::uint32_t i = v.made; i <= (v.must_go_out ? blocks_ - 1 : v.to); ++i) {
                const double now = part_of(i, offloads) * v.seconds_out + cost_from(i + 1);
                if (now >= total && (saved != never || !v.must_go_out)) continue;
                total = now;
                saved = i;
            }
            if (saved == never) return 0;
            slope_[saved % blocks_][offloads] += v.seconds_out;
            back = saved + 1;
        }
        for (std::uint32_t k = std::max(back, low); k <= v.to;) {
            if (until_[k] == never || cost_[k] >= cost_[k + 1]) {
                ++k;
                continue;
            }
            if (versions_.is_wanted_from(v, k)) slope_[until_[k] % blocks_][reloads] += v.seconds_in;
            note_absence(q, k, until_[k]);
            k = until_[k] + 1;
        }
        return total;
    }
    /// cost_[k]: the least that a version costs from moment k on, if it is on the device before it, or may
    /// be; until_[k]: the last moment of an absence that begins at k. `next` and `deadline`: see pass.
    void plan_absences(const moment_version& v, std::uint32_t low, std::uint32_t& next,
                       std::uint32_t& deadline) {
        const double bytes = v.bytes / unit_;
        cost_.assign(2 * blocks_ + 2, 0);
        until_.assign(2 * blocks_ + 2, never);
        key_.resize(2 * blocks_ + 2);
        queue_.clear();  // blocks in which an absence may end, the cheapest first
        std::size_t front = 0;
        for (std::uint32_t k = v.to + 1; k-- > low;) {
            const bool read_now = versions_.pass(v, k, next, deadline);
            if (deadline == never) {  // it need not come back
                cost_[k] = bytes * (sums_[k] - sums_[v.to + 1]);
                until_[k] = v.to;
                continue;
            }
            key_[k] = part_of(k, reloads) * v.seconds_in - bytes * sums_[k + 1] + cost_[k + 1];
            while (queue_.size() > front && key_[queue_.back()] >= key_[k])
                queue_.pop_back();
            queue_.push_back(k);
            while (front < queue_.size() && queue_[front] > deadline)
                ++front;
            cost_[k] = cost_[k + 1];
            if (read_now || front == queue_.size()) continue;
            const double gone = key_[queue_[front]] + bytes * sums_[k];
            if (gone >= cost_[k]) continue;
            cost_[k] = gone;
            until_[k] = queue_[front];
        }
    }
    void note_absence(std::size_t q, std::uint32_t from, std::uint32_t until) {
        const moment_version& v = versions_.list[q];
        for (std::uint32_t k = from; k <= until; ++k) {
            price_slope_[k % blocks_] -= v.bytes / unit_;
            if (noting_ && k >= v.from && k <= v.to) absent_[absent_first_[q] + k - v.from] += pace;
        }
    }

    const residency_model& model_;
    const machine& machine_;
    std::uint32_t blocks_;
    moment_versions versions_;
    double unit_;  // bytes a second: prices are seconds for as many bytes
    const block_division& division_;
    std::vector<double> excess_;    // by moment: bytes alive beyond the capacity
    std::vector<double> computed_;  // by block: seconds
    std::vector<triple> weights_;   // by block
    std::vector<double> prices_;    // by moment
    double best_ = 0;
    std::vector<triple> best_weights_;
    std::vector<double> best_prices_;
    std::vector<triple> slope_;              // by block
    std::vector<double> price_slope_;        // by moment
    std::vector<float> absent_;              // by version and moment: how often it was absent of late
    std::vector<std::size_t> absent_first_;  // by version: its first one
    bool noting_ = false;
    std::vector<double> sums_;          // of the prices before a moment, of two runs
    std::vector<double> cost_;          // see plan_absences
    std::vector<std::uint32_t> until_;  // see plan_absences
    std::vector<double> key_;           // by block: what an absence that ends there costs, but for its begin
    std::vector<std::uint32_t> queue_;
};
using moment_bound = basic_moment_bound<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_moment_bound<>;
#endif

}  // namespace stowage::turnip::detail
