#pragma once
// The small programs of papers/roam.md, "Known small answers": each arrow is one tensor of an operator.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <stowage/graph.hpp>

namespace stowage::test {

struct arrow {
    std::size_t from;
    std::size_t to;
    std::int64_t bytes;
};

/// Operators 0 to `operators` - 1 in that order; an arrow without bytes is a control edge.
inline program arrows(std::size_t operators, std::initializer_list<arrow> list) {
    program result;
    std::vector<operator_options> ops(operators);
    for (const arrow& a : list) {
        if (a.bytes == 0) {
            ops[a.to].after.push_back(operator_id{static_cast<std::uint32_t>(a.from)});
            continue;
        }
        const buffer_id tensor = result.add_buffer({.bytes = a.bytes});
        ops[a.from].writes.push_back(tensor);
        ops[a.to].reads.push_back(tensor);
    }
    for (const operator_options& op : ops)
        result.add_operator(op);
    return result;
}

struct known_program {
    const char* name;
    program step;
    std::int64_t in_program_order;
    std::int64_t optimum;
    std::int64_t working_set;
    std::int64_t surely_alive;
    std::int64_t min_cut;
};

inline std::vector<known_program> known_programs() {
    const auto diamond = [](bool control) {
        return control ? arrows(7, {{0, 1, 10},
                                    {1, 2, 20},
                                    {1, 3, 30},
                                    {3, 4, 40},
                                    {4, 5, 50},
                                    {2, 5, 60},
                                    {5, 6, 10},
                                    {2, 4, 0}})
                       : arrows(7, {{0, 1, 10},
                                    {1, 2, 20},
                                    {1, 3, 30},
                                    {3, 4, 40},
                                    {4, 5, 50},
                                    {2, 5, 60},
                                    {5, 6, 10}});
    };
    program pairs;
    std::vector<buffer_id> made;
    for (const std::int64_t bytes : {1, 9, 1, 8, 1, 7, 8, 7}) {
        made.push_back(pairs.add_buffer({.bytes = bytes}));
        pairs.add_operator({.writes = {made.back()}});
    }
    for (const buffer_id tensor : made)
        pairs.add_operator({.reads = {tensor}});
    return {{"branch", arrows(5, {{0, 1, 10}, {1, 2, 20}, {1, 3, 30}, {3, 4, 40}}), 70, 70, 70, 70, 70},
            {"diamond", diamond(false), 150, 130, 120, 120, 120},
            {"diamond with a control edge", diamond(true), 150, 150, 120, 150, 150},
            {"two arms", arrows(5, {{0, 1, 10}, {0, 2, 20}, {1, 3, 30}, {3, 4, 40}, {2, 4, 50}}), 120, 110,
             90, 90, 90},
            {"eight pairs", pairs, 42, 9, 9, 9, 9}};
}

}  // namespace stowage::test
