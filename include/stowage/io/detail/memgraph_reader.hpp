#pragma once
// The reader behind io/memgraph_file.hpp: events of the JSON text become the rows of a memgraph, checked one
// by one; what needs the whole file (devices may stand after the vertices that name them) is checked at the
// end.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/detail/json_events.hpp>
#include <stowage/io/detail/memgraph_indices.hpp>
#include <stowage/io/plan_file.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::io::detail {

class memgraph_reader : public json_events<memgraph_reader> {
public:
    memgraph_reader(std::string_view text, std::string source, const tensor_graph& program)
        : json_events(text, std::move(source)), program_(program) {}

    void read() {
        parse();
        for (const std::string_view key : {"format", "devices", "host", "vertices", "edges"}) {
            if (!seen(key)) fail("the key is missing", std::string(key));
        }
        if (!host_seen_) fail("the key is missing", "host.arena_bytes");
        check_memgraph_indices(result_, source());
    }
    [[nodiscard]] turnip::memgraph& memgraph() noexcept { return result_; }

    void on_key(std::string& name) {
        if (depth() == 1) {
            key_.swap(name);
            inner_key_.clear();
            place_ = place_of(key_);
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (keys[i] != key_) continue;
                if (seen_[i]) fail("the key occurs twice", key_);
                seen_[i] = true;
            }
        } else if ((depth() == 2 && place_ == place::host) || (depth() == 3 && place_ == place::devices)) {
            inner_key_.swap(name);
        }
    }

    void on_begin(bool array) {
        const std::size_t level = depth();
        if (level == 1) {
            if (array) fail("the file holds an array instead of an object", {});
            return;
        }
        if (place_ == place::other) return;
        if (level == 2) {
            if (place_ == place::scalar) fail(array ? "is an array" : "is an object", key_);
            if (array != (place_ != place::host)) {
                fail(array ? "is no object but an array" : "is no array but an object", key_);
            }
            return;
        }
        if (place_ == place::devices && level == 3 && !array) {
            device_seen_ = false;
            return;
        }
        if (place_ == place::devices || place_ == place::host) {
            if (level == (place_ == place::devices ? 4U : 3U) && inner_key_ != "arena_bytes") return;
            if (level > (place_ == place::devices ? 4U : 3U)) return;
            fail(array ? "is an array" : "is an object", error_key());
        }
        if (!array) fail("is an object", error_key());
        if (level == 3) {
            begin_row();
        } else if (place_ == place::vertices && level == 4 && (column_ == 3 || column_ == 4)) {
            entries_.clear();
        } else if (place_ == place::vertices && level == 5) {
            entry_ = {};
            entry_column_ = 0;
        } else {
            fail("is an array", error_key());
        }
    }

    void on_end() {
        const std::size_t level = depth();  // of what encloses the container that has ended
        if (place_ == place::devices && level == 2) {
            if (!device_seen_) fail("the key is missing", error_key() + ".arena_bytes");
            inner_key_.clear();
            return;
        }
        if (!is_table()) return;
        if (level == 2) return end_row();
        if (level == 3) {
            (column_ == 3 ? row_reads_ : row_writes_).swap(entries_);
            ++column_;
        } else if (level == 4) {
            end_entry();
        }
    }

    void on_scalar(const json_scalar& value) {
        const std::size_t level = depth();
        if (level == 0) fail("the file holds " + value.describe() + " instead of an object", {});
        if (level == 1) return top_value(value);
        if (place_ == place::other) return;
        if (place_ == place::host) {
            if (level != 2 || inner_key_ != "arena_bytes") return;
            result_.host_bytes = integer(value, 0);
            host_seen_ = true;
            return;
        }
        if (place_ == place::devices) {
            if (level == 2) fail("is no object but " + value.describe(), error_key());
            if (level != 3 || inner_key_ != "arena_bytes") return;
            if (device_seen_) fail("the key occurs twice", error_key());
            result_.arena_bytes.push_back(integer(value, 0));
            device_seen_ = true;
            return;
        }
        if (level == 2) fail("is no array but " + value.describe(), error_key());
        if (level == 3) return cell(value);
        if (level == 4) fail("is no array but " + value.describe(), error_key());
        entry_cell(value);
    }

    /// "vertices[3][4][0][1]": the place in work.
    [[nodiscard]] std::string error_key() const {
        std::string text = key_;
        if (place_ == place::devices) {
            const bool inside = depth() >= 3 && device_seen_;
            text += "[" + std::to_string(result_.arena_bytes.size() - (inside ? 1 : 0)) + "]";
        } else if (is_table() && depth() >= 2) {
            text += "[" + std::to_string(row_count()) + "]";
            if (in_row_) text += "[" + std::to_string(column_) + "]";
            if (in_row_ && depth() >= 4) text += "[" + std::to_string(entries_.size()) + "]";
            if (in_row_ && depth() >= 5) text += "[" + std::to_string(entry_column_) + "]";
        }
        return inner_key_.empty() ? text : text + "." + inner_key_;
    }

private:
    enum class place : std::uint8_t { other, scalar, devices, host, vertices, edges, residence, final };
    static constexpr std::array<std::string_view, 11> keys = {
        "format", "graph",    "fingerprint", "alignment", "repeatable", "devices",
        "host",   "vertices", "edges",       "residence", "final"};

    struct entry {
        std::int64_t buffer = 0;
        std::int64_t address = turnip::no_address;
        std::optional<std::uint32_t> source;
    };

    [[nodiscard]] static place place_of(std::string_view key) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == key) return i < 5 ? place::scalar : static_cast<place>(i - 3);
        }
        return place::other;
    }
    [[nodiscard]] bool is_table() const { return place_ >= place::vertices; }
    [[nodiscard]] bool seen(std::string_view key) const {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == key) return seen_[i];
        }
        return false;
    }
    [[nodiscard]] std::size_t row_count() const {
        switch (place_) {
            case place::vertices: return result_.vertices.size();
            case place::edges: return result_.edges.size();
            case place::residence: return result_.start.size();
            default: return result_.final.size();
        }
    }

    [[nodiscard]] std::int64_t integer(const json_scalar& value, std::int64_t least,
                                       std::int64_t end = std::numeric_limits<std::int64_t>::max()) const {
        if (value.kind == json_scalar::type::integer && value.integer >= least && value.integer <= end) {
            return value.integer;
        }
        const bool open = end == std::numeric_limits<std::int64_t>::max();
        fail("is to be an integer from " + std::to_string(least) + " to " +
                 (open ? std::string("2^63 - 1") : std::to_string(end)) + ", it is " + value.describe(),
             error_key());
    }
    /// An index below `count`; `what` is the word for what it counts.
    [[nodiscard]] std::uint32_t index(const json_scalar& value, std::size_t count, const char* what) const {
        const std::int64_t number = integer(value, 0);
        if (static_cast<std::uint64_t>(number) >= count) {
            fail("there is no " + std::string(what) + " " + std::to_string(number) + ", only " +
                     std::to_string(count),
                 error_key());
        }
        return static_cast<std::uint32_t>(number);
    }
    [[nodiscard]] std::uint32_t device(const json_scalar& value) const {
        return static_cast<std::uint32_t>(integer(value, 0, turnip::anywhere - 1));
    }
    [[nodiscard]] std::int64_t address(const json_scalar& value) const {
        return value.kind == json_scalar::type::null ? turnip::no_address : integer(value, 0);
    }
    [[nodiscard]] std::string_view text(const json_scalar& value) const {
        if (value.kind != json_scalar::type::string) {
            fail("is to be a string, it is " + value.describe(), error_key());
        }
        return value.text;
    }

    void top_value(const json_scalar& value) {
        if (place_ == place::other) return;
        if (place_ == place::host) fail("is no object but " + value.describe(), key_);
        if (place_ != place::scalar) fail("is no array but " + value.describe(), key_);
        if (key_ == "format" && text(value) != "memgraph/1") {
            fail("unknown format " + quoted(value.text) + ", expected `memgraph/1`", key_);
        }
        if (key_ == "graph") result_.graph = text(value);
        if (key_ == "alignment") result_.alignment = integer(value, 1);
        if (key_ == "fingerprint") check_fingerprint(fingerprint(text(value), key_));
        if (key_ == "repeatable") {
            if (value.kind != json_scalar::type::boolean) {
                fail("is to be true or false, it is " + value.describe(), key_);
            }
            result_.repeatable = value.integer != 0;
        }
    }
    void check_fingerprint(std::uint64_t value) const {
        if (value != program_.fingerprint()) throw fingerprint_error(source(), value, program_.fingerprint());
    }

    void begin_row() {
        if (row_count() >= std::numeric_limits<std::uint32_t>::max() - 1) fail("too many entries", key_);
        in_row_ = true;
        column_ = 0;
        vertex_ = {};
        residence_ = {};
        row_reads_.clear();
        row_writes_.clear();
        entries_.clear();
    }
    void cell(const json_scalar& value) {
        if (place_ == place::vertices) {
            vertex_cell(value);
        } else if (place_ == place::edges) {
            edge_cell(value);
        } else {
            residence_cell(value);
        }
        ++column_;
    }
    void vertex_cell(const json_scalar& value) {
        switch (column_) {
            case 0: vertex_.kind = vertex_kind_of(text(value)); break;
            case 1:
                if (vertex_.kind == turnip::vertex_kind::op) {
                    vertex_.op = index(value, program_.operator_count(), "operator");
                } else if (value.kind != json_scalar::type::null) {
                    fail("a move runs no operator: is to be null, it is " + value.describe(), error_key());
                }
                break;
            case 2: vertex_.device = device(value); break;
            case 3:
            case 4: fail("is no array but " + value.describe(), error_key());
            case 5: vertex_.host_address = address(value); break;
            case 6: vertex_.workspace_address = address(value); break;
            default: break;
        }
    }
    [[nodiscard]] turnip::vertex_kind vertex_kind_of(std::string_view name) const {
        for (const auto kind : {turnip::vertex_kind::op, turnip::vertex_kind::offload,
                                turnip::vertex_kind::reload, turnip::vertex_kind::transfer}) {
            if (turnip::to_string(kind) == name) return kind;
        }
        fail("is to be `op`, `offload`, `reload` or `transfer`, it is " + quoted(name), error_key());
    }
    void edge_cell(const json_scalar& value) {
        if (column_ == 0) edge_.from = static_cast<std::uint32_t>(integer(value, 0, max_index));
        if (column_ == 1) edge_.to = static_cast<std::uint32_t>(integer(value, 0, max_index));
        if (column_ != 2) return;
        for (const auto kind :
             {turnip::edge_kind::data, turnip::edge_kind::memory, turnip::edge_kind::control}) {
            if (turnip::to_string(kind) != text(value)) continue;
            edge_.kind = kind;
            return;
        }
        fail("is to be `data`, `memory` or `control`, it is " + quoted(value.text), error_key());
    }
    void residence_cell(const json_scalar& value) {
        if (column_ == 0) residence_.buffer = index(value, program_.buffer_count(), "storage");
        if (column_ == 1 && value.kind != json_scalar::type::string) residence_.memory = device(value);
        if (column_ == 1 && value.kind == json_scalar::type::string && value.text != "host") {
            fail("is to be `host` or a device, it is " + quoted(value.text), error_key());
        }
        if (column_ == 2) residence_.address = address(value);
    }
    void entry_cell(const json_scalar& value) {
        if (entry_column_ == 0) entry_.buffer = index(value, program_.buffer_count(), "storage");
        if (entry_column_ == 1) entry_.address = address(value);
        if (entry_column_ == 2 && value.kind != json_scalar::type::null) entry_.source = device(value);
        ++entry_column_;
    }
    void end_entry() {
        if (entry_column_ < 2)
            fail("has " + std::to_string(entry_column_) + " entries, 2 are needed", error_key());
        entries_.push_back(entry_);
    }

    void end_row() {
        const std::size_t needed = place_ == place::vertices ? 5 : 3;
        in_row_ = false;
        if (column_ < needed) {
            fail("has " + std::to_string(column_) + " entries, " + std::to_string(needed) + " are needed",
                 error_key());
        }
        if (place_ == place::edges) {
            result_.edges.push_back(edge_);
        } else if (place_ == place::residence) {
            result_.start.push_back(residence_);
        } else if (place_ == place::final) {
            result_.final.push_back(residence_);
        } else {
            add_vertex();
        }
    }
    void add_vertex() {
        using turnip::vertex_kind;
        const auto shape = [&](bool good, const char* rule) {
            if (!good) fail(rule, error_key());
        };
        const std::size_t reads = row_reads_.size();
        const std::size_t writes = row_writes_.size();
        switch (vertex_.kind) {
            case vertex_kind::op: break;
            case vertex_kind::offload:
                shape(reads == 1 && writes == 0, "an offload reads one storage and writes none");
                break;
            case vertex_kind::reload:
                shape(reads == 0 && writes == 1, "a reload writes one storage and reads none");
                break;
            case vertex_kind::transfer:
                shape(reads == 1 && writes == 1 && row_reads_[0].buffer == row_writes_[0].buffer,
                      "a transfer reads one storage and writes the same");
                shape(row_reads_[0].source.has_value(),
                      "the read entry of a transfer has the source device as its third element");
                break;
        }
        const auto operands = [&](const std::vector<entry>& entries, std::vector<turnip::operand>& list) {
            list.clear();
            for (const entry& e : entries) {
                const bool source = vertex_.kind == vertex_kind::transfer && &entries == &row_reads_;
                list.push_back({static_cast<buffer_index>(e.buffer),
                                source ? e.source.value_or(vertex_.device) : vertex_.device, e.address});
            }
        };
        operands(row_reads_, read_operands_);
        operands(row_writes_, write_operands_);
        if (read_operands_.size() + write_operands_.size() >
            std::numeric_limits<std::uint32_t>::max() - result_.operands.size()) {
            fail("too many operands", error_key());
        }
        result_.add(vertex_, read_operands_, write_operands_);
    }

    static constexpr std::int64_t max_index = std::numeric_limits<std::uint32_t>::max() - 1;

    const tensor_graph& program_;
    turnip::memgraph result_;
    std::string key_;        // of the outermost object
    std::string inner_key_;  // inside `host` or a device
    place place_ = place::other;
    bool host_seen_ = false;
    bool device_seen_ = true;
    bool in_row_ = false;
    std::size_t column_ = 0;
    std::size_t entry_column_ = 0;
    turnip::vertex vertex_;
    turnip::edge edge_;
    turnip::residence residence_;
    entry entry_;
    std::vector<entry> entries_;
    std::vector<entry> row_reads_;
    std::vector<entry> row_writes_;
    std::vector<turnip::operand> read_operands_;
    std::vector<turnip::operand> write_operands_;
    std::array<bool, keys.size()> seen_ = {};
};

}  // namespace stowage::io::detail
