// SPDX-License-Identifier: BSD-3-Clause
// Which masses make the order of simultaneous impacts not matter?
//
// A small ball m between two large ones M is hit from both sides at once. With unit normals u, v of
// the two contacts the order does not matter, for any velocities, exactly when
// <u, v> = -M/(M + m) is -cos(pi/k) for a whole k: M/m = 1, 1 + sqrt 2, 2 + sqrt 5, 3 + 2 sqrt 3
// for k = 3 to 6. Newton's method finds these ratios from designs near them, and would do so for
// any model; all outcomes are enumerated for the design before and after.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/carom.hpp"

namespace {

using Vector = Eigen::VectorXd;

/// Masses M, m = 1, M and the gradients of both gaps, for the design M.
carom::DesignPoint<double> model(const Vector& design) {
  return {carom::MassMatrix<double>::make_diagonal(Eigen::Vector3d(design(0), 1, design(0))),
          Eigen::Vector3d(-1, 1, 0), Eigen::Vector3d(0, -1, 1), Vector()};
}

/// How far outcomes are apart, as a share of the momentum: the worst of some impacts.
double ambiguity(const Vector& design) {
  const auto point = model(design);
  carom::ImpactProblem<double> problem(3);
  problem.add_contact(point.mass, point.first_gradient);
  problem.add_contact(point.mass, point.second_gradient);
  problem.prepare();
  double worst = 0;
  for (int i = 0; i <= 20; ++i) {
    const Vector velocity = Eigen::Vector3d(1, i * 0.1 - 1, -1);
    const auto all = enumerate_outcomes(problem, point.mass, point.mass.momentum(velocity));
    worst = std::max(worst, all.complete ? all.indeterminacy : INFINITY);
  }
  return worst;
}

}  // namespace

int main() try {
  const double known[] = {1, 1 + std::sqrt(2), 2 + std::sqrt(5), 3 + 2 * std::sqrt(3)};
  const double starts[] = {1.2, 2.2, 4.5, 6.8};
  bool right = true;
  std::printf("M/m now  outcomes apart  k  M/m wanted  by formula  outcomes apart\n");
  for (int i = 0; i < 4; ++i) {
    Vector design = Vector::Constant(1, starts[i]);
    const double before = ambiguity(design);
    const int k = carom::nearest_unique_label(normal_product(model(design)));
    const auto report = carom::find_unique_design<double>(model, design, k);
    const double after = ambiguity(design);
    std::printf("%7.1f  %14.4f  %d  %10.6f  %10.6f  %14.0e\n", starts[i], before, k, design(0),
                known[i], after);
    right = right && report.converged() && k == i + 3 && before > 0.01 && after < 1e-12 &&
            std::abs(design(0) - known[i]) < 1e-12 * known[i];
  }
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
