// Runs MODeL, in both forms, on captured programs and adds its answers to a file that bench_paper_results
// reads. What the file holds for a program, form and limit is not run again. Example:
// bench_paper_model --seconds 60 --output docs/paper-results-model.csv alexnet-b1 vgg16-b1

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <stowage/io/access_list.hpp>

#include "model_run.hpp"
#include "today.hpp"

int main(int argc, char** argv) {
    using namespace stowage;
    CLI::App app{"Runs MODeL on captured programs and keeps its answers in a file."};
    std::vector<std::string> programs;
    std::vector<std::string> forms = {"model-ss", "model-ms"};
    std::string output;
    double limit = 60;
    std::size_t entries = bench::default_model_entries;
    app.add_option("programs", programs, "names in examples/data, e.g. alexnet-b1")->required();
    app.add_option("--forms", forms, "model-ss, model-ms or both")
        ->check(CLI::IsMember({"model-ss", "model-ms"}))
        ->delimiter(',');
    app.add_option("--output", output, "the file of answers; made if it is not there")->required();
    app.add_option("--seconds", limit, "limit of each integer program")->capture_default_str();
    app.add_option("--entries", entries, "larger integer programs are not posed")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        for (const std::string& program : programs) {
            const io::access_list read =
                io::read_access_list(STOWAGE_EXAMPLE_DATA "/" + program + ".json.gz");
            for (const std::string& form : forms) {
                const std::vector<bench::model_answer> known = bench::read_model_answers(output);
                if (bench::find_answer(known, program, form, limit) != nullptr) continue;
                const bench::model_answer answer =
                    bench::run_model(program, read.graph, form, limit, entries,
                                     plan_program::pytorch_alignment, bench::today());
                std::ofstream file(output, std::ios::app);
                if (known.empty()) file << bench::model_columns << "\n";
                file << bench::line_of(answer) << std::endl;
                std::cerr << bench::line_of(answer) << std::endl;
            }
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
