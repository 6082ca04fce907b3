#pragma once
// The text of the error of a given type that a call throws; any other outcome is a text that says so.

#include <exception>
#include <string>

namespace stowage::test {

template <class Error, class Call>
std::string error_text(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    } catch (const std::exception& other) {
        return std::string("ANOTHER ERROR: ") + other.what();
    }
    return "NO ERROR";
}

}  // namespace stowage::test
