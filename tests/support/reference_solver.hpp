// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "carom/cones/coulomb_contact.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/contact/dual.hpp"
#include "carom/solvers/impulse_certificate.hpp"

namespace carom::testing {

/// Rigid contact under Coulomb's law by sweeps over the contacts, each solved exactly with the
/// others held: simple, slow, for small problems of contacts and of rows between bounds.
struct ReferenceSolver {
  double tolerance = 1e-14;  ///< natural map error to stop at
  int sweep_limit = 20000;
  double error = 0;  ///< reached
  int sweeps = 0;    ///< made

  void operator()(const ContactProblem<double>& problem, VectorX<double>& velocity,
                  VectorX<double>& impulse) {
    DelassusForm<double> form;
    DelassusProblem<double> dual;
    form.write(problem, dual);
    VectorX<double> gamma, u(3 * dual.part_count());
    if (impulse.size() != dual.row_count()) impulse = VectorX<double>::Zero(dual.row_count());
    dual.write_parts(impulse, gamma);
    std::vector<CoulombInverseMass<double>> own;
    for (Index p = 0; p < dual.part_count(); ++p) {
      own.emplace_back(SquareMatrix<double, 3>(dual.diagonal(p)));
    }
    for (sweeps = 0; sweeps < sweep_limit; ++sweeps) {
      if (sweeps % 10 == 0 && (error = measure(dual, gamma, u)) <= tolerance) break;
      for (Index p = 0; p < dual.part_count(); ++p) relax(dual, p, own[std::size_t(p)], gamma);
    }
    error = measure(dual, gamma, u);
    dual.write_rows(gamma, impulse);
    write_velocity(problem, impulse, velocity);
  }

 private:
  static double measure(const DelassusProblem<double>& dual, const VectorX<double>& gamma,
                        VectorX<double>& u) {
    for (Index p = 0; p < dual.part_count(); ++p) {
      u.segment<3>(3 * p) = dual.part_velocity(p, carom::as_span(gamma));
    }
    return detail::natural_map(dual, FrictionLaw::coulomb, gamma.data(), u.data()).relative;
  }
  static void relax(const DelassusProblem<double>& dual, Index part,
                    const CoulombInverseMass<double>& own, VectorX<double>& gamma) {
    const ImpulseSet<double>& set = dual.set(dual.part_contact(part));
    const Vector3<double> now = gamma.segment<3>(3 * part);
    const Vector3<double> u = dual.part_velocity(part, carom::as_span(gamma));
    if (set.shape == ImpulseShape::friction) {
      const Vector3<double> free = u - dual.diagonal(part) * now;
      gamma.segment<3>(3 * part) = own.solve(free, set.friction(0)).impulse;
      return;
    }
    for (int r = 0; r < set.rows; ++r) {  // rows of one part, between bounds
      const double step =
          dual.part_velocity(part, carom::as_span(gamma))(r) / dual.diagonal(part)(r, r);
      gamma(3 * part + r) = std::clamp(gamma(3 * part + r) - step, set.lower(r), set.upper(r));
    }
  }
};

}  // namespace carom::testing
