#pragma once
// Memgraphs as files: the format memgraph/1 of docs/formats.md. What is written is the same from run to run,
// byte by byte.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/io/detail/memgraph_reader.hpp>
#include <stowage/io/file.hpp>
#include <stowage/io/plan_file.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::io {

namespace detail {

/// Appends to a text: memgraphs have millions of small numbers, too many for a tree of JSON values.
class memgraph_writer {
public:
    explicit memgraph_writer(const turnip::memgraph& graph) : graph_(graph) {}

    [[nodiscard]] std::string write() {
        out_ = "{\n\"format\": \"memgraph/1\",\n\"graph\": " +
               nlohmann::ordered_json(graph_.graph)
                   .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
               ",\n\"fingerprint\": \"" + fingerprint_text(graph_.fingerprint) + "\",\n\"alignment\": ";
        number(graph_.alignment);
        out_ += ",\n\"devices\": [";
        for (std::size_t d = 0; d < graph_.arena_bytes.size(); ++d) {
            out_ += d == 0 ? "{\"arena_bytes\": " : ", {\"arena_bytes\": ";
            number(graph_.arena_bytes[d]);
            out_ += "}";
        }
        out_ += "],\n\"host\": {\"arena_bytes\": ";
        number(graph_.host_bytes);
        out_ += "},\n\"vertices\": [";
        for (turnip::vertex_index v = 0; v < graph_.vertices.size(); ++v)
            vertex(v);
        out_ += "],\n\"edges\": [";
        for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
            out_ += e == 0 ? "\n [" : ",\n [";
            number(graph_.edges[e].from);
            out_ += ", ";
            number(graph_.edges[e].to);
            out_ += ", \"";
            out_ += turnip::to_string(graph_.edges[e].kind);
            out_ += "\"]";
        }
        out_ += "],\n\"residence\": [";
        places(graph_.start);
        out_ += "],\n\"final\": [";
        places(graph_.final);
        out_ += graph_.repeatable ? "],\n\"repeatable\": true\n}\n" : "],\n\"repeatable\": false\n}\n";
        return std::move(out_);
    }

private:
    void number(std::int64_t value) { out_ += std::to_string(value); }
    void address(std::int64_t value) {
        if (value < 0)
            out_ += "null";
        else
            number(value);
    }
    void operands(std::span<const turnip::operand> list, bool with_device) {
        out_ += ", [";
        for (std::size_t i = 0; i < list.size(); ++i) {
            out_ += i == 0 ? "[" : ", [";
            number(list[i].buffer);
            out_ += ", ";
            address(list[i].address);
            if (with_device) {
                out_ += ", ";
                number(list[i].device);
            }
            out_ += "]";
        }
        out_ += "]";
    }
    void vertex(turnip::vertex_index v) {
        const turnip::vertex& at = graph_.vertices[v];
        out_ += v == 0 ? "\n [\"" : ",\n [\"";
        out_ += turnip::to_string(at.kind);
        out_ += "\", ";
        address(at.kind == turnip::vertex_kind::op ? static_cast<std::int64_t>(at.op) : -1);
        out_ += ", ";
        number(at.device);
        operands(graph_.reads(v), at.kind == turnip::vertex_kind::transfer);
        operands(graph_.writes(v), false);
        out_ += ", ";
        address(at.host_address);
        out_ += ", ";
        address(at.workspace_address);
        out_ += "]";
    }
    void places(const std::vector<turnip::residence>& list) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            out_ += i == 0 ? "\n [" : ",\n [";
            number(list[i].buffer);
            if (list[i].memory == turnip::host) {
                out_ += ", \"host\", ";
            } else {
                out_ += ", ";
                number(list[i].memory);
                out_ += ", ";
            }
            address(list[i].address);
            out_ += "]";
        }
    }

    const turnip::memgraph& graph_;
    std::string out_;
};

}  // namespace detail

/// The memgraph as the text of a file, a vertex or edge a line; bytes of its name that are no UTF-8 become
/// U+FFFD. O(memgraph).
template <class = void>
[[nodiscard]] std::string memgraph_text(const turnip::memgraph& graph) {
    return detail::memgraph_writer(graph).write();
}

/// Writes a memgraph's file, whole or not at all; "-" is standard output. Throws file_error. O(memgraph).
template <class = void>
void write_memgraph(const std::filesystem::path& path, const turnip::memgraph& graph) {
    write_file(path, memgraph_text(graph));
}

/// Reads a memgraph of `program` from its text; `source` names it in errors. O(text) time and memory.
/// Operators, buffers, devices and vertices that it names exist, and each move has the operands of its kind;
/// whether the memgraph is right is verify::check_memgraph's business. A file without a fingerprint is taken
/// for one of this program.
///
/// Throws fingerprint_error for the memgraph of another program; parse_error naming key and index
/// ("vertices[3][4][0][1]"), or line and column where it is no JSON.
template <class = void>
[[nodiscard]] turnip::memgraph parse_memgraph(std::string_view text, const tensor_graph& program,
                                              const std::string& source = "<input>") {
    detail::memgraph_reader reader(text, source, program);
    reader.read();
    reader.memgraph().fingerprint = program.fingerprint();
    return std::move(reader.memgraph());
}

/// Reads the memgraph of `program` from a file, compressed or not. Throws file_error where it cannot be read,
/// and what parse_memgraph throws.
template <class = void>
[[nodiscard]] turnip::memgraph read_memgraph(const std::filesystem::path& path, const tensor_graph& program,
                                             const read_options& options = {}) {
    return parse_memgraph(read_file(path, options), program, path.string());
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::string memgraph_text(const turnip::memgraph&);
STOWAGE_TEMPLATES template turnip::memgraph parse_memgraph(std::string_view, const tensor_graph&,
                                                           const std::string&);
#endif

}  // namespace stowage::io
