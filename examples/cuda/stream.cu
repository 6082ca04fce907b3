// A step on a CUDA device, in memory and with half of it: the same bits, and how long each takes. The
// arithmetic is small on purpose; what is shown is copies beside kernels. Exit status 0: done; 1: something
// is wrong; 3: there is no CUDA device here. Example: cuda_stream 32

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/exec/cuda.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>

namespace {

using namespace stowage;

constexpr std::int64_t values = 1 << 22;
constexpr std::int64_t bytes = values * static_cast<std::int64_t>(sizeof(float));

/// y = x w, many times over, so that a kernel takes about as long as a copy.
__global__ void scale(const float* x, const float* w, float* y, std::int64_t count, int rounds) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float value = x[i];
    for (int r = 0; r < rounds; ++r)
        value = value * w[i] + 0.25F;
    y[i] = value;
}
__global__ void add(const float* x, const float* w, float* y, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[i] + w[i];
}

[[nodiscard]] stowage::program make_step(int depth) {
    stowage::program step;
    std::vector<buffer_id> kept = {
        step.add_buffer({.bytes = bytes, .kind = buffer_kind::input, .name = "x"})};
    for (int i = 0; i < depth; ++i) {
        const buffer_id w = step.add_buffer({.bytes = bytes, .kind = buffer_kind::parameter});
        const buffer_id next = step.add_buffer({.bytes = bytes});
        step.add_operator(
            {.name = "scale", .reads = {kept.back(), w}, .writes = {next}, .flops = 2e3 * values});
        kept.push_back(next);
    }
    buffer_id sum = kept.back();
    for (std::size_t i = kept.size() - 1; i-- > 0;) {
        const auto kind = i == 0 ? buffer_kind::output : buffer_kind::intermediate;
        const buffer_id next = step.add_buffer({.bytes = bytes, .kind = kind});
        step.add_operator({.name = "add", .reads = {sum, kept[i]}, .writes = {next}});
        sum = next;
    }
    return step;
}

struct kernels {
    const tensor_graph* graph;
    void operator()(const exec::kernel_call<cudaStream_t>& call) const {
        const auto x = call.input<float>(0);
        const auto w = call.input<float>(1);
        const auto y = call.output<float>(0);
        const auto blocks = static_cast<unsigned>((values + 255) / 256);
        if (graph->operator_name(call.op) == "add")
            add<<<blocks, 256, 0, call.handle>>>(x.data(), w.data(), y.data(), values);
        else
            scale<<<blocks, 256, 0, call.handle>>>(x.data(), w.data(), y.data(), values, 1000);
    }
};

/// Runs the memgraph some times; the output's values, and the fastest time.
std::vector<float> run(const tensor_graph& graph, const turnip::memgraph& made, double& seconds) {
    exec::cuda_device device(0);
    exec::executor<kernels, exec::cuda_device> executor(graph, made, kernels{&graph}, device,
                                                        {.priority = exec::need{}, .window = 4});
    std::vector<float> contents(static_cast<std::size_t>(values));
    for (const turnip::residence& r : made.start) {
        for (std::size_t i = 0; i < contents.size(); ++i)
            contents[i] = 0.5F + static_cast<float>((i * 31 + r.buffer) % 97) / 200.0F;
        executor.write(r.buffer, std::as_bytes(std::span<const float>(contents)));
    }
    seconds = 1e30;
    for (int i = 0; i < 5; ++i) {
        const exec::run_report& report = executor.run();
        if (!report) throw error(report.error ? report.error->text() : std::string(to_string(report.status)));
        seconds = std::min(seconds, std::chrono::duration<double>(report.makespan).count());
    }
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (graph.kind(b) == buffer_kind::output)
            executor.read(b, std::as_writable_bytes(std::span<float>(contents)));
    }
    return contents;
}

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0) {
        std::printf("no CUDA device here: %s\n", cudaGetErrorString(code));
        return 3;
    }
    try {
        const tensor_graph graph =
            make_tensor_graph(make_step(argc > 1 ? std::max(1, std::atoi(argv[1])) : 16));
        const turnip::taskgraph tasks = turnip::make_taskgraph(graph, {.start = turnip::start_rule::steady});
        const auto compile = [&](std::int64_t capacity) {
            turnip::compile_options options;
            options.devices = {{capacity}};
            options.goal = turnip::goal::time;
            options.alignment = 256;
            turnip::compiled made = turnip::compile(tasks, options);
            if (!made.ok()) throw error(made.reason);
            return made;
        };
        const turnip::compiled whole = compile(std::numeric_limits<std::int64_t>::max() / 4);
        const turnip::compiled half = compile(whole.memgraph.arena_bytes[0] / 2);
        double in_memory = 0;
        double in_half = 0;
        const std::vector<float> expected = run(graph, whole.memgraph, in_memory);
        const std::vector<float> got = run(graph, half.memgraph, in_half);
        const bool same = std::equal(expected.begin(), expected.end(), got.begin());
        std::printf("%lld MB: %.2f ms; half of it, %lld MB moved: %.2f ms, %s\n",
                    static_cast<long long>(whole.memgraph.arena_bytes[0] / 1'000'000), in_memory * 1e3,
                    static_cast<long long>(half.bytes_moved / 1'000'000), in_half * 1e3,
                    same ? "the same bits" : "OTHER RESULTS");
        return same ? 0 : 1;
    } catch (const std::exception& e) {
        std::printf("cuda_stream: %s\n", e.what());
        return 1;
    }
}
