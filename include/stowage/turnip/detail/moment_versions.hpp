#pragma once
// What the moment bound knows of each version of a buffer: at which moments it is alive, in which blocks it
// can be copied, and by when it must be back. Blocks and moments of the next run go on counting.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/block_division.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// One version of a buffer.
struct moment_version {
    std::uint32_t instance = 0;
    double bytes = 0;        ///< of the device
    double seconds_in = 0;   ///< of the lane, for all of it
    double seconds_out = 0;  ///< of the lane, for all of it
    std::uint32_t from = 1;  ///< it is alive at moments [from, to]; none if to < from
    std::uint32_t to = 0;
    std::uint32_t made = 0;     ///< the first block in which it can be copied out
    std::uint32_t readers = 0;  ///< [readers, readers_end) of moment_versions::readers
    std::uint32_t readers_end = 0;
    bool dirty = false;     ///< the host has it only if it is copied out
    bool comes_in = false;  ///< it starts on the host, and nowhere else
    bool must_go_out = false;
};

/// Versions, and who reads them.
struct moment_versions {
    struct reader {
        std::uint32_t block;   // in which it starts
        std::uint32_t moment;  // just when it starts, if that is a moment; otherwise 0
        // The last block in which what it reads can come in.
        [[nodiscard]] std::uint32_t deadline() const noexcept { return moment > 0 ? block - 1 : block; }
    };
    std::vector<moment_version> list;
    std::vector<reader> readers;  ///< version by version, the last one first

    /// True if an operator that starts at moment k reads `v`: then it is there.
    [[nodiscard]] bool is_read_at(const moment_version& v, std::uint32_t k) const noexcept {
        for (std::uint32_t r = v.readers; r < v.readers_end; ++r) {
            if (readers[r].moment == k) return true;
        }
        return false;
    }
    /// True if someone reads `v` at moment k or later.
    [[nodiscard]] bool is_wanted_from(const moment_version& v, std::uint32_t k) const noexcept {
        return v.readers < v.readers_end && readers[v.readers].block >= k;
    }
    /// Goes on from reader `next` over all that start no earlier than moment k; `deadline` becomes the first
    /// block by whose end one of them must have it. True if one starts at k.
    bool pass(const moment_version& v, std::uint32_t k, std::uint32_t& next,
              std::uint32_t& deadline) const noexcept {
        bool now = false;
        for (; next < v.readers_end && readers[next].block >= k; ++next) {
            deadline = std::min(deadline, readers[next].deadline());
            now = now || (k > 0 && readers[next].moment == k);
        }
        return now;
    }
};

/// Lists the versions of one device's instances. Use it once.
template <class = void>
class basic_moment_lister {
public:
    basic_moment_lister(const taskgraph& task, const residency_model& model, const machine& m,
                        const block_division& division)
        : program_(task.program), model_(model), machine_(m), division_(division), blocks_(division.size()) {}
    [[nodiscard]] moment_versions operator()() {
        for (std::uint32_t i = 0; i < model_.instances.size(); ++i) {
            if (model_.instances[i].first < model_.instances[i].last) list_instance(i);
        }
        return std::move(found_);
    }

private:
    void begin(moment_version& v) const { v.readers = static_cast<std::uint32_t>(found_.readers.size()); }
    void end(moment_version& v) {
        v.readers_end = static_cast<std::uint32_t>(found_.readers.size());
        const auto first = found_.readers.begin() + v.readers;
        std::sort(first, found_.readers.end(),
                  [](const auto& a, const auto& b) { return a.block > b.block; });
        if (first != found_.readers.end()) v.to = std::max(v.to, first->block);
        if (v.to >= v.from || v.comes_in || v.must_go_out) found_.list.push_back(v);
    }
    /// `shift`: 0, or the blocks of one run for a reader in the next one.
    void add_reader(const model_access& access, std::uint32_t shift) {
        const std::uint32_t step = access.step;
        if (step == model_.last_step()) {  // it must be there at the end
            found_.readers.push_back({shift + blocks_ - 1, 0});
            return;
        }
        const std::uint32_t moment = division_.moment_at(step);
        found_.readers.push_back({shift + division_.blocks[step], moment > 0 ? shift + moment : 0});
    }
    void list_instance(std::uint32_t i) {
        const model_instance& instance = model_.instances[i];
        const std::span<const model_access> accesses = model_.accesses_of(i);
        const buffer_index b = instance.buffer;
        moment_version each{.instance = i};
        each.bytes = static_cast<double>(stowage::detail::align_up(program_.bytes(b), model_.alignment));
        each.seconds_in = move_seconds(vertex_kind::reload, program_.bytes(b), machine_);
        each.seconds_out = move_seconds(vertex_kind::offload, program_.bytes(b), machine_);
        const bool wraps = instance.tail >= 0 && model_.gaps[static_cast<std::size_t>(instance.tail)].wrapped;
        const bool initial = accesses[0].reads && model_.versions[accesses[0].before].initial;
        std::size_t writes = 0;  // the first access that does
        while (writes < accesses.size() && !accesses[writes].writes)
            ++writes;
        // One that reads and writes reads the version before.
        const auto reads_until = [&](std::size_t next) {
            return next + (next < accesses.size() && accesses[next].reads ? 1 : 0);
        };
        if (initial && wraps && writes == accesses.size()) {
            // Nobody changes it: it is followed from its first reader to the same in the next run.
            moment_version v = each;
            begin(v);
            for (const model_access& access : accesses) {
                add_reader(access, 0);
                add_reader(access, blocks_);
            }
            v.from = division_.blocks[accesses[0].step] + 1;
            end(v);
            found_.list.back().to = blocks_ + division_.blocks[accesses[0].step];
            return;
        }
        if (initial && !wraps) {
            moment_version v = each;
            begin(v);
            for (std::size_t a = 0; a < reads_until(writes); ++a)
                add_reader(accesses[a], 0);
            v.comes_in = accesses[0].link == link_kind::moved;
            end(v);
        }
        for (std::size_t a = writes; a < accesses.size();) {
            std::size_t next = a + 1;
            while (next < accesses.size() && !accesses[next].writes)
                ++next;
            moment_version v = each;
            begin(v);
            for (std::size_t k = a + 1; k < reads_until(next); ++k)
                add_reader(accesses[k], 0);
            const std::uint32_t step = accesses[a].step;
            v.made = division_.blocks[step];
            v.from = v.made + 1;
            const model_version& made = model_.versions[accesses[a].after];
            v.dirty = made.bytes_out > 0;
            if (next == accesses.size()) {
                v.must_go_out = v.dirty && made.goes_out;
                if (wraps && initial) {
                    for (std::size_t k = 0; k < reads_until(writes); ++k)
                        add_reader(accesses[k], blocks_);
                } else if (instance.tail != link_kind::dead) {
                    v.to = blocks_ - 1;  // on the device or the host
                }
            }
            end(v);
            a = next;
        }
    }

    const tensor_graph& program_;
    const residency_model& model_;
    const machine& machine_;
    const block_division& division_;
    std::uint32_t blocks_;
    moment_versions found_;
};

/// The versions of a model of one device. O(accesses log).
template <class = void>
[[nodiscard]] moment_versions list_moment_versions(const taskgraph& task, const residency_model& model,
                                                   const machine& m, const block_division& division) {
    return basic_moment_lister<>(task, model, m, division)();
}

}  // namespace stowage::turnip::detail
