// A program that asks for stowage::json alone: it gets the core, the JSON library and zlib with it.
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <stowage/version.hpp>

int main() {
    static_assert(stowage::version.major == EXPECTED_MAJOR && stowage::version.minor == EXPECTED_MINOR);
    return nlohmann::json::parse("[1]").at(0) == 1 && zlibVersion()[0] == ZLIB_VERSION[0] ? 0 : 1;
}
