// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <dart/constraint/BoxedLcpSolver.hpp>
#include <limits>
#include <span>
#include <string>

#include <Eigen/Core>

#include "carom/contact/delassus_problem.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/interior_point.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Count of numbers from one row of DART's matrix to the next: a multiple of four, or n for a
/// single row.
[[nodiscard]] constexpr int dart_row_stride(int n) noexcept {
  return n > 1 ? (n + 3) / 4 * 4 : n;
}

/// The boxed problem of DART.
struct DartInput {
  int n, unbounded;
  const double* matrix;
  const double* b;
  const double* lower;
  const double* upper;
  const int* findex;

  /// The row on which the bounds of a row depend; −1 if there is none.
  [[nodiscard]] int followed(int row) const noexcept {
    return row < unbounded || findex[row] == row ? -1 : findex[row];
  }
  /// A normal with impulses ≥ 0.
  [[nodiscard]] bool pushes(int row) const noexcept {
    return row >= unbounded && followed(row) < 0 && lower[row] == 0 &&
           upper[row] == std::numeric_limits<double>::infinity();
  }
  /// Upper limit of a coefficient of friction [-]. The natural map divides the velocity of a normal
  /// by the coefficient, so that an error in this velocity would hardly be visible. Other values
  /// were not measured.
  static constexpr double most_friction = 1e3;
  /// Coefficient of friction of a row that depends on another row [-].
  [[nodiscard]] double friction(int row) const noexcept {
    return std::min(upper[row], most_friction);
  }
  [[nodiscard]] double entry(int row, int column) const noexcept {
    const Index stride = dart_row_stride(n);
    return (matrix[stride * row + column] + matrix[stride * column + row]) / 2;
  }
};

[[nodiscard]] inline bool is_finite_dart_matrix(int n, const double* matrix) noexcept {
  const Index stride = dart_row_stride(n);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      if (!std::isfinite(matrix[stride * row + column])) return false;
    }
  }
  return true;
}

/// Whether all numbers are finite, lower bounds ≤ upper bounds, and findex < n.
[[nodiscard]] inline bool is_sound(const DartInput& input) noexcept {
  for (int row = 0; row < input.n; ++row) {
    if (!std::isfinite(input.b[row])) return false;
    if (row < input.unbounded) continue;
    if (input.findex[row] < -1 || input.findex[row] >= input.n) return false;
    const bool follows = input.followed(row) >= 0;
    if (!(input.upper[row] >= (follows ? 0 : input.lower[row]))) return false;
    if (follows) continue;
    if (!(input.lower[row] < std::numeric_limits<double>::infinity())) return false;
    if (!(input.upper[row] > -std::numeric_limits<double>::infinity())) return false;
  }
  return is_finite_dart_matrix(input.n, input.matrix);
}

/// The rows of a boxed problem as blocks: a normal with its rows of friction is a cone. Other rows
/// are intervals, three in a block.
class DartBlocks {
 public:
  struct Bounds {
    double change = 0, largest = 0;
  };
  /// Groups the rows into cones, if cones are wanted, and intervals.
  void group(const DartInput& input, bool cones);
  /// Computes the bounds of dependent rows from the current impulses [N·s]. Returns their change,
  /// and the largest bound.
  Bounds follow(const DartInput& input, const double* impulse);
  void write(const DartInput& input, DelassusProblem<double>& problem) const;
  /// Whether the bounds of any row depend on another row.
  [[nodiscard]] bool follows() const noexcept { return follows_; }
  /// Place of the impulse of a row among those of the blocks.
  [[nodiscard]] int place(int row) const noexcept { return place_[row]; }

 private:
  /// The friction rows of a normal.
  struct Friction {
    int count = 0;
    int rows[2] = {-1, -1};
  };
  /// Rows of the problem that form one block.
  struct RowBlock {
    ImpulseSet<double> set;
    int rows[3];
  };
  void add_cone(const DartInput& input, int normal, const Friction& friction);
  void add_interval(const DartInput& input, int row);

  Sequence<Friction> friction_;  ///< per row: the friction rows of that normal
  Sequence<RowBlock> blocks_;
  Sequence<int> place_;    ///< per row: place of its impulse
  Index open_block_ = -1;  ///< block of intervals with space for another row
  bool follows_ = false;
};

inline void DartBlocks::group(const DartInput& input, bool cones) {
  friction_.assign(input.n, {});
  blocks_.clear();
  place_.resize(input.n);
  open_block_ = -1;
  follows_ = false;
  for (int row = 0; row < input.n; ++row) {
    const int normal = input.followed(row);
    if (normal < 0) continue;
    Friction& friction = friction_[normal];
    if (friction.count < 2) friction.rows[friction.count] = row;
    ++friction.count;
  }
  const auto makes_cone = [&](int row) {
    const Friction& friction = friction_[row];
    return cones && (friction.count == 1 || friction.count == 2) && input.pushes(row);
  };
  for (int row = 0; row < input.n; ++row) {
    const int normal = input.followed(row);
    if (normal >= 0 && makes_cone(normal)) continue;  // it is added with its normal
    if (makes_cone(row)) {
      add_cone(input, row, friction_[row]);
    } else {
      add_interval(input, row);
    }
  }
  int place = 0;
  for (const RowBlock& block : blocks_) {
    for (int r = 0; r < block.set.rows; ++r) place_[block.rows[r]] = place++;
  }
}

inline void DartBlocks::add_cone(const DartInput& input, int normal, const Friction& friction) {
  const double first = input.friction(friction.rows[0]);
  if (friction.count == 1) {
    const auto set = cone_impulses<double>(ImpulseShape::planar, {first, 0, 0});
    blocks_.push_back({set, {friction.rows[0], normal, -1}});
    return;
  }
  const double second = input.friction(friction.rows[1]);
  const auto set = first == second
                       ? friction_impulses(first)
                       : cone_impulses<double>(ImpulseShape::elliptic, {first, second, 0});
  blocks_.push_back({set, {friction.rows[0], friction.rows[1], normal}});
}

inline void DartBlocks::add_interval(const DartInput& input, int row) {
  if (open_block_ < 0) {
    open_block_ = blocks_.size();
    blocks_.push_back({});
    blocks_.back().set.rows = 0;
  }
  RowBlock& block = blocks_[open_block_];
  const int r = block.set.rows++;
  block.rows[r] = row;
  if (input.followed(row) >= 0) {
    follows_ = true;
  } else {
    const double infinity = std::numeric_limits<double>::infinity();
    block.set.lower(r) = row < input.unbounded ? -infinity : input.lower[row];
    block.set.upper(r) = row < input.unbounded ? infinity : input.upper[row];
  }
  if (block.set.rows == 3) open_block_ = -1;
}

inline DartBlocks::Bounds DartBlocks::follow(const DartInput& input, const double* impulse) {
  Bounds bounds;
  if (!follows_) return bounds;
  for (RowBlock& block : blocks_) {
    if (block.set.shape != ImpulseShape::intervals) continue;
    for (int r = 0; r < block.set.rows; ++r) {
      const int normal = input.followed(block.rows[r]);
      if (normal < 0) continue;
      const double bound = input.friction(block.rows[r]) * std::abs(impulse[place_[normal]]);
      bounds.change = std::max(bounds.change, std::abs(bound - block.set.upper(r)));
      bounds.largest = std::max(bounds.largest, bound);
      block.set.lower(r) = -bound;
      block.set.upper(r) = bound;
    }
  }
  return bounds;
}

inline void DartBlocks::write(const DartInput& input, DelassusProblem<double>& problem) const {
  problem.reset();
  for (const RowBlock& block : blocks_) {
    RowNumbers<double> load = RowNumbers<double>::Zero();
    for (int r = 0; r < block.set.rows; ++r) load(r) = -input.b[block.rows[r]];
    problem.add_contact(block.set, load.head(block.set.rows));
  }
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 3> block;
  for (Index i = 0; i < blocks_.size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      block.resize(blocks_[i].set.rows, blocks_[j].set.rows);
      for (int c = 0; c < blocks_[j].set.rows; ++c) {
        for (int r = 0; r < blocks_[i].set.rows; ++r) {
          block(r, c) = input.entry(blocks_[i].rows[r], blocks_[j].rows[c]);
        }
      }
      if (i == j || !block.isZero(0)) problem.add_coupling(i, j, block);
    }
  }
  problem.assemble();
}

}  // namespace detail

/// Options of a DartLcpSolver.
struct DartLcpSolverOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Whether one or two friction rows of a normal with impulses ≥ 0 form a cone: a planar one, the
  /// circular one, or an elliptic one if their coefficients differ. Otherwise each row has its own
  /// interval, as in DART's solvers.
  bool cones = true;
  /// The solve ends at this natural map error [-], > 0: ImpulseCertificate::natural_map_error.
  double tolerance = 1e-10;
  /// Largest natural map error that still counts as solved if rounding prevents a smaller one
  /// [-], ≥ tolerance. Above it, DART calls its secondary solver.
  double accepted = 1e-6;
  int iteration_limit = 1000;  ///< Largest count of linear systems for the cones, ≥ 0.
  /// Largest count of rounds for intervals that depend on a normal, ≥ 1.
  int interval_limit = 200;
};

/// Solves the boxed problems of DART, A x = b + w, with Coulomb's exact law: contacts, joint
/// limits, servo motors, joint friction and closed loops of a group of skeletons in one solve.
///
/// A row whose findex is the index of a normal, 0 ≤ xₙ, is a friction row of this normal. The
/// coefficient is its upper bound, at most 1000; see DartLcpSolverOptions::cones. Two cases stay
/// intervals ±μ |x_findex|, which are computed in rounds: three or more friction rows of one
/// normal, and rows that depend on a row that is not such a normal. All other rows are between
/// their bounds. x is an impulse [N·s, N·m·s], w the velocity after it [m/s, rad/s]. A may be
/// singular. The terms that DART adds to its diagonal (constraint force mixing, slip compliance)
/// are a compliance here too.
///
/// ```
/// const auto solver = std::make_shared<carom::DartLcpSolver>();
/// world->setConstraintSolver(
///     std::make_unique<dart::constraint::BoxedLcpConstraintSolver>(solver));
/// ```
/// If it returns false, BoxedLcpConstraintSolver calls its secondary solver, if it has one.
/// @note  The memory is reused: no allocation after a problem of the same size and pattern. Tested
///        with DART 6.12. Compile units with or without NDEBUG as DART itself was compiled;
///        Debian's DART was compiled without.
class DartLcpSolver : public dart::constraint::BoxedLcpSolver {
 public:
  explicit DartLcpSolver(const DartLcpSolverOptions& options = {})
      : options_(options),
        newton_({.law = options.law,
                 .tolerance = options.tolerance,
                 .iteration_limit = options.iteration_limit}) {
    CAROM_EXPECTS(options.accepted >= options.tolerance && options.interval_limit >= 1);
  }
  [[nodiscard]] const DartLcpSolverOptions& options() const noexcept { return options_; }

  // NOLINTNEXTLINE(readability-identifier-naming): the name is DART's
  [[nodiscard]] static const std::string& getStaticType() {
    static const std::string name = "caromBoxedLcpSolver";
    return name;
  }
  [[nodiscard]] const std::string& getType() const override { return getStaticType(); }

  /// @param matrix   A, symmetric; the distance of its rows is row_stride(n) numbers.
  /// @param x        written, never read. It is zero unless all numbers are finite, lower
  ///                 bounds ≤ upper bounds and findex < n.
  /// @param b        the negative of the velocity without impulses.
  /// @param unbounded  count of the first rows, which have no bounds: their bounds are not read.
  /// @param early_termination  not used: x is always the best iterate.
  /// @return  whether x solves the problem; report() states the error.
  bool solve(int n, double* matrix, double* x, double* b, int unbounded, double* lower,
             double* upper, int* findex, bool early_termination = false) override;

// DART declares this function only without NDEBUG, as the last of its virtual functions. Directly
// after solve() it has the same place in the virtual table in units with NDEBUG.
#ifdef NDEBUG
  virtual bool canSolve(int n, const double* matrix) {
    return detail::is_finite_dart_matrix(n, matrix);
  }
#else
  bool canSolve(int n, const double* matrix) override {
    return detail::is_finite_dart_matrix(n, matrix);
  }
#endif

  /// Of the last solve: natural map error [-] of x under the law, linear systems solved.
  [[nodiscard]] const SolveReport<double>& report() const noexcept {
    return report_;
  }
  /// Count of calls of solve(). The next function: count of calls that returned false.
  [[nodiscard]] Index solve_count() const noexcept {
    return solve_count_;
  }
  [[nodiscard]] Index failure_count() const noexcept {
    return failure_count_;
  }
  /// The last problem, for certify(), and its impulses.
  [[nodiscard]] const DelassusProblem<double>& problem() const noexcept {
    return problem_;
  }
  [[nodiscard]] Eigen::Map<const VectorX<double>> impulse() const noexcept {
    return {impulse_.data(), impulse_.size()};
  }

  /// Count of numbers from one row of A to the next: a multiple of four, or n for a single row.
  [[nodiscard]] static constexpr int row_stride(int n) noexcept {
    return detail::dart_row_stride(n);
  }

 private:
  /// Solves with fixed bounds.
  [[nodiscard]] bool solve_once();

  DartLcpSolverOptions options_;
  InteriorPointSolver<double> newton_;
  DelassusProblem<double> problem_;
  detail::DartBlocks blocks_;
  Sequence<double> impulse_;
  SolveReport<double> report_;
  Index solve_count_ = 0, failure_count_ = 0;
};

// --- implementation ---

// NOLINTNEXTLINE(readability-function-size): the parameters are DART's
inline bool DartLcpSolver::solve(int n, double* matrix, double* x, double* b, int unbounded,
                                 double* lower, double* upper, int* findex,
                                 bool /*early_termination*/) {
  ++solve_count_;
  report_ = {};
  report_.residual_target = options_.tolerance;
  const detail::DartInput input{n, unbounded, matrix, b, lower, upper, findex};
  if (!detail::is_sound(input)) {
    std::fill(x, x + n, 0.0);
    report_.residual = report_.error_bound = std::numeric_limits<double>::infinity();
    ++failure_count_;
    return false;
  }
  blocks_.group(input, options_.cones);
  const bool follows = blocks_.follows();
  impulse_.assign(n, 0.0);
  bool solved = false, settled = !follows;
  int iterations = 0;
  for (int round = 0; round < (follows ? options_.interval_limit : 1); ++round) {
    const auto bounds = blocks_.follow(input, impulse_.data());
    settled = settled || (round > 0 && bounds.change <= options_.tolerance * bounds.largest);
    if (round > 0 && settled) break;
    blocks_.write(input, problem_);
    solved = solve_once();
    iterations += report_.iterations;
    if (!solved) break;
  }
  report_.iterations = iterations;
  if (!settled && report_.converged()) report_.status = SolveStatus::iteration_limit;
  for (int row = 0; row < n; ++row) x[row] = impulse_[blocks_.place(row)];
  if (solved && settled) return true;
  ++failure_count_;
  return false;
}

inline bool DartLcpSolver::solve_once() {
  const Eigen::Map<const VectorX<double>> impulse(impulse_.data(), impulse_.size());
  report_ = newton_.solve(problem_, std::span<double>(impulse_.begin(), impulse_.end()));
  // If no impulses obey the law, they grow until the error relative to them is small.
  const double grown = problem_.mean_diagonal() * impulse.norm();
  if (report_.residual * grown > problem_.load_norm() / 2) {
    if (report_.converged()) report_.status = SolveStatus::no_progress;
    return false;
  }
  return report_.residual <= options_.accepted;
}

}  // namespace CAROM_ABI
}  // namespace carom
