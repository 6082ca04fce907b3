#pragma once
// The state machine behind read_plan: values of plan/1 go straight into a stowage::plan.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/io/detail/json_events.hpp>
#include <stowage/roam/plan.hpp>

namespace stowage::io::detail {

class plan_reader : public json_events<plan_reader> {
public:
    using json_events::json_events;

    void read() {
        parse();
        for (const std::string_view key :
             {"format", "fingerprint", "status", "order", "offsets", "peak_bytes", "arena_bytes"}) {
            if (key == "order" && seen("timesteps")) continue;
            if (!seen(key)) fail("the key is missing", std::string(key));
        }
        if (seen("order") && seen("timesteps")) fail("stands beside `order`, which it replaces", "timesteps");
    }
    [[nodiscard]] stowage::plan& plan() noexcept { return plan_; }
    [[nodiscard]] std::string& graph() noexcept { return graph_; }
    /// Whether the key stood in the file.
    [[nodiscard]] bool seen(std::string_view key) const {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == key) return seen_[i];
        }
        return false;
    }

    void on_key(std::string& name) {
        if (depth() == 2 && key_ == "seconds") inner_key_.swap(name);
        if (depth() != 1) return;
        key_.swap(name);
        inner_key_.clear();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] != key_) continue;
            if (seen_[i]) fail("the key occurs twice", key_);
            seen_[i] = true;
        }
    }

    void on_begin(bool array) {
        if (depth() == 1 && array) fail("the file holds an array instead of an object", {});
        if (depth() == 2) {
            in_list_ = is_list();
            if (in_list_ && !array) fail("is no array but an object", key_);
            if (is_scalar_key() || (array && key_ == "seconds")) {
                fail(array ? "is an array" : "is an object", key_);
            }
        } else if (array && depth() == 3 && in_list_ && key_ == "timesteps") {
            plan_.timesteps.emplace_back();
        } else if (in_list_ || (depth() == 3 && key_ == "seconds")) {
            fail(array ? "is an array" : "is an object", error_key());
        }
    }
    void on_end() {
        if (depth() == 1) in_list_ = false;
    }

    void on_scalar(const json_scalar& value) {
        if (depth() == 0) fail("the file holds " + value.describe() + " instead of an object", {});
        if (depth() == 1) return top_value(value);
        if (in_list_) return list_value(value);
        if (depth() == 2 && key_ == "seconds") return seconds(value);
    }

    [[nodiscard]] std::string error_key() const {
        if (in_list_) return key_ + "[" + std::to_string(list_size()) + "]";
        return inner_key_.empty() ? key_ : key_ + "." + inner_key_;
    }

private:
    static constexpr std::array<std::string_view, 15> keys = {"format",
                                                              "graph",
                                                              "fingerprint",
                                                              "status",
                                                              "order",
                                                              "timesteps",
                                                              "alignment",
                                                              "offsets",
                                                              "workspace_offsets",
                                                              "peak_bytes",
                                                              "arena_bytes",
                                                              "persistent_bytes",
                                                              "peak_lower_bound_bytes",
                                                              "arena_lower_bound_bytes",
                                                              "seconds"};
    static constexpr std::int64_t max_int64 = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool is_list() const {
        return key_ == "order" || key_ == "timesteps" || key_ == "offsets" || key_ == "workspace_offsets";
    }
    [[nodiscard]] bool is_scalar_key() const {
        if (is_list() || key_ == "seconds") return false;
        for (const std::string_view key : keys) {
            if (key == key_) return true;
        }
        return false;
    }
    [[nodiscard]] std::size_t list_size() const {
        return key_ == "order"       ? plan_.order.size()
               : key_ == "timesteps" ? plan_.timesteps.size()
               : key_ == "offsets"   ? plan_.offsets.size()
                                     : plan_.workspace_offsets.size();
    }

    [[nodiscard]] std::int64_t integer(const json_scalar& value, std::int64_t least) const {
        if (value.kind != json_scalar::type::integer || value.integer < least) {
            fail("is to be an integer from " + std::to_string(least) + " to 2^63 - 1, it is " +
                     value.describe(),
                 error_key());
        }
        return value.integer;
    }
    [[nodiscard]] std::string_view text(const json_scalar& value) const {
        if (value.kind != json_scalar::type::string) {
            fail("is to be a string, it is " + value.describe(), key_);
        }
        return value.text;
    }

    void top_value(const json_scalar& value) {
        if (is_list()) fail("is no array but " + value.describe(), key_);
        if (key_ == "seconds") fail("is no object but " + value.describe(), key_);
        if (key_ == "format" && text(value) != "plan/1") {
            fail("unknown format " + quoted(value.text) + ", expected `plan/1`", key_);
        }
        if (key_ == "graph") graph_ = text(value);
        if (key_ == "fingerprint") plan_.fingerprint = fingerprint(text(value), key_);
        if (key_ == "status") plan_.status = status(text(value));
        if (key_ == "alignment") plan_.alignment = integer(value, 1);
        if (key_ == "peak_bytes") plan_.peak.bytes = integer(value, 0);
        if (key_ == "arena_bytes") plan_.arena.bytes = integer(value, 0);
        if (key_ == "persistent_bytes") plan_.persistent_bytes = integer(value, 0);
        if (key_ == "peak_lower_bound_bytes") plan_.peak.lower_bound = integer(value, 0);
        if (key_ == "arena_lower_bound_bytes") plan_.arena.lower_bound = integer(value, 0);
    }

    void list_value(const json_scalar& value) {
        if (key_ == "timesteps" && depth() != 3)
            fail("is to be a list of operators, it is " + value.describe(), error_key());
        if (key_ == "order" || key_ == "timesteps") {
            const std::int64_t op = integer(value, 0);
            if (op >= static_cast<std::int64_t>(no_operator)) {
                fail("operator " + std::to_string(op) + " cannot exist", error_key());
            }
            plan_.order.push_back(static_cast<operator_index>(op));
            if (key_ == "timesteps") plan_.timesteps.back().push_back(plan_.order.back());
            return;
        }
        auto& list = key_ == "offsets" ? plan_.offsets : plan_.workspace_offsets;
        list.push_back(value.kind == json_scalar::type::null ? -1 : integer(value, 0));
    }

    void seconds(const json_scalar& value) {
        double* const target = inner_key_ == "order"    ? &plan_.seconds.order
                               : inner_key_ == "layout" ? &plan_.seconds.layout
                               : inner_key_ == "total"  ? &plan_.seconds.total
                                                        : nullptr;
        if (target == nullptr) return;
        if (!value.is_number() || !(value.number >= 0)) {
            fail("is to be a number that is not negative, it is " + value.describe(), error_key());
        }
        *target = value.number;
    }

    [[nodiscard]] stowage::status status(std::string_view name) const {
        if (name == "optimal") return status::optimal;
        if (name == "feasible") return status::feasible;
        fail("is to be `optimal` or `feasible`, it is " + quoted(name), key_);
    }

    stowage::plan plan_;
    std::string graph_;
    std::string key_;        // of the outermost object
    std::string inner_key_;  // inside `seconds`
    bool in_list_ = false;
    std::array<bool, keys.size()> seen_ = {};
};

}  // namespace stowage::io::detail
