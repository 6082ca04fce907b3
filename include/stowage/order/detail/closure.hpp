#pragma once
// All ancestors and descendants of all operators, one bit each: n^2 / 4 bytes, for problems of some thousand
// operators.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// Rows of bits, one row an operator, one bit an operator.
template <class = void>
class basic_bit_rows {
public:
    basic_bit_rows() = default;
    explicit basic_bit_rows(std::size_t count) : words_((count + 63) / 64), bits_(count * words_, 0) {}
    [[nodiscard]] std::size_t words() const noexcept { return words_; }
    [[nodiscard]] std::span<std::uint64_t> operator[](std::size_t row) noexcept {
        return {bits_.data() + row * words_, words_};
    }
    [[nodiscard]] std::span<const std::uint64_t> operator[](std::size_t row) const noexcept {
        return {bits_.data() + row * words_, words_};
    }
    [[nodiscard]] bool test(std::size_t row, operator_index op) const noexcept {
        return (bits_[row * words_ + op / 64] >> (op % 64) & 1U) != 0;
    }
    void set(std::size_t row, operator_index op) noexcept {
        bits_[row * words_ + op / 64] |= std::uint64_t{1} << (op % 64);
    }
    /// Row `to` takes in row `from`.
    void join(std::size_t to, std::size_t from) noexcept {
        for (std::size_t w = 0; w < words_; ++w)
            bits_[to * words_ + w] |= bits_[from * words_ + w];
    }

private:
    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
};
using bit_rows = basic_bit_rows<>;

/// Who must run before and after whom. O(n m / 64).
struct closure {
    template <class = void>
    explicit closure(const order_problem& problem)
        : ancestors(problem.operator_count()), descendants(problem.operator_count()) {
        const auto count = static_cast<operator_index>(problem.operator_count());
        for (operator_index op = 0; op < count; ++op) {
            for (const operator_index before : problem.predecessors[op]) {
                ancestors.join(op, before);
                ancestors.set(op, before);
            }
        }
        for (operator_index op = count; op-- > 0;) {
            for (const operator_index after : problem.successors[op]) {
                descendants.join(op, after);
                descendants.set(op, after);
            }
        }
    }
    bit_rows ancestors;
    bit_rows descendants;
};

}  // namespace stowage::order::detail
