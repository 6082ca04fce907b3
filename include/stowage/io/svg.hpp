#pragma once
// A picture of a plan as one SVG: live bytes over time above, buffers as rectangles time x address below.
// Static; the browser shows each rectangle's facts when the pointer rests on it. At most one point a pixel
// column is drawn, so that programs of any length stay legible and small.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <stowage/io/picture.hpp>

namespace stowage::io {

/// Size of an SVG.
struct svg_options {
    int width = 1200;        ///< pixels, at least 400
    int curve_height = 260;  ///< pixels of the upper chart
    int map_height = 520;    ///< pixels of the lower chart
};

namespace detail {

/// Text safe inside XML: control characters that XML forbids, and bytes that are no UTF-8, become '?'.
template <class = void>
[[nodiscard]] std::string xml_escape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x80) {
            switch (text[i]) {
                case '&': out += "&amp;"; break;
                case '<': out += "&lt;"; break;
                case '>': out += "&gt;"; break;
                case '"': out += "&quot;"; break;
                default: out += (byte < 0x20 && byte != '\n') || byte == 0x7f ? '?' : text[i];
            }
            ++i;
            continue;
        }
        const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
        std::uint32_t code = byte & (0xffU >> (length + 1));
        bool good = byte >= 0xc2 && byte <= 0xf4 && i + length <= text.size();
        for (std::size_t k = 1; good && k < length; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            good = (next & 0xc0U) == 0x80;
            code = code << 6U | (next & 0x3fU);
        }
        good = good &&
               !(length == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000) || code >= 0xfffe)) &&
               !(length == 4 && (code < 0x10000 || code > 0x10ffff));
        if (good) {
            out.append(text.substr(i, length));
            i += length;
        } else {
            out += '?';
            ++i;
        }
    }
    return out;
}

/// Colour of a box: by stage where it is known, else by kind.
template <class = void>
[[nodiscard]] std::string_view box_colour(const picture_box& box) {
    if (box.kind == "workspace") return "#b07aa1";
    if (box.kind == "donated") return "#9c755f";
    if (box.kind == "output") return "#59a14f";
    if (box.kind == "offload") return "#e15759";
    if (box.kind == "reload") return "#edc948";
    if (box.kind == "transfer") return "#76b7b2";
    switch (box.stage) {
        case stage::forward: return "#4e79a7";
        case stage::backward: return "#f28e2b";
        case stage::update: return "#76b7b2";
        case stage::unknown: break;
    }
    return "#8c9bb5";
}

/// Writes the parts of one SVG; coordinates in pixels.
class svg_writer {
public:
    svg_writer(const picture& shown, const svg_options& options)
        : shown_(shown), width_(std::max(options.width, 400)),
          curve_height_(std::max(options.curve_height, 80)), map_height_(std::max(options.map_height, 80)) {
        steps_ = std::max<std::size_t>(1, shown.operators.size());
        top_ = std::max<std::int64_t>(1, shown.arena_bytes);
        for (const picture_curve& curve : shown.curves) {
            for (const std::int64_t bytes : curve.live)
                top_curve_ = std::max(top_curve_, bytes);
        }
        for (const picture_level& level : shown.levels)
            top_curve_ = std::max(top_curve_, level.bytes);
    }

    [[nodiscard]] std::string write() {
        const int height = margin_top + curve_height_ + gap + map_height_ + margin_bottom;
        out_ =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width_) + "\" height=\"" +
            std::to_string(height) + "\" viewBox=\"0 0 " + std::to_string(width_) + " " +
            std::to_string(height) +
            "\" font-family=\"system-ui,sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
            "fill=\"#ffffff\"/>\n";
        text(margin_left, 20,
             shown_.title + " (" + shown_.status + ", arena " + human_bytes(shown_.arena_bytes) + ")",
             "start", "#111111", 15);
        curves();
        map();
        out_ += "</svg>\n";
        return std::move(out_);
    }

private:
    static constexpr int margin_left = 84;
    static constexpr int margin_right = 20;
    static constexpr int margin_top = 56;
    static constexpr int margin_bottom = 44;
    static constexpr int gap = 44;
    static constexpr std::array<std::string_view, 5> palette = {"#9aa0a6", "#e15759", "#76b7b2", "#edc948",
                                                                "#b07aa1"};

    [[nodiscard]] static std::string number(double value) {
        const auto tenths = static_cast<std::int64_t>(value * 10.0 + (value < 0 ? -0.5 : 0.5));
        std::string text = std::to_string(tenths / 10);
        if (tenths % 10 != 0) text += "." + std::to_string(std::abs(static_cast<int>(tenths % 10)));
        return text;
    }
    [[nodiscard]] double plot_width() const {
        return static_cast<double>(width_ - margin_left - margin_right);
    }
    [[nodiscard]] double x_of(double step) const {
        return margin_left + plot_width() * step / static_cast<double>(steps_);
    }
    [[nodiscard]] double curve_y(std::int64_t bytes) const {
        return margin_top +
               curve_height_ * (1.0 - static_cast<double>(bytes) /
                                          static_cast<double>(std::max<std::int64_t>(1, top_curve_)));
    }
    void text(double x, double y, std::string_view words, std::string_view anchor, std::string_view colour,
              int size = 12) {
        out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) +
                "\" fill=\"" + std::string(colour) + "\" font-size=\"" + std::to_string(size) + "\">" +
                xml_escape(words) + "</text>\n";
    }
    void line(double x1, double y1, double x2, double y2, std::string_view colour,
              std::string_view dash = {}) {
        out_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" +
                number(y2) + "\" stroke=\"" + std::string(colour) + "\"";
        if (!dash.empty()) out_ += " stroke-dasharray=\"" + std::string(dash) + "\"";
        out_ += "/>\n";
    }
    void axis(double y0, int height, std::int64_t top) {
        for (int tick = 0; tick <= 4; ++tick) {
            const double y = y0 + height * (1.0 - tick / 4.0);
            line(margin_left, y, width_ - margin_right, y, "#e5e7eb");
            const auto bytes = static_cast<std::int64_t>(static_cast<double>(top) * tick / 4.0);
            text(margin_left - 6, y + 4, human_bytes(bytes), "end", "#555555", 11);
        }
    }

    /// Points of a curve, at most two a pixel column: the largest value of the column at its place.
    [[nodiscard]] std::string points(const std::vector<std::int64_t>& live) const {
        const auto columns = static_cast<std::size_t>(plot_width());
        const std::size_t stride =
            std::max<std::size_t>(1, (live.size() + columns - 1) / std::max<std::size_t>(1, columns));
        std::string result;
        for (std::size_t begin = 0; begin < live.size(); begin += stride) {
            const std::size_t end = std::min(live.size(), begin + stride);
            const std::int64_t highest = *std::max_element(live.begin() + static_cast<std::ptrdiff_t>(begin),
                                                           live.begin() + static_cast<std::ptrdiff_t>(end));
            result += number(x_of(static_cast<double>(begin))) + "," + number(curve_y(highest)) + " " +
                      number(x_of(static_cast<double>(end))) + "," + number(curve_y(highest)) + " ";
        }
        return result;
    }

    void curves() {
        axis(margin_top, curve_height_, std::max<std::int64_t>(1, top_curve_));
        double legend = margin_left;
        const auto entry = [&](std::string_view label, std::string_view colour) {
            line(legend, 38, legend + 18, 38, colour);
            text(legend + 22, 42, label, "start", "#333333");
            legend += 40.0 + 6.6 * static_cast<double>(label.size());
        };
        for (std::size_t i = 0; i < shown_.curves.size(); ++i) {
            const bool own = i + 1 == shown_.curves.size();
            const std::string_view colour = own ? "#1f5fbf" : palette[i % palette.size()];
            out_ += "<polyline fill=\"none\" stroke=\"" + std::string(colour) + "\" stroke-width=\"" +
                    (own ? "2" : "1.2") + "\" points=\"" + points(shown_.curves[i].live) + "\"><title>" +
                    xml_escape(shown_.curves[i].label) + "</title></polyline>\n";
            entry(shown_.curves[i].label, colour);
        }
        for (std::size_t i = 0; i < shown_.levels.size(); ++i) {
            const std::string_view colour = i == 0 ? "#222222" : "#c2185b";
            line(margin_left, curve_y(shown_.levels[i].bytes), width_ - margin_right,
                 curve_y(shown_.levels[i].bytes), colour, "6 4");
            entry(shown_.levels[i].label + " " + human_bytes(shown_.levels[i].bytes), colour);
        }
    }

    void map() {
        const int y0 = margin_top + curve_height_ + gap;
        axis(y0, map_height_, top_);
        text(margin_left, y0 - 10, "buffers: time (" + shown_.steps_are + " in order) x address", "start",
             "#333333");
        for (const picture_box& box : shown_.boxes) {
            const double x = x_of(box.first);
            const double w = std::max(0.4, x_of(static_cast<double>(box.last) + 1.0) - x);
            const double h =
                std::max(0.4, map_height_ * static_cast<double>(box.bytes) / static_cast<double>(top_));
            const double y =
                y0 + map_height_ * (1.0 - static_cast<double>(box.offset) / static_cast<double>(top_)) - h;
            out_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(w) +
                    "\" height=\"" + number(h) + "\" fill=\"" + std::string(box_colour(box)) +
                    "\" fill-opacity=\"0.85\" stroke=\"#ffffff\" stroke-width=\"0.3\"><title>" +
                    xml_escape(facts(box)) + "</title></rect>\n";
        }
        const double peak = x_of(shown_.peak_step + 0.5);
        line(peak, margin_top, peak, y0 + map_height_, "#d93025", "2 3");
        if (!shown_.operators.empty()) {
            text(peak, y0 + map_height_ + 16, "peak: " + shown_.operators[shown_.peak_step],
                 2.0 * peak > width_ ? "end" : "start", "#d93025");
        }
        text(width_ - margin_right, y0 + map_height_ + 34,
             std::to_string(shown_.operators.size()) + " " + shown_.steps_are, "end", "#555555");
    }

    [[nodiscard]] std::string facts(const picture_box& box) const {
        std::string text = box.name + "\n" + human_bytes(box.bytes) + " at " + std::to_string(box.offset) +
                           "\nsteps " + std::to_string(box.first) + " to " + std::to_string(box.last) + "\n" +
                           box.kind;
        if (box.producer < shown_.operators.size()) text += "\nmade by " + shown_.operators[box.producer];
        return text;
    }

    const picture& shown_;
    std::string out_;
    std::size_t steps_ = 1;
    std::int64_t top_ = 1;
    std::int64_t top_curve_ = 0;
    int width_;
    int curve_height_;
    int map_height_;
};

}  // namespace detail

/// Draws a picture as the text of an SVG file. O(boxes + pixels).
template <class = void>
[[nodiscard]] std::string to_svg(const picture& shown, const svg_options& options = {}) {
    return detail::svg_writer(shown, options).write();
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::string to_svg(const picture&, const svg_options&);
#endif

}  // namespace stowage::io
