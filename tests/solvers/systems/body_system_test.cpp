// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/body_system.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/LU>

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace body_system_test {

using carom::Index;
using carom::detail::BlockGains, carom::detail::BlockIsland, carom::detail::BlockRows;
using carom::detail::BodySystem, carom::detail::PartMatrix;
using carom::testing::BodyMatrices, carom::testing::build, carom::testing::ConstrainedProblem;
using carom::testing::by_conditioning;
using carom::testing::draw_body_problem, carom::testing::rounding, carom::testing::RowPlaces;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// A problem taken on, with gains of every block: positive definite, and where they need not be
/// symmetric, with a part that turns.
template <typename Scalar>
struct Case {
  BodySystem<Scalar> system;
  BlockGains<Scalar> gains;
  RowPlaces places;
  Eigen::MatrixXd delassus, gain;  ///< W and N by rows
  std::vector<Scalar> offset;

  /// What for_each_row is asked of.
  struct Layout {
    const BodySystem<Scalar>& system;
    template <typename Visit>
    void for_each_row(const Visit& visit) const {
      system.rows().for_each_row(visit);
    }
  };

  Case(const ConstrainedProblem& raw, const BodyMatrices& dense, bool symmetric, double size,
       VectorSource<double>& source)
      : places(take(raw, symmetric), dense.load.size()), delassus(dense.delassus) {
    gains.lay_out(system.blocks());
    gain = Eigen::MatrixXd::Zero(dense.load.size(), dense.load.size());
    for (Index i = 0; i < system.blocks().size(); ++i) {
      system.blocks().visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
        constexpr int width = 3 * Parts;
        const Eigen::MatrixXd spread = carom::testing::draw_matrix(source, width, width);
        const Eigen::MatrixXd turn = carom::testing::draw_matrix(source, width, width);
        Eigen::MatrixXd own = spread * spread.transpose();
        own.diagonal().array() += 0.1;
        if (symmetric) own = ((own + own.transpose()) / 2).eval();
        if (!symmetric) own += 0.7 * (turn - turn.transpose());
        own *= size / double(block.inverse_mass);
        PartMatrix<Scalar, Parts> n;
        for (int r = 0; r < block.size(); ++r) {
          for (int c = 0; c < block.size(); ++c) {
            if (block.present(r) && block.present(c)) n(r, c) = Scalar(own(r, c));
          }
        }
        gains.write(i, block.parts, n);
        for (Index a = 0; a < gain.rows(); ++a) {
          for (Index b = 0; b < gain.rows(); ++b) {
            const Index r = places.place[std::size_t(a)] - 3 * block.first_part;
            const Index c = places.place[std::size_t(b)] - 3 * block.first_part;
            if (r < 0 || c < 0 || r >= block.size() || c >= block.size()) continue;
            gain(a, b) = double(n(int(r), int(c)));
          }
        }
      });
    }
    offset.assign(std::size_t(3 * system.part_count()), Scalar(0));
  }
  Layout take(const ConstrainedProblem& raw, bool symmetric) {
    system.take(build<Scalar>(raw), symmetric);
    return {system};
  }
  /// Solves all islands; h by rows.
  void solve(const Eigen::VectorXd& h, Eigen::VectorXd& step, Eigen::VectorXd& moved) {
    places.write(h, offset.data());
    std::vector<Scalar> dgamma(offset.size()), product(offset.size());
    for (Index i = 0; i < system.islands().size(); ++i) {
      REQUIRE(system.factor(i, gains));
      system.solve(i, gains, offset.data(), dgamma.data(), product.data());
    }
    step = places.rows(dgamma.data());
    moved = places.rows(product.data());
  }
};

template <typename Visit>
void for_each_problem(std::uint32_t seed, const Visit& visit) {
  VectorSource<double> source(seed);
  for (const std::vector<int>& sizes : {std::vector<int>{6, 6, 6, 6, 6, 6},
                                        {3, 3, 3, 3, 3},
                                        {1, 2, 3, 6, 7, 4, 6},
                                        {9, 6, 3, 2, 6}}) {
    const ConstrainedProblem raw = draw_body_problem(source, sizes);
    const BodyMatrices dense(raw);
    for (const bool symmetric : {true, false}) visit(raw, dense, symmetric, source);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("body_system: it solves what a dense factorisation solves", "[solvers][oracle]",
                   float, double) {
  using Scalar = TestType;
  WorstCase steps("dγ"), products("W dγ");
  for_each_problem(1, [&](const auto& raw, const auto& dense, bool symmetric, auto& source) {
    for (const double size : {1e-3, 1., 30.}) {
      Case<Scalar> one(raw, dense, symmetric, size, source);
      const Index count = dense.load.size();
      const Eigen::VectorXd h = carom::testing::draw_matrix(source, count, 1);
      Eigen::VectorXd step, moved;
      one.solve(h, step, moved);
      const Eigen::MatrixXd matrix =
          Eigen::MatrixXd::Identity(count, count) + one.gain * one.delassus;
      const Eigen::PartialPivLU<Eigen::MatrixXd> lu(matrix);
      const Eigen::VectorXd expected = lu.solve(h.cast<Scalar>().template cast<double>());
      const double condition = matrix.norm() * lu.inverse().norm();
      const double allowed = sizeof(Scalar) == 8 ? 1e-10 : double(rounding<Scalar>(10, 1));
      const double scale = sizeof(Scalar) == 8 ? 1 : condition;
      steps.see((step - expected).norm(), allowed * scale * expected.norm(), size, symmetric);
      products.see((moved - one.delassus * expected).norm(),
                   allowed * scale * one.delassus.norm() * expected.norm(), size, symmetric);
    }
  });
  steps.check(24);
  products.check(24);
}

TEST_CASE("body_system: where gains are large, held rows stay held", "[solvers][law]") {
  // N = 1e9 takes off what W dγ is to be, h = N g: the step is refined until impulses and
  // velocities agree to the 1e-7 that the system asks for.
  WorstCase answer("dγ = h − N W dγ"), agree("W dγ is that of dγ"), held("W dγ = g");
  for_each_problem(2, [&](const auto& raw, const auto& dense, bool symmetric, auto& source) {
    Case<double> one(raw, dense, symmetric, 1e9, source);
    const Index count = dense.load.size();
    const Eigen::VectorXd free = carom::testing::draw_matrix(source, dense.dual.momentum.rows(), 1);
    const Eigen::VectorXd g = dense.dual.jacobian * free;  // what bodies can do
    Eigen::VectorXd step, moved;
    const Eigen::VectorXd h = one.gain * g;
    one.solve(h, step, moved);
    answer.see((step - (h - one.gain * moved)).norm(), double(rounding<double>(200, 1)) * h.norm());
    held.see((moved - g).norm(), by_conditioning(1e-7) * g.norm(), symmetric);
    agree.see((one.delassus * step - moved).norm(),
              by_conditioning(1e-6) * moved.norm() + by_conditioning(1e-6) * g.norm(), symmetric,
              count);
  });
  answer.check(8);
  held.check(8);
  agree.check(8);
}

TEST_CASE("body_system: products are those of the dense matrix", "[solvers][oracle]") {
  WorstCase products("W γ");
  for_each_problem(3, [&](const auto& raw, const auto& dense, bool symmetric, auto& source) {
    Case<double> one(raw, dense, symmetric, 1, source);
    const Eigen::VectorXd gamma = carom::testing::draw_matrix(source, dense.load.size(), 1);
    std::vector<double> impulse(one.offset.size(), 0), product(one.offset.size());
    one.places.write(gamma, impulse.data());
    for (Index i = 0; i < one.system.islands().size(); ++i) {
      one.system.multiply(i, impulse.data(), product.data());
    }
    products.see((one.places.rows(product.data()) - dense.delassus * gamma).norm(),
                 double(rounding<double>(200, 1)) * dense.delassus.norm() * gamma.norm());
    products.see((one.places.rows(one.system.load()) - dense.load).norm(),
                 double(rounding<double>(500, 1)) * (1 + dense.load.norm()));
  });
  products.check(16);
}

TEST_CASE("body_system: islands do not influence each other", "[solvers][law]") {
  WorstCase untouched("others' numbers stay"), same("bit by bit as beside others");
  for_each_problem(4, [&](const auto& raw, const auto& dense, bool symmetric, auto& source) {
    Case<double> one(raw, dense, symmetric, 2, source);
    const auto& islands = one.system.islands();
    REQUIRE(islands.size() >= 2);
    Eigen::VectorXd step, moved;
    const Eigen::VectorXd h = carom::testing::draw_matrix(source, dense.load.size(), 1);
    one.solve(h, step, moved);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (Index i = 0; i < islands.size(); ++i) {
      Case<double> alone = one;  // of a copy, whose other islands are poisoned
      alone.system.take(build<double>(raw), symmetric);
      std::vector<double> poisoned(one.offset.size(), nan), own(poisoned), product(poisoned);
      for (Index p = 3 * islands[i].first_part; p < 3 * islands[i].part_end; ++p) {
        poisoned[std::size_t(p)] = one.offset[std::size_t(p)];
      }
      REQUIRE(alone.system.factor(i, one.gains));
      alone.system.solve(i, one.gains, poisoned.data(), own.data(), product.data());
      for (Index r = 0; r < dense.load.size(); ++r) {
        const Index p = one.places.place[std::size_t(r)];
        const bool mine = 3 * islands[i].first_part <= p && p < 3 * islands[i].part_end;
        const double x = own[std::size_t(p)];
        if (mine) {
          same.see_holds(x == step(r) && product[std::size_t(p)] == moved(r));
        } else {
          untouched.see_holds(std::isnan(x) && std::isnan(product[std::size_t(p)]));
        }
      }
    }
  });
  untouched.check(100);
  same.check(100);
}

TEST_CASE("body_system: it takes on other problems, and either kind of gains, in any order",
          "[solvers][law]") {
  VectorSource<double> source(5);
  const ConstrainedProblem first = draw_body_problem(source, {6, 6, 3, 6, 6});
  const ConstrainedProblem second = draw_body_problem(source, {3, 2, 6, 7, 6, 1, 6});
  const BodyMatrices one(first), two(second);
  Case<double> used(first, one, true, 1, source);
  for (const bool symmetric : {false, true, false}) {
    for (const bool other : {true, false}) {
      Case<double> fresh(other ? second : first, other ? two : one, symmetric, 3, source);
      const Eigen::VectorXd h =
          carom::testing::draw_matrix(source, (other ? two : one).load.size(), 1);
      Eigen::VectorXd step, moved, again, moved_again;
      fresh.solve(h, step, moved);
      used.system.take(build<double>(other ? second : first), symmetric);
      used.gains = fresh.gains;
      used.places = fresh.places;
      used.offset = fresh.offset;
      used.solve(h, again, moved_again);
      CHECK(again == step);
      CHECK(moved_again == moved);
    }
  }
}

TEST_CASE("body_system: a gain that is not finite is reported", "[solvers][example]") {
  for_each_problem(6, [&](const auto& raw, const auto& dense, bool symmetric, auto& source) {
    Case<double> one(raw, dense, symmetric, std::numeric_limits<double>::quiet_NaN(), source);
    CHECK_FALSE(one.system.factor(0, one.gains));
  });
}

}  // namespace body_system_test
