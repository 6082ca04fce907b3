#pragma once
// The solver room: mixed-integer models, the concept of a solver, the contract round one, and the library's
// own small exact solver. GLPK and Cbc have headers of their own (solver/glpk.hpp, solver/cbc.hpp), because
// they need their packages. What is solved with it is asked for by name, too, to keep the rooms' umbrellas
// light: order/integer_program.hpp, order/integer_timesteps.hpp, layout/integer_program.hpp, and the rival
// MODeL in order/model.hpp and layout/model.hpp.

#include <stowage/solver/check.hpp>
#include <stowage/solver/concepts.hpp>
#include <stowage/solver/enumerator.hpp>
#include <stowage/solver/error.hpp>
#include <stowage/solver/model.hpp>
#include <stowage/solver/options.hpp>
#include <stowage/solver/result.hpp>
#include <stowage/solver/within_budget.hpp>
