#pragma once
// One lane of a cuda_device: a stream, and for each place in its window the events that mark its work's end
// and, for reports, its start and end in time.

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/exec/detail/cuda_call.hpp>
#include <stowage/exec/detail/cuda_link.hpp>
#include <stowage/exec/detail/host_lane.hpp>
#include <stowage/exec/notifier.hpp>

namespace stowage::exec::detail {

/// What a lane's host callback does: it makes no CUDA call.
struct cuda_callback {
    std::atomic<std::uint32_t>* done = nullptr;
    progress_counter* news = nullptr;
};

struct cuda_place {
    cudaEvent_t ended = nullptr;       // without times: what others wait for and what is asked
    cudaEvent_t start_time = nullptr;  // with times
    cudaEvent_t end_time = nullptr;    // with times, in place of `ended`
};

struct cuda_lane {
    lane_description description;
    int ordinal = 0;
    cudaStream_t stream = nullptr;
    bool owns_stream = false;
    basic_staged_link<> staged;   // of a peer lane whose copies go through the host
    cudaEvent_t began = nullptr;  // with times: the run's start in this stream
    std::vector<cuda_place> places;
    std::uint32_t submitted = 0;           // in this run
    std::uint32_t taken = 0;               // in this run
    turnip::vertex_index last_vertex = 0;  // given to it
    bool has_remains = false;              // of work that it did not take, before the event of the next place
    std::atomic<std::uint32_t> done{0};    // by callbacks, in this run
    std::uint32_t* word = nullptr;         // pinned: number of the work ended last, modulo twice the window
    std::uint32_t* numbers = nullptr;      // on the device: 0, 1, 2, ... to twice the window
    cuda_callback callback;
    std::string failure;

    [[nodiscard]] cuda_place& place(std::uint32_t count) noexcept { return places[count % places.size()]; }
    /// A run begins.
    void begin() noexcept {
        submitted = taken = 0;
        has_remains = false;
        done.store(0, std::memory_order_relaxed);
        if (word != nullptr) std::atomic_ref(*word).store(0, std::memory_order_relaxed);
    }
    /// The end of the work of this number, from 1, was told; by word, that of the last one taken or of a
    /// later.
    [[nodiscard]] bool is_announced(std::uint32_t number, notifier how) const noexcept {
        if (how == notifier::poll) return true;
        if (how == notifier::callback) return done.load(std::memory_order_acquire) >= number;
        const auto most = static_cast<std::uint32_t>(2 * places.size());
        const std::uint32_t told = std::atomic_ref(*word).load(std::memory_order_acquire);
        return (told + most - number % most) % most < places.size();
    }
    /// Work that was not taken may have left something in the stream, or lost the context already.
    template <class = void>
    void keep_remains(cudaEvent_t behind) noexcept {
        has_remains = cudaEventRecord(behind, stream) == cudaSuccess || cuda_is_lost(stream);
    }
    /// An announcement is not there yet, or something before `behind`, the event of the next place, of work
    /// that was not taken.
    template <class = void>
    [[nodiscard]] bool has_leftover(notifier how, cudaEvent_t behind) noexcept {
        has_remains = has_remains && cuda_event_state(behind) != cudaSuccess;
        return has_remains || !is_announced(submitted, how);
    }
    /// Makes stream and events; its device is current. Throws device_error naming the lane.
    template <class = void>
    void make(std::uint32_t window, cudaStream_t given, int priority) {
        stream = given;
        if (stream == nullptr) {
            cuda_check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority),
                       "its stream cannot be made", description.name);
            owns_stream = true;
        }
        make_event(began, cudaEventDefault);
        places.resize(window);
        for (cuda_place& p : places) {
            make_event(p.ended, cudaEventDisableTiming);
            make_event(p.start_time, cudaEventDefault);
            make_event(p.end_time, cudaEventDefault);
        }
    }
    /// Makes the pinned word, and the numbers that are copied into it; its device is current.
    template <class = void>
    void make_word() {
        const std::string& name = description.name;
        std::vector<std::uint32_t> values(2 * places.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<std::uint32_t>(i);
        const std::size_t bytes = values.size() * sizeof(std::uint32_t);
        void* block = nullptr;
        cuda_check(cudaHostAlloc(&block, sizeof(std::uint32_t), cudaHostAllocPortable),
                   "there is no pinned word", name);
        word = static_cast<std::uint32_t*>(block);
        cuda_check(cudaMalloc(&block, bytes), "there is no device memory", name);
        numbers = static_cast<std::uint32_t*>(block);
        cuda_check(cuda_copy(ordinal, numbers, values.data(), bytes), "a write failed", name);
    }
    template <class = void>
    void release() noexcept {
        const cuda_scope scope(ordinal);
        staged.release();
        for (const cuda_place& p : places) {
            for (cudaEvent_t event : {p.ended, p.start_time, p.end_time}) {
                if (event != nullptr) (void)cudaEventDestroy(event);
            }
        }
        places.clear();
        if (began != nullptr) (void)cudaEventDestroy(began);
        if (owns_stream) (void)cudaStreamDestroy(stream);
        if (numbers != nullptr) (void)cudaFree(numbers);
        if (word != nullptr) (void)cudaFreeHost(word);
        began = nullptr;
        stream = nullptr;
        owns_stream = false;
        numbers = word = nullptr;
    }

private:
    template <class = void>
    void make_event(cudaEvent_t& event, unsigned flags) const {
        cuda_check(cudaEventCreateWithFlags(&event, flags), "an event cannot be made", description.name);
    }
};

}  // namespace stowage::exec::detail
