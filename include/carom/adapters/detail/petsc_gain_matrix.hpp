// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <petscksp.h>
#include <utility>
#include <vector>

#include "carom/adapters/detail/petsc_exchange.hpp"
#include "carom/solvers/rows/edge_gains.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// I + Ĵᵀ N Ĵ of all ranks as a matrix of PETSc, each rank with the rows of its own bodies, and the
/// KSP that solves with it: a factor that all ranks share, by MUMPS, unless PETSc's options with
/// the prefix `carom_law_` name something else. Where PETSc was built without MUMPS each rank
/// factors the whole.
class PetscGainMatrix {
 public:
  PetscGainMatrix() = default;
  PetscGainMatrix(const PetscGainMatrix&) = delete;
  PetscGainMatrix& operator=(const PetscGainMatrix&) = delete;
  ~PetscGainMatrix() { release(); }

  /// Takes on a pattern. Every rank calls it.
  /// @param rows       of problem.local(); it has to outlive this object.
  /// @param symmetric  whether all N will be.
  void lay_out(const PetscContactProblem& problem, const BodyRows<double>& rows,
               PetscExchange& exchange, bool symmetric);

  /// Factors with the gains as they stand; false on all ranks where a number is not finite, or a
  /// pivot fails. Every rank calls it.
  [[nodiscard]] bool factor(const BlockGains<double>& gains);

  /// x ← (I + Ĵᵀ N Ĵ)⁻¹ x of own bodies. Every rank calls it.
  void solve(double* x);
  /// Iterations of the KSP since lay_out(): one for each solve with a factor.
  [[nodiscard]] long long iterations() const noexcept { return iterations_; }

 private:
  void release() {
    if (!petsc_is_running()) return;
    KSPDestroy(&solver_);
    MatDestroy(&matrix_);
    VecDestroy(&right_);
    VecDestroy(&answer_);
  }
  /// Calls visit(slot) for every body of this rank that something touches.
  template <typename Visit>
  void for_each_own_slot(const Visit& visit) const {
    for (Index slot = 0; slot < rows_->graph().slot_count(); ++slot) {
      if (problem_->is_own(rows_->graph().body_at(slot))) visit(slot);
    }
  }
  [[nodiscard]] bool is_own(int slot) const noexcept {
    return problem_->is_own(rows_->graph().body_at(slot));
  }
  [[nodiscard]] Index size(Index slot) const noexcept {
    return problem_->local().body(rows_->graph().body_at(slot)).size;
  }
  void name_places(PetscExchange& exchange);
  void make_solver();
  void add_edges(const BlockGains<double>& gains);
  void write_values();

  const PetscContactProblem* problem_ = nullptr;
  const BodyRows<double>* rows_ = nullptr;
  bool symmetric_ = true;
  /// Blocks of H by columns, and of Hᵀ where N need not be symmetric: first those on the diagonal,
  /// of which the lower half is written, then those below it. Diagonals by slot, others by edge.
  std::vector<double> lower_, upper_;
  std::vector<Index> diagonals_, below_;
  std::vector<double> values_;  ///< as the matrix takes them, ones of bodies without blocks last
  Mat matrix_ = nullptr;
  Vec right_ = nullptr, answer_ = nullptr;
  KSP solver_ = nullptr;
  long long iterations_ = 0;
};

// --- implementation ---

inline void PetscGainMatrix::lay_out(const PetscContactProblem& problem,
                                     const BodyRows<double>& rows, PetscExchange& exchange,
                                     bool symmetric) {
  release();
  problem_ = &problem;
  rows_ = &rows;
  symmetric_ = symmetric;
  iterations_ = 0;
  Index next = 0;
  diagonals_.clear();
  below_.clear();
  for (Index slot = 0; slot < rows.graph().slot_count(); ++slot) {
    diagonals_.push_back(next);
    next += size(slot) * size(slot);
  }
  for (const auto& edge : rows.edges()) {
    below_.push_back(next);
    next += Index(edge.packed.low_size) * edge.packed.high_size;
  }
  // Kernels write whole registers, past the end of a block of other sizes.
  lower_.resize(std::size_t(next + row_lanes));
  upper_.resize(symmetric ? 0 : lower_.size());
  const auto own = PetscInt(exchange.own_size()), total = PetscInt(exchange.total_size());
  const MPI_Comm communicator = problem.communicator();
  require_petsc(VecCreateMPI(communicator, own, total, &right_));
  require_petsc(VecDuplicate(right_, &answer_));
  require_petsc(MatCreate(communicator, &matrix_));
  require_petsc(MatSetSizes(matrix_, own, own, total, total));
  require_petsc(MatSetType(matrix_, MATAIJ));
  name_places(exchange);
  make_solver();
}

/// Tells PETSc the places of the values, in the order in which write_values() writes them.
inline void PetscGainMatrix::name_places(PetscExchange& exchange) {
  const ContactProblem<double>& local = problem_->local();
  VectorX<double> number(local.velocity_count());  // of unknowns among those of all ranks
  PetscInt first = 0, end = 0;
  require_petsc(VecGetOwnershipRange(right_, &first, &end));
  for (Index k = 0; k < exchange.own_size(); ++k) number(k) = double(first + k);
  exchange.update_ghosts(number.data());
  std::vector<PetscInt> row_places, column_places;
  const auto start = [&](int slot) { return local.body(rows_->graph().body_at(slot)).start; };
  const auto add_block = [&](int row_slot, int column_slot) {
    for (Index c = 0; c < size(column_slot); ++c) {
      for (Index r = 0; r < size(row_slot); ++r) {
        row_places.push_back(PetscInt(number(start(row_slot) + r)));
        column_places.push_back(PetscInt(number(start(column_slot) + c)));
      }
    }
  };
  for_each_own_slot([&](Index slot) { add_block(int(slot), int(slot)); });
  for (const auto& edge : rows_->edges()) {
    const auto [low, high] = std::pair(edge.packed.low_slot, edge.packed.high_slot);
    if (high < 0) continue;
    if (is_own(high)) add_block(high, low);
    if (is_own(low)) add_block(low, high);
  }
  for (Index b = 0; b < problem_->own_count(); ++b) {
    if (rows_->graph().slot_of(b) >= 0) continue;
    for (Index k = 0; k < local.body(b).size; ++k) {
      row_places.push_back(PetscInt(number(local.body(b).start + k)));
      column_places.push_back(row_places.back());
    }
  }
  values_.assign(row_places.size(), 1.0);
  require_petsc(MatSetPreallocationCOO(matrix_, PetscCount(row_places.size()), row_places.data(),
                                       column_places.data()));
}

inline void PetscGainMatrix::make_solver() {
  require_petsc(KSPCreate(problem_->communicator(), &solver_));
  require_petsc(KSPSetOptionsPrefix(solver_, "carom_law_"));
  require_petsc(KSPSetOperators(solver_, matrix_, matrix_));
  require_petsc(KSPSetType(solver_, KSPPREONLY));
  PC preconditioner = nullptr;
  require_petsc(KSPGetPC(solver_, &preconditioner));
#ifdef PETSC_HAVE_MUMPS
  // Also where N is symmetric: MUMPS's Cholesky factors lose digits, so that the search took twice
  // the systems on rigid heaps of 400 and 1000 bodies under the convex law.
  require_petsc(PCSetType(preconditioner, PCLU));
  require_petsc(PCFactorSetMatSolverType(preconditioner, MATSOLVERMUMPS));
#else
  require_petsc(PCSetType(preconditioner, PCREDUNDANT));
#endif
  require_petsc(KSPSetFromOptions(solver_));
}

/// Writes the blocks of H, and of Hᵀ, of all slots and edges.
inline void PetscGainMatrix::add_edges(const BlockGains<double>& gains) {
  const auto targets = [&](std::vector<double>& values, Index e, Columns<double>(&blocks)[3]) {
    const PackedEdge& edge = rows_->edges()[e].packed;
    const auto diagonal = [&](int slot) {
      return Columns<double>{values.data() + diagonals_[std::size_t(slot)], size(slot)};
    };
    blocks[0] = diagonal(edge.low_slot);
    if (edge.high_slot < 0) return;
    blocks[1] = {values.data() + below_[std::size_t(e)], edge.high_size};
    blocks[2] = diagonal(edge.high_slot);
  };
  std::fill(lower_.begin(), lower_.end(), 0.0);
  std::fill(upper_.begin(), upper_.end(), 0.0);
  for (Index e = 0; e < rows_->edges().size(); ++e) {
    Columns<double> blocks[3] = {};
    targets(lower_, e, blocks);
    add_edge_gains(*rows_, e, gains, false, blocks);
    if (symmetric_) continue;
    targets(upper_, e, blocks);
    add_edge_gains(*rows_, e, gains, true, blocks);
  }
}

inline void PetscGainMatrix::write_values() {
  double* to = values_.data();
  const std::vector<double>& upper = symmetric_ ? lower_ : upper_;
  for_each_own_slot([&](Index slot) {
    const Index n = size(slot), first = diagonals_[std::size_t(slot)];
    for (Index c = 0; c < n; ++c) {
      for (Index r = 0; r < n; ++r) {
        const double value =
            r >= c ? lower_[std::size_t(first + c * n + r)] : upper[std::size_t(first + r * n + c)];
        *to++ = value + (r == c ? 1.0 : 0.0);
      }
    }
  });
  for (Index e = 0; e < rows_->edges().size(); ++e) {
    const PackedEdge& edge = rows_->edges()[e].packed;
    if (edge.high_slot < 0) continue;
    const Index first = below_[std::size_t(e)], rows = edge.high_size, columns = edge.low_size;
    if (is_own(edge.high_slot)) to = std::copy_n(lower_.data() + first, rows * columns, to);
    if (!is_own(edge.low_slot)) continue;
    for (Index c = 0; c < rows; ++c) {
      for (Index r = 0; r < columns; ++r) *to++ = upper[std::size_t(first + r * rows + c)];
    }
  }
}

inline bool PetscGainMatrix::factor(const BlockGains<double>& gains) {
  add_edges(gains);
  write_values();
  const bool finite =
      std::all_of(values_.begin(), values_.end(), [](double x) { return is_finite(x); });
  if (!on_all_ranks(problem_->communicator(), finite)) return false;
  require_petsc(MatSetValuesCOO(matrix_, values_.data(), INSERT_VALUES));
  require_petsc(KSPSetUp(solver_));
  PC preconditioner = nullptr;
  require_petsc(KSPGetPC(solver_, &preconditioner));
  PCFailedReason failed = PC_NOERROR;
  require_petsc(PCGetFailedReason(preconditioner, &failed));
  return on_all_ranks(problem_->communicator(), failed == PC_NOERROR);
}

inline void PetscGainMatrix::solve(double* x) {
  double* numbers = nullptr;
  PetscInt own = 0, taken = 0;
  require_petsc(VecGetLocalSize(right_, &own));
  require_petsc(VecGetArrayWrite(right_, &numbers));
  std::copy_n(x, own, numbers);
  require_petsc(VecRestoreArrayWrite(right_, &numbers));
  require_petsc(KSPSolve(solver_, right_, answer_));
  require_petsc(KSPGetIterationNumber(solver_, &taken));
  iterations_ += taken;
  const double* found = nullptr;
  require_petsc(VecGetArrayRead(answer_, &found));
  std::copy_n(found, own, x);
  require_petsc(VecRestoreArrayRead(answer_, &found));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
