// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/document_program.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/cone_cases.hpp"
#include "support/tolerance.hpp"

namespace document_program_test {

using carom::DocumentProgram, carom::Index, carom::MatrixX, carom::QuadraticStatus, carom::VectorX;
using carom::testing::read_cone_cases, carom::testing::rounding;

TEST_CASE("document_program: known forces", "[viscoelastic][golden]") {
  for (const auto& c : read_cone_cases()) {
    DocumentProgram<double> program;
    program.prepare(c.average.size() / 3);
    REQUIRE(program.solve(c.gain, c.average, c.frictions()) == QuadraticStatus::optimal);
    CAPTURE(c.average);
    CHECK((program.force() - c.program.force).norm() <= 1e-11 * c.average.norm());
    CHECK((program.velocity() - c.program.velocity).norm() <= 1e-11 * c.program.velocity.norm());
  }
}

TEST_CASE("document_program: forces of any unit", "[viscoelastic][law]") {
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

TEST_CASE("document_program: its own form", "[viscoelastic][example]") {
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

TEST_CASE("document_program: single precision follows double", "[viscoelastic][law]") {
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

TEST_CASE("document_program: a column that is not symmetric", "[viscoelastic][law]") {
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

}  // namespace document_program_test
