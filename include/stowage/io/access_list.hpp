#pragma once
// Programs as lists of accesses: the format access-list/1 of docs/formats.md, plain or compressed by gzip.
// Whatever the bytes are, the answer is a checked graph or an error that says where.

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <utility>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/detail/access_list_reader.hpp>
#include <stowage/io/file.hpp>

namespace stowage::io {

/// A program read from a file, and what the file says of it.
struct access_list {
    tensor_graph graph;        ///< storages are its buffers and ops its operators, by the same indices
    std::string name;          ///< the file's name without folders, .json and .gz; "<input>" for text
    std::string model;         ///< the key `model`; empty where there is none
    bool has_devices = false;  ///< ops have a column `device`: the program itself says what runs where
};

/// Reads a program from its text. `source` names it in errors. O(text) time; memory as the graph.
///
/// Throws parse_error naming key and index ("ops[3].reads[0]"), or line and column where it is no JSON;
/// program_error naming operator and storage for a storage read before it is written and for an output that
/// nobody writes; overflow_error where sizes sum up to more than 2^63 - 1. Names may be left out; other
/// columns and keys are ignored.
template <class = void>
[[nodiscard]] access_list parse_access_list(std::string_view text, const std::string& source = "<input>") {
    detail::access_list_reader reader(text, source);
    try {
        reader.read();
        access_list result;
        result.graph = tensor_graph(reader.finish());
        result.name = short_name(source);
        result.model = std::move(reader.model());
        result.has_devices = reader.has_devices();
        return result;
    } catch (const program_error& error) {
        throw program_error(error.rule() + ", in " + source, error.operator_concerned(),
                            error.buffer_concerned());
    } catch (const overflow_error& error) {
        throw overflow_error(source + ": " + error.what());
    }
}

/// Reads a program from a file, compressed or not. Throws file_error where it cannot be read, parse_error for
/// corrupt compressed data and for more bytes than the options allow, and what parse_access_list throws.
template <class = void>
[[nodiscard]] access_list read_access_list(const std::filesystem::path& path,
                                           const read_options& options = {}) {
    return parse_access_list(read_file(path, options), path.string());
}

/// Reads a program from a stream, compressed or not; `source` names it in errors. Throws as the other
/// overload.
template <class = void>
[[nodiscard]] access_list read_access_list(std::istream& stream, const std::string& source = "<input>",
                                           const read_options& options = {}) {
    return parse_access_list(read_stream(stream, source, options), source);
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template access_list parse_access_list(std::string_view, const std::string&);
#endif

}  // namespace stowage::io
