// ctest-label: threads
// Memory of host devices: the caller's, made, or a file; what is too little of it is an error by name.

#include <doctest/doctest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <stowage/exec.hpp>

#include "support/random_memgraph.hpp"
#include "support/temporary_folder.hpp"

using namespace stowage;

namespace {

std::atomic<bool> moves_little = false;
std::atomic<int> calls_of_moves = 0;

/// How much of `bytes` a call moves: a few, now and then none because of a signal.
[[nodiscard]] long some_of(std::size_t bytes) {
    if (!moves_little) return static_cast<long>(bytes);
    if (++calls_of_moves % 5 == 0) {
        errno = EINTR;
        return -1;
    }
    return static_cast<long>(std::min<std::size_t>(bytes, 3));
}

}  // namespace

// The system's, in its place.
extern "C" ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t at) {
    const long part = some_of(bytes);
    return part < 0 ? part : ::syscall(SYS_pwrite64, file, from, part, at);
}
extern "C" ssize_t pread(int file, void* to, std::size_t bytes, off_t at) {
    const long part = some_of(bytes);
    return part < 0 ? part : ::syscall(SYS_pread64, file, to, part, at);
}

namespace {

void run_on(exec::host_device& device, const test::random_memgraph& made, int runs = 2) {
    const exec::synthetic_digests digests(made.program);
    const exec::synthetic_kernels kernels(made.program, digests);
    exec::executor executor{made.program, made.graph, kernels, device, {.window = 2, .copy_chunk_bytes = 24}};
    for (int i = 0; i < runs; ++i) {
        kernels.fill(executor, made.graph.start);
        CHECK(executor.run().status == exec::run_status::ok);
        kernels.check(executor, made.graph.final);
    }
}

}  // namespace

TEST_CASE("the host arena may be a file, whose name is gone at once") {
    const test::temporary_folder folder;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        exec::host_device device({.host_file = folder / "store"});
        run_on(device, test::make_random_memgraph(seed));
        CHECK(folder.size() == 0);
    }
    exec::host_device device({.host_file = folder / "no such folder" / "store"});
    try {
        run_on(device, test::make_random_memgraph(1));
        FAIL("there is no such folder");
    } catch (const exec::device_error& error) {
        CHECK(error.place() == "host");
        CHECK(error.bytes() > 0);
    }
}

TEST_CASE("a short write loses nothing, and an error is told") {
    std::vector<char> from(1000);
    for (std::size_t i = 0; i < from.size(); ++i)
        from[i] = static_cast<char>(i * 7);
    std::vector<char> to(from.size());
    int calls = 0;
    const int failure = exec::detail::move_all(1000, [&](std::int64_t done) -> std::int64_t {
        if (++calls % 3 == 0) {
            errno = EINTR;
            return -1;
        }
        const std::int64_t count = std::min<std::int64_t>(1000 - done, 1 + calls % 17);
        std::copy_n(from.begin() + done, count, to.begin() + done);
        return count;
    });
    CHECK(failure == 0);
    CHECK(from == to);
    CHECK(exec::detail::move_all(5, [](std::int64_t) -> std::int64_t { return 0; }) == EIO);
    CHECK(exec::detail::move_all(5, [](std::int64_t) -> std::int64_t {
              errno = ENOSPC;
              return -1;
          }) == ENOSPC);
}

TEST_CASE("a store in a file loses nothing where the system moves a few bytes at a time") {
    const test::temporary_folder folder;
    moves_little = true;
    calls_of_moves = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        exec::host_device device({.host_file = folder / "store"});
        run_on(device, test::make_random_memgraph(seed));
    }
    moves_little = false;
    CHECK(calls_of_moves > 100);
}

TEST_CASE("arenas may be the caller's, also two executors' parts of one block at once") {
    const auto made = test::make_random_memgraph(9);
    const auto other = test::make_random_memgraph(10);
    const auto size = [](std::int64_t bytes) { return static_cast<std::size_t>((bytes + 63) / 64 * 64); };
    std::vector<std::byte> block(2 * size(made.graph.arena_bytes[0]) + 64);
    const std::size_t skip = (64 - reinterpret_cast<std::uintptr_t>(block.data()) % 64) % 64;
    const std::span<std::byte> all = std::span(block).subspan(skip);
    std::vector<std::byte> host(static_cast<std::size_t>(made.graph.host_bytes));
    exec::host_device first({.arenas = {all.first(size(made.graph.arena_bytes[0]))}, .host = host});
    exec::host_device second({.arenas = {all.subspan(size(made.graph.arena_bytes[0]))}});
    const exec::synthetic_digests a(made.program);
    const exec::synthetic_digests b(other.program);
    const exec::synthetic_kernels kernels_a(made.program, a);
    const exec::synthetic_kernels kernels_b(other.program, b);
    exec::executor run_a{made.program, made.graph, kernels_a, first};
    exec::executor run_b{other.program, other.graph, kernels_b, second};
    for (int i = 0; i < 3; ++i) {
        kernels_a.fill(run_a, made.graph.start);
        kernels_b.fill(run_b, other.graph.start);
        run_a.start();
        run_b.start();
        bool a_runs = true;
        bool b_runs = true;
        while (a_runs || b_runs) {  // one thread dispatches both
            if (a_runs) a_runs = !run_a.poll();
            if (b_runs) b_runs = !run_b.poll();
        }
        CHECK(run_a.report());
        CHECK(run_b.report());
        kernels_a.check(run_a, made.graph.final);
        kernels_b.check(run_b, other.graph.final);
    }
}

TEST_CASE("an arena that is too small is refused by the memory's name") {
    const auto made = test::make_random_memgraph(11);
    std::vector<std::byte> small(8);
    exec::host_device device({.arenas = {std::span(small)}});
    try {
        run_on(device, made);
        FAIL("8 bytes were enough");
    } catch (const exec::device_error& error) {
        CHECK(error.place() == "device 0");
        CHECK(error.bytes() == made.graph.arena_bytes[0]);
    }
    exec::host_device of_its_own;
    run_on(of_its_own, made);
}

TEST_CASE("arenas that overlap, or lie where nothing in them is aligned, are refused by name") {
    const auto made = test::make_random_memgraph(9, {.devices = 2});
    const auto size = [](std::int64_t bytes) { return static_cast<std::size_t>((bytes + 63) / 64 * 64); };
    const std::size_t first = size(made.graph.arena_bytes[0]);
    const std::size_t second = size(made.graph.arena_bytes[1]);
    std::vector<std::byte> block(first + second + size(made.graph.host_bytes) + 64);
    const std::size_t skip = (64 - reinterpret_cast<std::uintptr_t>(block.data()) % 64) % 64;
    const std::span<std::byte> all = std::span(block).subspan(skip);
    const auto refused = [&](const exec::host_device_options& options) -> std::string {
        exec::host_device device(options);
        try {
            run_on(device, made);
        } catch (const exec::device_error& error) {
            return error.place();
        }
        return "";
    };
    const auto host = all.subspan(first + second);
    CHECK(refused({.arenas = {all, all.subspan(first)}, .host = host}).empty());  // the bytes used are apart
    CHECK(refused({.arenas = {all, all.subspan(first - 64)}}) == "device 1");
    CHECK(refused({.arenas = {all.subspan(64), all}}) == "device 0");
    CHECK(refused({.arenas = {all}, .host = all}) != "");
    CHECK(refused({.arenas = {all.subspan(1)}}) == "device 0");
    CHECK(refused({.host = all.subspan(4)}) == "host");
}
