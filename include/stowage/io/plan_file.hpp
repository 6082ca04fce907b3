#pragma once
// Plans as files: the format plan/1 of docs/formats.md. What is written is the same from run to run, byte by
// byte, but for the key `seconds`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include <stowage/error.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/io/detail/plan_reader.hpp>
#include <stowage/io/file.hpp>
#include <stowage/roam/plan.hpp>

namespace stowage::io {

/// A plan was made for another program than the one at hand.
class fingerprint_error : public error {
public:
    /// `source` is the plan's file; the words are the fingerprints of the plan and of the program.
    fingerprint_error(const std::string& source, std::uint64_t plan, std::uint64_t program);
    /// The fingerprint that the plan carries.
    [[nodiscard]] std::uint64_t of_plan() const noexcept { return plan_; }
    /// The fingerprint of the program.
    [[nodiscard]] std::uint64_t of_program() const noexcept { return program_; }

private:
    std::uint64_t plan_;
    std::uint64_t program_;
};

/// The 16 hexadecimal digits by which files name a program.
template <class = void>
[[nodiscard]] std::string fingerprint_text(std::uint64_t fingerprint) {
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; fingerprint >>= 4U) {
        text[i] = "0123456789abcdef"[fingerprint & 15U];
    }
    return text;
}

inline fingerprint_error::fingerprint_error(const std::string& source, std::uint64_t plan,
                                            std::uint64_t program)
    : error(source + ": fingerprint: it was made for the program " + fingerprint_text(plan) +
            ", this is the program " + fingerprint_text(program)),
      plan_(plan), program_(program) {}

/// What a plan's file says beside the plan.
struct plan_labels {
    std::string graph = {};  ///< name of the program
    /// More of the key `planner`: policies, options, seed. The policies that found order and layout are
    /// added.
    nlohmann::ordered_json planner = nlohmann::ordered_json::object();
};

/// What a plan's JSON holds.
enum class plan_parts : std::uint8_t {
    all,      ///< the whole plan
    figures,  ///< no order and no offsets
};

/// The plan as JSON, its keys in the order of docs/formats.md. O(plan).
template <class Json = nlohmann::ordered_json>
[[nodiscard]] Json plan_json(const plan& plan, const plan_labels& labels,
                             plan_parts parts = plan_parts::all) {
    const auto offsets = [](const std::vector<std::int64_t>& values) {
        typename Json::array_t list;
        list.reserve(values.size());
        for (const std::int64_t value : values) {
            if (value < 0)
                list.emplace_back(nullptr);
            else
                list.emplace_back(value);
        }
        return list;
    };
    Json json;
    json["format"] = "plan/1";
    json["graph"] = labels.graph;
    json["fingerprint"] = fingerprint_text(plan.fingerprint);
    json["status"] = std::string(to_string(plan.status));
    if (parts == plan_parts::all) {
        if (plan.timesteps.empty())
            json["order"] = plan.order;
        else
            json["timesteps"] = plan.timesteps;
    }
    json["alignment"] = plan.alignment;
    if (parts == plan_parts::all) {
        json["offsets"] = offsets(plan.offsets);
        if (!plan.workspace_offsets.empty()) json["workspace_offsets"] = offsets(plan.workspace_offsets);
    }
    json["peak_bytes"] = plan.peak.bytes;
    json["arena_bytes"] = plan.arena.bytes;
    json["persistent_bytes"] = plan.persistent_bytes;
    json["peak_lower_bound_bytes"] = plan.peak.lower_bound;
    json["arena_lower_bound_bytes"] = plan.arena.lower_bound;
    json["planner"] = {{"order", plan.order_by}, {"layout", plan.layout_by}};
    json["planner"].update(labels.planner);
    json["seconds"] = {
        {"order", plan.seconds.order}, {"layout", plan.seconds.layout}, {"total", plan.seconds.total}};
    return json;
}

/// JSON as text, one line a key of the outermost object; bytes that are no UTF-8 become U+FFFD.
template <class Json = nlohmann::ordered_json>
[[nodiscard]] std::string json_text(const Json& json) {
    const auto dump = [](const Json& value) {
        return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    if (!json.is_object() || json.empty()) return dump(json) + "\n";
    std::string text = "{";
    for (const auto& [key, value] : json.items()) {
        text += text.size() == 1 ? "\n" : ",\n";
        text += dump(key) + ": " + dump(value);
    }
    return text + "\n}\n";
}

/// Writes a plan's file, whole or not at all; "-" is standard output. Throws file_error.
template <class = void>
void write_plan(const std::filesystem::path& path, const plan& plan, const plan_labels& labels = {}) {
    write_file(path, json_text(plan_json(plan, labels)));
}

/// A plan read from a file.
struct plan_file {
    stowage::plan plan;  ///< the plan; figures and bounds as the file claims them
    std::string graph;   ///< the name that the file gives to the program; may be empty
};

/// Reads a plan for `graph` from its text; `source` names it in errors. O(text). The order is a permutation
/// and the lists have the program's lengths; whether order and layout are legal, and the figures true, is
/// verify's business.
///
/// Throws fingerprint_error for the plan of another program; parse_error naming key and index, or line and
/// column where it is no JSON.
template <class = void>
[[nodiscard]] plan_file parse_plan(std::string_view text, const tensor_graph& graph,
                                   const std::string& source = "<input>") {
    detail::plan_reader reader(text, source);
    reader.read();
    plan& plan = reader.plan();
    if (plan.fingerprint != graph.fingerprint()) {
        throw fingerprint_error(source, plan.fingerprint, graph.fingerprint());
    }
    const auto check_length = [&](const char* key, std::size_t length, std::size_t expected) {
        if (length == expected) return;
        throw parse_error(
            "has " + std::to_string(length) + " entries, the program asks for " + std::to_string(expected),
            source, 0, 0, key);
    };
    const char* const order_key = plan.timesteps.empty() ? "order" : "timesteps";
    check_length(order_key, plan.order.size(), graph.operator_count());
    check_length("offsets", plan.offsets.size(), graph.buffer_count());
    if (reader.seen("workspace_offsets") || graph.has_workspace()) {
        check_length("workspace_offsets", plan.workspace_offsets.size(), graph.operator_count());
    }
    try {
        static_cast<void>(steps_of(graph, plan.order));
    } catch (const program_error& error) {
        throw parse_error(error.what(), source, 0, 0, order_key);
    }
    return {std::move(plan), std::move(reader.graph())};
}

/// Reads the plan of `graph` from a file, compressed or not. Throws file_error where it cannot be read, and
/// what parse_plan throws.
template <class = void>
[[nodiscard]] plan_file read_plan(const std::filesystem::path& path, const tensor_graph& graph,
                                  const read_options& options = {}) {
    return parse_plan(read_file(path, options), graph, path.string());
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template nlohmann::ordered_json plan_json(const plan&, const plan_labels&, plan_parts);
STOWAGE_TEMPLATES template plan_file parse_plan(std::string_view, const tensor_graph&, const std::string&);
#endif

}  // namespace stowage::io
