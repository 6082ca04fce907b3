#pragma once
// Looks at a page in a real headless Chromium: its screenshot as pixels, and the document after its scripts
// have run.

#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace stowage::test {

/// The browser's command, or nothing where there is none.
inline std::optional<std::string> find_browser() {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
        const std::string probe = std::string("command -v ") + name + " >/dev/null 2>&1";
        if (std::system(probe.c_str()) == 0) return name;
    }
    return std::nullopt;
}

inline std::string browse(const std::string& browser, const std::string& options,
                          const std::filesystem::path& page) {
    const std::string command = "timeout 60 " + browser +
                                " --headless --no-sandbox --disable-gpu --hide-scrollbars " + options +
                                " 'file://" + page.string() + "' 2>/dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("the browser does not start");
    std::string out;
    std::array<char, 4096> part{};
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe))
        out.append(part.data(), count);
    pclose(pipe);
    return out;
}

/// Pixels of a picture, one 0xRRGGBB each.
struct pixels {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<std::uint32_t> colours;
    [[nodiscard]] std::size_t count(std::uint32_t colour, int tolerance) const {
        std::size_t found = 0;
        for (const std::uint32_t c : colours) {
            bool near = true;
            for (const unsigned shift : {0U, 8U, 16U}) {
                const int difference =
                    static_cast<int>(c >> shift & 0xffU) - static_cast<int>(colour >> shift & 0xffU);
                near = near && difference <= tolerance && -difference <= tolerance;
            }
            found += near ? 1U : 0U;
        }
        return found;
    }
};

/// Reads a PNG of 8-bit RGB or RGBA without interlacing, the kind that Chromium writes.
inline pixels read_png(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(file)), {});
    const std::vector<unsigned char> data(text.begin(), text.end());
    const auto word = [&](std::size_t at) {
        return std::uint32_t{data.at(at)} << 24U | std::uint32_t{data.at(at + 1)} << 16U |
               std::uint32_t{data.at(at + 2)} << 8U | std::uint32_t{data.at(at + 3)};
    };
    pixels result;
    std::size_t channels = 0;
    std::vector<unsigned char> packed;
    for (std::size_t at = 8; at + 12 <= data.size(); at += 12 + word(at)) {
        const std::string type(text.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                               text.begin() + static_cast<std::ptrdiff_t>(at) + 8);
        if (type == "IHDR") {
            result.width = word(at + 8);
            result.height = word(at + 12);
            channels = data.at(at + 17) == 6 ? 4 : 3;
        } else if (type == "IDAT") {
            packed.insert(packed.end(), data.begin() + static_cast<std::ptrdiff_t>(at) + 8,
                          data.begin() + static_cast<std::ptrdiff_t>(at + 8 + word(at)));
        }
    }
    const std::size_t stride = result.width * channels;
    std::vector<unsigned char> raw((stride + 1) * result.height);
    uLongf size = raw.size();
    if (raw.empty() || uncompress(raw.data(), &size, packed.data(), packed.size()) != Z_OK)
        throw std::runtime_error("not a PNG");
    std::vector<unsigned char> line(stride);
    for (std::size_t y = 0; y < result.height; ++y) {
        const std::vector<unsigned char> above = y == 0 ? std::vector<unsigned char>(stride) : line;
        const unsigned char* row = raw.data() + y * (stride + 1);
        for (std::size_t x = 0; x < stride; ++x) {
            const int left = x < channels ? 0 : line[x - channels];
            const int up = above[x];
            const int corner = x < channels ? 0 : above[x - channels];
            const int guess = left + up - corner;
            const int by_left = std::abs(guess - left);
            const int by_up = std::abs(guess - up);
            const int by_corner = std::abs(guess - corner);
            const int paeth = by_left <= by_up && by_left <= by_corner ? left
                              : by_up <= by_corner                     ? up
                                                                       : corner;
            const std::array<int, 5> predicted = {0, left, up, (left + up) / 2, paeth};
            line[x] = static_cast<unsigned char>(row[x + 1] + predicted.at(row[0]));
        }
        for (std::size_t x = 0; x < result.width; ++x) {
            const unsigned char* p = line.data() + x * channels;
            result.colours.push_back(std::uint32_t{p[0]} << 16U | std::uint32_t{p[1]} << 8U | p[2]);
        }
    }
    return result;
}

/// A screenshot of the page.
inline pixels screenshot(const std::string& browser, const std::filesystem::path& page) {
    const std::filesystem::path shot = page.string() + ".png";
    std::filesystem::remove(shot);
    (void)browse(browser, "--window-size=1400,1300 --screenshot='" + shot.string() + "'", page);
    return read_png(shot);
}

}  // namespace stowage::test
