// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/petsc_solve.hpp"

#include <algorithm>
#include <stdexcept>

namespace carom::examples {
namespace {

constexpr auto success = PetscErrorCode(0);

}  // namespace

PetscSolve::~PetscSolve() {
  KSPDestroy(&solver_);
  MatDestroy(&matrix_);
  VecScatterDestroy(&exchange_);
  for (Vec* vector : {&x_, &y_, &ghost_}) VecDestroy(vector);
}

void PetscSolve::factor(Preconditioner kind) {
  if (kind == Preconditioner::ranks) {
    factor_.emplace(contacts_.own_system());
    return;
  }
  contacts_.for_each_block([&](Index start, Index size, const MatrixX<double>& block) {
    blocks_.push_back(
        {start, size, std::vector<double>(block.data(), block.data() + block.size())});
    if (!factor_cholesky(blocks_.back().factor.data(), size, size)) {
      throw std::runtime_error("preconditioner: expected a positive definite block of a body");
    }
  });
}

PetscErrorCode PetscSolve::prepare(Preconditioner kind, double relative_tolerance) {
  PetscFunctionBeginUser;
  factor(kind);
  const auto own = PetscInt(contacts_.own_count());
  const std::vector<PetscInt> places(contacts_.ghosts().begin(), contacts_.ghosts().end());
  const auto ghosts = PetscInt(places.size());
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, own, PetscInt(total_), &x_));
  PetscCall(VecDuplicate(x_, &y_));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, ghosts, &ghost_));
  IS from = nullptr;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, ghosts, places.data(), PETSC_COPY_VALUES, &from));
  PetscCall(VecScatterCreate(x_, from, ghost_, nullptr, &exchange_));
  PetscCall(ISDestroy(&from));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, own, own, PetscInt(total_), PetscInt(total_), this,
                           &matrix_));
  // The C interface takes a pointer to any function.
  PetscCall(MatShellSetOperation(matrix_, MATOP_MULT,
                                 reinterpret_cast<void (*)(void)>(&PetscSolve::shell_multiply)));
  PetscCall(MatSetOption(matrix_, MAT_SPD, PETSC_TRUE));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver_));
  PetscCall(KSPSetOperators(solver_, matrix_, matrix_));
  PetscCall(KSPSetType(solver_, KSPCG));
  PetscCall(KSPSetTolerances(solver_, relative_tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 100'000));
  PC preconditioner = nullptr;
  PetscCall(KSPGetPC(solver_, &preconditioner));
  PetscCall(PCSetType(preconditioner, PCSHELL));
  PetscCall(PCShellSetContext(preconditioner, this));
  PetscCall(PCShellSetApply(preconditioner, &PetscSolve::shell_precondition));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::shell_multiply(Mat matrix, Vec x, Vec y) {
  PetscFunctionBeginUser;
  void* self = nullptr;
  PetscCall(MatShellGetContext(matrix, &self));
  PetscCall(static_cast<PetscSolve*>(self)->apply(x, y));
  PetscFunctionReturn(success);
}

/// Contacts among own bodies are multiplied while the velocities of others' bodies travel.
PetscErrorCode PetscSolve::apply(Vec x, Vec y) {
  PetscFunctionBeginUser;
  PetscCall(VecScatterBegin(exchange_, x, ghost_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecCopy(x, y));
  const double* own = nullptr;
  const double* ghost = nullptr;
  double* product = nullptr;
  PetscCall(VecGetArrayRead(x, &own));
  PetscCall(VecGetArray(y, &product));
  contacts_.add_inner(own, product);
  PetscCall(VecScatterEnd(exchange_, x, ghost_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(ghost_, &ghost));
  contacts_.add_cut(own, ghost, product);
  PetscCall(VecRestoreArrayRead(ghost_, &ghost));
  PetscCall(VecRestoreArray(y, &product));
  PetscCall(VecRestoreArrayRead(x, &own));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::shell_precondition(PC preconditioner, Vec x, Vec y) {
  PetscFunctionBeginUser;
  void* self = nullptr;
  PetscCall(PCShellGetContext(preconditioner, &self));
  PetscCall(static_cast<const PetscSolve*>(self)->precondition(x, y));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::precondition(Vec x, Vec y) const {
  PetscFunctionBeginUser;
  PetscCall(VecCopy(x, y));
  double* numbers = nullptr;
  PetscCall(VecGetArray(y, &numbers));
  if (factor_) {
    Eigen::Map<VectorX<double>> own(numbers, contacts_.own_count());
    scratch_ = own;
    factor_->solve(scratch_);
    own = scratch_;
  }
  for (const auto& [start, size, factor] : blocks_) {
    solve_lower(factor.data(), size, size, numbers + start);
    solve_lower_transposed(factor.data(), size, size, numbers + start);
  }
  PetscCall(VecRestoreArray(y, &numbers));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::copy_in(const VectorX<double>& own, Vec vector) const {
  PetscFunctionBeginUser;
  double* numbers = nullptr;
  PetscCall(VecGetArray(vector, &numbers));
  std::copy(own.data(), own.data() + contacts_.own_count(), numbers);
  PetscCall(VecRestoreArray(vector, &numbers));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::copy_out(Vec vector, VectorX<double>& own) const {
  PetscFunctionBeginUser;
  const double* numbers = nullptr;
  PetscCall(VecGetArrayRead(vector, &numbers));
  own = Eigen::Map<const VectorX<double>>(numbers, contacts_.own_count());
  PetscCall(VecRestoreArrayRead(vector, &numbers));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::multiply(const VectorX<double>& x, VectorX<double>& y) {
  PetscFunctionBeginUser;
  PetscCall(copy_in(x, x_));
  PetscCall(MatMult(matrix_, x_, y_));
  PetscCall(copy_out(y_, y));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::solve(const VectorX<double>& b, VectorX<double>& x) {
  PetscFunctionBeginUser;
  PetscCall(copy_in(b, x_));
  PetscCall(KSPSolve(solver_, x_, y_));
  PetscCall(KSPGetIterationNumber(solver_, &iterations_));
  PetscCall(KSPGetConvergedReason(solver_, &reason_));
  PetscCall(copy_out(y_, x));
  PetscFunctionReturn(success);
}

PetscErrorCode PetscSolve::gather(const VectorX<double>& own, VectorX<double>& all) {
  PetscFunctionBeginUser;
  Vec everything = nullptr;
  VecScatter collect = nullptr;
  PetscCall(copy_in(own, x_));
  PetscCall(VecScatterCreateToAll(x_, &collect, &everything));
  PetscCall(VecScatterBegin(collect, x_, everything, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(collect, x_, everything, INSERT_VALUES, SCATTER_FORWARD));
  const double* numbers = nullptr;
  PetscCall(VecGetArrayRead(everything, &numbers));
  all = Eigen::Map<const VectorX<double>>(numbers, total_);
  PetscCall(VecRestoreArrayRead(everything, &numbers));
  PetscCall(VecScatterDestroy(&collect));
  PetscCall(VecDestroy(&everything));
  PetscFunctionReturn(success);
}

}  // namespace carom::examples
