#pragma once
// What can go wrong when a memgraph runs, as values in reports and as exceptions before a run. Facts are in
// fields; texts are made from them.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/exec/lane.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::exec {

/// Kinds of faults.
enum class fault_kind : std::uint8_t {
    kernel,       ///< a kernel threw
    device,       ///< the device reported an error of one unit of work
    submission,   ///< the device did not take a unit of work
    device_lost,  ///< the device is gone, and with it the contents of its arenas
    no_progress,  ///< nothing ended for longer than the watchdog allows
};

/// "kernel", "device", "submission", "device lost" or "no progress".
[[nodiscard]] constexpr std::string_view to_string(fault_kind kind) noexcept {
    switch (kind) {
        case fault_kind::kernel: return "kernel";
        case fault_kind::device: return "device";
        case fault_kind::submission: return "submission";
        case fault_kind::device_lost: return "device lost";
        case fault_kind::no_progress: break;
    }
    return "no progress";
}

/// One fault of one run: what, and where.
struct fault {
    fault_kind kind = fault_kind::kernel;              ///< what happened
    std::string message = {};                          ///< what the kernel or the device said
    turnip::memory_index device = 0;                   ///< the device concerned
    lane_index lane = no_lane;                         ///< the lane concerned
    std::string lane_name = {};                        ///< its name
    turnip::vertex_index vertex = 0;                   ///< the vertex concerned
    turnip::vertex_kind vertex_kind = {};              ///< what that vertex does
    subject op = {};                                   ///< the operator, of an operator's vertex
    subject buffer = {};                               ///< the buffer, of a move
    std::int64_t bytes = 0;                            ///< bytes that the vertex touches
    std::vector<turnip::vertex_index> in_flight = {};  ///< every vertex that was under way, this one included
    std::exception_ptr exception = {};                 ///< what the kernel threw

    /// One line with all of it.
    [[nodiscard]] std::string text() const {
        std::string result(to_string(kind));
        result += " fault on lane " + lane_name + ", vertex " + std::to_string(vertex) + " (" +
                  std::string(to_string(vertex_kind));
        if (op.index != no_index) result += ", " + op.text("operator");
        if (buffer.index != no_index) result += ", " + buffer.text("buffer");
        result += ", " + std::to_string(bytes) + " bytes): " + message;
        if (in_flight.size() > 1) {
            result += "; under way were vertices";
            for (const turnip::vertex_index v : in_flight)
                result += " " + std::to_string(v);
        }
        return result;
    }
};

/// A device cannot make what a memgraph needs: memory, a lane, an event.
class device_error : public error {
public:
    /// `rule` says in words what failed; `place` is a lane's name or a memory ("device 0", "host"); `bytes`
    /// is what was asked for, 0 if it is not about memory.
    device_error(std::string rule, std::string place, std::int64_t bytes = 0)
        : error(place + ": " + rule + (bytes > 0 ? " (" + std::to_string(bytes) + " bytes)" : "")),
          rule_(std::move(rule)), place_(std::move(place)), bytes_(bytes) {}
    /// What failed, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The lane or memory concerned.
    [[nodiscard]] const std::string& place() const noexcept { return place_; }
    /// Bytes asked for; 0 if it is not about memory.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    std::string rule_;
    std::string place_;
    std::int64_t bytes_;
};

/// A memgraph cannot be executed: it is not of this program, has a cycle or an address outside its arena.
class memgraph_error : public error {
public:
    /// `rule` says in words what is broken; `vertices` are those concerned: of a cycle all, in order.
    explicit memgraph_error(std::string rule, std::vector<turnip::vertex_index> vertices = {})
        : error(make_text(rule, vertices)), rule_(std::move(rule)), vertices_(std::move(vertices)) {}
    /// The broken rule, in words.
    [[nodiscard]] const std::string& rule() const noexcept { return rule_; }
    /// The vertices concerned.
    [[nodiscard]] const std::vector<turnip::vertex_index>& vertices() const noexcept { return vertices_; }

private:
    static std::string make_text(const std::string& rule, const std::vector<turnip::vertex_index>& vertices) {
        std::string text = rule;
        if (!vertices.empty()) text += vertices.size() == 1 ? ": vertex" : ": vertices";
        constexpr std::size_t most = 20;
        for (std::size_t i = 0; i < vertices.size() && i < most; ++i)
            text += " " + std::to_string(vertices[i]);
        if (vertices.size() > most) text += " and " + std::to_string(vertices.size() - most) + " more";
        return text;
    }
    std::string rule_;
    std::vector<turnip::vertex_index> vertices_;
};

/// An executor is asked for what it cannot do now: a run while one runs, a run on a device that is lost.
class usage_error : public error {
public:
    using error::error;
};

}  // namespace stowage::exec
