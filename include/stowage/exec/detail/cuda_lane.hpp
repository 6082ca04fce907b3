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
#include <stowage/exec/detail/host_lane.hpp>

namespace stowage::exec::detail {

/// What a lane's host callback does: it makes no CUDA call.
struct cuda_callback {
    std::atomic<std::uint32_t>* done = nullptr;
    progress_counter* news = nullptr;
};

struct cuda_place {
    cudaEvent_t ended = nullptr;       // without times: what others wait for and what is asked
    cudaEvent_t start_time = nullptr;  // with times
    cudaEvent_t end_time = nullptr;
};

struct cuda_lane {
    lane_description description;
    int ordinal = 0;
    cudaStream_t stream = nullptr;
    bool owns_stream = false;
    std::byte* stage = nullptr;   // of a peer lane whose copies go through the host: pinned memory
    cudaEvent_t began = nullptr;  // with times: the run's start in this stream
    std::vector<cuda_place> places;
    std::uint32_t submitted = 0;             // in this run
    std::uint32_t taken = 0;                 // in this run
    std::atomic<std::uint32_t> done{0};      // by callbacks, in this run
    std::uint32_t* word = nullptr;           // pinned: number of the work ended last, modulo twice the window
    const std::uint32_t* numbers = nullptr;  // on the device: 0, 1, 2, ... to twice the window
    cuda_callback callback;
    std::string failure;

    [[nodiscard]] cuda_place& place(std::uint32_t count) noexcept { return places[count % places.size()]; }
    /// Makes stream and events. Throws device_error naming the lane.
    template <class = void>
    void make(std::uint32_t window, cudaStream_t given, int priority) {
        const std::string& name = description.name;
        cuda_check(cudaSetDevice(ordinal), "its CUDA device cannot be used", name);
        stream = given;
        if (stream == nullptr) {
            cuda_check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority),
                       "its stream cannot be made", name);
            owns_stream = true;
        }
        cuda_check(cudaEventCreateWithFlags(&began, cudaEventDefault), "an event cannot be made", name);
        places.resize(window);
        for (cuda_place& p : places) {
            cuda_check(cudaEventCreateWithFlags(&p.ended, cudaEventDisableTiming), "an event cannot be made",
                       name);
            cuda_check(cudaEventCreateWithFlags(&p.start_time, cudaEventDefault), "an event cannot be made",
                       name);
            cuda_check(cudaEventCreateWithFlags(&p.end_time, cudaEventDefault), "an event cannot be made",
                       name);
        }
    }
    template <class = void>
    void release() noexcept {
        (void)cudaSetDevice(ordinal);
        for (const cuda_place& p : places) {
            for (cudaEvent_t event : {p.ended, p.start_time, p.end_time}) {
                if (event != nullptr) (void)cudaEventDestroy(event);
            }
        }
        places.clear();
        if (began != nullptr) (void)cudaEventDestroy(began);
        if (owns_stream) (void)cudaStreamDestroy(stream);
        began = nullptr;
        stream = nullptr;
        owns_stream = false;
    }
};

}  // namespace stowage::exec::detail
