#include <stowage/verify/layout.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <stowage/detail/random.hpp>

using namespace stowage;

namespace {

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The moments at which a buffer holds bytes, one by one: small times only.
bool holds(const layout::buffer& b, std::int64_t time) {
    if (b.size == 0 || time < b.lower || time >= b.upper) return false;
    for (const layout::interval& gap : b.gaps) {
        if (gap.lower <= time && time < gap.upper) return false;
    }
    return true;
}

/// The plainest check, pair by pair and moment by moment.
bool plainly_valid(const layout::problem& p, const std::vector<std::int64_t>& offsets,
                   const std::vector<std::uint32_t>& pools) {
    for (std::size_t i = 0; i < p.buffers.size(); ++i) {
        const layout::buffer& b = p.buffers[i];
        if (offsets[i] < 0 || (b.offset && *b.offset != offsets[i])) return false;
        if (b.pool && *b.pool != pools[i]) return false;
        if (b.size == 0 || b.lower == b.upper) continue;
        if (offsets[i] % p.alignment != 0 || offsets[i] % b.alignment != 0) return false;
        if (!p.capacities.empty() && offsets[i] + b.size > p.capacities[pools[i]]) return false;
        for (std::size_t j = 0; j < i; ++j) {
            const layout::buffer& c = p.buffers[j];
            if (pools[i] != pools[j]) continue;
            if (offsets[i] >= offsets[j] + c.size || offsets[j] >= offsets[i] + b.size) continue;
            for (std::int64_t t = b.lower; t < b.upper; ++t) {
                if (holds(b, t) && holds(c, t)) return false;
            }
        }
    }
    return true;
}

layout::problem two() {
    layout::problem p;
    p.buffers = {{.lower = 0, .upper = 4, .size = 10}, {.lower = 3, .upper = 6, .size = 20}};
    p.names = {"a", "b"};
    return p;
}

verify::verdict check(const layout::problem& p, const std::vector<std::int64_t>& offsets) {
    return verify::check_layout(p, offsets);
}

/// A random problem of small numbers with every feature, and the plainest layout of it.
struct instance {
    layout::problem problem;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> pools;
};

instance random_instance(detail::splitmix64& random) {
    instance made;
    const bool pooled = random.below(3) == 0;
    if (pooled) made.problem.capacities = {400, 500};
    made.problem.alignment = random.below(2) == 0 ? 1 : 4;
    const std::size_t count = 2 + random.below(9);
    for (std::size_t i = 0; i < count; ++i) {
        layout::buffer b;
        b.lower = static_cast<std::int64_t>(random.below(10));
        b.upper = b.lower + static_cast<std::int64_t>(random.below(8));
        b.size = static_cast<std::int64_t>(random.below(20));
        if (random.below(4) == 0) b.alignment = 6;
        if (random.below(3) == 0 && b.upper - b.lower > 3) {
            b.gaps.push_back({b.lower + 1, b.lower + 2 + static_cast<std::int64_t>(random.below(2))});
        }
        if (pooled && random.below(2) == 0) b.pool = static_cast<std::uint32_t>(random.below(2));
        made.problem.names.push_back("x" + std::to_string(i));
        made.problem.buffers.push_back(b);
        made.offsets.push_back(0);
        made.pools.push_back(b.pool.value_or(pooled ? static_cast<std::uint32_t>(random.below(2)) : 0));
        layout::problem so_far = made.problem;
        while (!plainly_valid(so_far, made.offsets, made.pools))
            ++made.offsets.back();
        if (random.below(5) == 0) made.problem.buffers.back().offset = made.offsets.back();
    }
    return made;
}

}  // namespace

TEST_CASE("a valid layout is accepted with its load and arena") {
    const verify::verdict yes = check(two(), {20, 0});
    CHECK(yes);
    CHECK(yes.peak == 30);
    CHECK(yes.arena == 30);
    CHECK(yes.arenas == std::vector<std::int64_t>{30});
    CHECK(check(two(), {100, 0}).arena == 110);
    CHECK(check({}, {}));
}

TEST_CASE("lifetimes that touch do not meet") {
    layout::problem p = two();
    p.buffers[1].lower = 4;
    CHECK(check(p, {0, 0}));
}

TEST_CASE("overlap names both buffers, the bytes and the time") {
    const verify::verdict no = check(two(), {19, 0});
    CHECK(!no);
    CHECK(no.reason == "buffer 0 (a) and buffer 1 (b) share bytes [19, 20) while both are alive at time 3");
    REQUIRE(no.buffers.size() == 2);
    CHECK(no.buffers[0].name == "a");
    CHECK(no.buffers[1].index == 1);
    CHECK(mentions(check(two(), {0, 9}).reason, "bytes [9, 10)"));
    CHECK(mentions(check(two(), {5, 0}).reason, "bytes [5, 15)"));
    CHECK(mentions(check(two(), {0, 0}).reason, "bytes [0, 10)"));
}

TEST_CASE("each rule of a single buffer is named") {
    const auto refused = [](auto change, const std::string& part,
                            std::vector<std::int64_t> offsets = {20, 0}) {
        layout::problem p = two();
        change(p);
        const verify::verdict no = check(p, offsets);
        CHECK(!no);
        CHECK_MESSAGE(mentions(no.reason, part), no.reason);
    };
    const auto nothing = [](layout::problem&) {};
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    refused(nothing, "1 offsets for 2 buffers", {20});
    refused(nothing, "buffer 0 (a): offset -1 is negative", {-1, 0});
    refused(nothing, "buffer 1 (b): its end passes 2^63 - 1", {0, huge - 3});
    refused([](layout::problem& p) { p.alignment = 8; },
            "buffer 0 (a): offset 20 is no multiple of the problem's");
    refused([](layout::problem& p) { p.alignment = 0; }, "alignment is not positive");
    refused([](layout::problem& p) { p.buffers[0].alignment = 8; },
            "buffer 0 (a): offset 20 is no multiple of its");
    refused([](layout::problem& p) { p.buffers[1].alignment = -1; }, "buffer 1 (b): its alignment");
    refused([](layout::problem& p) { p.buffers[1].size = -1; }, "buffer 1 (b): its size");
    refused([](layout::problem& p) { p.buffers[1].upper = 2; }, "buffer 1 (b): its lifetime ends");
    refused([](layout::problem& p) { p.buffers[0].offset = 24; },
            "buffer 0 (a): offset 20, but it is pinned at 24");
    refused([](layout::problem& p) { p.capacities = {29}; },
            "buffer 0 (a): it ends at 30, past the capacity 29");
    refused([](layout::problem& p) { p.buffers[1].pool = 1; }, "buffer 1 (b): pool 1 does not exist");
    refused([](layout::problem& p) { p.buffers[0].gaps = {{3, 5}}; }, "buffer 0 (a): a gap");
    refused([](layout::problem& p) { p.buffers[0].gaps = {{2, 3}, {1, 2}}; }, "buffer 0 (a): a gap");
}

TEST_CASE("what takes part in nothing needs only an offset that is no less than 0, and its pin") {
    layout::problem p = two();
    p.buffers[0].size = 0;
    p.buffers[0].alignment = 64;
    CHECK(check(p, {3, 0}).arena == 20);
    CHECK(!check(p, {-1, 0}));
    p.buffers[0] = {.lower = 0, .upper = 4, .size = 100, .alignment = 64, .gaps = {{0, 3}, {3, 4}}};
    CHECK(check(p, {3, 0}).arena == 20);
    p.buffers[0].gaps.pop_back();
    CHECK(!check(p, {3, 0}));
    CHECK(check(p, {64, 0}).arena == 164);
    p.buffers[0].size = 0;
    p.buffers[0].offset = 7;
    CHECK(check(p, {7, 0}));
    CHECK(!check(p, {0, 0}));
}

TEST_CASE("pools are apart, each with its capacity") {
    layout::problem p = two();
    p.capacities = {10, 25};
    const std::vector<std::int64_t> zero = {0, 0};
    const std::vector<std::uint32_t> apart = {0, 1};
    const verify::verdict yes = verify::check_layout(p, zero, apart);
    CHECK(yes);
    CHECK(yes.arenas == std::vector<std::int64_t>{10, 20});
    CHECK(yes.arena == 20);
    CHECK(yes.peak == 20);
    const std::vector<std::uint32_t> swapped = {1, 0};
    CHECK(mentions(verify::check_layout(p, zero, swapped).reason, "past the capacity 10 of pool 0"));
    const std::vector<std::uint32_t> missing = {0, 2};
    CHECK(mentions(verify::check_layout(p, zero, missing).reason, "buffer 1 (b): pool 2 does not exist"));
    p.buffers[0].pool = 1;
    CHECK(mentions(verify::check_layout(p, zero, apart).reason, "is in pool 0, but must be in pool 1"));
    const std::vector<std::uint32_t> one = {0};
    CHECK(mentions(verify::check_layout(p, zero, one).reason, "1 pools for 2 buffers"));
}

TEST_CASE("a gap frees the bytes of its span only") {
    layout::problem p;
    p.buffers = {{.lower = 0, .upper = 10, .size = 8, .gaps = {{3, 6}}}, {.lower = 3, .upper = 6, .size = 8}};
    const verify::verdict yes = check(p, {0, 0});
    CHECK(yes);
    CHECK(yes.peak == 8);
    p.buffers[1].upper = 7;
    CHECK(mentions(check(p, {0, 0}).reason, "at time 6"));
    p.buffers[1] = {.lower = 2, .upper = 6, .size = 8};
    CHECK(mentions(check(p, {0, 0}).reason, "at time 2"));
}

TEST_CASE("layouts with one change agree with the plain check") {
    detail::splitmix64 random(5);
    int refused = 0;
    int accepted = 0;
    for (int round = 0; round < 500; ++round) {
        const instance good = random_instance(random);
        const verify::verdict yes = verify::check_layout(good.problem, good.offsets, good.pools);
        REQUIRE_MESSAGE(yes.ok, yes.reason);
        for (int change = 0; change < 5; ++change) {
            instance other = good;
            const std::size_t i = random.below(other.offsets.size());
            if (!other.problem.capacities.empty() && random.below(4) == 0) {
                other.pools[i] = 1 - other.pools[i];
            } else {
                other.offsets[i] = static_cast<std::int64_t>(random.below(40)) - 1;
            }
            const verify::verdict found = verify::check_layout(other.problem, other.offsets, other.pools);
            REQUIRE_MESSAGE(found.ok == plainly_valid(other.problem, other.offsets, other.pools),
                            found.reason);
            if (found) {
                ++accepted;
                continue;
            }
            ++refused;
            bool named = false;
            for (const subject& s : found.buffers)
                named = named || s.index == i;
            CHECK(named);
            CHECK(mentions(found.reason, "buffer " + std::to_string(i) + " (x" + std::to_string(i) + ")"));
        }
    }
    CHECK(refused > 500);
    CHECK(accepted > 200);
}

TEST_CASE("what a solution claims of its layout must agree") {
    const layout::problem p = two();
    layout::solution good;
    good.offsets = {20, 0};
    good.arena = 30;
    good.load = 30;
    good.lower_bound = 30;
    good.status = status::optimal;
    CHECK(verify::check_layout(p, good));
    const auto refused = [&](auto change, const std::string& part) {
        layout::solution bad = good;
        change(bad);
        const verify::verdict no = verify::check_layout(p, bad);
        CHECK(!no);
        CHECK_MESSAGE(mentions(no.reason, part), no.reason);
    };
    refused([](layout::solution& s) { s.arena = 29; }, "the arena is said to be 29, it is 30");
    refused([](layout::solution& s) { s.load = 31; }, "the load is said to be 31, it is 30");
    refused([](layout::solution& s) { s.lower_bound = 31; }, "above the arena");
    refused([](layout::solution& s) { s.lower_bound = 29; }, "called optimal");
    refused([](layout::solution& s) { s.offsets[0] = 19; }, "share bytes");
    refused([](layout::solution& s) { s.offsets.clear(); }, "0 offsets");
}
