#pragma once
// Which moments of an open order are looked at for a bound on the time of any run, and how closely.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/cut_bound.hpp>
#include <stowage/turnip/detail/least_cut_bound.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// The start of an operator in an order that is open.
struct open_moment {
    double in_order = 0;                      ///< the bound there if the operators keep the order
    operator_index op = no_operator;          ///< that starts then
    side_count before = side_count::compute;  ///< what takes longest, if they do
    side_count after = side_count::compute;
};

/// `bound`, or a larger one from some hundred of the moments, spread evenly over the order, fewer in long
/// programs: by cut_bound all of them, and by least_cut_bound the best of each of `parts` parts of the order,
/// by what they are worth in order, and by what cut_bound says of them.
template <class = void>
[[nodiscard]] double open_order_bound(const taskgraph& task, const residency_model& model,
                                      std::span<const operator_index> order, std::int64_t capacity,
                                      const machine& m, const std::vector<open_moment>& moments,
                                      std::size_t parts, double bound) {
    constexpr std::size_t most_moments = 300;
    constexpr std::size_t most_looks = 20'000'000;
    constexpr std::size_t rounds = 20;  // of better weights for one moment
    struct candidate {
        const open_moment* moment = nullptr;
        double worth = 0;
    };
    std::vector<candidate> best(2 * parts);
    const auto offer = [&](std::size_t part, const open_moment& moment, double worth) {
        if (worth > best[part].worth) best[part] = {&moment, worth};
    };
    const std::size_t looked_at =
        std::min({moments.size(), most_moments, most_looks / (1 + 4 * model.accesses.size())});
    cut_bound simple(task, model, order, capacity, m);
    for (std::size_t k = 0; k < looked_at; ++k) {
        const std::size_t at = k * moments.size() / looked_at;
        const double value = simple(moments[at].op);
        bound = std::max(bound, value);
        if (parts > 0) offer(parts + k * parts / looked_at, moments[at], value);
    }
    for (std::size_t k = 0; parts > 0 && k < moments.size(); ++k)
        offer(k * parts / moments.size(), moments[k], moments[k].in_order);
    std::vector<const open_moment*> sharper;
    for (const candidate& each : best) {
        if (each.moment != nullptr && each.moment->in_order > bound) sharper.push_back(each.moment);
    }
    std::sort(sharper.begin(), sharper.end(), [](const open_moment* a, const open_moment* b) {
        return a->in_order != b->in_order ? a->in_order > b->in_order : a->op < b->op;
    });
    sharper.erase(std::unique(sharper.begin(), sharper.end()), sharper.end());
    if (sharper.empty()) return bound;
    least_cut_bound at(task, model, capacity, m);
    for (const open_moment* moment : sharper) {
        if (moment->in_order <= bound) break;
        bound = std::max(bound,
                         at(moment->op, only(moment->before), only(moment->after), moment->in_order, rounds));
    }
    return bound;
}

}  // namespace stowage::turnip::detail
