// SPDX-License-Identifier: BSD-3-Clause
// Nearest points of cones, and impacts in a chain of balls, printed bit by bit.
#include <carom/carom.hpp>

#include "print_bits.hpp"

namespace {

template <typename Scalar>
void print_projections() {
  Numbers numbers;
  for (int i = 0; i < 40; ++i) {
    const carom::FrictionCone<Scalar> cone{Scalar(0.5 + 0.4 * numbers.next())};
    const carom::ContactWeights<Scalar> weights{Scalar(1.5 + numbers.next()),
                                                Scalar(1.5 + numbers.next())};
    carom::Vector3<Scalar> y;
    for (int k = 0; k < 3; ++k) y(k) = Scalar(numbers.next());
    const auto nearest = project(cone, weights, y);
    print_bits("friction_cone", nearest.point);
    print_bits("derivative", projection_derivative(cone, weights, y));
    carom::EllipticCone<Scalar> ellipse;
    ellipse.friction << Scalar(0.5 + 0.4 * numbers.next()), Scalar(0.5 + 0.4 * numbers.next());
    print_bits("elliptic_cone", project(ellipse, carom::Vector3<Scalar>(1, 2, 1.5), y).point);
  }
}

void print_impacts() {
  constexpr int balls = 6;
  Numbers numbers;
  for (int i = 0; i < 10; ++i) {
    carom::VectorX<double> masses(balls), velocity(balls);
    for (int k = 0; k < balls; ++k) {
      masses(k) = 1.5 + numbers.next();
      velocity(k) = numbers.next();
    }
    const auto mass = carom::MassMatrix<double>::make_diagonal(masses);
    carom::ImpactProblem<double> problem(balls);
    for (int k = 0; k + 1 < balls; ++k) {
      carom::VectorX<double> gradient = carom::VectorX<double>::Zero(balls);
      gradient(k) = -1;
      gradient(k + 1) = 1;
      problem.add_contact(mass, gradient);
    }
    problem.prepare();
    print_bits("impact", carom::resolve_impact(problem, mass, mass.momentum(velocity)).velocity);
  }
}

}  // namespace

int main() {
  print_projections<float>();
  print_projections<double>();
  print_impacts();
}
