// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/detail/step_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Friction of contacts with known normal impulses, by maximal dissipation: the impulses that
/// reduce the energy of a slip most,
///
///   min ½ βᵀW β + uᵀβ  over  ‖β_i‖ ≤ μ_i γ_i.
///
/// Each contact sticks (slip u_i + (W β)_i = 0) or slides with β_i opposite to its slip.
///
/// The method is block Gauss-Seidel: each contact in turn is solved with the others fixed. One
/// contact is a projection onto its friction cone in a metric that fixes the normal impulse; the
/// result is in the section of the cone at γ_i. The iteration ends when the impulses change by
/// rounding only, or at the sweep limit.
/// @cite  moreau1988unilateral
template <RealScalar Scalar>
class SlidingProblem {
 public:
  static constexpr int sweep_limit = 1000;

  MatrixX<Scalar> response;  ///< W, 2k×2k [1/kg]; the second row of a planar contact is zero.
  VectorX<Scalar> slip;      ///< u without friction, (t₁, t₂) per contact [m/s].
  VectorX<Scalar> normal;    ///< γ_i [N·s]; a negative one counts as zero.
  VectorX<Scalar> friction;  ///< μ_i [-], ≥ 0.
  VectorX<Scalar> impulse;   ///< β [N·s]; in: start, out: result.

  /// Allocates memory for up to `count` contacts. Cold.
  void prepare(Index count) {
    response.setZero(2 * count, 2 * count);
    slip.setZero(2 * count);
    impulse.setZero(2 * count);
    normal.setZero(count);
    friction.setZero(count);
  }

  /// Solves for the first `count` contacts.
  /// @return  residual: largest change of an impulse in the last sweep [N·s].
  /// @note  Real-time safe: no allocation, no exception, at most sweep_limit × (2·count)²
  ///        multiply-adds.
  SolveReport<Scalar> solve(Index count) noexcept {
    CAROM_EXPECTS(count <= normal.size());
    using std::abs;
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    report.status = SolveStatus::iteration_limit;
    while (report.iterations < sweep_limit) {
      Scalar largest = 0;
      report.residual = 0;
      for (Index i = 0; i < count; ++i) {
        report.residual = (std::max)(report.residual, relax(i, count));
        largest =
            (std::max)({largest, Scalar(abs(impulse(2 * i))), Scalar(abs(impulse(2 * i + 1)))});
      }
      ++report.iterations;
      report.residual_target = 2 * std::numeric_limits<Scalar>::epsilon() * largest;
      if (!(report.residual <= report.residual_target)) continue;
      report.status = SolveStatus::converged;
      break;
    }
    return report;
  }

 private:
  /// Solves one contact with the others fixed. Returns the change of its impulse.
  Scalar relax(Index i, Index count) noexcept {
    using std::abs, std::sqrt;
    const Index t = 2 * i;
    const Scalar a = response(t, t), b = response(t, t + 1), d = response(t + 1, t + 1);
    const Scalar stiffest = (a + d) / 2 + sqrt((a - d) * (a - d) / 4 + b * b);
    if (!(stiffest > Scalar(0)) || !(normal(i) > Scalar(0))) {
      impulse(t) = impulse(t + 1) = 0;
      return Scalar(0);
    }
    Vector3<Scalar> wanted(impulse(t), impulse(t + 1), normal(i));
    for (Index r = 0; r < 2; ++r) {
      Scalar speed = slip(t + r);
      for (Index c = 0; c < 2 * count; ++c) speed += response(t + r, c) * impulse(c);
      wanted(r) -= speed / stiffest;
    }
    constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
    const ContactWeights<Scalar> held{Scalar(1), 1 / (rounding * rounding)};
    const FrictionCone<Scalar> cone{friction(i)};
    const Vector3<Scalar> point = project(cone, held, wanted).point;
    const Scalar moved =
        (std::max)(Scalar(abs(point(0) - impulse(t))), Scalar(abs(point(1) - impulse(t + 1))));
    impulse(t) = point(0);
    impulse(t + 1) = point(1);
    return moved;
  }
};

/// Friction in constrained contacts. As the normal impulses, it acts half at the start of a flight
/// and half at its end. It is exact while the forces and the direction of the slip are constant,
/// and of order 1 where the direction of the slip changes.
///
///   p₀ + Tᵀβ + left + Cᵀλ = 0 with β against the slip T(q₁ − q₀)/h,  ‖β_i‖ ≤ μ_i λ_i,
///   p₁ = right + Cᵀν + Tᵀβ'   with β' against the slip T v₁,         ‖β'_i‖ ≤ μ_i ν_i.
///
/// A sticking contact does not creep, because the first line keeps its displacement at zero.
template <FrictionalSystemLike System>
class HeldFriction {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;

  /// Largest count of rounds until normal and friction impulses converge. It bounds the work. Each
  /// round reduces the error by a factor, which is near one if friction and normals are strongly
  /// coupled.
  static constexpr int round_limit = 50;

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size();
    problem_.prepare(system.gap_count());
    tangents_.setZero(2 * system.gap_count(), n);
    two_.setZero(2, n);
    responses_.setZero(n, 2 * system.gap_count());
    for (VectorX<Scalar>* v : {&work_, &force_, &change_}) v->setZero(n);
  }

  /// Force equivalent to the friction of this flight, Tᵀβ/span [N, N·m].
  [[nodiscard]] const VectorX<Scalar>& force() const noexcept { return force_; }

  /// Normal impulses of the last solve or finish, in the order of the constrained contacts [N·s].
  [[nodiscard]] const VectorX<Scalar>& normals() const noexcept { return problem_.normal; }

  /// Starts a flight. The friction is zero at first.
  void start(const StepSolver<System>& solver) noexcept {
    count_ = Index(solver.held().size());
    problem_.impulse.setZero();
    force_.setZero();
    moved_ = (std::numeric_limits<Scalar>::max)();
  }

  /// After a solve of the flight: computes the friction from its normal impulses and its slip.
  /// @param rubbed  start of the flight; written: its momentum, which is that of the state with
  ///                friction.
  /// @return  false if the friction has converged; the solve is then valid.
  [[nodiscard]] bool rub(const System& system, StepSolver<System>& solver, const State& state,
                         const Scalar& span, State& rubbed) noexcept;

  /// At the end of a flight: applies friction to the momentum against the slip.
  /// @param legendre  has just constrained the momentum.
  /// @param rows      the rows of that call: gradients of constraints and constrained contacts.
  void finish(const System& system, const StepSolver<System>& solver,
              const LegendreMap<System>& legendre, const MatrixX<Scalar>& rows, State& state,
              VectorX<Scalar>& velocity) noexcept;

 private:
  /// The friction has converged if a round changes it by less than this count of roundings [ε].
  /// With fewer, the rounds would iterate on the rounding of its sums.
  static constexpr int settled_roundings = 16;

  void write_tangents(const System& system, const StepSolver<System>& solver,
                      const VectorX<Scalar>& q) noexcept {
    for (Index k = 0; k < count_; ++k) {
      const Index contact = solver.held()[std::size_t(k)];
      system.write_tangents(q, contact, two_);
      for (Index j = 0; j < q.size(); ++j) {
        tangents_(2 * k, j) = two_(0, j);
        tangents_(2 * k + 1, j) = two_(1, j);
      }
      problem_.friction(k) = system.friction(contact);
    }
  }
  /// A row of the tangents times a vector.
  [[nodiscard]] Scalar along(Index row, const Scalar* x) const noexcept {
    Scalar sum = 0;
    for (Index j = 0; j < tangents_.cols(); ++j) sum += tangents_(row, j) * x[j];
    return sum;
  }
  /// Writes W = T (responses), and the slip without the effect of the current friction.
  void write_response() noexcept {
    for (Index c = 0; c < 2 * count_; ++c) {
      for (Index r = 0; r < 2 * count_; ++r) {
        problem_.response(r, c) = along(r, responses_.col(c).data());
        problem_.slip(r) -= problem_.response(r, c) * problem_.impulse(c);
      }
    }
  }
  /// Tᵀβ.
  void write_push(VectorX<Scalar>& out) const noexcept {
    out.setZero();
    for (Index r = 0; r < 2 * count_; ++r) {
      for (Index j = 0; j < out.size(); ++j) out(j) += tangents_(r, j) * problem_.impulse(r);
    }
  }
  /// Solves. Returns true while the change of the momentum, change_, is larger than rounding. The
  /// slip is a difference of configurations, and its own rounding may be larger. The rounds
  /// therefore also end when their changes stop decreasing.
  [[nodiscard]] bool solve() noexcept {
    using std::abs, std::sqrt;
    constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
    write_push(work_);
    static_cast<void>(problem_.solve(count_));
    write_push(change_);
    Scalar moved = 0, largest = 0;
    for (Index j = 0; j < work_.size(); ++j) {
      moved = (std::max)(moved, Scalar(abs(change_(j) - work_(j))));
      largest = (std::max)(largest, Scalar(abs(change_(j))));
    }
    const bool closer = moved < moved_ || moved > sqrt(rounding) * largest;
    moved_ = moved;
    return closer && moved > settled_roundings * rounding * largest;
  }

  SlidingProblem<Scalar> problem_;
  MatrixX<Scalar> tangents_, two_, responses_;
  VectorX<Scalar> work_, force_, change_;
  Scalar moved_ = 0;  ///< change in the last solve
  Index count_ = 0;
};

namespace detail {

struct NoFriction {};

/// The friction of a system's contacts, if there is any.
template <typename System>
struct FrictionOf {
  using type = NoFriction;
};
template <FrictionalSystemLike System>
struct FrictionOf<System> {
  using type = HeldFriction<System>;
};

}  // namespace detail

// --- implementation ---

template <FrictionalSystemLike System>
bool HeldFriction<System>::rub(const System& system, StepSolver<System>& solver, const State& state,
                               const Scalar& span, State& rubbed) noexcept {
  if (Index(solver.held().size()) != count_) {  // some contacts were released: start again
    start(solver);
    rubbed.momentum = state.momentum;
    return true;
  }
  if (count_ == 0) return false;
  write_tangents(system, solver, state.q);
  const Index offset = solver.rows(system) - count_;
  for (Index k = 0; k < count_; ++k) problem_.normal(k) = solver.multipliers()(offset + k);
  for (Index j = 0; j < work_.size(); ++j) work_(j) = (solver.q_next()(j) - state.q(j)) / span;
  for (Index r = 0; r < 2 * count_; ++r) problem_.slip(r) = along(r, work_.data());
  for (Index r = 0; r < 2 * count_; ++r) {
    for (Index j = 0; j < work_.size(); ++j) work_(j) = tangents_(r, j);
    solver.write_response(work_);
    for (Index j = 0; j < work_.size(); ++j) responses_(j, r) = work_(j) / span;
  }
  write_response();
  if (!solve()) return false;
  for (Index j = 0; j < work_.size(); ++j) {
    force_(j) = change_(j) / span;
    rubbed.momentum(j) = state.momentum(j) + change_(j);
  }
  return true;
}

template <FrictionalSystemLike System>
void HeldFriction<System>::finish(const System& system, const StepSolver<System>& solver,
                                  const LegendreMap<System>& legendre, const MatrixX<Scalar>& rows,
                                  State& state, VectorX<Scalar>& velocity) noexcept {
  start(solver);
  if (count_ == 0) return;
  const ConstrainedMass<Scalar>& mass = legendre.factored_mass();
  const Index row_count = solver.rows(system), offset = row_count - count_, n = velocity.size();
  CAROM_EXPECTS(mass.rows() == row_count);
  write_tangents(system, solver, state.q);
  for (Index r = 0; r < 2 * count_; ++r) {
    problem_.slip(r) = along(r, velocity.data());
    for (Index j = 0; j < n; ++j) work_(j) = tangents_(r, j);
    mass.apply_inverse(work_);
    for (Index j = 0; j < n; ++j) responses_(j, r) = work_(j);
  }
  write_response();
  for (Index k = 0; k < count_; ++k) problem_.normal(k) = legendre.multiplier(offset + k);
  bool moving = true;
  for (int round = 0; round < round_limit && moving; ++round) {
    moving = solve();
    force_ = change_;
    mass.apply_inverse(force_);  // the change of velocity, and the contribution of the normals
    for (Index k = 0; k < count_; ++k) {
      problem_.normal(k) = legendre.multiplier(offset + k) - mass.multiplier(offset + k);
    }
  }
  velocity += force_;
  state.momentum += change_;
  for (Index r = 0; r < row_count; ++r) {
    for (Index j = 0; j < n; ++j) state.momentum(j) -= mass.multiplier(r) * rows(r, j);
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
