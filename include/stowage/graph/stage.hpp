#pragma once
// The part of a training step that an operator belongs to.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <stowage/graph/fwd.hpp>

namespace stowage {

/// Forward pass, backward pass or weight update; `unknown` where nobody said.
enum class stage : std::uint8_t { unknown = 0, forward = 1, backward = 2, update = 3 };

/// Names of the stages as files spell them; `unknown` is the empty string there.
inline constexpr std::array<std::string_view, 4> stage_names = {"", "forward", "backward", "update"};

/// The stage's name as files spell it; empty for `unknown`.
[[nodiscard]] constexpr std::string_view to_string(stage value) noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < stage_names.size() ? stage_names[index] : std::string_view("?");
}

/// The stage of that name, or nothing.
template <class Stage = stage>
[[nodiscard]] constexpr std::optional<Stage> parse_stage(std::string_view name) noexcept {
    for (std::size_t i = 0; i < stage_names.size(); ++i) {
        if (stage_names[i] == name) return static_cast<stage>(i);
    }
    return std::nullopt;
}

}  // namespace stowage
