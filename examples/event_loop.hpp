#pragma once
// A rival to the executor: the event loop in the manner of Turnip's published implementation. Every vertex is
// a heap-allocated function; one thread a lane calls it and takes a lock to tell that it has ended; one loop
// sleeps on a condition variable, then tries all ready vertices again.

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/turnip/memgraph.hpp>

namespace examples {

class event_loop {
public:
    using work = std::function<void(stowage::turnip::vertex_index)>;

    /// `body` runs a vertex; several threads call it at once.
    event_loop(const stowage::turnip::memgraph& graph, work body) : graph_(graph), body_(std::move(body)) {}

    void run() {
        std::vector<std::vector<stowage::turnip::vertex_index>> after(graph_.vertices.size());
        std::vector<std::uint32_t> left(graph_.vertices.size(), 0);
        for (const auto& e : graph_.edges) {
            after[e.from].push_back(e.to);
            ++left[e.to];
        }
        std::set<stowage::turnip::vertex_index> ready;
        for (stowage::turnip::vertex_index v = 0; v < left.size(); ++v) {
            threads_.try_emplace(resource_of(v));
            if (left[v] == 0) ready.insert(v);
        }
        for (auto& [key, thread] : threads_)
            thread.runner = std::thread([this, &thread = thread] { serve(thread); });
        std::size_t done = 0;
        while (done < left.size()) {
            for (auto at = ready.begin(); at != ready.end();) {
                if (!start(*at)) {
                    ++at;
                    continue;
                }
                at = ready.erase(at);
            }
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [&] { return !ended_.empty(); });
            for (const auto v : std::exchange(ended_, {})) {
                ++done;
                for (const auto next : after[v]) {
                    if (--left[next] == 0) ready.insert(next);
                }
            }
        }
        stop();
    }

private:
    using resource = std::pair<int, std::uint32_t>;
    struct lane {
        std::unique_ptr<std::function<void()>> job;
        bool quit = false;
        std::condition_variable wake;
        std::thread runner;
    };
    [[nodiscard]] resource resource_of(stowage::turnip::vertex_index v) const {
        return {static_cast<int>(graph_.vertices[v].kind), graph_.vertices[v].device};
    }
    [[nodiscard]] bool start(stowage::turnip::vertex_index v) {
        lane& at = threads_.at(resource_of(v));
        const std::lock_guard<std::mutex> lock(mutex_);
        if (at.job) return false;
        at.job = std::make_unique<std::function<void()>>([this, v] { body_(v); });
        running_[&at] = v;
        at.wake.notify_one();
        return true;
    }
    void serve(lane& at) {
        std::unique_lock<std::mutex> lock(mutex_);
        while (true) {
            at.wake.wait(lock, [&] { return at.job != nullptr || at.quit; });
            if (!at.job) return;
            lock.unlock();
            (*at.job)();
            lock.lock();
            at.job.reset();
            ended_.push_back(running_[&at]);
            changed_.notify_one();
        }
    }
    void stop() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (auto& [key, thread] : threads_) {
                thread.quit = true;
                thread.wake.notify_one();
            }
        }
        for (auto& [key, thread] : threads_)
            thread.runner.join();
        threads_.clear();
    }
    const stowage::turnip::memgraph& graph_;
    work body_;
    std::map<resource, lane> threads_;
    std::map<const lane*, stowage::turnip::vertex_index> running_;
    std::vector<stowage::turnip::vertex_index> ended_;
    std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace examples
