// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/delassus_operator.hpp"

#include "carom/contact/delassus_problem.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace delassus_operator_test {

using carom::DelassusOperator, carom::DelassusProblem, carom::FrictionLaw, carom::Index;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

/// W of some contacts in space, whole.
struct Dense {
  Eigen::MatrixXd matrix;

  [[nodiscard]] DelassusOperator<double> product() {
    return {this,
            [](void* self, std::span<const double> impulse, std::span<double> product) noexcept {
              const Eigen::MatrixXd& w = static_cast<Dense*>(self)->matrix;
              Eigen::Map<Eigen::VectorXd>(product.data(), w.rows()).noalias() =
                  w.lazyProduct(Eigen::Map<const Eigen::VectorXd>(impulse.data(), w.cols()));
            }};
  }
};

}  // namespace

TEST_CASE("delassus operator: a user's function makes the problem that its blocks would",
          "[contact][law]") {
  VectorSource<double> source(71u);
  for (int sample = 0; sample < 30; ++sample) {
    const Index contacts = 1 + sample % 5, rows = 3 * contacts;
    Eigen::MatrixXd factor(rows, rows);
    for (Index c = 0; c < rows; ++c) {
      for (Index r = 0; r < rows; ++r) factor(r, c) = (2 * source.unit() - 1);
    }
    Dense dense{factor * factor.transpose()};
    DelassusProblem<double> written, product;
    for (Index i = 0; i < contacts; ++i) {
      const Eigen::Vector3d load((2 * source.unit() - 1), (2 * source.unit() - 1), -1);
      carom::RowNumbers<double> weights = carom::RowNumbers<double>::Zero();
      weights.head<3>().setConstant(0.1 * double(sample % 2));
      for (DelassusProblem<double>* problem : {&written, &product}) {
        problem->add_contact(carom::friction_impulses(0.5), load, weights);
        problem->add_coupling(i, i, dense.matrix.block<3, 3>(3 * i, 3 * i));
      }
      for (Index j = 0; j < i; ++j) {
        written.add_coupling(i, j, dense.matrix.block<3, 3>(3 * i, 3 * j));
      }
    }
    product.set_operator(dense.product());
    written.assemble();
    product.assemble();
    CHECK(product.matrix_free());
    CHECK(product.mean_diagonal() == written.mean_diagonal());
    Eigen::VectorXd gamma(rows), u(rows), expected(rows);
    for (Index k = 0; k < rows; ++k) gamma(k) = source.unit();
    product.write_velocities(carom::as_span(gamma), carom::as_span(u));
    written.write_velocities(carom::as_span(gamma), carom::as_span(expected));
    CHECK((u - expected).norm() <= rounding(100, expected.norm() + gamma.norm()));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      const auto a = certify(product, gamma, law), b = certify(written, gamma, law);
      CHECK(std::abs(a.natural_map_error - b.natural_map_error) <= rounding(500, 1.0));
      CHECK(a.worst_block == b.worst_block);
    }
    product.reset();
    CHECK(!product.matrix_free());
  }
}

TEST_CASE("delassus operator: a function that is none is refused", "[contact][example]") {
  DelassusProblem<double> problem;
  CHECK_THROWS_WITH(problem.set_operator({}), "operator: expected a function");
  CHECK(!problem.matrix_free());
}

}  // namespace delassus_operator_test
