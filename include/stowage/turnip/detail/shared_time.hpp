#pragma once
// One wall-clock limit for two pieces of work.

#include <stowage/turnip/options.hpp>

namespace stowage::turnip::detail {

/// Options for what chooses an order and for what compiles in it.
struct shared_time {
    compile_options choosing;
    compile_options compiling;
};

/// A wall-clock limit, where there is one, is for both: one part in `parts` to choose, the rest to compile.
template <class = void>
[[nodiscard]] shared_time share_time(const compile_options& asked, int parts) {
    shared_time result{asked, asked};
    if (asked.limits.time) {
        result.choosing.limits.time = *asked.limits.time / parts;
        result.compiling.limits.time = *asked.limits.time - *result.choosing.limits.time;
    }
    return result;
}

}  // namespace stowage::turnip::detail
