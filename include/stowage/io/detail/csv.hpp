#pragma once
// Rows of comma-separated values (RFC 4180), with the place of every field. Fields that need no unquoting are
// views into the text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>

namespace stowage::io::detail {

/// One field and where it begins.
struct csv_field {
    std::string_view text;  // without quotes and without blanks around it
    std::size_t line = 1;
    std::size_t column = 1;
};

/// Goes through a text row by row. Rows end in LF or CR LF; quoted fields may hold commas, line ends and
/// doubled quotes; rows of blanks alone are skipped.
class csv_rows {
public:
    csv_rows(std::string_view text, const std::string& source) : text_(text), source_(source) {
        if (text_.starts_with("\xef\xbb\xbf")) next_ = line_start_ = 3;
    }

    /// Reads the next row; false at the end. Unquoted texts live as long as this object.
    [[nodiscard]] bool next(std::vector<csv_field>& fields) {
        while (next_ < text_.size()) {
            fields.clear();
            bool more = true;
            while (more) {
                fields.push_back(field());
                more = next_ < text_.size() && text_[next_] == ',';
                if (more) ++next_;
            }
            if (next_ < text_.size()) end_line();
            if (fields.size() > 1 || !fields[0].text.empty()) return true;
        }
        return false;
    }
    /// About the number of rows to come; bounded by the text, for a row of four fields has 8 bytes.
    [[nodiscard]] std::size_t remaining_lines() const {
        const auto lines = static_cast<std::size_t>(
            std::count(text_.begin() + static_cast<std::ptrdiff_t>(next_), text_.end(), '\n'));
        return std::min(lines, (text_.size() - next_) / 8) + 1;
    }

private:
    static constexpr std::string_view blanks = " \t\r\v\f";

    [[nodiscard]] static std::string_view trim(std::string_view text) {
        const std::size_t first = text.find_first_not_of(blanks);
        if (first == std::string_view::npos) return {};
        return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
    }

    void end_line() {
        ++next_;
        ++line_;
        line_start_ = next_;
    }

    [[nodiscard]] csv_field field() {
        const std::size_t begin = next_;
        while (next_ < text_.size() && blanks.find(text_[next_]) != std::string_view::npos)
            ++next_;
        csv_field result{{}, line_, next_ - line_start_ + 1};
        if (next_ < text_.size() && text_[next_] == '"') {
            result.text = quoted_field(result);
            return result;
        }
        while (next_ < text_.size() && text_[next_] != ',' && text_[next_] != '\n')
            ++next_;
        result.text = trim(text_.substr(begin, next_ - begin));
        return result;
    }

    [[nodiscard]] std::string_view quoted_field(const csv_field& place) {
        const std::size_t begin = ++next_;
        bool doubled = false;
        while (true) {
            if (next_ >= text_.size()) {
                throw parse_error("a quoted field is not closed", source_, place.line, place.column);
            }
            if (text_[next_] == '\n') {
                end_line();
            } else if (text_[next_] != '"') {
                ++next_;
            } else if (next_ + 1 < text_.size() && text_[next_ + 1] == '"') {
                doubled = true;
                next_ += 2;
            } else {
                break;
            }
        }
        std::string_view inside = text_.substr(begin, next_ - begin);
        ++next_;
        while (next_ < text_.size() && blanks.find(text_[next_]) != std::string_view::npos)
            ++next_;
        if (next_ < text_.size() && text_[next_] != ',' && text_[next_] != '\n') {
            throw parse_error("text follows the end of a quoted field", source_, line_,
                              next_ - line_start_ + 1);
        }
        if (!doubled) return trim(inside);
        std::string& plain = unquoted_.emplace_back();
        for (std::size_t i = 0; i < inside.size(); ++i) {
            plain += inside[i];
            if (inside[i] == '"') ++i;
        }
        return trim(plain);
    }

    std::string_view text_;
    const std::string& source_;
    std::size_t next_ = 0;
    std::size_t line_ = 1;
    std::size_t line_start_ = 0;
    std::deque<std::string> unquoted_;  // fields whose text is not a part of text_
};

/// The field as a CSV file spells it: in quotes where it holds a comma, a quote or a line end.
template <class = void>
void append_csv(std::string& out, std::string_view field) {
    if (field.find_first_of(",\"\n\r") == std::string_view::npos) {
        out += field;
        return;
    }
    out += '"';
    for (const char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

}  // namespace stowage::io::detail
