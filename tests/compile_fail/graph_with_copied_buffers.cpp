// Buffers that are objects must be those of the graph: copies have other addresses than what operators name.
// expect: has_buffers
// expect: handle_range
#include <stowage/graph.hpp>

struct graph {
    struct tensor {
        std::int64_t size;
    };
    std::vector<int> operators() const { return {}; }
#ifdef PASS
    const std::vector<tensor>& buffers() const {
        return tensors;
    }
#else
    std::vector<tensor> buffers() const {
        return tensors;
    }
#endif
    std::vector<const tensor*> reads(int) const {
        return {};
    }
    std::vector<const tensor*> writes(int) const {
        return {};
    }
    std::int64_t bytes(const tensor& of) const {
        return of.size;
    }
    stowage::buffer_kind kind(const tensor&) const {
        return stowage::buffer_kind::intermediate;
    }
    std::vector<tensor> tensors;
};

int main() {
    return static_cast<int>(stowage::make_tensor_graph(graph{}).operator_count());
}
