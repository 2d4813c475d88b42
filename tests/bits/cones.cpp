// SPDX-License-Identifier: BSD-3-Clause
// Nearest points of cones, with derivatives, in double and in float, and at the ends of the range.
#include <carom/carom.hpp>
#include <cmath>

#include "bits.hpp"

namespace {

template <typename Scalar>
void take_cones(carom::bits::Bits& bits) {
  carom::bits::Numbers numbers;
  const auto next = [&] { return Scalar(numbers.next()); };
  for (int i = 0; i < 60; ++i) {
    const Scalar friction = Scalar(0.5) + Scalar(0.4) * next();
    const carom::ContactWeights<Scalar> weights{Scalar(1.5) + next(), Scalar(1.5) + next()};
    carom::Vector3<Scalar> y;
    for (Scalar& number : y) number = next();
    const carom::FrictionCone<Scalar> cone{friction};
    bits.take(project(cone, weights, y).point);
    bits.take(projection_derivative(cone, weights, y));
    carom::EllipticCone<Scalar> ellipse;
    ellipse.friction << friction, Scalar(0.5) + Scalar(0.4) * next();
    bits.take(project(ellipse, carom::Vector3<Scalar>(1, 2, Scalar(1.5)), y).point);
  }
}

/// Numbers whose squares leave the range of double, which are computed in a wider type.
void take_extremes(carom::bits::Bits& bits) {
  carom::bits::Numbers numbers;
  const auto sized = [&](double number) { return std::ldexp(number, int(900 * numbers.next())); };
  for (int i = 0; i < 60; ++i) {
    const double friction = sized(0.75);
    const carom::ContactWeights<double> weights{sized(1.5), sized(1.5)};
    carom::Vector3<double> y;
    for (double& number : y) number = sized(numbers.next());
    const carom::FrictionCone<double> cone{friction};
    bits.take(project(cone, weights, y).point);
    bits.take(projection_derivative(cone, weights, y));
    carom::EllipticCone<double> ellipse;
    ellipse.friction << friction, sized(0.5);
    bits.take(project(ellipse, carom::Vector3<double>(1, 2, weights.normal), y).point);
  }
}

const carom::bits::Scene in_double("cones", take_cones<double>);
const carom::bits::Scene in_float("cones_float", take_cones<float>);
const carom::bits::Scene extreme("cones_extreme", take_extremes);

}  // namespace
