// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as one step of viscoelastic contact. Forces must lie in their cones, be
// those of the anchors' velocities, and obey Coulomb's law where the step says so; a lone free body
// without contact must fly exactly.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "carom/viscoelastic/contact_step.hpp"

#include "draws.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::SlipLaw, carom::VectorX;
using carom::fuzz::demand, carom::fuzz::Draws;
using Data = carom::ContactStepData<double>;

struct Step {
  Data data;
  bool tame = true;
};

Step draw_step(Draws& draws) {
  Step step;
  Data& data = step.data;
  const int contacts = draws.below(5), size = draws.pick({1, 3, 6, 9});
  step.tame = draws.chance(0.5);
  const double decades = step.tame ? 1 : draws.pick({4.0, 8.0});
  data.time_step = draws.pick({2.5e-4, 1e-3, 5e-3, 1e-2, 0.1});
  MatrixX<double> factor = MatrixX<double>::Zero(size, size);
  for (int c = 0; c < size; ++c) {
    factor(c, c) = std::sqrt(draws.positive(decades));
    for (int r = c + 1; r < size; ++r) factor(r, c) = factor(c, c) * (draws.unit() - 0.5);
  }
  data.mass_matrix = factor * factor.transpose();
  data.jacobian.resize(3 * contacts, size);
  draws.fill(data.jacobian, 1);
  for (VectorX<double>* v : {&data.velocity, &data.free_acceleration}) {
    v->resize(size);
    draws.fill(*v, 1);
  }
  data.free_acceleration *= 10;
  for (VectorX<double>* v :
       {&data.drift, &data.stiffness, &data.damping, &data.points, &data.anchors}) {
    v->setZero(3 * contacts);
  }
  data.friction.setZero(contacts);
  const double stiffness = draws.pick({1e3, 1e4, 1e6, 1e8});
  for (int i = 0; i < 3 * contacts; ++i) {
    data.stiffness(i) = stiffness * draws.positive(decades);
    data.damping(i) = draws.chance(0.2) ? 0 : data.stiffness(i) * 1e-3 * draws.positive(2);
    data.drift(i) = draws.entry(1);
    data.points(i) = 1e-3 * draws.entry(2);
    data.anchors(i) = i % 3 == 2 ? 0 : 1e-3 * draws.entry(2);
  }
  for (int i = 0; i < contacts; ++i) data.friction(i) = draws.chance(0.2) ? 0 : draws.positive(1);
  return step;
}

/// By how much ‖λₜ‖ ≤ μ λₙ fails [N], in contacts that count.
template <typename Counts>
double outside(const VectorX<double>& force, const VectorX<double>& friction,
               const Counts& counts) {
  double worst = 0;
  for (Index i = 0; i < friction.size(); ++i) {
    if (!counts(i)) continue;
    const auto f = force.segment<3>(3 * i);
    worst = std::max({worst, -f(2), f.head<2>().norm() - friction(i) * std::max(f(2), 0.0)});
  }
  return worst;
}

/// How far (λ̄, w) is from Coulomb's law, from its definition: open, stuck or sliding.
double law_miss(const VectorX<double>& force, const VectorX<double>& motion,
                const VectorX<double>& friction) {
  double worst = 0;
  for (Index i = 0; i < friction.size(); ++i) {
    const auto f = force.segment<3>(3 * i), w = motion.segment<3>(3 * i);
    const double speed = w.head<2>().norm();
    const double stick = w.norm();
    const double open = f.norm() + std::max(0.0, -w(2));
    double slide = std::abs(w(2)) + std::max(0.0, -f(2));
    if (speed > 0) slide += (f.head<2>() + friction(i) * f(2) / speed * w.head<2>()).norm();
    worst = std::max(worst, std::min({stick, open, slide}));
  }
  return worst;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const SlipLaw law = draws.pick(
      {SlipLaw::coulomb, SlipLaw::coulomb, SlipLaw::convex, SlipLaw::radial, SlipLaw::stick});
  const Step step = draw_step(draws);
  const Data& given = step.data;
  demand(carom::check(given).empty(), "a step as it may be");
  carom::ContactStep<double> solver;
  solver.prepare(given.contact_count(), given.velocity_count());
  const auto report = solver.solve(given, law);
  demand(!std::isnan(report.residual) && report.residual >= 0, "the residual is a number");
  if (report.status == carom::SolveStatus::not_finite) {
    demand(!step.tame, "tame numbers stay finite");
    return 0;
  }
  const VectorX<double> force = solver.force(), motion = solver.anchor_velocity();
  demand(force.allFinite() && motion.allFinite() && solver.anchors().allFinite(),
         "the step is finite");
  const double scale = solver.average_force().norm() + force.norm();
  if (law != SlipLaw::stick) {
    const double off = outside(force, given.friction, [](Index) { return true; });
    demand(off <= 1e-9 * scale, "forces are in their cones", off, scale);
    const double second = outside(solver.force2(), given.friction, [&](Index i) {
      return solver.region(i) != carom::ConeRegion::stick;
    });
    const double second_scale = scale + solver.force2().norm();
    demand(second <= 1e-9 * second_scale, "second forces of what slides are in their cones", second,
           second_scale);
  }
  // The motion is that of the forces.
  const VectorX<double> expected = given.mass_matrix * (solver.velocity() - given.velocity -
                                                        given.time_step * given.free_acceleration) -
                                   given.time_step * given.jacobian.transpose() * force;
  const double momentum = (given.mass_matrix * given.velocity).norm() +
                          (given.mass_matrix * solver.velocity()).norm() +
                          given.time_step * (given.mass_matrix * given.free_acceleration).norm() +
                          given.time_step * (given.jacobian.transpose() * force).norm();
  demand(expected.norm() <= (step.tame ? 1e-11 : 1e-7) * momentum, "momentum is that of the forces",
         expected.norm(), momentum);
  if (given.contact_count() == 0) return 0;
  if (!step.tame || !report.converged() || law != SlipLaw::coulomb) return 0;
  // λ̄ = λ_avg + G w, and Coulomb's law, in units of force.
  MatrixX<double> gain(3 * given.contact_count(), 3 * given.contact_count());
  if (!solver.forces().write_gain(gain)) return 0;
  const VectorX<double> moved = gain * motion;
  const double miss = (solver.average_force() + moved - force).norm();
  const double size_of_all = scale + moved.norm();
  demand(miss <= 1e-6 * size_of_all, "forces are those of the anchors' velocities", miss,
         size_of_all);
  const double mean = gain.diagonal().mean();
  const double off = law_miss(force, mean * motion, given.friction);
  demand(off <= 1e-5 * (size_of_all + mean * motion.norm()),
         "forces and anchors obey Coulomb's law", off, size_of_all);
  return 0;
}
