#pragma once
// Machines as files: the machine file of docs/formats.md, one JSON object of numbers. Keys that are missing
// keep their defaults, unknown keys are ignored.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <stowage/error.hpp>
#include <stowage/io/detail/json_events.hpp>
#include <stowage/io/file.hpp>
#include <stowage/turnip/machine.hpp>

namespace stowage::io {

namespace detail {

class machine_reader : public json_events<machine_reader> {
public:
    using json_events::json_events;

    [[nodiscard]] turnip::machine read() {
        parse();
        try {
            turnip::check_machine(result_);
        } catch (const error& wrong) {
            throw stowage::parse_error(wrong.what(), source());
        }
        return result_;
    }

    void on_key(std::string& name) {
        if (depth() != 1) return;
        key_.swap(name);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i].first != key_) continue;
            if (seen_[i]) fail("the key occurs twice", key_);
            seen_[i] = true;
        }
    }
    void on_begin(bool array) {
        if (depth() == 1 && array) fail("the file holds an array instead of an object", {});
        if (depth() == 2 && is_known()) {
            fail(std::string("is to be a number, it is an ") + (array ? "array" : "object"), key_);
        }
    }
    void on_end() {}
    void on_scalar(const json_scalar& value) {
        if (depth() == 0) fail("the file holds " + value.describe() + " instead of an object", {});
        if (depth() != 1 || !is_known()) return;
        if (key_ == "compute_lanes") {
            constexpr auto most = std::int64_t{std::numeric_limits<std::uint16_t>::max()};
            if (value.kind != json_scalar::type::integer || value.integer < 1 || value.integer > most) {
                fail("is to be an integer from 1 to 65535, it is " + value.describe(), key_);
            }
            result_.compute_lanes = static_cast<std::uint32_t>(value.integer);
            return;
        }
        if (!value.is_number()) fail("is to be a number, it is " + value.describe(), key_);
        for (const auto& [name, field] : keys) {
            if (name == key_ && field != nullptr) result_.*field = value.number;
        }
    }
    [[nodiscard]] std::string error_key() const { return key_; }

private:
    using field_pointer = double turnip::machine::*;
    static constexpr std::array<std::pair<std::string_view, field_pointer>, 9> keys = {
        {{"flops_per_second", &turnip::machine::flops_per_second},
         {"bytes_per_second", &turnip::machine::bytes_per_second},
         {"host_to_device_bytes_per_second", &turnip::machine::host_to_device_bytes_per_second},
         {"device_to_host_bytes_per_second", &turnip::machine::device_to_host_bytes_per_second},
         {"peer_bytes_per_second", &turnip::machine::peer_bytes_per_second},
         {"launch_seconds", &turnip::machine::launch_seconds},
         {"copy_seconds", &turnip::machine::copy_seconds},
         {"jitter", &turnip::machine::jitter},
         {"compute_lanes", nullptr}}};

    [[nodiscard]] bool is_known() const {
        for (const auto& [name, field] : keys) {
            if (name == key_) return true;
        }
        return false;
    }

    turnip::machine result_;
    std::string key_;
    std::array<bool, keys.size()> seen_ = {};
};

}  // namespace detail

/// Reads a machine from its text; `source` names it in errors. Throws parse_error naming the key that is
/// ill-typed or out of range, or line and column where the text is no JSON. O(text).
template <class = void>
[[nodiscard]] turnip::machine parse_machine(std::string_view text, const std::string& source = "<input>") {
    return detail::machine_reader(text, source).read();
}

/// Reads a machine from a file, compressed or not. Throws file_error where it cannot be read, and what
/// parse_machine throws.
template <class = void>
[[nodiscard]] turnip::machine read_machine(const std::filesystem::path& path,
                                           const read_options& options = {}) {
    return parse_machine(read_file(path, options), path.string());
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template turnip::machine parse_machine(std::string_view, const std::string&);
#endif

}  // namespace stowage::io
