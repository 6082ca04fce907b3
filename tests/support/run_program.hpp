#pragma once
// Runs a program through the shell and keeps what it said.

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temporary_folder.hpp"

namespace stowage::test {

/// What a program answered.
struct outcome {
    int status = -1;  ///< exit status; -1 if a signal ended it
    std::string out;
    std::string err;
};

inline outcome run(const std::string& command) {
    const temporary_folder folder;
    const std::string out = (folder.path() / "out").string();
    const std::string err = (folder.path() / "err").string();
    const int code = std::system((command + " >" + out + " 2>" + err + " </dev/null").c_str());
    const auto text = [](const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    return {WIFEXITED(code) ? WEXITSTATUS(code) : -1, text(out), text(err)};
}

}  // namespace stowage::test
