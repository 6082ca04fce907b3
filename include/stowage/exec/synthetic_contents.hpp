#pragma once
// Kernels that make and check contents, so that a run in which any byte is wrong is found out: every version
// of a buffer has a digest that follows from how it was made, and its bytes are the splitmix64 stream seeded
// with the digest. Source: docs/formats.md, run_memgraph.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/detail/fnv.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/error.hpp>
#include <stowage/exec/kernel.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::exec {

/// A byte is not what it should be.
class contents_error : public error {
public:
    /// `op` is the operator that read it, empty at the end of a run; `byte` is where in `buffer` it is.
    contents_error(subject op, subject buffer, std::int64_t byte)
        : error((op.index == no_index ? std::string("at the end") : op.text("operator")) + ": " +
                buffer.text("buffer") + " has wrong contents from byte " + std::to_string(byte)),
          operator_(std::move(op)), buffer_(std::move(buffer)), byte_(byte) {}
    [[nodiscard]] const subject& operator_concerned() const noexcept { return operator_; }
    [[nodiscard]] const subject& buffer_concerned() const noexcept { return buffer_; }
    [[nodiscard]] std::int64_t byte() const noexcept { return byte_; }

private:
    subject operator_;
    subject buffer_;
    std::int64_t byte_;
};

/// Writes the stream of `digest`. O(bytes).
inline void write_stream(std::uint64_t digest, std::span<std::byte> to) noexcept {
    static_assert(std::endian::native == std::endian::little);
    stowage::detail::splitmix64 stream(digest);
    std::size_t at = 0;
    for (; at + 8 <= to.size(); at += 8) {
        const std::uint64_t word = stream();
        std::memcpy(to.data() + at, &word, 8);
    }
    if (at < to.size()) {
        const std::uint64_t word = stream();
        std::memcpy(to.data() + at, &word, to.size() - at);
    }
}
/// The position of the first byte that is not of the stream of `digest`, or -1. O(bytes).
[[nodiscard]] inline std::int64_t first_difference(std::uint64_t digest,
                                                   std::span<const std::byte> bytes) noexcept {
    stowage::detail::splitmix64 stream(digest);
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        const std::uint64_t word = stream();
        const std::size_t count = std::min<std::size_t>(8, bytes.size() - at);
        std::uint64_t found = 0;
        std::memcpy(&found, bytes.data() + at, count);
        if (count == 8 ? found == word : std::memcmp(&found, &word, count) == 0) continue;
        std::size_t byte = 0;
        while (reinterpret_cast<const std::byte*>(&word)[byte] == bytes[at + byte])
            ++byte;
        return static_cast<std::int64_t>(at + byte);
    }
    return -1;
}

/// The digests of a program's contents: of each buffer at the start, after each operator, at the end.
template <class = void>
class basic_synthetic_digests {
public:
    /// O(accesses).
    explicit basic_synthetic_digests(const tensor_graph& program) : final_(program.buffer_count(), 0) {
        for (buffer_index b = 0; b < program.buffer_count(); ++b) {
            if (is_alive_at_start(program.kind(b))) final_[b] = mix(1, b);
        }
        start_ = final_;
        std::vector<std::uint8_t> written(program.buffer_count(), 0);
        first_.reserve(program.operator_count() + 1);
        for (operator_index op = 0; op < program.operator_count(); ++op) {
            first_.push_back(accesses_.size());
            for (const buffer_index b : program.reads(op))
                accesses_.push_back(final_[b]);
            for (const buffer_index b : program.writes(op)) {
                stowage::detail::fnv1a_64 digest;
                digest.add(2);
                digest.add(op);
                digest.add(b);
                for (std::size_t i = first_[op]; i < first_[op] + program.reads(op).size(); ++i)
                    digest.add(accesses_[i]);
                accesses_.push_back(digest.value());
            }
            for (std::size_t i = 0; i < program.writes(op).size(); ++i) {
                const buffer_index b = program.writes(op)[i];
                written[b] = 1;
                final_[b] = accesses_[first_[op] + program.reads(op).size() + i];
            }
        }
        stowage::detail::fnv1a_64 hash;
        hash.add(3);
        for (buffer_index b = 0; b < program.buffer_count(); ++b) {
            const buffer_kind kind = program.kind(b);
            const bool ends = kind == buffer_kind::output || (is_persistent(kind) && written[b] != 0);
            ends_.push_back(ends ? 1 : 0);
            if (ends) hash.add(final_[b]);
        }
        hash_ = hash.value();
    }
    /// Of `b` before the first operator.
    [[nodiscard]] std::uint64_t at_start(buffer_index b) const noexcept { return start_[b]; }
    /// Of `b` after the last operator.
    [[nodiscard]] std::uint64_t at_end(buffer_index b) const noexcept { return final_[b]; }
    /// True for outputs and written persistent buffers.
    [[nodiscard]] bool ends(buffer_index b) const noexcept { return ends_[b] != 0; }
    /// Of access `i` of `op`, reads as listed, then writes: what it reads, what it leaves.
    [[nodiscard]] std::uint64_t of_access(operator_index op, std::size_t i) const noexcept {
        return accesses_[first_[op] + i];
    }
    /// `contents_hash` of docs/formats.md: the same for every right run of the program.
    [[nodiscard]] std::uint64_t contents_hash() const noexcept { return hash_; }

private:
    [[nodiscard]] static std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
        stowage::detail::fnv1a_64 hash;
        hash.add(a);
        hash.add(b);
        return hash.value();
    }
    std::vector<std::uint64_t> start_;
    std::vector<std::uint64_t> final_;
    std::vector<std::uint8_t> ends_;
    std::vector<std::uint64_t> accesses_;
    std::vector<std::size_t> first_;
    std::uint64_t hash_ = 0;
};
/// See basic_synthetic_digests.
using synthetic_digests = basic_synthetic_digests<>;

/// Kernels for any program: each compares every byte that its operator reads, and throws contents_error if
/// one is wrong; then it writes every byte of the results and of the workspace. For devices whose memory the
/// host can touch. Copies share the digests; any number of threads may call them. The program must outlive
/// them.
template <class = void>
class basic_synthetic_kernels {
public:
    explicit basic_synthetic_kernels(const tensor_graph& program, const synthetic_digests& digests)
        : program_(&program), digests_(&digests) {}
    template <class Handle>
    void operator()(const kernel_call<Handle>& call) const {
        std::fill(call.workspace.begin(), call.workspace.end(), std::byte{0x5a});
        for (std::size_t i = 0; i < call.reads.size(); ++i) {
            const std::int64_t wrong = first_difference(digests_->of_access(call.op, i), call.reads[i]);
            if (wrong < 0) continue;
            throw contents_error(program_->describe_operator(call.op),
                                 program_->describe_buffer(program_->reads(call.op)[i]), wrong);
        }
        for (std::size_t i = 0; i < call.writes.size(); ++i)
            write_stream(digests_->of_access(call.op, call.reads.size() + i), call.writes[i]);
    }
    /// Writes the contents of every buffer that is there at the start, by an executor of the program.
    template <class Executor, class Residences>
    void fill(Executor& executor, const Residences& start) const {
        std::vector<std::byte> bytes;
        for (const auto& r : start) {
            bytes.resize(static_cast<std::size_t>(program_->bytes(r.buffer)));
            write_stream(digests_->at_start(r.buffer), bytes);
            executor.write(r.buffer, bytes);
        }
    }
    /// Compares every buffer that must be somewhere at the end. Throws contents_error.
    template <class Executor, class Residences>
    void check(Executor& executor, const Residences& final) const {
        std::vector<std::byte> bytes;
        for (const auto& r : final) {
            bytes.resize(static_cast<std::size_t>(program_->bytes(r.buffer)));
            executor.read(r.buffer, bytes);
            const std::int64_t wrong = first_difference(digests_->at_end(r.buffer), bytes);
            if (wrong >= 0) throw contents_error({}, program_->describe_buffer(r.buffer), wrong);
        }
    }

private:
    const tensor_graph* program_;
    const synthetic_digests* digests_;
};
/// See basic_synthetic_kernels.
using synthetic_kernels = basic_synthetic_kernels<>;

}  // namespace stowage::exec
