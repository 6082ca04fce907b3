#pragma once
// One run of Cbc through its C++ classes: the model as an OsiClpSolverInterface, the tuned branch and cut of
// CbcMain1, and an event handler that stops it. The C interface of Cbc 2.10 cannot be stopped, which is why
// it is not used. Source: Cbc's examples driver4.cpp and event.cpp.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <CbcEventHandler.hpp>
#include <CbcHeuristic.hpp>
#include <CbcHeuristicFPump.hpp>
#include <CbcModel.hpp>
#include <CglGomory.hpp>
#include <CglKnapsackCover.hpp>
#include <CglMixedIntegerRounding2.hpp>
#include <CglProbing.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <stowage/solver/error.hpp>
#include <stowage/solver/model.hpp>
#include <stowage/solver/options.hpp>

namespace stowage::solver::detail {

/// Whether a run is to stop, asked from everywhere.
class cbc_watch {
public:
    explicit cbc_watch(const options& how) : how_(&how) {
        if (how.time) deadline_ = std::chrono::steady_clock::now() + *how.time;
    }
    [[nodiscard]] bool must_stop() {
        stopped_ = stopped_ || thrown_ || how_->stop.stop_requested() ||
                   (deadline_ && std::chrono::steady_clock::now() >= *deadline_);
        return stopped_;
    }
    /// Tells the caller of values; what that throws is kept, since Cbc's frames are no place for it.
    void found(std::span<const double> values, double objective) {
        if (!how_->on_incumbent || thrown_) return;
        try {
            how_->on_incumbent(values, objective);
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }
    /// Notes a bound. Once a linear program was left, Cbc takes its node for infeasible: nothing that it says
    /// of bounds after that is to be believed.
    void note_bound(double bound) noexcept {
        if (!stopped_ && std::fabs(bound) < 1e30 && bound > bound_) bound_ = bound;
    }
    /// The best bound noted before the run was stopped.
    [[nodiscard]] double bound() const noexcept { return bound_; }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    const options* how_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    std::exception_ptr thrown_;
    double bound_ = -infinity;
    bool stopped_ = false;
};

/// Between nodes.
class cbc_events : public CbcEventHandler {
public:
    explicit cbc_events(cbc_watch& watch) : watch_(&watch) {}
    [[nodiscard]] CbcEventHandler* clone() const override { return new cbc_events(*this); }
    CbcAction event(CbcEvent what) override {
        // Sub-models of heuristics (bit 2048) have bounds of their own.
        if (what == node && model_ != nullptr && (model_->specialOptions() & 2048) == 0)
            watch_->note_bound(model_->getBestPossibleObjValue());
        if ((what == solution || what == heuristicSolution) && model_ != nullptr) {
            const double* const values = model_->bestSolution();
            const int count = model_->getNumCols();
            if (values != nullptr)
                watch_->found({values, static_cast<std::size_t>(count)}, model_->getObjValue());
        }
        return watch_->must_stop() ? stop : noAction;
    }

private:
    cbc_watch* watch_;
};

/// Within linear programs.
class cbc_linear_events : public ClpEventHandler {
public:
    explicit cbc_linear_events(cbc_watch& watch) : watch_(&watch) {}
    [[nodiscard]] ClpEventHandler* clone() const override { return new cbc_linear_events(*this); }
    int event(Event what) override {
        if (what != endOfIteration && what != endOfFactorization) return -1;
        return watch_->must_stop() ? 5 : -1;  // 5: stopped by event
    }

private:
    cbc_watch* watch_;
};

/// Cbc's form of a bound.
[[nodiscard]] inline double cbc_bound(double value) noexcept {
    if (std::isfinite(value)) return value;
    return value > 0 ? COIN_DBL_MAX : -COIN_DBL_MAX;
}

[[nodiscard]] inline std::vector<double> cbc_bounds(const std::vector<double>& values) {
    std::vector<double> result;
    result.reserve(values.size());
    for (const double value : values)
        result.push_back(cbc_bound(value));
    return result;
}

/// Loads the model.
inline void cbc_load(const model& program, OsiClpSolverInterface& solver) {
    std::vector<int> starts;
    std::vector<int> columns;
    starts.reserve(program.begin.size());
    columns.reserve(program.entry_count());
    for (const std::size_t begin : program.begin)
        starts.push_back(static_cast<int>(begin));
    for (const variable_index i : program.variables)
        columns.push_back(static_cast<int>(i));
    const auto variables = static_cast<int>(program.variable_count());
    const auto rows = static_cast<int>(program.row_count());
    CoinPackedMatrix matrix(false, variables, rows, static_cast<CoinBigIndex>(columns.size()),
                            program.coefficients.data(), columns.data(), starts.data(), nullptr);
    matrix.setDimensions(rows, variables);
    const std::vector<double> lower = cbc_bounds(program.lower);
    const std::vector<double> upper = cbc_bounds(program.upper);
    const std::vector<double> row_lower = cbc_bounds(program.row_lower);
    const std::vector<double> row_upper = cbc_bounds(program.row_upper);
    solver.loadProblem(matrix, lower.data(), upper.data(), program.cost.data(), row_lower.data(),
                       row_upper.data());
    solver.setDblParam(OsiObjOffset, -program.constant);
    for (int i = 0; i < variables; ++i) {
        if (program.kind[static_cast<std::size_t>(i)] == variable_kind::integer) solver.setInteger(i);
    }
}

/// What a search without preprocessing is helped by.
inline void cbc_strengthen(CbcModel& search) {
    CglProbing probing;
    probing.setUsingObjective(1);
    probing.setMaxPass(3);
    probing.setMaxProbe(100);
    probing.setMaxLook(50);
    probing.setRowCuts(3);
    CglGomory gomory;
    CglKnapsackCover knapsack;
    CglMixedIntegerRounding2 rounding;
    search.addCutGenerator(&probing, -1, "Probing");
    search.addCutGenerator(&gomory, -1, "Gomory");
    search.addCutGenerator(&knapsack, -1, "Knapsack");
    search.addCutGenerator(&rounding, -1, "MixedIntegerRounding2");
    CbcRounding round(search);
    CbcHeuristicFPump pump(search);
    search.addHeuristic(&round);
    search.addHeuristic(&pump);
}

}  // namespace stowage::solver::detail
