// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/search/dual_projection.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The iterate of a solver of a DelassusProblem, and the best one it has met, in parts.
template <RealScalar Scalar>
class DualIterate {
 public:
  /// Room for a problem.
  void reserve(const DelassusProblem<Scalar>& problem) {
    for (Sequence<Scalar>* numbers : {&impulse_, &velocity_, &best_}) {
      numbers->resize(3 * problem.part_count());
    }
  }

  /// Takes a first guess in rows. False when it is not finite.
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

  /// Takes a first guess in parts.
  void start_in_parts(const Scalar* parts) noexcept {
    std::copy_n(parts, impulse_.size(), impulse_.begin());
    std::copy_n(parts, impulse_.size(), best_.begin());
    best_error_ = std::numeric_limits<Scalar>::infinity();
  }

  [[nodiscard]] Scalar* impulse() noexcept { return impulse_.data(); }
  [[nodiscard]] const Scalar* impulse() const noexcept { return impulse_.data(); }
  /// u of the impulse last measured.
  [[nodiscard]] const Scalar* velocity() const noexcept { return velocity_.data(); }
  [[nodiscard]] const Scalar* best() const noexcept { return best_.data(); }
  [[nodiscard]] const Scalar& best_error() const noexcept { return best_error_; }

  /// u and the natural map error of the impulse; remembers the impulse if no other was as good.
  [[nodiscard]] Scalar measure(const DelassusProblem<Scalar>& problem, FrictionLaw law) noexcept {
    problem.write_velocities(as_span(impulse_), as_span(velocity_));
    return measure_with_velocity(problem, law);
  }
  /// The same once velocity has been written by the caller.
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

  /// Moves the best impulse into its sets, where a first guess may not have been, and measures it.
  void confine_best(const DelassusProblem<Scalar>& problem, FrictionLaw law) noexcept {
    return_to_best();
    project_all(problem, impulse_.data());
    best_error_ = std::numeric_limits<Scalar>::infinity();
    static_cast<void>(measure(problem, law));
  }

  /// Norm of the natural map last measured, in impulses times w [m/s].
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
