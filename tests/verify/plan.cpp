#include <stowage/verify/plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <stowage/graph.hpp>
#include <support/random_plans.hpp>

using namespace stowage;

namespace {

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A plan with one thing changed, and what the refusal must say.
struct mutation {
    std::string kind;
    plan changed;
    std::vector<std::string> says;
};

std::string name_of(const program& p, const test::holder& h) {
    const std::string index = std::to_string(h.index);
    if (h.workspace) return "workspace of operator " + index + " (" + p.operators()[h.index].name + ")";
    return "buffer " + index + " (" + p.buffers()[h.index].name + ")";
}

std::int64_t& offset_of(plan& changed, const test::holder& h) {
    return h.workspace ? changed.workspace_offsets[h.index] : changed.offsets[h.index];
}

/// Puts one of two that are alive together on the other's bytes.
void overlaps(const program& p, const plan& good, std::vector<mutation>& all) {
    const std::vector<test::holder> holders = test::holders(p, good.order);
    for (std::size_t i = 0; i < holders.size(); ++i) {
        for (std::size_t j = 0; j < holders.size(); ++j) {
            if (i == j || !test::meet(holders[i], holders[j])) continue;
            mutation m{"overlap", good, {}};
            const std::int64_t there = offset_of(m.changed, holders[j]);
            const std::int64_t step = std::max(good.alignment, holders[i].alignment);
            const std::int64_t start = there / step * step;
            if (start + holders[i].size <= there) continue;
            offset_of(m.changed, holders[i]) = start;
            m.says = {name_of(p, holders[i]), "share bytes"};
            all.push_back(std::move(m));
        }
    }
}

void places(const program& p, const plan& good, std::vector<mutation>& all) {
    for (const test::holder& h : test::holders(p, good.order)) {
        mutation none{"no offset", good, {name_of(p, h)}};
        offset_of(none.changed, h) = -1;
        all.push_back(std::move(none));
        if (h.size == 0 || std::max(h.alignment, good.alignment) == 1) continue;
        mutation odd{"alignment", good, {name_of(p, h), "no multiple"}};
        offset_of(odd.changed, h) += 1;
        all.push_back(std::move(odd));
    }
    for (std::size_t b = 0; b < p.buffers().size(); ++b) {
        if (good.offsets[b] >= 0) continue;
        mutation m{"outside the plan", good, {"(b" + std::to_string(b) + ")", "no part of a plan"}};
        m.changed.offsets[b] = 0;
        all.push_back(std::move(m));
    }
    for (std::size_t op = 0; op < p.operators().size(); ++op) {
        if (p.operators()[op].workspace > 0 || good.workspace_offsets.empty()) continue;
        mutation m{"no workspace", good, {"(" + p.operators()[op].name + ")", "no bytes"}};
        m.changed.workspace_offsets[op] = 0;
        all.push_back(std::move(m));
    }
}

void orders(const program& p, const plan& good, std::vector<mutation>& all) {
    const auto must = test::must_follow(p);
    for (std::size_t t = 0; t + 1 < good.order.size(); ++t) {
        const operator_index a = good.order[t];
        const operator_index b = good.order[t + 1];
        mutation twice{"twice", good, {"(" + p.operators()[a].name + ")", "twice"}};
        twice.changed.order[t + 1] = a;
        all.push_back(std::move(twice));
        if (!must[b][a]) continue;
        mutation m{
            "dependency", good, {"(" + p.operators()[a].name + ")", "(" + p.operators()[b].name + ")"}};
        std::swap(m.changed.order[t], m.changed.order[t + 1]);
        all.push_back(std::move(m));
    }
    mutation missing{
        "missing", good, {"(" + p.operators()[good.order.back()].name + ")", "not in the order"}};
    missing.changed.order.pop_back();
    all.push_back(std::move(missing));
    mutation foreign{"foreign", good, {"does not exist"}};
    foreign.changed.order.front() = static_cast<operator_index>(good.order.size());
    all.push_back(std::move(foreign));
}

void figures(const plan& good, std::vector<mutation>& all) {
    const auto add = [&](const char* kind, const std::function<void(plan&)>& change, std::string says) {
        mutation m{kind, good, {std::move(says)}};
        change(m.changed);
        all.push_back(std::move(m));
    };
    add(
        "peak", [](plan& x) { ++x.peak.bytes; }, "the peak is said to be");
    add(
        "arena", [](plan& x) { --x.arena.bytes; }, "the arena is said to be");
    add(
        "persistent", [](plan& x) { ++x.persistent_bytes; }, "persistent");
    add(
        "peak bound", [](plan& x) { x.peak.lower_bound = x.peak.bytes + 1; }, "of the peak is above");
    add(
        "arena bound", [](plan& x) { x.arena.lower_bound = x.arena.bytes + 1; }, "of the arena is above");
    add(
        "negative bound", [](plan& x) { x.arena.lower_bound = -1; }, "negative");
    add(
        "fingerprint", [](plan& x) { x.fingerprint ^= 1U; }, "another program");
    add(
        "status", [](plan& x) { x.status = status::infeasible; }, "infeasible");
    add(
        "plan alignment", [](plan& x) { x.alignment = 0; }, "not positive");
    add(
        "too few offsets", [](plan& x) { x.offsets.pop_back(); }, "offsets for");
    add(
        "too many workspaces", [](plan& x) { x.workspace_offsets.resize(x.order.size() + 1, -1); },
        "offsets of workspaces");
    if (good.arena.bytes > 0) {
        add(
            "optimal", [](plan& x) { x.status = status::optimal; }, "called optimal");
    }
}

}  // namespace

TEST_CASE("plans with one thing changed are refused by name") {
    detail::splitmix64 random(21);
    std::map<std::string, int> refused;
    for (int round = 0; round < 150; ++round) {
        const program p = test::wide_program(random);
        const tensor_graph graph = make_tensor_graph(p);
        const plan good = test::random_plan(p, graph, random, random.below(2) == 0 ? 1 : 8);
        const verify::verdict yes = verify::check_plan(graph, good);
        REQUIRE_MESSAGE(yes.ok, yes.reason);
        CHECK(yes.peak == good.peak.bytes);
        CHECK(yes.arena == good.arena.bytes);
        std::vector<mutation> all;
        overlaps(p, good, all);
        places(p, good, all);
        orders(p, good, all);
        figures(good, all);
        for (const mutation& m : all) {
            const verify::verdict no = verify::check_plan(graph, m.changed);
            REQUIRE_MESSAGE(!no.ok, m.kind);
            for (const std::string& part : m.says)
                CHECK_MESSAGE(mentions(no.reason, part), m.kind << ": " << no.reason << " lacks " << part);
            ++refused[m.kind];
        }
    }
    CHECK(refused.size() == 21);
    for (const auto& [kind, times] : refused)
        CHECK_MESSAGE(times >= 50, kind << " " << times);
}

TEST_CASE("a met bound may be called optimal, and a pin must be kept") {
    program p;
    const auto a = p.add_buffer({.bytes = 16, .name = "a", .pinned_offset = 32});
    const auto b = p.add_buffer({.bytes = 32, .kind = buffer_kind::output, .name = "b"});
    p.add_operator({.name = "f", .writes = {a}});
    p.add_operator({.name = "g", .reads = {a}, .writes = {b}, .workspace = 8});
    const tensor_graph graph = make_tensor_graph(p);
    plan good;
    good.order = {0, 1};
    good.offsets = {32, 0};
    good.workspace_offsets = {-1, 48};
    good.peak = {56, 56};
    good.arena = {56, 56};
    good.status = status::optimal;
    good.fingerprint = graph.fingerprint();
    const verify::verdict yes = verify::check_plan(graph, good);
    CHECK_MESSAGE(yes.ok, yes.reason);
    plan bad = good;
    bad.offsets[0] = 64;
    const verify::verdict no = verify::check_plan(graph, bad);
    CHECK(no.reason == "buffer 0 (a): offset 64, but it is pinned at 32");
    bad = good;
    bad.workspace_offsets = {-1, 40};
    const verify::verdict clash = verify::check_plan(graph, bad);
    CHECK(mentions(clash.reason, "the workspace of operator 1 (g)"));
    CHECK(mentions(clash.reason, "buffer 0 (a)"));
    CHECK(mentions(clash.reason, "at step 1, operator 1 (g)"));
    REQUIRE(clash.operators.size() == 1);
    REQUIRE(clash.buffers.size() == 1);
    bad = good;
    bad.workspace_offsets.clear();
    CHECK(
        mentions(verify::check_plan(graph, bad).reason, "the workspace of operator 1 (g): it has no offset"));
}

TEST_CASE("an empty program has an empty plan") {
    plan nothing;
    nothing.fingerprint = tensor_graph{}.fingerprint();
    CHECK(verify::check_plan(tensor_graph{}, nothing));
}
