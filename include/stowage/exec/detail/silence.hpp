#pragma once
// How long a device has been silent: the watchdog's clock.

#include <chrono>
#include <cstdint>
#include <optional>

namespace stowage::exec::detail {

/// Counts, by the device's clock, from the first wait after something has ended. A dispatcher that was not
/// scheduled blames nobody: silence is judged by a look at the clock before news was taken.
class silence {
public:
    /// Longer than `most` is too long; none: never.
    void begin(std::optional<std::chrono::nanoseconds> most) noexcept {
        most_ = most.value_or(std::chrono::nanoseconds(none)).count();
        since_ = none;
    }
    [[nodiscard]] bool is_watched() const noexcept { return most_ != none; }
    /// Something has ended.
    void broken() noexcept { since_ = none; }
    /// The device is waited for at `now`; returns when it will be too long. It is watched.
    [[nodiscard]] std::int64_t until(std::int64_t now) noexcept {
        if (since_ == none) since_ = now;
        return since_ + most_;
    }
    /// `looked`: the time before news was taken last.
    [[nodiscard]] bool is_too_long(std::int64_t looked) const noexcept {
        return is_watched() && since_ != none && looked - since_ >= most_;
    }

private:
    static constexpr std::int64_t none = -1;
    std::int64_t most_ = none;   // nanoseconds
    std::int64_t since_ = none;  // by the device's clock
};

}  // namespace stowage::exec::detail
