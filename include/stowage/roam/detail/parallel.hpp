#pragma once
// Work on items that do not depend on each other, by several threads. What is done with an item depends on
// the item alone, so answers are the same for any number of threads.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace stowage::roam::detail {

/// Calls `work(i)` once for each i in [0, count), on at most `threads` threads, the caller's among them;
/// `done(finished)` on the caller's thread now and then, and once at the end. What an item throws is thrown
/// again when all have ended: of the item with the least index.
template <class Work, class Done>
void for_each_item(std::size_t count, unsigned threads, const Work& work, const Done& done) {
    std::vector<std::exception_ptr> thrown(count);
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> finished = 0;
    const auto take = [&](const auto& after) {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                thrown[i] = std::current_exception();
            }
            after(++finished);
        }
    };
    {
        std::vector<std::jthread> helpers;
        const std::size_t wanted = std::min<std::size_t>(std::max(threads, 1U), count);
        for (std::size_t k = 1; k < wanted; ++k)
            helpers.emplace_back([&] { take([](std::size_t) {}); });
        take([&](std::size_t so_far) { done(std::min(so_far, count)); });
    }
    for (const std::exception_ptr& error : thrown) {
        if (error) std::rethrow_exception(error);
    }
    done(count);
}

}  // namespace stowage::roam::detail
