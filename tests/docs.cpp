// README.md and docs/ against the programs that their code comes from. In front of each block of C++ stands a
// comment that names its source, a whole file or a region between two lines "// [region]"; in front of a
// program's output one that names the program:
//     <!-- code: examples/docs/plan_a_program.cpp [call] -->
//     <!-- output: quickstart -->
// Code must agree byte for byte, but for the indentation of a region; output must be what the program prints.
// With STOWAGE_UPDATE_DOCS=1 in the environment the pages are brought up to date instead.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path root = fs::path(STOWAGE_EXAMPLE_DATA).parent_path().parent_path();
const fs::path programs = STOWAGE_PROGRAM_DIR;

using line_list = std::vector<std::string>;

line_list lines_of(const fs::path& path) {
    std::ifstream file(path);
    REQUIRE_MESSAGE(file.good(), path.string());
    line_list lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

std::string joined(const line_list& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    return text;
}

/// A fenced block of a page.
struct block {
    fs::path page;
    std::size_t line = 0;  // of the fence, from 1
    std::string language;  // what stands behind the fence
    std::string source;    // what the comment before it says; may be empty
    std::string text;
    [[nodiscard]] std::string place() const {
        return fs::relative(page, root).string() + ":" + std::to_string(line);
    }
};

std::vector<block> blocks_of(const fs::path& page) {
    static const std::regex comment("<!-- ((?:code|output): .*[^ ]) -->");
    std::vector<block> blocks;
    const line_list lines = lines_of(page);
    std::string source;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::smatch found;
        if (std::regex_match(lines[i], found, comment)) {
            source = found[1];
            continue;
        }
        if (lines[i].rfind("```", 0) != 0) {
            if (!lines[i].empty()) source.clear();
            continue;
        }
        block next{page, i + 1, lines[i].substr(3), source, {}};
        for (++i; i < lines.size() && lines[i] != "```"; ++i)
            next.text += lines[i] + "\n";
        CHECK_MESSAGE(i < lines.size(), next.place() << ": the block has no end");
        blocks.push_back(next);
        source.clear();
    }
    return blocks;
}

std::vector<block> all_blocks() {
    std::vector<fs::path> pages = {root / "README.md"};
    for (const auto& entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    std::sort(pages.begin(), pages.end());
    std::vector<block> blocks;
    for (const fs::path& page : pages) {
        std::vector<block> more = blocks_of(page);
        std::move(more.begin(), more.end(), std::back_inserter(blocks));
    }
    return blocks;
}

/// The whole file, or its region of that name without the indentation that all its lines share.
std::string code_of(const std::string& file, const std::string& region) {
    line_list lines = lines_of(root / file);
    if (region.empty()) return joined(lines);
    const auto is_marker = [&](const std::string& line) {
        const std::size_t start = line.find_first_not_of(' ');
        return start != std::string::npos && line.substr(start) == "// [" + region + "]";
    };
    const auto first = std::find_if(lines.begin(), lines.end(), is_marker);
    REQUIRE_MESSAGE(first != lines.end(), file << " has no region " << region);
    const auto last = std::find_if(first + 1, lines.end(), is_marker);
    REQUIRE_MESSAGE(last != lines.end(), file << ": region " << region << " has no end");
    line_list inside(first + 1, last);
    std::size_t indentation = std::string::npos;
    for (const std::string& line : inside)
        if (!line.empty()) indentation = std::min(indentation, line.find_first_not_of(' '));
    for (std::string& line : inside)
        if (!line.empty()) line.erase(0, indentation);
    return joined(inside);
}

std::string output_of(const fs::path& program) {
    std::FILE* const pipe = popen(("'" + program.string() + "' 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> part{};
    for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
        text.append(part.data(), got);
    CHECK_MESSAGE(pclose(pipe) == 0, program.string());
    return text;
}

/// Compares a block with what it must be, or makes it so.
void compare(const block& each, const std::string& right) {
    INFO(each.place());
    if (std::getenv("STOWAGE_UPDATE_DOCS") == nullptr) {
        CHECK(each.text == right);
        return;
    }
    const std::string before = joined(lines_of(each.page));
    const std::string fence = "```" + each.language + "\n";
    const std::size_t at = before.find(fence + each.text + "```\n");
    REQUIRE(at != std::string::npos);
    std::ofstream(each.page) << before.substr(0, at + fence.size()) << right
                             << before.substr(at + fence.size() + each.text.size());
}

}  // namespace

TEST_CASE("every block of C++ in README.md and docs/ is code that is compiled") {
    static const std::regex form(R"(code: ([^ ]+)(?: \[([^\]]+)\])?)");
    std::size_t compared = 0;
    for (const block& each : all_blocks()) {
        if (each.language != "cpp") continue;
        std::smatch found;
        const bool has_source = std::regex_match(each.source, found, form);
        CHECK_MESSAGE(has_source, each.place() << ": the block does not say which program it comes from");
        if (!has_source) continue;
        compare(each, code_of(found[1], found[2]));
        ++compared;
    }
    CHECK(compared >= 10);
}

TEST_CASE("every output in README.md and docs/ is what the program prints") {
    static const std::regex form("output: (.*)");
    for (const block& each : all_blocks()) {
        std::smatch found;
        if (!std::regex_match(each.source, found, form)) continue;
        const fs::path program = programs / found[1].str();
        if (!fs::exists(program)) {
            MESSAGE(each.place() << " not checked: " << program.string() << " is not built");
            continue;
        }
        compare(each, output_of(program));
    }
}

TEST_CASE("links from README.md and docs/ to files of the repository lead somewhere") {
    static const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))");
    std::vector<fs::path> pages = {root / "README.md"};
    for (const auto& entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    for (const fs::path& page : pages) {
        std::string text;
        bool in_block = false;
        for (const std::string& line : lines_of(page)) {
            if (line.rfind("```", 0) == 0) in_block = !in_block;
            if (!in_block) text += line + "\n";
        }
        for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at)
            CHECK_MESSAGE(fs::exists(page.parent_path() / (*at)[1].str()), page.filename().string()
                                                                               << " -> " << (*at)[1].str());
    }
}
