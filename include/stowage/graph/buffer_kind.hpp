#pragma once
// What a buffer is to the program, and so from when to when its bytes are needed (the memory model of
// docs/design.md).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <stowage/graph/fwd.hpp>

namespace stowage {

/// The kind of a buffer. The numbers are those of the fingerprint in docs/formats.md and never change.
enum class buffer_kind : std::uint8_t {
    parameter = 0,        ///< persistent: there before the first operator and after the last
    buffer = 1,           ///< persistent, e.g. running statistics
    optimizer_state = 2,  ///< persistent
    input = 3,            ///< persistent
    constant = 4,         ///< persistent
    donated = 5,  ///< there before the first operator, free after its last access; it is part of the plan
    intermediate = 6,  ///< born at its first write, dead after its last access
    output = 7,        ///< born at its first write, alive to the end
};

/// Number of kinds.
inline constexpr std::size_t buffer_kind_count = 8;

/// Names of the kinds, as files spell them, by number.
inline constexpr std::array<std::string_view, buffer_kind_count> buffer_kind_names = {
    "parameter", "buffer", "optimizer_state", "input", "constant", "donated", "intermediate", "output"};

/// The kind's name, as files spell it.
[[nodiscard]] constexpr std::string_view to_string(buffer_kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index < buffer_kind_count ? buffer_kind_names[index] : std::string_view("?");
}

/// The kind of that name, or nothing.
template <class Kind = buffer_kind>
[[nodiscard]] constexpr std::optional<Kind> parse_buffer_kind(std::string_view name) noexcept {
    for (std::size_t i = 0; i < buffer_kind_count; ++i) {
        if (buffer_kind_names[i] == name) return static_cast<buffer_kind>(i);
    }
    return std::nullopt;
}

/// True for kinds whose bytes are there before, during and after the program: they are no part of a plan.
[[nodiscard]] constexpr bool is_persistent(buffer_kind kind) noexcept {
    return kind <= buffer_kind::constant;
}

/// True for kinds that hold contents before the first operator.
[[nodiscard]] constexpr bool is_alive_at_start(buffer_kind kind) noexcept {
    return kind <= buffer_kind::donated;
}

/// True for kinds that get an offset: donated, intermediate and output.
[[nodiscard]] constexpr bool is_planned(buffer_kind kind) noexcept {
    return !is_persistent(kind);
}

}  // namespace stowage
