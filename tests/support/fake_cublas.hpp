#pragma once
// The part of cuBLAS that the examples use, as a fake that is linked in its place, beside fake_cuda.hpp. It
// sums in an order that depends on how its operands are aligned and on its workspace, as the real one may; it
// refuses what the real one refuses, and what a program with one handle a device should not do.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

#include "support/fake_cuda.hpp"

namespace fake_cublas {

struct handle {
    int device = 0;
    cudaStream_t stream = nullptr;
    void* workspace = nullptr;
    std::size_t workspace_bytes = 0;
};

/// What is seen of all handles; the tests' main thread alone uses it.
struct world {
    std::set<handle*> handles;
    std::int64_t products = 0;
    std::int64_t failing_product = -1;  // that of this number (from 0) is refused
    static world& get() {
        static world the_one;
        return the_one;
    }
};

[[nodiscard]] inline handle& of(cublasHandle_t given) {
    return *reinterpret_cast<handle*>(given);
}

/// As cuBLAS counts: columns one after another.
struct product {
    bool transpose_a, transpose_b;
    int m, n, k;
    float alpha, beta;
    const float *a, *b;
    float* c;
    int lda, ldb, ldc;
    long long stride_a, stride_b, stride_c;
    int count;
    int first;  // value of k with which sums begin

    void operator()() const {
        for (int i = 0; i < count; ++i)
            one(a + i * stride_a, b + i * stride_b, c + i * stride_c);
    }

private:
    void one(const float* x, const float* y, float* z) const {
        for (int column = 0; column < n; ++column) {
            for (int row = 0; row < m; ++row) {
                float sum = 0;
                for (int step = 0; step < k; ++step) {
                    const int i = (first + step) % k;
                    sum += (transpose_a ? x[i + static_cast<std::int64_t>(row) * lda]
                                        : x[row + static_cast<std::int64_t>(i) * lda]) *
                           (transpose_b ? y[column + static_cast<std::int64_t>(i) * ldb]
                                        : y[i + static_cast<std::int64_t>(column) * ldb]);
                }
                float& value = z[row + static_cast<std::int64_t>(column) * ldc];
                value = alpha * sum + (beta == 0 ? 0 : beta * value);
            }
        }
    }
};

inline cublasStatus_t enqueue(cublasHandle_t given, product work) {
    world& w = world::get();
    const handle& h = of(given);
    if (w.products++ == w.failing_product) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (h.device != fake_cuda::current_device || h.stream == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (fake_cuda::of(h.stream).device != h.device) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (h.workspace_bytes < 16'384) return CUBLAS_STATUS_ALLOC_FAILED;
    if (work.m < 0 || work.n < 0 || work.k < 0 || work.ldc < std::max(1, work.m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (work.lda < std::max(1, work.transpose_a ? work.k : work.m) ||
        work.ldb < std::max(1, work.transpose_b ? work.n : work.k))
        return CUBLAS_STATUS_INVALID_VALUE;
    const auto offset = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 256; };
    const std::size_t way =
        offset(work.a) + 3 * offset(work.b) + 5 * offset(work.c) + h.workspace_bytes / 256;
    work.first = static_cast<int>(way % static_cast<std::size_t>(std::max(1, work.k)));
    fake_cuda::launch(h.stream, work);
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace fake_cublas

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* given) {
    auto* const made = new fake_cublas::handle{.device = fake_cuda::current_device};
    fake_cublas::world::get().handles.insert(made);
    *given = reinterpret_cast<cublasHandle_t>(made);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t given) {
    if (fake_cublas::world::get().handles.erase(&fake_cublas::of(given)) == 0)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    delete &fake_cublas::of(given);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t given, cudaStream_t stream) {
    fake_cublas::handle& h = fake_cublas::of(given);
    h.stream = stream;
    h.workspace = nullptr;
    h.workspace_bytes = 0;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t given, void* workspace, size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
    fake_cublas::handle& h = fake_cublas::of(given);
    h.workspace = workspace;
    h.workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t status) {
    return status == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED" : "CUBLAS_STATUS";
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t given, cublasOperation_t transpose_a,
                              cublasOperation_t transpose_b, int m, int n, int k, const float* alpha,
                              const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                              int ldc) {
    return fake_cublas::enqueue(given, {transpose_a != CUBLAS_OP_N, transpose_b != CUBLAS_OP_N, m, n, k,
                                        *alpha, *beta, a, b, c, lda, ldb, ldc, 0, 0, 0, 1, 0});
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t given, cublasOperation_t transpose_a,
                                         cublasOperation_t transpose_b, int m, int n, int k,
                                         const float* alpha, const float* a, int lda, long long stride_a,
                                         const float* b, int ldb, long long stride_b, const float* beta,
                                         float* c, int ldc, long long stride_c, int count) {
    return fake_cublas::enqueue(
        given, {transpose_a != CUBLAS_OP_N, transpose_b != CUBLAS_OP_N, m, n, k, *alpha, *beta, a, b, c, lda,
                ldb, ldc, stride_a, stride_b, stride_c, count, 0});
}

}  // extern "C"
