// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/heap_run.hpp"

#include "carom/adapters/petsc_certificate.hpp"

// The solvers are compiled here, separately from the program.
namespace carom::distributed {

SolveReport<double> HeapRun::solve() {
  return solver_.solve(problem_, velocity_);
}

double HeapRun::residual() const {
  const PetscCertificate found = certify(problem_, velocity_, solver_.impulse(), law_.law);
  return is_convex() ? found.velocity_residual : found.natural_map_error;
}

}  // namespace carom::distributed
