#pragma once
// LLaMA as tensor programs, by formula: the first-token pass (prefill), split over devices by tensor
// parallelism, and a LoRA training step with AdamW, split by layers. Sizes and flops are those of the
// published shapes in 16-bit values (or 32-bit ones); attention is one fused kernel (its scores are never
// stored).

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/graph.hpp>

namespace examples {

/// The sizes of one model.
struct llama_shape {
    std::string name;
    std::int64_t layers = 32;
    std::int64_t hidden = 4096;
    std::int64_t heads = 32;
    std::int64_t ffn = 11'008;
    std::int64_t vocabulary = 32'000;
};

[[nodiscard]] inline llama_shape llama_7b() {
    return {"llama-7b"};
}
[[nodiscard]] inline llama_shape llama_13b() {
    return {"llama-13b", 40, 5120, 40, 13'824, 32'000};
}
[[nodiscard]] inline llama_shape llama_65b() {
    return {"llama-65b", 80, 8192, 64, 22'016, 32'000};
}

/// The kind of an operator by its name: "layer3.q.1" -> "q"; "join attention.0" -> "join"; "adamw aq" ->
/// "adamw".
[[nodiscard]] inline std::string operator_kind(std::string_view name) {
    if (name.starts_with("layer") || name.starts_with("head.")) name.remove_prefix(name.find('.') + 1);
    name = name.substr(0, name.find('.'));
    if (name == "d_n1 a") return std::string(name);
    return std::string(name.substr(0, name.find(' ')));
}

/// Cosines and sines by which the pairs of a head are turned, by position in the sequence.
[[nodiscard]] inline std::vector<float> rotations(std::int64_t sequence, std::int64_t head) {
    std::vector<float> turns;
    for (std::int64_t t = 0; t < sequence; ++t) {
        for (std::int64_t i = 0; i < head; i += 2) {
            const double angle = static_cast<double>(t) *
                                 std::pow(10'000.0, -static_cast<double>(i) / static_cast<double>(head));
            turns.push_back(static_cast<float>(std::cos(angle)));
            turns.push_back(static_cast<float>(std::sin(angle)));
        }
    }
    return turns;
}

/// What is run.
struct llama_run {
    std::int64_t sequence = 2048;  ///< tokens of each sequence
    std::int64_t batch = 1;        ///< sequences
    std::int64_t streams = 1;      ///< of a prefill: groups of sequences that depend on none of each other
    std::int64_t devices = 1;      ///< must divide heads and ffn in a prefill
    std::int64_t rank = 32;        ///< of LoRA's matrices
    std::int64_t value_bytes = 2;  ///< of a weight or activation: 2, or 4 where it is computed
    std::int64_t scratch = 0;      ///< bytes that a product, and once more attention, may use on a device; 0
                                   ///< where kernels have memory of their own
};

/// A program, and the layer of each of its operators, for streaming.
struct llama_program {
    stowage::program program;
    std::vector<std::uint32_t> layer;
};

/// Adds buffers and operators with the names and sizes of one model.
class llama_builder {
public:
    using id = stowage::buffer_id;
    llama_builder(const llama_shape& shape, const llama_run& run)
        : shape_(shape), run_(run), tokens_(run.batch / run.streams * run.sequence) {}

    [[nodiscard]] llama_program prefill() {
        const std::int64_t parts = run_.devices;
        std::vector<std::vector<id>> x(static_cast<std::size_t>(run_.streams),
                                       std::vector<id>(static_cast<std::size_t>(parts)));
        std::vector<id> tables;
        for (stream_ = 0; stream_ < run_.streams; ++stream_) {
            const id ids = add(tokens_ * 8, stowage::buffer_kind::input, value_name("tokens"));
            std::vector<id> slices;
            for (std::int64_t d = 0; d < parts; ++d) {
                on(d);
                if (stream_ == 0)
                    tables.push_back(weight("embedding", shape_.vocabulary, shape_.hidden / parts, d));
                slices.push_back(value("embedded", shape_.hidden / parts, d));
                op("embed", d, {ids, at(tables, d)}, {slices.back()}, 0);
            }
            if (parts == 1)
                x_of_stream(x) = slices;
            else
                join("embedded", slices, {}, x_of_stream(x));
        }
        for (layer_ = 1; layer_ <= shape_.layers; ++layer_)
            prefill_layer(x);
        prefix_ = "head.";
        std::vector<id> heads;
        std::vector<id> gains;
        for (stream_ = 0; stream_ < run_.streams; ++stream_) {
            for (std::int64_t d = 0; d < parts; ++d) {
                on(d);
                if (stream_ == 0) {
                    heads.push_back(weight("lm_head", shape_.hidden, shape_.vocabulary / parts, d));
                    gains.push_back(weight("norm", 1, shape_.hidden, d));
                }
                const std::int64_t sequences = run_.batch / run_.streams;
                const id logits = add(sequences * (shape_.vocabulary / parts) * run_.value_bytes,
                                      stowage::buffer_kind::output, name("logits", d));
                op("logits", d, {at(x_of_stream(x), d), at(gains, d), at(heads, d)}, {logits},
                   2.0 * static_cast<double>(sequences * shape_.hidden) *
                       static_cast<double>(shape_.vocabulary / parts));
            }
        }
        return std::move(made_);
    }

    [[nodiscard]] llama_program lora_step() {
        const std::int64_t h = shape_.hidden;
        on(0);
        stage_ = stowage::stage::forward;
        const id ids = add(tokens_ * 8, stowage::buffer_kind::input, "tokens");
        const id table = weight("embedding", shape_.vocabulary, h, 0);
        id x = value("embedded", h, 0);
        op("embed", 0, {ids, table}, {x}, 0);
        std::vector<saved_layer> saved(static_cast<std::size_t>(shape_.layers));
        for (layer_ = 1; layer_ <= shape_.layers; ++layer_) {
            on((layer_ - 1) * run_.devices / shape_.layers);
            x = lora_forward(x, saved[static_cast<std::size_t>(layer_ - 1)]);
        }
        prefix_ = "head.";
        const id gain = weight("norm", 1, h, 0);
        const id lm_head = weight("lm_head", h, shape_.vocabulary, 0);
        const id targets = add(tokens_ * 8, stowage::buffer_kind::input, "targets");
        const id normed = value("normed", h, 0);
        const id logits = value("logits", shape_.vocabulary, 0);
        const id loss = add(4, stowage::buffer_kind::output, "loss");
        op("norm", 0, {x, gain}, {normed}, 0);
        op("logits", 0, {normed, lm_head}, {logits}, gemm(h, shape_.vocabulary));
        op("loss", 0, {logits, targets}, {logits, loss}, 0);
        stage_ = stowage::stage::backward;
        const id d_normed = value("d_normed", h, 0);
        id dx = value("d_x", h, 0);
        op("d_logits", 0, {logits, lm_head}, {d_normed}, gemm(shape_.vocabulary, h));
        op("d_norm", 0, {d_normed, x, gain}, {dx}, 0);
        for (std::int64_t l = shape_.layers; l >= 1; --l) {
            on((l - 1) * run_.devices / shape_.layers);
            layer_ = 2 * shape_.layers + 2 - l;
            dx = lora_backward(l, dx, saved[static_cast<std::size_t>(l - 1)]);
        }
        return std::move(made_);
    }

private:
    /// A matrix of LoRA with its optimizer state, 32-bit.
    struct adapter {
        id weights;
        id first_moment;
        id second_moment;
        std::int64_t values;
    };
    /// What the backward pass of a layer reads.
    struct saved_layer {
        id x, n1, q, k, v, qa, va, o, lse, x1, gate, up;
        id gain1, gain2, wq, wk, wv, wo, w1, w2, w3;
        adapter aq, bq, av, bv;
    };

    [[nodiscard]] id add(std::int64_t bytes, stowage::buffer_kind kind, std::string text) {
        return made_.program.add_buffer({.bytes = bytes, .kind = kind, .name = std::move(text)});
    }
    [[nodiscard]] static id at(const std::vector<id>& list, std::int64_t d) {
        return list[static_cast<std::size_t>(d)];
    }
    [[nodiscard]] std::vector<id>& x_of_stream(std::vector<std::vector<id>>& x) const {
        return x[static_cast<std::size_t>(stream_)];
    }
    [[nodiscard]] std::string value_name(const std::string& what) const {
        return what + (run_.streams > 1 ? ".s" + std::to_string(stream_) : "");
    }
    [[nodiscard]] std::string weight_name(const std::string& what, std::int64_t part) const {
        return prefix_ + what + (run_.devices > 1 ? "." + std::to_string(part) : "");
    }
    [[nodiscard]] std::string name(const std::string& what, std::int64_t part) const {
        return value_name(weight_name(what, part));
    }
    [[nodiscard]] id weight(const std::string& what, std::int64_t rows, std::int64_t columns,
                            std::int64_t part) {
        return add(rows * columns * run_.value_bytes, stowage::buffer_kind::parameter,
                   weight_name(what, part));
    }
    /// An activation of that width for every token.
    [[nodiscard]] id value(const std::string& what, std::int64_t width, std::int64_t part,
                           stowage::buffer_kind kind = stowage::buffer_kind::intermediate) {
        return add(tokens_ * width * run_.value_bytes, kind, name(what, part));
    }
    [[nodiscard]] double gemm(std::int64_t from, std::int64_t to) const {
        return 2.0 * static_cast<double>(tokens_) * static_cast<double>(from) * static_cast<double>(to);
    }
    /// Causal attention of that width: scores and weighted sums of half of all pairs of tokens.
    [[nodiscard]] double attention(std::int64_t width) const {
        return 2.0 * static_cast<double>(tokens_) * static_cast<double>(run_.sequence) *
               static_cast<double>(width);
    }
    /// First what cuBLAS may use, then the operator's own.
    [[nodiscard]] std::int64_t workspace(const std::string& what, double flops) const {
        if (run_.scratch == 0) return 0;
        if (what == "loss") return run_.scratch + tokens_ * 8;
        if (flops == 0 || what.starts_with("adamw")) return 0;
        if (what == "logits") return run_.scratch + run_.batch * shape_.hidden * 4;
        return run_.scratch * (what == "attention" || what == "d_attention" ? 2 : 1);
    }
    void on(std::int64_t device) { device_ = device; }
    void op(const std::string& what, std::int64_t part, std::vector<id> reads, std::vector<id> writes,
            double flops) {
        made_.program.add_operator({.name = name(what, part),
                                    .reads = std::move(reads),
                                    .writes = std::move(writes),
                                    .workspace = workspace(what, flops),
                                    .stage = stage_,
                                    .flops = flops,
                                    .device = static_cast<std::uint32_t>(device_)});
        made_.layer.push_back(static_cast<std::uint32_t>(layer_));
    }
    /// Every device gets the whole of a value that each has a slice of, added to what it has.
    void join(const std::string& what, const std::vector<id>& slices, const std::vector<id>& to_add,
              std::vector<id>& x) {
        std::vector<id> joined;
        for (std::int64_t d = 0; d < run_.devices; ++d) {
            on(d);
            std::vector<id> reads = slices;
            if (!to_add.empty()) reads.push_back(at(to_add, d));
            joined.push_back(value("x after " + what, shape_.hidden, d));
            op("join " + what, d, std::move(reads), {joined.back()}, 0);
        }
        x = std::move(joined);
    }
    /// Sums what every device has of the whole width: each sums one slice, in the order of devices, and all
    /// get all slices; with one device a plain sum.
    void reduce(const std::string& what, const std::vector<std::vector<id>>& partial, std::vector<id>& x) {
        std::vector<id> slices;
        for (std::int64_t d = 0; d < run_.devices; ++d) {
            if (run_.devices == 1) {
                slices = partial[0];
                break;
            }
            on(d);
            std::vector<id> reads;
            for (const std::vector<id>& of_device : partial)
                reads.push_back(at(of_device, d));
            slices.push_back(value(what + " sum", shape_.hidden / run_.devices, d));
            op("sum " + what, d, std::move(reads), {slices.back()}, 0);
        }
        join(what, slices, x, x);
    }

    void prefill_layer(std::vector<std::vector<id>>& x) {
        prefix_ = "layer" + std::to_string(layer_ - 1) + ".";
        const std::int64_t parts = run_.devices;
        const std::int64_t h = shape_.hidden;
        const std::int64_t width = h / parts;
        const std::int64_t ffn = shape_.ffn / parts;
        struct attention_weights {
            id gain, wq, wk, wv, wo;
        };
        struct mlp_weights {
            id gain, w1, w2, w3;
        };
        std::vector<attention_weights> of_attention;
        std::vector<mlp_weights> of_mlp;
        std::vector<std::vector<id>> partial;
        for (stream_ = 0; stream_ < run_.streams; ++stream_) {
            for (std::int64_t d = 0; d < parts; ++d) {
                on(d);
                if (stream_ == 0) {
                    const id gain = weight("norm1", 1, h, d);
                    const id wq = weight("wq", h, width, d);
                    const id wk = weight("wk", h, width, d);
                    const id wv = weight("wv", h, width, d);
                    of_attention.push_back({gain, wq, wk, wv, weight("wo", width, h, d)});
                }
                const attention_weights& w = of_attention[static_cast<std::size_t>(d)];
                const id n = value("n1", h, d);
                const id q = value("q", width, d);
                const id k = value("k", width, d, stowage::buffer_kind::output);
                const id v = value("v", width, d, stowage::buffer_kind::output);
                const id o = value("o", width, d);
                op("norm1", d, {at(x_of_stream(x), d), w.gain}, {n}, 0);
                op("q", d, {n, w.wq}, {q}, gemm(h, width));
                op("k", d, {n, w.wk}, {k}, gemm(h, width));
                op("v", d, {n, w.wv}, {v}, gemm(h, width));
                op("rope", d, {q, k}, {q, k}, 0);
                op("attention", d, {q, k, v}, {o}, attention(width));
                partial.push_back(projected("wo", o, w.wo, width, d));
            }
            reduce("attention", partial, x_of_stream(x));
            partial.clear();
        }
        for (stream_ = 0; stream_ < run_.streams; ++stream_) {
            for (std::int64_t d = 0; d < parts; ++d) {
                on(d);
                if (stream_ == 0) {
                    const id gain = weight("norm2", 1, h, d);
                    const id w1 = weight("w1", h, ffn, d);
                    const id w2 = weight("w2", ffn, h, d);
                    of_mlp.push_back({gain, w1, w2, weight("w3", h, ffn, d)});
                }
                const mlp_weights& w = of_mlp[static_cast<std::size_t>(d)];
                const id n = value("n2", h, d);
                const id gate = value("gate", ffn, d);
                const id up = value("up", ffn, d);
                op("norm2", d, {at(x_of_stream(x), d), w.gain}, {n}, 0);
                op("gate", d, {n, w.w1}, {gate}, gemm(h, ffn));
                op("up", d, {n, w.w3}, {up}, gemm(h, ffn));
                op("silu", d, {gate, up}, {gate}, 0);
                partial.push_back(projected("w2", gate, w.w2, ffn, d));
            }
            reduce("mlp", partial, x_of_stream(x));
            partial.clear();
        }
    }
    /// One device's share of a row-split product, in as many slices as there are devices.
    [[nodiscard]] std::vector<id> projected(const std::string& what, id in, id matrix, std::int64_t width,
                                            std::int64_t d) {
        std::vector<id> slices;
        for (std::int64_t k = 0; k < run_.devices; ++k) {
            slices.push_back(value(what + " part" + (run_.devices > 1 ? std::to_string(k) : ""),
                                   shape_.hidden / run_.devices, d));
        }
        op(what, d, {in, matrix}, slices, gemm(width, shape_.hidden));
        return slices;
    }

    [[nodiscard]] adapter make_adapter(const std::string& what, std::int64_t rows, std::int64_t columns) {
        const std::int64_t values = rows * columns;
        return {add(values * 4, stowage::buffer_kind::parameter, prefix_ + what),
                add(values * 4, stowage::buffer_kind::optimizer_state, prefix_ + what + ".m"),
                add(values * 4, stowage::buffer_kind::optimizer_state, prefix_ + what + ".v"), values};
    }
    [[nodiscard]] id lora_forward(id x, saved_layer& s) {
        prefix_ = "layer" + std::to_string(layer_ - 1) + ".";
        const std::int64_t h = shape_.hidden;
        const std::int64_t f = shape_.ffn;
        const std::int64_t r = run_.rank;
        s.x = x;
        s.gain1 = weight("norm1", 1, h, 0);
        s.wq = weight("wq", h, h, 0);
        s.wk = weight("wk", h, h, 0);
        s.wv = weight("wv", h, h, 0);
        s.wo = weight("wo", h, h, 0);
        s.gain2 = weight("norm2", 1, h, 0);
        s.w1 = weight("w1", h, f, 0);
        s.w2 = weight("w2", f, h, 0);
        s.w3 = weight("w3", h, f, 0);
        s.aq = make_adapter("aq", h, r);
        s.bq = make_adapter("bq", r, h);
        s.av = make_adapter("av", h, r);
        s.bv = make_adapter("bv", r, h);
        s.n1 = value("n1", h, 0);
        s.q = value("q", h, 0);
        s.k = value("k", h, 0);
        s.v = value("v", h, 0);
        s.qa = value("qa", r, 0);
        s.va = value("va", r, 0);
        s.o = value("o", h, 0);
        s.lse = add(run_.batch * shape_.heads * run_.sequence * 4, stowage::buffer_kind::intermediate,
                    prefix_ + "lse");
        s.x1 = value("x1", h, 0);
        s.gate = value("gate", f, 0);
        s.up = value("up", f, 0);
        const id n2 = value("n2", h, 0);
        const id act = value("act", f, 0);
        const id x2 = value("x2", h, 0);
        op("norm1", 0, {x, s.gain1}, {s.n1}, 0);
        op("q", 0, {s.n1, s.wq}, {s.q}, gemm(h, h));
        op("qa", 0, {s.n1, s.aq.weights}, {s.qa}, gemm(h, r));
        op("qb", 0, {s.q, s.qa, s.bq.weights}, {s.q}, gemm(r, h));
        op("k", 0, {s.n1, s.wk}, {s.k}, gemm(h, h));
        op("v", 0, {s.n1, s.wv}, {s.v}, gemm(h, h));
        op("va", 0, {s.n1, s.av.weights}, {s.va}, gemm(h, r));
        op("vb", 0, {s.v, s.va, s.bv.weights}, {s.v}, gemm(r, h));
        op("rope", 0, {s.q, s.k}, {s.q, s.k}, 0);
        op("attention", 0, {s.q, s.k, s.v}, {s.o, s.lse}, attention(h));
        op("wo", 0, {s.o, s.wo, x}, {s.x1}, gemm(h, h));
        op("norm2", 0, {s.x1, s.gain2}, {n2}, 0);
        op("gate", 0, {n2, s.w1}, {s.gate}, gemm(h, f));
        op("up", 0, {n2, s.w3}, {s.up}, gemm(h, f));
        op("silu", 0, {s.gate, s.up}, {act}, 0);
        op("w2", 0, {act, s.w2, s.x1}, {x2}, gemm(f, h));
        return x2;
    }
    void update(const std::string& what, const adapter& a, id gradient) {
        stage_ = stowage::stage::update;
        op("adamw " + what, 0, {gradient, a.weights, a.first_moment, a.second_moment},
           {a.weights, a.first_moment, a.second_moment}, 12.0 * static_cast<double>(a.values));
        stage_ = stowage::stage::backward;
    }
    /// Gradients of one adapted product y += (n a) b, and the updates of a and b.
    void adapter_backward(const std::string& what, id dy, id n, id na, id d_na, const adapter& a,
                          const adapter& b) {
        const id gradient_b = add(b.values * 4, stowage::buffer_kind::intermediate, prefix_ + "g_b" + what);
        const id gradient_a = add(a.values * 4, stowage::buffer_kind::intermediate, prefix_ + "g_a" + what);
        op("g_b" + what, 0, {na, dy}, {gradient_b}, gemm(run_.rank, shape_.hidden));
        op("g_a" + what, 0, {n, d_na}, {gradient_a}, gemm(shape_.hidden, run_.rank));
        update("b" + what, b, gradient_b);
        update("a" + what, a, gradient_a);
    }
    [[nodiscard]] id lora_backward(std::int64_t l, id dx, const saved_layer& s) {
        prefix_ = "layer" + std::to_string(l - 1) + ".";
        const std::int64_t h = shape_.hidden;
        const std::int64_t f = shape_.ffn;
        const id d_act = value("d_act", f, 0);
        const id d_up = value("d_up", f, 0);
        const id d_n2 = value("d_n2", h, 0);
        const id dx1 = value("d_x1", h, 0);
        op("d_act", 0, {dx, s.w2}, {d_act}, gemm(h, f));
        op("d_silu", 0, {d_act, s.gate, s.up}, {d_act, d_up}, 0);
        op("d_gate", 0, {d_act, s.w1}, {d_n2}, gemm(f, h));
        op("d_up", 0, {d_up, s.w3, d_n2}, {d_n2}, gemm(f, h));
        op("d_norm2", 0, {d_n2, s.x1, s.gain2, dx}, {dx1}, 0);
        const id d_o = value("d_o", h, 0);
        const id dq = value("d_q", h, 0);
        const id dk = value("d_k", h, 0);
        const id dv = value("d_v", h, 0);
        const id d_n1 = value("d_n1", h, 0);
        const id before = value("d_x", h, 0);
        op("d_wo", 0, {dx1, s.wo}, {d_o}, gemm(h, h));
        op("d_attention", 0, {d_o, s.q, s.k, s.v, s.o, s.lse}, {dq, dk, dv}, 2.5 * attention(h));
        op("d_rope", 0, {dq, dk}, {dq, dk}, 0);
        // The gradients of the input need the adapters as they were: they come before the updates.
        op("d_q", 0, {dq, s.wq}, {d_n1}, gemm(h, h));
        op("d_k", 0, {dk, s.wk, d_n1}, {d_n1}, gemm(h, h));
        op("d_v", 0, {dv, s.wv, d_n1}, {d_n1}, gemm(h, h));
        const id d_qa = value("d_qa", run_.rank, 0);
        const id d_va = value("d_va", run_.rank, 0);
        op("d_qa", 0, {dq, s.bq.weights}, {d_qa}, gemm(h, run_.rank));
        op("d_va", 0, {dv, s.bv.weights}, {d_va}, gemm(h, run_.rank));
        op("d_n1 a", 0, {d_qa, s.aq.weights, d_va, s.av.weights, d_n1}, {d_n1}, 2 * gemm(run_.rank, h));
        adapter_backward("q", dq, s.n1, s.qa, d_qa, s.aq, s.bq);
        adapter_backward("v", dv, s.n1, s.va, d_va, s.av, s.bv);
        op("d_norm1", 0, {d_n1, s.x, s.gain1, dx1}, {before}, 0);
        return before;
    }

    llama_shape shape_;
    llama_run run_;
    std::int64_t tokens_;
    std::int64_t layer_ = 0;
    std::int64_t device_ = 0;
    std::int64_t stream_ = 0;  // always 0 in a training step
    std::string prefix_;
    stowage::stage stage_ = stowage::stage::forward;
    llama_program made_;
};

/// The first-token pass: every layer's keys and values, and the logits of the last token, are outputs.
[[nodiscard]] inline llama_program llama_prefill(const llama_shape& shape, const llama_run& run) {
    return llama_builder(shape, run).prefill();
}

/// One training step of LoRA on the query and value matrices, with AdamW; layers are parted among devices.
[[nodiscard]] inline llama_program llama_lora_step(const llama_shape& shape, const llama_run& run) {
    return llama_builder(shape, run).lora_step();
}

}  // namespace examples
