#pragma once
// Small training steps, one for each way in which optimizers update: a chain of layers, its backward pass
// with a weight gradient a layer, and the updates.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/graph.hpp>

namespace stowage::test {

enum class optimizer {
    sgd,
    sgd_momentum,
    adam,             // in place
    adam_functional,  // parameters and state are donated, the new ones are outputs
    adamw,            // the parameter decays first
    adafactor,        // state of rows and columns
    clipped_adam,     // gradients are scaled by their global norm
    accumulated_sgd,  // gradients are kept from step to step
};

struct training_step_options {
    std::size_t layers = 4;
    optimizer by = optimizer::adam;
    std::int64_t weight_bytes = 64;
    std::int64_t activation_bytes = 16;
    bool tied = false;       // the last layer has the first one's weight
    std::size_t frozen = 0;  // so many layers, from the first one on, are not trained
};

/// Operators are named after the layer whose parameter they are for: "dw2", "m2", "update2"; the trunk is
/// "f0", "dx2", "loss".
class training_step {
public:
    explicit training_step(const training_step_options& options) : options_(options) { build(); }
    program step;

private:
    void build() {
        const buffer_kind of_weights = functional() ? buffer_kind::donated : buffer_kind::parameter;
        std::vector<buffer_id> x = {
            step.add_buffer({.bytes = options_.activation_bytes, .kind = buffer_kind::input})};
        for (std::size_t i = 0; i < options_.layers; ++i) {
            const bool again = options_.tied && i + 1 == options_.layers;
            weights_.push_back(again ? weights_[0]
                                     : step.add_buffer({.bytes = options_.weight_bytes, .kind = of_weights}));
            x.push_back(made(options_.activation_bytes));
            run("f", i, {x[i], weights_[i]}, {x[i + 1]}, stage::forward);
        }
        const buffer_id loss = step.add_buffer({.bytes = 4, .kind = buffer_kind::output});
        run("loss", 0, {x.back()}, {loss}, stage::forward);
        buffer_id g = made(options_.activation_bytes);
        run("dloss", 0, {x.back(), loss}, {g}, stage::backward);
        gradients_.resize(options_.layers);
        trained_.resize(options_.layers);
        for (std::size_t i = options_.layers; i-- > options_.frozen;) {
            const bool again = options_.tied && i == 0;
            const buffer_id part = made(options_.weight_bytes);
            run("dw", i, {g, x[i]}, {part}, stage::backward);
            if (again) {
                gradients_[i] = made(options_.weight_bytes);
                run("sum", i, {part, gradients_.back()}, {gradients_[i]}, stage::backward);
            } else {
                gradients_[i] = part;
            }
            trained_[i] = !(options_.tied && i + 1 == options_.layers);
            if (i > options_.frozen) {
                const buffer_id next = made(options_.activation_bytes);
                run("dx", i, {g, weights_[i]}, {next}, stage::backward);
                g = next;
            }
            if (trained_[i] && options_.by != optimizer::clipped_adam) update(i, gradients_[i]);
        }
        if (options_.by == optimizer::clipped_adam) clip();
    }
    void clip() {
        std::vector<buffer_id> norms;
        for (std::size_t i = 0; i < options_.layers; ++i) {
            if (!trained_[i]) continue;
            norms.push_back(made(4));
            run("norm", i, {gradients_[i]}, {norms.back()}, stage::backward);
        }
        const buffer_id factor = made(4);
        run("factor", 0, norms, {factor}, stage::backward);
        for (std::size_t i = 0; i < options_.layers; ++i) {
            if (!trained_[i]) continue;
            run("clip", i, {gradients_[i], factor}, {gradients_[i]}, stage::update);
            update(i, gradients_[i]);
        }
    }
    void update(std::size_t i, buffer_id g) {
        const buffer_id w = weights_[i];
        if (options_.by == optimizer::sgd) {
            run("update", i, {w, g}, {w}, stage::update);
        } else if (options_.by == optimizer::accumulated_sgd) {
            const buffer_id kept =
                step.add_buffer({.bytes = options_.weight_bytes, .kind = buffer_kind::buffer});
            run("add", i, {kept, g}, {kept}, stage::backward);
            run("update", i, {w, kept}, {w}, stage::update);
        } else if (options_.by == optimizer::sgd_momentum) {
            const buffer_id m = state(options_.weight_bytes);
            run("m", i, {m, g}, {m}, stage::update);
            run("update", i, {w, m}, {w}, stage::update);
        } else if (options_.by == optimizer::adafactor) {
            const buffer_id row = state(8);
            const buffer_id column = state(8);
            const buffer_id scaled = made(options_.weight_bytes);
            run("row", i, {row, g}, {row}, stage::update);
            run("column", i, {column, g}, {column}, stage::update);
            run("scale", i, {row, column, g}, {scaled}, stage::update);
            run("update", i, {w, scaled}, {w}, stage::update);
        } else {
            adam(i, g);
        }
    }
    void adam(std::size_t i, buffer_id g) {
        const buffer_id w = weights_[i];
        const buffer_id m = state(options_.weight_bytes);
        const buffer_id v = state(options_.weight_bytes);
        const buffer_id root = made(options_.weight_bytes);
        if (functional()) {
            const buffer_id new_m = output();
            const buffer_id new_v = output();
            const buffer_id new_w = output();
            run("m", i, {m, g}, {new_m}, stage::update);
            run("v", i, {v, g}, {new_v}, stage::update);
            run("root", i, {new_v}, {root}, stage::update);
            run("update", i, {w, new_m, root}, {new_w}, stage::update);
            return;
        }
        if (options_.by == optimizer::adamw) run("decay", i, {w}, {w}, stage::update);
        run("m", i, {m, g}, {m}, stage::update);
        run("v", i, {v, g}, {v}, stage::update);
        run("root", i, {v}, {root}, stage::update);
        run("update", i, {w, m, root}, {w}, stage::update);
    }
    [[nodiscard]] bool functional() const { return options_.by == optimizer::adam_functional; }
    buffer_id made(std::int64_t bytes) { return step.add_buffer({.bytes = bytes}); }
    buffer_id output() {
        return step.add_buffer({.bytes = options_.weight_bytes, .kind = buffer_kind::output});
    }
    buffer_id state(std::int64_t bytes) {
        return step.add_buffer(
            {.bytes = bytes, .kind = functional() ? buffer_kind::donated : buffer_kind::optimizer_state});
    }
    void run(const std::string& name, std::size_t layer, const std::vector<buffer_id>& reads,
             const std::vector<buffer_id>& writes, stage part) {
        step.add_operator(
            {.name = name + std::to_string(layer), .reads = reads, .writes = writes, .stage = part});
    }
    training_step_options options_;
    std::vector<buffer_id> weights_;
    std::vector<buffer_id> gradients_;
    std::vector<bool> trained_;
};

inline tensor_graph training_graph(const training_step_options& options) {
    return make_tensor_graph(training_step(options).step);
}

}  // namespace stowage::test
