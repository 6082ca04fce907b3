#pragma once
// Two plain charts as SVG text: grouped bars, and points on logarithmic axes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace stowage::bench {

/// Values of one colour, one a group or point.
struct series {
    std::string name;
    std::vector<double> values;
};

namespace detail {

inline constexpr std::array<const char*, 4> colours = {"#2b6cb0", "#dd6b20", "#2f855a", "#805ad5"};

[[nodiscard]] inline std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    return text.data();
}
[[nodiscard]] inline std::string text_at(double x, double y, const std::string& text, const char* more = "") {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + more + ">" + text + "</text>\n";
}
[[nodiscard]] inline std::string line(double x1, double y1, double x2, double y2) {
    return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" +
           number(y2) + "\" stroke=\"#999\"/>\n";
}
[[nodiscard]] inline std::string frame(double width, double height, const std::string& title,
                                       const std::vector<series>& all, const std::string& body) {
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " +
                      number(height) +
                      "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" "
                      "height=\"100%\" fill=\"white\"/>\n" +
                      text_at(10, 20, title, "font-size=\"15\"");
    for (std::size_t s = 0; s < all.size(); ++s) {
        const double x = 10 + 230 * static_cast<double>(s);
        svg += "<rect x=\"" + number(x) + "\" y=\"30\" width=\"12\" height=\"12\" fill=\"" + colours.at(s) +
               "\"/>\n" + text_at(x + 18, 41, all[s].name);
    }
    return svg + body + "</svg>\n";
}

}  // namespace detail

/// Bars in groups; values in per cent.
[[nodiscard]] inline std::string bars(const std::string& title, const std::vector<std::string>& groups,
                                      const std::vector<series>& all) {
    double top = 1;
    double bottom = 0;
    for (const series& one : all) {
        for (const double v : one.values) {
            top = std::max(top, v);
            bottom = std::min(bottom, v);
        }
    }
    const double step = 50;
    const double left = 50;
    const double height = 260;
    const auto y = [&](double v) { return 60 + height * (top - v) / (top - bottom); };
    std::string body;
    for (double v = std::ceil(bottom / 10) * 10; v <= top; v += 10)
        body += detail::line(left, y(v), left + step * static_cast<double>(groups.size()), y(v)) +
                detail::text_at(5, y(v) + 4, detail::number(v) + "%", "font-size=\"10\"");
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const double x = left + step * static_cast<double>(g);
        const double width = (step - 10) / static_cast<double>(all.size());
        for (std::size_t s = 0; s < all.size(); ++s) {
            const double v = all[s].values.at(g);
            body += "<rect x=\"" + detail::number(x + width * static_cast<double>(s)) + "\" y=\"" +
                    detail::number(y(std::max(v, 0.0))) + "\" width=\"" + detail::number(width) +
                    "\" height=\"" + detail::number(std::abs(y(v) - y(0))) + "\" fill=\"" +
                    detail::colours.at(s) + "\"/>\n";
        }
        body += "<text transform=\"translate(" + detail::number(x + 15) + "," + detail::number(335) +
                ") rotate(40)\" font-size=\"11\">" + groups[g] + "</text>\n";
    }
    return detail::frame(left + step * static_cast<double>(groups.size()) + 70, 430, title, all, body);
}

/// Points (x, value) on logarithmic axes, x being operators and values seconds.
[[nodiscard]] inline std::string points(const std::string& title, const std::vector<double>& x,
                                        const std::vector<series>& all) {
    const double left = 60;
    const double width = 700;
    const double height = 300;
    const auto px = [&](double v) { return left + width * (std::log10(v) - 2) / 2; };  // 100 to 10,000
    const auto py = [&](double v) {
        return 60 + height * (2 - std::log10(std::max(v, 1e-4))) / 6;
    };  // 0.1 ms to 100 s
    std::string body;
    for (int e = -4; e <= 2; ++e) {
        const double v = std::pow(10.0, e);
        body += detail::line(left, py(v), left + width, py(v)) +
                detail::text_at(5, py(v) + 4, "1e" + std::to_string(e) + " s", "font-size=\"10\"");
    }
    for (const double v : {100.0, 300.0, 1000.0, 3000.0, 10000.0})
        body += detail::line(px(v), 60, px(v), 60 + height) +
                detail::text_at(px(v) - 14, 75 + height,
                                detail::number(v).substr(0, detail::number(v).find('.')), "font-size=\"10\"");
    for (std::size_t s = 0; s < all.size(); ++s) {
        for (std::size_t i = 0; i < x.size(); ++i)
            body += "<circle cx=\"" + detail::number(px(x[i])) + "\" cy=\"" +
                    detail::number(py(all[s].values.at(i))) + "\" r=\"4\" fill=\"" + detail::colours.at(s) +
                    "\"/>\n";
    }
    return detail::frame(left + width + 20, 90 + height, title, all, body);
}

}  // namespace stowage::bench
