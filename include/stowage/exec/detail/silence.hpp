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
        most_ = most;
        since_.reset();
    }
    [[nodiscard]] bool is_watched() const noexcept { return most_.has_value(); }
    /// Something has ended.
    void broken() noexcept { since_.reset(); }
    /// The device is waited for at `now`; returns when it will be too long. It is watched.
    [[nodiscard]] std::int64_t until(std::int64_t now) noexcept {
        if (!since_) since_ = now;
        return *since_ + most_->count();
    }
    /// `looked`: the time before news was taken last.
    [[nodiscard]] bool is_too_long(std::int64_t looked) const noexcept {
        return most_ && since_ && looked - *since_ >= most_->count();
    }

private:
    std::optional<std::chrono::nanoseconds> most_ = {};
    std::optional<std::int64_t> since_ = {};
};

}  // namespace stowage::exec::detail
