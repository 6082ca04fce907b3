#pragma once
// What the readers of JSON files share: nlohmann-json's event interface, folded into few events, with a limit
// on depth and with errors that say where. No tree is built, nothing recurses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/io/detail/quoted.hpp>

namespace stowage::io::detail {

/// Containers nested deeper than this are refused.
inline constexpr std::size_t max_json_depth = 200;

/// One value that is no container.
struct json_scalar {
    enum class type : std::uint8_t { null, boolean, integer, beyond_int64, floating, string };
    type kind = type::null;
    std::int64_t integer = 0;
    double number = 0;      // any of the three kinds of numbers
    std::string_view text;  // of a string, or the digits of a floating number

    /// "null", "a string", "-16": what stands there instead of what should.
    [[nodiscard]] std::string describe() const {
        switch (kind) {
            case type::null: return "null";
            case type::boolean: return integer != 0 ? "true" : "false";
            case type::integer: return std::to_string(integer);
            case type::beyond_int64: return "past 2^63 - 1";
            case type::floating: return std::string(text.substr(0, 40));
            case type::string: return "a string";
        }
        return {};
    }
    [[nodiscard]] bool is_number() const noexcept {
        return kind == type::integer || kind == type::beyond_int64 || kind == type::floating;
    }
};

/// Line and column, from 1, of a byte of `text`.
struct text_place {
    std::size_t line = 1;
    std::size_t column = 1;
    text_place(std::string_view text, std::size_t offset) {
        const std::string_view before = text.substr(0, offset);
        line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
        const std::size_t last = before.rfind('\n');
        column += last == std::string_view::npos ? before.size() : before.size() - last - 1;
    }
};

/// The rule in the message of an nlohmann parse error, without the parts that repeat the place or the input.
template <class = void>
[[nodiscard]] std::string syntax_rule(std::string message) {
    for (const std::string_view start : {"syntax error", "number overflow"}) {
        if (const std::size_t at = message.find(start); at != std::string::npos) {
            message.erase(0, at);
            break;
        }
    }
    if (const std::size_t at = message.find("; last read: '"); at != std::string::npos) message.resize(at);
    if (message.size() > 200) message.resize(200);
    return message;
}

/// Base of a reader: Derived has on_scalar(const json_scalar&), on_key(std::string&), on_begin(bool array)
/// and on_end(), and error_key(), the key in work. Calls of parse() may follow one another.
template <class Derived>
class json_events {
public:
    json_events(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

    bool null() { return scalar({}); }
    bool boolean(bool value) { return scalar({json_scalar::type::boolean, value ? 1 : 0, 0, {}}); }
    bool number_integer(std::int64_t value) {
        return scalar({json_scalar::type::integer, value, static_cast<double>(value), {}});
    }
    bool number_unsigned(std::uint64_t value) {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return scalar({json_scalar::type::beyond_int64, 0, static_cast<double>(value), {}});
        }
        return number_integer(static_cast<std::int64_t>(value));
    }
    bool number_float(double value, const std::string& digits) {
        // nlohmann-json reads an integer past 2^64 as a floating number.
        const bool whole = digits.find_first_of(".eE") == std::string::npos && digits[0] != '-';
        const auto kind = whole ? json_scalar::type::beyond_int64 : json_scalar::type::floating;
        return scalar({kind, 0, value, digits});
    }
    bool string(std::string& value) { return scalar({json_scalar::type::string, 0, 0, value}); }
    bool binary(std::vector<std::uint8_t>&) { return false; }
    bool start_object(std::size_t) { return begin(false); }
    bool start_array(std::size_t) { return begin(true); }
    bool key(std::string& name) {
        self().on_key(name);
        return true;
    }
    bool end_object() { return end(); }
    bool end_array() { return end(); }
    template <class Exception>
    bool parse_error(std::size_t offset, const std::string&, const Exception& exception) {
        const text_place place(text_, offset == 0 ? 0 : offset - 1);
        throw stowage::parse_error(syntax_rule(exception.what()), source_, place.line, place.column,
                                   self().error_key());
    }

protected:
    /// Sends the events of the whole text. Throws parse_error with line and column where it is no JSON.
    void parse() {
        depth_ = 0;
        nlohmann::json::sax_parse(text_.begin(), text_.end(), static_cast<Derived*>(this));
    }
    /// Containers that are open.
    [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
    [[nodiscard]] const std::string& source() const noexcept { return source_; }
    [[noreturn]] void fail(std::string rule, std::string key) const {
        throw stowage::parse_error(std::move(rule), source_, 0, 0, std::move(key));
    }
    /// The number that 16 hexadecimal digits say.
    [[nodiscard]] std::uint64_t fingerprint(std::string_view digits, const std::string& key) const {
        std::uint64_t value = 0;
        bool good = digits.size() == 16;
        for (const char c : digits) {
            const std::size_t digit = std::string_view("0123456789abcdef").find(c);
            good = good && digit != std::string_view::npos;
            value = value << 4U | (digit & 15U);
        }
        if (!good) fail("is to be 16 hexadecimal digits, it is " + quoted(digits), key);
        return value;
    }

private:
    [[nodiscard]] Derived& self() { return static_cast<Derived&>(*this); }
    bool scalar(const json_scalar& value) {
        self().on_scalar(value);
        return true;
    }
    bool begin(bool array) {
        if (++depth_ > max_json_depth) {
            fail("nested deeper than " + std::to_string(max_json_depth) + " levels", self().error_key());
        }
        self().on_begin(array);
        return true;
    }
    bool end() {
        --depth_;
        self().on_end();
        return true;
    }
    std::string_view text_;
    std::string source_;
    std::size_t depth_ = 0;
};

}  // namespace stowage::io::detail
