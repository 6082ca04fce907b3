#pragma once
// Output files that are there whole or not at all: written under another name in the same folder, then
// renamed.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <stowage/io/file.hpp>

namespace stowage::io {

/// A file whose contents are written but not yet seen under its name. commit() shows them; without it,
/// nothing is left behind. The path "-" stands for standard output, which gets its bytes at commit(). A path
/// that is no regular file (a device, a pipe) is written in place, at commit() too. Several files become
/// visible together, as far as a file system can do it, if all are prepared first and committed then.
class atomic_file {
public:
    /// Writes `contents` beside `path`. Throws file_error, leaving nothing behind, if that fails.
    atomic_file(std::filesystem::path path, std::string contents) : path_(std::move(path)) {
        std::error_code ignored;
        std::filesystem::path target = path_;
        const auto state = std::filesystem::status(path_, ignored);
        if (std::filesystem::is_directory(state)) throw file_error("is a folder", path_);
        if (path_ == "-" || (std::filesystem::exists(state) && !std::filesystem::is_regular_file(state))) {
            contents_ = std::move(contents);
            return;
        }
        if (std::filesystem::is_symlink(std::filesystem::symlink_status(path_, ignored))) {
            target = std::filesystem::weakly_canonical(path_, ignored);
            if (ignored) target = path_;
        }
        target_ = target;
        const int descriptor = create();
        try {
            if (std::filesystem::exists(state))
                ::fchmod(descriptor, static_cast<mode_t>(state.permissions()));
            write_all(descriptor, contents);
        } catch (...) {
            ::close(descriptor);
            discard();
            throw;
        }
        if (::close(descriptor) != 0) {
            const int code = errno;
            discard();
            fail("cannot be written", code);
        }
    }
    atomic_file(atomic_file&& other) noexcept
        : path_(std::move(other.path_)), target_(std::move(other.target_)),
          temporary_(std::exchange(other.temporary_, {})), contents_(std::move(other.contents_)) {}
    atomic_file& operator=(atomic_file&&) = delete;
    ~atomic_file() { discard(); }

    /// Before commit(): true if that will write, which can fail half-way, rather than rename. Such files had
    /// better be committed first.
    [[nodiscard]] bool is_written_in_place() const noexcept { return temporary_.empty(); }
    /// Makes the contents visible under the path; call it once. Throws file_error if that fails.
    void commit() {
        if (path_ == "-") return write_standard_output();
        if (temporary_.empty()) return write_in_place();
        if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be replaced", errno);
        temporary_.clear();
    }

private:
    [[noreturn]] void fail(const std::string& what, int code) const {
        throw file_error(what + ": " + detail::system_reason(code), path_);
    }

    /// Creates the temporary under a name that no other process and no other thread uses.
    [[nodiscard]] int create() {
        constexpr int attempts = 10'000;
        for (int i = 0; i < attempts; ++i) {
            temporary_ = target_;
            temporary_ += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(i);
            const int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (descriptor >= 0) return descriptor;
            if (errno != EEXIST) break;
        }
        const int code = errno;
        temporary_.clear();
        fail("cannot be created", code);
    }

    void write_all(int descriptor, std::string_view rest) const {
        while (!rest.empty()) {
            const ssize_t written = ::write(descriptor, rest.data(), rest.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail("cannot be written", errno);
            rest.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void write_in_place() const {
        const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) fail("cannot be opened", errno);
        try {
            write_all(descriptor, contents_);
        } catch (...) {
            ::close(descriptor);
            throw;
        }
        if (::close(descriptor) != 0) fail("cannot be written", errno);
    }

    void write_standard_output() const {
        const std::size_t written = std::fwrite(contents_.data(), 1, contents_.size(), stdout);
        if (written != contents_.size() || std::fflush(stdout) != 0) {
            throw file_error("cannot be written: " + detail::system_reason(errno), "standard output");
        }
    }

    void discard() noexcept {
        if (temporary_.empty()) return;
        ::unlink(temporary_.c_str());
        temporary_.clear();
    }

    std::filesystem::path path_;
    std::filesystem::path target_;     // path_ without symbolic links
    std::filesystem::path temporary_;  // empty: nothing to rename, nothing to remove
    std::string contents_;             // what commit() is to write itself
};

/// Writes a file so that it is there whole or, if this throws file_error, as it was before. "-" is standard
/// output.
template <class = void>
void write_file(const std::filesystem::path& path, std::string contents) {
    atomic_file(path, std::move(contents)).commit();
}

}  // namespace stowage::io
