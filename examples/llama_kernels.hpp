#pragma once
// The arithmetic of llama_programs.hpp on the host, in 32-bit floats: matrix products by OpenBLAS, the rest
// by plain loops. Every sum is taken in one fixed order, so that results are the same bit for bit wherever
// and whenever an operator runs.

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/exec/kernel.hpp>
#include <stowage/graph/tensor_graph.hpp>

#include "llama_operators.hpp"
#include "llama_programs.hpp"

namespace examples {

/// The kernels of one program. Copies share nothing; several threads may call one object.
class llama_kernels : private llama_operators<llama_kernels, stowage::exec::lane_index> {
public:
    using typename llama_operators::call_type;

    llama_kernels(const stowage::tensor_graph& program, const llama_shape& shape, const llama_run& run)
        : llama_operators(program, shape, run), turns_(rotations(run.sequence, head_)) {
        openblas_set_num_threads(1);
    }
    void operator()(const call_type& call) const { run_operator(call); }

    /// The contents of buffer `b` at the start: tokens, or weights by chance.
    static void fill(const stowage::tensor_graph& program, stowage::buffer_index b, std::uint64_t seed,
                     const llama_shape& shape, std::span<std::byte> to) {
        stowage::detail::splitmix64 random(seed * 1'000'003 + b);
        if (program.kind(b) == stowage::buffer_kind::input) {
            auto* const ids = reinterpret_cast<std::int64_t*>(to.data());
            for (std::size_t i = 0; i < to.size() / 8; ++i)
                ids[i] =
                    static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.vocabulary)));
            return;
        }
        const std::string_view name = program.buffer_name(b);
        const bool is_gain = name.find("norm") != std::string_view::npos;
        const bool is_state = program.kind(b) == stowage::buffer_kind::optimizer_state;
        const float scale = 1.0F / std::sqrt(static_cast<float>(shape.hidden));
        auto* const values = reinterpret_cast<float*>(to.data());
        for (std::size_t i = 0; i < to.size() / 4; ++i) {
            const auto drawn = static_cast<float>(2.0 * random.uniform() - 1.0);
            values[i] = is_state ? 0.0F : is_gain ? 1.0F + 0.1F * drawn : scale * drawn;
        }
    }

private:
    friend llama_operators;

    /// c (m x n) = a (m x k) b (k x n) + beta c; `lda`, `ldb`, `ldc` are lengths of rows.
    static void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                     float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                     float beta, float* c, std::int64_t ldc) {
        cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                    transpose_b ? CblasTrans : CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
                    static_cast<int>(k), alpha, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c,
                    static_cast<int>(ldc));
    }

    void embed(const call_type& call) const {
        const auto ids = call.input<std::int64_t>(0);
        const std::int64_t width = columns(call.writes[0]);
        for (std::int64_t t = 0; t < tokens_; ++t)
            std::copy_n(in(call, 1) + ids[static_cast<std::size_t>(t)] * width, width,
                        out(call, 0) + t * width);
    }
    /// Slices side by side; with a last operand of the whole width: added to that.
    void join(const call_type& call) const {
        const std::int64_t h = shape_.hidden;
        std::size_t slices = call.reads.size();
        const bool adds = columns(call.reads.back()) == h && (slices > 1);
        if (adds) --slices;
        std::int64_t at = 0;
        for (std::size_t s = 0; s < slices; ++s) {
            const std::int64_t width = columns(call.reads[s]);
            for (std::int64_t t = 0; t < tokens_; ++t) {
                for (std::int64_t i = 0; i < width; ++i) {
                    const float value = in(call, s)[t * width + i];
                    const std::int64_t place = t * h + at + i;
                    out(call, 0)[place] = adds ? in(call, slices)[place] + value : value;
                }
            }
            at += width;
        }
    }
    void sum(const call_type& call) const {
        const std::int64_t count = values(call.writes[0]);
        std::copy_n(in(call, 0), count, out(call, 0));
        for (std::size_t s = 1; s < call.reads.size(); ++s) {
            for (std::int64_t i = 0; i < count; ++i)
                out(call, 0)[i] += in(call, s)[i];
        }
    }
    [[nodiscard]] float inverse_rms(const float* x) const {
        double squares = 0;
        for (std::int64_t i = 0; i < shape_.hidden; ++i)
            squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        return static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(shape_.hidden) + 1e-5));
    }
    void norm_row(const float* x, const float* gain, float* y) const {
        const float scale = inverse_rms(x);
        for (std::int64_t i = 0; i < shape_.hidden; ++i)
            y[i] = x[i] * scale * gain[i];
    }
    void norm(const call_type& call) const {
        for (std::int64_t t = 0; t < tokens_; ++t)
            norm_row(in(call, 0) + t * shape_.hidden, in(call, 1), out(call, 0) + t * shape_.hidden);
    }
    void product(const call_type& call) const {
        const std::int64_t k = columns(call.reads[0]);
        const std::int64_t n = columns(call.writes[0]);
        gemm(false, false, tokens_, n, k, 1, in(call, 0), k, in(call, 1), n, 0, out(call, 0), n);
    }
    void add_product(const call_type& call) const {
        const std::int64_t k = columns(call.reads[1]);
        const std::int64_t n = columns(call.writes[0]);
        gemm(false, false, tokens_, n, k, 1, in(call, 1), k, in(call, 2), n, 1, out(call, 0), n);
    }
    /// The product in as many slices of columns as there are results; with a third operand added to that.
    void sliced_product(const call_type& call) const {
        const std::int64_t k = columns(call.reads[0]);
        const std::int64_t n = columns(call.writes[0]);
        const std::int64_t whole = n * static_cast<std::int64_t>(call.writes.size());
        const bool adds = call.reads.size() > 2;
        for (std::size_t s = 0; s < call.writes.size(); ++s) {
            if (adds) std::copy_n(in(call, 2), tokens_ * n, out(call, s));
            gemm(false, false, tokens_, n, k, 1, in(call, 0), k,
                 in(call, 1) + static_cast<std::int64_t>(s) * n, whole, adds ? 1 : 0, out(call, s), n);
        }
    }
    void rotate(float* x, std::int64_t width, float direction) const {
        for (std::int64_t t = 0; t < tokens_; ++t) {
            const float* const turns = turns_.data() + (t % run_.sequence) * head_;
            for (std::int64_t i = 0; i < width; i += 2) {
                const float cosine = turns[i % head_];
                const float sine = direction * turns[i % head_ + 1];
                float* const pair = x + t * width + i;
                const float a = pair[0];
                const float b = pair[1];
                pair[0] = a * cosine - b * sine;
                pair[1] = a * sine + b * cosine;
            }
        }
    }
    void rope(const call_type& call) const {
        rotate(out(call, 0), columns(call.writes[0]), 1);
        rotate(out(call, 1), columns(call.writes[1]), 1);
    }
    void rope_back(const call_type& call) const {
        rotate(out(call, 0), columns(call.writes[0]), -1);
        rotate(out(call, 1), columns(call.writes[1]), -1);
    }
    /// The weights of `rows` queries from `first` on, of one head, over the tokens up to each: rows of length
    /// first + rows in `scores`. Returns log-sums in `lse`.
    void attention_rows(const float* q, const float* k, std::int64_t width, std::int64_t first,
                        std::int64_t rows, float* scores, float* lse) const {
        const std::int64_t length = first + rows;
        const float scale = 1.0F / std::sqrt(static_cast<float>(head_));
        gemm(false, true, rows, length, head_, scale, q + first * width, width, k, width, 0, scores, length);
        for (std::int64_t r = 0; r < rows; ++r) {
            float* const row = scores + r * length;
            const std::int64_t seen = first + r + 1;
            const float most = *std::max_element(row, row + seen);
            double total = 0;
            for (std::int64_t i = 0; i < seen; ++i) {
                row[i] = std::exp(row[i] - most);
                total += static_cast<double>(row[i]);
            }
            for (std::int64_t i = 0; i < seen; ++i)
                row[i] = static_cast<float>(static_cast<double>(row[i]) / total);
            std::fill(row + seen, row + length, 0.0F);
            lse[r] = most + static_cast<float>(std::log(total));
        }
    }
    /// Calls `body(sequence's first token, column of the head, head's number)` for each sequence and head.
    template <class Body>
    void each_head(std::int64_t width, const Body& body) const {
        std::int64_t number = 0;
        for (std::int64_t s = 0; s < run_.batch; ++s) {
            for (std::int64_t column = 0; column < width; column += head_)
                body(s * run_.sequence * width + column, number++);
        }
    }
    static constexpr std::int64_t block = 64;  // queries at a time
    /// Scratch of the calling thread.
    [[nodiscard]] static float* scratch(std::size_t which, std::int64_t count) {
        static thread_local std::array<std::vector<float>, 4> memory;
        if (memory[which].size() < static_cast<std::size_t>(count))
            memory[which].resize(static_cast<std::size_t>(count));
        return memory[which].data();
    }
    void attention(const call_type& call) const {
        const std::int64_t width = columns(call.writes[0]);
        float* const scores = scratch(0, block * run_.sequence);
        float* const sums = scratch(1, run_.sequence);
        each_head(width, [&](std::int64_t at, std::int64_t number) {
            for (std::int64_t first = 0; first < run_.sequence; first += block) {
                const std::int64_t rows = std::min(block, run_.sequence - first);
                attention_rows(in(call, 0) + at, in(call, 1) + at, width, first, rows, scores, sums + first);
                gemm(false, false, rows, head_, first + rows, 1, scores, first + rows, in(call, 2) + at,
                     width, 0, out(call, 0) + at + first * width, width);
            }
            if (call.writes.size() > 1)
                std::copy_n(sums, run_.sequence, out(call, 1) + number * run_.sequence);
        });
    }
    void attention_back(const call_type& call) const {
        const std::int64_t width = columns(call.writes[0]);
        const float scale = 1.0F / std::sqrt(static_cast<float>(head_));
        float* const weights = scratch(0, block * run_.sequence);
        float* const d_weights = scratch(2, block * run_.sequence);
        float* const sums = scratch(1, run_.sequence);
        for (std::size_t i = 0; i < 3; ++i)
            std::fill_n(out(call, i), values(call.writes[i]), 0.0F);
        each_head(width, [&](std::int64_t at, std::int64_t) {
            for (std::int64_t first = 0; first < run_.sequence; first += block) {
                const std::int64_t rows = std::min(block, run_.sequence - first);
                const std::int64_t length = first + rows;
                const float* const d_o = in(call, 0) + at + first * width;
                attention_rows(in(call, 1) + at, in(call, 2) + at, width, first, rows, weights, sums);
                gemm(true, false, length, head_, rows, 1, weights, length, d_o, width, 1, out(call, 2) + at,
                     width);
                gemm(false, true, rows, length, head_, 1, d_o, width, in(call, 3) + at, width, 0, d_weights,
                     length);
                for (std::int64_t r = 0; r < rows; ++r) {
                    float* const d = d_weights + r * length;
                    const float* const w = weights + r * length;
                    double dot = 0;
                    for (std::int64_t i = 0; i < length; ++i)
                        dot += static_cast<double>(d[i]) * static_cast<double>(w[i]);
                    for (std::int64_t i = 0; i < length; ++i)
                        d[i] = w[i] * (d[i] - static_cast<float>(dot));
                }
                gemm(false, false, rows, head_, length, scale, d_weights, length, in(call, 2) + at, width, 1,
                     out(call, 0) + at + first * width, width);
                gemm(true, false, length, head_, rows, scale, d_weights, length,
                     in(call, 1) + at + first * width, width, 1, out(call, 1) + at, width);
            }
        });
    }
    void silu(const call_type& call) const {
        const std::int64_t count = values(call.writes[0]);
        for (std::int64_t i = 0; i < count; ++i) {
            const float gate = in(call, 0)[i];
            out(call, 0)[i] = gate / (1.0F + std::exp(-gate)) * in(call, 1)[i];
        }
    }
    void silu_back(const call_type& call) const {
        const std::int64_t count = values(call.writes[0]);
        for (std::int64_t i = 0; i < count; ++i) {
            const float d = in(call, 0)[i];
            const float gate = in(call, 1)[i];
            const float sigmoid = 1.0F / (1.0F + std::exp(-gate));
            out(call, 1)[i] = d * gate * sigmoid;
            out(call, 0)[i] = d * in(call, 2)[i] * sigmoid * (1.0F + gate * (1.0F - sigmoid));
        }
    }
    /// Of the last token of each sequence in a prefill, of every token in a training step.
    void logits(const call_type& call) const {
        if (call.reads.size() == 2) {
            product(call);
            return;
        }
        const std::int64_t h = shape_.hidden;
        const std::int64_t n = values(call.writes[0]) / run_.batch;
        float* const normed = scratch(0, h);
        for (std::int64_t s = 0; s < run_.batch; ++s) {
            norm_row(in(call, 0) + ((s + 1) * run_.sequence - 1) * h, in(call, 1), normed);
            gemm(false, false, 1, n, h, 1, normed, h, in(call, 2), n, 0, out(call, 0) + s * n, n);
        }
    }
    /// Mean cross entropy; leaves its gradient in place of the logits.
    void loss(const call_type& call) const {
        const std::int64_t n = columns(call.writes[0]);
        const auto targets = call.input<std::int64_t>(1);
        double total = 0;
        for (std::int64_t t = 0; t < tokens_; ++t) {
            float* const row = out(call, 0) + t * n;
            const std::int64_t target = targets[static_cast<std::size_t>(t)];
            const float most = *std::max_element(row, row + n);
            double sum = 0;
            for (std::int64_t i = 0; i < n; ++i)
                sum += std::exp(static_cast<double>(row[i] - most));
            total += std::log(sum) + static_cast<double>(most - row[target]);
            for (std::int64_t i = 0; i < n; ++i) {
                const double p =
                    std::exp(static_cast<double>(row[i] - most)) / sum - (i == target ? 1.0 : 0.0);
                row[i] = static_cast<float>(p / static_cast<double>(tokens_));
            }
        }
        out(call, 1)[0] = static_cast<float>(total / static_cast<double>(tokens_));
    }
    /// d_y w^T, added to the third operand if there is one.
    void back_product(const call_type& call) const {
        const std::int64_t k = columns(call.reads[0]);
        const std::int64_t n = columns(call.writes[0]);
        const bool adds = call.reads.size() > 2;
        gemm(false, true, tokens_, n, k, 1, in(call, 0), k, in(call, 1), k, adds ? 1 : 0, out(call, 0), n);
    }
    void back_adapters(const call_type& call) const {
        const std::int64_t r = run_.rank;
        const std::int64_t n = columns(call.writes[0]);
        gemm(false, true, tokens_, n, r, 1, in(call, 0), r, in(call, 1), r, 1, out(call, 0), n);
        gemm(false, true, tokens_, n, r, 1, in(call, 2), r, in(call, 3), r, 1, out(call, 0), n);
    }
    /// a^T d over all tokens.
    void outer(const call_type& call) const {
        const std::int64_t m = columns(call.reads[0]);
        const std::int64_t n = columns(call.reads[1]);
        gemm(true, false, m, n, tokens_, 1, in(call, 0), m, in(call, 1), n, 0, out(call, 0), n);
    }
    /// The gradient of x through its norm; with a fourth operand added to that.
    void norm_back(const call_type& call) const {
        const std::int64_t h = shape_.hidden;
        for (std::int64_t t = 0; t < tokens_; ++t) {
            const float* const d = in(call, 0) + t * h;
            const float* const x = in(call, 1) + t * h;
            const float* const gain = in(call, 2);
            const float scale = inverse_rms(x);
            double dot = 0;
            for (std::int64_t i = 0; i < h; ++i)
                dot += static_cast<double>(d[i] * gain[i]) * static_cast<double>(x[i]);
            const auto shift = static_cast<float>(dot * static_cast<double>(scale) *
                                                  static_cast<double>(scale) / static_cast<double>(h));
            for (std::int64_t i = 0; i < h; ++i) {
                const float own = scale * (d[i] * gain[i] - x[i] * shift);
                out(call, 0)[t * h + i] = call.reads.size() > 3 ? in(call, 3)[t * h + i] + own : own;
            }
        }
    }
    void adamw(const call_type& call) const {
        constexpr float rate = 1e-3F;
        const std::int64_t count = values(call.writes[0]);
        for (std::int64_t i = 0; i < count; ++i) {
            const float g = in(call, 0)[i];
            float& w = out(call, 0)[i];
            float& m = out(call, 1)[i];
            float& v = out(call, 2)[i];
            m = 0.9F * m + 0.1F * g;
            v = 0.999F * v + 0.001F * g * g;
            w -= rate * (m / (std::sqrt(v) + 1e-8F) + 0.01F * w);
        }
    }

    std::vector<float> turns_;  // by position in the sequence: cosines and sines of a head's pairs
};

}  // namespace examples
