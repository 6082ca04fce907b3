// Any bytes read as a layout problem: only an error of stowage may leave the reader, and a problem that was
// read can be written and read again. fuzz-corpus: data/cases

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stowage/error.hpp>
#include <stowage/io/layout_csv.hpp>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace io = stowage::io;
    stowage::layout::problem problem;
    try {
        problem = io::parse_layout_problem(std::string_view(reinterpret_cast<const char*>(data), size));
        stowage::layout::validate(problem);
    } catch (const stowage::error&) {
        return 0;
    }
    const std::vector<std::int64_t> offsets(problem.buffers.size(), 0);
    const stowage::layout::problem again = io::parse_layout_problem(io::layout_answer_text(problem, offsets));
    if (again.names != problem.names) std::abort();
    return 0;
}
