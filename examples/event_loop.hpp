#pragma once
// A rival to the executor: the event loop in the manner of Turnip's published implementation. The end of
// every vertex is a heap-allocated function that takes a lock, called by a thread of the lane or of the
// device; one loop sleeps on a condition variable, then tries all ready vertices again.

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
    /// Puts a vertex's work into a lane, which has no other, and has the function called by some thread when
    /// it has ended.
    using launch =
        std::function<void(std::size_t lane, stowage::turnip::vertex_index, std::function<void()>)>;

    explicit event_loop(const stowage::turnip::memgraph& graph) : graph_(graph) {
        std::map<std::pair<stowage::turnip::vertex_kind, stowage::turnip::memory_index>, std::size_t> lanes;
        for (const auto& v : graph.vertices) {
            const auto [lane, added] = lanes.try_emplace({v.kind, v.device}, lanes.size());
            if (added) devices_.push_back(v.device);
            lane_of_.push_back(lane->second);
        }
    }
    /// By lane: its device.
    [[nodiscard]] const std::vector<stowage::turnip::memory_index>& devices() const { return devices_; }

    /// Throws what `start` throws; what is under way then still calls its functions.
    void run(const launch& start) {
        std::vector<std::vector<stowage::turnip::vertex_index>> after(graph_.vertices.size());
        std::vector<std::uint32_t> left(graph_.vertices.size(), 0);
        for (const auto& e : graph_.edges) {
            after[e.from].push_back(e.to);
            ++left[e.to];
        }
        std::set<stowage::turnip::vertex_index> ready;
        for (stowage::turnip::vertex_index v = 0; v < left.size(); ++v) {
            if (left[v] == 0) ready.insert(v);
        }
        std::vector<std::uint8_t> busy(devices_.size(), 0);
        std::size_t done = 0;
        while (done < left.size()) {
            for (auto at = ready.begin(); at != ready.end();) {
                const auto v = *at;
                if (busy[lane_of_[v]] != 0) {
                    ++at;
                    continue;
                }
                busy[lane_of_[v]] = 1;
                start(lane_of_[v], v, [this, v] { tell(v); });
                at = ready.erase(at);
            }
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [&] { return !ended_.empty(); });
            for (const auto v : std::exchange(ended_, {})) {
                ++done;
                busy[lane_of_[v]] = 0;
                for (const auto next : after[v]) {
                    if (--left[next] == 0) ready.insert(next);
                }
            }
        }
    }

private:
    void tell(stowage::turnip::vertex_index v) {
        const std::lock_guard<std::mutex> lock(mutex_);
        ended_.push_back(v);
        changed_.notify_one();
    }
    const stowage::turnip::memgraph& graph_;
    std::vector<std::size_t> lane_of_;                    // by vertex
    std::vector<stowage::turnip::memory_index> devices_;  // by lane
    std::vector<stowage::turnip::vertex_index> ended_;
    std::mutex mutex_;
    std::condition_variable changed_;
};

/// A thread a lane, each given one function at a time, on the heap.
class lane_threads {
public:
    explicit lane_threads(std::size_t lanes) : lanes_(lanes) {
        for (lane& l : lanes_)
            l.runner = std::thread([this, &l] { serve(l); });
    }
    lane_threads(const lane_threads&) = delete;
    lane_threads& operator=(const lane_threads&) = delete;
    ~lane_threads() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (lane& l : lanes_) {
                l.quit = true;
                l.wake.notify_one();
            }
        }
        for (lane& l : lanes_)
            l.runner.join();
    }
    void call(std::size_t number, std::function<void()> job) {
        const std::lock_guard<std::mutex> lock(mutex_);
        lanes_[number].job = std::make_unique<std::function<void()>>(std::move(job));
        lanes_[number].wake.notify_one();
    }

private:
    struct lane {
        std::unique_ptr<std::function<void()>> job;
        bool quit = false;
        std::condition_variable wake;
        std::thread runner;
    };
    void serve(lane& l) {
        std::unique_lock<std::mutex> lock(mutex_);
        while (true) {
            l.wake.wait(lock, [&] { return l.job != nullptr || l.quit; });
            if (!l.job) return;
            const auto job = std::move(l.job);
            lock.unlock();
            (*job)();
            lock.lock();
        }
    }
    std::mutex mutex_;
    std::deque<lane> lanes_;
};

}  // namespace examples
