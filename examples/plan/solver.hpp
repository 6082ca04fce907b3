#pragma once
// The solver of the program's integer programs: Cbc where it is installed, else the library's own enumerator,
// which is for small programs. GLPK is left out so that the program may be distributed on any terms.
// optional-library: cbc

#include <stowage/solver/enumerator.hpp>

#ifdef STOWAGE_HAS_CBC
#include <stowage/solver/cbc.hpp>
#endif

namespace plan_program {

#ifdef STOWAGE_HAS_CBC
using whole_program_solver = stowage::solver::cbc;
#else
using whole_program_solver = stowage::solver::enumerator;
#endif

/// For segments and leaves, of which a plan has thousands: no linear programs, so no start-up cost each.
using small_part_solver = stowage::solver::enumerator;

}  // namespace plan_program
