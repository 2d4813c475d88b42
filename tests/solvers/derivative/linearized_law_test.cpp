// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/derivative/linearized_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/LU>
#include <Eigen/QR>

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace linearized_law_test {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::SolveReport;
using carom::SolveStatus, carom::VectorX;
using carom::detail::BlockData, carom::detail::LinearizedLaw;
using carom::testing::build, carom::testing::by_conditioning, carom::testing::ConstrainedProblem;
using carom::testing::clearly, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::draw_body_problem, carom::testing::draw_matrix, carom::testing::RawConstraint;
using carom::testing::WorstCase;

using Long = long double;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;

/// What CoulombDerivativeOptions has for the law.
template <typename Scalar>
struct Options {
  Scalar tolerance = Scalar(1e-6), boundary_tolerance = 0;
  FrictionLaw law = FrictionLaw::coulomb;
};

namespace {

/// The right side of both equations, and their solution, by packed unknowns and by rows.
struct Numbers {
  LongVector vector, rows;
};

/// A problem linearised, and its linear system as dense matrices.
template <typename Scalar>
struct Case {
  ContactProblem<Scalar> problem;
  LinearizedLaw<Scalar> law;
  LinearizedLaw<Scalar>* used = &law;  ///< which one solves
  carom::Growing<VectorX<Scalar>> velocity;
  VectorX<Scalar> impulse;
  bool regular = false;
  std::vector<Index> places;  ///< of the unknowns of bodies with blocks, in a vector
  LongMatrix jacobian, p, q;  ///< Ĵ over these unknowns, P + Q R and Q by rows

  Case(const ConstrainedProblem& raw, VectorSource<double>& source,
       const Options<Scalar>& options = {}, double product = 0, double closed = 0.5)
      : problem(build<Scalar>(raw)) {
    law.prepare(problem);
    velocity.grow(problem.velocity_count());
    velocity = draw_matrix(source, problem.velocity_count(), 1).template cast<Scalar>();
    impulse = draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>();
    // Any numbers lead to slopes: a normal impulse above makes a block closed.
    for (Index i = 0; i < problem.block_count(); ++i) {
      const auto shape = problem.shape(i);
      if (shape == carom::ImpulseShape::intervals) {
        if (product > 0) put_inside(i);
        continue;
      }
      const Index normal = problem.first_row(i) + carom::detail::normal_row(shape);
      const bool is_closed = product > 0 || source.unit() < closed;
      impulse(normal) = Scalar(is_closed ? 1 + source.unit() : -1000);
    }
    REQUIRE(law.linearize(problem, velocity, options, impulse, Scalar(product)) < 0);
    regular = law.factor(problem);
    for (Index slot = 0; slot < law.graph().slot_count(); ++slot) {
      const Index size = problem.body(law.graph().body_at(int(slot))).size;
      for (Index k = 0; k < size; ++k) places.push_back(law.starts()[slot] + k);
    }
    write_dense();
  }
  Case(const Case&) = delete;  // `used` is an address within
  Case& operator=(const Case&) = delete;
  /// Impulses of intervals strictly between their bounds.
  void put_inside(Index block) {
    const auto set = problem.law(block).set;
    for (int r = 0; r < set.rows; ++r) {
      const Scalar low = set.lower(r), high = set.upper(r);
      Scalar& gamma = impulse(problem.first_row(block) + r);
      if (std::isfinite(low) && std::isfinite(high)) gamma = low + (high - low) / 3;
      if (std::isfinite(low) && !std::isfinite(high)) gamma = low + 1;
      if (!std::isfinite(low) && std::isfinite(high)) gamma = high - 1;
    }
  }
  void write_dense() {
    const Index n = Index(places.size()), m = problem.impulse_count();
    jacobian = LongMatrix::Zero(m, n);
    p = q = LongMatrix::Zero(m, m);
    std::vector<Index> column(std::size_t(problem.velocity_count()), -1);
    Index next = 0;
    for (int slot = 0; slot < law.graph().slot_count(); ++slot) {
      const auto [start, size] = problem.body(law.graph().body_at(slot));
      for (Index k = 0; k < size; ++k) column[std::size_t(start + k)] = next++;
    }
    problem.for_each_block_by_kind([&](const auto& view) {
      for (int s = 0; s < view.side_count(); ++s) {
        const auto [start, size] = view.side(s).range;
        for (int r = 0; r < view.rows(); ++r) {
          for (Index k = 0; k < size; ++k) {
            jacobian(view.first_row() + r, column[std::size_t(start + k)]) =
                view.whitened_row(s, r)[k];
          }
        }
      }
      visit(view, [&](const auto& block, const auto& slope) {
        for (int r = 0; r < view.rows(); ++r) {
          for (int c = 0; c < view.rows(); ++c) {
            p(view.first_row() + r, view.first_row() + c) =
                slope.by_impulse(block.place(r), block.place(c));
            q(view.first_row() + r, view.first_row() + c) =
                slope.by_velocity(block.place(r), block.place(c));
          }
        }
      });
    });
  }
  /// The slope of a block: the only numbers that this test takes from the law.
  template <typename View, typename Visit>
  void visit(const View& view, const Visit& visit) const {
    const auto& slopes = law.slopes();
    slopes.visit(system(), slopes.place(view.number()), visit);
  }
  /// A system of the same layout, for its blocks.
  [[nodiscard]] const carom::detail::BodySystem<Scalar>& system() const {
    if (own_.part_count() == 0) own_.take(problem, false, false);
    return own_;
  }
  /// dw − Ĵᵀdγ = a and (P + Q R) dγ + Q Ĵ dw = b in one matrix; or y + ĴᵀQᵀz = a and
  /// (P + Q R)ᵀ z − Ĵ y = b.
  [[nodiscard]] LongMatrix whole(bool transposed) const {
    const Index n = jacobian.cols(), m = jacobian.rows();
    LongMatrix matrix = LongMatrix::Identity(n + m, n + m);
    matrix.topRightCorner(n, m) = -jacobian.transpose();
    matrix.bottomLeftCorner(m, n) = q * jacobian;
    matrix.bottomRightCorner(m, m) = p;
    return transposed ? LongMatrix(matrix.transpose()) : matrix;
  }
  /// Solves for right sides; `data` of the blocks makes b, or by_impulse is b.
  template <bool Transposed>
  [[nodiscard]] Numbers solve(const Numbers& right, SolveReport<Scalar>& report) {
    std::vector<Scalar> zeros(std::size_t(system().rows().vector_size()), Scalar(0));
    std::copy(zeros.begin(), zeros.end(), used->given());
    for (std::size_t k = 0; k < places.size(); ++k) {
      used->given()[places[k]] = Scalar(right.vector(Index(k)));
    }
    VectorX<Scalar> unused = VectorX<Scalar>::Zero(problem.velocity_count());
    const VectorX<Scalar> b = right.rows.template cast<Scalar>();
    used->clear_gradient();
    problem.for_each_block_by_kind(
        [&](const auto& view) { used->set_gradient(view, view.read(b), unused); });
    report = used->template solve<Transposed>();
    return solution();
  }
  [[nodiscard]] Numbers solution() const {
    Numbers result{LongVector(Index(places.size())), LongVector(problem.impulse_count())};
    for (std::size_t k = 0; k < places.size(); ++k) {
      result.vector(Index(k)) = used->solution()[places[k]];
    }
    VectorX<Scalar> rows(problem.impulse_count());
    const VectorX<Scalar> unused = VectorX<Scalar>::Zero(problem.velocity_count());
    problem.for_each_block_by_kind(
        [&](const auto& view) { view.write(used->impulse_change(view, unused), rows); });
    result.rows = rows.template cast<Long>();
    return result;
  }
  [[nodiscard]] Numbers draw(VectorSource<double>& source) const {
    const auto numbers = [&](Index size) {
      return LongVector(draw_matrix(source, size, 1).template cast<Scalar>().template cast<Long>());
    };
    return {numbers(jacobian.cols()), numbers(jacobian.rows())};
  }

 private:
  mutable carom::detail::BodySystem<Scalar> own_;
};

/// The same without the rows of open friction contacts: no datum acts there, and their z is not
/// used.
template <typename Scalar>
[[nodiscard]] Numbers used_rows(const Case<Scalar>& one, Numbers numbers) {
  for (Index i = 0; i < one.problem.block_count(); ++i) {
    const Index first = one.problem.first_row(i);
    if (!one.problem.is_friction_contact(i) || one.q(first + 2, first + 2) != 0) continue;
    numbers.rows.segment(first, 3).setZero();
  }
  return numbers;
}
[[nodiscard]] LongVector join(const Numbers& numbers) {
  LongVector all(numbers.vector.size() + numbers.rows.size());
  all << numbers.vector, numbers.rows;
  return all;
}

/// Calls visit(case, source) for problems on several islands with blocks of every kind, under both
/// laws and on the central path; all compliant, so that impulses are unique.
template <typename Scalar, typename Visit>
void for_each_case(std::uint32_t seed, bool rigid, const Visit& visit) {
  VectorSource<double> source(seed);
  for (int round = 0; round < 6; ++round) {
    ConstrainedProblem raw = draw_body_problem(
        source, round % 2 == 0 ? std::vector<int>{6, 6, 3, 6} : std::vector<int>{3, 12, 6, 9, 6});
    if (round == 4) {  // little is closed: islands that are solved in their impulses
      raw.contacts.contacts.resize(2);
      raw.constraints.resize(1);
    }
    if (!rigid) {
      for (auto& contact : raw.contacts.contacts) contact.law.rigid = false;
      for (auto& constraint : raw.constraints) constraint.law.regularization *= 1e3;
    }
    Options<Scalar> options;
    options.tolerance = Scalar(sizeof(Scalar) == 4 ? 1e-2 : 1e-6);
    if (round % 3 == 1) options.law = FrictionLaw::convex;
    const double product = !rigid && round % 3 == 2 ? 0.3 : 0;
    Case<Scalar> one(raw, source, options, product, round % 2 == 0 ? 0.3 : 0.8);
    visit(one, source, round);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("linearized_law: both systems have the solutions of their dense matrices",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase forward("dw and dγ"), backward("y and z");
  for_each_case<Scalar>(1u, false, [&](Case<Scalar>& one, auto& source, int round) {
    REQUIRE(one.regular);
    const LongMatrix matrix = one.whole(false);
    const Long condition = matrix.norm() * matrix.partialPivLu().inverse().norm();
    for (int k = 0; k < 3; ++k) {
      const Numbers right = one.draw(source);
      const LongVector b = join(right);
      const auto compare = [&](const Numbers& found, const LongMatrix& system, WorstCase& law) {
        const LongVector x = system.partialPivLu().solve(b);
        const Numbers wanted =
            used_rows(one, {x.head(found.vector.size()), x.tail(found.rows.size())});
        law.see((join(used_rows(one, found)) - join(wanted)).norm(),
                rounding<Scalar>(100, 1) * condition * x.norm(), round, double(condition));
      };
      SolveReport<Scalar> report;
      compare(one.template solve<false>(right, report), matrix, forward);
      CHECK(report.status == SolveStatus::converged);
      CHECK(report.iterations >= one.system().islands().size());
      compare(one.template solve<true>(right, report), one.whole(true), backward);
      CHECK(report.status == SolveStatus::converged);
    }
  });
  forward.check(18);
  backward.check(18);
}

TEMPLATE_TEST_CASE("linearized_law: the two systems are each other's transposes, rigid or not",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase identity("⟨z, M x⟩ = ⟨Mᵀ z, x⟩");
  for (const bool rigid : {false, true}) {
    for_each_case<Scalar>(2u, rigid, [&](Case<Scalar>& one, auto& source, int round) {
      if (!one.regular) return;
      SolveReport<Scalar> report, other;
      const Numbers a = used_rows(one, one.draw(source)), b = used_rows(one, one.draw(source));
      const LongVector x = join(one.template solve<false>(a, report)),
                       z = join(one.template solve<true>(b, other));
      if (report.status != SolveStatus::converged || other.status != SolveStatus::converged) return;
      const LongVector left = join(a), right = join(b);
      identity.see(std::abs(z.dot(left) - x.dot(right)),
                   Scalar(sizeof(Scalar) == 4 ? by_conditioning(3e-2) : by_conditioning(1e-6)) *
                       (z.norm() * left.norm() + x.norm() * right.norm()),
                   round, rigid);
    });
  }
  identity.check(6);
}

TEST_CASE("linearized_law: data of the blocks act by B, and gradients by its transpose",
          "[solvers][law]") {
  WorstCase pushed("b = B dθ"), pulled("Bᵀ z");
  for_each_case<double>(3u, false, [&](Case<double>& one, auto& source, int round) {
    SolveReport<double> report;
    VectorX<double> unused = VectorX<double>::Zero(one.problem.velocity_count());
    const VectorX<double> excess = draw_matrix(source, one.problem.impulse_count(), 1),
                          lower = draw_matrix(source, excess.size(), 1),
                          upper = draw_matrix(source, excess.size(), 1),
                          friction = draw_matrix(source, one.problem.block_count(), 1);
    Numbers right{LongVector::Zero(one.jacobian.cols()), LongVector::Zero(excess.size())};
    // B by blocks: what LawSlope says for each place.
    one.problem.for_each_block_by_kind([&](const auto& view) {
      const bool contact = std::decay_t<decltype(view)>::capacity == 3;
      one.visit(view, [&](const auto& block, const auto& slope) {
        for (int r = 0; r < view.rows(); ++r) {
          Long& b = right.rows(view.first_row() + r);
          const int at = block.place(r);
          for (int c = 0; c < view.rows(); ++c) {
            const Index row = view.first_row() + c;
            const int from = block.place(c);
            b += slope.by_velocity(at, from) * excess(row);
            const double own = contact ? (c < 2 ? friction(view.number()) : 0.0) : upper(row);
            b += slope.by_upper(at, from) * own;
          }
          if (!contact) b += slope.by_lower(at) * lower(view.first_row() + r);
        }
      });
    });
    const LongVector wanted = join(one.template solve<false>(right, report));
    std::fill_n(one.law.given(), one.system().rows().vector_size(), 0.0);
    one.law.clear_gradient();
    one.problem.for_each_block_by_kind([&](const auto& view) {
      using Rows = typename std::decay_t<decltype(view)>::Rows;
      BlockData<Rows> data{view.read(excess), friction(view.number()), view.read(lower),
                           view.read(upper)};
      one.law.push(view, data, unused);
    });
    static_cast<void>(one.law.template solve<false>());
    const LongVector found = join(one.solution());
    pushed.see((found - wanted).norm(), rounding(3000, 1.0) * (wanted.norm() + 1), round);
    // ⟨z, B dθ⟩ = ⟨Bᵀz, dθ⟩ block by block, z of a transposed solve.
    const Numbers z = one.template solve<true>(one.draw(source), report);
    one.problem.for_each_block_by_kind([&](const auto& view) {
      const auto data = one.law.pull(view, unused);
      const Index first = view.first_row();
      const bool contact = std::decay_t<decltype(view)>::capacity == 3;
      Long there = 0, here = data.friction * friction(view.number()), size = std::abs(here);
      for (int r = 0; r < view.rows(); ++r) {
        there += z.rows(first + r) * right.rows(first + r);
        size += std::abs(z.rows(first + r) * right.rows(first + r));
        here += Long(data.excess(r)) * excess(first + r) + Long(data.lower(r)) * lower(first + r) +
                Long(data.upper(r)) * upper(first + r);
        if (contact) pulled.see_holds(data.lower(r) == 0 && data.upper(r) == 0);
      }
      if (!contact) here -= data.friction * friction(view.number());
      pulled.see(std::abs(there - here), rounding(200, double(size)), round, int(view.number()));
    });
  });
  pushed.check(6);
  pulled.check(60);
}

TEST_CASE(
    "linearized_law: where impulses are not unique the velocities are, and rows that agree "
    "hold",
    "[solvers][law]") {
  // A body held by 3 to 9 rows that repeat each other: rank 3.
  VectorSource<double> source(4);
  WorstCase held("J dv = du"), momentum("dw − Ĵᵀ dγ = a"), least("the least impulses");
  for (int copies = 1; copies <= 3; ++copies) {
    ConstrainedProblem raw;
    raw.contacts.bodies.push_back(carom::testing::draw_body(source, 6, 1));
    const Eigen::MatrixXd rows = draw_matrix(source, 3, 6);
    for (int k = 0; k < copies; ++k) {
      RawConstraint hold;
      hold.law.set = carom::free_impulses<double>(3);
      hold.law.regularization.setConstant(1e-3);
      hold.first_jacobian = rows;
      raw.constraints.push_back(hold);
    }
    Case<double> one(raw, source);
    for (Index i = 0; i < one.problem.block_count(); ++i) {  // build() leaves the flag out
      auto law = one.problem.law(i);
      law.rigid = true;
      one.problem.set_law(i, law);
    }
    one.law.prepare(one.problem);
    REQUIRE(one.law.linearize(one.problem, one.velocity, Options<double>(), one.impulse, 0.0) < 0);
    REQUIRE(one.law.factor(one.problem));
    Numbers right = one.draw(source);
    for (int k = 1; k < copies; ++k) right.rows.segment(3 * k, 3) = right.rows.head(3);
    SolveReport<double> report;
    const Numbers found = one.template solve<false>(right, report);
    CHECK(report.status == SolveStatus::converged);
    const LongMatrix& j = one.jacobian;
    const Long size = join(found).norm();
    held.see((j * found.vector - right.rows).norm(), by_conditioning(1e-9) * size, copies);
    momentum.see((found.vector - j.transpose() * found.rows - right.vector).norm(),
                 by_conditioning(1e-9) * size, copies);
    // Equal rows of equal weight share the impulse.
    for (int k = 1; k < copies; ++k) {
      least.see((found.rows.segment(3 * k, 3) - found.rows.head(3)).norm(),
                by_conditioning(1e-6) * size, copies);
    }
    if (copies == 1) continue;
    // Rows that contradict each other: told, and satisfied in the mean.
    Numbers apart = right;
    apart.rows.head(3).array() += 1;
    apart.rows.segment(3, 3).array() -= 1;
    const Numbers mean = one.template solve<false>(apart, report);
    CHECK(report.status == SolveStatus::no_progress);
    CHECK(report.residual > clearly(1e-3));
    held.see((mean.vector - found.vector).norm(), by_conditioning(1e-5) * size, copies);
    least.see((mean.rows - found.rows).norm(), by_conditioning(1e-4) * size, copies);
  }
  held.check(5);
  momentum.check(3);
  least.check(5);
}

TEST_CASE("linearized_law: the index is the sign of the determinant of the linear system",
          "[solvers][oracle]") {
  int signs[2] = {0, 0};
  VectorSource<double> source(5);
  for (int round = 0; round < 60; ++round) {
    // Steep friction between a few bodies turns the sign now and then.
    ConstrainedProblem raw = draw_body_problem(source, {3, 3, 3, 3});
    for (auto& contact : raw.contacts.contacts) contact.law.friction *= 10;
    if (round % 4 == 0) raw.constraints.resize(1), raw.contacts.contacts.resize(2);
    Case<double> one(raw, source, {}, 0, 0.7);
    const int index = one.law.index();
    if (!one.regular) {
      CHECK(index == 0);
      continue;
    }
    LongMatrix system = one.p + one.q * one.jacobian * one.jacobian.transpose();
    // Softness of sticking rows without R of their own, as the law has it.
    one.problem.for_each_block_by_kind([&](const auto& view) {
      one.visit(view, [&](const auto& block, const auto&) {
        const double soft = carom::detail::held_softness<double>() * block.inverse_mass;
        for (int c = 0; c < view.rows(); ++c) {
          if (block.regularization(block.place(c)) >= soft) continue;
          system.col(view.first_row() + c) += soft * one.q.col(view.first_row() + c);
        }
      });
    });
    const int sign = system.partialPivLu().determinant() < 0 ? -1 : 1;
    CHECK(index == sign);
    ++signs[sign < 0];
  }
  CHECK(signs[0] >= 10);
  CHECK(signs[1] >= 3);
}

TEST_CASE("linearized_law: without a factor, or on a boundary, there is no index",
          "[solvers][example]") {
  VectorSource<double> source(6);
  const ConstrainedProblem raw = draw_body_problem(source, {6, 6, 6});
  Case<double> one(raw, source);
  REQUIRE(one.regular);
  CHECK(one.law.boundary_count() == 0);
  CHECK(one.law.index() != 0);
  Options<double> wide;
  wide.boundary_tolerance = 1e6;
  REQUIRE(one.law.linearize(one.problem, one.velocity, wide, one.impulse, 0.0) < 0);
  CHECK(one.law.boundary_count() >= one.problem.block_count() - 2);  // but rows without bounds
  CHECK(one.law.index() == 0);                                       // not yet factored
  static_cast<void>(one.law.factor(one.problem));
  CHECK(one.law.index() == 0);
  VectorX<double> bad = one.impulse;
  bad(0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(one.law.linearize(one.problem, one.velocity, Options<double>(), bad, 0.0) == 0);
  CHECK(one.law.index() == 0);
}

TEST_CASE("linearized_law: it may be moved, and take on other problems", "[solvers][law]") {
  for_each_case<double>(7u, false, [&](Case<double>& one, auto& source, int) {
    SolveReport<double> report, again;
    const Numbers right = one.draw(source);
    const LongVector before = join(one.template solve<false>(right, report)),
                     back = join(one.template solve<true>(right, report));
    const int index = one.law.index();
    LinearizedLaw<double> moved = std::move(one.law);
    // What is left at the old place belongs to another problem.
    one.law = LinearizedLaw<double>();
    one.law.prepare(build<double>(draw_body_problem(source, {3, 6})));
    one.used = &moved;
    CHECK(join(one.template solve<false>(right, again)) == before);
    CHECK(join(one.template solve<true>(right, again)) == back);
    CHECK(again.iterations == report.iterations);
    CHECK(moved.index() == index);
  });
}

TEST_CASE("linearized_law: an island with little that is closed is one system, as accurate as told",
          "[solvers][example]") {
  VectorSource<double> source(9);
  ConstrainedProblem raw = draw_body_problem(source, {6, 6, 6});
  raw.constraints.clear();
  raw.contacts.contacts.resize(1);
  raw.contacts.contacts[0].law.rigid = false;
  raw.contacts.contacts[0].law.regularization = {0.1, 0.1};
  Case<double> one(raw, source, {}, 0, 1);
  REQUIRE(one.system().islands().size() == 1);
  SolveReport<double> report;
  for (const bool transposed : {false, true}) {
    static_cast<void>(transposed ? one.template solve<true>(one.draw(source), report)
                                 : one.template solve<false>(one.draw(source), report));
    CHECK(report.iterations == 1);
    CHECK(report.converged());
    CHECK(report.residual >= std::numeric_limits<double>::epsilon());
    CHECK(report.residual <= rounding(100000, 1.0));
  }
}

TEST_CASE("linearized_law: a tolerance below what rounding leaves is not met",
          "[solvers][example]") {
  VectorSource<double> source(8);
  const ConstrainedProblem raw = draw_body_problem(source, {6, 6, 6, 6});
  for (const double tolerance : {1e-3, 1e-18}) {
    Options<double> options;
    options.tolerance = tolerance;
    Case<double> one(raw, source, options, 0, 0.8);
    REQUIRE(one.regular);
    SolveReport<double> report;
    static_cast<void>(one.template solve<true>(one.draw(source), report));
    CHECK(report.residual_target == tolerance);
    CHECK(report.converged() == (report.residual <= tolerance));
    CHECK(report.converged() == (tolerance > rounding(1, 1.0)));
  }
}

}  // namespace linearized_law_test
