// SPDX-License-Identifier: BSD-3-Clause
#include "io/friction_dual.hpp"

#include <cmath>
#include <string>

#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/friction_problems.hpp"
#include "support/tolerance.hpp"

#include "io/cpf_file.hpp"

namespace friction_dual_test {

using carom::testing::by_solver, carom::testing::rounding;

namespace {

using carom::DelassusProblem;
using carom::Index;
using carom::VectorX;
using carom::files::BadInput;
using carom::files::friction_answer;
using carom::files::friction_dual;
using carom::files::FrictionProblem;
using carom::files::FrictionState;
using carom::files::SparseMatrix;
using carom::files::to_file_order;
using carom::files::to_row_order;

const std::string folder = CAROM_SOURCE_DIR "/examples/data/fclib/";

/// u = W γ + q in rows.
VectorX<double> velocity_of(const DelassusProblem<double>& dual, const VectorX<double>& impulse) {
  VectorX<double> parts, velocity(3 * dual.part_count()), rows;
  dual.write_parts(impulse, parts);
  for (Index p = 0; p < dual.part_count(); ++p) {
    velocity.segment<3>(3 * p) = dual.part_velocity(p, carom::as_span(parts));
  }
  dual.write_rows(velocity, rows);
  return rows;
}

/// A local problem whose W is symmetric, and positive semidefinite.
FrictionProblem draw_local(carom::testing::VectorSource<double>& source, Index dimension,
                           Index count) {
  auto problem =
      carom::testing::draw_friction_problem(source, {true, false, true, false}, dimension, count);
  SparseMatrix& w = problem.local->delassus;
  w = SparseMatrix(w.transpose() * w);
  return problem;
}

/// A problem with a global form whose M is positive definite.
FrictionProblem draw_global(carom::testing::VectorSource<double>& source, Index dimension,
                            Index count) {
  auto problem =
      carom::testing::draw_friction_problem(source, {false, true, false, false}, dimension, count);
  SparseMatrix& m = problem.global->mass;
  SparseMatrix identity(m.rows(), m.cols());
  identity.setIdentity();
  m = SparseMatrix(m.transpose() * m) + identity;
  return problem;
}

/// err as the files' own description has it, in the order of the file.
double file_error(const FrictionProblem& problem, const VectorX<double>& impulse) {
  const auto& [w, q] = *problem.local;
  const Index d = problem.dimension;
  const double mean = w.diagonal().mean(), load = q.norm();
  const VectorX<double> r = impulse * (mean / load), u = (w * impulse + q) / load;
  double squared = 0;
  for (Index i = 0; i < r.size(); i += d) {
    const double mu = problem.friction(i / d);
    VectorX<double> z = r.segment(i, d) - u.segment(i, d);
    z(0) -= mu * u.segment(i + 1, d - 1).norm();
    const double tangent = z.tail(d - 1).norm();
    VectorX<double> nearest = z;
    if (z(0) + mu * tangent <= 0 && tangent > mu * z(0)) nearest.setZero();
    if (tangent > mu * z(0) && z(0) + mu * tangent > 0) {
      nearest(0) = (z(0) + mu * tangent) / (1 + mu * mu);
      nearest.tail(d - 1) *= mu * nearest(0) / tangent;
    }
    squared += (r.segment(i, d) - nearest).squaredNorm();
  }
  return std::sqrt(squared) / std::max({1.0, r.norm(), u.norm()});
}

}  // namespace

TEST_CASE("friction_dual: orders of components undo each other", "[io][law]") {
  carom::testing::VectorSource<double> source(1);
  for (const Index dimension : {2, 3}) {
    for (const Index count : {0, 1, 7}) {
      const VectorX<double> numbers = carom::testing::draw_numbers(source, dimension * count);
      CHECK(to_file_order(dimension, to_row_order(dimension, numbers)) == numbers);
    }
  }
  CHECK(to_row_order(3, VectorX<double>{{1, 2, 3, 4, 5, 6}}) ==
        VectorX<double>{{2, 3, 1, 5, 6, 4}});
  CHECK(to_row_order(2, Eigen::Vector4d(1, 2, 3, 4)) == Eigen::Vector4d(2, 1, 4, 3));
}

TEST_CASE("friction_dual: velocities are those of the file", "[io][law]") {
  carom::testing::VectorSource<double> source(2);
  for (const Index dimension : {2, 3}) {
    for (const Index count : {0, 1, 2, 9}) {
      CAPTURE(dimension, count);
      const FrictionProblem problem = draw_local(source, dimension, count);
      const DelassusProblem<double> dual = friction_dual(problem);
      CHECK(dual.count() == count);
      CHECK(dual.row_count() == problem.row_count());
      for (Index i = 0; i < count; ++i) {
        CHECK(dual.set(i).shape ==
              (dimension == 3 ? carom::ImpulseShape::friction : carom::ImpulseShape::planar));
        CHECK(dual.set(i).friction[0] == problem.friction(i));
      }
      const VectorX<double>& r = problem.guess->impulse;
      const VectorX<double> u = problem.local->delassus * r + problem.local->velocity;
      const VectorX<double> ours = velocity_of(dual, to_row_order(dimension, r));
      CHECK((to_file_order(dimension, ours) - u).norm() <= rounding(500, 1.0) * (1 + u.norm()));
      const FrictionState answer = friction_answer(problem, to_row_order(dimension, r));
      CHECK(answer.impulse == r);
      CHECK(answer.contact_velocity == u);
      CHECK(answer.velocity.size() == 0);
    }
  }
}

TEST_CASE("friction_dual: a global form is condensed to M v = H r + f, u = H' v + b", "[io][law]") {
  carom::testing::VectorSource<double> source(3);
  for (const Index dimension : {2, 3}) {
    for (const Index count : {0, 1, 2, 9}) {
      CAPTURE(dimension, count);
      const FrictionProblem problem = draw_global(source, dimension, count);
      const auto& [mass, directions, momentum, velocity] = *problem.global;
      const VectorX<double> r = carom::testing::draw_numbers(source, problem.row_count());
      const FrictionState answer = friction_answer(problem, to_row_order(dimension, r));
      const VectorX<double> push = directions * r + momentum;
      CHECK((mass * answer.velocity - push).norm() <= rounding(5000, 1.0) * (1 + push.norm()));
      const VectorX<double> u = directions.transpose() * answer.velocity + velocity;
      CHECK((answer.contact_velocity - u).norm() <= rounding(500, 1.0) * (1 + u.norm()));
      const VectorX<double> ours = velocity_of(friction_dual(problem), to_row_order(dimension, r));
      CHECK((to_file_order(dimension, ours) - u).norm() <=
            rounding(50000, 1.0) * (1 + push.norm() + u.norm()));
    }
  }
}

TEST_CASE("friction_dual: both forms of a file are one problem", "[io][oracle]") {
  for (const char* name : {"GFC3D_TwoRods1", "LMGC_GFC3D-i00501-4-00000", "LMGC_GFC3D_CubeH8",
                           "table-r100-s00070-nc00014"}) {
    CAPTURE(name);
    FrictionProblem problem = carom::files::read_cpf(folder + name + ".cpf");
    carom::testing::VectorSource<double> source(4);
    const VectorX<double> rows = carom::testing::draw_numbers(source, problem.row_count());
    const VectorX<double> local = velocity_of(friction_dual(problem), rows);
    problem.local.reset();
    const VectorX<double> global = velocity_of(friction_dual(problem), rows);
    CHECK((local - global).norm() <= by_solver(1e-9) * local.norm());
  }
}

TEST_CASE("friction_dual: certified errors are those of the files' description", "[io][oracle]") {
  for (const char* name : {"FC2D_SliderCrankLagrangian00000", "FC3D_Example1", "Rover1040",
                           "arch-n13-s00096-nc00056"}) {
    CAPTURE(name);
    const FrictionProblem problem = carom::files::read_cpf(folder + name + ".cpf");
    const DelassusProblem<double> dual = friction_dual(problem);
    carom::testing::VectorSource<double> source(5);
    const VectorX<double> r = carom::testing::draw_numbers(source, problem.row_count());
    const double error = file_error(problem, r);
    const auto certificate =
        certify(dual, to_row_order(problem.dimension, r), carom::FrictionLaw::coulomb);
    CHECK(std::abs(certificate.natural_map_error - error) <= rounding(5000, 1.0) * error);
  }
}

TEST_CASE("friction_dual: what cannot be converted is refused", "[io][example]") {
  carom::testing::VectorSource<double> source(6);
  const auto fault = [](const FrictionProblem& problem) {
    return carom::testing::fault_of_reading([&] { return friction_dual(problem); });
  };
  FrictionProblem answer_alone =
      carom::testing::draw_friction_problem(source, {false, false, false, true}, 3, 2);
  CHECK(fault(answer_alone) == "problem: expected W and q, or M, H, f and b, got a solution alone");
  FrictionProblem negative = draw_local(source, 3, 2);
  negative.friction(1) = -0.5;
  CHECK(fault(negative) == "mu entry 1: expected a finite number >= 0, got -0.5");
  FrictionProblem singular = draw_global(source, 3, 2);
  singular.global->mass.setZero();
  CHECK(fault(singular) == "M: expected a matrix that can be inverted, got a singular one");
}

}  // namespace friction_dual_test
