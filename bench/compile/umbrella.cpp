// What it costs to include each umbrella header: seconds of `g++ -O0 -fsyntax-only` (the compiler of $CXX,
// else g++) and preprocessed lines, beside a file that includes nothing. Run from anywhere; compiles in a
// temporary folder.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

/// A source that includes one header, removed at the end.
class lone_include {
public:
    explicit lone_include(const std::string& header)
        : path_(std::filesystem::temp_directory_path() /
                ("stowage-include-" + std::to_string(::getpid()) + ".cpp")) {
        std::ofstream file(path_);
        if (!header.empty()) file << "#include <stowage/" << header << ">\n";
    }
    lone_include(const lone_include&) = delete;
    lone_include& operator=(const lone_include&) = delete;
    ~lone_include() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    [[nodiscard]] std::string command(const std::string& options) const {
        const char* compiler = std::getenv("CXX");
        return std::string(compiler == nullptr ? "g++" : compiler) + " -std=c++20 -O0 " + options +
               " -I" STOWAGE_INCLUDE " " + path_.string();
    }
    [[nodiscard]] double preprocessed_lines() const {
        std::FILE* pipe = ::popen(command("-E").c_str(), "r");
        double lines = 0;
        for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;)
            lines += c == '\n' ? 1 : 0;
        if (pipe != nullptr) ::pclose(pipe);
        return lines;
    }

private:
    std::filesystem::path path_;
};

void include(benchmark::State& state, const std::string& header) {
    const lone_include source(header);
    for (auto _ : state) {
        if (std::system(source.command("-fsyntax-only").c_str()) != 0) {
            state.SkipWithError("it does not compile");
            return;
        }
    }
    state.counters["preprocessed_lines"] = source.preprocessed_lines();
}

}  // namespace

BENCHMARK_CAPTURE(include, nothing, "")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, core, "stowage.hpp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, graph, "graph.hpp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, order, "order.hpp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, layout, "layout.hpp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, roam, "roam.hpp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, verify, "verify.hpp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, io, "io.hpp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(include, boost_graph, "interop/boost_graph.hpp")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
