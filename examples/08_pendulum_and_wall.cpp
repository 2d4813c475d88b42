// SPDX-License-Identifier: BSD-3-Clause
// Does a pendulum that hits a wall keep its energy?
//
// A pendulum of 1 m is released at rest, 1 rad from the vertical, and hits a wall at its lowest
// point again and again. It returns after half a period, 2 K sqrt(l/g) with Legendre's integral
// K(sin 1/2), so the number of knocks in 500 s is known. Lost energy would show as a drift. There
// is none: the error only oscillates with the motion, and is four times smaller for half the step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>

#include "carom/carom.hpp"

namespace {

struct Pendulum {
  using scalar_type = double;
  static Eigen::Index size() { return 1; }
  static Eigen::Index gap_count() { return 1; }
  template <typename Q, typename T>
  T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    return 0.5 * v(0) * v(0) + 9.81 * cos(q(0));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = -q(0);  // the wall
  }
};

struct Run {
  int knocks = 0;
  double early = 0, late = 0;  // largest errors of energy in the first and the last 50 s [J]
};

Run knock(double time_step) {
  carom::ImpactStepper<Pendulum> stepper(Pendulum{});
  carom::MechanicalState<double> state{
      .time = 0, .q = Eigen::VectorXd::Constant(1, -1), .momentum = Eigen::VectorXd::Zero(1)};
  const double energy = stepper.energy(state);
  const int steps = int(std::lround(500 / time_step));
  Run run;
  for (int i = 0; i < steps; ++i) {
    const auto report = stepper.step(state, time_step);
    if (!report.converged()) return {-1, INFINITY, INFINITY};
    run.knocks += report.impacts;
    double& worst = 10 * i < steps ? run.early : run.late;
    if (10 * i < steps || 10 * i >= 9 * steps) {
      worst = std::max(worst, std::abs(stepper.energy(state) - energy));
    }
  }
  return run;
}

}  // namespace

int main() try {
  // The first knock comes after a quarter of a period, the others half a period apart.
  double a = 1, b = std::cos(0.5);  // K = pi / (2 mean), the mean of Gauss
  while (a - b > 1e-15) a = (a + b) / 2, b = std::sqrt(b * (2 * a - b));
  const double half = std::numbers::pi / a / std::sqrt(9.81);
  const int expected = int(std::lround(500 / half));
  std::printf("%d knocks expected in 500 s, %.6f s apart\n", expected, half);
  std::printf("step [s]  knocks  energy error in the first 50 s, in the last 50 s [J]\n");
  const Run coarse = knock(0.02), fine = knock(0.01);
  std::printf("%8.2f  %6d  %30.2e %21.2e\n", 0.02, coarse.knocks, coarse.early, coarse.late);
  std::printf("%8.2f  %6d  %30.2e %21.2e\n", 0.01, fine.knocks, fine.early, fine.late);
  const double order = std::log2(coarse.early / fine.early);
  std::printf("order of the error %.2f; growth over 450 s %.2f\n", order, fine.late / fine.early);
  return fine.knocks == expected && std::abs(order - 2) < 0.1 && fine.late < 1.1 * fine.early ? 0
                                                                                              : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
