#pragma once
// The state machine behind read_access_list. A row is collected value by value and handed to the graph
// builder when it ends, so that nothing but the text and the graph is held. Keys may come in any order: where
// `columns` follows the rows, or `storages` follows `ops`, the text is gone through again, three times at
// most.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/graph/detail/build.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/detail/json_events.hpp>

namespace stowage::io::detail {

enum class row_field : std::uint8_t {
    ignored,
    bytes,
    kind,
    name,
    alignment,
    offset,
    stage,
    reads,
    writes,
    flops,
    seconds,
    workspace,
    device
};

struct field_name {
    std::string_view name;
    row_field field;
    bool required;
};

inline constexpr std::array<field_name, 5> storage_fields = {{{"bytes", row_field::bytes, true},
                                                              {"kind", row_field::kind, true},
                                                              {"name", row_field::name, false},
                                                              {"alignment", row_field::alignment, false},
                                                              {"offset", row_field::offset, false}}};

inline constexpr std::array<field_name, 8> operator_fields = {{{"name", row_field::name, false},
                                                               {"stage", row_field::stage, false},
                                                               {"reads", row_field::reads, true},
                                                               {"writes", row_field::writes, true},
                                                               {"flops", row_field::flops, false},
                                                               {"seconds", row_field::seconds, false},
                                                               {"workspace", row_field::workspace, false},
                                                               {"device", row_field::device, false}}};

/// One of the two tables of a file.
struct row_table {
    std::string_view key;
    const field_name* fields;
    std::size_t field_count;
    std::vector<row_field> columns = {};
    std::size_t rows = 0;
    bool declared = false;  // its columns are known
    bool read = false;      // its rows are in the builder
};

class access_list_reader : public json_events<access_list_reader> {
public:
    using json_events::json_events;

    /// Reads the whole text into the builder.
    void read() {
        do {
            seen_.clear();
            parse();
            for (const std::string_view key : {"format", "columns", "storages", "ops"}) {
                if (!seen(key)) fail("the key is missing", std::string(key));
            }
        } while (!operators_.read);
    }
    [[nodiscard]] stowage::detail::graph_data finish() { return builder_.finish(); }
    [[nodiscard]] std::string& model() noexcept { return model_; }
    [[nodiscard]] bool has_devices() const noexcept {
        for (const row_field column : operators_.columns) {
            if (column == row_field::device) return true;
        }
        return false;
    }

    void on_key(std::string& name) {
        if (depth() == 1) {
            key_.swap(name);
            for (const std::string_view known : {"format", "model", "columns", "storages", "ops"}) {
                if (key_ != known) continue;
                if (seen(known)) fail("the key occurs twice", key_);
                seen_.emplace_back(known);
            }
        } else if (in_columns_ && depth() == 2) {
            table_ = name == storages_.key ? &storages_ : name == operators_.key ? &operators_ : nullptr;
            if (table_ != nullptr && seen(table_column_key())) fail("the key occurs twice", error_key());
            if (table_ != nullptr) seen_.push_back(table_column_key());
        }
    }

    void on_scalar(const json_scalar& value) {
        if (depth() == 0) fail("the file holds " + value.describe() + " instead of an object", {});
        if (depth() == 1) return top_value(value);
        if (in_columns_) return column_name(value);
        if (table_ == nullptr) return;
        if (depth() == 2) fail("a row is to be an array, it is " + value.describe(), error_key());
        if (depth() == 3) {
            set_field(value);
            ++position_;
        } else if (list_ != nullptr) {
            add_access(value);
        }
    }

    void on_begin(bool array) {
        switch (depth()) {
            case 1:
                if (array) fail("the file holds an array instead of an object", {});
                return;
            case 2: return begin_top(array);
            case 3:
                if (in_columns_ && table_ != nullptr && !array) fail("is no array of names", error_key());
                if (in_columns_ || table_ == nullptr) return;
                if (!array) fail("a row is to be an array, it is an object", error_key());
                return begin_row();
            case 4:
                if (in_columns_ && table_ != nullptr) fail("a column's name is to be a string", error_key());
                if (in_columns_ || table_ == nullptr) return;
                return begin_list(array);
            default:
                if (list_ != nullptr) fail("is no index of a storage", error_key());
        }
    }

    void on_end() {
        switch (depth()) {
            case 1:
                if (in_columns_) finish_columns();
                if (table_ != nullptr && !in_columns_) table_->read = true;
                in_columns_ = false;
                table_ = nullptr;
                return;
            case 2:
                if (in_columns_) {
                    if (table_ != nullptr) table_->declared = true;
                    table_ = nullptr;
                } else if (table_ != nullptr) {
                    finish_row();
                }
                return;
            case 3:
                list_ = nullptr;
                ++position_;
                return;
            default: return;
        }
    }

    /// "ops[3].reads[0]": the place in work.
    [[nodiscard]] std::string error_key() const {
        if (in_columns_) return table_ != nullptr ? table_column_key() : key_;
        if (table_ == nullptr) return key_;
        std::string place = key_ + "[" + std::to_string(table_->rows) + "]";
        if (depth() < 3) return place;
        if (const std::string_view column = column_at(position_); !column.empty()) {
            place += ".";
            place += column;
            if (list_ != nullptr) place += "[" + std::to_string(list_->size()) + "]";
        }
        return place;
    }

private:
    static constexpr std::int64_t max_int64 = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool seen(std::string_view key) const {
        for (const std::string& known : seen_) {
            if (known == key) return true;
        }
        return false;
    }
    [[nodiscard]] std::string table_column_key() const { return "columns." + std::string(table_->key); }
    [[nodiscard]] std::string_view column_at(std::size_t position) const {
        if (position >= table_->columns.size()) return {};
        for (std::size_t i = 0; i < table_->field_count; ++i) {
            if (table_->fields[i].field == table_->columns[position]) return table_->fields[i].name;
        }
        return {};
    }
    [[noreturn]] void fail_here(std::string rule) const { fail(std::move(rule), error_key()); }

    void top_value(const json_scalar& value) {
        if (key_ == "format") {
            if (value.kind != json_scalar::type::string) fail("is no string but " + value.describe(), key_);
            if (value.text != "access-list/1") {
                fail("unknown format " + quoted(value.text) + ", expected `access-list/1`", key_);
            }
        } else if (key_ == "model") {
            if (value.kind == json_scalar::type::string) model_ = value.text;
        } else if (key_ == "columns") {
            fail("is no object but " + value.describe(), key_);
        } else if (key_ == storages_.key || key_ == operators_.key) {
            fail("is no array but " + value.describe(), key_);
        }
    }

    void begin_top(bool array) {
        if (key_ == "format") fail("is no string", key_);
        if (key_ == "columns") {
            if (array) fail("is no object but an array", key_);
            in_columns_ = true;
            storages_.columns.clear();
            operators_.columns.clear();
            return;
        }
        row_table* const table = key_ == storages_.key    ? &storages_
                                 : key_ == operators_.key ? &operators_
                                                          : nullptr;
        if (table == nullptr) return;
        if (!array) fail("is no array but an object", key_);
        if (table->read || !table->declared || (table == &operators_ && !storages_.read)) return;
        table_ = table;
    }

    void column_name(const json_scalar& value) {
        const bool one_of_ours = table_ != nullptr;
        if (!one_of_ours) return;
        if (depth() == 2) fail("is no array of names but " + value.describe(), error_key());
        if (value.kind != json_scalar::type::string) {
            fail("a column's name is to be a string, it is " + value.describe(),
                 error_key() + "[" + std::to_string(table_->columns.size()) + "]");
        }
        row_field field = row_field::ignored;
        for (std::size_t i = 0; i < table_->field_count; ++i) {
            if (table_->fields[i].name == value.text) field = table_->fields[i].field;
        }
        for (const row_field other : table_->columns) {
            if (field != row_field::ignored && other == field) {
                fail("the column " + quoted(value.text) + " occurs twice", error_key());
            }
        }
        table_->columns.push_back(field);
    }

    void finish_columns() {
        for (row_table* const table : {&storages_, &operators_}) {
            table_ = table;
            if (!table->declared) fail("the key is missing", error_key());
            for (std::size_t i = 0; i < table->field_count; ++i) {
                if (!table->fields[i].required) continue;
                bool found = false;
                for (const row_field column : table->columns) {
                    found = found || column == table->fields[i].field;
                }
                if (!found) fail("no column " + quoted(table->fields[i].name), error_key());
            }
        }
    }

    void begin_row() {
        position_ = 0;
        buffer_ = {};
        operator_ = {};
        name_.clear();
        reads_.clear();
        writes_.clear();
    }

    void begin_list(bool array) {
        if (position_ >= table_->columns.size()) return;
        const row_field field = table_->columns[position_];
        if (field == row_field::ignored) return;
        if (field != row_field::reads && field != row_field::writes) {
            fail_here(array ? "is an array" : "is an object");
        }
        if (!array) fail_here("is no array of storages but an object");
        list_ = field == row_field::reads ? &reads_ : &writes_;
    }

    [[nodiscard]] std::int64_t integer(const json_scalar& value, std::int64_t least,
                                       std::int64_t most) const {
        if (value.kind != json_scalar::type::integer || value.integer < least || value.integer > most) {
            fail_here("is to be an integer from " + std::to_string(least) + " to " +
                      (most == max_int64 ? "2^63 - 1" : std::to_string(most)) + ", it is " +
                      value.describe());
        }
        return value.integer;
    }
    [[nodiscard]] double amount(const json_scalar& value) const {
        if (!value.is_number() || !(value.number >= 0) || !std::isfinite(value.number)) {
            fail_here("is to be a number that is not negative, it is " + value.describe());
        }
        return value.number;
    }
    [[nodiscard]] std::string_view text(const json_scalar& value) const {
        if (value.kind != json_scalar::type::string)
            fail_here("is to be a string, it is " + value.describe());
        return value.text;
    }

    void set_field(const json_scalar& value) {
        if (position_ >= table_->columns.size()) return;
        const row_field field = table_->columns[position_];
        const bool required = field == row_field::bytes || field == row_field::kind ||
                              field == row_field::reads || field == row_field::writes;
        if (value.kind == json_scalar::type::null && !required) return;
        switch (field) {
            case row_field::ignored: return;
            case row_field::bytes: buffer_.bytes = integer(value, 0, max_int64); return;
            case row_field::kind: {
                const auto kind = parse_buffer_kind(text(value));
                if (!kind) fail_here("unknown kind " + quoted(value.text));
                buffer_.kind = *kind;
                return;
            }
            case row_field::name: name_ = text(value); return;
            case row_field::alignment: buffer_.alignment = integer(value, 1, max_int64); return;
            case row_field::offset: buffer_.pinned = integer(value, 0, max_int64); return;
            case row_field::stage: {
                const auto stage = parse_stage(text(value));
                if (!stage) fail_here("unknown stage " + quoted(value.text));
                operator_.stage = *stage;
                return;
            }
            case row_field::reads:
            case row_field::writes: fail_here("is to be an array of storages, it is " + value.describe());
            case row_field::flops: operator_.flops = amount(value); return;
            case row_field::seconds: operator_.seconds = amount(value); return;
            case row_field::workspace: operator_.workspace = integer(value, 0, max_int64); return;
            case row_field::device:
                operator_.device =
                    static_cast<std::uint32_t>(integer(value, 0, std::numeric_limits<std::int32_t>::max()));
                return;
        }
    }

    void add_access(const json_scalar& value) {
        if (value.kind != json_scalar::type::integer) {
            fail_here("is to be the index of a storage, it is " + value.describe());
        }
        if (value.integer < 0 || value.integer >= static_cast<std::int64_t>(storages_.rows)) {
            fail_here("storage " + std::to_string(value.integer) + " does not exist, there are " +
                      std::to_string(storages_.rows));
        }
        list_->push_back(static_cast<buffer_index>(value.integer));
    }

    void finish_row() {
        if (position_ < table_->columns.size()) {
            fail("row too short: " + std::to_string(position_) + " values for " +
                     std::to_string(table_->columns.size()) + " columns",
                 error_key());
        }
        if (table_ == &storages_) {
            buffer_.name = name_;
            std::int64_t end = 0;
            if (buffer_.pinned && __builtin_add_overflow(*buffer_.pinned, buffer_.bytes, &end)) {
                fail("offset + bytes passes 2^63 - 1", error_key());
            }
            builder_.add_buffer(buffer_);
        } else {
            builder_.begin_operator(operator_, name_);
            for (const buffer_index b : reads_)
                builder_.add_read(b);
            for (const buffer_index b : writes_)
                builder_.add_write(b);
        }
        ++table_->rows;
    }

    row_table storages_{"storages", storage_fields.data(), storage_fields.size()};
    row_table operators_{"ops", operator_fields.data(), operator_fields.size()};
    stowage::detail::graph_builder builder_;
    std::string model_;
    std::string key_;                // of the outermost object
    std::vector<std::string> seen_;  // known keys of this pass
    row_table* table_ = nullptr;     // whose rows, or whose list of columns, is in work
    bool in_columns_ = false;
    std::size_t position_ = 0;  // in the row
    std::vector<buffer_index>* list_ = nullptr;
    stowage::detail::buffer_facts buffer_;
    stowage::detail::operator_facts operator_;
    std::string name_;
    std::vector<buffer_index> reads_;
    std::vector<buffer_index> writes_;
};

}  // namespace stowage::io::detail
