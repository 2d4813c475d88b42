// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as a tree of hinged bodies in flight, or masses on a line that hit each
// other and a wall. A step forth and a step back must end where they began; elastic impacts must
// keep the energy, others may only lose it; and no step may leave masses inside of each other.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/impact/restitution.hpp"
#include "carom/variational/impact_stepper.hpp"
#include "carom/variational/planar_tree.hpp"
#include "carom/variational/stepper.hpp"

#include "draws.hpp"

namespace {

using carom::Index, carom::VectorX;
using carom::fuzz::demand, carom::fuzz::Draws;

/// Point masses on a line with a wall at zero, all drawn to it.
struct Masses {
  using scalar_type = double;
  std::vector<double> masses;
  double pull = 0;

  [[nodiscard]] Index size() const { return Index(masses.size()); }
  [[nodiscard]] Index gap_count() const { return size(); }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    T sum = 0.0;
    for (Index i = 0; i < size(); ++i) {
      const double mass = masses[std::size_t(i)];
      sum += mass / 2 * (v(i) * v(i)) - mass * pull * q(i);
    }
    return sum;
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    for (Index i = 0; i + 1 < size(); ++i) out(i) = q(i + 1) - q(i);
    out(size() - 1) = q(0);
  }
};

void check_masses(Draws& draws) {
  Masses system;
  const int count = 1 + draws.below(4);
  const double decades = draws.pick({1.0, 3.0});
  for (int i = 0; i < count; ++i) system.masses.push_back(draws.positive(decades));
  system.pull = draws.pick({0.0, 9.81});
  const double restitution = draws.pick({1.0, 1.0, 0.5, 0.0});
  VectorX<double> q(count), v(count);
  double place = 0;
  for (int i = 0; i < count; ++i) q(i) = place += draws.chance(0.2) ? 0 : 0.1 * draws.positive(2);
  draws.fill(v, 1);
  const carom::ImpactOptions<double> impacts{.reflection_limit = 2000};
  using Law = carom::RestitutionImpact<double>;
  carom::ImpactStepper<Masses, Law> stepper(system,
                                            Law(restitution, carom::PlasticLaw::moreau, impacts));
  auto state = stepper.make_state(q, v);
  const double h = draws.pick({0.001, 0.01, 0.1});
  const double begin = stepper.energy(state);
  double before = begin;
  for (int k = 0; k < 20; ++k) {
    const double time = state.time;
    const auto report = stepper.step(state, h);
    demand(state.q.allFinite() && state.momentum.allFinite(), "the state is finite");
    if (!report.converged()) return;
    demand(std::abs(state.time - (time + h)) <= 1e-12, "the time is that of the step", state.time);
    VectorX<double> gaps(count);
    system.gaps(state.q, gaps);
    const double reach = 1 + state.q.norm() + h * v.norm();
    demand(gaps.minCoeff() >= -1e-6 * reach, "no mass is inside of another", gaps.minCoeff());
    const double energy = stepper.energy(state);
    const double kinetic = std::abs(begin) + std::abs(energy) + 1e-12;
    demand(energy <= before + 1e-6 * kinetic, "no step gains energy", energy, before);
    if (restitution == 1 && stepper.held().empty() && report.converged()) {
      demand(report.substeps > 1 || std::abs(energy - before) <= 1e-6 * kinetic || system.pull > 0,
             "elastic impacts keep the energy", energy, before);
    }
    before = energy;
  }
}

void check_tree(Draws& draws) {
  std::vector<carom::PlanarBody<double>> bodies;
  const int count = 1 + draws.below(5);
  for (int i = 0; i < count; ++i) {
    carom::PlanarBody<double> body;
    body.parent = i == 0 ? -1 : draws.below(i);
    body.mass = draws.positive(2);
    body.inertia = body.mass * 0.1 * draws.positive(1);
    for (Index k = 0; k < 2; ++k) {
      body.hinge(k) = i == 0 ? 0 : draws.entry(0.5);
      body.centre(k) = draws.entry(0.5);
    }
    bodies.push_back(body);
  }
  carom::PlanarTreeOptions<double> options;
  options.floating = draws.chance(0.5);
  options.relative = draws.chance(0.5);
  const carom::PlanarTree<double> tree(bodies, options);
  carom::StepOptions<double> steps;
  steps.quadrature =
      draws.pick({carom::Quadrature<double>::midpoint(), carom::Quadrature<double>::verlet(),
                  carom::Quadrature<double>::symmetric_rectangle(0.25)});
  carom::VariationalStepper<carom::PlanarTree<double>> stepper(tree, steps);
  VectorX<double> q(tree.size()), v(tree.size());
  draws.fill(q, 1);
  draws.fill(v, 1);
  auto state = stepper.make_state(q, v);
  const double energy = stepper.energy(state);
  demand(std::isfinite(energy), "the energy is a number");
  const double h = draws.pick({1e-4, 1e-3, 1e-2});
  const int many = 1 + draws.below(8);
  const auto start = state;
  for (int k = 0; k < 2 * many; ++k) {
    const auto report = stepper.step(state, k < many ? h : -h);
    demand(state.q.allFinite() && state.momentum.allFinite(), "the state is finite");
    if (!report.converged() || report.substeps > 1) return;
    if (k + 1 != many) continue;
    // One step of order two is off by a share of (h ω)².
    const double fast = h * v.norm();
    const double scale =
        std::abs(energy) + start.momentum.norm() * v.norm() + 10 * double(tree.size());
    if (h <= 1e-3) {
      demand(std::abs(stepper.energy(state) - energy) <= 100 * (1e-8 + fast * fast) * scale,
             "the energy does not drift", stepper.energy(state), energy);
    }
  }
  const double apart = (state.q - start.q).norm() / (1 + start.q.norm() + v.norm());
  demand(apart <= 1e-7, "there and back again", apart);
  const double pushed = (state.momentum - start.momentum).norm() / (1 + start.momentum.norm());
  demand(pushed <= 1e-5, "there and back again in momentum", pushed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  draws.chance(0.5) ? check_masses(draws) : check_tree(draws);
  return 0;
}
