// SPDX-License-Identifier: BSD-3-Clause
// Motion: a pendulum that knocks against a wall and a tree of bodies by variational steps, and a
// box on viscoelastic ground. Their sines, cosines and exponentials are carom's own in the
// reproducible mode.
#include <carom/carom.hpp>
#include <vector>

#include "bits.hpp"

namespace {

using carom::bits::Bits, carom::bits::Scene;

struct Pendulum {
  using scalar_type = double;
  static Eigen::Index size() { return 1; }
  static Eigen::Index gap_count() { return 1; }
  template <typename Q, typename T>
  T lagrangian(const Q& q, const Q& v, const T&) const {
    using carom::elementary::cos;
    return 0.5 * v(0) * v(0) + 9.81 * cos(q(0));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = -q(0);
  }
};

void take_knocks(Bits& bits) {
  carom::ImpactStepper<Pendulum> stepper(Pendulum{});
  carom::MechanicalState<double> state{
      .time = 0, .q = Eigen::VectorXd::Constant(1, -1), .momentum = Eigen::VectorXd::Zero(1)};
  for (int i = 0; i < 300; ++i) {
    const auto report = stepper.step(state, 0.02);
    bits.take(report.impacts);
    bits.take(state.q);
    bits.take(state.momentum);
  }
}

void take_tree(Bits& bits) {
  carom::bits::Numbers numbers;
  std::vector<carom::SpatialBody<double>> bodies;
  for (int k = 0; k < 4; ++k) {
    carom::SpatialBody<double> body;
    body.parent = k - 1;
    body.mass = 1.5 + numbers.next();
    body.axis = (carom::Vector3<double>::UnitZ() + numbers.vector(3) / 2).normalized();
    body.place << 0, 0.1, -0.3;
    body.centre << 0.05, 0.02, -0.15;
    body.inertia.diagonal() << 0.01, 0.012, 0.009;
    bodies.push_back(body);
  }
  carom::VariationalStepper<carom::SpatialTree<double>> stepper{carom::SpatialTree<double>(bodies)};
  const Eigen::VectorXd angles = numbers.vector(4);
  auto state = stepper.make_state(angles, numbers.vector(4));
  for (int i = 0; i < 50; ++i) {
    bits.take_report(stepper.step(state, 0.01));
    bits.take(state.q);
    bits.take(state.momentum);
  }
}

void take_box(Bits& bits) {
  std::vector<carom::Vector3<double>> corners;
  for (const double x : {-0.2, 0.2}) {
    for (const double y : {-0.15, 0.15}) corners.emplace_back(x, y, -0.1);
  }
  const carom::Vector3<double> inertia(0.11, 0.17, 0.21);
  const carom::FreeBody<double> body(10, inertia.asDiagonal(), corners);
  const carom::ContactMaterial<double> ground{carom::Vector3<double>::Constant(1e5),
                                              carom::Vector3<double>::Constant(300), 0.5};
  for (const auto law : {carom::SlipLaw::coulomb, carom::SlipLaw::convex}) {
    carom::ViscoelasticOptions<double> options;
    options.law = law;
    carom::ViscoelasticStepper<carom::FreeBody<double>> stepper(body, {ground}, options);
    carom::FreeBodyState<double> state;
    state.position(2) = 0.15;
    state.velocity << 0.5, -0.2, 0;
    state.rate << 0.3, 1, 2;
    for (int i = 0; i < 60; ++i) {
      bits.take(int(stepper.step(state, 0.005).status));
      bits.take(state.position);
      bits.take(state.orientation);
      bits.take(state.velocity);
    }
  }
}

const Scene knocks("motion_knocks", take_knocks);
const Scene tree("motion_tree", take_tree);
const Scene box("motion_viscoelastic", take_box);

}  // namespace
