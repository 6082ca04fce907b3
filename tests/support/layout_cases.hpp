#pragma once
// What the layout tests share: a reader of layout CSV files, a quadratic checker, brute force and random
// problems. None of it uses the library's engines.

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/problem.hpp>

namespace layout_cases {

using stowage::layout::buffer;
using stowage::layout::interval;
using stowage::layout::problem;

/// Reads a well-formed layout CSV file.
inline problem read_csv(const std::string& path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path);
    const auto cells_of = [](std::string line) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
            line.pop_back();
        std::vector<std::string> cells;
        std::stringstream stream(line + ",");
        for (std::string cell; std::getline(stream, cell, ',');)
            cells.push_back(cell);
        return cells;
    };
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> columns = cells_of(line);
    problem result;
    while (std::getline(in, line)) {
        const std::vector<std::string> cells = cells_of(line);
        if (cells.size() < 4) continue;
        buffer b;
        std::string name;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (cells[c].empty()) continue;
            if (columns[c] == "id") name = cells[c];
            if (columns[c] == "lower") b.lower = std::stoll(cells[c]);
            if (columns[c] == "upper") b.upper = std::stoll(cells[c]);
            if (columns[c] == "size") b.size = std::stoll(cells[c]);
            if (columns[c] == "alignment") b.alignment = std::stoll(cells[c]);
            if (columns[c] == "offset") b.offset = std::stoll(cells[c]);
        }
        result.buffers.push_back(b);
        result.names.push_back(name);
    }
    return result;
}

/// The spans of time in which a buffer holds bytes.
inline std::vector<interval> held(const buffer& b) {
    std::vector<interval> spans;
    std::int64_t from = b.lower;
    for (const interval& gap : b.gaps) {
        if (from < gap.lower) spans.push_back({from, gap.lower});
        from = std::max(from, gap.upper);
    }
    if (from < b.upper) spans.push_back({from, b.upper});
    return b.size > 0 ? spans : std::vector<interval>{};
}

/// True if two buffers hold bytes at one moment.
inline bool meet(const buffer& a, const buffer& b) {
    for (const interval& x : held(a)) {
        for (const interval& y : held(b)) {
            if (x.lower < y.upper && y.lower < x.upper) return true;
        }
    }
    return false;
}

/// What is wrong with a layout, or an empty text. Quadratic.
inline std::string fault(const problem& problem, std::span<const std::int64_t> offsets) {
    if (offsets.size() != problem.buffers.size()) return "not one offset a buffer";
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        const buffer& a = problem.buffers[i];
        const std::string name = "buffer " + std::to_string(i);
        if (a.offset && offsets[i] != *a.offset) return name + " is not at its pin";
        if (held(a).empty()) {
            if (offsets[i] != a.offset.value_or(0)) return name + " takes part in nothing, but is not at 0";
            continue;
        }
        if (offsets[i] < 0) return name + " has no offset";
        if (offsets[i] % a.alignment != 0 || offsets[i] % problem.alignment != 0)
            return name + " is not aligned";
        for (std::size_t j = 0; j < i; ++j) {
            const buffer& b = problem.buffers[j];
            if (offsets[i] >= offsets[j] + b.size || offsets[j] >= offsets[i] + a.size) continue;
            if (meet(a, b)) return name + " overlaps buffer " + std::to_string(j);
        }
    }
    return {};
}

/// The largest offset + size.
inline std::int64_t arena(const problem& problem, std::span<const std::int64_t> offsets) {
    std::int64_t result = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        if (!held(problem.buffers[i]).empty())
            result = std::max(result, offsets[i] + problem.buffers[i].size);
    }
    return result;
}

/// The largest sum of sizes held at one moment, by trying every birth. Quadratic.
inline std::int64_t load(const problem& problem) {
    std::vector<std::pair<interval, std::int64_t>> spans;
    for (const buffer& b : problem.buffers) {
        for (const interval& span : held(b))
            spans.emplace_back(span, b.size);
    }
    std::int64_t result = 0;
    for (const auto& [span, own] : spans) {
        std::int64_t sum = 0;
        for (const auto& [other, bytes] : spans) {
            if (other.lower <= span.lower && span.lower < other.upper) sum += bytes;
        }
        result = std::max(result, sum);
    }
    return result;
}

/// The least arena, by brute force: each buffer in turn (in every order, by depth-first search) at its lowest
/// free aligned offset above those placed before it in the order. For up to about 8 buffers; pins are placed
/// first.
inline std::int64_t least_arena(const problem& problem) {
    const std::size_t n = problem.buffers.size();
    std::vector<std::int64_t> offsets(n, -1);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::int64_t base = 0;
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < n; ++i) {
        const buffer& b = problem.buffers[i];
        if (held(b).empty()) continue;
        if (b.offset) {
            offsets[i] = *b.offset;
            base = std::max(base, *b.offset + b.size);
        } else {
            free.push_back(i);
        }
    }
    std::vector<char> meets(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            meets[i * n + j] = meet(problem.buffers[i], problem.buffers[j]);
    }
    // An optimal layout can be pushed down until each free buffer lies at the lowest aligned offset above
    // some set of buffers below it: placing in ascending order of offset, each at its lowest free place,
    // finds it.
    std::vector<std::size_t> order(free);
    const auto lowest = [&](std::size_t i) {
        const buffer& b = problem.buffers[i];
        const std::int64_t step = std::lcm(b.alignment, problem.alignment);
        for (std::int64_t offset = 0;; offset += step) {
            bool fits = true;
            for (std::size_t j = 0; j < n && fits; ++j) {
                if (offsets[j] < 0 || j == i || meets[i * n + j] == 0) continue;
                fits = offset >= offsets[j] + problem.buffers[j].size || offsets[j] >= offset + b.size;
            }
            if (fits) return offset;
        }
    };
    const auto search = [&](const auto& self, std::size_t placed, std::int64_t top) -> void {
        if (top >= best) return;
        if (placed == order.size()) {
            best = top;
            return;
        }
        for (std::size_t k = placed; k < order.size(); ++k) {
            std::swap(order[placed], order[k]);
            const std::size_t i = order[placed];
            offsets[i] = lowest(i);
            self(self, placed + 1, std::max(top, offsets[i] + problem.buffers[i].size));
            offsets[i] = -1;
            std::swap(order[placed], order[k]);
        }
    };
    search(search, 0, base);
    return best;
}

/// What a random problem may have.
struct features {
    bool alignment = false;        ///< one alignment for all
    bool mixed_alignment = false;  ///< alignments of their own, not only powers of two
    bool pins = false;             ///< pinned offsets that do not overlap
    bool gaps = false;             ///< gaps in lifetimes
    bool empty = false;            ///< zero sizes and empty lifetimes
};

/// A small random problem of `n` buffers.
inline problem random_problem(std::size_t n, const features& features, stowage::detail::splitmix64& random) {
    problem result;
    const auto draw = [&](std::uint64_t from, std::uint64_t to) {
        return static_cast<std::int64_t>(from + random.below(to - from + 1));
    };
    const std::array<std::int64_t, 6> alignments = {1, 2, 3, 4, 6, 8};
    if (features.alignment) result.alignment = alignments[random.below(alignments.size())];
    const std::uint64_t horizon = 4 + random.below(12);
    for (std::size_t i = 0; i < n; ++i) {
        buffer b;
        b.lower = draw(0, horizon - 1);
        b.upper = b.lower + draw(1, 1 + random.below(horizon));
        b.size = draw(1, 1 + random.below(20));
        if (features.mixed_alignment) b.alignment = alignments[random.below(alignments.size())];
        if (features.empty && random.below(6) == 0) b.size = 0;
        if (features.empty && random.below(6) == 0) b.upper = b.lower;
        if (features.gaps && random.below(2) == 0) {
            std::int64_t at = b.lower;
            while (at < b.upper && random.below(3) != 0) {
                interval gap;
                gap.lower = std::min(b.upper, at + draw(0, 3));
                gap.upper = std::min(b.upper, gap.lower + draw(0, 3));
                b.gaps.push_back(gap);
                at = gap.upper;
            }
        }
        result.buffers.push_back(b);
    }
    if (features.pins) {
        for (std::size_t i = 0; i < n; ++i) {
            if (random.below(4) != 0) continue;
            buffer& b = result.buffers[i];
            const std::int64_t step = std::lcm(b.alignment, result.alignment);
            b.offset = step * draw(0, static_cast<std::uint64_t>(40 / step));
            for (std::size_t j = 0; j < i; ++j) {
                const buffer& other = result.buffers[j];
                if (!b.offset || !other.offset) continue;
                const bool apart =
                    *b.offset >= *other.offset + other.size || *other.offset >= *b.offset + b.size;
                if (!apart && meet(b, other)) b.offset.reset();
            }
        }
    }
    return result;
}

/// The public layout problems, or nothing where they are not at hand.
inline std::vector<std::filesystem::path> public_files(const std::string& shared_folder) {
    std::vector<std::filesystem::path> files;
    const std::filesystem::path folder = std::filesystem::path(shared_folder) / "layout";
    if (shared_folder.empty() || !std::filesystem::is_directory(folder)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".csv") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace layout_cases
