#pragma once
// The arithmetic of LLaMA that is no matrix product, for one value or one row at a time: compiled by nvcc for
// a GPU, and by any compiler for the host, where tests run it on their fake of CUDA. A row is worked on by a
// group of threads that sums in one fixed order, the same on both.

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define STOWAGE_EXAMPLES_DEVICE __host__ __device__
#else
#define STOWAGE_EXAMPLES_DEVICE
#endif

namespace examples::math {

/// Most devices that a model is parted among.
inline constexpr int most_parts = 4;
/// Threads of a group; a power of two.
inline constexpr int group_threads = 256;

// Bodies for one value: called with its index.

struct fill_zero {
    float* y;
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const { y[i] = 0.0F; }
};
struct embed {
    const std::int64_t* ids;
    const float* table;
    float* y;
    std::int64_t width;
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const {
        y[i] = table[ids[i / width] * width + i % width];
    }
};
/// Slices of columns side by side, added to `to` unless it is null.
struct join {
    const float* slices[most_parts];
    const float* to;
    float* y;
    std::int64_t width;  // of a slice
    std::int64_t whole;  // of all
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const {
        const std::int64_t column = i % whole;
        const float value = slices[column / width][i / whole * width + column % width];
        y[i] = to != nullptr ? to[i] + value : value;
    }
};
/// In the order of devices.
struct sum {
    const float* parts[most_parts];
    float* y;
    int count;
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const {
        float total = parts[0][i];
        for (int p = 1; p < count; ++p)
            total += parts[p][i];
        y[i] = total;
    }
};
/// Called with the index of a pair of values.
struct rotate {
    float* x;
    const float* turns;  // by position in the sequence: cosines and sines of a head's pairs
    std::int64_t width;
    std::int64_t head;
    std::int64_t sequence;
    float direction;
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const {
        const std::int64_t token = 2 * i / width;
        const std::int64_t column = 2 * i % width;
        const float* const turn = turns + token % sequence * head + column % head;
        float* const pair = x + token * width + column;
        const float sine = direction * turn[1];
        const float a = pair[0];
        const float b = pair[1];
        pair[0] = a * turn[0] - b * sine;
        pair[1] = a * sine + b * turn[0];
    }
};
struct silu {
    const float* gate;
    const float* up;
    float* y;
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const {
        y[i] = gate[i] / (1.0F + expf(-gate[i])) * up[i];
    }
};
struct silu_back {
    const float* d;
    const float* gate;
    const float* up;
    float* d_gate;
    float* d_up;
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const {
        const float down = d[i];
        const float g = gate[i];
        const float sigmoid = 1.0F / (1.0F + expf(-g));
        d_up[i] = down * g * sigmoid;
        d_gate[i] = down * up[i] * sigmoid * (1.0F + g * (1.0F - sigmoid));
    }
};
struct adamw {
    const float* gradient;
    float* weights;
    float* first;
    float* second;
    STOWAGE_EXAMPLES_DEVICE void operator()(std::int64_t i) const {
        const float g = gradient[i];
        first[i] = 0.9F * first[i] + 0.1F * g;
        second[i] = 0.999F * second[i] + 0.001F * g * g;
        weights[i] -= 1e-3F * (first[i] / (sqrtf(second[i]) + 1e-8F) + 0.01F * weights[i]);
    }
};

// Bodies for one row: called with a group of threads and the row's number. `each(n, f)` calls f(i) for all
// i < n, and what was written is seen afterwards; `sum(n, f)` and `most(n, f)` give every thread the sum and
// the largest of f(i).

template <class Group>
STOWAGE_EXAMPLES_DEVICE float inverse_rms(const Group& group, const float* x, std::int64_t width) {
    const double squares = group.sum(
        width, [&](std::int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
    return static_cast<float>(1.0 / sqrt(squares / static_cast<double>(width) + 1e-5));
}

/// Row r of y is row `first + r * step` of x, normed.
struct norm {
    const float* x;
    const float* gain;
    float* y;
    std::int64_t width;
    std::int64_t first;
    std::int64_t step;
    template <class Group>
    STOWAGE_EXAMPLES_DEVICE void operator()(const Group& group, std::int64_t row) const {
        const float* const from = x + (first + row * step) * width;
        float* const to = y + row * width;
        const float scale = inverse_rms(group, from, width);
        group.each(width, [&](std::int64_t i) { to[i] = from[i] * scale * gain[i]; });
    }
};
/// The gradient of x through its norm, added to `to` unless it is null.
struct norm_back {
    const float* d;
    const float* x;
    const float* gain;
    const float* to;
    float* y;
    std::int64_t width;
    template <class Group>
    STOWAGE_EXAMPLES_DEVICE void operator()(const Group& group, std::int64_t row) const {
        const std::int64_t at = row * width;
        const float scale = inverse_rms(group, x + at, width);
        const double dot = group.sum(width, [&](std::int64_t i) {
            return static_cast<double>(d[at + i] * gain[i]) * static_cast<double>(x[at + i]);
        });
        const auto shift = static_cast<float>(dot * static_cast<double>(scale) * static_cast<double>(scale) /
                                              static_cast<double>(width));
        group.each(width, [&](std::int64_t i) {
            const float own = scale * (d[at + i] * gain[i] - x[at + i] * shift);
            y[at + i] = to != nullptr ? to[at + i] + own : own;
        });
    }
};
/// Row h * rows + r: the weights of query `first + r` of head h, over the tokens up to it.
struct softmax {
    float* scores;
    float* log_sums;  // null: not wanted
    std::int64_t rows;
    std::int64_t first;
    std::int64_t sequence;
    template <class Group>
    STOWAGE_EXAMPLES_DEVICE void operator()(const Group& group, std::int64_t row) const {
        const std::int64_t length = first + rows;
        const std::int64_t seen = first + row % rows + 1;
        float* const values = scores + row * length;
        const float most = group.most(seen, [&](std::int64_t i) { return values[i]; });
        group.each(length, [&](std::int64_t i) { values[i] = i < seen ? expf(values[i] - most) : 0.0F; });
        const double total = group.sum(seen, [&](std::int64_t i) { return static_cast<double>(values[i]); });
        group.each(seen, [&](std::int64_t i) {
            values[i] = static_cast<float>(static_cast<double>(values[i]) / total);
        });
        if (log_sums == nullptr) return;
        group.each(1, [&](std::int64_t) {
            log_sums[row / rows * sequence + first + row % rows] = most + static_cast<float>(log(total));
        });
    }
};
/// In place of the gradients of one row of weights: those of its scores.
struct softmax_back {
    const float* weights;
    float* d;
    std::int64_t length;
    template <class Group>
    STOWAGE_EXAMPLES_DEVICE void operator()(const Group& group, std::int64_t row) const {
        const float* const w = weights + row * length;
        float* const values = d + row * length;
        const double dot = group.sum(length, [&](std::int64_t i) {
            return static_cast<double>(values[i]) * static_cast<double>(w[i]);
        });
        group.each(length, [&](std::int64_t i) { values[i] = w[i] * (values[i] - static_cast<float>(dot)); });
    }
};
/// Cross entropy of one token; leaves its part of the mean's gradient in place of the logits.
struct token_loss {
    float* logits;
    const std::int64_t* targets;
    double* losses;
    std::int64_t width;
    std::int64_t tokens;
    template <class Group>
    STOWAGE_EXAMPLES_DEVICE void operator()(const Group& group, std::int64_t token) const {
        float* const row = logits + token * width;
        const std::int64_t target = targets[token];
        const float most = group.most(width, [&](std::int64_t i) { return row[i]; });
        const double total =
            group.sum(width, [&](std::int64_t i) { return exp(static_cast<double>(row[i] - most)); });
        group.each(
            1, [&](std::int64_t) { losses[token] = log(total) + static_cast<double>(most - row[target]); });
        group.each(width, [&](std::int64_t i) {
            const double p = exp(static_cast<double>(row[i] - most)) / total - (i == target ? 1.0 : 0.0);
            row[i] = static_cast<float>(p / static_cast<double>(tokens));
        });
    }
};
struct mean {
    const double* values;
    float* y;
    std::int64_t count;
    template <class Group>
    STOWAGE_EXAMPLES_DEVICE void operator()(const Group& group, std::int64_t) const {
        const double total = group.sum(count, [&](std::int64_t i) { return values[i]; });
        group.each(1, [&](std::int64_t) { *y = static_cast<float>(total / static_cast<double>(count)); });
    }
};

}  // namespace examples::math
