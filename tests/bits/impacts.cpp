// SPDX-License-Identifier: BSD-3-Clause
// Simultaneous impacts: chains of balls with one outcome and with all, contacts with friction, and
// the designs of two contacts whose outcome is unique.
#include <carom/carom.hpp>

#include "bits.hpp"

namespace {

using carom::bits::Bits, carom::bits::Numbers, carom::bits::Scene;

/// Balls in a row, each touching the next.
struct Chain {
  Chain(Eigen::Index balls, Numbers& numbers)
      : mass(carom::MassMatrix<double>::make_diagonal(
            Eigen::VectorXd(numbers.vector(balls).array() + 1.5))),
        problem(balls),
        velocity(numbers.vector(balls)) {
    for (Eigen::Index k = 0; k + 1 < balls; ++k) {
      Eigen::VectorXd gradient = Eigen::VectorXd::Zero(balls);
      gradient(k) = -1;
      gradient(k + 1) = 1;
      problem.add_contact(mass, gradient);
    }
    problem.prepare();
  }
  carom::MassMatrix<double> mass;
  carom::ImpactProblem<double> problem;
  Eigen::VectorXd velocity;
};

void take_chains(Bits& bits) {
  Numbers numbers;
  for (int i = 0; i < 10; ++i) {
    const Chain chain(6, numbers);
    bits.take(
        resolve_impact(chain.problem, chain.mass, chain.mass.momentum(chain.velocity)).velocity);
  }
}

void take_outcomes(Bits& bits) {
  Numbers numbers;
  for (int i = 0; i < 5; ++i) {
    const Chain chain(4, numbers);
    const auto all =
        carom::enumerate_outcomes(chain.problem, chain.mass, chain.mass.momentum(chain.velocity));
    bits.take(all.outcomes.size());
    for (const auto& outcome : all.outcomes) bits.take(outcome.momentum);
  }
}

void take_friction(Bits& bits) {
  Numbers numbers;
  for (int i = 0; i < 20; ++i) {
    const Eigen::VectorXd inertia = numbers.vector(6).array() + 1.5;
    const auto mass = carom::MassMatrix<double>::make_diagonal(inertia);
    carom::FrictionImpact<double> planar, spatial(carom::FrictionImpactLaw::moreau);
    for (int contact = 0; contact < 2; ++contact) {
      const Eigen::VectorXd normal = numbers.vector(6), tangent = numbers.vector(6),
                            other = numbers.vector(6);
      planar.add_contact(mass, normal, tangent, 0.4, 0.5);
      spatial.add_contact(mass, normal, tangent, other, 0.4, 0.5);
    }
    for (carom::FrictionImpact<double>* impact : {&planar, &spatial}) {
      Eigen::VectorXd momentum = numbers.vector(6);
      const auto report = impact->resolve(momentum);
      bits.take(report.reflections);
      bits.take(momentum);
    }
  }
}

const Scene chains("impact_chains", take_chains);
const Scene outcomes("impact_outcomes", take_outcomes);
const Scene friction("impact_friction", take_friction);

}  // namespace
