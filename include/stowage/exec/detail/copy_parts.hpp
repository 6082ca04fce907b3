#pragma once
// Long copies go in parts, so that a more urgent one may go between: how far each has come.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/exec/lane.hpp>

namespace stowage::exec::detail {

class copy_parts {
public:
    /// Parts of `most` bytes; 0 or less: copies go whole.
    void prepare(std::size_t vertices, std::int64_t most) {
        most_ = std::max<std::int64_t>(0, most);
        if (most_ > 0) given_.resize(vertices);
    }
    void begin() noexcept { std::fill(given_.begin(), given_.end(), std::uint32_t{0}); }
    /// Cuts `copy`, the whole of what `v` copies, down to the part that is to be made next; true if it is the
    /// last.
    bool next(turnip::vertex_index v, copy_request& copy) noexcept {
        if (most_ == 0 || copy.bytes <= most_) return true;
        const std::int64_t begin = static_cast<std::int64_t>(given_[v]++) * most_;
        const std::int64_t left = copy.bytes - begin;
        copy.from_address += begin;
        copy.to_address += begin;
        if (copy.bound != nullptr) copy.bound += begin;
        copy.bytes = std::min(left, most_);
        return left <= most_;
    }
    /// At least the parts beside the first of a copy of so many bytes.
    [[nodiscard]] std::size_t more_than_one(std::int64_t bytes) const noexcept {
        return most_ == 0 ? 0 : static_cast<std::size_t>(bytes / most_);
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return given_.capacity() * sizeof(std::uint32_t);
    }

private:
    std::int64_t most_ = 0;
    std::vector<std::uint32_t> given_;  // by vertex: parts given to lanes in this run
};

}  // namespace stowage::exec::detail
