#pragma once
// The reader behind parse_layout_problem.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/io/detail/csv.hpp>
#include <stowage/io/detail/quoted.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::io::detail {

class layout_reader {
public:
    layout_reader(std::string_view text, const std::string& source) : rows_(text, source), source_(source) {}

    [[nodiscard]] layout::problem read() {
        if (!rows_.next(fields_)) throw parse_error("no header", source_, 1, 1);
        read_header();
        layout::problem problem;
        const std::size_t rows = rows_.remaining_lines();
        problem.buffers.reserve(rows);
        problem.names.reserve(rows);
        ids_.reserve(rows);
        while (rows_.next(fields_)) {
            if (fields_.size() != header_.size()) wrong_length();
            id_ = fields_[place_[id]].text;
            if (!ids_.insert(id_).second) fail(id, "another buffer has this id");
            problem.buffers.push_back(read_buffer());
            problem.names.emplace_back(id_);
        }
        return problem;
    }

private:
    enum column : std::size_t { id, lower, upper, size, alignment, offset, gaps, pool, column_count };
    static constexpr std::array<std::string_view, column_count> names = {
        "id", "lower", "upper", "size", "alignment", "offset", "gaps", "pool"};
    static constexpr std::size_t required = 4;
    static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();
    static constexpr std::int64_t max_pool = 65'535;

    void read_header() {
        place_.fill(absent);
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            header_.emplace_back(fields_[i].text);
            for (std::size_t c = 0; c < column_count; ++c) {
                if (names[c] != fields_[i].text) continue;
                if (place_[c] != absent) {
                    throw parse_error("the column occurs twice", source_, fields_[i].line, fields_[i].column,
                                      header_.back());
                }
                place_[c] = i;
            }
        }
        for (std::size_t c = 0; c < required; ++c) {
            if (place_[c] == absent) {
                throw parse_error("the header has no such column", source_, fields_[0].line, 1,
                                  std::string(names[c]));
            }
        }
    }

    [[noreturn]] void wrong_length() {
        const csv_field& last = fields_.back();
        const std::size_t at = place_[id];
        throw parse_error((at < fields_.size() ? "buffer " + quoted(fields_[at].text) + ": " : "") +
                              "the row has " + std::to_string(fields_.size()) + " fields, the header " +
                              std::to_string(header_.size()),
                          source_, last.line, last.column);
    }

    [[noreturn]] void fail(column where, std::string rule) const {
        const csv_field& field = fields_[place_[where]];
        throw parse_error("buffer " + quoted(id_) + ": " + std::move(rule), source_, field.line, field.column,
                          std::string(names[where]));
    }

    /// The field's text; empty where the column is absent.
    [[nodiscard]] std::string_view text(column where) const {
        return place_[where] == absent ? std::string_view{} : fields_[place_[where]].text;
    }

    [[nodiscard]] std::int64_t number(column where, std::string_view digits) const {
        std::int64_t value = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stop, code] = std::from_chars(digits.data(), end, value);
        if (code == std::errc::result_out_of_range && stop == end) {
            fail(where, quoted(digits) + " does not fit 64 bits");
        }
        if (code != std::errc{} || stop != end) {
            fail(where, digits.empty() ? "the field is empty" : quoted(digits) + " is no integer");
        }
        return value;
    }
    [[nodiscard]] std::int64_t number(column where) const { return number(where, text(where)); }

    [[nodiscard]] layout::buffer read_buffer() const {
        layout::buffer b;
        b.lower = number(lower);
        b.upper = number(upper);
        if (b.upper < b.lower) {
            fail(upper, "lower " + std::to_string(b.lower) + " > upper " + std::to_string(b.upper) +
                            ": its lifetime ends before it begins");
        }
        b.size = number(size);
        if (b.size < 0) fail(size, "size " + std::to_string(b.size) + " is negative");
        if (!text(alignment).empty()) {
            b.alignment = number(alignment);
            if (b.alignment <= 0) {
                fail(alignment, "alignment " + std::to_string(b.alignment) + " is not positive");
            }
        }
        if (!text(offset).empty()) {
            b.offset = number(offset);
            if (*b.offset < 0) fail(offset, "offset " + std::to_string(*b.offset) + " is negative");
            std::int64_t end = 0;
            if (__builtin_add_overflow(*b.offset, b.size, &end)) {
                fail(offset, "offset + size passes 2^63 - 1");
            }
        }
        if (!text(gaps).empty()) read_gaps(b);
        if (!text(pool).empty()) {
            const std::int64_t value = number(pool);
            if (value < 0 || value > max_pool) {
                fail(pool, "pool " + std::to_string(value) + " is not in 0 to " + std::to_string(max_pool));
            }
            b.pool = static_cast<std::uint32_t>(value);
        }
        return b;
    }

    void read_gaps(layout::buffer& b) const {
        std::string_view rest = text(gaps);
        while (!rest.empty()) {
            const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
            rest.remove_prefix(word.size());
            rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
            const std::size_t dash = word.find('-', 1);
            if (dash == std::string_view::npos) fail(gaps, quoted(word) + " is no `lower-upper`");
            const layout::interval gap{number(gaps, word.substr(0, dash)),
                                       number(gaps, word.substr(dash + 1))};
            if (gap.upper < gap.lower || gap.lower < b.lower || gap.upper > b.upper) {
                fail(gaps, "the gap " + quoted(word) + " is not inside its lifetime");
            }
            if (gap.lower < gap.upper) b.gaps.push_back(gap);
        }
        std::sort(b.gaps.begin(), b.gaps.end(), [](const layout::interval& x, const layout::interval& y) {
            return x.lower != y.lower ? x.lower < y.lower : x.upper < y.upper;
        });
        std::size_t kept = 0;
        for (std::size_t i = 1; i < b.gaps.size(); ++i) {
            if (b.gaps[i].lower <= b.gaps[kept].upper) {
                b.gaps[kept].upper = std::max(b.gaps[kept].upper, b.gaps[i].upper);
            } else {
                b.gaps[++kept] = b.gaps[i];
            }
        }
        if (!b.gaps.empty()) b.gaps.resize(kept + 1);
    }

    csv_rows rows_;
    const std::string& source_;
    std::vector<csv_field> fields_;
    std::vector<std::string> header_;
    std::array<std::size_t, column_count> place_ = {};
    std::string_view id_;                       // of the row in work
    std::unordered_set<std::string_view> ids_;  // parts of the text
};

}  // namespace stowage::io::detail
