#pragma once
// CUDA's runtime as a fake that is linked in its place: a thread a stream, bounded queues, events, one error
// that sticks to everything once it has happened, callbacks that may make no call and do not come after an
// error, peer writes that vanish, memory that runs out, work that hangs, delays by seed. Device memory is the
// host's. It refuses what the real one refuses: launches, events and copies on another device than their
// stream's, memory without peer access, host memory pinned twice, sizes that do not fit. It is as late as the
// real one: cudaMemcpy from memory that is not pinned returns before the bytes have arrived, and streams do
// not wait for it. Include it in one source of a program that links no CUDA.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>

namespace fake_cuda {

/// What goes wrong, set before a device is made; reset() makes all good again.
struct behaviour {
    int devices = 2;
    std::int64_t memory = std::int64_t{1} << 40U;  // bytes of each device
    std::int64_t pinned = std::int64_t{1} << 40U;  // bytes that can be registered or allocated pinned
    bool peers = true;                             // peer access is reported
    bool peer_writes_vanish = false;
    std::uint64_t delay_seed = 0;      // 0: no delays
    int failing_stream = -1;           // creating the stream of this number (from 0) fails
    std::int64_t failing_copy = -1;    // submitting the asynchronous copy of this number fails, once
    std::int64_t failing_launch = -1;  // launching the kernel of this number fails, once; the context is well
    std::int64_t failing_work =
        -1;  // the context is lost when the work of this number (from 0) is carried out
    std::int64_t hanging_work = -1;  // the work of this number hangs until unhang()
};

inline thread_local int current_device = 0;
inline thread_local bool in_callback = false;
inline thread_local cudaError_t last_error = cudaSuccess;

struct stream;
struct event {
    std::uint64_t recorded = 0;  // under the lock of the world
    std::uint64_t completed = 0;
    int device = 0;
    bool timed = true;
    std::chrono::steady_clock::time_point when = {};
};

class world {
public:
    static world& get() {
        static world the_one;
        return the_one;
    }
    behaviour how;
    std::mutex mutex;
    std::condition_variable changed;
    cudaError_t lost = cudaSuccess;  // of the context
    std::map<void*, std::pair<int, std::int64_t>> memory;
    std::map<void*, std::size_t> registered;  // pinned: bytes
    std::set<stream*> streams;
    std::set<event*> events;
    std::vector<std::unique_ptr<event>> retired;  // destroyed; work in a stream may still name them
    std::int64_t used[8] = {};
    std::int64_t pinned_used = 0;
    std::atomic<std::int64_t> works{0};
    std::int64_t copies = 0;
    std::int64_t launches = 0;
    int made_streams = 0;
    std::atomic<std::int64_t> made{0};     // blocks, pins, streams and events
    std::atomic<std::int64_t> lookups{0};  // of the driver's functions by name
    std::atomic<std::int64_t> bytes_by_peers{0};
    std::atomic<std::int64_t> pageable_copies{0};            // asynchronous ones, which are not
    std::set<int> contexts;                                  // devices that have been used
    std::set<std::pair<int, int>> peers;                     // (who, whose): access enabled
    std::map<int, std::unique_ptr<stream>> default_streams;  // by device; the last member: threads end first

    world();
    ~world();
    /// Lets `set` change how it behaves from now on: the streams' threads look at it.
    template <class Set>
    void change(Set set) {
        const std::lock_guard<std::mutex> lock(mutex);
        set(how);
    }
    /// Work that hangs goes on.
    void unhang() {
        const std::lock_guard<std::mutex> lock(mutex);
        how.hanging_work = -1;
        changed.notify_all();
    }
    bool hangs = false;
    [[nodiscard]] bool is_hanging() {
        const std::lock_guard<std::mutex> lock(mutex);
        return hangs;
    }
    /// The device whose memory `at` lies in; -1: the host's. Under the lock.
    [[nodiscard]] int device_of(const void* at, std::size_t bytes) const {
        const auto* const first = static_cast<const std::byte*>(at);
        for (const auto& [block, owner] : memory) {
            const auto* const start = static_cast<const std::byte*>(block);
            if (first < start || first >= start + owner.second) continue;
            return first + bytes <= start + owner.second ? owner.first : out_of_bounds;
        }
        return -1;
    }
    /// Under the lock.
    [[nodiscard]] bool is_pinned(const void* at, std::size_t bytes) const {
        const auto* const first = static_cast<const std::byte*>(at);
        for (const auto& [block, size] : registered) {
            const auto* const start = static_cast<const std::byte*>(block);
            if (first >= start && first + bytes <= start + size) return true;
        }
        return false;
    }
    static constexpr int out_of_bounds = -2;

    /// Forgets errors; everything must have been given back. Returns false if something was not.
    bool reset(const behaviour& next = {}) {
        const std::lock_guard<std::mutex> lock(mutex);
        const bool clean = memory.empty() && registered.empty() && streams.empty() && events.empty();
        if (streams.empty()) retired.clear();
        how = next;
        lost = last_error = cudaSuccess;
        works = copies = launches = 0;
        pageable_copies = 0;
        contexts.clear();
        peers.clear();
        made_streams = 0;
        bytes_by_peers = 0;
        return clean;
    }
};

[[nodiscard]] inline cudaError_t keep(cudaError_t code) {
    if (code != cudaSuccess && code != cudaErrorNotReady) last_error = code;
    return code;
}
/// The error that every call gives: in a callback, or after the context was lost.
[[nodiscard]] inline cudaError_t barred() {
    if (in_callback) return cudaErrorNotPermitted;
    const std::lock_guard<std::mutex> lock(world::get().mutex);
    return world::get().lost;
}

struct stream {
    static constexpr std::size_t depth = 1000;
    int device = 0;
    std::deque<std::pair<std::function<void()>, bool>>
        queue;  // under the lock of the world; true: a wait, no work
    bool busy = false;
    bool quit = false;
    std::thread thread;

    explicit stream(int on, std::uint64_t number) : device(on), thread([this, number] { serve(number); }) {}
    ~stream() {
        {
            const std::lock_guard<std::mutex> lock(world::get().mutex);
            quit = true;
        }
        world::get().changed.notify_all();
        thread.join();
    }
    cudaError_t enqueue(std::function<void()> work, bool is_work = true) {
        world& w = world::get();
        std::unique_lock<std::mutex> lock(w.mutex);
        w.changed.wait(lock, [&] { return queue.size() < depth || w.lost != cudaSuccess; });
        if (w.lost != cudaSuccess) return w.lost;
        queue.emplace_back(std::move(work), is_work);
        w.changed.notify_all();
        return cudaSuccess;
    }
    cudaError_t drain() {
        world& w = world::get();
        std::unique_lock<std::mutex> lock(w.mutex);
        w.changed.wait(lock, [&] { return (queue.empty() && !busy) || w.lost != cudaSuccess; });
        return w.lost;
    }

private:
    void serve(std::uint64_t number) {
        world& w = world::get();
        std::unique_lock<std::mutex> lock(w.mutex);
        stowage::detail::splitmix64 random(w.how.delay_seed * 977 + number);
        while (true) {
            w.changed.wait(lock, [&] { return quit || !queue.empty(); });
            if (queue.empty()) return;
            auto [work, is_work] = std::move(queue.front());
            queue.pop_front();
            if (w.lost != cudaSuccess) {  // nothing runs any more, callbacks neither
                w.changed.notify_all();
                continue;
            }
            busy = true;
            const bool delays = w.how.delay_seed != 0 && random.below(4) == 0;
            const auto delay = std::chrono::microseconds(random.below(60));
            const std::int64_t number_of_work = is_work ? w.works++ : -2;
            const bool fails = number_of_work == w.how.failing_work;
            if (fails) w.lost = cudaErrorLaunchFailure;
            if (number_of_work == w.how.hanging_work) {
                w.hangs = true;
                w.changed.wait(lock, [&] { return w.how.hanging_work == -1 || w.lost != cudaSuccess; });
                w.hangs = false;
            }
            lock.unlock();
            if (delays) std::this_thread::sleep_for(delay);
            if (!fails) work();
            lock.lock();
            busy = false;
            w.changed.notify_all();
        }
    }
};

inline world::world() = default;
inline world::~world() = default;

/// Null is the current device's default stream.
[[nodiscard]] inline stream& of(cudaStream_t handle) {
    if (handle != nullptr) return *reinterpret_cast<stream*>(handle);
    world& w = world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    auto& made = w.default_streams[current_device];
    if (!made) made = std::make_unique<stream>(current_device, 1000U + static_cast<unsigned>(current_device));
    return *made;
}
[[nodiscard]] inline event& of(cudaEvent_t handle) {
    return *reinterpret_cast<event*>(handle);
}

/// A kernel launch: `body` runs in the stream.
inline void launch(cudaStream_t handle, std::function<void()> body) {
    cudaError_t code = barred();
    if (code == cudaSuccess) {
        world& w = world::get();
        const std::lock_guard<std::mutex> lock(w.mutex);
        if (w.launches++ == w.how.failing_launch) code = cudaErrorInvalidConfiguration;
    }
    if (code == cudaSuccess && of(handle).device != current_device) code = cudaErrorInvalidResourceHandle;
    if (code == cudaSuccess) code = of(handle).enqueue(std::move(body));
    (void)keep(code);
}
/// What a kernel does that hits a bad address: the context is lost.
inline void lose_context() {
    const std::lock_guard<std::mutex> lock(world::get().mutex);
    world::get().lost = cudaErrorIllegalAddress;
    world::get().changed.notify_all();
}

/// A copy from memory of device `source` to memory of `target` (below 0: the host's) is one of `kind`.
[[nodiscard]] inline bool suits(cudaMemcpyKind kind, int source, int target) {
    if (source == world::out_of_bounds || target == world::out_of_bounds) return false;
    switch (kind) {
        case cudaMemcpyHostToDevice: return source < 0 && target >= 0;
        case cudaMemcpyDeviceToHost: return source >= 0 && target < 0;
        case cudaMemcpyDeviceToDevice: return source >= 0 && target >= 0;
        default: return true;
    }
}

}  // namespace fake_cuda

#define FAKE_CUDA_ENTER()                                                            \
    if (const cudaError_t barred_by = fake_cuda::barred(); barred_by != cudaSuccess) \
    return fake_cuda::keep(barred_by)

extern "C" {

inline const char* fake_cuda_name(cudaError_t code) {
    switch (code) {
        case cudaSuccess: return "cudaSuccess";
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
        case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
        case cudaErrorNotPermitted: return "cudaErrorNotPermitted";
        case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
        case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
        case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
        case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
        default: return "cudaErrorUnknown";
    }
}
const char* cudaGetErrorName(cudaError_t code) {
    return fake_cuda_name(code);
}
const char* cudaGetErrorString(cudaError_t code) {
    return fake_cuda_name(code);
}
cudaError_t cudaGetLastError() {
    const cudaError_t stuck = fake_cuda::barred();
    return stuck != cudaSuccess ? stuck : std::exchange(fake_cuda::last_error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
    const cudaError_t stuck = fake_cuda::barred();
    return stuck != cudaSuccess ? stuck : fake_cuda::last_error;
}
cudaError_t cudaGetDeviceCount(int* count) {
    FAKE_CUDA_ENTER();
    *count = fake_cuda::world::get().how.devices;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    FAKE_CUDA_ENTER();
    if (device < 0 || device >= fake_cuda::world::get().how.devices)
        return fake_cuda::keep(cudaErrorInvalidDevice);
    fake_cuda::current_device = device;
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    w.contexts.insert(device);
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    FAKE_CUDA_ENTER();
    *device = fake_cuda::current_device;
    return cudaSuccess;
}
/// The driver's: which devices have a context.
inline int fake_context_state(int device, unsigned* flags, int* active) {
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    *flags = 0;
    *active = w.contexts.count(device) != 0 ? 1 : 0;
    return 0;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long, cudaDriverEntryPointQueryResult*) {
    FAKE_CUDA_ENTER();
    ++fake_cuda::world::get().lookups;
    *function = nullptr;
    if (std::strcmp(symbol, "cuDevicePrimaryCtxGetState") == 0)
        *function = reinterpret_cast<void*>(&fake_context_state);
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** block, size_t bytes) {
    FAKE_CUDA_ENTER();
    ++fake_cuda::world::get().made;
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    auto& used = w.used[fake_cuda::current_device];
    if (used + static_cast<std::int64_t>(bytes) > w.how.memory)
        return fake_cuda::keep(cudaErrorMemoryAllocation);
    *block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    used += static_cast<std::int64_t>(bytes);
    w.memory[*block] = {fake_cuda::current_device, static_cast<std::int64_t>(bytes)};
    w.contexts.insert(fake_cuda::current_device);
    return cudaSuccess;
}
cudaError_t cudaFree(void* block) {  // also after the context was lost, so that tests see leaks
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    const auto found = w.memory.find(block);
    if (found == w.memory.end()) return fake_cuda::keep(cudaErrorInvalidValue);
    w.used[found->second.first] -= found->second.second;
    w.memory.erase(found);
    std::free(block);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    *total = static_cast<size_t>(w.how.memory);
    *free = static_cast<size_t>(w.how.memory - w.used[fake_cuda::current_device]);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** block, size_t bytes, unsigned int) {
    FAKE_CUDA_ENTER();
    ++fake_cuda::world::get().made;
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    if (w.pinned_used + static_cast<std::int64_t>(bytes) > w.how.pinned)
        return fake_cuda::keep(cudaErrorMemoryAllocation);
    *block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    w.registered[*block] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* block) {
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    if (w.registered.erase(block) == 0) return fake_cuda::keep(cudaErrorInvalidValue);
    std::free(block);
    return cudaSuccess;
}
cudaError_t cudaHostRegister(void* block, size_t bytes, unsigned int) {
    FAKE_CUDA_ENTER();
    ++fake_cuda::world::get().made;
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    if (static_cast<std::int64_t>(bytes) > w.how.pinned) return fake_cuda::keep(cudaErrorMemoryAllocation);
    constexpr std::uintptr_t page = 4096;
    const auto first = reinterpret_cast<std::uintptr_t>(block) / page;
    const auto last = (reinterpret_cast<std::uintptr_t>(block) + bytes - 1) / page;
    for (const auto& [other, size] : w.registered) {
        const auto other_first = reinterpret_cast<std::uintptr_t>(other) / page;
        const auto other_last = (reinterpret_cast<std::uintptr_t>(other) + size - 1) / page;
        if (size >= page && first <= other_last && other_first <= last)
            return fake_cuda::keep(cudaErrorHostMemoryAlreadyRegistered);
    }
    w.registered[block] = bytes;
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* block) {
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    return w.registered.erase(block) != 0 ? cudaSuccess : fake_cuda::keep(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    FAKE_CUDA_ENTER();
    *least = 0;
    *greatest = -1;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned int, int) {
    FAKE_CUDA_ENTER();
    ++fake_cuda::world::get().made;
    auto& w = fake_cuda::world::get();
    int number = 0;
    {
        const std::lock_guard<std::mutex> lock(w.mutex);
        number = w.made_streams++;
        if (number == w.how.failing_stream) return fake_cuda::keep(cudaErrorMemoryAllocation);
    }
    auto made =
        std::make_unique<fake_cuda::stream>(fake_cuda::current_device, static_cast<std::uint64_t>(number));
    const std::lock_guard<std::mutex> lock(w.mutex);
    w.streams.insert(made.get());
    *handle = reinterpret_cast<cudaStream_t>(made.release());
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    auto& w = fake_cuda::world::get();
    {
        const std::lock_guard<std::mutex> lock(w.mutex);
        if (w.streams.erase(&fake_cuda::of(handle)) == 0) return fake_cuda::keep(cudaErrorInvalidValue);
    }
    delete &fake_cuda::of(handle);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    FAKE_CUDA_ENTER();
    return fake_cuda::keep(fake_cuda::of(handle).drain());
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    auto& s = fake_cuda::of(handle);
    return s.queue.empty() && !s.busy ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned int flags) {
    FAKE_CUDA_ENTER();
    ++fake_cuda::world::get().made;
    auto made = std::make_unique<fake_cuda::event>();
    made->timed = (flags & cudaEventDisableTiming) == 0;
    made->device = fake_cuda::current_device;
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    w.events.insert(made.get());
    *handle = reinterpret_cast<cudaEvent_t>(made.release());
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t handle) {
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    if (w.events.erase(&fake_cuda::of(handle)) == 0) return fake_cuda::keep(cudaErrorInvalidValue);
    w.retired.emplace_back(&fake_cuda::of(handle));
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t at) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    auto& e = fake_cuda::of(handle);
    std::uint64_t mark = 0;
    if (fake_cuda::of(at).device != e.device) return fake_cuda::keep(cudaErrorInvalidResourceHandle);
    {
        const std::lock_guard<std::mutex> lock(w.mutex);
        mark = ++e.recorded;
    }
    return fake_cuda::keep(fake_cuda::of(at).enqueue(
        [&w, &e, mark] {
            const std::lock_guard<std::mutex> lock(w.mutex);
            e.completed = std::max(e.completed, mark);
            e.when = std::chrono::steady_clock::now();
            w.changed.notify_all();
        },
        false));
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    const auto& e = fake_cuda::of(handle);
    return e.completed >= e.recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    const auto& a = fake_cuda::of(from);
    const auto& b = fake_cuda::of(to);
    if (!a.timed || !b.timed || a.recorded == 0 || b.recorded == 0)
        return fake_cuda::keep(cudaErrorInvalidValue);
    if (a.device != b.device) return fake_cuda::keep(cudaErrorInvalidResourceHandle);
    if (a.completed < a.recorded || b.completed < b.recorded) return fake_cuda::keep(cudaErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(b.when - a.when).count();
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t at, cudaEvent_t handle, unsigned int) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    auto& e = fake_cuda::of(handle);
    std::uint64_t mark = 0;
    {
        const std::lock_guard<std::mutex> lock(w.mutex);
        mark = e.recorded;
    }
    return fake_cuda::keep(fake_cuda::of(at).enqueue(
        [&w, &e, mark] {
            std::unique_lock<std::mutex> lock(w.mutex);
            w.changed.wait(lock, [&] { return e.completed >= mark || w.lost != cudaSuccess; });
        },
        false));
}
cudaError_t cudaLaunchHostFunc(cudaStream_t at, cudaHostFn_t call, void* data) {
    FAKE_CUDA_ENTER();
    return fake_cuda::keep(fake_cuda::of(at).enqueue(
        [call, data] {
            fake_cuda::in_callback = true;
            call(data);
            fake_cuda::in_callback = false;
        },
        false));
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    fake_cuda::stream& s = fake_cuda::of(cudaStream_t{});
    int source = 0;
    int target = 0;
    {
        const std::lock_guard<std::mutex> lock(w.mutex);
        source = w.device_of(from, bytes);
        target = w.device_of(to, bytes);
        w.contexts.insert(fake_cuda::current_device);
    }
    if (!fake_cuda::suits(kind, source, target) || (source >= 0 && source != s.device) ||
        (target >= 0 && target != s.device))
        return fake_cuda::keep(cudaErrorInvalidValue);
    if (bytes == 0) return cudaSuccess;
    if (source < 0 && target < 0) {
        std::memcpy(to, from, bytes);
        return cudaSuccess;
    }
    const auto* const first = static_cast<const std::byte*>(from);
    cudaError_t code = cudaSuccess;
    if (source < 0) {  // staged: the caller's bytes are free at once, the device's come later
        code = s.enqueue(
            [to, staged = std::vector<std::byte>(first, first + bytes), late = w.how.delay_seed != 0] {
                if (late) std::this_thread::sleep_for(std::chrono::microseconds(100));
                std::memcpy(to, staged.data(), staged.size());
            },
            false);
    } else {
        code = s.enqueue([=] { std::memcpy(to, from, bytes); }, false);
        if (code == cudaSuccess && target < 0) code = s.drain();
    }
    return fake_cuda::keep(code);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t at) {
    FAKE_CUDA_ENTER();
    fake_cuda::stream& s = fake_cuda::of(at);
    bool pinned = true;
    {
        auto& w = fake_cuda::world::get();
        const std::lock_guard<std::mutex> lock(w.mutex);
        if (w.copies++ == w.how.failing_copy) return fake_cuda::keep(cudaErrorInvalidValue);
        const int source = w.device_of(from, bytes);
        const int target = w.device_of(to, bytes);
        // a stream reaches the memory of its own device alone
        if (!fake_cuda::suits(kind, source, target) || (source >= 0 && source != s.device) ||
            (target >= 0 && target != s.device))
            return fake_cuda::keep(cudaErrorInvalidValue);
        if (source < 0) pinned = pinned && w.is_pinned(from, bytes);
        if (target < 0) pinned = pinned && w.is_pinned(to, bytes);
        if (!pinned) ++w.pageable_copies;
    }
    const cudaError_t code = s.enqueue([=] {
        // a pinned word is read by the host meanwhile: written whole, as the hardware does
        if (bytes == sizeof(std::uint32_t)) {
            std::uint32_t word = 0;
            std::memcpy(&word, from, sizeof word);
            __atomic_store_n(static_cast<std::uint32_t*>(to), word, __ATOMIC_RELEASE);
        } else {
            std::memcpy(to, from, bytes);
        }
    });
    return fake_cuda::keep(code == cudaSuccess && !pinned ? s.drain() : code);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int target, const void* from, int source, size_t bytes,
                                cudaStream_t at) {
    FAKE_CUDA_ENTER();
    {
        auto& w = fake_cuda::world::get();
        const std::lock_guard<std::mutex> lock(w.mutex);
        if (w.device_of(from, bytes) != source || w.device_of(to, bytes) != target)
            return fake_cuda::keep(cudaErrorInvalidValue);
    }
    return fake_cuda::keep(fake_cuda::of(at).enqueue([=] {
        auto& w = fake_cuda::world::get();
        w.bytes_by_peers += static_cast<std::int64_t>(bytes);
        if (!w.how.peer_writes_vanish) std::memcpy(to, from, bytes);
    }));
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    FAKE_CUDA_ENTER();
    *can = fake_cuda::world::get().how.peers && device != peer ? 1 : 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int) {
    FAKE_CUDA_ENTER();
    auto& w = fake_cuda::world::get();
    const std::lock_guard<std::mutex> lock(w.mutex);
    if (!w.how.peers || peer == fake_cuda::current_device) return fake_cuda::keep(cudaErrorInvalidDevice);
    const bool added = w.peers.insert({fake_cuda::current_device, peer}).second;
    return added ? cudaSuccess : fake_cuda::keep(cudaErrorPeerAccessAlreadyEnabled);
}

}  // extern "C"

#undef FAKE_CUDA_ENTER
