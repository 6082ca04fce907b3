// A host application that owns its loop, its memory and its threads, and uses stowage for two things: to plan
// a step that does not fit its accelerator's memory, and to run it. Between two looks at the step it goes on
// with its own work; a second, smaller step runs in the same loop on memory of its own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>

namespace {

using namespace stowage;

constexpr std::int64_t values = 65'536;                 // in a vector
constexpr std::int64_t bytes = values * sizeof(float);  // of a vector

/// The application's own program: y = f(...f(f(x, w0), w1)..., w_n) and the sum of all on the way, so that
/// every vector between is needed again at the end.
[[nodiscard]] program make_step(std::size_t depth) {
    program step;
    std::vector<buffer_id> kept = {
        step.add_buffer({.bytes = bytes, .kind = buffer_kind::input, .name = "x"})};
    for (std::size_t i = 0; i < depth; ++i) {
        const buffer_id w = step.add_buffer(
            {.bytes = bytes, .kind = buffer_kind::parameter, .name = "w" + std::to_string(i)});
        const buffer_id next = step.add_buffer({.bytes = bytes, .name = "h" + std::to_string(i)});
        step.add_operator({.name = "scale", .reads = {kept.back(), w}, .writes = {next}});
        kept.push_back(next);
    }
    buffer_id sum = kept.back();
    for (std::size_t i = kept.size() - 1; i-- > 0;) {
        const bool last = i == 0;
        const buffer_id next =
            step.add_buffer({.bytes = bytes,
                             .kind = last ? buffer_kind::output : buffer_kind::intermediate,
                             .name = last ? "y" : ""});
        step.add_operator({.name = "add", .reads = {sum, kept[i]}, .writes = {next}});
        sum = next;
    }
    return step;
}

/// One kernel for all operators of such a step.
struct step_kernels {
    const tensor_graph* graph;
    void operator()(const exec::kernel_call<exec::lane_index>& call) const {
        const auto a = call.input<float>(0);
        const auto b = call.input<float>(1);
        const auto y = call.output<float>(0);
        const bool adds = graph->operator_name(call.op) == "add";
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] = adds ? a[i] + b[i] : a[i] * b[i];
    }
};

/// A step that is planned and can be run, in memory that the application gives.
class planned_step {
public:
    planned_step(std::size_t depth, std::int64_t capacity, std::span<std::byte> accelerator)
        : graph_(make_tensor_graph(make_step(depth))), made_(compile(capacity)),
          device_({.arenas = {accelerator}}),
          executor_(graph_, made_.memgraph, step_kernels{&graph_}, device_) {}

    [[nodiscard]] const turnip::compiled& made() const { return made_; }
    [[nodiscard]] auto& executor() { return executor_; }

    /// Weights are given once, by copy; the input is bound to the application's own vector, and never copied
    /// before the step asks for it.
    void give(const std::vector<float>& x) {
        std::vector<float> w(static_cast<std::size_t>(values));
        for (buffer_index b = 0; b < graph_.buffer_count(); ++b) {
            if (graph_.kind(b) == buffer_kind::input) executor_.bind(b, std::as_bytes(std::span(x)));
            if (graph_.kind(b) != buffer_kind::parameter) continue;
            std::fill(w.begin(), w.end(), 1.0F + 1.0F / static_cast<float>(b));
            executor_.write(b, std::as_bytes(std::span(w)));
        }
    }
    [[nodiscard]] double result() {
        std::vector<float> y(static_cast<std::size_t>(values));
        for (buffer_index b = 0; b < graph_.buffer_count(); ++b) {
            if (graph_.kind(b) == buffer_kind::output)
                executor_.read(b, std::as_writable_bytes(std::span(y)));
        }
        return std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(values);
    }

private:
    [[nodiscard]] turnip::compiled compile(std::int64_t capacity) const {
        const turnip::taskgraph tasks = turnip::make_taskgraph(graph_);
        turnip::compiled made =
            turnip::compile(tasks, {.devices = {{.capacity = capacity}}, .alignment = 64});
        if (!made.ok()) throw error("the step does not fit: " + made.reason);
        return made;
    }
    tensor_graph graph_;
    turnip::compiled made_;
    exec::host_device device_;
    exec::executor<step_kernels, exec::host_device> executor_;
};

}  // namespace

int main() {
    try {
        // The application's accelerator memory: one block, which it parts among its two steps as it likes.
        std::vector<std::byte> memory(static_cast<std::size_t>(10 * bytes) + 64);
        const std::size_t skip = (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
        const std::span<std::byte> block =
            std::span(memory).subspan(skip, static_cast<std::size_t>(10 * bytes));
        planned_step large(16, 6 * bytes, block.first(static_cast<std::size_t>(6 * bytes)));
        planned_step small(4, 4 * bytes, block.last(static_cast<std::size_t>(4 * bytes)));
        std::cout << "the large step needs 17 vectors at once, has 6 and moves "
                  << large.made().bytes_moved / bytes << " vectors\n";

        std::vector<float> x(static_cast<std::size_t>(values), 1.0F);
        large.give(x);
        small.give(x);
        double first = 0;
        for (int round = 0; round < 3; ++round) {
            std::fill(x.begin(), x.end(), static_cast<float>(round + 1));  // a new input, where it was bound
            large.executor().start();
            small.executor().start();
            bool large_runs = true;
            bool small_runs = true;
            while (large_runs || small_runs) {  // the application's own loop
                if (large_runs) large_runs = !large.executor().poll();
                if (small_runs) small_runs = !small.executor().poll();
                // ... here the application looks at its sockets and draws its windows ...
                if (large_runs) large.executor().wait();
            }
            if (!large.executor().report() || !small.executor().report()) throw error("a step failed");
            const double y = large.result();
            if (round == 0) first = y;
            std::cout << "input " << round + 1 << ": large " << y / first << " times the first result, small "
                      << small.result() << "\n";
        }
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "host_app: " << e.what() << "\n";
        return 1;
    }
}
