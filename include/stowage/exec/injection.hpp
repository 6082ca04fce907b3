#pragma once
// Faults on purpose: what a test, or a user who doubts his recovery code, makes a device do with a unit of
// work. host_device and simulated_device take them.

#include <chrono>
#include <cstdint>
#include <functional>

#include <stowage/exec/lane.hpp>

namespace stowage::exec {

/// What goes wrong.
enum class injected_effect : std::uint8_t {
    none,         ///< nothing
    fail,         ///< the work ends as failed
    refuse,       ///< submit refuses it
    lose_device,  ///< the device is lost when the work would end
    hang,         ///< the work's end never comes
};

/// One unit of work's fate.
struct injection {
    injected_effect effect = injected_effect::none;  ///< what goes wrong
    std::chrono::nanoseconds delay{0};               ///< how much longer the work takes
};

/// Asked once for each unit of work, by the dispatcher's thread, when it is submitted.
using injector = std::function<injection(const lane_work&)>;

}  // namespace stowage::exec
