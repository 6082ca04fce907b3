#pragma once
// Among layouts that fit: the one that reuses the bytes which were freed longest ago, so that a reload need
// not wait for a kernel that has only just let go of them. Source: docs/design.md, "How a memgraph is
// compiled"; papers/offload.md, "Address reuse".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// Moves rectangles of one device, the reloaded and newly written ones in the order of their beginning, to
/// free addresses below `capacity` whose last users ended earliest; nothing is moved onto another. Looks at
/// most at `most_looks` pairs of rectangles; O(rectangles) memory.
template <class = void>
void choose_later_addresses(const tensor_graph& program, const residency_model& model, stay_plan& plan,
                            memory_index device, std::int64_t capacity) {
    constexpr std::size_t most_looks = 40'000'000;
    struct box {
        std::int64_t lower = 0;  // bytes
        std::int64_t upper = 0;
        std::uint32_t from = 0;  // steps, both included
        std::uint32_t to = 0;
        std::uint32_t rectangle = rectangle::none;
        std::int64_t alignment = 1;
    };
    std::vector<box> boxes;
    for (std::uint32_t r = 0; r < plan.rectangles.size(); ++r) {
        const rectangle& stay = plan.rectangles[r];
        const model_instance& instance = model.instances[stay.instance];
        if (instance.device != device) continue;
        const bool may_move = stay.partner == rectangle::none && stay.lower > 0;
        boxes.push_back({stay.address, stay.address + program.bytes(instance.buffer), stay.lower, stay.upper,
                         may_move ? r : rectangle::none,
                         std::lcm(program.alignment(instance.buffer), model.alignment)});
    }
    for (std::uint32_t s = 0; s < plan.workspace.size(); ++s) {
        if (plan.workspace[s] < 0 || model.steps[s].device != device) continue;
        boxes.push_back({plan.workspace[s], plan.workspace[s] + program.workspace(model.steps[s].op), s, s});
    }
    std::sort(boxes.begin(), boxes.end(), [](const box& a, const box& b) {
        if (a.from != b.from) return a.from < b.from;
        return a.to != b.to ? a.to < b.to : a.lower < b.lower;
    });
    std::size_t looks = 0;
    struct used {
        std::int64_t lower;
        std::int64_t upper;
        std::uint32_t until;
        bool meets;  // in time: it may not be shared
    };
    std::vector<used> near;
    std::vector<std::int64_t> places;
    for (std::size_t k = 0; k < boxes.size(); ++k) {
        box& mine = boxes[k];
        if (mine.rectangle == rectangle::none) continue;
        looks += boxes.size();
        if (looks > most_looks) return;
        near.clear();
        std::uint32_t held = 0;
        for (std::size_t q = 0; q < boxes.size(); ++q) {
            const box& other = boxes[q];
            if (q == k) continue;
            const bool meets = other.from <= mine.to && mine.from <= other.to;
            if (!meets && other.to >= mine.from) continue;  // later: no matter here
            near.push_back({other.lower, other.upper, other.to, meets});
            if (!meets && other.lower < mine.upper && mine.lower < other.upper)
                held = std::max(held, other.to);
        }
        if (held + 1 < mine.from / 2) continue;  // free long enough
        // Places where something that meets it ends, or where it would end below such a thing.
        places.assign({0});
        for (const used& u : near) {
            if (!u.meets) continue;
            places.push_back(u.upper);
            places.push_back(u.lower - (mine.upper - mine.lower));
        }
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        if (places.size() > 24) {
            // A spread of them is enough.
            std::vector<std::int64_t> some;
            for (std::size_t i = 0; i < 24; ++i)
                some.push_back(places[i * places.size() / 24]);
            places.swap(some);
        }
        const std::int64_t size = mine.upper - mine.lower;
        for (std::int64_t place : places) {
            if (place < 0) continue;
            place = (place + mine.alignment - 1) / mine.alignment * mine.alignment;
            if (place > capacity - size) continue;
            std::uint32_t last = 0;
            bool open = true;
            for (const used& u : near) {
                if (u.lower >= place + size || place >= u.upper) continue;
                open = open && !u.meets;
                last = std::max(last, u.until);
                if (!open || last >= held) break;
            }
            looks += near.size() / 8;
            if (!open || last >= held) continue;
            held = last;
            mine.lower = place;
            mine.upper = place + size;
            plan.rectangles[mine.rectangle].address = place;
        }
    }
}

}  // namespace stowage::turnip::detail
