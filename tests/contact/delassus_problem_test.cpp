// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/delassus_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/SparseCore>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace delassus_problem_test {

using carom::DelassusProblem, carom::friction_impulses, carom::ImpulseShape, carom::Index;
using carom::MatrixX, carom::RowNumbers, carom::Vector3, carom::VectorX;
using carom::testing::convert_law, carom::testing::draw_law, carom::testing::draw_matrix;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// Laws of every shape, and a dense W among them, some of whose blocks are zero.
struct DenseCase {
  std::vector<carom::WeightedBlock<double>> laws;
  std::vector<Index> starts;  ///< one more than laws
  Eigen::MatrixXd matrix;     ///< W
  Eigen::VectorXd load, weights;

  [[nodiscard]] Index count() const { return Index(laws.size()); }
  [[nodiscard]] Index rows() const { return starts.back(); }
  [[nodiscard]] Index size(Index i) const { return starts[at(i + 1)] - starts[at(i)]; }
  [[nodiscard]] auto block(Index i, Index j) const {
    return matrix.block(starts[at(i)], starts[at(j)], size(i), size(j));
  }
  [[nodiscard]] bool apart(Index i, Index j) const { return block(i, j).isZero(0); }
  static std::size_t at(Index i) { return std::size_t(i); }
};

/// @param rank  of W, less than the rows: singular.
DenseCase draw_case(VectorSource<double>& source, int count, int rank, bool rigid) {
  DenseCase drawn;
  drawn.starts.push_back(0);
  for (int i = 0; i < count; ++i) {
    drawn.laws.push_back(draw_law(source, int(source.unit() * 10)));
    if (rigid) drawn.laws.back().regularization.setZero();
    drawn.starts.push_back(drawn.rows() + drawn.laws.back().set.rows);
  }
  const Index rows = drawn.rows();
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(rows, rank);
  for (int i = 0; i < count; ++i) {  // each touches two bodies of four unknowns
    for (int side = 0; side < 2; ++side) {
      const Index body = Index(source.unit() * std::max(1, rank / 4));
      const Index columns = std::min<Index>(4, rank - 4 * body);
      jacobian.block(drawn.starts[std::size_t(i)], 4 * body, drawn.size(i), columns) =
          draw_matrix(source, drawn.size(i), columns);
    }
  }
  drawn.matrix = jacobian * jacobian.transpose();
  drawn.matrix = (drawn.matrix + drawn.matrix.transpose()).eval() / 2;
  drawn.load = draw_matrix(source, rows, 1);
  drawn.weights.resize(rows);
  for (int i = 0; i < count; ++i) {
    drawn.weights.segment(drawn.starts[std::size_t(i)], drawn.size(i)) =
        drawn.laws[std::size_t(i)].regularization.head(drawn.size(i));
  }
  return drawn;
}

template <typename Scalar>
void add_contacts(const DenseCase& drawn, DelassusProblem<Scalar>& problem) {
  for (Index i = 0; i < drawn.count(); ++i) {
    const auto law = convert_law<Scalar>(drawn.laws[std::size_t(i)]);
    const VectorX<Scalar> load =
        drawn.load.segment(drawn.starts[std::size_t(i)], drawn.size(i)).template cast<Scalar>();
    CHECK(problem.add_contact(law.set, load, law.regularization) == i);
  }
}

/// u = (W + R) γ + q by the problem, row by row.
template <typename Scalar>
VectorX<Scalar> velocity_of(const DelassusProblem<Scalar>& problem,
                            const VectorX<Scalar>& impulse) {
  VectorX<Scalar> parts(1), velocity, rows;
  problem.write_parts(impulse, parts);
  velocity.resize(3 * problem.part_count());
  for (Index p = 0; p < problem.part_count(); ++p) {
    velocity.template segment<3>(3 * p) = problem.part_velocity(p, carom::as_span(parts));
  }
  problem.write_rows(velocity, rows);
  return rows;
}

/// Everything that can be asked of an assembled problem, against dense numbers.
template <typename Scalar>
void check_against(const DenseCase& drawn, const DelassusProblem<Scalar>& problem,
                   VectorSource<double>& source, WorstCase& products) {
  REQUIRE(problem.count() == drawn.count());
  REQUIRE(problem.row_count() == drawn.rows());
  const Index rows = drawn.rows();
  const Eigen::VectorXd gamma = draw_matrix(source, rows, 1);
  const VectorX<Scalar> impulse = gamma.cast<Scalar>();
  const Eigen::VectorXd expected =
      drawn.matrix * gamma + drawn.weights.cwiseProduct(gamma) + drawn.load;
  const double unit = rounding(60, Scalar(1));
  const double size = drawn.matrix.norm() + drawn.weights.norm();
  products.see((velocity_of(problem, impulse).template cast<double>() - expected).norm(),
               unit * (size * gamma.norm() + drawn.load.norm()));
  const double mean =
      (drawn.matrix.trace() + drawn.weights.sum()) / double(std::max<Index>(rows, 1));
  products.see(std::abs(double(problem.mean_diagonal()) - mean), unit * size);
  products.see(std::abs(double(problem.load_norm()) - drawn.load.norm()), unit * drawn.load.norm());
  Index blocks = 0, part = 0;
  for (Index i = 0; i < problem.count(); ++i) {
    CHECK(problem.first_row(i) == drawn.starts[std::size_t(i)]);
    CHECK(problem.first_part(i) == part);
    CHECK(problem.parts(i) == (drawn.size(i) > 3 ? 2 : 1));
    CHECK(problem.set(i).shape == drawn.laws[std::size_t(i)].set.shape);
    for (int p = 0; p < problem.parts(i); ++p, ++part) CHECK(problem.part_contact(part) == i);
  }
  CHECK(problem.part_count() == part);
  std::vector<char> present(std::size_t(3 * part), 0);
  problem.for_each_row([&](Index row, const auto& place) {
    present[std::size_t(3 * place.part + place.row)] = 1;
    products.see(std::abs(double(problem.diagonal(place.part)(place.row, place.row)) -
                          drawn.matrix(row, row) - drawn.weights(row)),
                 unit * size);
    products.see(std::abs(double(problem.load(place.part)(place.row)) - drawn.load(row)), unit);
    products.see(
        std::abs(double(problem.regularization(place.part)(place.row)) - drawn.weights(row)),
        unit * drawn.weights(row));
  });
  for (Index p = 0; p < part; ++p) {
    Index before = -1;
    bool own = false;
    for (const auto* n = problem.begin(p); n != problem.end(p); ++n, ++blocks) {
      CHECK(n->part > before);
      before = n->part;
      own = own || n->part == p;
    }
    CHECK(own);
    for (int r = 0; r < 3; ++r)
      CHECK(problem.present(p, r) == (present[std::size_t(3 * p + r)] == 1));
  }
  CHECK(problem.coupling_count() == blocks);
  CHECK(problem.check().empty());
}

using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// What refuses, and with which sentence.
template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEMPLATE_TEST_CASE("delassus problem: blocks in any order make the dense matrix",
                   "[contact][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(51u);
  WorstCase products("u = (W + R) g + q");
  DelassusProblem<Scalar> problem;
  for (int sample = 0; sample < 120; ++sample) {
    const auto drawn = draw_case(source, sample % 13, 1 + int(source.unit() * 30), sample % 3 == 0);
    problem.reset();
    add_contacts(drawn, problem);
    std::vector<std::pair<Index, Index>> order;
    for (Index i = 0; i < drawn.count(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        if (i == j || !drawn.apart(i, j)) order.emplace_back(i, j);
        if (i != j && !drawn.apart(i, j) && source.unit() < 0.5)
          std::swap(order.back().first, order.back().second);
      }
    }
    for (std::size_t k = order.size(); k > 1; --k) {
      std::swap(order[k - 1], order[std::size_t(source.unit() * double(k))]);
    }
    for (const auto& [i, j] : order) {  // in one piece or in two
      const MatrixX<Scalar> block = drawn.block(i, j).template cast<Scalar>();
      if (source.unit() < 0.5) {
        problem.add_coupling(i, j, block / Scalar(4));
        problem.add_coupling(i, j, block * Scalar(0.75));
      } else {
        problem.add_coupling(i, j, block);
      }
    }
    problem.assemble();
    check_against(drawn, problem, source, products);
    CHECK(problem.asymmetry() == 0);
  }
  products.check(1000);
}

TEMPLATE_TEST_CASE("delassus problem: a sparse matrix, by rows or columns, makes the same",
                   "[contact][oracle]", RowMajor, Eigen::SparseMatrix<double>) {
  VectorSource<double> source(52u);
  WorstCase products("u = (W + R) g + q"), skew("asymmetry");
  DelassusProblem<double> problem;
  for (int sample = 0; sample < 60; ++sample) {
    const auto drawn = draw_case(source, sample % 13, 1 + int(source.unit() * 30), sample % 3 == 0);
    problem.reset();
    add_contacts(drawn, problem);
    Eigen::MatrixXd given = drawn.matrix;
    double largest = 0, part = 0;
    if (sample % 2 == 0 && drawn.rows() > 1) {  // a skew part is left out, and said
      for (int k = 0; k < 3; ++k) {
        const Index i = Index(source.unit() * double(drawn.rows())), j = (i + 1) % drawn.rows();
        const double change = 1e-3 * (source.unit() - 0.5);
        given(i, j) += change;
        given(j, i) -= change;
      }
    }
    for (Index i = 0; i < given.rows(); ++i) {
      for (Index j = 0; j < i; ++j) part = std::max(part, std::abs(given(i, j) - given(j, i)));
    }
    if (given.size() > 0) largest = given.cwiseAbs().maxCoeff();
    problem.add_matrix(TestType(given.sparseView()));
    check_against(drawn, problem, source, products);
    skew.see(std::abs(problem.asymmetry() - (largest > 0 ? part / largest : 0)), rounding(8, 1.0));
  }
  products.check(500);
  skew.check(60);
}

TEST_CASE("delassus problem: rows keep their places in parts", "[contact][example]") {
  DelassusProblem<double> problem;
  problem.add_contact(carom::cone_impulses<double>(ImpulseShape::planar, {0.5, 0, 0}),
                      Eigen::Vector2d(1, 2));
  problem.add_contact(carom::cone_impulses<double>(ImpulseShape::torsional, {0.5, 0.1, 0}),
                      Eigen::Vector4d(3, 4, 5, 6));
  problem.add_contact(carom::free_impulses<double>(2), Eigen::Vector2d(7, 8));
  problem.assemble();
  VectorX<double> rows(8), parts, again;
  rows << 1, 2, 3, 4, 5, 6, 7, 8;
  problem.write_parts(rows, parts);
  VectorX<double> expected(12);
  expected << 1, 0, 2, 3, 4, 5, 6, 0, 0, 7, 8, 0;
  CHECK(parts == expected);
  for (Index p = 0; p < 4; ++p)
    CHECK(problem.load(p) == Vector3<double>(expected.segment<3>(3 * p)));
  problem.write_rows(parts, again);
  CHECK(again == rows);
  CHECK(problem.mean_diagonal() == 0);
  CHECK(problem.inverse_mass_scale() == 1);
  CHECK(problem.load_norm() == Approx(rows.norm()));
}

TEST_CASE("delassus problem: a contact's own block is there, added or not", "[contact][example]") {
  DelassusProblem<double> problem;
  for (int i = 0; i < 3; ++i) problem.add_contact(friction_impulses(0.5), Eigen::Vector3d(0, 0, 0));
  problem.add_coupling(0, 2, Eigen::Matrix3d::Identity());
  problem.assemble();
  CHECK(problem.coupling_count() == 5);
  for (Index p = 0; p < 3; ++p) {
    const auto* const own = problem.begin(p) + (p == 2 ? 1 : 0);
    CHECK(own->part == p);
    CHECK(own->matrix.isZero(0));
  }
  CHECK(problem.begin(0)[1].part == 2);
  CHECK(problem.begin(2)[0].part == 0);
}

TEST_CASE("delassus problem: an empty problem, and one that is emptied", "[contact][example]") {
  DelassusProblem<double> problem;
  problem.assemble();
  CHECK(problem.count() == 0);
  CHECK(problem.row_count() == 0);
  CHECK(problem.mean_diagonal() == 0);
  CHECK(problem.check().empty());
  problem.add_contact(friction_impulses(0.5), Eigen::Vector3d(1, 2, 3));
  problem.add_coupling(0, 0, Eigen::Matrix3d::Identity());
  problem.assemble();
  CHECK(problem.coupling_count() == 1);
  problem.reset();
  problem.assemble();
  CHECK(problem.coupling_count() == 0);
  CHECK(problem.load_norm() == 0);
  VectorX<double> rows(0), parts(4);
  problem.write_parts(rows, parts);
  CHECK(parts.size() == 0);
}

TEST_CASE("delassus problem: a fault names the item that is wrong", "[contact][input]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  DelassusProblem<double> problem;
  const auto set = friction_impulses(0.5);
  const Eigen::Vector3d load(1, 2, 3);
  problem.add_contact(set, load);
  CHECK(refusal([&] { problem.add_contact(friction_impulses(-0.5), load); }) ==
        "contact 1: friction entry 0: expected a finite number >= 0, got -0.5");
  CHECK(refusal([&] { problem.add_contact(set, Eigen::Vector2d(1, 2)); }) ==
        "contact 1: load size: expected 3, got 2");
  CHECK(refusal([&] { problem.add_contact(set, Eigen::Vector3d(1, nan, 2)); }) ==
        "contact 1: load entry 1: expected a finite number, got nan");
  RowNumbers<double> weights = RowNumbers<double>::Zero();
  weights(2) = -1;
  CHECK(refusal([&] { problem.add_contact(set, load, weights); }) ==
        "contact 1: regularization entry 2: expected a finite number >= 0, got -1");
  weights(2) = std::numeric_limits<double>::infinity();
  CHECK(problem.check_contact(set, load, weights) ==
        "contact 1: regularization entry 2: expected a finite number >= 0, got inf");
  weights.setZero();
  weights(3) = nan;  // beyond the rows
  CHECK(problem.check_contact(set, load, weights).empty());
  CHECK(problem.count() == 1);
  CHECK(problem.row_count() == 3);

  problem.add_contact(carom::free_impulses<double>(2), Eigen::Vector2d(1, 2));
  const Eigen::Matrix3d three = Eigen::Matrix3d::Identity();
  CHECK(refusal([&] { problem.add_coupling(2, 0, three); }) ==
        "block (2, 0): expected contacts that were added, got 2");
  CHECK(refusal([&] { problem.add_coupling(0, -1, three); }) ==
        "block (0, -1): expected contacts that were added, got -1");
  CHECK(refusal([&] { problem.add_coupling(1, 0, three); }) ==
        "block (1, 0): rows: expected 2, got 3");
  CHECK(refusal([&] { problem.add_coupling(0, 1, three); }) ==
        "block (0, 1): columns: expected 2, got 3");
  Eigen::Matrix3d bad = three;
  bad(2, 1) = nan;
  CHECK(refusal([&] { problem.add_coupling(0, 0, bad); }) ==
        "block (0, 0) entry (2, 1): expected a finite number, got nan");
  problem.assemble();
  CHECK(problem.mean_diagonal() == 0);  // refused blocks leave nothing

  Eigen::SparseMatrix<double> wide(5, 4), tall(4, 5), square(5, 5);
  CHECK(refusal([&] { problem.add_matrix(wide); }) == "W: size: expected 5, got 4");
  CHECK(refusal([&] { problem.add_matrix(tall); }) == "W: size: expected 5, got 4");
  square.insert(3, 1) = nan;
  CHECK(refusal([&] { problem.add_matrix(square); }) ==
        "W entry (3, 1): expected a finite number, got nan");
}

TEST_CASE("delassus problem: own blocks that no bodies could have are found", "[contact][input]") {
  const auto said = [](const carom::ImpulseSet<double>& set, const Eigen::MatrixXd& block) {
    DelassusProblem<double> problem;
    problem.add_contact(friction_impulses(0.5), Eigen::Vector3d(0, 0, 0));
    problem.add_coupling(0, 0, Eigen::Matrix3d::Identity());
    problem.add_contact(set, Eigen::VectorXd::Zero(set.rows));
    problem.add_coupling(1, 1, block);
    problem.assemble();
    return problem.check();
  };
  const std::string wrong = "contact 1: expected a symmetric positive semidefinite own block of W";
  const auto friction = friction_impulses(0.5);
  Eigen::Matrix3d block = Eigen::Matrix3d::Identity();
  CHECK(said(friction, block).empty());
  CHECK(said(friction, 0 * block).empty());
  for (int i = 0; i < 3; ++i) {
    block = Eigen::Vector3d(1, 1, 1).asDiagonal();
    block(i, i) = -1e-9;
    CHECK(said(friction, block) == wrong);
    block = Eigen::Matrix3d::Identity();
    block(i, (i + 1) % 3) = block((i + 1) % 3, i) = 1.001;  // any pair of rows
    CHECK(said(friction, block) == wrong);
    block(i, (i + 1) % 3) = block((i + 1) % 3, i) = 1;  // singular, up to rounding
    CHECK(said(friction, block).empty());
    block(i, (i + 1) % 3) = block((i + 1) % 3, i) = 1 + 1e-15;
    CHECK(said(friction, block).empty());
    block(i, (i + 1) % 3) = 0.9;
    CHECK(said(friction, block) == wrong);  // not symmetric
  }
  // Each pair is fine, the three are not: 1 − 2·0.6 < 0 along (1, 1, 1).
  block << 1, -0.6, -0.6, -0.6, 1, -0.6, -0.6, -0.6, 1;
  CHECK(said(friction, block) == wrong);
  // Forces against moments, in two parts.
  const auto rolling = carom::cone_impulses<double>(ImpulseShape::rolling, {0.5, 0.1, 0.1});
  Eigen::MatrixXd six = Eigen::MatrixXd::Identity(6, 6);
  CHECK(said(rolling, six).empty());
  six(1, 4) = six(4, 1) = 1.1;
  CHECK(said(rolling, six) == wrong);
  // R makes up for what W lacks.
  DelassusProblem<double> problem;
  RowNumbers<double> weights = RowNumbers<double>::Ones();
  problem.add_contact(friction, Eigen::Vector3d(0, 0, 0), weights);
  problem.add_coupling(0, 0, -0.5 * Eigen::Matrix3d::Identity());
  problem.assemble();
  CHECK(problem.check().empty());
}

TEMPLATE_TEST_CASE("delassus problem: blocks whose sum is beyond the range of the type are found",
                   "[contact][input]", float, double) {
  using Scalar = TestType;
  DelassusProblem<Scalar> problem;
  CHECK(problem.is_finite());
  for (int i = 0; i < 2; ++i) {
    problem.add_contact(friction_impulses(Scalar(0.5)), Vector3<Scalar>(0, 0, -1));
  }
  const Scalar most = (std::numeric_limits<Scalar>::max)();
  const MatrixX<Scalar> block = most * MatrixX<Scalar>::Identity(3, 3);
  for (const Index other : {Index(0), Index(1)}) {
    problem.add_coupling(0, other, block);
    problem.assemble();
    CHECK(problem.is_finite());
  }
  problem.add_coupling(0, 1, block);
  problem.assemble();
  CHECK(!problem.is_finite());
  problem.reset();
  problem.assemble();
  CHECK(problem.is_finite());
}

TEST_CASE("delassus problem: the asymmetry is relative to the largest entry, however small",
          "[contact][law]") {
  for (const double unit : {1e-9, 1e-3, 1.0, 1e6}) {
    DelassusProblem<double> problem;
    for (int i = 0; i < 2; ++i) {
      problem.add_contact(carom::pushing_impulse<double>(), carom::Vector<double, 1>(0.0));
    }
    Eigen::Matrix2d given;
    given << 1, 0.3, 0.1, 1;
    problem.add_matrix(Eigen::SparseMatrix<double>((unit * given).sparseView(unit, 1e-12)));
    CHECK(problem.asymmetry() == Approx(0.2).epsilon(carom::testing::rounding(10, 1.0)));
  }
}

TEST_CASE("delassus problem: an operator without a function is refused", "[contact][input]") {
  DelassusProblem<double> problem;
  CHECK_THROWS_WITH(problem.set_operator({}), Catch::Contains("operator: expected a function"));
  CHECK_FALSE(problem.matrix_free());
}

}  // namespace delassus_problem_test
