#pragma once
// Matrix products by cuBLAS: one handle a device, the plan's own memory as its workspace, so that the same
// product is computed in the same way wherever its operands lie.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace examples {

/// c = alpha a b + beta c, rows one after another: a has m rows of k values and b k rows of n, or the other
/// way round where transposed. `lda`, `ldb`, `ldc` are lengths of rows; of `count` products the operands lie
/// `stride` values apart.
struct matrix_product {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    const float* a = nullptr;
    std::int64_t lda = 0;
    const float* b = nullptr;
    std::int64_t ldb = 0;
    float* c = nullptr;
    std::int64_t ldc = 0;
    bool transpose_a = false;
    bool transpose_b = false;
    float alpha = 1;
    float beta = 0;
    int count = 1;
    std::int64_t stride_a = 0;
    std::int64_t stride_b = 0;
    std::int64_t stride_c = 0;
};

/// cuBLAS on one device.
class cublas_products {
public:
    /// Throws std::runtime_error.
    explicit cublas_products(int ordinal) {
        if (cudaSetDevice(ordinal) != cudaSuccess)
            throw std::runtime_error("CUDA device " + std::to_string(ordinal) + " cannot be used");
        check(cublasCreate(&handle_), "cublasCreate");
    }
    cublas_products(cublas_products&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    cublas_products& operator=(cublas_products&&) = delete;
    ~cublas_products() {
        if (handle_ != nullptr) (void)cublasDestroy(handle_);
    }

    /// What follows goes into `stream` and may use `workspace`, whose address is a multiple of 256. A stream
    /// that is set drops the workspace: both are set each time.
    void use(cudaStream_t stream, std::span<std::byte> workspace) const {
        check(cublasSetStream(handle_, stream), "cublasSetStream");
        check(cublasSetWorkspace(handle_, workspace.data(), workspace.size()), "cublasSetWorkspace");
    }
    /// cuBLAS counts columns where we count rows: c^T = b^T a^T.
    void operator()(const matrix_product& p) const {
        const cublasOperation_t a = p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
        const cublasOperation_t b = p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
        const auto number = [](std::int64_t value) { return static_cast<int>(value); };
        if (p.count == 1) {
            check(cublasSgemm(handle_, b, a, number(p.n), number(p.m), number(p.k), &p.alpha, p.b,
                              number(p.ldb), p.a, number(p.lda), &p.beta, p.c, number(p.ldc)),
                  "cublasSgemm");
            return;
        }
        check(cublasSgemmStridedBatched(handle_, b, a, number(p.n), number(p.m), number(p.k), &p.alpha, p.b,
                                        number(p.ldb), p.stride_b, p.a, number(p.lda), p.stride_a, &p.beta,
                                        p.c, number(p.ldc), p.stride_c, p.count),
              "cublasSgemmStridedBatched");
    }

private:
    static void check(cublasStatus_t status, const char* call) {
        if (status == CUBLAS_STATUS_SUCCESS) return;
        throw std::runtime_error(std::string(call) + ": " + cublasGetStatusName(status));
    }
    cublasHandle_t handle_ = nullptr;
};

}  // namespace examples
