#pragma once
// Programs of any size from a captured training step: the middle one of its layers is repeated in the forward
// pass, the backward pass and the update. Operators of neighbouring layers correspond by their places, and so
// do the buffers that they touch: a buffer of layer l follows its counterpart in layer l - 1. What a copy
// touches is the counterpart as many layers on; a buffer that has none is shared by all layers.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <stowage/graph.hpp>

namespace stowage::bench {

/// Operators of one layer in each stage.
struct layer_periods {
    std::size_t forward = 0;
    std::size_t backward = 0;
    std::size_t update = 0;
};

/// Repeats layers of one captured step.
class layer_repeater {
public:
    layer_repeater(const tensor_graph& graph, const layer_periods& periods)
        : graph_(&graph), layer_(graph.operator_count(), 0), next_(graph.buffer_count(), none),
          place_(graph.buffer_count(), {none, 0}) {
        for (operator_index op = 0; op < graph.operator_count(); ++op)
            stages_[static_cast<std::size_t>(graph.stage(op))].push_back(op);
        const std::array<std::pair<stage, std::size_t>, 3> all = {{{stage::forward, periods.forward},
                                                                   {stage::backward, periods.backward},
                                                                   {stage::update, periods.update}}};
        for (const auto& [stage, period] : all)
            layers_ = std::min(layers_, span_of(stage, period).second / period);
        for (const auto& [stage, period] : all) {
            per_layer_ += period;
            match_layers(stage, period);
        }
        number_chains();
    }

    /// The step with so many more layers that it has about `operators` operators.
    [[nodiscard]] tensor_graph make(std::size_t operators) {
        const std::size_t have = graph_->operator_count();
        const std::size_t more = operators > have ? (operators - have) / per_layer_ : 0;
        const auto middle = static_cast<std::int64_t>(layers_ / 2);
        program result;
        made_.clear();
        for (const stage stage : {stage::forward, stage::backward, stage::update}) {
            const std::vector<operator_index>& all = stages_[static_cast<std::size_t>(stage)];
            const bool rising = stage != stage::backward;
            std::size_t k = 0;
            for (; k < all.size() && layer_[all[k]] != middle; ++k)
                add(result, all[k], rising ? 0 : more);
            const std::size_t first = k;
            while (k < all.size() && layer_[all[k]] == middle)
                ++k;
            for (std::size_t copy = 0; copy <= more; ++copy) {
                for (std::size_t i = first; i < k; ++i)
                    add(result, all[i], rising ? copy : more - copy);
            }
            for (; k < all.size(); ++k)
                add(result, all[k], rising ? more : 0);
        }
        return make_tensor_graph(result);
    }

private:
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    struct chain_place {
        std::uint32_t first;  // buffer that begins the chain; none: not in a chain
        std::size_t index;
    };

    [[nodiscard]] bool alike(operator_index a, operator_index b) const {
        return graph_->operator_name(a) == graph_->operator_name(b) &&
               graph_->reads(a).size() == graph_->reads(b).size() &&
               graph_->writes(a).size() == graph_->writes(b).size();
    }
    /// Where the longest run of operators that repeat with `period` begins, and how many they are.
    [[nodiscard]] std::pair<std::size_t, std::size_t> span_of(stage stage, std::size_t period) const {
        const std::vector<operator_index>& all = stages_[static_cast<std::size_t>(stage)];
        std::size_t run = 0;
        std::pair<std::size_t, std::size_t> best{0, 0};
        for (std::size_t k = 0; k + period < all.size(); ++k) {
            run = alike(all[k], all[k + period]) ? run + 1 : 0;
            if (run + period > best.second) best = {k + 1 - run, run + period};
        }
        return best;
    }
    void match_layers(stage stage, std::size_t period) {
        const std::vector<operator_index>& all = stages_[static_cast<std::size_t>(stage)];
        const std::size_t first = span_of(stage, period).first;
        const auto layers = static_cast<std::int64_t>(layers_);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const std::int64_t block =
                k < first ? -1 : std::min(layers, static_cast<std::int64_t>((k - first) / period));
            layer_[all[k]] = stage == stage::backward ? layers - 1 - block : block;
        }
        for (std::size_t k = first; k + period < first + layers_ * period; ++k) {
            const bool rising = stage != stage::backward;
            const auto here = graph_->accesses(all[rising ? k : k + period]);
            const auto there = graph_->accesses(all[rising ? k + period : k]);
            for (std::size_t i = 0; i < here.size(); ++i) {
                if (here[i] != there[i] && next_[here[i]] == none) next_[here[i]] = there[i];
            }
        }
    }
    void number_chains() {
        std::vector<std::uint8_t> follows(next_.size(), 0);
        for (std::uint32_t& next : next_) {
            if (next == none) continue;
            if (follows[next] != 0) next = none;  // two lead there: the first one counts
            if (next != none) follows[next] = 1;
        }
        for (buffer_index b = 0; b < next_.size(); ++b) {
            if (follows[b] != 0 || next_[b] == none) continue;
            std::size_t index = 0;
            for (buffer_index at = b; at != none && place_[at].first == none; at = next_[at])
                place_[at] = {b, index++};
        }
    }
    [[nodiscard]] buffer_id buffer(program& result, buffer_index b, std::size_t shift) {
        const chain_place place = place_[b];
        const auto key = place.first == none ? std::pair<buffer_index, std::size_t>{b, 0}
                                             : std::pair{place.first, place.index + shift};
        const auto found = made_.find(key);
        if (found != made_.end()) return found->second;
        const buffer_id id = result.add_buffer({.bytes = graph_->bytes(b), .kind = graph_->kind(b)});
        made_.emplace(key, id);
        return id;
    }
    void add(program& result, operator_index op, std::size_t shift) {
        operator_options options;
        for (const buffer_index b : graph_->reads(op))
            options.reads.push_back(buffer(result, b, shift));
        for (const buffer_index b : graph_->writes(op))
            options.writes.push_back(buffer(result, b, shift));
        options.workspace = graph_->workspace(op);
        options.stage = graph_->stage(op);
        result.add_operator(std::move(options));
    }

    const tensor_graph* graph_;
    std::array<std::vector<operator_index>, 4> stages_;
    std::vector<std::int64_t> layer_;
    std::vector<buffer_index> next_;  // the counterpart in the next layer
    std::vector<chain_place> place_;
    std::map<std::pair<buffer_index, std::size_t>, buffer_id> made_;
    std::size_t layers_ = static_cast<std::size_t>(-1);
    std::size_t per_layer_ = 0;
};

}  // namespace stowage::bench
