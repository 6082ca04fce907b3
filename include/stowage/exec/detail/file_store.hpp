#pragma once
// The host's arena as a file, for stores larger than the RAM. Its bytes are reserved before a run, so that a
// full disk is told then; reads and writes go on until every byte is moved.

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <stowage/exec/fault.hpp>

namespace stowage::exec::detail {

/// Calls `move(done)`, which moves some of `bytes` bytes from position `done` on and returns how many, 0 at
/// the end of a file or -1 with errno, until all are moved. 0, or the error's number: EIO where nothing
/// moves.
template <class Move>
[[nodiscard]] int move_all(std::int64_t bytes, const Move& move) {
    std::int64_t done = 0;
    while (done < bytes) {
        const std::int64_t moved = move(done);
        if (moved < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        if (moved == 0) return EIO;
        done += moved;
    }
    return 0;
}

class file_store {
public:
    file_store() = default;
    file_store(file_store&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    file_store& operator=(file_store&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~file_store() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    /// A file of `bytes` bytes at `path`, whose name is removed at once. Throws device_error.
    [[nodiscard]] static file_store make(const std::filesystem::path& path, std::int64_t bytes) {
        file_store result;
        result.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (result.descriptor_ < 0) refuse(path, errno, bytes);
        ::unlink(path.c_str());
        if (bytes > 0) {
            const int failure = ::posix_fallocate(result.descriptor_, 0, bytes);
            if (failure != 0) refuse(path, failure, bytes);
        }
        return result;
    }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
    /// 0, or the error's number.
    [[nodiscard]] int write(std::int64_t address, const std::byte* from, std::int64_t bytes) const noexcept {
        return move_all(bytes, [&](std::int64_t done) -> std::int64_t {
            return ::pwrite(descriptor_, from + done, static_cast<std::size_t>(std::min(bytes - done, most)),
                            address + done);
        });
    }
    [[nodiscard]] int read(std::int64_t address, std::byte* to, std::int64_t bytes) const noexcept {
        return move_all(bytes, [&](std::int64_t done) -> std::int64_t {
            return ::pread(descriptor_, to + done, static_cast<std::size_t>(std::min(bytes - done, most)),
                           address + done);
        });
    }

private:
    static constexpr std::int64_t most = std::int64_t{1}
                                         << 30;  // the system moves a little less than 2 GiB a call
    [[noreturn]] static void refuse(const std::filesystem::path& path, int failure, std::int64_t bytes) {
        throw device_error("its file " + path.string() + ": " + std::generic_category().message(failure),
                           "host", bytes);
    }
    int descriptor_ = -1;
};

}  // namespace stowage::exec::detail
