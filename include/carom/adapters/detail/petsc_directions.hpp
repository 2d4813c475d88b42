// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <petscksp.h>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_coarse.hpp"
#include "carom/adapters/detail/petsc_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton directions by PETSc's conjugate gradients: H as a MATSHELL, and as a PCSHELL the factors
/// of the ranks' parts of it, which overlap by the ghosts, with a coarse space.
class PetscDirections {
 public:
  PetscDirections() = default;
  PetscDirections(const PetscDirections&) = delete;
  PetscDirections& operator=(const PetscDirections&) = delete;
  ~PetscDirections() { release(); }

  /// Takes on a problem. Every rank calls it; on bad data all throw std::invalid_argument.
  void lay_out(const PetscContactProblem& problem, double factor_work_limit,
               Index bodies_per_aggregate);

  [[nodiscard]] PetscExchange& exchange() noexcept { return exchange_; }
  /// Who touches whom on this rank.
  [[nodiscard]] const ContactGraph& graph() const noexcept { return hessian_.graph(); }
  /// Iterations of conjugate gradients since lay_out().
  [[nodiscard]] long long iterations() const noexcept { return iterations_; }

  /// d ≈ −H⁻¹∇ℓ, as accurate as the distance to the solution requires, with the ghosts' values.
  /// Every rank calls it.
  /// @param tolerance  what the solve asks for in the end.
  /// @param overlap    whether ghosts are solved for in the preconditioner.
  /// @return  false on all ranks where H is not finite on one.
  [[nodiscard]] bool find(PetscIterate& iterate, double tolerance, bool overlap, int product_limit);

 private:
  void release() {
    if (!petsc_is_running()) return;
    KSPDestroy(&solver_);
    MatDestroy(&matrix_);
    VecDestroy(&load_);
    VecDestroy(&answer_);
  }
  void multiply(Vec x, Vec y);
  void precondition(Vec r, Vec z);
  static PetscErrorCode shell_multiply(Mat matrix, Vec x, Vec y) noexcept {
    void* self = nullptr;
    const PetscErrorCode code = MatShellGetContext(matrix, &self);
    if (code == PetscErrorCode(0)) static_cast<PetscDirections*>(self)->multiply(x, y);
    return code;
  }
  static PetscErrorCode shell_precondition(PC preconditioner, Vec r, Vec z) noexcept {
    void* self = nullptr;
    const PetscErrorCode code = PCShellGetContext(preconditioner, &self);
    if (code == PetscErrorCode(0)) static_cast<PetscDirections*>(self)->precondition(r, z);
    return code;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  PetscExchange exchange_;
  PetscHessian hessian_;
  PetscCoarse coarse_;
  VectorX<double> x_, y_;  ///< own bodies and ghosts
  Vec load_ = nullptr, answer_ = nullptr;
  Mat matrix_ = nullptr;
  KSP solver_ = nullptr;
  long long iterations_ = 0;
  bool overlap_ = true;
};

// --- implementation ---

inline void PetscDirections::lay_out(const PetscContactProblem& problem, double factor_work_limit,
                                     Index bodies_per_aggregate) {
  release();
  communicator_ = problem.communicator();
  exchange_.lay_out(problem);
  hessian_.lay_out(problem, factor_work_limit);
  coarse_.lay_out(problem, hessian_, exchange_, bodies_per_aggregate);
  x_.setZero(problem.local().velocity_count());
  y_.setZero(problem.local().velocity_count());
  iterations_ = 0;
  const auto own = PetscInt(exchange_.own_size()), total = PetscInt(exchange_.total_size());
  require_petsc(VecCreateMPI(communicator_, own, total, &load_));
  require_petsc(VecDuplicate(load_, &answer_));
  require_petsc(MatCreateShell(communicator_, own, own, total, total, this, &matrix_));
  // The C interface takes a pointer to any function.
  require_petsc(MatShellSetOperation(
      matrix_, MATOP_MULT, reinterpret_cast<void (*)(void)>(&PetscDirections::shell_multiply)));
  require_petsc(MatSetOption(matrix_, MAT_SPD, PETSC_TRUE));
  require_petsc(KSPCreate(communicator_, &solver_));
  require_petsc(KSPSetOperators(solver_, matrix_, matrix_));
  require_petsc(KSPSetType(solver_, KSPCG));
  require_petsc(KSPSetNormType(solver_, KSP_NORM_UNPRECONDITIONED));
  require_petsc(KSPSetInitialGuessNonzero(solver_, PETSC_TRUE));
  PC preconditioner = nullptr;
  require_petsc(KSPGetPC(solver_, &preconditioner));
  require_petsc(PCSetType(preconditioner, PCSHELL));
  require_petsc(PCShellSetContext(preconditioner, this));
  require_petsc(PCShellSetApply(preconditioner, &PetscDirections::shell_precondition));
}

inline void PetscDirections::multiply(Vec x, Vec y) {
  const double* from = nullptr;
  double* to = nullptr;
  require_petsc(VecGetArrayRead(x, &from));
  std::copy_n(from, exchange_.own_size(), x_.data());
  require_petsc(VecRestoreArrayRead(x, &from));
  exchange_.update_ghosts(x_.data());
  hessian_.multiply(x_.data(), y_.data());
  require_petsc(VecGetArrayWrite(y, &to));
  std::copy_n(y_.data(), exchange_.own_size(), to);
  require_petsc(VecRestoreArrayWrite(y, &to));
}

inline void PetscDirections::precondition(Vec r, Vec z) {
  const double* from = nullptr;
  double* to = nullptr;
  require_petsc(VecGetArrayRead(r, &from));
  require_petsc(VecGetArrayWrite(z, &to));
  std::copy_n(from, exchange_.own_size(), x_.data());
  x_.tail(exchange_.ghost_size()).setZero();
  if (overlap_) exchange_.update_ghosts(x_.data());
  hessian_.solve(x_.data());
  if (overlap_) exchange_.add_ghosts(x_.data());
  std::copy_n(x_.data(), exchange_.own_size(), to);
  if (coarse_.is_used()) coarse_.add(from, to);
  require_petsc(VecRestoreArrayWrite(z, &to));
  require_petsc(VecRestoreArrayRead(r, &from));
}

inline bool PetscDirections::find(PetscIterate& iterate, double tolerance, bool overlap,
                                  int product_limit) {
  using Tuning = IterativeDirectionsTuning;
  overlap_ = overlap;
  hessian_.assemble([&](const auto& block) { return iterate.curvature(block); });
  hessian_.complete_ghosts(exchange_);
  bool good = hessian_.factor();
  if (coarse_.is_used()) good = coarse_.assemble(hessian_) && good;
  if (!on_all_ranks(communicator_, good)) return false;
  const double relative = iterate.residual() / iterate.scale();
  const double wanted = (std::min)(Tuning::loosest, std::sqrt(relative));
  const double enough = Tuning::last_share * tolerance / relative;
  const double target =
      (std::max)(wanted, (std::min)(enough, Tuning::loosest)) * iterate.residual();
  const Index own = exchange_.own_size();
  const VectorX<double> load = -iterate.gradient;
  double* numbers = nullptr;
  require_petsc(VecGetArrayWrite(load_, &numbers));
  std::copy_n(load.data(), own, numbers);
  require_petsc(VecRestoreArrayWrite(load_, &numbers));
  require_petsc(VecGetArrayWrite(answer_, &numbers));
  std::fill_n(numbers, own, 0.0);
  if (coarse_.is_used()) coarse_.start(load.data(), numbers);
  require_petsc(VecRestoreArrayWrite(answer_, &numbers));
  require_petsc(KSPSetTolerances(solver_, 0, target, PETSC_DEFAULT, product_limit));
  require_petsc(KSPSolve(solver_, load_, answer_));
  PetscInt taken = 0;
  require_petsc(KSPGetIterationNumber(solver_, &taken));
  iterations_ += taken;
  const double* found = nullptr;
  require_petsc(VecGetArrayRead(answer_, &found));
  std::copy_n(found, own, iterate.direction.data());
  require_petsc(VecRestoreArrayRead(answer_, &found));
  // Where round-off spoils the direction, −∇ℓ takes its place, which also descends.
  const double slope = iterate.sum<1>({-load.dot(iterate.direction.head(own))})[0];
  if (!(slope < 0 && slope >= -(std::numeric_limits<double>::max)())) {
    iterate.direction.head(own) = load;
  }
  exchange_.update_ghosts(iterate.direction.data());
  return true;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
