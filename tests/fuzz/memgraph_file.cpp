// Any bytes read as the memgraph of a small program: only an error of stowage may leave the reader.

#include <cstddef>
#include <cstdint>
#include <stowage/error.hpp>
#include <stowage/graph.hpp>
#include <stowage/io/memgraph_file.hpp>
#include <string_view>

namespace {

stowage::tensor_graph small_graph() {
    stowage::program program;
    const auto x = program.add_buffer({.bytes = 8, .kind = stowage::buffer_kind::input});
    const auto t = program.add_buffer({.bytes = 16});
    const auto y = program.add_buffer({.bytes = 4, .kind = stowage::buffer_kind::output});
    program.add_operator({.reads = {x}, .writes = {t}, .workspace = 32});
    program.add_operator({.reads = {t}, .writes = {y}, .device = 1});
    return stowage::make_tensor_graph(program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const stowage::tensor_graph graph = small_graph();
    try {
        const stowage::turnip::memgraph read =
            stowage::io::parse_memgraph(std::string_view(reinterpret_cast<const char*>(data), size), graph);
        if (stowage::io::parse_memgraph(stowage::io::memgraph_text(read), graph) != read) __builtin_trap();
    } catch (const stowage::error&) {
        return 0;
    }
    return 0;
}
