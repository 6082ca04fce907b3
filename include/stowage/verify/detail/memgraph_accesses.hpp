#pragma once
// Which bytes every vertex of a memgraph touches, for its verifier, after each vertex has been checked by
// itself: it runs what it says, its operands are those of its operator, addresses are inside the arenas,
// aligned and apart.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify::detail {

/// One vertex touches the bytes [first, last) of one memory.
struct byte_access {
    std::uint32_t memory = 0;  ///< a device; the host comes after the last one
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool writes = false;
    std::uint32_t item = 0;  ///< a buffer; workspaces come after the last one, by operator
};

/// A memgraph beside its program: texts for reasons, and the accesses of each vertex.
template <class = void>
class basic_memgraph_accesses {
public:
    basic_memgraph_accesses(const tensor_graph& program, const turnip::memgraph& graph)
        : program_(program), graph_(graph) {}

    /// Checks sizes of tables, then every vertex; fills the accesses. O(operands log operands of a vertex).
    [[nodiscard]] std::optional<verdict> check() {
        if (graph_.alignment <= 0) return refuse("the memgraph's alignment is not positive");
        if (graph_.fingerprint != program_.fingerprint())
            return refuse("the memgraph was made for another program");
        const std::size_t count = graph_.vertices.size();
        bool good = graph_.first_read.size() == count + 1 && graph_.first_write.size() == count &&
                    graph_.first_read[0] == 0 && graph_.first_read[count] == graph_.operands.size();
        for (std::size_t v = 0; good && v < count; ++v) {
            good = graph_.first_read[v] <= graph_.first_write[v] &&
                   graph_.first_write[v] <= graph_.first_read[v + 1];
        }
        if (!good) return refuse("the table of operands does not fit the table of vertices");
        for (const std::int64_t bytes : graph_.arena_bytes) {
            if (bytes < 0) return refuse("the size of an arena is negative");
        }
        if (graph_.host_bytes < 0) return refuse("the size of the host's arena is negative");
        vertex_of_.assign(program_.operator_count(), none);
        begin_.assign(1, 0);
        for (std::uint32_t v = 0; v < count; ++v) {
            if (auto bad = vertex(v)) return bad;
            begin_.push_back(static_cast<std::uint32_t>(list_.size()));
        }
        for (operator_index op = 0; op < program_.operator_count(); ++op) {
            if (vertex_of_[op] != none) continue;
            return refuse(program_.describe_operator(op).text("operator") + " never runs",
                          {program_.describe_operator(op)});
        }
        return std::nullopt;
    }

    [[nodiscard]] std::span<const byte_access> of(std::uint32_t v) const noexcept {
        return {list_.data() + begin_[v], list_.data() + begin_[v + 1]};
    }
    [[nodiscard]] const byte_access& access(std::size_t i) const noexcept { return list_[i]; }
    [[nodiscard]] std::size_t first_access(std::uint32_t v) const noexcept { return begin_[v]; }
    [[nodiscard]] std::uint32_t vertex_of(operator_index op) const noexcept { return vertex_of_[op]; }
    [[nodiscard]] std::uint32_t memories() const noexcept { return devices() + 1; }
    [[nodiscard]] std::uint32_t devices() const noexcept {
        return static_cast<std::uint32_t>(graph_.arena_bytes.size());
    }

    /// Checks that buffer or workspace `item` may be at `address`, and gives its bytes there. `who` begins
    /// the reason.
    [[nodiscard]] std::optional<verdict> place(const std::string& who, std::uint32_t memory,
                                               std::int64_t address, std::uint32_t item, bool writes,
                                               byte_access& result) const {
        result = {memory, 0, 0, writes, item};
        const std::int64_t size = bytes_of(item);
        if (size == 0) return std::nullopt;
        const auto no = [&](const std::string& rule) {
            return refuse_item(who + ": " + item_text(item) + " at " + memory_text(memory) + ", " + rule,
                               item);
        };
        const std::string at = "address " + std::to_string(address);
        if (address < 0) return no("has no address");
        const bool on_device = memory < devices();
        const std::int64_t arena = on_device ? graph_.arena_bytes[memory] : graph_.host_bytes;
        const std::int64_t own = on_device && item < program_.buffer_count() ? program_.alignment(item) : 1;
        if (address % graph_.alignment != 0) {
            return no(at + " is no multiple of the alignment " + std::to_string(graph_.alignment));
        }
        if (address % own != 0) return no(at + " is no multiple of its alignment " + std::to_string(own));
        if (size > arena || address > arena - size) {
            return no(at + ": its " + std::to_string(size) + " bytes pass the end of the arena of " +
                      std::to_string(arena));
        }
        result.first = address;
        result.last = address + size;
        return std::nullopt;
    }

    [[nodiscard]] std::int64_t bytes_of(std::uint32_t item) const {
        const std::size_t buffers = program_.buffer_count();
        return item < buffers ? program_.bytes(item)
                              : program_.workspace(static_cast<operator_index>(item - buffers));
    }
    [[nodiscard]] std::string item_text(std::uint32_t item) const {
        const std::size_t buffers = program_.buffer_count();
        if (item < buffers) return program_.describe_buffer(item).text("buffer");
        return "the workspace of " + program_.describe_operator(item - buffers).text("operator");
    }
    [[nodiscard]] std::string memory_text(std::uint32_t memory) const {
        return memory < devices() ? "device " + std::to_string(memory) : std::string("the host");
    }
    /// "vertex 3 (offload of buffer 1 (t))".
    [[nodiscard]] std::string vertex_text(std::uint32_t v) const {
        const turnip::vertex& at = graph_.vertices[v];
        const std::string head = "vertex " + std::to_string(v) + " (";
        if (at.kind == turnip::vertex_kind::op) {
            return head + program_.describe_operator(at.op).text("operator") + ")";
        }
        const bool known = graph_.first_read[v] < graph_.first_read[v + 1] &&
                           graph_.operands[graph_.first_read[v]].buffer < program_.buffer_count();
        return head + std::string(turnip::to_string(at.kind)) +
               (known ? " of " + item_text(graph_.moved(v)) : std::string()) + ")";
    }
    /// A no that concerns one buffer or workspace, and the vertices given.
    [[nodiscard]] verdict refuse_item(std::string reason, std::uint32_t item,
                                      std::initializer_list<std::uint32_t> vertices = {}) const {
        verdict bad = refuse(std::move(reason));
        const std::size_t buffers = program_.buffer_count();
        if (item < buffers) bad.buffers.push_back(program_.describe_buffer(item));
        if (item >= buffers && item - buffers < program_.operator_count()) {
            bad.operators.push_back(program_.describe_operator(item - buffers));
        }
        for (const std::uint32_t v : vertices) {
            if (graph_.vertices[v].kind == turnip::vertex_kind::op) {
                bad.operators.push_back(program_.describe_operator(graph_.vertices[v].op));
            }
        }
        return bad;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    [[nodiscard]] verdict no(std::uint32_t v, const std::string& rule) const {
        return refuse_item(vertex_text(v) + ": " + rule, none, {v});
    }

    [[nodiscard]] std::optional<verdict> vertex(std::uint32_t v) {
        const turnip::vertex& at = graph_.vertices[v];
        const std::string who = "vertex " + std::to_string(v);
        if (at.device >= devices()) {
            return refuse(who + ": there is no device " + std::to_string(at.device));
        }
        for (std::uint32_t k = graph_.first_read[v]; k < graph_.first_read[v + 1]; ++k) {
            const turnip::operand& o = graph_.operands[k];
            if (o.buffer >= program_.buffer_count()) {
                return refuse(who + ": there is no buffer " + std::to_string(o.buffer));
            }
            if (o.device >= devices()) {
                return refuse(who + ": there is no device " + std::to_string(o.device));
            }
        }
        if (at.kind == turnip::vertex_kind::op) return op(v, at);
        return move(v, at);
    }

    [[nodiscard]] std::optional<verdict> op(std::uint32_t v, const turnip::vertex& at) {
        if (at.op >= program_.operator_count()) {
            return refuse("vertex " + std::to_string(v) + ": there is no operator " + std::to_string(at.op));
        }
        if (vertex_of_[at.op] != none) {
            return no(v, "its operator already runs at vertex " + std::to_string(vertex_of_[at.op]));
        }
        vertex_of_[at.op] = v;
        if (!same_buffers(graph_.reads(v), program_.reads(at.op))) {
            return no(v, "it does not read what its operator reads, each once");
        }
        if (!same_buffers(graph_.writes(v), program_.writes(at.op))) {
            return no(v, "it does not write what its operator writes, each once");
        }
        for (const bool writes : {false, true}) {
            for (const turnip::operand& o : writes ? graph_.writes(v) : graph_.reads(v)) {
                if (o.device != at.device) return no(v, "an operand is on another device");
                if (auto bad = add(v, at.device, o.address, o.buffer, writes)) return bad;
            }
        }
        if (program_.workspace(at.op) > 0) {
            const auto item = static_cast<std::uint32_t>(program_.buffer_count() + at.op);
            if (auto bad = add(v, at.device, at.workspace_address, item, true)) return bad;
        }
        return apart(v);
    }

    [[nodiscard]] std::optional<verdict> move(std::uint32_t v, const turnip::vertex& at) {
        using turnip::vertex_kind;
        const std::span<const turnip::operand> reads = graph_.reads(v);
        const std::span<const turnip::operand> writes = graph_.writes(v);
        const std::size_t expected_reads = at.kind == vertex_kind::reload ? 0 : 1;
        const std::size_t expected_writes = at.kind == vertex_kind::offload ? 0 : 1;
        if (reads.size() != expected_reads || writes.size() != expected_writes) {
            return no(v, "it has not the operands of a move");
        }
        if (at.op != no_operator) return no(v, "a move runs no operator");
        if (at.kind == vertex_kind::offload) {
            if (reads[0].device != at.device) return no(v, "its operand is on another device");
            if (auto bad = add(v, at.device, reads[0].address, reads[0].buffer, false)) return bad;
            return add(v, devices(), at.host_address, reads[0].buffer, true);
        }
        if (writes[0].device != at.device) return no(v, "its result is on another device");
        if (at.kind == vertex_kind::reload) {
            if (auto bad = add(v, devices(), at.host_address, writes[0].buffer, false)) return bad;
            return add(v, at.device, writes[0].address, writes[0].buffer, true);
        }
        if (at.kind != vertex_kind::transfer) return no(v, "its kind does not exist");
        if (reads[0].buffer != writes[0].buffer) return no(v, "it moves two buffers");
        if (auto bad = add(v, reads[0].device, reads[0].address, reads[0].buffer, false)) return bad;
        if (auto bad = add(v, at.device, writes[0].address, writes[0].buffer, true)) return bad;
        const byte_access& source = list_[list_.size() - 2];
        const byte_access& target = list_.back();
        if (source.memory == target.memory && source.first < target.last && target.first < source.last) {
            return no(v, "the move overlaps itself");
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<verdict> add(std::uint32_t v, std::uint32_t memory, std::int64_t address,
                                             std::uint32_t item, bool writes) {
        byte_access access;
        if (auto bad = place(vertex_text(v), memory, address, item, writes, access)) return bad;
        list_.push_back(access);
        return std::nullopt;
    }

    /// True if `operands` are the distinct buffers of `listed`, each once.
    [[nodiscard]] bool same_buffers(std::span<const turnip::operand> operands,
                                    std::span<const buffer_index> listed) {
        found_.clear();
        for (const turnip::operand& o : operands)
            found_.push_back(o.buffer);
        wanted_.assign(listed.begin(), listed.end());
        std::sort(found_.begin(), found_.end());
        std::sort(wanted_.begin(), wanted_.end());
        wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
        return found_ == wanted_;
    }

    /// Operands, results and workspace of an operator share no byte; what it reads and writes it does at one
    /// address.
    [[nodiscard]] std::optional<verdict> apart(std::uint32_t v) {
        sorted_.assign(list_.begin() + begin_[v], list_.end());
        std::erase_if(sorted_, [](const byte_access& a) { return a.first == a.last; });
        std::sort(sorted_.begin(), sorted_.end(), [](const byte_access& a, const byte_access& b) {
            return std::pair(a.first, a.item) < std::pair(b.first, b.item);
        });
        for (std::size_t i = 1; i < sorted_.size(); ++i) {
            const byte_access& a = sorted_[i - 1];
            const byte_access& b = sorted_[i];
            if (a.last <= b.first || (a.item == b.item && a.first == b.first)) continue;
            if (a.item == b.item) return no(v, item_text(a.item) + " is read and written at two addresses");
            return no(v, item_text(a.item) + " and " + item_text(b.item) + " share bytes");
        }
        std::sort(sorted_.begin(), sorted_.end(),
                  [](const byte_access& a, const byte_access& b) { return a.item < b.item; });
        for (std::size_t i = 1; i < sorted_.size(); ++i) {
            if (sorted_[i - 1].item == sorted_[i].item && sorted_[i - 1].first != sorted_[i].first) {
                return no(v, item_text(sorted_[i].item) + " is read and written at two addresses");
            }
        }
        return std::nullopt;
    }

    const tensor_graph& program_;
    const turnip::memgraph& graph_;
    std::vector<byte_access> list_;
    std::vector<std::uint32_t> begin_ = {0};
    std::vector<std::uint32_t> vertex_of_;
    std::vector<buffer_index> found_;
    std::vector<buffer_index> wanted_;
    std::vector<byte_access> sorted_;
};
using memgraph_accesses = basic_memgraph_accesses<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_memgraph_accesses<>;
#endif

}  // namespace stowage::verify::detail
