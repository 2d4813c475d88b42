// SPDX-License-Identifier: BSD-3-Clause
#include "cli/document_program.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/cone_cases.hpp"
#include "support/tolerance.hpp"

namespace document_program_test {

using carom::AverageForces, carom::Index, carom::MatrixX, carom::VectorX;
using carom::cli::DocumentProgram, carom::cli::QuadraticStatus, carom::cli::write_printed_column;
using carom::testing::read_cone_cases, carom::testing::rounding;

TEST_CASE("document_program: known forces", "[cli][golden]") {
  for (const auto& c : read_cone_cases()) {
    DocumentProgram<double> program;
    program.prepare(c.average.size() / 3);
    REQUIRE(program.solve(c.gain, c.average, c.frictions()) == QuadraticStatus::optimal);
    CAPTURE(c.average);
    CHECK((program.force() - c.program.force).norm() <= rounding(50000, 1.0) * c.average.norm());
    CHECK((program.velocity() - c.program.velocity).norm() <=
          rounding(50000, 1.0) * c.program.velocity.norm());
  }
}

TEST_CASE("document_program: forces of any unit", "[cli][law]") {
  for (const auto& c : read_cone_cases()) {
    DocumentProgram<double> program;
    const Index n = c.average.size() / 3;
    program.prepare(n);
    REQUIRE(program.solve(c.gain, c.average, c.frictions()) == QuadraticStatus::optimal);
    const VectorX<double> force = program.force();
    for (const double factor : {1e-18, 1e-9, 1e9, 1e18}) {
      const MatrixX<double> gain = factor * c.gain;
      const VectorX<double> average = factor * c.average;
      REQUIRE(program.solve(gain, average, c.frictions()) == QuadraticStatus::optimal);
      CAPTURE(factor);
      CHECK((program.force() - factor * force).norm() <= rounding(2000, factor * c.average.norm()));
    }
  }
}

TEST_CASE("document_program: its own form", "[cli][example]") {
  DocumentProgram<double> program;
  program.prepare(1);
  const MatrixX<double> gain = MatrixX<double>::Identity(3, 3) * 2;
  const VectorX<double> average = VectorX<double>::LinSpaced(3, 1, 3);
  const VectorX<double> friction = VectorX<double>::Constant(1, std::sqrt(2.0));
  REQUIRE(program.solve(gain, average, friction) == QuadraticStatus::optimal);
  CHECK(program.velocity().isZero(0));  // inside the pyramid of 1
  CHECK(program.problem().hessian(0, 0) == 2);
  CHECK(program.problem().inequality_offsets(0) == 3);
  CHECK(std::abs(program.problem().inequality_offsets(1) - 4) <= rounding(4, 4.0));
  CHECK(std::abs(program.problem().inequality_normals(2, 1) - 2) <= rounding(4, 2.0));
}

TEST_CASE("document_program: single precision follows double", "[cli][law]") {
  for (const auto& c : read_cone_cases()) {
    DocumentProgram<float> program;
    program.prepare(c.average.size() / 3);
    const MatrixX<float> gain = c.gain.cast<float>();
    const VectorX<float> average = c.average.cast<float>(), mu = c.frictions().cast<float>();
    REQUIRE(program.solve(gain, average, mu) == QuadraticStatus::optimal);
    CAPTURE(c.average);
    CHECK((program.force().cast<double>() - c.program.force).norm() <=
          rounding(2000, float(c.average.norm())));
  }
}

TEST_CASE("document_program: a column that is not symmetric", "[cli][law]") {
  DocumentProgram<double> program;
  program.prepare(1);
  MatrixX<double> column(3, 3);
  column << 2, 0.5, 0, 0.1, 3, 0.4, 0.3, -0.2, 4;
  VectorX<double> average(3);
  average << 4, -1, 2;
  const VectorX<double> friction = VectorX<double>::Constant(1, 0.5);
  REQUIRE(program.solve(column, average, friction) == QuadraticStatus::optimal);
  const VectorX<double> force = program.force();
  CHECK((average + column * program.velocity() - force).norm() <= rounding(20, average.norm()));
  const double reach = std::sqrt(0.5) * 0.5 * force(2);
  CHECK(std::abs(force(0)) <= reach + rounding(50, average.norm()));
  CHECK(std::abs(force(1)) <= reach + rounding(50, average.norm()));
}

TEST_CASE("document_program: the printed column of the document changes the sign",
          "[cli][example]") {
  AverageForces<double> forces;
  forces.prepare(1, 3);
  const MatrixX<double> whitened = MatrixX<double>::Identity(3, 3);
  const VectorX<double> stiffness = VectorX<double>::Constant(3, 1e5);
  const VectorX<double> damping = VectorX<double>::Zero(3);
  REQUIRE(forces.set(whitened, stiffness, damping, 0.015));
  MatrixX<double> gain(3, 3), column;
  REQUIRE(forces.write_gain(gain));
  REQUIRE(write_printed_column(forces, column));
  CHECK(std::abs(gain(0, 0) - 64.60) < 0.01);
  CHECK(std::abs(column(0, 0) + 93.44) < 0.01);
}

TEST_CASE("document_program: the printed column for damping of any kind", "[cli][law]") {
  for (const double extra : {0.0, 40.0}) {  // B = β K, or not
    const VectorX<double> zero = VectorX<double>::Zero(6), k = VectorX<double>::Constant(6, 1e5);
    VectorX<double> b = 0.003 * k, y(6), average(6), average2(6);
    b(0) += extra;
    MatrixX<double> root = MatrixX<double>::Identity(6, 6), column;
    root(0, 3) = root(1, 5) = 0.3;
    y << 8e-5, 3e-5, -1e-4, 1e-5, 0, -1e-4;
    const double t = 1e-3;
    AverageForces<double> forces;
    forces.prepare(2, 6);
    REQUIRE(forces.set(root, k, b, t));
    REQUIRE(forces.evaluate(y, zero, zero, average, average2));
    REQUIRE(write_printed_column(forces, column));
    DocumentProgram<double> program;
    program.prepare(2);
    const VectorX<double> friction = VectorX<double>::Constant(2, 0.5);
    REQUIRE(program.solve(column, average, friction) == QuadraticStatus::optimal);
    const VectorX<double> w = program.velocity();
    CHECK(w.norm() > 0);
    // [t/2 I; I]: the anchor starts t/2 w ahead of where it is, and moves with w.
    VectorX<double> ahead(6), ahead2(6);
    const VectorX<double> stretch = y - t / 2 * w, rate = -w;
    REQUIRE(forces.evaluate(stretch, rate, zero, ahead, ahead2));
    CAPTURE(extra);
    CHECK((ahead - program.force()).norm() <= rounding(2000, ahead.norm()));
  }
}

}  // namespace document_program_test
