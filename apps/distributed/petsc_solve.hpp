// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <petscksp.h>
#include <vector>

#include "carom/linalg/detail/cholesky.hpp"

#include "distributed/local_contacts.hpp"

namespace carom::examples {

/// What conjugate gradients are preconditioned with. Neither needs a message.
enum class Preconditioner {
  bodies,  ///< Each body's diagonal block: the same iteration for any number of processes.
  ranks,   ///< Each process's diagonal block, by a sparse factor: exact on one process.
};

/// H d = b on all processes of PETSC_COMM_WORLD: H a matrix-free MATSHELL, conjugate gradients.
/// Every process calls every function.
class PetscSolve {
 public:
  PetscSolve(const LocalContacts& contacts, const BodyPartition& parts)
      : contacts_(contacts), total_(parts.unknown_count()) {}
  PetscSolve(const PetscSolve&) = delete;
  PetscSolve& operator=(const PetscSolve&) = delete;
  ~PetscSolve();

  /// @param relative_tolerance  of CG's residual in the preconditioner's norm [-].
  [[nodiscard]] PetscErrorCode prepare(Preconditioner kind, double relative_tolerance);
  /// y = H x, own entries of both.
  [[nodiscard]] PetscErrorCode multiply(const VectorX<double>& x, VectorX<double>& y);
  /// x = H⁻¹ b, own entries of both.
  [[nodiscard]] PetscErrorCode solve(const VectorX<double>& b, VectorX<double>& x);

  [[nodiscard]] PetscInt iterations() const noexcept { return iterations_; }
  [[nodiscard]] bool converged() const noexcept { return reason_ > 0; }
  /// Own entries of a distributed vector of all, gathered by every process.
  [[nodiscard]] PetscErrorCode gather(const VectorX<double>& own, VectorX<double>& all);

 private:
  struct Block {
    Index start, size;
    std::vector<double> factor;
  };

  [[nodiscard]] static PetscErrorCode shell_multiply(Mat matrix, Vec x, Vec y);
  [[nodiscard]] static PetscErrorCode shell_precondition(PC preconditioner, Vec x, Vec y);
  [[nodiscard]] PetscErrorCode apply(Vec x, Vec y);
  [[nodiscard]] PetscErrorCode precondition(Vec x, Vec y) const;
  [[nodiscard]] PetscErrorCode copy_in(const VectorX<double>& own, Vec vector) const;
  [[nodiscard]] PetscErrorCode copy_out(Vec vector, VectorX<double>& own) const;
  void factor(Preconditioner kind);

  const LocalContacts& contacts_;
  Index total_;
  std::vector<Block> blocks_;
  std::optional<NewtonFactor> factor_;
  mutable VectorX<double> scratch_;
  Vec x_ = nullptr, y_ = nullptr, ghost_ = nullptr;
  VecScatter exchange_ = nullptr;
  Mat matrix_ = nullptr;
  KSP solver_ = nullptr;
  PetscInt iterations_ = 0;
  KSPConvergedReason reason_ = KSP_CONVERGED_ITERATING;
};

}  // namespace carom::examples
