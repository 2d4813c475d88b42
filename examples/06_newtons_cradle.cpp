// SPDX-License-Identifier: BSD-3-Clause
// What does Newton's cradle do, and is that the only thing it can do?
//
// Five equal balls hang in a row and touch. Impacts run through the row one contact at a time,
// and nothing says which contact goes first. With equal masses this does not matter: afterwards
// velocities are sorted, whatever the order, so as many balls leave as arrived. With one heavy ball
// it matters: the library lists every outcome, and each of them keeps momentum and energy.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "carom/carom.hpp"

namespace {

using Vector = Eigen::VectorXd;

struct Cradle {
  carom::MassMatrix<double> mass;
  carom::ImpactProblem<double> problem;

  explicit Cradle(const Vector& masses)
      : mass(carom::MassMatrix<double>::make_diagonal(masses)), problem(masses.size()) {
    for (Eigen::Index i = 0; i + 1 < masses.size(); ++i) {
      Vector gradient = Vector::Zero(masses.size());  // of the gap x(i + 1) - x(i) - 2 r
      gradient(i) = -1;
      gradient(i + 1) = 1;
      problem.add_contact(mass, gradient);
    }
    problem.prepare();
  }
  [[nodiscard]] auto outcomes(const Vector& velocity) const {
    return enumerate_outcomes(problem, mass, mass.momentum(velocity));
  }
};

void print(const char* words, const Vector& velocity) {
  std::printf("  %s", words);
  for (const double v : velocity) std::printf(" %6.3f", v + 0.0);
  std::printf(" m/s\n");
}

/// As many balls leave as arrived, and there is no other outcome.
bool keeps_count(const Cradle& cradle, int moving) {
  Vector before = Vector::Zero(5), sorted = Vector::Zero(5);
  before.head(moving).setOnes();
  sorted.tail(moving).setOnes();
  const auto impact = resolve_impact(cradle.problem, cradle.mass, cradle.mass.momentum(before));
  print((std::to_string(moving) + " in:").c_str(), impact.velocity);
  const auto all = cradle.outcomes(before);
  return all.complete && all.outcomes.size() == 1 && (impact.velocity - sorted).norm() < 1e-14;
}

}  // namespace

int main() try {
  const Cradle equal(Vector::Ones(5));
  std::printf("five equal balls, %s: one outcome for every impact\n",
              to_string(classify(equal.problem)).c_str());
  bool right = classify(equal.problem).unique();
  for (int moving = 1; moving <= 4; ++moving) right = keeps_count(equal, moving) && right;
  const Vector masses = Eigen::Vector3d(1, 3, 1), before = Eigen::Vector3d(1, 0, -1);
  const Cradle heavy(masses);
  const auto all = heavy.outcomes(before);
  std::printf("a heavy ball hit from both sides: %d outcomes, %.3f of the momentum apart\n",
              int(all.outcomes.size()), all.indeterminacy);
  for (const auto& outcome : all.outcomes) {
    const Vector after = outcome.momentum.cwiseQuotient(masses);
    print("it may end", after);
    right = right && std::abs(masses.dot(after - before)) < 1e-14 &&
            std::abs(masses.dot(after.cwiseAbs2() - before.cwiseAbs2())) < 1e-14;
  }
  right = right && !classify(heavy.problem).unique() && all.complete;
  right = right && all.outcomes.size() == 3;  // either contact first, or both together
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
