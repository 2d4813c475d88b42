// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscsys.h>

namespace carom::testing {

/// PETSC_COMM_WORLD of all processes that mpirun has started, from the first call to the end of the
/// program. Every process runs every test; what they check has to be the same on all.
inline MPI_Comm petsc_world() {
  struct Session {
    Session() noexcept { static_cast<void>(PetscInitializeNoArguments()); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { static_cast<void>(PetscFinalize()); }
  };
  static const Session session;
  return PETSC_COMM_WORLD;
}
inline int petsc_rank() {
  int rank = 0;
  MPI_Comm_rank(petsc_world(), &rank);
  return rank;
}
inline int petsc_rank_count() {
  int count = 1;
  MPI_Comm_size(petsc_world(), &count);
  return count;
}

}  // namespace carom::testing
