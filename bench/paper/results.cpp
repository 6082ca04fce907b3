// Reprints the results of the ROAM paper on the captured programs, the paper's figure beside ours: writes
// docs/paper-results.md and its plots. MODeL's answers, which take hours, come from a file where it has them:
// bench_paper_results --output docs --model-results docs/paper-results-model.csv

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <stowage/io/atomic_file.hpp>

#include "measure.hpp"
#include "plot.hpp"
#include "tables.hpp"
#include "today.hpp"

namespace {

using namespace stowage;

const std::vector<std::string> instances = {
    "alexnet-b1",     "alexnet-b32",     "vgg16-b1",         "vgg16-b32",          "mnasnet1_0-b1",
    "mnasnet1_0-b32", "mobilenet_v2-b1", "mobilenet_v2-b32", "efficientnet_b0-b1", "efficientnet_b0-b32",
    "vit_b_16-b1",    "vit_b_16-b32",    "bert-b1",          "bert-b32",           "gpt2-xl-b1",
    "gpt2-xl-b2",     "gpt2-xl-b4"};
const std::vector<std::string> beside = {"resnet50-b1", "resnet50-b32", "resnet50-b32-donated"};

std::string machine() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown processor";
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Reprints the results of the ROAM paper on the captured programs."};
    bench::settings how;
    std::string output = ".";
    std::string note;
    std::string models;
    std::vector<std::string> only;
    app.add_option("--output", output, "folder for paper-results.md and its plots")->capture_default_str();
    app.add_option("--runs", how.runs, "timed runs of each planner")->capture_default_str();
    app.add_option("--model-seconds", how.model_seconds, "limit of each of MODeL's integer programs")
        ->capture_default_str();
    app.add_option("--model-entries", how.model_entries, "larger ones of them are not posed")
        ->capture_default_str();
    app.add_option("--model-results", models,
                   "file of MODeL's answers (bench_paper_model); those that it lacks are run");
    app.add_option("--only", only, "these programs alone, e.g. alexnet-b1")->delimiter(',');
    app.add_option("--note", note, "a sentence about the machine for the page");
    CLI11_PARSE(app, argc, argv);
    try {
        how.known_models = bench::read_model_answers(models);
        how.date = bench::today();
        const auto all_of = [&](const std::vector<std::string>& names) {
            std::vector<bench::measured> list;
            for (const std::string& name : names) {
                if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
                std::cerr << name << std::endl;
                list.push_back(bench::measure(STOWAGE_EXAMPLE_DATA "/" + name + ".json.gz", how));
            }
            return list;
        };
        const bench::page page{.all = all_of(instances), .beside = all_of(beside), .how = how};
        const std::filesystem::path folder(output);
        const std::string where = machine() + ", " + std::to_string(std::thread::hardware_concurrency()) +
                                  " threads" + (note.empty() ? "" : "; " + note);
        io::write_file(folder / "paper-results.md", page.text(how.date, where));
        io::write_file(folder / "paper-results-saved.svg", page.saved_plot());
        io::write_file(folder / "paper-results-time.svg", page.time_plot());
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
