#pragma once
// GLPK as a solver of mixed-integer programs. GLPK is licensed GPL-3 or later: a program that links the
// target stowage::glpk must keep its terms; the library's core never includes this header. GLPK keeps an
// environment per thread and ends the program on errors; here each solve has a thread, and so an environment,
// of its own, which leaves any GLPK objects of the caller alone, and every error is a solver_error.

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <stowage/solver/concepts.hpp>
#include <stowage/solver/detail/glpk_session.hpp>
#include <stowage/solver/error.hpp>

namespace stowage::solver {

/// Options of glpk beside those of one solve.
struct glpk_options {
    bool cuts = true;       ///< mixed-integer rounding and cover cuts
    bool presolve = false;  ///< GLPK's own presolver; with it neither start nor incumbent callback reach GLPK
    double tolerance =
        1e-6;  ///< bounds are lowered by this times 1 + |bound|: GLPK computes in floating point
};

namespace detail {

/// The arrays behind a glpk_job, and the C++ side of its callbacks.
class glpk_session {
public:
    glpk_session(const model& program, const options& how, const glpk_options& own)
        : how_(&how), values_(program.variable_count(), 0.0) {
        if (how.time) deadline_ = std::chrono::steady_clock::now() + *how.time;
        load(program);
        job_.relative_gap = how.relative_gap;
        job_.absolute_gap = how.absolute_gap;
        job_.node_limit = how.nodes;
        job_.cuts = own.cuts;
        job_.presolve = own.presolve;
        if (!how.start.empty() && !own.presolve) {
            start_.assign(1, 0.0);
            start_.insert(start_.end(), how.start.begin(), how.start.end());
            job_.start = start_.data();
            if (program.integral_objective) {
                // GLPK drops nodes that cannot better the incumbent by this times 1 + |incumbent|; the
                // incumbent is never above the start.
                const double known = program.objective(how.start);
                if (known >= 0) job_.object_tolerance = std::max(1e-7, std::min(0.5, 0.9 / (1 + known)));
            }
        }
    }
    glpk_session(const glpk_session&) = delete;
    glpk_session& operator=(const glpk_session&) = delete;

    /// Runs GLPK to its end on a thread of its own.
    const glpk_job& run() {
        std::thread worker([this] { glpk_run(job_); });
        worker.join();
        if (thrown_) std::rethrow_exception(thrown_);
        return job_;
    }
    [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }

private:
    void load(const model& program) {
        const auto fit = [](std::size_t n) {
            if (n >= static_cast<std::size_t>(INT_MAX))
                throw solver_error(fault::bad_model, "glpk", "it is too large for GLPK");
            return static_cast<int>(n);
        };
        job_.variables = fit(program.variable_count());
        job_.rows = fit(program.row_count());
        job_.entries = fit(program.entry_count());
        entry_row_.reserve(program.entry_count() + 1);
        entry_row_.push_back(0);
        for (row_index r = 0; r < program.row_count(); ++r)
            entry_row_.insert(entry_row_.end(), program.begin[r + 1] - program.begin[r],
                              static_cast<int>(r) + 1);
        entry_variable_.reserve(program.entry_count() + 1);
        entry_variable_.push_back(0);
        for (const variable_index i : program.variables)
            entry_variable_.push_back(static_cast<int>(i) + 1);
        entry_value_.reserve(program.entry_count() + 1);
        entry_value_.push_back(0);
        entry_value_.insert(entry_value_.end(), program.coefficients.begin(), program.coefficients.end());
        for (const variable_kind kind : program.kind)
            integer_.push_back(kind == variable_kind::integer ? 1 : 0);
        job_.entry_row = entry_row_.data();
        job_.entry_variable = entry_variable_.data();
        job_.entry_value = entry_value_.data();
        job_.lower = program.lower.data();
        job_.upper = program.upper.data();
        job_.cost = program.cost.data();
        job_.integer = integer_.data();
        job_.row_lower = program.row_lower.data();
        job_.row_upper = program.row_upper.data();
        job_.constant = program.constant;
        job_.values = values_.data();
        job_.owner = this;
        job_.must_stop = [](void* owner) noexcept { return static_cast<glpk_session*>(owner)->must_stop(); };
        job_.found = [](void* owner, double objective) noexcept {
            return static_cast<glpk_session*>(owner)->found(objective);
        };
    }
    bool must_stop() const noexcept {
        return how_->stop.stop_requested() || (deadline_ && std::chrono::steady_clock::now() >= *deadline_);
    }
    bool found(double objective) noexcept {
        if (!how_->on_incumbent) return true;
        try {
            how_->on_incumbent(values_, objective);
            return true;
        } catch (...) {
            thrown_ = std::current_exception();
            return false;
        }
    }

    const options* how_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    std::vector<double> values_;
    std::vector<double> start_;
    std::vector<int> entry_row_;
    std::vector<int> entry_variable_;
    std::vector<double> entry_value_;
    std::vector<unsigned char> integer_;
    std::exception_ptr thrown_;
    glpk_job job_;
};

}  // namespace detail

/// GLPK 5: branch and cut on one thread, deterministic unless a clock or a stop request ends it. The limit on
/// time and the stop token are looked at between nodes and within linear programs. Const calls are reentrant.
struct glpk {
    glpk_options options{};

    [[nodiscard]] std::string_view name() const noexcept { return "glpk"; }
    /// A linear program a node: measured on order and layout programs.
    [[nodiscard]] std::uint64_t node_cost(const model& program) const noexcept {
        return 1 + 4 * program.entry_count();
    }
    /// Solves a valid model; throws solver_error (aborted) with GLPK's own message, (bad_model) if the model
    /// has 2^31 or more entries, and whatever on_incumbent throws.
    [[nodiscard]] result operator()(const model& program, const solver::options& how) const {
        try {
            return run(program, how);
        } catch (const std::system_error& error) {
            throw solver_error(fault::aborted, "glpk", std::string("no thread for it: ") + error.what());
        }
    }

private:
    [[nodiscard]] result run(const model& program, const solver::options& how) const {
        result answer;
        detail::glpk_session session(program, how, options);
        const detail::glpk_job& job = session.run();
        answer.nodes = job.nodes;
        if (job.has_bound) answer.bound = lowered(job);
        if (job.end == detail::glpk_end::failed) {
            const std::string code =
                job.code == 0 ? std::string{} : " (code " + std::to_string(job.code) + ")";
            throw solver_error(fault::aborted, "glpk",
                               (job.message_length > 0 ? job.message : "no solution") + code);
        }
        if (job.end == detail::glpk_end::infeasible) {
            answer.status = status::infeasible;
            answer.bound = infinity;
            return answer;
        }
        if (!job.has_values) return answer;
        answer.values = session.values();
        answer.objective = job.objective;
        answer.status =
            job.end == detail::glpk_end::solved && !job.stopped ? status::optimal : status::feasible;
        return answer;
    }
    /// What GLPK's bound proves, its tolerances taken off.
    [[nodiscard]] double lowered(const detail::glpk_job& job) const {
        const double size = 1 + std::fabs(job.bound);
        const bool solved = job.end == detail::glpk_end::solved && !job.stopped;
        const double pruned = solved ? job.object_tolerance : 0;  // nodes this close were dropped
        return job.bound - size * std::max(options.tolerance, pruned);
    }
};

static_assert(mip_solver<glpk> && has_node_cost<glpk>);

}  // namespace stowage::solver
