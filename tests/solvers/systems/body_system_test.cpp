// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/body_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace body_system_test {

using carom::Index;
using carom::detail::BlockGains, carom::detail::BlockIsland, carom::detail::BlockRows;
using carom::detail::BodyPairs, carom::detail::BodyRows, carom::detail::BodySystem;
using carom::detail::PartMatrix;
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

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

/// A pair of impulses and velocities of a problem, and dense sums of what acts on its bodies.
template <typename Scalar>
struct Pair {
  ConstrainedProblem raw;
  carom::ContactProblem<Scalar> problem;
  BodyRows<Scalar> rows;
  BodyPairs<Scalar> pairs;
  carom::testing::DenseDual dual;
  LongMatrix jacobian;  ///< Ĵ
  std::vector<Scalar> parts, momentum;

  explicit Pair(const ConstrainedProblem& given)
      : raw(given), problem(build<Scalar>(given)), dual(given) {
    rows.take(problem);
    pairs.lay_out(rows);
    const LongMatrix mass = dual.momentum.cast<long double>();
    jacobian =
        mass.llt().matrixL().solve(dual.jacobian.cast<long double>().transpose()).transpose();
    parts.assign(std::size_t(3 * rows.part_count()), Scalar(0));
    momentum.assign(std::size_t(rows.vector_size()), Scalar(0));
  }
  const Scalar* write(const Eigen::VectorXd& gamma) {
    rows.for_each_row(
        [&](Index row, Index place) { parts[std::size_t(place)] = Scalar(gamma(row)); });
    return parts.data();
  }
  /// balance() of the velocities of `moved` and of impulses, for the worst island.
  [[nodiscard]] Scalar balance(const Eigen::VectorXd& moved, const Eigen::VectorXd& gamma) {
    Scalar worst(0);
    for (Index i = 0; i < rows.islands().size(); ++i) {
      pairs.begin(rows, i, write(moved));
      rows.write_momentum(i, write(gamma), momentum.data());
      const Scalar own = pairs.balance(rows, i, parts.data(), momentum.data());
      if (!(own <= worst)) worst = own;
    }
    return worst;
  }
  /// The same, body by body and block by block.
  [[nodiscard]] long double dense_balance(const Eigen::VectorXd& moved,
                                          const Eigen::VectorXd& gamma) const {
    const LongVector x = moved.cast<Scalar>().template cast<long double>(),
                     y = gamma.cast<Scalar>().template cast<long double>();
    long double worst = 0;
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto [start, size] = problem.body(b);
      const LongMatrix own = jacobian.middleCols(start, size);
      long double gross = 0;
      for (std::size_t k = 0; k < dual.sets.size(); ++k) {
        const Index first = dual.starts[k], count = dual.sets[k].rows;
        const LongVector push = own.middleRows(first, count).transpose() * y.segment(first, count);
        gross += push.norm();
      }
      const LongVector pushed = own.transpose() * x, wanted = own.transpose() * y;
      const long double off = (pushed - wanted).norm();
      if (off > 0) worst = std::max(worst, off / std::max(gross, pushed.norm()));
    }
    return worst;
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

TEMPLATE_TEST_CASE("body_system: the balance of a pair is that of dense sums on each body",
                   "[solvers][oracle]", float, double) {
  // Blocks of one to six rows, with weights over some decades, on bodies of one to nine unknowns.
  using Scalar = TestType;
  VectorSource<double> source(7);
  WorstCase dense("balance"), none("a pair of its own impulses is balanced");
  for (const std::vector<int>& sizes :
       {std::vector<int>{6, 6, 6, 6}, {1, 2, 3, 6, 7, 4, 6}, {9, 6, 3, 2, 6}, {3, 3, 3}}) {
    Pair<Scalar> pair(draw_body_problem(source, sizes));
    for (int k = 0; k < 12; ++k) {
      Eigen::VectorXd moved(pair.problem.impulse_count());
      for (double& x : moved) x = source.entry(k % 3 == 0 ? 12 : 2, k % 2 == 0 ? 0.1 : 0.7);
      Eigen::VectorXd gamma = moved;
      if (k < 6) {  // one number differs
        gamma(Index(source.unit() * double(gamma.size()))) *= 1 + source.pick({1e-3, 1e-1, 10});
      } else {
        for (double& x : gamma) x *= source.unit();
      }
      none.see_holds(pair.balance(moved, moved) == Scalar(0));
      const long double wanted = pair.dense_balance(moved, gamma);
      dense.see(std::abs(pair.balance(moved, gamma) - wanted), rounding<Scalar>(300, 1), k,
                double(wanted));
    }
  }
  dense.check(48);
  none.check(48);
}

TEMPLATE_TEST_CASE("body_system: a balance is relative, and no order of blocks changes it",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(8);
  WorstCase order("blocks in another order");
  for (int round = 0; round < 6; ++round) {
    const ConstrainedProblem raw = draw_body_problem(source, {6, 3, 6, 1, 6});
    Pair<Scalar> pair(raw);
    const Index rows = pair.problem.impulse_count();
    const Eigen::VectorXd moved = carom::testing::draw_matrix(source, rows, 1),
                          gamma = carom::testing::draw_matrix(source, rows, 1);
    const Scalar balance = pair.balance(moved, gamma);
    CHECK(balance > Scalar(0));
    for (const int power : {-40, -3, 20}) {  // exact, and within the range of squares of floats
      const double scale = std::ldexp(1.0, power);
      CHECK(pair.balance(scale * moved, scale * gamma) == balance);
    }
    CHECK(pair.balance(-moved, -gamma) == balance);
    // The contacts and the constraints each the other way round, with their impulses.
    ConstrainedProblem other = raw;
    std::reverse(other.contacts.contacts.begin(), other.contacts.contacts.end());
    std::reverse(other.constraints.begin(), other.constraints.end());
    Eigen::VectorXd moved_there(rows), gamma_there(rows);
    const std::size_t contacts = raw.contacts.contacts.size(), all = pair.dual.sets.size();
    Index row = 0;
    for (std::size_t k = 0; k < all; ++k) {
      const std::size_t from = k < contacts ? contacts - 1 - k : all - 1 - (k - contacts);
      const Index count = pair.dual.sets[from].rows, first = pair.dual.starts[from];
      moved_there.segment(row, count) = moved.segment(first, count);
      gamma_there.segment(row, count) = gamma.segment(first, count);
      row += count;
    }
    Pair<Scalar> reversed(other);
    order.see(std::abs(reversed.balance(moved_there, gamma_there) - balance),
              rounding<Scalar>(100, balance), round);
  }
  order.check(6);
}

TEST_CASE("body_system: impulses that cancel on a body count with their sizes, block by block",
          "[solvers][oracle]") {
  // Two contacts push a body of mass m with g and −g (1 − δ): δ of a sum of 2 − δ is left.
  for (const double mass : {1e-6, 2.0, 1e6}) {
    for (const double delta : {1.0, 1e-3, 1e-9}) {
      ConstrainedProblem raw;
      raw.contacts.bodies.push_back({mass * Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero()});
      for (int k = 0; k < 2; ++k) {
        carom::testing::RawContact contact;
        contact.first_jacobian = Eigen::Matrix3d::Identity();
        raw.contacts.contacts.push_back(contact);
      }
      Pair<double> pair(raw);
      Eigen::VectorXd gamma(6);
      gamma << 3, -4, 12, -3 * (1 - delta), 4 * (1 - delta), -12 * (1 - delta);
      CHECK(std::abs(pair.balance(Eigen::VectorXd::Zero(6), gamma) - delta / (2 - delta)) <=
            rounding(20, 1.0));
      // Measured from the velocities of one contact, which the other takes back.
      Eigen::VectorXd moved = gamma;
      moved.tail(3).setZero();
      CHECK(std::abs(pair.balance(moved, gamma) - (1 - delta) / (2 - delta)) <= rounding(20, 1.0));
    }
  }
  // The two parts of one block of six rows cancel within it: what is left is all of it.
  ConstrainedProblem raw;
  raw.contacts.bodies.push_back({Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero()});
  carom::testing::RawConstraint block;
  block.law.set = carom::free_impulses<double>(6);
  block.first_jacobian.resize(6, 3);
  block.first_jacobian << Eigen::Matrix3d::Identity(), Eigen::Matrix3d::Identity();
  raw.constraints.push_back(block);
  Pair<double> pair(raw);
  Eigen::VectorXd gamma(6);
  gamma << 1, 2, 3, -1, -2, -2.75;
  CHECK(pair.balance(Eigen::VectorXd::Zero(6), gamma) == 1);
}

TEST_CASE("body_system: the balance is of the worst body of an island, and finite numbers",
          "[solvers][example]") {
  VectorSource<double> source(9);
  Pair<double> none((ConstrainedProblem()));
  CHECK(none.rows.islands().size() == 0);
  const ConstrainedProblem raw = draw_body_problem(source, {6, 6, 6, 6, 6});
  Pair<double> pair(raw);
  const Eigen::VectorXd gamma =
      carom::testing::draw_matrix(source, pair.problem.impulse_count(), 1);
  REQUIRE(pair.rows.islands().size() >= 2);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < pair.rows.islands().size(); ++i) {
    pair.rows.write_momentum(i, pair.write(gamma), pair.momentum.data());
    pair.pairs.begin(pair.rows, i, pair.parts.data());
    CHECK(pair.pairs.balance(pair.rows, i, pair.parts.data(), pair.momentum.data()) == 0);
    const auto& range = pair.rows.graph().islands()[i].range;
    double worst = 0;
    for (int slot = range.first_slot; slot < range.slot_end; ++slot) {
      // One body after the other moves away from its impulses, each further than those before.
      pair.momentum[std::size_t(pair.rows.starts()[slot])] += 1e3 * (slot - range.first_slot + 1);
      const double now = pair.pairs.balance(pair.rows, i, pair.parts.data(), pair.momentum.data());
      CHECK(now >= worst);
      CHECK(now > 0);
      worst = now;
    }
    for (const double bad : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
      std::vector<double> momentum = pair.momentum;
      momentum[std::size_t(pair.rows.vector_start(i))] = bad;
      CHECK(pair.pairs.balance(pair.rows, i, pair.parts.data(), momentum.data()) == infinity);
    }
  }
}

}  // namespace body_system_test
