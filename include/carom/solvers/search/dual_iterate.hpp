// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/impulse_certificate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// De Saxcé's term, which a solver fixes for some steps.
struct HeldLiftTuning {
  /// The term is updated if the remaining error of the problem with the last one is at most this
  /// share. With much less, fixed problems are solved more accurately than necessary. With much
  /// more, the term oscillates.
  static constexpr double held_error = 0.6;
};

/// Writes numbers of a contact's rows to parts.
template <RealScalar Scalar>
void scatter_rows(const DelassusProblem<Scalar>& problem, Index contact,
                  const RowNumbers<Scalar>& rows, Scalar* parts) noexcept {
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    const auto [part, row] = problem.place_of(contact, r);
    parts[3 * part + row] = rows(r);
  }
}

/// Nearest impulses of all contacts in the metric of one weight per contact, in place.
template <RealScalar Scalar>
void project_all(const DelassusProblem<Scalar>& problem, Scalar* parts) noexcept {
  for (Index i = 0; i < problem.count(); ++i) {
    const ImpulseSet<Scalar>& set = problem.set(i);
    if (set.shape == ImpulseShape::friction) {
      Scalar* const y = parts + 3 * problem.first_part(i);
      const Vector3<Scalar> moved{y[0] + set.shift(0), y[1] + set.shift(1), y[2] + set.shift(2)};
      const auto nearest = project(FrictionCone<Scalar>{set.friction.x()}, moved).point;
      write_difference(nearest.data(), set.shift.data(), 3, y);
      continue;
    }
    const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
    scatter_rows(problem, i, nearest_impulse(set, ones, gather_rows(problem, i, parts)), parts);
  }
}

/// De Saxcé's term of a contact, from velocities in parts.
template <RealScalar Scalar>
[[nodiscard]] Scalar de_saxce_lift(const DelassusProblem<Scalar>& problem, Index contact,
                                   const Scalar* velocity) noexcept {
  const ImpulseSet<Scalar>& set = problem.set(contact);
  if (set.shape == ImpulseShape::friction) {
    const Scalar* const u = velocity + 3 * problem.first_part(contact);
    return carom::de_saxce_lift(FrictionCone<Scalar>{set.friction.x()},
                                Vector3<Scalar>(u[0], u[1], u[2]));
  }
  return carom::de_saxce_lift(set, gather_rows(problem, contact, velocity));
}

/// Place of a contact's normal row in numbers in parts; for rows between bounds, of its first row.
template <RealScalar Scalar>
[[nodiscard]] Index normal_place(const DelassusProblem<Scalar>& problem, Index contact) noexcept {
  const bool bounds = problem.set(contact).shape == ImpulseShape::intervals;
  return 3 * problem.first_part(contact) + (bounds ? 0 : 2);
}

/// ‖r − P(r − u − lift n)‖ in impulses times w: the natural map of the convex problem with a fixed
/// De Saxcé term.
template <RealScalar Scalar>
[[nodiscard]] Scalar held_natural_map(const DelassusProblem<Scalar>& problem, const Scalar* impulse,
                                      const Scalar* velocity, const Scalar* lift) noexcept {
  using std::sqrt;
  const Scalar w = problem.inverse_mass_scale();
  Scalar sum(0);
  for (Index i = 0; i < problem.count(); ++i) {
    RowNumbers<Scalar> u = gather_rows(problem, i, velocity);
    if (const int n = normal_row(problem.set(i).shape); n >= 0) u(n) += lift[i];
    sum += natural_map_squared(FrictionLaw::convex, problem.set(i),
                               gather_rows(problem, i, impulse), u, w);
  }
  return sqrt(sum);
}

/// Mean of W + R over the diagonal of each contact's rows, copied to its parts: a metric in which
/// the projection needs no additional work. It is positive everywhere.
template <RealScalar Scalar>
void write_contact_weights(const DelassusProblem<Scalar>& problem, Scalar* weights) noexcept {
  const Scalar mean = problem.inverse_mass_scale();
  // The lower bound, a share of the mean, makes steps finite if a contact's own W + R is nearly
  // zero. Other shares were not measured.
  constexpr double least_share = 1e-3;
  const Scalar least = mean * Scalar(least_share);
  for (Index i = 0; i < problem.count(); ++i) {
    Scalar trace(0);
    const Index first = problem.first_part(i);
    for (int p = 0; p < problem.parts(i); ++p) {
      const auto& diagonal = problem.diagonal(first + p);
      for (int k = 0; k < 3; ++k) trace += diagonal(k, k);
    }
    const Scalar own = trace / Scalar(problem.set(i).rows);
    const Scalar weight = own > least ? own : least;
    for (int k = 0; k < 3 * problem.parts(i); ++k) weights[3 * first + k] = weight;
  }
}

/// The iterate of a solver of a DelassusProblem, and its best iterate, in parts.
template <RealScalar Scalar>
class DualIterate {
 public:
  /// Reserves memory for a problem.
  void reserve(const DelassusProblem<Scalar>& problem) {
    for (Sequence<Scalar>* numbers : {&impulse_, &velocity_, &best_}) {
      numbers->resize(3 * problem.part_count());
    }
  }

  /// Stores a first guess in rows. Returns false if it is not finite.
  template <typename Rows>
  [[nodiscard]] bool start(const DelassusProblem<Scalar>& problem, const Rows& rows) noexcept {
    std::fill(impulse_.begin(), impulse_.end(), Scalar(0));
    best_error_ = std::numeric_limits<Scalar>::infinity();
    if (!all_finite(rows.data(), rows.size())) return false;
    problem.for_each_row(
        [&](Index row, const auto& place) { impulse_[3 * place.part + place.row] = rows(row); });
    std::copy(impulse_.begin(), impulse_.end(), best_.begin());
    return true;
  }

  /// Stores a first guess in parts.
  void start_in_parts(const Scalar* parts) noexcept {
    std::copy_n(parts, impulse_.size(), impulse_.begin());
    std::copy_n(parts, impulse_.size(), best_.begin());
    best_error_ = std::numeric_limits<Scalar>::infinity();
  }

  [[nodiscard]] Scalar* impulse() noexcept { return impulse_.data(); }
  [[nodiscard]] const Scalar* impulse() const noexcept { return impulse_.data(); }
  /// u of the last measured impulse.
  [[nodiscard]] const Scalar* velocity() const noexcept { return velocity_.data(); }
  [[nodiscard]] const Scalar* best() const noexcept { return best_.data(); }
  [[nodiscard]] const Scalar& best_error() const noexcept { return best_error_; }

  /// Computes u and the natural map error of the impulse; stores the impulse if it is the best.
  [[nodiscard]] Scalar measure(const DelassusProblem<Scalar>& problem, FrictionLaw law) noexcept {
    problem.write_velocities(as_span(impulse_), as_span(velocity_));
    return measure_with_velocity(problem, law);
  }
  /// The same after the caller has written the velocity.
  [[nodiscard]] Scalar measure_with_velocity(const DelassusProblem<Scalar>& problem,
                                             FrictionLaw law) noexcept {
    const NaturalMap<Scalar> map = natural_map(problem, law, impulse(), velocity());
    const Scalar error = map.relative, load = problem.load_norm();
    map_norm_ = load > Scalar(0) ? map.absolute * load : map.absolute;
    if (error < best_error_) {
      best_error_ = error;
      std::copy(impulse_.begin(), impulse_.end(), best_.begin());
    }
    return error;
  }
  void return_to_best() noexcept { std::copy(best_.begin(), best_.end(), impulse_.begin()); }

  /// Moves the best impulse into its sets (a first guess may be outside), and measures it.
  void confine_best(const DelassusProblem<Scalar>& problem, FrictionLaw law) noexcept {
    return_to_best();
    project_all(problem, impulse_.data());
    best_error_ = std::numeric_limits<Scalar>::infinity();
    static_cast<void>(measure(problem, law));
  }

  /// Norm of the last measured natural map, in impulses times w [m/s].
  [[nodiscard]] const Scalar& map_norm() const noexcept { return map_norm_; }

  /// Writes the best iterate and returns the report on it.
  template <typename Rows>
  SolveReport<Scalar> finish(const DelassusProblem<Scalar>& problem, SolveStatus status,
                             int iterations, const Scalar& tolerance, Rows& rows) const noexcept {
    SolveReport<Scalar> report;
    report.measure = ResidualMeasure::natural_map;
    report.status = best_error_ <= tolerance ? SolveStatus::converged : status;
    report.iterations = iterations;
    report.residual = best_error_;
    report.residual_target = tolerance;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    if (!is_finite(best_error_)) return report;
    problem.for_each_row(
        [&](Index row, const auto& place) { rows(row) = best_[3 * place.part + place.row]; });
    return report;
  }

 private:
  Sequence<Scalar> impulse_, velocity_, best_;
  Scalar best_error_ = 0, map_norm_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
