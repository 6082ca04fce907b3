#pragma once
// Texts from files, made fit for a message.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace stowage::io::detail {

/// A text from a file, shortened for a message.
template <class = void>
[[nodiscard]] std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 60;
    std::string result(text.substr(0, longest));
    std::replace_if(
        result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return "`" + result + (text.size() > longest ? "...`" : "`");
}

}  // namespace stowage::io::detail
