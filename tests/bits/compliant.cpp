// SPDX-License-Identifier: BSD-3-Clause
// Compliant contact under both laws by SapSolver, small problems and a heap, and the derivative.
#include "scenes/pile.hpp"
#include "towers.hpp"

namespace {

using carom::bits::Bits, carom::bits::Scene;

template <typename Scalar>
void take_towers(Bits& bits) {
  for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    for (const int boxes : {1, 2, 5, 20}) {
      Eigen::Matrix<Scalar, Eigen::Dynamic, 1> velocity;
      const auto problem =
          carom::bits::make_tower(boxes, carom::bits::soft_ground<Scalar>, velocity);
      carom::SapSolver<Scalar> solver({.law = law});
      take_solve(bits, solver, problem, velocity);
    }
  }
}

void take_heap(Bits& bits) {
  auto heap = carom::examples::make_pile({.body_count = 300});
  carom::SapSolver<double> solver;
  take_solve(bits, solver, heap.problem, heap.guess);
}

void take_derivative(Bits& bits) {
  Eigen::VectorXd velocity;
  const auto problem = carom::bits::make_tower(5, carom::bits::soft_ground<double>, velocity);
  carom::SapSolver<double> solver({.tolerance = 1e-12});
  take_solve(bits, solver, problem, velocity);
  carom::SapDerivative<double> derivative;
  derivative.prepare(solver);
  bits.take(int(derivative.linearize(problem, velocity).usable()));
  carom::ProblemDifferential<double> change;
  change.set_zero(problem, carom::DifferentialParts::vectors);
  change.free_velocity.setOnes();
  change.friction(0) = 1;
  Eigen::VectorXd slope(velocity.size());
  bits.take_report(derivative.push_forward(problem, change, slope));
  bits.take(slope);
}

const Scene towers("compliant_towers", take_towers<double>);
const Scene towers_float("compliant_towers_float", take_towers<float>);
const Scene heap("compliant_heap", take_heap);
const Scene derivative("compliant_derivative", take_derivative);

}  // namespace
