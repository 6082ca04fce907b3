#pragma once
// The one family of exceptions that the library throws. Every error holds its facts in fields and makes its
// text from them, so that a program can act on the fields and a person can read what().

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace stowage {

/// An index that stands for "none" in the fields of errors and reports.
inline constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();

/// Base of every exception that stowage throws for bad input or an impossible request.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Names one operator or buffer in an error: its index and, where it has one, its name.
struct subject {
    std::size_t index = no_index;  ///< position in the program or problem; `no_index` where there is none
    std::string name;              ///< the user's name; may be empty
    /// "operator 3 (conv1)", "buffer 7": `what` is the word to put first.
    [[nodiscard]] std::string text(const std::string& what) const {
        if (index == no_index) return name.empty() ? what : what + " (" + name + ")";
        return what + " " + std::to_string(index) + (name.empty() ? "" : " (" + name + ")");
    }
};

/// A tensor program breaks a rule: an index out of range, a read before any write, a cycle, ...
class program_error : public error {
public:
    /// `rule` says in words what is broken; subjects that do not apply stay empty.
    program_error(std::string rule, subject op, subject buffer = {})
        : error(make_text(rule, op, buffer)), rule_(std::move(rule)), operator_(std::move(op)),
          buffer_(std::move(buffer)) {}
    /// The broken rule, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The operator concerned; index `no_index` if none.
    [[nodiscard]] const subject& operator_concerned() const noexcept { return operator_; }
    /// The buffer concerned; index `no_index` if none.
    [[nodiscard]] const subject& buffer_concerned() const noexcept { return buffer_; }

private:
    static std::string make_text(const std::string& rule, const subject& op, const subject& buffer) {
        std::string text;
        if (op.index != no_index || !op.name.empty()) text += op.text("operator");
        if (buffer.index != no_index || !buffer.name.empty()) {
            if (!text.empty()) text += ", ";
            text += buffer.text("buffer");
        }
        return text.empty() ? rule : text + ": " + rule;
    }
    std::string rule_;
    subject operator_;
    subject buffer_;
};

/// A layout problem breaks a rule: a lifetime that ends before it begins, an alignment of 0, ...
class layout_error : public error {
public:
    /// `rule` says in words what is broken; `other` is a second buffer where two are in conflict.
    layout_error(std::string rule, subject buffer, subject other = {})
        : error(make_text(rule, buffer, other)), rule_(std::move(rule)), buffer_(std::move(buffer)),
          other_(std::move(other)) {}
    /// The broken rule, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The buffer concerned; index `no_index` if none.
    [[nodiscard]] const subject& buffer_concerned() const noexcept { return buffer_; }
    /// The second buffer concerned; index `no_index` if none.
    [[nodiscard]] const subject& other_concerned() const noexcept { return other_; }

private:
    static std::string make_text(const std::string& rule, const subject& buffer, const subject& other) {
        std::string text;
        if (buffer.index != no_index || !buffer.name.empty()) text += buffer.text("buffer");
        if (other.index != no_index || !other.name.empty()) text += " and " + other.text("buffer");
        return text.empty() ? rule : text + ": " + rule;
    }
    std::string rule_;
    subject buffer_;
    subject other_;
};

/// A sum of bytes passes 2^63 - 1.
class overflow_error : public error {
public:
    using error::error;
};

/// A file or text is not what its format says. Places that do not apply are 0 or empty.
class parse_error : public error {
public:
    /// `source` is a file's name or "<input>"; `line` and `column` count from 1; `key` names a JSON key or
    /// CSV column.
    parse_error(std::string rule, std::string source, std::size_t line = 0, std::size_t column = 0,
                std::string key = {})
        : error(make_text(rule, source, line, column, key)), rule_(std::move(rule)),
          source_(std::move(source)), key_(std::move(key)), line_(line), column_(column) {}
    /// The broken rule, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The file's name.
    [[nodiscard]] const std::string& source() const noexcept { return source_; }
    /// JSON key with its index ("ops[3].reads[0]") or CSV column.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    /// Line from 1; 0 where it does not apply.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }
    /// Column from 1; 0 where it does not apply.
    [[nodiscard]] std::size_t column() const noexcept { return column_; }

private:
    static std::string make_text(const std::string& rule, const std::string& source, std::size_t line,
                                 std::size_t column, const std::string& key) {
        std::string text = source;
        if (line != 0) text += ":" + std::to_string(line);
        if (column != 0) text += ":" + std::to_string(column);
        text += ": ";
        if (!key.empty()) text += key + ": ";
        return text + rule;
    }
    std::string rule_;
    std::string source_;
    std::string key_;
    std::size_t line_;
    std::size_t column_;
};

}  // namespace stowage
