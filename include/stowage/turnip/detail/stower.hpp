#pragma once
// Sweeps over the steps of a decided residency and writes down what happens: who goes where, what is loaded
// and saved when. Rectangles go to where the layout put them; where the layout does not fit the arena, the
// shelf makes room. Its script runs right in its own order; the emitter finds out which other orders are.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/homecoming.hpp>
#include <stowage/turnip/detail/host_bound.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/detail/shelf.hpp>
#include <stowage/turnip/detail/step_accesses.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Writes the script of one plan. Everything given must outlive it. Use it once.
template <class = void>
class basic_stower {
public:
    /// `save_late`: contents go out when they leave the device, not when they are written; that takes fewer
    /// bytes of the host, and leaves less time.
    basic_stower(const taskgraph& task, const residency_model& model, const residency_state& decision,
                 stay_plan plan, std::span<const std::int64_t> capacities, bool save_late)
        : task_(task), program_(task.program), model_(model), decision_(decision), plan_(std::move(plan)),
          save_late_(save_late), accesses_(model), here_(model.instances.size(), none),
          home_(model.instances.size(), -1), on_host_(program_.buffer_count(), no_version),
          starts_on_host_(program_.buffer_count(), 0), starts_on_device_(program_.buffer_count(), 0),
          saved_(program_.buffer_count(), 0) {
        for (const std::int64_t capacity : capacities)
            shelves_.emplace_back(capacity);
        progress_.reserve(plan_.rectangles.size());
        for (const rectangle& stay : plan_.rectangles)
            progress_.push_back(stay.first);
        address_.assign(plan_.rectangles.size(), -1);
        ends_here_.assign(model.steps.size(), {});
        begins_here_.assign(model.steps.size(), {});
        for (std::uint32_t r = 0; r < plan_.rectangles.size(); ++r) {
            begins_here_[plan_.rectangles[r].lower].push_back(r);
            ends_here_[plan_.rectangles[r].upper].push_back(r);
        }
        find_host_copies();
    }

    /// The script; false if some device has no room, which alignments of single buffers can bring about.
    [[nodiscard]] bool operator()(script& result) {
        for (std::uint32_t s = 0; s < model_.steps.size(); ++s) {
            now_ = s;
            if (!step() || failed_) return false;
        }
        list_ends();
        result = std::move(script_);
        return true;
    }

    /// Where rectangle r is now (a hook of walk_home).
    [[nodiscard]] std::int64_t address_of(std::uint32_t r) const { return address_[r]; }
    /// `from` to `to` on the device at work (a hook of the shelf).
    void moved(std::uint32_t r, std::int64_t from, std::int64_t to) {
        const buffer_index b = buffer_of(r);
        script_.lines.push_back({.kind = vertex_kind::transfer,
                                 .buffer = b,
                                 .device = device_,
                                 .source = device_,
                                 .address = to,
                                 .from = from});
        script_.bytes_moved_within += program_.bytes(b);
        address_[r] = to;
    }
    /// Sends a resident to the host; it comes back before its next access (a hook of the shelf).
    void sent_away(std::uint32_t r, std::int64_t address, std::vector<newcomer>& newcomers) {
        address_[r] = address;
        save(r);
        address_[r] = -1;
        const rectangle old = plan_.rectangles[r];
        here_[old.instance] = none;
        const std::uint32_t next = progress_[r];
        rectangle rest{.instance = old.instance,
                       .first = next,
                       .last = old.last,
                       .lower = next < old.last ? model_.accesses[next].step : model_.last_step(),
                       .upper = old.upper,
                       .from = arrival::reloaded,
                       .address = old.address};
        const auto made = static_cast<std::uint32_t>(plan_.rectangles.size());
        plan_.rectangles.push_back(rest);
        progress_.push_back(next);
        address_.push_back(-1);
        ends_here_[rest.upper].push_back(made);
        if (rest.lower == now_) {
            newcomers.push_back(want(made));
        } else {
            begins_here_[rest.lower].push_back(made);
        }
    }

private:
    static constexpr std::uint32_t none = rectangle::none;
    static constexpr std::uint32_t scratch = none - 1;
    static constexpr std::uint32_t no_version = residency_model::no_version;

    [[nodiscard]] buffer_index buffer_of(std::uint32_t r) const {
        return model_.instances[plan_.rectangles[r].instance].buffer;
    }
    [[nodiscard]] newcomer want(std::uint32_t r) const {
        const buffer_index b = buffer_of(r);
        const std::int64_t own = program_.alignment(b);
        return {.owner = r,
                .bytes = program_.bytes(b),
                .alignment = std::lcm(own, model_.alignment),
                .wanted = plan_.rectangles[r].address};
    }
    /// The version that lies in rectangle r.
    [[nodiscard]] std::uint32_t version_in(std::uint32_t r) const {
        const rectangle& stay = plan_.rectangles[r];
        const std::uint32_t next = progress_[r];
        if (next > model_.instances[stay.instance].first) return model_.accesses[next - 1].after;
        return model_.accesses[next].before;
    }
    /// Which buffers have, or may have, a good copy on the host at the start.
    void find_host_copies() {
        for (std::uint32_t v = 0; v < model_.versions.size(); ++v) {
            const model_version& version = model_.versions[v];
            if (!version.initial) continue;
            if (task_.start[version.buffer] == host) starts_on_host_[version.buffer] = 1;
            const bool last_goes_out = model_.copy_of[v] != v && decision_.goes_out(v);
            if (version.on_host_at_start || last_goes_out) on_host_[version.buffer] = v;
        }
    }

    [[nodiscard]] bool step() {
        const model_step& step = model_.steps[now_];
        arrivals_.clear();
        if (!seat(step)) return false;
        if (now_ == model_.last_step() && !send_home()) return false;
        for (const std::uint32_t r : arrivals_)
            arrive(r);
        if (step.op != no_operator) {
            run(step);
        } else if (step.is_transfer) {
            transfer(step);
        }
        for (const std::uint32_t a : accesses_.at(now_)) {
            const model_access& access = model_.accesses[a];
            const std::uint32_t r = here_[access.instance];
            progress_[r] = a + 1;
            if (!save_late_ && access.writes && !step.is_transfer && decision_.goes_out(access.after))
                save(r);
        }
        for (std::size_t k = 0; k < ends_here_[now_].size(); ++k)
            leave(ends_here_[now_][k]);
        return true;
    }
    /// Finds places for all that comes at this step, device by device.
    [[nodiscard]] bool seat(const model_step& step) {
        std::vector<std::uint32_t>& coming = begins_here_[now_];
        std::sort(coming.begin(), coming.end(), [&](std::uint32_t a, std::uint32_t b) {
            const memory_index x = model_.instances[plan_.rectangles[a].instance].device;
            const memory_index y = model_.instances[plan_.rectangles[b].instance].device;
            return x != y ? x < y : a < b;
        });
        const bool scratched = step.op != no_operator && program_.workspace(step.op) > 0;
        bool seated = !scratched;
        for (std::size_t k = 0; k < coming.size() || !seated;) {
            device_ = k < coming.size() ? model_.instances[plan_.rectangles[coming[k]].instance].device
                                        : step.device;
            std::vector<newcomer> newcomers;
            while (k < coming.size() &&
                   model_.instances[plan_.rectangles[coming[k]].instance].device == device_)
                newcomers.push_back(want(coming[k++]));
            if (!seated && device_ == step.device) {
                newcomers.push_back({.owner = scratch,
                                     .bytes = program_.workspace(step.op),
                                     .alignment = model_.alignment,
                                     .wanted = plan_.workspace[now_]});
                seated = true;
            }
            if (!shelves_[device_].place(newcomers, *this)) return false;
            for (const newcomer& n : newcomers) {
                if (n.owner == scratch) {
                    scratch_address_ = n.address;
                    continue;
                }
                address_[n.owner] = n.address;
                arrivals_.push_back(n.owner);
            }
        }
        begins_here_[now_] = {};
        return true;
    }
    /// A rectangle begins: its contents are there, or are loaded.
    void arrive(std::uint32_t r) {
        const rectangle& stay = plan_.rectangles[r];
        const buffer_index b = buffer_of(r);
        const memory_index device = model_.instances[stay.instance].device;
        here_[stay.instance] = r;
        if (stay.from == arrival::present) {
            script_.start.push_back({b, device, address_[r]});
            starts_on_device_[b] = 1;
            home_[stay.instance] = address_[r];
        } else if (stay.from == arrival::reloaded) {
            const std::uint32_t version = on_host_[b];
            if (version == no_version || version != version_in(r)) failed_ = true;
            if (version != no_version && model_.versions[version].initial && saved_[b] == 0)
                starts_on_host_[b] = 1;
            script_.lines.push_back(
                {.kind = vertex_kind::reload, .buffer = b, .device = device, .address = address_[r]});
            script_.bytes_moved += program_.bytes(b);
        }
    }
    void run(const model_step& step) {
        script_line line{.op = step.op, .device = step.device};
        line.operands = static_cast<std::uint32_t>(script_.operands.size());
        for (const std::uint32_t a : accesses_.at(now_)) {
            const std::uint32_t r = here_[model_.accesses[a].instance];
            script_.operands.push_back({buffer_of(r), address_[r]});
        }
        line.operand_count = static_cast<std::uint32_t>(script_.operands.size()) - line.operands;
        std::sort(script_.operands.begin() + line.operands, script_.operands.end(),
                  [](const script::place& x, const script::place& y) { return x.buffer < y.buffer; });
        if (program_.workspace(step.op) > 0) {
            line.workspace = scratch_address_;
            shelves_[step.device].give(scratch_address_);
        }
        script_.lines.push_back(line);
    }
    void transfer(const model_step& step) {
        const std::uint32_t from = here_[step.source];
        const std::uint32_t to = here_[step.target];
        script_.lines.push_back({.kind = vertex_kind::transfer,
                                 .buffer = buffer_of(from),
                                 .device = model_.instances[step.target].device,
                                 .source = model_.instances[step.source].device,
                                 .address = address_[to],
                                 .from = address_[from]});
    }
    /// Makes sure that the host has the contents of rectangle r.
    void save(std::uint32_t r) {
        const buffer_index b = buffer_of(r);
        const std::uint32_t version = version_in(r);
        if (on_host_[b] == version) return;
        script_.lines.push_back({.kind = vertex_kind::offload,
                                 .buffer = b,
                                 .device = model_.instances[plan_.rectangles[r].instance].device,
                                 .address = address_[r]});
        script_.bytes_moved += program_.bytes(b);
        on_host_[b] = version;
        saved_[b] = 1;
    }
    void leave(std::uint32_t r) {
        if (address_[r] < 0 || now_ == model_.last_step()) return;
        const rectangle& stay = plan_.rectangles[r];
        if (stay.first < stay.last) {
            if (save_late_ && decision_.goes_out(version_in(r))) save(r);
        }
        shelves_[model_.instances[stay.instance].device].give(address_[r]);
        address_[r] = -1;
        if (here_[stay.instance] == r) here_[stay.instance] = none;
    }

    [[nodiscard]] bool is_astray(std::uint32_t i) const {
        const model_instance& instance = model_.instances[i];
        return instance.device == device_ && instance.tied && home_[i] >= 0 && here_[i] != none &&
               address_[here_[i]] != home_[i];
    }
    /// At the end: what is tied to its place at the start goes there, by way of the host where it must.
    [[nodiscard]] bool send_home() {
        for (const std::uint32_t r : arrivals_)
            arrive(r);
        arrivals_.clear();
        for (device_ = 0; device_ < shelves_.size(); ++device_) {
            std::vector<homecomer> coming;
            for (std::uint32_t i = 0; i < here_.size(); ++i) {
                if (is_astray(i))
                    coming.push_back({here_[i], program_.bytes(model_.instances[i].buffer), home_[i]});
            }
            walk_home(shelves_[device_], std::move(coming), *this);
            if (!clear_homes(shelves_[device_])) return false;
        }
        return true;
    }
    /// Sends away what is still astray and what lies in its place; then each comes to where it belongs.
    [[nodiscard]] bool clear_homes(shelf& arena) {
        std::vector<std::int64_t> in_the_way;
        for (std::uint32_t i = 0; i < here_.size(); ++i) {
            if (!is_astray(i)) continue;
            in_the_way.push_back(address_[here_[i]]);
            const std::int64_t upper = home_[i] + program_.bytes(model_.instances[i].buffer);
            const auto& used = arena.map().used();
            auto at = used.upper_bound(home_[i]);
            if (at != used.begin() && std::prev(at)->second.upper > home_[i]) --at;
            for (; at != used.end() && at->first < upper; ++at)
                in_the_way.push_back(at->first);
        }
        std::sort(in_the_way.begin(), in_the_way.end());
        in_the_way.erase(std::unique(in_the_way.begin(), in_the_way.end()), in_the_way.end());
        std::vector<newcomer> strays;
        for (const std::int64_t address : in_the_way)
            arena.send_away(address, strays, *this);
        for (const bool tied : {true, false}) {
            for (newcomer& stray : strays) {
                const std::uint32_t i = plan_.rectangles[stray.owner].instance;
                if (model_.instances[i].tied != tied) continue;
                stray.wanted = tied ? home_[i] : arena.map().snuggest(stray.bytes, stray.alignment);
                if (stray.wanted < 0) {
                    // It may stay on the host, if it was the compiler's choice that it should be here.
                    if (task_.finish[buffer_of(stray.owner)] != anywhere) return false;
                    continue;
                }
                std::vector<newcomer> one{stray};
                if (!arena.place(one, *this)) return false;
                address_[stray.owner] = one.front().address;
                arrive(stray.owner);
            }
        }
        return true;
    }

    void list_ends() {
        for (std::uint32_t i = 0; i < here_.size(); ++i) {
            const buffer_index b = model_.instances[i].buffer;
            if (here_[i] != none && starts_on_host_[b] != 0 && must_return(b)) save(here_[i]);
        }
        std::vector<char> listed(program_.buffer_count(), 0);
        std::vector<char> is_home(program_.buffer_count(), 0);
        for (std::uint32_t i = 0; i < here_.size(); ++i) {
            if (here_[i] != none && home_[i] >= 0 && address_[here_[i]] == home_[i])
                is_home[model_.instances[i].buffer] = 1;
        }
        for (std::uint32_t i = 0; i < here_.size(); ++i) {
            const buffer_index b = model_.instances[i].buffer;
            if (here_[i] == none || listed[b] != 0 || task_.finish[b] == host || !ends_somewhere(b)) continue;
            script_.final.push_back({b, model_.instances[i].device, address_[here_[i]]});
            listed[b] = 1;
            if (starts_on_host_[b] != 0 && must_return(b)) script_.final.push_back({b, host, no_address});
        }
        for (buffer_index b = 0; b < program_.buffer_count(); ++b) {
            if (model_.final_version[b] == no_version) continue;
            if (listed[b] == 0 && ends_somewhere(b)) script_.final.push_back({b, host, no_address});
            if (!is_alive_at_start(program_.kind(b))) continue;
            // Bytes that nobody writes may go from the device if the host has them from the start.
            if (stays_intact(task_, b) && is_home[b] == 0) starts_on_host_[b] = 1;
            if (starts_on_host_[b] != 0 || starts_on_device_[b] == 0)
                script_.start.push_back({b, host, no_address});
        }
    }
    [[nodiscard]] bool ends_somewhere(buffer_index b) const {
        const buffer_kind kind = program_.kind(b);
        return kind == buffer_kind::output || (is_persistent(kind) && task_.is_written(b));
    }
    /// Where it is at the start, it must be at the end.
    [[nodiscard]] bool must_return(buffer_index b) const {
        const buffer_kind kind = program_.kind(b);
        return task_.repeatable && is_persistent(kind) && kind != buffer_kind::input && task_.is_written(b);
    }

    const taskgraph& task_;
    const tensor_graph& program_;
    const residency_model& model_;
    const residency_state& decision_;
    stay_plan plan_;
    bool save_late_;
    step_accesses accesses_;
    std::uint32_t now_ = 0;
    memory_index device_ = 0;
    std::int64_t scratch_address_ = -1;
    bool failed_ = false;
    script script_;
    std::vector<shelf> shelves_;                           // by device
    std::vector<std::uint32_t> progress_;                  // by rectangle: its next access
    std::vector<std::int64_t> address_;                    // by rectangle; -1: it is not there
    std::vector<std::vector<std::uint32_t>> begins_here_;  // by step: rectangles
    std::vector<std::vector<std::uint32_t>> ends_here_;    // by step: rectangles
    std::vector<std::uint32_t> arrivals_;                  // of this step
    std::vector<std::uint32_t> here_;                      // by instance: its rectangle that is there
    std::vector<std::int64_t> home_;                       // by instance: its address at the start
    std::vector<std::uint32_t> on_host_;                   // by buffer: the version that the host has
    std::vector<char> starts_on_host_;                     // by buffer
    std::vector<char> starts_on_device_;                   // by buffer
    std::vector<char> saved_;                              // by buffer: 1 once its copy was made in this run
};
using stower = basic_stower<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_stower<>;
#endif

}  // namespace stowage::turnip::detail
