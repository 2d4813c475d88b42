// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/detail/average_forces.hpp"

#include "cli/quadratic_program.hpp"

namespace carom::cli {

/// The slip law of the source's document, a quadratic program: the least velocities w of the
/// anchors, ‖w‖², for which the forces are in the inner pyramid,
///
///   min wᵀw  over  λ_avg + G w in { λₙ ≥ 0, |λ_t1|, |λ_t2| ≤ (μ/√2) λₙ }.
///
/// It is not Coulomb's law: its anchors also move along the normal, so that a pushed body climbs.
/// It is here because an experiment shows this. The library does not use it.
/// @cite  hammoud2022exponential, eq. (55)–(72); (57), λₙ ≥ 0, is a consequence of (62), (63) and
///        is included.
template <RealScalar Scalar>
class DocumentProgram {
 public:
  static constexpr Index rows_per_contact = 5;

  /// Sets the count n of contacts.
  void prepare(Index contact_count) {
    problem_.resize(3 * contact_count, 0, rows_per_contact * contact_count);
    program_.prepare(3 * contact_count, 0, rows_per_contact * contact_count);
    force_.grow(3 * contact_count);
    velocity_.grow(3 * contact_count);
  }

  /// @param gain  G or the document's column, 3n×3n, symmetric or not [N·s/m].
  /// @param average  λ_avg, 3n [N].
  /// @param friction  μ, n [-], ≥ 0.
  template <typename Matrix, typename Vector>
  QuadraticStatus solve(const Matrix& gain, const Vector& average, const Vector& friction) {
    using std::sqrt;
    const Index n = friction.size(), rows = 3 * n;
    CAROM_EXPECTS(force_.size() == rows && average.size() == rows);
    problem_.hessian.setIdentity();
    problem_.hessian *= Scalar(2);
    problem_.gradient.setZero();
    for (Index i = 0; i < n; ++i) {
      const Scalar mu = friction(i) * sqrt(Scalar(0.5));
      const auto set = [&](Index row, Scalar t1, Scalar t2, Scalar normal) {
        const Index at = rows_per_contact * i + row;
        problem_.inequality_normals.col(at) =
            (t1 * gain.row(3 * i) + t2 * gain.row(3 * i + 1) + normal * gain.row(3 * i + 2))
                .transpose();
        problem_.inequality_offsets(at) =
            t1 * average(3 * i) + t2 * average(3 * i + 1) + normal * average(3 * i + 2);
      };
      set(0, Scalar(0), Scalar(0), Scalar(1));
      set(1, Scalar(1), Scalar(0), mu);
      set(2, Scalar(-1), Scalar(0), mu);
      set(3, Scalar(0), Scalar(1), mu);
      set(4, Scalar(0), Scalar(-1), mu);
    }
    const QuadraticStatus status = program_.solve(problem_, velocity_);
    force_ = average;
    force_.noalias() += gain * velocity_;
    return status;
  }

  [[nodiscard]] const QuadraticProblem<Scalar>& problem() const noexcept { return problem_; }
  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return force_; }
  /// w [m/s]
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }

 private:
  QuadraticProblem<Scalar> problem_;
  QuadraticProgram<Scalar> program_;
  Growing<VectorX<Scalar>> force_, velocity_;
};

/// The column that the document prints for a moving anchor, G − (t/2) ∂λ_avg/∂y, 3n×3n [N·s/m]. It
/// is an error: docs/derivations/errata.md proves that G alone is correct. The derivative is
/// computed column by column from the averages, which are linear in y.
/// @pre  forces.set() returned true.
/// @return  false if a number is not finite.
[[nodiscard]] inline bool write_printed_column(AverageForces<double>& forces,
                                               MatrixX<double>& column) {
  const Index n = forces.rows();
  column.resize(n, n);
  bool finite = forces.write_gain(column);
  const VectorX<double> zero = VectorX<double>::Zero(n);
  VectorX<double> average(n), average2(n);
  for (Index j = 0; j < n; ++j) {
    const VectorX<double> unit = VectorX<double>::Unit(n, j);
    finite = finite && forces.evaluate(unit, zero, zero, average, average2);
    column.col(j) -= forces.time_step() / 2 * average;
  }
  return finite;
}

}  // namespace carom::cli
