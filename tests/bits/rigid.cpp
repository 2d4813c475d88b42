// SPDX-License-Identifier: BSD-3-Clause
// Rigid contact under both laws by ContactSolver, with the certificate of an answer.
#include "scenes/pile.hpp"
#include "towers.hpp"

namespace {

using carom::bits::Bits, carom::bits::Scene;

void take_towers(Bits& bits) {
  for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    for (const int boxes : {1, 2, 5, 20}) {
      Eigen::VectorXd velocity;
      const auto problem =
          carom::bits::make_tower(boxes, carom::bits::hard_ground<double>, velocity);
      carom::ContactSolver<double> solver({.law = law});
      take_solve(bits, solver, problem, velocity);
    }
  }
}

void take_certificate(Bits& bits) {
  Eigen::VectorXd velocity;
  const auto problem = carom::bits::make_tower(3, carom::bits::hard_ground<double>, velocity);
  carom::ContactSolver<double> solver;
  take_solve(bits, solver, problem, velocity);
  auto certificate = certify(problem, velocity, solver.impulse());
  for (const double* measure : carom::detail::measures_of(certificate)) bits.take(*measure);
}

const Scene towers("rigid_towers", take_towers);
const Scene certificate("rigid_certificate", take_certificate);

}  // namespace
