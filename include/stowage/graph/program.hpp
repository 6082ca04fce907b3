#pragma once
// `program`: buffers and operators submitted in program order with what each operator reads and writes, the
// way a task runtime is fed (as in Taskflow, StarPU or EnTT's flow). Dependencies are inferred when it
// becomes a tensor_graph.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/buffer_kind.hpp>
#include <stowage/graph/concepts.hpp>
#include <stowage/graph/stage.hpp>

namespace stowage {

/// Names a buffer of one program: its position, from 0.
enum class buffer_id : std::uint32_t {};

/// Names an operator of one program: its position, from 0.
enum class operator_id : std::uint32_t {};

/// What a program is told of a buffer.
struct buffer_options {
    std::int64_t bytes = 0;                          ///< size, 0 to 2^63 - 1
    buffer_kind kind = buffer_kind::intermediate;    ///< from when to when it holds contents
    std::string name = {};                           ///< for messages and pictures
    std::int64_t alignment = 1;                      ///< its offset is a multiple of this, > 0
    std::optional<std::int64_t> pinned_offset = {};  ///< its offset in the plan, if it is fixed beforehand
};

/// What a program is told of an operator.
struct operator_options {
    std::string name = {};                  ///< for messages and pictures
    std::vector<buffer_id> reads = {};      ///< buffers that it reads
    std::vector<buffer_id> writes = {};     ///< buffers that it writes; in place: in both lists
    std::int64_t workspace = 0;             ///< bytes that are alive only while it runs
    stowage::stage stage = stage::unknown;  ///< part of the training step
    std::optional<double> flops = {};       ///< arithmetic work, if known
    std::optional<double> seconds = {};     ///< time that it takes, if known
    std::uint32_t device = 0;               ///< index of the device that runs it
    std::vector<operator_id> after = {};    ///< control edges: earlier operators that must have run
};

/// A tensor program under construction. Adding is amortised O(size of what is added). Not for use by two
/// threads at once.
class program {
public:
    program() = default;

    /// Adds a buffer. Throws program_error, naming it, for a negative size or pin, or an alignment that is
    /// not positive.
    template <class = void>
    buffer_id add_buffer(buffer_options options) {
        const subject self{buffers_.size(), options.name};
        if (options.bytes < 0) throw program_error("its size is negative", {}, self);
        if (options.alignment <= 0) throw program_error("its alignment is not positive", {}, self);
        if (options.pinned_offset && *options.pinned_offset < 0)
            throw program_error("its offset is negative", {}, self);
        if (buffers_.size() >= limit)
            throw program_error("a program has less than 2^32 - 1 buffers", {}, self);
        buffers_.push_back(std::move(options));
        return buffer_id{static_cast<std::uint32_t>(buffers_.size() - 1)};
    }

    /// Adds an operator after all that were added before. Throws program_error, naming it, for a buffer or an
    /// earlier operator that does not exist, and for a negative workspace.
    template <class = void>
    operator_id add_operator(operator_options options) {
        const subject self{operators_.size(), options.name};
        check(options.reads, self, "reads a buffer that does not exist");
        check(options.writes, self, "writes a buffer that does not exist");
        if (options.workspace < 0) throw program_error("its workspace is negative", self);
        for (const operator_id before : options.after) {
            if (static_cast<std::size_t>(before) >= operators_.size()) {
                throw program_error("it is to run after an operator that was not added before it", self);
            }
        }
        if (operators_.size() >= limit)
            throw program_error("a program has less than 2^32 - 1 operators", self);
        operators_.push_back(std::move(options));
        return operator_id{static_cast<std::uint32_t>(operators_.size() - 1)};
    }

    /// All buffers, in the order in which they were added.
    [[nodiscard]] const std::vector<buffer_options>& buffers() const noexcept { return buffers_; }
    /// All operators, in program order.
    [[nodiscard]] const std::vector<operator_options>& operators() const noexcept { return operators_; }

    /// The members below make `program` a tensor_program, as tests/graph/program.cpp asserts; each is O(1).
    template <class = void>
    [[nodiscard]] const std::vector<buffer_id>& reads(const operator_options& op) const noexcept {
        return op.reads;
    }
    template <class = void>
    [[nodiscard]] const std::vector<buffer_id>& writes(const operator_options& op) const noexcept {
        return op.writes;
    }
    [[nodiscard]] std::int64_t bytes(const buffer_options& buffer) const noexcept { return buffer.bytes; }
    [[nodiscard]] buffer_kind kind(const buffer_options& buffer) const noexcept { return buffer.kind; }
    template <class = void>
    [[nodiscard]] std::string_view operator_name(const operator_options& op) const noexcept {
        return op.name;
    }
    template <class = void>
    [[nodiscard]] std::string_view buffer_name(const buffer_options& buffer) const noexcept {
        return buffer.name;
    }
    [[nodiscard]] stowage::stage stage(const operator_options& op) const noexcept { return op.stage; }
    [[nodiscard]] std::int64_t workspace(const operator_options& op) const noexcept { return op.workspace; }
    [[nodiscard]] std::optional<double> flops(const operator_options& op) const noexcept { return op.flops; }
    template <class = void>
    [[nodiscard]] std::optional<double> seconds(const operator_options& op) const noexcept {
        return op.seconds;
    }
    [[nodiscard]] std::uint32_t device(const operator_options& op) const noexcept { return op.device; }
    template <class = void>
    [[nodiscard]] std::int64_t alignment(const buffer_options& buffer) const noexcept {
        return buffer.alignment;
    }
    template <class = void>
    [[nodiscard]] std::optional<std::int64_t> pinned_offset(const buffer_options& buffer) const noexcept {
        return buffer.pinned_offset;
    }
    template <class = void>
    [[nodiscard]] const std::vector<operator_id>& control_predecessors(
        const operator_options& op) const noexcept {
        return op.after;
    }

private:
    static constexpr std::size_t limit = std::numeric_limits<std::uint32_t>::max() - 1;
    template <class = void>
    void check(const std::vector<buffer_id>& named, const subject& self, const char* rule) const {
        for (const buffer_id buffer : named) {
            if (static_cast<std::size_t>(buffer) >= buffers_.size()) {
                throw program_error(rule, self, {static_cast<std::size_t>(buffer), {}});
            }
        }
    }
    std::vector<buffer_options> buffers_;
    std::vector<operator_options> operators_;
};

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template operator_id program::add_operator(operator_options);
STOWAGE_TEMPLATES template buffer_id program::add_buffer(buffer_options);
#endif

}  // namespace stowage
