#pragma once
// What the programs `plan`, `layout`, `memgraph` and `run_memgraph` share: numbers as people type them,
// output that arrives or is missed, and what becomes of errors.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/error.hpp>
#include <stowage/io.hpp>

#include "bytes.hpp"

namespace examples {

/// A number of bytes, with a suffix or without, that is not 0; replaced by its digits.
[[nodiscard]] inline CLI::Validator positive_bytes() {
    return {[](std::string& text) -> std::string {
                const auto bytes = parse_bytes(text);
                if (!bytes || *bytes == 0) return "`" + text + "` is no number of bytes from 1 to 2^63 - 1";
                text = std::to_string(*bytes);
                return {};
            },
            ""};
}

/// Decimal digits alone: the parser itself takes -1, and all that is too large, for 2^64 - 1, a search
/// without end.
[[nodiscard]] inline CLI::Validator whole_number(
    std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    return {
        [least, most](std::string& text) -> std::string {
            std::uint64_t number = 0;
            const char* const end = text.data() + text.size();
            const auto [read, failure] = std::from_chars(text.data(), end, number);
            if (failure == std::errc() && read == end && number >= least && number <= most) return {};
            return "`" + text + "` is no whole number from " + std::to_string(least) + " to " +
                   (most == std::numeric_limits<std::uint64_t>::max() ? "2^64 - 1" : std::to_string(most));
        },
        ""};
}

/// How long a program that searches may search, from the command line.
struct search_arguments {
    std::optional<double> budget;         // seconds
    std::optional<std::uint64_t> states;  // none: default_states
    std::uint64_t default_states = stowage::search_limits{}.states;
    std::string states_note = {};  // what the help says beside the default
    unsigned threads = 1;
    std::uint64_t seed = 1;

    /// The budget as a duration, if there is one.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> time() const {
        if (!budget) return std::nullopt;
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*budget));
    }
    [[nodiscard]] stowage::search_limits limits() const {
        stowage::search_limits limits{.time = time(), .seed = seed, .threads = threads};
        limits.states = states.value_or(default_states);
        return limits;
    }
    void add_to(CLI::App& app) {
        auto* seconds =
            app.add_option("--budget", budget, "seconds, from the end of reading")->type_name("SECONDS");
        app.add_option("--states", states,
                       "limit of each search in states (default " + std::to_string(default_states) +
                           states_note + ")")
            ->check(whole_number())
            ->excludes(seconds);
        app.add_option("--threads", threads, "threads that may be used")
            ->check(whole_number(1))
            ->capture_default_str();
        app.add_option("--seed", seed, "seed of every random choice")
            ->check(whole_number())
            ->capture_default_str();
    }
    /// Throws CLI::ValidationError for a budget that is no time to search.
    void check_budget() const {
        if (budget && !(*budget >= 0 && *budget <= 1e9))
            throw CLI::ValidationError("--budget", "takes 0 to 1e9 seconds");
    }
};

/// Refuses options that would write one file, or standard output, twice. `--json` counts as "-".
inline void check_distinct(std::initializer_list<std::string> files) {
    const auto place_of = [](const std::string& file) {
        return file == "-" ? file : std::filesystem::absolute(file).lexically_normal().string();
    };
    for (const auto* file = files.begin(); file != files.end(); ++file) {
        const auto same = [&](const std::string& other) {
            return !other.empty() && place_of(other) == place_of(*file);
        };
        if (file->empty() || std::none_of(files.begin(), file, same)) continue;
        const std::string place = *file == "-" ? "standard output" : *file;
        throw CLI::ValidationError(place, "two options write it, only one can");
    }
}

/// Throws file_error unless all that was printed has arrived.
inline void flush_output() {
    if (!std::cout.flush()) throw stowage::io::file_error("cannot be written", "standard output");
}

/// Shows what was made: first what `print` prints and what is written in place, which can fail, then the
/// files that only have to be renamed; so that none is left behind where standard output cannot be written.
template <class Print>
void show(std::vector<stowage::io::atomic_file> files, Print print) {
    print();
    const auto commit = [&](bool in_place) {
        for (stowage::io::atomic_file& file : files) {
            if (file.is_written_in_place() == in_place) file.commit();
        }
    };
    commit(true);
    flush_output();
    commit(false);
}

inline constexpr int exit_no = 1;         ///< the answer is no
inline constexpr int exit_bad_input = 2;  ///< bad usage or bad input

/// The exit status of a program: that of `work`, or of the error that `parse` or `work` threw, which is told
/// on standard error. `input` names the file that an error is about which names none itself.
template <class Parse, class Work>
[[nodiscard]] int run_program(const CLI::App& app, std::string_view program, const std::string& input,
                              Parse parse, Work work) {
    // A reader that is gone, or a limit of the shell's, is an error of writing: no temporary file stays.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        parse();
        for (const CLI::Option* option : app.get_options()) {
            const auto& values = option->results();
            if (std::find(values.begin(), values.end(), "") != values.end())
                throw CLI::ValidationError(option->get_name(), "is empty");
        }
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_bad_input;
    }
    try {
        return work();
    } catch (const stowage::io::file_error& error) {
        std::cerr << program << ": " << error.what() << "\n";
        return exit_bad_input;
    } catch (const stowage::parse_error& error) {
        std::cerr << program << ": " << error.what() << "\n";
        return exit_bad_input;
    } catch (const stowage::error& error) {
        const std::string_view text = error.what();
        std::cerr << program << ": " << (input.empty() || text.starts_with(input + ":") ? "" : input + ": ")
                  << text << "\n";
        return exit_bad_input;
    } catch (const std::exception& error) {
        std::cerr << program << ": " << error.what() << "\n";
        return exit_no;
    }
}

}  // namespace examples
