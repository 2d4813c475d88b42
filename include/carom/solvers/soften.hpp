// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/search/judged_rounds.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The answer to a problem whose rigid blocks were made as soft as necessary.
template <RealScalar Scalar>
struct SoftenedAnswer {
  Scalar regularization = 0;   ///< R of each rigid block [1/kg]; zero if none was sufficient.
  VectorX<Scalar> velocity;    ///< v [m/s, rad/s], n_v.
  VectorX<Scalar> impulse;     ///< γ [N·s], stacked block by block.
  SolveReport<Scalar> report;  ///< Of the softened problem; iterations: the sum over all attempts.
};

namespace detail {

/// The largest impulse that the motion of one body requires along one block: (|J v*| + |v̂|)/w of a
/// row, where w is the row's inverse mass by this body only [N·s].
template <RealScalar Scalar>
[[nodiscard]] Scalar largest_demand(const ContactProblem<Scalar>& problem) noexcept {
  using std::abs;
  Scalar largest(0);
  problem.for_each_block([&](const auto& block) {
    for (int s = 0; s < block.side_count(); ++s) {
      const auto columns = block.columns(s), whitened = block.whitened_columns(s);
      const auto [start, size] = block.side(s).range;
      for (int row = 0; row < block.rows(); ++row) {
        const Scalar inverse_mass = whitened.col(row).squaredNorm();
        if (!(inverse_mass > Scalar(0))) continue;
        const Scalar moves =
            abs(columns.col(row).dot(problem.free_velocity().segment(start, size)));
        largest =
            (std::max)(largest, Scalar((moves + abs(block.bias_velocity()(row))) / inverse_mass));
      }
    }
  });
  return largest;
}

}  // namespace detail

/// Sets the least R, up to a factor of ten, of the rigid blocks of a problem without an answer such
/// that it has an answer whose impulses are at most a thousand times the largest impulse that the
/// motion of a body requires.
///
/// An answer exists for any R > 0, but its impulses grow as 1/R. R therefore starts at 10⁻¹⁰ of the
/// mean diagonal of W and grows tenfold until InteriorPointSolver converges to impulses of this
/// size, at most fifteen times.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] SoftenedAnswer<Scalar> soften(const ContactProblem<Scalar>& problem,
                                            const InteriorPointOptions<Scalar>& options = {}) {
  using Tuning = detail::ContactSolverTuning;
  ContactProblem<Scalar> soft = problem;
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write_matrix_free(problem, dual);
  InteriorPointSolver<Scalar> solver(options);
  SoftenedAnswer<Scalar> answer;
  if (!dual.is_finite()) {
    answer.velocity = problem.free_velocity();
    answer.impulse = VectorX<Scalar>::Zero(problem.impulse_count());
    answer.report = detail::JudgedRounds<Scalar>(options.law, options.tolerance, 0).refuse();
    return answer;
  }
  Scalar r = Scalar(Tuning::least_softening) * dual.mean_diagonal();
  int iterations = 0;
  const Scalar most = Scalar(Tuning::softened_impulse) * detail::largest_demand(problem);
  for (int k = 0; k < Tuning::softenings && answer.regularization == Scalar(0);
       ++k, r *= Scalar(Tuning::softening_rise)) {
    for (Index i = 0; i < problem.block_count(); ++i) {
      if (!problem.is_rigid(i)) continue;
      WeightedBlock<Scalar> law = problem.law(i);
      law.rigid = false;
      law.regularization.setConstant(r);
      soft.set_law(i, law);
    }
    answer.report = solver.solve(soft, answer.velocity);
    iterations += answer.report.iterations;
    const Scalar largest = solver.impulse().template lpNorm<Eigen::Infinity>();
    if (answer.report.converged() && largest <= most) answer.regularization = r;
  }
  answer.impulse = solver.impulse();
  answer.report.iterations = iterations;
  return answer;
}

}  // namespace CAROM_ABI
}  // namespace carom
