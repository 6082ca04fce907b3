#pragma once
// The report: one HTML file without outside links, for one program or many. Each program has its figures, the
// live bytes over time, the map of buffers (time x address) with zoom and a tooltip, the table of what is
// alive at the peak, and, where there was a run, what each of its lanes did when. The page's script is in
// io/detail/report_page.hpp; this header writes the data that it draws.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <stowage/io/detail/report_page.hpp>
#include <stowage/io/picture.hpp>

namespace stowage::io {

namespace detail {

/// Gives each distinct text a number, so that long programs with few names stay small.
template <class Json>
class text_table {
public:
    [[nodiscard]] std::size_t number_of(const std::string& text) {
        const auto [place, added] = numbers_.emplace(text, texts_.size());
        if (added) texts_.push_back(text);
        return place->second;
    }
    [[nodiscard]] const Json& texts() const noexcept { return texts_; }

private:
    std::map<std::string, std::size_t> numbers_;
    Json texts_ = Json::array();
};

/// One picture as the object that the page's script reads.
template <class Json = nlohmann::ordered_json>
[[nodiscard]] Json report_data(const picture& shown) {
    text_table<Json> names;
    Json operators = Json::array();
    Json stages = Json::array();
    for (std::size_t t = 0; t < shown.operators.size(); ++t) {
        operators.push_back(names.number_of(shown.operators[t]));
        stages.push_back(static_cast<int>(shown.stages[t]));
    }
    Json boxes = Json::array();
    for (const picture_box& box : shown.boxes) {
        const std::int64_t producer =
            box.producer == no_operator ? -1 : static_cast<std::int64_t>(box.producer);
        boxes.push_back({names.number_of(box.name), names.number_of(box.kind), static_cast<int>(box.stage),
                         box.offset, box.bytes, box.first, box.last, producer});
    }
    Json curves = Json::array();
    for (const picture_curve& curve : shown.curves)
        curves.push_back({{"label", curve.label}, {"live", curve.live}});
    Json levels = Json::array();
    for (const picture_level& level : shown.levels)
        levels.push_back({{"label", level.label}, {"bytes", level.bytes}});
    Json bands = Json::array();
    for (const picture_band& band : shown.bands)
        bands.push_back({{"name", band.name}, {"text", band.text}, {"row", band.row}, {"spans", band.spans}});
    Json figures = Json::array();
    for (const auto& [label, text] : shown.figures)
        figures.push_back({label, text});
    Json lanes = Json::array();
    for (const picture_lane& lane : shown.lanes) {
        Json bars = Json::array();
        for (const picture_bar& bar : lane.bars)
            bars.push_back(
                {names.number_of(bar.name), names.number_of(bar.kind), bar.begin, bar.end, bar.bytes});
        lanes.push_back({{"name", lane.name},
                         {"bars", bars},
                         {"busy", lane.busy},
                         {"bytes", lane.bytes},
                         {"idle", lane.idle}});
    }
    return {{"title", shown.title},
            {"status", shown.status},
            {"names", names.texts()},
            {"operators", operators},
            {"stages", stages},
            {"boxes", boxes},
            {"curves", curves},
            {"levels", levels},
            {"bands", bands},
            {"figures", figures},
            {"arena", shown.arena_bytes},
            {"peakStep", shown.peak_step},
            {"alive", shown.alive_at_peak},
            {"lanes", lanes},
            {"makespan", shown.makespan}};
}

/// JSON that may stand inside a script element: "<" never begins a tag, and bytes that are no UTF-8 are
/// replaced.
template <class Json>
[[nodiscard]] std::string script_safe(const Json& data) {
    const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

}  // namespace detail

/// The report on one or more programs as the text of one HTML file. O(steps + boxes), about 40 bytes each.
/// Sizes beyond 2^53 bytes are drawn and shown rounded, as the page's script counts in doubles.
template <class = void>
[[nodiscard]] std::string to_html(std::span<const picture> pictures) {
    std::string out(detail::report_page_head);
    for (const picture& shown : pictures) {
        out += "<script type=\"application/json\" class=\"program\">";
        out += detail::script_safe(detail::report_data(shown));
        out += "</script>\n";
    }
    out += detail::report_page_tail;
    return out;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::string to_html(std::span<const picture>);
#endif

}  // namespace stowage::io
