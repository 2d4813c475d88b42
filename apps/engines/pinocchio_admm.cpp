// SPDX-License-Identifier: BSD-3-Clause
// One contact problem, two solvers: Pinocchio's ADMM on W = J A⁻¹ Jᵀ and carom, for a humanoid on
// two feet, one that is pushed, and a quadruped that slides. carom's certify() measures the error
// of both answers. Times are those of the solve only, without a guess; W is computed before for the
// ADMM. Exit status: non-zero if carom does not reach its tolerance or the two disagree.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/constraints.hpp>
#include <span>
#include <vector>

#include "engines/pinocchio_models.hpp"

namespace {

using carom::Index;
using carom::examples::LeggedRobot, carom::examples::LeggedScene;
using Eigen::VectorXd;

/// The problem of one step in impulses, and carom's certificate of an answer.
struct Posed {
  explicit Posed(const carom::ContactProblem<double>& of) : problem(of) {
    carom::DelassusForm<double> form;
    form.write(problem, dual);
    const Index rows = problem.impulse_count();
    VectorXd unit = VectorXd::Zero(rows), velocity(rows);
    load.resize(rows);
    dual.write_velocities(span(unit), {load.data(), std::size_t(rows)});
    inverse_mass.resize(rows, rows);
    for (Index i = 0; i < rows; ++i) {
      unit(i) = 1;
      dual.write_velocities(span(unit), {velocity.data(), std::size_t(rows)});
      inverse_mass.col(i) = velocity - load;
      unit(i) = 0;
    }
  }
  [[nodiscard]] double error(const VectorXd& impulse) const {
    return certify(dual, impulse, carom::FrictionLaw::coulomb).natural_map_error;
  }
  [[nodiscard]] static std::span<const double> span(const VectorXd& x) {
    return {x.data(), std::size_t(x.size())};
  }

  const carom::ContactProblem<double>& problem;
  carom::DelassusProblem<double> dual;
  Eigen::MatrixXd inverse_mass;
  VectorXd load;
};

struct Answer {
  int iterations = 0;
  double error = 0, microseconds = 0;  ///< natural map error [-]; median of 21 solves
  VectorXd impulse;
};

template <typename Solve>
Answer median_of(const Posed& posed, const Solve& solve) {
  Answer answer;
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    answer.iterations = solve(answer.impulse);
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    times.push_back(taken.count());
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  answer.microseconds = times[10];
  answer.error = posed.error(answer.impulse);
  return answer;
}

/// The ADMM at a tolerance; its other settings are the defaults except the iteration limit.
Answer by_admm(const LeggedScene& scene, const Posed& posed, double tolerance) {
  std::vector<pinocchio::PointContactConstraintModel> models;
  std::vector<pinocchio::PointContactConstraintData> datas;
  for (const auto& contact : scene.contacts) {
    const auto& frame = scene.robot.model.frames[contact.frame];
    models.emplace_back(scene.robot.model, frame.parentJoint, frame.placement);
    models.back().setFriction(contact.friction);
    datas.emplace_back(models.back());
  }
  pinocchio::ADMMSolverSettingsTpl<double> settings;
  settings.max_iterations = 100000;
  settings.absolute_feasibility_tol = settings.relative_feasibility_tol = tolerance;
  settings.absolute_complementarity_tol = settings.relative_complementarity_tol = tolerance;
  pinocchio::ADMMConstraintSolver solver;
  return median_of(posed, [&](VectorXd& impulse) {
    pinocchio::DelassusOperatorDenseTpl<double> delassus(posed.inverse_mass);
    pinocchio::ADMMConstraintSolver::ADMMSolverResult result;
    solver.solve(delassus, posed.load, models, datas, settings, result);
    impulse.resize(posed.load.size());
    result.retrieveConstraintImpulses(impulse);
    return int(result.iterations);
  });
}

Answer by_carom(const Posed& posed, double tolerance) {
  carom::ContactSolver<double> solver({.tolerance = tolerance});
  return median_of(posed, [&](VectorXd& impulse) {
    VectorXd velocity = posed.problem.free_velocity();
    const auto report = solver.solve(posed.problem, velocity);
    impulse = solver.impulse();
    return report.iterations;
  });
}

bool compare(const char* name, LeggedScene& scene) {
  const Posed posed(scene.stepper.problem());
  std::printf("%s, %d contacts\n", name, int(scene.contacts.size()));
  bool good = true;
  for (const double target : {1e-4, 1e-8, 1e-12}) {
    const Answer ours = by_carom(posed, target);
    std::printf("  target %.0e  carom  %6d systems     error %8.1e  %9.1f us\n", target,
                ours.iterations, ours.error, ours.microseconds);
    good = good && ours.error <= 1.01 * target;
    // The largest tolerance of the ADMM whose answer is as accurate by the same measure.
    for (double tolerance = 1e-3; tolerance > 1e-15; tolerance /= 10) {
      const Answer theirs = by_admm(scene, posed, tolerance);
      if (theirs.error > target && tolerance > 1e-14) continue;
      std::printf(
          "                ADMM   %6d iterations  error %8.1e  %9.1f us  (its tolerance %.0e)\n",
          theirs.iterations, theirs.error, theirs.microseconds, tolerance);
      break;
    }
  }
  return good;
}

}  // namespace

int main() {
  try {
    using Eigen::Vector3d;
    bool good = true;
    const auto shoot = [&](const char* name, const LeggedRobot& robot, double friction,
                           const Vector3d& push) {
      LeggedScene scene(robot);
      scene.robot.friction = friction;
      for (int i = 0; i < 50; ++i) {
        static_cast<void>(scene.step(scene.robot.posture, push, 0.002));
      }
      good = compare(name, scene) && good;
    };
    shoot("humanoid that stands", carom::examples::make_humanoid(), 0.7, {0, 0, 0});
    shoot("humanoid that is pushed", carom::examples::make_humanoid(), 0.7, {0, 100, 0});
    shoot("quadruped that stands", carom::examples::make_quadruped(), 0.7, {0, 0, 0});
    shoot("quadruped that slides", carom::examples::make_quadruped(), 0.2, {40, 20, 0});
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
