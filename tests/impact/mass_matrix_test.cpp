// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/mass_matrix.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace mass_matrix_test {

using carom::Index, carom::MassMatrix, carom::MatrixX, carom::VectorX;
using carom::testing::draw_definite, carom::testing::draw_vector, carom::testing::refusal_of;
using carom::testing::rounding, carom::testing::vector_of, carom::testing::VectorSource;
using carom::testing::WorstCase;

TEMPLATE_TEST_CASE("mass_matrix: blocks, a dense matrix and a solve agree", "[impact][oracle]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(73u);
  WorstCase solves("M (M⁻¹ p) = p"), multiplies("momentum is M v");
  for (int round = 0; round < 100; ++round) {
    MassMatrix<Scalar> blocks;
    const Index count = 1 + round % 4;
    MatrixX<Scalar> whole = MatrixX<Scalar>::Zero(0, 0);
    for (Index b = 0; b < count; ++b) {
      const Index n = 1 + (round + b) % 5;
      const MatrixX<Scalar> block = draw_definite(source, n).template cast<Scalar>();
      blocks.add_block(block);
      const Index old = whole.rows();
      whole.conservativeResizeLike(MatrixX<Scalar>::Zero(old + n, old + n));
      whole.bottomRightCorner(n, n) = block;
    }
    REQUIRE(blocks.size() == whole.rows());
    const auto dense = MassMatrix<Scalar>::make_dense(whole);
    const VectorX<Scalar> v = draw_vector(source, whole.rows()).template cast<Scalar>();
    const VectorX<Scalar> p = whole * v;
    const Scalar allowed = rounding<Scalar>(1000, v.norm());
    for (int form = 0; form < 2; ++form) {
      const MassMatrix<Scalar>& mass = form == 0 ? blocks : dense;
      VectorX<Scalar> solved = p;
      mass.apply_inverse(solved);
      solves.see((solved - v).norm(), 4 * allowed, whole, v);
      multiplies.see((mass.momentum(v) - p).norm(), allowed, whole, v);
    }
  }
  solves.check(200);
  multiplies.check(200);
}

TEST_CASE("mass_matrix: a diagonal one divides", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({2, 4, 0.25}));
  VectorX<double> p = vector_of({1, 1, 1});
  mass.apply_inverse(p);
  CHECK((p - vector_of({0.5, 0.25, 4})).norm() <= rounding(4, 4.0));
  CHECK(mass.momentum(vector_of({1, 2, 3})) == vector_of({2, 8, 0.75}));
  CHECK(mass.size() == 3);
  CHECK(MassMatrix<double>().size() == 0);
}

TEST_CASE("mass_matrix: half of a small asymmetry goes to either side", "[impact][example]") {
  MatrixX<double> matrix(2, 2);
  matrix << 2, 1 + 1e-10, 1 - 1e-10, 3;
  const auto mass = MassMatrix<double>::make_dense(matrix);
  CHECK(mass.momentum(vector_of({0, 1}))(0) == Approx(1).epsilon(rounding(5, 1.0)));
  CHECK(mass.momentum(vector_of({1, 0}))(1) == Approx(1).epsilon(rounding(5, 1.0)));
}

TEST_CASE("mass_matrix: what is no mass is refused by block and entry", "[impact][example]") {
  const auto refused = [](const MatrixX<double>& block) {
    MassMatrix<double> mass;
    mass.add_block(MatrixX<double>::Identity(2, 2));
    const std::string sentence = refusal_of([&] { mass.add_block(block); });
    CHECK(mass.size() == 2);  // as it was
    VectorX<double> p = vector_of({3, 4});
    mass.apply_inverse(p);
    CHECK(p == vector_of({3, 4}));
    mass.add_block(2 * MatrixX<double>::Identity(1, 1));
    CHECK(mass.momentum(vector_of({3, 4, 5})) == vector_of({3, 4, 10}));
    return sentence;
  };
  MatrixX<double> block(2, 2);
  block << 1, 2, 2, 1;
  CHECK(refused(block) ==
        "mass block 1: expected a positive definite matrix, got an indefinite one");
  block << 1, 0.5, 0, 1;
  CHECK(refused(block) ==
        "mass block 1 entry (1, 0): expected its mirror image (a symmetric matrix), got 0");
  block << 1, 0, 0, -1;
  CHECK(refused(block) == "mass block 1 entry (1, 1): expected a number > 0, got -1");
  block << 1, std::numeric_limits<double>::quiet_NaN(), 0, 1;
  CHECK(refused(block) == "mass block 1 entry (0, 1): expected a finite number, got nan");
  CHECK(refused(MatrixX<double>(0, 0)) == "mass block 1 rows: expected at least 1, got 0");
  CHECK(refusal_of([] {
          static_cast<void>(MassMatrix<double>::make_diagonal(vector_of({1, 2, 0})));
        }) == "mass block 2 entry (0, 0): expected a number > 0, got 0");
}

}  // namespace mass_matrix_test
