#pragma once
// One run of GLPK, as plain data and C frames. GLPK ends a program on an error; its error hook jumps out
// instead, past C frames only: nothing that runs below the setjmp owns anything, so no destructor is skipped.
// The jump leaves GLPK's environment freed, with all that it had allocated. The terminal hook swallows what
// GLPK prints, keeps the last line for error texts, and is also where a long linear program is interrupted.
// Sources: the GLPK 5.0 reference manual, "Library environment routines", "Branch-and-cut API routines".

#include <chrono>
#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <glpk.h>

namespace stowage::solver::detail {

/// How a run ended.
enum class glpk_end : std::uint8_t {
    solved,       ///< by itself, or because it was asked to stop: see the figures
    infeasible,   ///< no values satisfy the model
    interrupted,  ///< jumped out of a linear program that took too long
    failed,       ///< GLPK's error hook was called, or a routine returned an error code
};

/// Everything that a run reads and writes; owned by the caller, alive through the run. Plain data.
struct glpk_job {
    // The model, in GLPK's form: positions of entries from 1, element 0 unused.
    const int* entry_row = nullptr;
    const int* entry_variable = nullptr;
    const double* entry_value = nullptr;
    const double* lower = nullptr;  // of variables, from 0
    const double* upper = nullptr;
    const double* cost = nullptr;
    const unsigned char* integer = nullptr;
    const double* row_lower = nullptr;
    const double* row_upper = nullptr;
    const double* start = nullptr;  // from 1, or none
    double constant = 0;
    // How.
    double relative_gap = 0;
    double absolute_gap = 0;
    double object_tolerance = 1e-7;
    std::uint64_t node_limit = 0;
    void* owner = nullptr;
    bool (*must_stop)(void* owner) noexcept = nullptr;
    bool (*found)(void* owner, double objective) noexcept = nullptr;  // false: stop; values are in `values`
    // What comes back.
    double* values = nullptr;  // incumbent, from 0
    double objective = 0;
    double bound = 0;
    std::uint64_t nodes = 0;  // and rounds of cuts
    std::size_t message_length = 0;
    // Of the run itself.
    std::chrono::steady_clock::time_point last_look = {};
    std::jmp_buf escape = {};
    // The same, smaller things: sizes, switches, what came back.
    int variables = 0;
    int rows = 0;
    int entries = 0;
    int code = 0;
    glpk_end end = glpk_end::failed;
    bool cuts = true;
    bool presolve = false;
    bool has_values = false;
    bool has_bound = false;
    bool stopped = false;  // it was told to stop
    bool start_given = false;
    bool interruptible = false;
    char message[200] = {};
};

/// GLPK's error hook.
extern "C" inline void stowage_glpk_failed(void* info) {
    auto& job = *static_cast<glpk_job*>(info);
    glp_free_env();
    job.end = glpk_end::failed;
    std::longjmp(job.escape, 1);
}

/// GLPK's terminal hook: keeps the text, prints nothing, and leaves a linear program that is to stop.
extern "C" inline int stowage_glpk_printed(void* info, const char* text) {
    auto& job = *static_cast<glpk_job*>(info);
    if (glp_at_error() != 0) {
        for (; *text != '\0' && job.message_length + 1 < sizeof job.message; ++text)
            job.message[job.message_length++] = *text == '\n' ? ' ' : *text;
        job.message[job.message_length] = '\0';
    } else if (job.interruptible && job.must_stop(job.owner)) {
        glp_free_env();
        job.stopped = true;
        job.end = glpk_end::interrupted;
        std::longjmp(job.escape, 1);
    }
    return 1;
}

inline void glpk_note_bound(glpk_job& job, glp_tree* tree) {
    const int best = glp_ios_best_node(tree);
    if (best == 0) return;
    const double bound = glp_ios_node_bound(tree, best);
    if (!job.has_bound || bound > job.bound) job.bound = bound;
    job.has_bound = true;
}

inline void glpk_take_values(glpk_job& job, glp_prob* problem) {
    for (int j = 1; j <= job.variables; ++j)
        job.values[j - 1] = glp_mip_col_val(problem, j);
    job.objective = glp_mip_obj_val(problem);
    job.has_values = true;
}

/// GLPK's branch-and-cut callback.
extern "C" inline void stowage_glpk_searches(glp_tree* tree, void* info) {
    auto& job = *static_cast<glpk_job*>(info);
    const int reason = glp_ios_reason(tree);
    bool enough = false;
    if (reason == GLP_IBINGO && !job.presolve) {
        glpk_take_values(job, glp_ios_get_prob(tree));
        enough = !job.found(job.owner, job.objective);
    } else if (reason == GLP_IHEUR && job.start != nullptr && !job.start_given) {
        job.start_given = true;
        glp_ios_heur_sol(tree, job.start);
    } else if (reason == GLP_ISELECT || reason == GLP_ICUTGEN) {  // a round of cuts costs what a node does
        enough = job.nodes >= job.node_limit;
        ++job.nodes;
    }
    const auto now = std::chrono::steady_clock::now();
    const bool look = now - job.last_look > std::chrono::milliseconds(5);
    if (look) {
        job.last_look = now;
        enough = enough || job.must_stop(job.owner);
    }
    if (look || enough) {
        glpk_note_bound(job, tree);
        if (job.has_values && job.has_bound && job.objective - job.bound <= job.absolute_gap) enough = true;
    }
    if (enough) {
        job.stopped = true;
        glp_ios_terminate(tree);
    }
}

inline int glpk_bound_type(double lower, double upper) noexcept {
    const bool below = lower > -HUGE_VAL;
    const bool above = upper < HUGE_VAL;
    if (below && above) return lower == upper ? GLP_FX : GLP_DB;
    if (below) return GLP_LO;
    return above ? GLP_UP : GLP_FR;
}

inline void glpk_load(const glpk_job& job, glp_prob* problem) {
    glp_set_obj_dir(problem, GLP_MIN);
    glp_set_obj_coef(problem, 0, job.constant);
    if (job.rows > 0) glp_add_rows(problem, job.rows);
    if (job.variables > 0) glp_add_cols(problem, job.variables);
    for (int i = 1; i <= job.rows; ++i) {
        const double least = job.row_lower[i - 1];
        const double most = job.row_upper[i - 1];
        glp_set_row_bnds(problem, i, glpk_bound_type(least, most), least, most);
    }
    for (int j = 1; j <= job.variables; ++j) {
        const double least = job.lower[j - 1];
        const double most = job.upper[j - 1];
        glp_set_col_bnds(problem, j, glpk_bound_type(least, most), least, most);
        glp_set_obj_coef(problem, j, job.cost[j - 1]);
        if (job.integer[j - 1] != 0) glp_set_col_kind(problem, j, GLP_IV);
    }
    glp_load_matrix(problem, job.entries, job.entry_row, job.entry_variable, job.entry_value);
}

/// Solves the root's relaxation; true if the search may go on from it.
inline bool glpk_root(glpk_job& job, glp_prob* problem) {
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_ON;
    how.meth = GLP_DUALP;
    how.out_frq = 1;
    how.out_dly = 0;
    glp_scale_prob(problem, GLP_SF_AUTO);
    glp_adv_basis(problem, 0);
    job.code = glp_simplex(problem, &how);
    if (job.code != 0) {
        job.end = glpk_end::failed;
        return false;
    }
    const int state = glp_get_status(problem);
    if (state == GLP_NOFEAS) {
        job.end = glpk_end::infeasible;
        return false;
    }
    if (state != GLP_OPT) {
        job.code = GLP_EROOT;
        job.end = glpk_end::failed;
        return false;
    }
    job.bound = glp_get_obj_val(problem);
    job.has_bound = true;
    return true;
}

inline void glpk_search(glpk_job& job, glp_prob* problem) {
    glp_iocp how;
    glp_init_iocp(&how);
    how.msg_lev = GLP_MSG_ON;
    how.out_frq = 1;
    how.out_dly = 0;
    how.presolve = job.presolve ? GLP_ON : GLP_OFF;
    how.mip_gap = job.relative_gap;
    how.tol_obj = job.object_tolerance;
    how.mir_cuts = job.cuts ? GLP_ON : GLP_OFF;
    how.cov_cuts = job.cuts ? GLP_ON : GLP_OFF;
    how.cb_func = stowage_glpk_searches;
    how.cb_info = &job;
    job.code = glp_intopt(problem, &how);
    const int state = glp_mip_status(problem);
    if (job.code == GLP_ENOPFS || (job.code == 0 && state == GLP_NOFEAS)) {
        job.code = 0;
        job.end = glpk_end::infeasible;
        return;
    }
    if (state == GLP_OPT || state == GLP_FEAS) glpk_take_values(job, problem);
    if (job.code == 0 && state == GLP_OPT) {
        job.bound = job.objective;
        job.has_bound = true;
    }
    const bool ended = job.code == 0 || job.code == GLP_ESTOP || job.code == GLP_EMIPGAP;
    job.end = ended ? glpk_end::solved : glpk_end::failed;
}

/// The whole run, on a thread that has no GLPK environment of its own. No frame from here on owns anything.
inline void glpk_run(glpk_job& job) noexcept {
    if (setjmp(job.escape) != 0) return;  // the environment is freed
    glp_error_hook(stowage_glpk_failed, &job);
    glp_term_hook(stowage_glpk_printed, &job);
    glp_term_out(GLP_ON);
    glp_prob* const problem = glp_create_prob();
    glpk_load(job, problem);
    job.interruptible = true;
    if (job.presolve || glpk_root(job, problem)) glpk_search(job, problem);
    job.interruptible = false;
    glp_delete_prob(problem);
    glp_free_env();
}

}  // namespace stowage::solver::detail
