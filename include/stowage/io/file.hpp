#pragma once
// Reading a file whole, plain or compressed by gzip (told by its first bytes, not by its name), with a limit
// on what it may hold: a small compressed file can stand for a very large text.

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <istream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <stowage/error.hpp>
#include <stowage/units.hpp>

namespace stowage::io {

/// A file cannot be opened, read, written or renamed.
class file_error : public error {
public:
    /// `rule` says in words what failed, the system's reason included.
    file_error(std::string rule, std::filesystem::path path)
        : error(path.string() + ": " + rule), rule_(std::move(rule)), path_(std::move(path)) {}
    /// What failed, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The file concerned.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::string rule_;
    std::filesystem::path path_;
};

/// What a reader allows a file to hold.
struct read_options {
    std::int64_t max_bytes = GiB;  ///< bytes that a file may have, before and after decompression
};

namespace detail {

template <class = void>
[[nodiscard]] std::string system_reason(int code) {
    return std::generic_category().message(code);
}

/// A zlib stream that inflates one or several gzip members.
class inflater {
public:
    inflater() : ready_(inflateInit2(&stream_, 15 + 16) == Z_OK) {}
    inflater(const inflater&) = delete;
    inflater& operator=(const inflater&) = delete;
    ~inflater() {
        if (ready_) inflateEnd(&stream_);
    }

    [[nodiscard]] std::string operator()(std::string_view packed, const std::string& source,
                                         std::size_t max_bytes) {
        if (!ready_) throw parse_error("no memory to decompress it", source);
        std::string text;
        std::string input;
        std::string block(block_bytes, '\0');
        std::size_t next = 0;
        while (true) {
            if (stream_.avail_in == 0 && next < packed.size()) {
                input.assign(packed.substr(next, block_bytes));
                next += input.size();
                stream_.next_in = reinterpret_cast<Bytef*>(input.data());
                stream_.avail_in = static_cast<uInt>(input.size());
            }
            stream_.next_out = reinterpret_cast<Bytef*>(block.data());
            stream_.avail_out = static_cast<uInt>(block.size());
            const int state = inflate(&stream_, Z_NO_FLUSH);
            const std::size_t made = block.size() - stream_.avail_out;
            if (made > max_bytes - text.size()) {
                throw parse_error("more than " + std::to_string(max_bytes) + " bytes when decompressed",
                                  source);
            }
            text.append(block, 0, made);
            if (state == Z_STREAM_END) {
                const std::size_t rest = packed.size() - next + stream_.avail_in;
                const std::string_view tail = packed.substr(packed.size() - rest);
                if (tail.find_first_not_of('\0') == std::string_view::npos) return text;
                if (!tail.starts_with("\x1f\x8b") || inflateReset(&stream_) != Z_OK) {
                    throw parse_error("bytes follow the end of the gzip data", source);
                }
            } else if (state != Z_OK && state != Z_BUF_ERROR) {
                throw parse_error(std::string("corrupt gzip data: ") +
                                      (stream_.msg != nullptr ? stream_.msg : "cannot be read"),
                                  source);
            } else if (made == 0 && stream_.avail_in == 0 && next == packed.size()) {
                throw parse_error("the gzip data end too early", source);
            }
        }
    }

private:
    static constexpr std::size_t block_bytes = 1U << 16U;
    z_stream stream_{};
    bool ready_;
};

}  // namespace detail

/// `bytes` as they are, or decompressed if they begin as gzip data does; several gzip members follow one
/// another. Throws parse_error naming `source` for corrupt data and for more than options.max_bytes.
/// O(result).
template <class = void>
[[nodiscard]] std::string decompress(std::string bytes, const std::string& source,
                                     const read_options& options = {}) {
    const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(options.max_bytes, 0));
    if (bytes.size() > limit) throw parse_error("more than " + std::to_string(limit) + " bytes", source);
    if (!std::string_view(bytes).starts_with("\x1f\x8b")) return bytes;
    return detail::inflater()(bytes, source, limit);
}

/// The contents of the file, decompressed if they are gzip data. Throws file_error if it cannot be read,
/// parse_error as decompress does.
template <class = void>
[[nodiscard]] std::string read_file(const std::filesystem::path& path, const read_options& options = {}) {
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
    if (!file) throw file_error("cannot be opened: " + detail::system_reason(errno), path);
    const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(options.max_bytes, 0));
    std::string bytes;
    std::size_t got = 0;
    do {
        const std::size_t step = std::min(std::max<std::size_t>(bytes.size(), 1U << 16U), limit - got + 1);
        bytes.resize(got + step);
        got += std::fread(bytes.data() + got, 1, step, file.get());
        if (std::ferror(file.get()) != 0) {
            throw file_error("cannot be read: " + detail::system_reason(errno), path);
        }
    } while (std::feof(file.get()) == 0 && got <= limit);
    bytes.resize(got);
    return decompress(std::move(bytes), path.string(), options);
}

/// What is left in the stream, decompressed if it is gzip data. Throws as read_file does.
template <class = void>
[[nodiscard]] std::string read_stream(std::istream& stream, const std::string& source,
                                      const read_options& options = {}) {
    const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(options.max_bytes, 0));
    std::string bytes;
    std::string block(1U << 16U, '\0');
    while (stream && bytes.size() <= limit) {
        stream.read(block.data(), static_cast<std::streamsize>(block.size()));
        bytes.append(block, 0, static_cast<std::size_t>(stream.gcount()));
    }
    if (stream.bad()) throw file_error("cannot be read", source);
    return decompress(std::move(bytes), source, options);
}

/// The file's name without folders and without the endings .gz and .json: what plans and tables call a
/// program.
template <class = void>
[[nodiscard]] std::string short_name(const std::filesystem::path& path) {
    std::string name = path.filename().string();
    for (const std::string_view ending : {".gz", ".json"}) {
        if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    }
    return name;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::string read_file(const std::filesystem::path&, const read_options&);
#endif

}  // namespace stowage::io
