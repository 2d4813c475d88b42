// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/step_derivative.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

#include <Eigen/Dense>

#include "carom/viscoelastic/free_body.hpp"

#include "support/box_body.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace step_derivative_test {

using carom::ContactMaterial, carom::FreeBody, carom::FreeBodyState, carom::Index, carom::MatrixX,
    carom::SlipLaw, carom::Vector3, carom::VectorX, carom::ViscoelasticOptions,
    carom::ViscoelasticStepDerivative, carom::ViscoelasticStepper;
using carom::testing::by_differences, carom::testing::make_box, carom::testing::rounding;

namespace {

/// A stepper's start: its mechanism, what its contacts are made of, and its anchors.
template <typename System>
struct Start {
  System system;
  std::vector<ContactMaterial<double>> materials;
  ViscoelasticOptions<double> options;
  typename System::State state;
  std::vector<int> active;
  VectorX<double> anchors;

  [[nodiscard]] Index velocities() const { return system.velocity_count(); }
  [[nodiscard]] Index contacts() const { return system.contact_count(); }
  [[nodiscard]] Index rows() const { return 2 * velocities() + 3 * contacts(); }
  [[nodiscard]] Index parameters() const { return rows() + 2 * velocities() + 7 * contacts(); }

  [[nodiscard]] ViscoelasticStepper<System> stepper() const {
    ViscoelasticStepper<System> stepper(system, materials, options);
    for (Index i = 0; i < contacts(); ++i) {
      if (active[std::size_t(i)] != 0) stepper.set_anchor(i, anchors.segment<3>(3 * i));
    }
    return stepper;
  }
};

/// State and velocity changed along tangent coordinates.
template <typename System>
void move(const System& system, typename System::State& state, const VectorX<double>& change) {
  const Index k = system.velocity_count();
  carom::Growing<VectorX<double>> place, velocity;
  place.grow(k);
  velocity.grow(k);
  system.write_velocity(state, velocity);
  place = change.head(k);
  velocity += change.segment(k, k);
  system.advance(state, place, velocity);
}

/// The start with everything changed, in the order of ViscoelasticStepDerivative::matrix().
Start<FreeBody<double>> changed(const Start<FreeBody<double>>& start,
                                const VectorX<double>& change) {
  Start<FreeBody<double>> result = start;
  const Index n = start.contacts(), rows = start.rows();
  move(result.system, result.state, change.head(12));
  result.anchors += change.segment(12, 3 * n);
  result.system.force += change.segment<3>(rows);
  result.system.torque += change.segment<3>(rows + 3);
  result.system.gravity += change.segment<3>(rows + 6);
  for (Index i = 0; i < n; ++i) {
    auto& material = result.materials[std::size_t(i)];
    material.stiffness += change.segment<3>(rows + 12 + 3 * i);
    material.damping += change.segment<3>(rows + 12 + 3 * n + 3 * i);
    material.friction += change(rows + 12 + 6 * n + i);
  }
  return result;
}

/// State after a step, as its difference from `from`.
VectorX<double> after(const Start<FreeBody<double>>& start, double dt,
                      const FreeBodyState<double>& from) {
  auto stepper = start.stepper();
  FreeBodyState<double> state = start.state;
  const auto report = stepper.step(state, dt);
  (void)report;
  VectorX<double> out(start.rows());
  carom::Growing<VectorX<double>> place;
  place.grow(6);
  start.system.write_difference(from, state, place);
  out.setZero();
  out.head<6>() = place;
  out.segment<3>(6) = state.velocity;
  out.segment<3>(9) = state.rate;
  for (Index i = 0; i < start.contacts(); ++i) {
    if (stepper.active(i)) out.segment<2>(12 + 3 * i) = stepper.anchors().segment<2>(3 * i);
  }
  return out;
}

}  // namespace

TEST_CASE("scratch") {
  carom::testing::VectorSource<double> source(3u);
  for (int round = 0; round < 12; ++round) {
    Start<FreeBody<double>> start{make_box(), {}, {}, {}, {1, 1, 1, 1}, {}};
    start.options.event_tolerance = 1e-15;
    const bool slide = round % 2, airborne = round >= 6;
    for (int i = 0; i < 4; ++i) {
      auto m = carom::testing::make_material(1e5, 300, slide ? 0.3 : 3);
      if (round % 3 == 2) m.damping(0) += 50;
      start.materials.push_back(m);
    }
    start.state = carom::testing::rest_state();
    start.anchors.resize(12);
    carom::Growing<MatrixX<double>> jacobian;
    carom::Growing<VectorX<double>> points, drift;
    jacobian.grow(12, 6);
    points.grow(12);
    drift.grow(12);
    start.state.velocity << 0.3, 0.2, 0.01;
    start.state.rate << 0.02, 0.03, 0.5;
    if (airborne) {
      start.state.position(2) = 0.1 + 0.003;
      start.state.rate << 0.6, 0.3, 0.5;
      start.state.velocity(2) = -0.5;
      start.active = {0, 0, 0, 0};
    }
    start.system.write_contacts(start.state, points, jacobian, drift);
    start.anchors = points;
    start.anchors.array() += 1e-5;
    const double dt = airborne ? 0.012 : 0.003;
    auto stepper = start.stepper();
    ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
    FreeBodyState<double> state = start.state;
    const auto report = derivative.step(stepper, state, dt);
    std::printf("round %d status %d parts %d closed %d opened %d onesided %d\n", round,
                int(report.status), report.parts, report.closed, report.opened,
                int(derivative.one_sided().size()));
    const Index columns = start.parameters();
    for (Index c = 0; c < columns; ++c) {
      const Index rows = start.rows();
      if (c >= rows + 9 && c < rows + 12) continue;
      VectorX<double> change = VectorX<double>::Zero(columns);
      const double scale = c >= rows + 12 + 24 ? 1 : c >= rows + 24 ? 300 : c >= rows + 12 ? 1e5 : c >= rows ? 10 : 1;
      const double h = 1e-6 * scale;
      change(c) = h;
      const VectorX<double> diff = (after(changed(start, change), dt, state) -
                                    after(changed(start, -change), dt, state)) /
                                   (2 * h);
      VectorX<double> mine = derivative.matrix().col(c);
      const double error = (diff - mine).norm() / (diff.norm() + 1e-9 / scale);
      if (error > 1e-5) {
        std::printf("  column %d error %g norm %g\n", int(c), error, diff.norm());
        if (error > 1e-3 && c==0) { for (int r = 0; r < 24; ++r) std::printf("   %d %g %g\n", r, diff(r), mine(r)); }
      }
    }
  }
}

}  // namespace step_derivative_test
