// An optional fact of the wrong type is not passed over in silence.
// expect: must give a stowage::stage
#include <stowage/graph.hpp>

struct graph {
    std::vector<int> operators() const { return {}; }
    std::vector<int> buffers() const { return {}; }
    std::vector<int> reads(int) const { return {}; }
    std::vector<int> writes(int) const { return {}; }
    std::int64_t bytes(int) const { return 0; }
    stowage::buffer_kind kind(int) const { return stowage::buffer_kind::intermediate; }
#ifdef PASS
    stowage::stage stage(int) const {
        return stowage::stage::forward;
    }
#else
    const char* stage(int) const {
        return "forward";
    }
#endif
};

int main() {
    return static_cast<int>(stowage::make_tensor_graph(graph{}).operator_count());
}
