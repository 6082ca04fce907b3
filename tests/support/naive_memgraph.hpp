#pragma once
// Memgraphs made by chance, right by construction and small: buffers are placed, moved and
// dropped by chance along the program's order, and every edge follows from a look at all pairs of vertices.
// Knows nothing of the library's compiler.

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::test {

struct naive_memgraph_options {
    std::uint32_t devices = 1;
    std::int64_t slack = 8;  ///< bytes of a device's arena beyond the largest operator's
    std::int64_t alignment = 1;
    std::uint64_t whims = 4;  ///< one move in that many steps is made for no reason; 0: none
};

namespace naive_memgraph_detail {

inline constexpr std::size_t most_vertices = 1024;

class maker {
public:
    maker(const tensor_graph& program, std::uint64_t seed, const naive_memgraph_options& options)
        : program_(program), options_(options), random_(seed * 31 + 7), spaces_(options.devices + 1),
          version_(program.buffer_count(), 0), last_use_(program.buffer_count(), -1),
          written_(program.buffer_count(), false) {
        for (operator_index op = 0; op < program.operator_count(); ++op) {
            for (const buffer_index b : program.accesses(op))
                last_use_[b] = op;
            for (const buffer_index b : program.writes(op))
                written_[b] = true;
        }
    }

    turnip::memgraph make() {
        std::int64_t largest = 0;
        for (operator_index op = 0; op < program_.operator_count(); ++op) {
            std::int64_t sum = aligned(program_.workspace(op));
            for (const buffer_index b : distinct(program_.accesses(op)))
                sum += aligned(program_.bytes(b));
            largest = std::max(largest, sum);
        }
        capacity_ = aligned(largest + options_.slack);
        result_.fingerprint = program_.fingerprint();
        result_.alignment = options_.alignment;
        for (buffer_index b = 0; b < program_.buffer_count(); ++b) {
            if (is_alive_at_start(program_.kind(b)) && last_use_[b] >= 0) start(b);
        }
        for (operator_index op = 0; op < program_.operator_count(); ++op) {
            if (options_.whims > 0 && random_.below(options_.whims) == 0) whim();
            run(op);
        }
        for (buffer_index b = 0; b < program_.buffer_count(); ++b) {
            const buffer_kind kind = program_.kind(b);
            if (!written_[b] || !(kind == buffer_kind::output || is_persistent(kind))) continue;
            std::uint32_t s = any_copy(b);
            if (s != host() && random_.below(2) == 0) {
                offload(b, s);
                s = host();
            }
            const copy* where = find(s, b);
            result_.final.push_back(
                {b, s == host() ? turnip::host : s, where != nullptr ? where->first : turnip::no_address});
        }
        for (std::uint32_t d = 0; d < options_.devices; ++d)
            result_.arena_bytes.push_back(capacity_);
        result_.host_bytes = host_end_;
        connect();
        return std::move(result_);
    }

private:
    struct copy {
        buffer_index buffer = 0;
        std::int64_t first = 0;
        std::int64_t last = 0;
        bool keep = false;  // a parameter's place at the start
    };
    struct touch {
        std::uint32_t space = 0;
        std::int64_t first = 0;
        std::int64_t last = 0;
        bool writes = false;
    };

    [[nodiscard]] std::uint32_t host() const { return options_.devices; }
    [[nodiscard]] std::int64_t aligned(std::int64_t bytes) const {
        return (bytes + options_.alignment - 1) / options_.alignment * options_.alignment;
    }
    [[nodiscard]] static std::vector<buffer_index> distinct(std::span<const buffer_index> row) {
        std::vector<buffer_index> list(row.begin(), row.end());
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        return list;
    }
    copy* find(std::uint32_t s, buffer_index b) {
        for (copy& c : spaces_[s]) {
            if (c.buffer == b) return &c;
        }
        return nullptr;
    }
    std::uint32_t any_copy(buffer_index b) {
        for (std::uint32_t i = 0; i <= host(); ++i) {
            if (find(i, b) != nullptr) return i;
        }
        return host();
    }
    std::size_t copies(buffer_index b) {
        std::size_t count = 0;
        for (std::uint32_t i = 0; i <= host(); ++i)
            count += find(i, b) != nullptr ? 1 : 0;
        return count;
    }
    /// Some free range of that many bytes, first or last fit by chance; -1 if there is none.
    std::int64_t room(std::uint32_t s, std::int64_t bytes) {
        const std::int64_t end = s == host() ? host_end_ + bytes : capacity_;
        std::vector<std::pair<std::int64_t, std::int64_t>> taken;
        for (const copy& c : spaces_[s])
            taken.emplace_back(c.first, aligned(c.last));
        std::sort(taken.begin(), taken.end());
        taken.emplace_back(end, end);
        std::vector<std::int64_t> fits;
        std::int64_t at = 0;
        for (const auto& [first, last] : taken) {
            if (first - at >= bytes) {
                fits.push_back(at);
                if (first - at > bytes)
                    fits.push_back((first - bytes) / options_.alignment * options_.alignment);
            }
            at = std::max(at, last);
        }
        if (fits.empty()) return -1;
        const std::int64_t found = fits[random_.below(fits.size())];
        if (s == host()) host_end_ = std::max(host_end_, aligned(found + bytes));
        return found;
    }
    std::int64_t place(std::uint32_t s, buffer_index b, std::span<const buffer_index> pinned) {
        const std::int64_t bytes = program_.bytes(b);
        std::int64_t at = room(s, bytes);
        while (at < 0) {
            std::vector<buffer_index> victims;
            for (const copy& c : spaces_[s]) {
                if (std::find(pinned.begin(), pinned.end(), c.buffer) == pinned.end() && !c.keep) {
                    victims.push_back(c.buffer);
                }
            }
            if (victims.empty())
                capacity_ += aligned(bytes);
            else
                evict(s, victims[random_.below(victims.size())]);
            at = room(s, bytes);
        }
        spaces_[s].push_back({b, at, at + bytes});
        return at;
    }
    void drop(std::uint32_t s, buffer_index b) {
        std::erase_if(spaces_[s], [&](const copy& c) { return c.buffer == b && !c.keep; });
    }
    void evict(std::uint32_t s, buffer_index b) {
        if (copies(b) == 1) offload(b, s);
        drop(s, b);
    }
    void add(const turnip::vertex& v, std::vector<turnip::operand> reads, std::vector<turnip::operand> writes,
             std::vector<touch> touched) {
        result_.add(v, reads, writes);
        std::erase_if(touched, [](const touch& t) { return t.first == t.last; });
        touches_.push_back(std::move(touched));
    }
    void offload(buffer_index b, std::uint32_t s) {
        const copy from = *find(s, b);
        if (find(host(), b) == nullptr) place(host(), b, {});
        const copy to = *find(host(), b);
        add({.kind = turnip::vertex_kind::offload, .device = s, .host_address = to.first},
            {{b, s, from.first}}, {}, {{s, from.first, from.last, false}, {host(), to.first, to.last, true}});
    }
    /// A copy of `b` on device `s`, moved there if need be.
    void bring(std::uint32_t s, buffer_index b, std::span<const buffer_index> pinned) {
        if (find(s, b) != nullptr) return;
        place(s, b, pinned);
        const copy to = *find(s, b);
        for (std::uint32_t i = 0; i <= host(); ++i) {
            if (i == s || find(i, b) == nullptr) continue;
            const copy from = *find(i, b);
            const std::vector<touch> touched = {{i, from.first, from.last, false},
                                                {s, to.first, to.last, true}};
            if (i == host()) {
                add({.kind = turnip::vertex_kind::reload, .device = s, .host_address = from.first}, {},
                    {{b, s, to.first}}, touched);
            } else {
                add({.kind = turnip::vertex_kind::transfer, .device = s}, {{b, i, from.first}},
                    {{b, s, to.first}}, touched);
            }
            return;
        }
    }
    void start(buffer_index b) {
        const buffer_kind kind = program_.kind(b);
        const bool keep = is_persistent(kind) && !written_[b];
        const std::uint32_t s = random_.below(3) == 0 && !keep && program_.bytes(b) <= 2
                                    ? static_cast<std::uint32_t>(random_.below(options_.devices))
                                    : host();
        const std::int64_t at = room(s, program_.bytes(b));
        if (at < 0) return start(b);
        spaces_[s].push_back({b, at, at + program_.bytes(b), keep});
        result_.start.push_back({b, s == host() ? turnip::host : s, at});
    }
    /// Moves or drops something without need.
    void whim() {
        const auto s = static_cast<std::uint32_t>(random_.below(options_.devices));
        if (spaces_[s].empty()) return;
        const copy c = spaces_[s][random_.below(spaces_[s].size())];
        if (c.keep || c.first == c.last) return;
        if (random_.below(2) == 0) return evict(s, c.buffer);
        const std::int64_t at = room(s, c.last - c.first);
        if (at < 0) return;
        const std::int64_t end = at + c.last - c.first;
        add({.kind = turnip::vertex_kind::transfer, .device = s}, {{c.buffer, s, c.first}},
            {{c.buffer, s, at}}, {{s, c.first, c.last, false}, {s, at, end, true}});
        drop(s, c.buffer);
        spaces_[s].push_back({c.buffer, at, end});
    }
    void run(operator_index op) {
        const auto s = static_cast<std::uint32_t>(random_.below(options_.devices));
        const std::vector<buffer_index> all = distinct(program_.accesses(op));
        const std::vector<buffer_index> reads = distinct(program_.reads(op));
        const std::vector<buffer_index> writes = distinct(program_.writes(op));
        for (const buffer_index b : reads)
            bring(s, b, all);
        for (const buffer_index b : writes) {
            if (find(s, b) == nullptr) place(s, b, all);
        }
        turnip::vertex v{.op = op, .device = s};
        std::vector<turnip::operand> read_operands;
        std::vector<turnip::operand> write_operands;
        std::vector<touch> touched;
        std::int64_t workspace = -1;
        if (program_.workspace(op) > 0) {
            workspace = room(s, program_.workspace(op));
            if (workspace < 0) {
                for (const copy& c : std::vector<copy>(spaces_[s])) {
                    if (std::find(all.begin(), all.end(), c.buffer) == all.end()) evict(s, c.buffer);
                }
                workspace = room(s, program_.workspace(op));
            }
            if (workspace < 0) {
                capacity_ += aligned(program_.workspace(op));
                workspace = room(s, program_.workspace(op));
            }
            touched.push_back({s, workspace, workspace + program_.workspace(op), true});
            v.workspace_address = workspace;
        }
        for (const buffer_index b : reads) {
            const copy c = *find(s, b);
            read_operands.push_back({b, s, c.first});
            touched.push_back({s, c.first, c.last, false});
        }
        for (const buffer_index b : writes) {
            const copy c = *find(s, b);
            write_operands.push_back({b, s, c.first});
            touched.push_back({s, c.first, c.last, true});
        }
        add(v, read_operands, write_operands, touched);
        for (const buffer_index b : writes) {
            ++version_[b];
            for (std::uint32_t i = 0; i <= host(); ++i) {
                if (i != s) std::erase_if(spaces_[i], [&](const copy& c) { return c.buffer == b; });
            }
        }
        for (const buffer_index b : all) {
            if (last_use_[b] != static_cast<std::int64_t>(op)) continue;
            const buffer_kind kind = program_.kind(b);
            if (kind != buffer_kind::intermediate && kind != buffer_kind::donated) continue;
            for (std::uint32_t i = 0; i <= host(); ++i)
                drop(i, b);
        }
    }

    /// Every edge from a look at all pairs; memory and control edges only where no path is.
    void connect() {
        using turnip::edge_kind;
        const std::size_t count = touches_.size();
        std::vector<std::bitset<most_vertices>> before(count);
        std::vector<std::uint32_t> vertex_of(program_.operator_count());
        for (std::uint32_t v = 0; v < count; ++v) {
            if (result_.vertices[v].op != no_operator) vertex_of[result_.vertices[v].op] = v;
        }
        std::vector<std::bitset<most_vertices>> must(count);  // by zero bytes and control edges
        for (operator_index op = 0; op < program_.operator_count(); ++op) {
            for (operator_index p = 0; p < op; ++p) {
                if (waits_without_bytes(p, op)) must[vertex_of[op]].set(vertex_of[p]);
            }
        }
        for (std::uint32_t v = 0; v < count; ++v) {
            std::bitset<most_vertices> data;
            std::bitset<most_vertices> memory;
            for (const touch& t : touches_[v]) {
                bool found = t.writes;
                for (std::uint32_t u = v; u-- > 0;) {
                    for (const touch& other : touches_[u]) {
                        if (other.space != t.space || other.last <= t.first || t.last <= other.first)
                            continue;
                        if (!other.writes && !t.writes) continue;
                        if (!found && other.writes) {
                            data.set(u);
                            found = true;
                        } else {
                            memory.set(u);
                        }
                    }
                }
            }
            for (std::uint32_t u = v; u-- > 0;) {
                const bool path = before[v].test(u);
                if (!data.test(u) && (path || !(memory.test(u) || must[v].test(u)))) continue;
                result_.edges.push_back({u, v,
                                         data.test(u)     ? edge_kind::data
                                         : memory.test(u) ? edge_kind::memory
                                                          : edge_kind::control});
                before[v] |= before[u];
                before[v].set(u);
            }
        }
    }
    [[nodiscard]] bool waits_without_bytes(operator_index p, operator_index op) const {
        bool shares = false;
        bool through_nothing = false;
        for (const buffer_index b : program_.accesses(op)) {
            const auto has = [&](std::span<const buffer_index> row) {
                return std::find(row.begin(), row.end(), b) != row.end();
            };
            const bool writes = std::find(program_.writes(op).begin(), program_.writes(op).end(), b) !=
                                program_.writes(op).end();
            const bool clash = has(program_.writes(p)) || (writes && has(program_.reads(p)));
            shares = shares || (clash && program_.bytes(b) > 0);
            through_nothing = through_nothing || (clash && program_.bytes(b) == 0);
        }
        const auto row = program_.predecessors(op);
        return through_nothing || (!shares && std::find(row.begin(), row.end(), p) != row.end());
    }

    const tensor_graph& program_;
    naive_memgraph_options options_;
    detail::splitmix64 random_;
    std::vector<std::vector<copy>> spaces_;
    std::vector<std::uint32_t> version_;
    std::vector<std::int64_t> last_use_;
    std::vector<bool> written_;
    std::int64_t capacity_ = 0;
    std::int64_t host_end_ = 0;
    turnip::memgraph result_;
    std::vector<std::vector<touch>> touches_;
};

}  // namespace naive_memgraph_detail

/// A right memgraph of `program`, some hundred vertices at most.
inline turnip::memgraph naive_memgraph(const tensor_graph& program, std::uint64_t seed,
                                       const naive_memgraph_options& options = {}) {
    return naive_memgraph_detail::maker(program, seed, options).make();
}

}  // namespace stowage::test
