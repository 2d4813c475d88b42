// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/answer/map_rounding.hpp"

#include <algorithm>
#include <cmath>

#include "carom/contact/detail/delassus_islands.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/certificate_noise.hpp"
#include "support/dense_problem.hpp"
#include "support/dual_problems.hpp"
#include "support/sweep.hpp"
#include "support/wide_float.hpp"
#include "support/worst_case.hpp"

namespace map_rounding_test {

using carom::FrictionLaw, carom::Index, carom::MatrixX, carom::Vector3, carom::VectorX;
using carom::testing::convert_vector, carom::testing::DualData, carom::testing::foot_on_cone;
using carom::testing::inner, carom::testing::see_wide, carom::testing::VectorSource;
using carom::testing::Wide, carom::testing::WideVector, carom::testing::WorstCase;

namespace {

Wide norm(const WideVector& x) {
  return sqrt(inner(x, x));
}

/// The natural map error by its definition, of the numbers as the type holds them.
template <typename Scalar>
struct Oracle {
  MatrixX<Wide> matrix;  ///< W + R
  WideVector load, friction;
  Wide mean;

  explicit Oracle(const DualData& data)
      : matrix(carom::testing::widen(data.w.cast<Scalar>())),
        load(convert_vector<Wide>(data.q.cast<Scalar>())) {
    Wide trace = 0;
    for (Index i = 0; i < matrix.rows(); ++i) trace += matrix(i, i) += Wide(Scalar(data.r(i)));
    mean = trace / double(matrix.rows());
    friction.resize(Index(data.sets.size()));
    for (std::size_t i = 0; i < data.sets.size(); ++i) {
      friction(Index(i)) = Wide(Scalar(data.sets[i].friction(0)));
    }
  }
  [[nodiscard]] WideVector velocity(const WideVector& gamma) const {
    return carom::testing::multiply(matrix, gamma) + load;
  }
  /// ‖γ − P(γ − ũ/w)‖ w.
  [[nodiscard]] Wide map(FrictionLaw law, const WideVector& gamma) const {
    const WideVector u = velocity(gamma);
    WideVector miss = gamma;
    for (Index i = 0; i < friction.size(); ++i) {
      Vector3<Wide> y;
      for (Index k = 0; k < 3; ++k) y(k) = gamma(3 * i + k) - u(3 * i + k) / mean;
      if (law == FrictionLaw::coulomb) {
        const Wide slip = u(3 * i) * u(3 * i) + u(3 * i + 1) * u(3 * i + 1);
        y(2) -= friction(i) * sqrt(slip) / mean;
      }
      const Vector3<Wide> foot = foot_on_cone<Wide>(friction(i), 1, 1, y);
      for (Index k = 0; k < 3; ++k) miss(3 * i + k) -= foot(k);
    }
    return norm(miss) * mean;
  }
};

/// Impulses and velocities that obey a law: contacts that stick, slide or are open.
void plant(VectorSource<double>& source, FrictionLaw law, DualData& data,
           Eigen::VectorXd& impulse) {
  const Index rows = data.q.size();
  Eigen::VectorXd velocity = Eigen::VectorXd::Zero(rows);
  impulse.setZero(rows);
  for (Index i = 0; i < rows / 3; ++i) {
    const double mu = data.sets[std::size_t(i)].friction(0), push = source.positive(4);
    const double turn = 7 * source.unit(), slip = source.positive(4), place = source.unit();
    const Eigen::Vector2d along(std::cos(turn), std::sin(turn));
    const double lift = law == FrictionLaw::convex ? mu * slip : 0;
    if (place < 0.3) {
      velocity.segment<3>(3 * i) << slip * along, lift + source.positive(4);
      continue;
    }
    const double share = place < 0.6 ? source.unit() : 1;
    impulse.segment<3>(3 * i) << -share * mu * push * along, push;
    if (share == 1) velocity.segment<3>(3 * i) << slip * along, lift;
  }
  data.q = velocity - data.w * impulse - data.r.cwiseProduct(impulse);
}

}  // namespace

TEMPLATE_TEST_CASE(
    "map_rounding: the natural map errors hold to the last bit, and not by much more",
    "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(4020u);
  WorstCase relative("err"), absolute("err_abh"), tight("rounding of the numbers involved");
  const int count = carom::testing::sweep(100, 5000);
  for (int sample = 0; sample < count; ++sample) {
    const FrictionLaw law = sample % 2 == 0 ? FrictionLaw::coulomb : FrictionLaw::convex;
    DualData data = draw_dual(source, {1 + int(source.unit() * 6), 3, source.pick({0.3, 1, 10}),
                                       false, source.pick({0, 1e-6, 0.1})});
    const double units = source.positive(8);
    data.w *= units;
    data.r *= units;
    data.q *= source.positive(8);
    Eigen::VectorXd drawn = Eigen::VectorXd::Zero(data.q.size());
    if (sample % 5 < 3) {
      plant(source, law, data, drawn);
    } else {
      for (double& entry : drawn) entry = source.entry(4);
    }
    const auto problem = carom::testing::assemble_dual<Scalar>(data);
    const VectorX<Scalar> impulse = drawn.cast<Scalar>();
    const auto c = carom::certify(problem, impulse, law);
    const Oracle<Scalar> oracle(data);
    const WideVector gamma = convert_vector<Wide>(impulse);
    const Wide map = oracle.map(law, gamma), load = norm(oracle.load);
    const Wide scale =
        std::max({load, Wide(norm(gamma) * oracle.mean), norm(oracle.velocity(gamma))});
    see_wide(relative, map / scale, c.natural_map_error, sample);
    see_wide(absolute, map / load, c.absolute_error, sample);
    const auto noise = carom::testing::natural_map_noise(problem, law, impulse);
    tight.see(c.natural_map_error - static_cast<long double>(map / scale), noise.relative, sample);
  }
  relative.check(count);
  absolute.check(count);
  tight.check(count);
}

TEST_CASE("map_rounding: an answer in which nothing is rounded is confirmed to a few roundings",
          "[solvers][example]") {
  // W = 1/2, w = 1/2: the contact sticks, and y = γ, which is in the cone.
  DualData data = carom::testing::make_block(2, 0.5, Eigen::Vector3d(0.25, 0, -2));
  const Eigen::VectorXd impulse = Eigen::Vector3d(-0.5, 0, 4);
  const auto c = carom::certify(carom::testing::assemble_dual(data), impulse, FrictionLaw::coulomb);
  CHECK(c.natural_map_error <= carom::testing::rounding(40, 1.0));
  data.q(0) = 0.5;  // u = (0.25, 0, 0), and De Saxcé's normal velocity is 0.125
  const auto off =
      carom::certify(carom::testing::assemble_dual(data), impulse, FrictionLaw::coulomb);
  CHECK(off.natural_map_error > 0.05);
}

TEST_CASE("map_rounding: errors of islands, by the yardstick of all, add up to that of all",
          "[solvers][law]") {
  // Contacts that do not touch each other; w and q of the islands differ by decades.
  VectorSource<double> source(4021u);
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    DualData data = draw_dual(source, {4, 1, 0.3, false, 0.1});
    data.w.setZero();
    for (Index i = 0; i < 4; ++i) {
      const double scale = std::pow(10.0, double(i));
      data.w.block<3, 3>(3 * i, 3 * i) = scale * Eigen::Matrix3d::Identity();
      data.q.segment<3>(3 * i) /= scale;
    }
    const auto problem = carom::testing::assemble_dual(data);
    Eigen::VectorXd impulse(data.q.size());
    for (double& entry : impulse) entry = source.entry(1);
    carom::DelassusIslands<double> islands;
    islands.find(problem);
    REQUIRE(islands.count() == 4);
    double squared = 0;
    for (Index i = 0; i < 4; ++i) {
      carom::DelassusProblem<double> part;
      islands.write(problem, i, part);
      const Index contact = islands.contacts(i)[0];
      const double own = carom::certify(part, Eigen::VectorXd(impulse.segment<3>(3 * contact)), law)
                             .absolute_error;
      squared += own * own;
    }
    const double whole = carom::certify(problem, impulse, law).absolute_error;
    CHECK(std::abs(std::sqrt(squared) - whole) <= carom::testing::rounding(200, whole));
  }
}

}  // namespace map_rounding_test
