// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "carom/adapters/detail/petsc_exchange.hpp"
#include "carom/solvers/rows/body_rows.hpp"
#include "carom/solvers/systems/body_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// I + Ĵᵀ N Ĵ of all ranks as a matrix of PETSc, each rank with the rows of its own bodies, and the
/// KSP that solves with it, unless PETSc's options with the prefix `carom_law_` name something
/// else.
///
/// Up to `whole_unknowns`, and of any size in the reproducible mode, each rank factors the whole
/// matrix by itself: answers then have the same bits from run to run. Larger matrices get a factor
/// that the ranks share, by MUMPS, which adds contributions in the order in which they arrive.
/// Where PETSc was built without MUMPS each rank factors the whole.
class PetscGainMatrix {
 public:
  /// Makes room for a pattern. Every rank calls it.
  /// @param rows       of problem.local(); it has to outlive this object.
  /// @param symmetric  whether all N will be.
  void lay_out(const PetscContactProblem& problem, const BodyRows<double>& rows,
               PetscExchange& exchange, bool symmetric);

  /// Factors with the gains as they stand; false on all ranks where a number is not finite, or a
  /// pivot fails. Every rank calls it.
  [[nodiscard]] bool factor(const BlockGains<double>& gains);

  /// x ← (I + Ĵᵀ N Ĵ)⁻¹ x of own bodies. Every rank calls it.
  void solve(double* x) { system_.solve(x, x); }
  /// Iterations of the KSP since lay_out(): one for each solve with a factor.
  [[nodiscard]] long long iterations() const noexcept { return system_.iterations(); }

 private:
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
  /// Unknowns of all ranks up to which each rank factors the whole matrix: about eight times those
  /// of the largest heap for which PetscContactSolver asks the interior point (3,000 blocks).
  static constexpr Index whole_unknowns = 30'000;

  void name_places(PetscExchange& exchange, Mat matrix);
  void choose_solver(bool whole);
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
  PetscLinearSystem system_;
};

// --- implementation ---

inline void PetscGainMatrix::lay_out(const PetscContactProblem& problem,
                                     const BodyRows<double>& rows, PetscExchange& exchange,
                                     bool symmetric) {
  problem_ = &problem;
  rows_ = &rows;
  symmetric_ = symmetric;
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
  system_.lay_out(problem, exchange, [&](MPI_Comm all, PetscInt own, PetscInt total, Mat& matrix) {
    require_petsc(MatCreate(all, &matrix));
    require_petsc(MatSetSizes(matrix, own, own, total, total));
    require_petsc(MatSetType(matrix, MATAIJ));
    name_places(exchange, matrix);
  });
  choose_solver(CAROM_REPRODUCIBLE != 0 || exchange.total_size() <= whole_unknowns);
}

/// Tells PETSc the places of the values, in the order in which write_values() writes them.
inline void PetscGainMatrix::name_places(PetscExchange& exchange, Mat matrix) {
  const ContactProblem<double>& local = problem_->local();
  VectorX<double> number(local.velocity_count());  // of unknowns among those of all ranks
  for (Index k = 0; k < exchange.own_size(); ++k) number(k) = double(exchange.first() + k);
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
  require_petsc(MatSetPreallocationCOO(matrix, PetscCount(row_places.size()), row_places.data(),
                                       column_places.data()));
}

/// @param whole  whether each rank factors the whole matrix.
inline void PetscGainMatrix::choose_solver(bool whole) {
  require_petsc(KSPSetOptionsPrefix(system_.solver(), "carom_law_"));
  require_petsc(KSPSetType(system_.solver(), KSPPREONLY));
  const PC preconditioner = system_.preconditioner();
#ifdef PETSC_HAVE_MUMPS
  // Also where N is symmetric: MUMPS's Cholesky factors lose digits, so that the search took twice
  // the systems on rigid heaps of 400 and 1000 bodies under the convex law.
  const auto factor_by_mumps = [](PC factor) {
    require_petsc(PCSetType(factor, PCLU));
    require_petsc(PCFactorSetMatSolverType(factor, MATSOLVERMUMPS));
  };
  if (whole) {
    KSP own = nullptr;
    PC factor = nullptr;
    require_petsc(PCSetType(preconditioner, PCREDUNDANT));
    require_petsc(PCRedundantGetKSP(preconditioner, &own));
    require_petsc(KSPSetType(own, KSPPREONLY));
    require_petsc(KSPGetPC(own, &factor));
    factor_by_mumps(factor);
  } else {
    factor_by_mumps(preconditioner);
  }
#else
  static_cast<void>(whole);
  require_petsc(PCSetType(preconditioner, PCREDUNDANT));
#endif
  require_petsc(KSPSetFromOptions(system_.solver()));
}

/// Writes the blocks of H, and of Hᵀ, of all slots and edges.
inline void PetscGainMatrix::add_edges(const BlockGains<double>& gains) {
  const auto add = [&](std::vector<double>& values, Index e, bool transposed) {
    const PackedEdge& edge = rows_->edges()[e].packed;
    const auto block = [&](int column, int row) -> Columns<double> {
      if (column != row) return {values.data() + below_[std::size_t(e)], edge.high_size};
      return {values.data() + diagonals_[std::size_t(row)], size(row)};
    };
    add_to_blocks(edge, block, [&](const auto& targets) {
      add_edge_gains(*rows_, e, gains, transposed, targets);
    });
  };
  std::fill(lower_.begin(), lower_.end(), 0.0);
  std::fill(upper_.begin(), upper_.end(), 0.0);
  for (Index e = 0; e < rows_->edges().size(); ++e) {
    add(lower_, e, false);
    if (!symmetric_) add(upper_, e, true);
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
  require_petsc(MatSetValuesCOO(system_.matrix(), values_.data(), INSERT_VALUES));
  require_petsc(KSPSetUp(system_.solver()));
  PCFailedReason failed = PC_NOERROR;
  require_petsc(PCGetFailedReason(system_.preconditioner(), &failed));
  return on_all_ranks(problem_->communicator(), failed == PC_NOERROR);
}

/// BodySystem on the ranks of a communicator: Newton steps dγ = h − N W dγ of the impulses of all
/// ranks, which are one island. Each rank has the blocks of its part, and so those that are cut are
/// on two ranks, which compute the same of the same numbers; one of them counts them.
class PetscLawSystem {
 public:
  using scalar_type = double;

  /// Reads a problem, which must stay as it is. Every rank calls it; on bad data all throw
  /// std::invalid_argument.
  /// @param symmetric  whether all N will be.
  void take(const PetscContactProblem& problem, bool symmetric) {
    problem_ = &problem;
    exchange_.lay_out(problem);
    rows_.take(problem.local());
    matrix_.lay_out(problem, rows_, exchange_, symmetric);
    counts_.clear();
    for (Index i = 0; i < blocks().size(); ++i) {
      counts_.push_back(problem.counts(rows_.graph().part_at(blocks().first_part(i)).block));
    }
    island_.clear();
    island_.push_back({0, blocks().size(), 0, part_count()});
    vector_.assign(std::size_t(rows_.vector_size()), 0.0);
    sum_ = vector_;
    numbers_.setZero(problem.local().velocity_count());
    rest_.assign(std::size_t(3 * part_count()), 0.0);
    sum_count_ = 0;
  }

  [[nodiscard]] const BodyRows<double>& rows() const noexcept { return rows_; }
  [[nodiscard]] const BlockList<double>& blocks() const noexcept { return rows_.blocks(); }
  [[nodiscard]] const Sequence<BlockIsland>& islands() const noexcept { return island_; }
  [[nodiscard]] Index part_count() const noexcept { return rows_.part_count(); }
  [[nodiscard]] const double* load() const noexcept { return rows_.load(); }

  // As system_totals.hpp has them.
  [[nodiscard]] bool counts(Index block) const noexcept { return counts_[std::size_t(block)]; }
  template <std::size_t Count>
  [[nodiscard]] std::array<double, Count> total(
      const std::array<double, Count>& numbers) const noexcept {
    ++sum_count_;
    return sum_over_ranks<Count>(problem_->communicator(), numbers);
  }
  [[nodiscard]] double largest(double number) const noexcept {
    ++sum_count_;
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_MAX, problem_->communicator());
    return number;
  }
  [[nodiscard]] bool agreed(bool good) const noexcept {
    ++sum_count_;
    return on_all_ranks(problem_->communicator(), good);
  }

  /// product = W γ, in parts.
  void multiply(Index, const double* impulse, double* product) {
    write_momentum(impulse);
    exchange_vector();
    write_velocities(product);
  }
  /// ŵ* + Ĵᵀ γ of own bodies and ghosts.
  void write_whitened(const double* impulse, VectorX<double>& whitened) {
    numbers_.setZero();
    write_momentum(impulse);
    exchange_vector();
    whitened = problem_->local().whitened_free_velocity() + numbers_;
  }
  [[nodiscard]] bool factor(Index, const BlockGains<double>& gains) {
    return matrix_.factor(gains);
  }
  /// As BodySystem::solve().
  void solve(Index island, const BlockGains<double>& gains, const double* offset, double* step,
             double* moved);

  /// Iterations of the KSP, exchanges of ghosts and totals since take().
  [[nodiscard]] long long iterations() const noexcept { return matrix_.iterations(); }
  [[nodiscard]] const PetscExchange& exchange() const noexcept { return exchange_; }
  [[nodiscard]] long long sum_count() const noexcept { return sum_count_; }

 private:
  struct Refined;

  /// Calls visit(place in a vector, place in local velocities, number of unknowns) per body.
  template <typename Visit>
  void for_each_body(const Visit& visit) const {
    for (Index slot = 0; slot < rows_.graph().slot_count(); ++slot) {
      const auto [start, size] = problem_->local().body(rows_.graph().body_at(slot));
      visit(rows_.starts()[slot], start, size);
    }
  }
  void write_momentum(const double* impulse) {
    for (Index i = 0; i < rows_.islands().size(); ++i) {
      rows_.write_momentum(i, impulse, vector_.data());
    }
  }
  void write_velocities(double* velocity) const {
    for (Index i = 0; i < rows_.islands().size(); ++i) {
      rows_.write_velocities(i, vector_.data(), velocity);
    }
  }
  /// Copies the vector to local velocities, lets change(numbers) change those of own bodies,
  /// fetches the ghosts' values, and copies all back.
  template <typename Change>
  void exchange_after(const Change& change) {
    for_each_body([&](Index from, Index to, Index size) {
      std::copy_n(vector_.data() + from, size, numbers_.data() + to);
    });
    change(numbers_.data());
    exchange_.update_ghosts(numbers_.data());
    for_each_body([&](Index to, Index from, Index size) {
      std::copy_n(numbers_.data() + from, size, vector_.data() + to);
    });
  }
  /// Fetches the ghosts' values of the vector.
  void exchange_vector() {
    exchange_after([](double*) {});
  }
  /// Solves with the matrix for the vector, ghosts' values included.
  void apply_inverse() {
    numbers_.setZero();
    exchange_after([&](double* numbers) { matrix_.solve(numbers); });
  }

  const PetscContactProblem* problem_ = nullptr;
  BodyRows<double> rows_;
  PetscExchange exchange_;
  PetscGainMatrix matrix_;
  Sequence<BlockIsland> island_;  ///< one, of all blocks
  std::vector<char> counts_;      ///< per block
  std::vector<double> vector_, sum_, rest_;
  VectorX<double> numbers_;  ///< as local velocities
  mutable long long sum_count_ = 0;
};

// --- implementation ---

struct PetscLawSystem::Refined {
  PetscLawSystem& system;

  [[nodiscard]] const BlockList<double>& blocks() const noexcept { return system.blocks(); }
  void write_momentum(const double* step) const { system.write_momentum(step); }
  void apply_inverse() const { system.apply_inverse(); }
  void write_velocities() const { system.write_velocities(system.rest_.data()); }
  /// Of own bodies, over all ranks.
  [[nodiscard]] std::array<double, 2> squares() const {
    std::array<double, 2> result{};
    system.for_each_body([&](Index start, Index local, Index size) {
      if (local >= system.exchange_.own_size()) return;
      for (auto u = std::size_t(start); u < std::size_t(start + size); ++u) {
        result[0] += system.sum_[u] * system.sum_[u];
        result[1] += system.vector_[u] * system.vector_[u];
      }
    });
    return system.total(result);
  }
};

inline void PetscLawSystem::solve(Index, const BlockGains<double>& gains, const double* offset,
                                  double* step, double* moved) {
  const RefinementMemory<double> memory{vector_.data(), sum_.data(), rest_.data(), 0,
                                        Index(vector_.size())};
  solve_refined(Refined{*this}, island_[0], gains, offset, memory, step, moved);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
