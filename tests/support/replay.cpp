// The fuzzers' main where the compiler brings no libFuzzer: each file of the folders given as arguments, its
// prefixes and some copies with changed bytes go through the fuzz target. Same inputs in every run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stowage/detail/random.hpp>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using bytes = std::vector<std::uint8_t>;

void replay(const bytes& input) {
    LLVMFuzzerTestOneInput(input.data(), input.size());
}

void replay_neighbours(const bytes& input, stowage::detail::splitmix64& random) {
    constexpr std::size_t prefixes = 40;
    constexpr int changed_copies = 200;
    replay(input);
    const std::size_t step = std::max<std::size_t>(1, input.size() / prefixes);
    for (std::size_t length = 0; length < input.size(); length += step) {
        replay(bytes(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(length)));
    }
    if (input.empty()) return;
    for (int copy = 0; copy < changed_copies; ++copy) {
        bytes changed = input;
        for (auto changes = 1 + random.below(3); changes > 0; --changes) {
            changed[random.below(changed.size())] = static_cast<std::uint8_t>(random.below(256));
        }
        replay(changed);
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    stowage::detail::splitmix64 random(1);
    replay({});
    for (const auto& file : files) {
        std::ifstream stream(file, std::ios::binary);
        replay_neighbours(bytes(std::istreambuf_iterator<char>(stream), {}), random);
    }
    std::cout << files.size() << " inputs and their neighbours replayed\n";
}
