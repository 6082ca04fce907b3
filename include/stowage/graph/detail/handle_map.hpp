#pragma once
// Turns the handles of a user's graph (objects, pointers, integers, enums) into positions.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>

#include <stowage/error.hpp>
#include <stowage/graph/concepts.hpp>

namespace stowage::detail {

/// Where a plain or smart pointer points.
template <class Pointer>
[[nodiscard]] const void* address_of(const Pointer& value) {
    if constexpr (std::is_pointer_v<Pointer>)
        return value;
    else
        return value.operator->();
}

/// The value by which a handle is compared: an integer for integers and enums, else an address.
template <handle Handle>
[[nodiscard]] std::uint64_t handle_key(const std::remove_reference_t<Handle>& value) {
    if constexpr (integer_handle<Handle>) {
        return static_cast<std::uint64_t>(value);
    } else if constexpr (pointer_handle<Handle>) {
        return reinterpret_cast<std::uintptr_t>(address_of(value));
    } else if constexpr (wrapper_handle<Handle>) {
        return reinterpret_cast<std::uintptr_t>(static_cast<const void*>(&value.get()));
    } else {
        return reinterpret_cast<std::uintptr_t>(static_cast<const void*>(&value));
    }
}

/// Positions of the handles added so far. A table is kept only where it is needed: not for integers that are
/// 0, 1, 2, ... themselves, nor where nothing but positions is ever looked up.
template <handle Declared, bool ByPositionOnly>
class handle_map {
public:
    /// Gives `value` the next position; false if it has one already.
    [[nodiscard]] bool add(const std::remove_reference_t<Declared>& value) {
        if constexpr (integer_handle<Declared>) {
            const std::uint64_t key = handle_key<Declared>(value);
            if (table_.empty()) {
                if (key == count_) {
                    ++count_;
                    return true;
                }
                for (std::size_t i = 0; i < count_; ++i)
                    table_.emplace(i, i);
            }
            return table_.emplace(key, count_++).second;
        } else if constexpr (ByPositionOnly) {
            ++count_;
            return true;
        } else {
            return table_.emplace(handle_key<Declared>(value), count_++).second;
        }
    }

    /// The position of what `value` names, or no_index. An integer names a position where objects or pointers
    /// were added.
    template <class Named>
    [[nodiscard]] std::size_t find(const Named& value) const {
        const std::uint64_t key = handle_key<const Named&>(value);
        constexpr bool by_position = integer_handle<Named> && !integer_handle<Declared>;
        if (by_position || (integer_handle<Declared> && table_.empty())) {
            return key < count_ ? static_cast<std::size_t>(key) : no_index;
        }
        const auto found = table_.find(key);
        return found == table_.end() ? no_index : found->second;
    }

private:
    std::unordered_map<std::uint64_t, std::size_t> table_;
    std::size_t count_ = 0;
};

}  // namespace stowage::detail
