// Any bytes read as a program, compressed or not: only an error of stowage may leave the reader.
// fuzz-corpus: data/cases

#include <cstddef>
#include <cstdint>
#include <stowage/error.hpp>
#include <stowage/io/access_list.hpp>
#include <string>
#include <utility>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    try {
        const std::string text = stowage::io::decompress(std::move(bytes), "fuzz", {.max_bytes = 1 << 20});
        static_cast<void>(stowage::io::parse_access_list(text, "fuzz"));
    } catch (const stowage::error&) {
        return 0;
    }
    return 0;
}
