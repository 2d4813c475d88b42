// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/coulomb_derivative.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/wrench_contact.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "support/catch.hpp"
#include "support/problem_change.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace coulomb_derivative_test {

using carom::ContactProblem, carom::CoulombDerivative, carom::Index, carom::ProblemDifferential;
using carom::RegionBoundary, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::draw_change;
using carom::testing::draw_constrained, carom::testing::for_each_drawn, carom::testing::move;
using carom::testing::RawProblem, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

template <typename Scalar>
struct Answer {
  VectorX<Scalar> velocity, impulse;
  bool found = false;
};

/// The answer of the solver to all digits that it gives; from an answer nearby if there is one.
template <typename Scalar>
Answer<Scalar> solve(const ContactProblem<Scalar>& problem,
                     const VectorX<Scalar>& guess = VectorX<Scalar>()) {
  const Scalar tolerance = 100 * std::numeric_limits<Scalar>::epsilon();
  carom::ContactSolver<Scalar> solver({.tolerance = tolerance / 10, .iteration_limit = 500});
  Answer<Scalar> answer;
  const auto report = guess.size() > 0 ? solver.solve_from(problem, guess, answer.velocity)
                                       : solver.solve(problem, answer.velocity);
  answer.impulse = solver.impulse();
  answer.found = report.residual <= tolerance;
  return answer;
}

/// Three contacts and four blocks of every shape.
ConstrainedProblem draw_all_kinds(VectorSource<double>& source, const std::vector<int>& sizes) {
  ConstrainedProblem raw = draw_constrained(source, sizes, 4);
  for (auto& constraint : raw.constraints) {
    const auto old = constraint.law;
    constraint.law = carom::testing::draw_law(source, int(source.unit() * 12));
    const Index rows = constraint.law.set.rows;
    constraint.law.regularization *= old.regularization(0);
    const auto redraw = [&](Eigen::MatrixXd& jacobian) {
      if (jacobian.cols() > 0) {
        jacobian = carom::testing::draw_matrix(source, rows, jacobian.cols());
      }
    };
    redraw(constraint.first_jacobian);
    redraw(constraint.second_jacobian);
  }
  return raw;
}

/// Which coefficient of friction bounds a row of a cone; −1 for the normal.
int coefficient_of(carom::ImpulseShape shape, int row) {
  const int normal = carom::detail::normal_row(shape);
  if (row == normal) return -1;
  if (row < 2) return shape == carom::ImpulseShape::elliptic ? row : 0;
  return row == 5 ? 2 : 1;
}

/// Changes of bounds and of coefficients of friction, but of friction contacts.
template <typename Scalar>
void draw_limits(VectorSource<double>& source, const ContactProblem<Scalar>& problem,
                 ProblemDifferential<Scalar>& change) {
  for (Index i = 0; i < problem.block_count(); ++i) {
    if (problem.is_friction_contact(i)) continue;
    const auto law = problem.law(i);
    const auto draw = [&] { return Scalar(2 * source.unit() - 1); };
    const carom::Vector3<Scalar> friction(draw(), draw(), draw());
    for (int r = 0; r < law.set.rows; ++r) {
      const Index row = problem.first_row(i) + r;
      if (law.set.shape == carom::ImpulseShape::intervals) {
        change.lower(row) = draw();
        change.upper(row) = law.set.lower(r) == law.set.upper(r) ? change.lower(row) : draw();
      } else if (const int c = coefficient_of(law.set.shape, r); c >= 0) {
        change.upper(row) = law.set.friction(c) * friction(c);
      }
    }
  }
}

/// θ + h dθ, bounds and coefficients of friction too.
ContactProblem<double> moved_problem(ConstrainedProblem raw,
                                     const ProblemDifferential<double>& change, double h,
                                     bool rigid) {
  raw = move(std::move(raw), change, h);
  Index row = 3 * Index(raw.contacts.contacts.size());
  for (auto& constraint : raw.constraints) {
    auto& set = constraint.law.set;
    carom::Vector3<double> friction = set.friction;
    for (int r = 0; r < set.rows; ++r, ++row) {
      if (set.shape == carom::ImpulseShape::intervals) {
        set.lower(r) += h * change.lower(row);
        set.upper(r) += h * change.upper(row);
      } else if (const int c = coefficient_of(set.shape, r); c >= 0 && change.upper(row) != 0) {
        friction(c) = set.friction(c) + h * change.upper(row);
      }
    }
    set.friction = friction;
  }
  auto problem = build(raw);
  if (rigid) problem.make_rigid();
  return problem;
}

/// One kind of data of a change.
constexpr int part_count = 7;
ProblemDifferential<double> take_part(const ContactProblem<double>& problem,
                                      const ProblemDifferential<double>& all, int part) {
  ProblemDifferential<double> change;
  change.set_zero(problem);
  if (part == 0) change.free_velocity = all.free_velocity;
  if (part == 1) change.friction = all.friction;
  if (part == 2) change.regularization = all.regularization;
  if (part == 3) change.bias_velocity = all.bias_velocity;
  if (part == 4) {
    change.lower = all.lower;
    change.upper = all.upper;
  }
  const Index split = all.jacobian(0, 0).data() - all.matrices.data();
  if (part == 5) change.matrices.head(split) = all.matrices.head(split);
  if (part == 6) {
    const Index rest = all.matrices.size() - split;
    change.matrices.tail(rest) = all.matrices.tail(rest);
  }
  return change;
}

}  // namespace

TEMPLATE_TEST_CASE("coulomb_derivative: the two products are each other's transposes",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase identity("<u, J w> = <J'u, w>");
  for_each_drawn(
      {60, 512u},
      [](VectorSource<double>& source, const std::vector<int>& sizes) {
        return draw_all_kinds(source, sizes);
      },
      [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
        auto problem = build<Scalar>(raw);
        if (source.unit() < 0.5) problem.make_rigid();
        const Answer<Scalar> answer = solve(problem);
        if (!answer.found) return;
        CoulombDerivative<Scalar> derivative;
        REQUIRE(derivative.linearize(problem, answer.velocity, answer.impulse).usable());
        auto w = draw_change(source, problem);
        draw_limits(source, problem, w);
        const VectorX<Scalar> u = carom::testing::draw_matrix(source, problem.velocity_count(), 1)
                                      .template cast<Scalar>();
        const VectorX<Scalar> g =
            carom::testing::draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>();
        VectorX<Scalar> moved, pushed;
        ProblemDifferential<Scalar> gradient;
        gradient.set_zero(problem);
        const auto forward = derivative.push_forward(problem, w, moved, pushed);
        const auto backward = derivative.pull_back(problem, u, g, gradient);
        if (!forward.converged() || !backward.converged()) return;
        const Scalar left = u.dot(moved) + g.dot(pushed), right = gradient.dot(w);
        const Scalar size = u.norm() * moved.norm() + g.norm() * pushed.norm() +
                            gradient.free_velocity.norm() * w.free_velocity.norm() +
                            gradient.friction.norm() * w.friction.norm() +
                            gradient.regularization.cwiseProduct(w.regularization).norm() +
                            gradient.bias_velocity.norm() * w.bias_velocity.norm() +
                            gradient.lower.norm() * w.lower.norm() +
                            gradient.upper.norm() * w.upper.norm() +
                            gradient.matrices.cwiseProduct(w.matrices).norm();
        identity.see(std::abs(left - right), rounding(3000, size));
      });
  identity.check(40);
}

TEST_CASE(
    "coulomb_derivative: each datum alone moves velocities and impulses as differences of the "
    "solver say",
    "[solvers][derivative]") {
  WorstCase near("finite differences");
  int used = 0, slid = 0, rigid_used = 0;
  for_each_drawn(
      {carom::testing::sweep(24, 60), 77u}, draw_all_kinds,
      [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
        const bool rigid = source.unit() < 0.5;
        ContactProblem<double> problem = build(raw);
        if (rigid) problem.make_rigid();
        const auto all = [&] {
          auto change = draw_change(source, problem);
          draw_limits(source, problem, change);
          return change;
        }();
        const auto answer = solve(problem);
        CoulombDerivative<double> derivative({.boundary_tolerance = 1e-2});
        if (!answer.found) return;
        REQUIRE(derivative.linearize(problem, answer.velocity, answer.impulse).usable());
        if (!derivative.one_sided().empty()) return;  // a step might cross it
        for (int part = 0; part < part_count; ++part) {
          const auto change = take_part(problem, all, part);
          Eigen::VectorXd moved, pushed;
          if (!derivative.push_forward(problem, change, moved, pushed).converged()) return;
          const auto difference = [&](double h, Eigen::VectorXd& velocity,
                                      Eigen::VectorXd& impulse) {
            const auto ahead = solve(moved_problem(raw, change, h, rigid), answer.impulse);
            const auto behind = solve(moved_problem(raw, change, -h, rigid), answer.impulse);
            velocity = (ahead.velocity - behind.velocity) / (2 * h);
            impulse = (ahead.impulse - behind.impulse) / (2 * h);
            return ahead.found && behind.found;
          };
          const double h = 1e-4;
          Eigen::VectorXd wide[2], close[2];
          if (!difference(2 * h, wide[0], wide[1]) || !difference(h, close[0], close[1])) continue;
          const Eigen::VectorXd velocity = (4 * close[0] - wide[0]) / 3;
          const Eigen::VectorXd impulse = (4 * close[1] - wide[1]) / 3;
          const double speeds = 1 + moved.norm() + answer.velocity.norm();
          const double impulses = 1 + pushed.norm() + answer.impulse.norm();
          near.see((velocity - moved).norm(), carom::testing::by_differences(1e-7) * speeds, part,
                   rigid, used, "v");
          near.see((impulse - pushed).norm(), carom::testing::by_differences(1e-7) * impulses, part,
                   rigid, used, "impulse");
          if (part == 1 && moved.norm() > 1e-3) ++slid;
        }
        ++used;
        rigid_used += rigid;
      });
  CAPTURE(used, slid, rigid_used);
  CHECK(used >= 8);
  CHECK(rigid_used >= 3);
  CHECK(slid >= 3);
  near.check(100);
}

}  // namespace coulomb_derivative_test
