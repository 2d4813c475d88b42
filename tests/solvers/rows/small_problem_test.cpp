// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/small_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/dense_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace small_problem_test {

using carom::ContactProblem, carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::is_small, carom::detail::SmallProblem, carom::detail::SmallProblemLimits;
using carom::detail::SmallState;
using carom::testing::assemble, carom::testing::build, carom::testing::convert_vector;
using carom::testing::DenseProblem, carom::testing::draw_matrix, carom::testing::draw_problem;
using carom::testing::inner, carom::testing::multiply, carom::testing::multiply_transposed;
using carom::testing::RawProblem, carom::testing::read_back, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

using Long = long double;
using LongVector = VectorX<Long>;

namespace {

/// A small problem laid out at a guess, with the dense matrices of the same numbers.
template <typename Scalar>
struct Case {
  using Small = SmallProblem<Scalar>;

  ContactProblem<Scalar> problem;
  VectorX<Scalar> guess;
  DenseProblem<Long> dense;
  Small small;
  SmallState<Scalar> state{small};

  Case(const RawProblem& raw, const Eigen::VectorXd& start)
      : problem(build<Scalar>(raw)),
        guess(start.cast<Scalar>()),
        dense(assemble<Long>(read_back(problem))) {
    small.lay_out(problem);
    small.gather(problem, guess);
  }
  Case(const Case&) = delete;  // the state has the address of the problem
  Case& operator=(const Case&) = delete;

  [[nodiscard]] LongVector velocity() const { return convert_vector<Long>(guess); }
  /// An array of three components by the rows of the problem.
  [[nodiscard]] LongVector rows(int name) {
    LongVector result(3 * small.count());
    for (Index k = 0; k < small.count(); ++k) {
      for (int c = 0; c < 3; ++c) result(3 * small.contact_at(k) + c) = small.array(name + c)[k];
    }
    return result;
  }
  void set_rows(int name, const LongVector& numbers) {
    for (Index k = 0; k < small.count(); ++k) {
      for (int c = 0; c < 3; ++c) {
        small.array(name + c)[k] = Scalar(numbers(3 * small.contact_at(k) + c));
      }
    }
  }
  /// L x of a vector of the unknowns, A = L Lᵀ.
  [[nodiscard]] LongVector momentum_of(int name) {
    const MatrixX<Long> factor = dense.momentum.llt().matrixL();
    LongVector x(small.size());
    for (Index i = 0; i < x.size(); ++i) x(i) = small.vector(name)[i];
    return multiply(factor, x);
  }
  /// ‖J_r‖_{A⁻¹} of a row.
  [[nodiscard]] Long row_norm(Index row) const {
    const LongVector j = dense.jacobian.row(row).transpose();
    return dense.momentum_norm(j);
  }
  /// Size of a row's velocity without cancellation.
  [[nodiscard]] Long row_size(Index row) const {
    return row_norm(row) * (dense.energy_norm(velocity()) + 1e-30L) + std::abs(dense.bias(row));
  }
  /// Σ (size of the velocity)²/R over the rows, and what the velocities have: a size of the cost.
  [[nodiscard]] Long cost_size() const {
    const Long speed = dense.energy_norm(velocity()), free = dense.energy_norm(dense.free_velocity);
    Long size = (speed + free) * (speed + free);
    for (Index r = 0; r < dense.bias.size(); ++r) {
      const Long own = row_norm(r) * (speed + free) + std::abs(dense.bias(r));
      size += own * own / dense.weights(r);
    }
    return size;
  }
};

/// One body with 1 to 20 contacts, weights over twelve decades in double and six in float.
template <typename Scalar, typename Visit>
void for_each_case(std::uint32_t seed, const Visit& visit) {
  VectorSource<double> source(seed);
  const double decades = sizeof(Scalar) == 4 ? 6 : 12;
  int sample = 0;
  for (const int size : {1, 2, 3, 5, 6, 7, 8, 9, 17, 64}) {
    for (const int contacts : {1, 2, 4, 7, 8, 9, 16, 20}) {
      if (size > 20 && contacts > 9) continue;
      const RawProblem raw = draw_problem(source, {.sizes = {size},
                                                   .contact_count = contacts,
                                                   .mass_decades = 4,
                                                   .stiffness_decades = sample % 3 * decades / 2});
      Case<Scalar> data(raw, draw_velocity(source, raw));
      REQUIRE(is_small(data.problem));
      visit(data, source, sample++);
    }
  }
}

/// All numbers that gather() writes.
template <typename Scalar>
[[nodiscard]] std::vector<Scalar> numbers_of(SmallProblem<Scalar>& small) {
  std::vector<Scalar> all;
  using Small = SmallProblem<Scalar>;
  const auto add = [&](const Scalar* first, Index count) {
    all.insert(all.end(), first, first + count);
  };
  for (int name = 0; name < Small::vector_count; ++name) add(small.vector(name), small.lanes());
  for (int name = 0; name < Small::velocity; ++name) add(small.array(name), small.padded());
  add(small.columns(), 3 * small.count() * small.lanes());
  add(small.rows_by_contact(), 3 * small.size() * small.padded());
  return all;
}

}  // namespace

TEST_CASE("small_problem: one body with few friction contacts is small, and nothing else",
          "[solvers][example]") {
  VectorSource<double> source(1);
  const auto drawn = [&](const std::vector<int>& sizes, int contacts) {
    return build(draw_problem(source, {.sizes = sizes, .contact_count = contacts}));
  };
  CHECK_FALSE(is_small(drawn({6}, 0)));
  CHECK(is_small(drawn({6}, 1)));
  CHECK(is_small(drawn({6}, int(SmallProblemLimits::contact_limit))));
  CHECK_FALSE(is_small(drawn({6}, int(SmallProblemLimits::contact_limit) + 1)));
  CHECK(is_small(drawn({int(SmallProblemLimits::velocity_limit)}, 2)));
  CHECK_FALSE(is_small(drawn({int(SmallProblemLimits::velocity_limit) + 1}, 2)));
  CHECK_FALSE(is_small(drawn({6, 6}, 3)));
  auto constrained = drawn({6}, 2);
  constrained.add_constraint(0, draw_matrix(source, 2, 6),
                             carom::testing::draw_law(source, 9));  // planar
  CHECK_FALSE(is_small(constrained));
}

TEMPLATE_TEST_CASE("small_problem: its arrays have the numbers of the contacts, and padding",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Small = SmallProblem<Scalar>;
  WorstCase laws("numbers of the laws"), jacobians("LĴᵀ = Jᵀ"), squares("squared norms"),
      padding("padding"), vectors("L w = A v");
  for_each_case<Scalar>(2u, [&](Case<Scalar>& data, auto&, int sample) {
    Small& small = data.small;
    CHECK(small.size() == data.problem.velocity_count());
    CHECK(small.count() == data.problem.block_count());
    CHECK(small.lanes() >= small.size());
    CHECK(small.padded() % Small::contact_lanes == 0);
    std::vector<char> seen(std::size_t(small.count()), 0);
    const MatrixX<Long> factor = data.dense.momentum.llt().matrixL();
    for (Index k = 0; k < small.count(); ++k) {
      const Index contact = small.contact_at(k);
      ++seen[std::size_t(contact)];
      const auto& law = data.problem.friction_contact_law(contact);
      const auto at = [&](int name) { return small.array(name)[k]; };
      laws.see_holds(at(Small::friction) == law.friction);
      laws.see_holds(at(Small::tangent) == law.regularization.tangent);
      laws.see_holds(at(Small::normal) == law.regularization.normal);
      laws.see_holds(at(Small::inverse_tangent) == 1 / law.regularization.tangent);
      laws.see_holds(at(Small::inverse_normal) == 1 / law.regularization.normal);
      for (int c = 0; c < 3; ++c) {
        laws.see_holds(at(Small::bias + c) == law.bias_velocity(c));
        const Scalar* const column = small.columns() + (3 * k + c) * small.lanes();
        LongVector own(small.size());
        for (Index i = 0; i < small.lanes(); ++i) {
          if (i < small.size()) {
            own(i) = column[i];
            laws.see_holds(small.rows_by_contact()[(3 * i + c) * small.padded() + k] == column[i]);
          } else {
            padding.see_holds(column[i] == Scalar(0));
          }
        }
        const LongVector row = data.dense.jacobian.row(3 * contact + c).transpose();
        const LongVector error = multiply(factor, own) - row;
        const Long norm = data.row_norm(3 * contact + c);
        jacobians.see(data.dense.momentum_norm(error), rounding<Scalar>(200, Scalar(norm)), sample);
        squares.see(std::abs(at(Small::row_square + c) - norm * norm),
                    rounding<Scalar>(400, Scalar(norm * norm)), sample);
      }
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](char times) { return times == 1; }));
    for (Index k = small.count(); k < small.padded(); ++k) {
      const auto at = [&](int name) { return small.array(name)[k]; };
      for (int c = 0; c < 3; ++c) {
        for (Index i = 0; i < small.size(); ++i) {
          padding.see_holds(small.rows_by_contact()[(3 * i + c) * small.padded() + k] == Scalar(0));
        }
      }
      // An open contact: v̂/R is in the polar cone {μ‖yₜ‖ ≤ −(Rₙ/Rₜ) yₙ}, and not zero.
      padding.see_holds(at(Small::friction) * std::hypot(at(Small::bias), at(Small::bias + 1)) <
                        -at(Small::bias + 2));
      padding.see_holds(at(Small::tangent) > 0 && at(Small::normal) > 0 && at(Small::bias) > 0);
    }
    const LongVector wanted = multiply(data.dense.momentum, data.velocity());
    vectors.see(data.dense.momentum_norm(data.momentum_of(Small::whitened) - wanted),
                rounding<Scalar>(200, Scalar(data.dense.energy_norm(data.velocity()))), sample);
    const LongVector free = multiply(data.dense.momentum, data.dense.free_velocity);
    vectors.see(data.dense.momentum_norm(data.momentum_of(Small::free) - free),
                rounding<Scalar>(200, Scalar(data.dense.energy_norm(data.dense.free_velocity))),
                sample);
    for (int name = 0; name < Small::vector_count; ++name) {
      for (Index i = small.size(); i < small.lanes(); ++i) {
        padding.see_holds(small.vector(name)[i] == Scalar(0));
      }
    }
  });
  laws.check(1000);
  jacobians.check(1000);
  squares.check(1000);
  padding.check(500);
  vectors.check(100);
}

TEMPLATE_TEST_CASE("small_problem: neither the order of the contacts nor other problems matter",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(3);
  SmallProblem<Scalar> used;
  used.reserve(64, 20);
  for (int sample = 0; sample < 30; ++sample) {
    RawProblem raw = draw_problem(
        source, {.sizes = {1 + sample * 5 % 13}, .contact_count = 1 + sample * 7 % 20});
    if (sample % 3 == 0) raw.contacts.back() = raw.contacts.front();  // one twice
    const Eigen::VectorXd start = draw_velocity(source, raw);
    Case<Scalar> first(raw, start);
    const std::vector<Scalar> numbers = numbers_of(first.small);
    for (int round = 0; round < 3; ++round) {
      RawProblem other = raw;
      for (std::size_t k = other.contacts.size(); k-- > 1;) {
        std::swap(other.contacts[k], other.contacts[std::size_t(source.unit() * double(k + 1))]);
      }
      Case<Scalar> second(other, start);
      CHECK(numbers_of(second.small) == numbers);
      used.lay_out(second.problem);
      std::fill_n(used.vector(0), 40, Scalar(1e30));
      used.gather(second.problem, second.guess);
      CHECK(numbers_of(used) == numbers);
    }
  }
}

TEMPLATE_TEST_CASE("small_problem: an evaluated iterate is that of the dense matrices",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Small = SmallProblem<Scalar>;
  WorstCase velocities("J v"), impulses("γ in the norm of R"), momenta("Jᵀγ"), gradients("∇ℓ"),
      measures("the four measures"), costs("ℓ"), padding("impulses of the padding");
  for_each_case<Scalar>(4u, [&](Case<Scalar>& data, auto&, int sample) {
    data.state.evaluate();
    const LongVector v = data.velocity(), y = data.dense.trial(v);
    const LongVector moved = multiply(data.dense.jacobian, v), found = data.rows(Small::velocity);
    Long noise = 0;  // of the impulses, in the norm of R, squared
    for (Index r = 0; r < y.size(); ++r) {
      const Long size = data.row_size(r);
      velocities.see(std::abs(found(r) - moved(r)), rounding<Scalar>(300, Scalar(size)), sample);
      noise += size * size / data.dense.weights(r);
    }
    noise = rounding<Scalar>(300, 1) * std::sqrt(noise);
    const LongVector gamma = data.dense.project(y), own = data.rows(Small::impulse);
    impulses.see(std::sqrt(inner<Long>(own - gamma, data.dense.weigh(own - gamma))), noise, sample);
    // From here on with the impulses found: a small R would make their noise large.
    const LongVector pushed = multiply_transposed(data.dense.jacobian, own);
    const LongVector gradient =
        multiply<Long>(data.dense.momentum, v - data.dense.free_velocity) - pushed;
    Long gross = 0;
    for (Index r = 0; r < own.size(); ++r) {
      gross += data.row_norm(r) * data.row_norm(r) * own(r) * own(r);
    }
    const Long speed = data.dense.energy_norm(v),
               free = data.dense.energy_norm(data.dense.free_velocity);
    const Long unit = rounding<Scalar>(300, 1), push = std::sqrt(gross * Long(own.size()));
    momenta.see(data.dense.momentum_norm(data.momentum_of(Small::momentum) - pushed), unit * push,
                sample);
    gradients.see(data.dense.momentum_norm(data.momentum_of(Small::gradient) - gradient),
                  unit * (push + speed + free), sample);
    measures.see(std::abs(data.state.residual - data.dense.momentum_norm(gradient)),
                 unit * (push + speed + free), sample, 1);
    measures.see(std::abs(data.state.free_squared - free * free), unit * free * free, sample, 2);
    const Long pushed_norm = data.dense.momentum_norm(pushed);
    measures.see(std::abs(std::sqrt(Long(data.state.pushed_squared)) - pushed_norm), unit * push,
                 sample, 3);
    measures.see(std::abs(data.state.gross_squared - gross), unit * gross, sample, 4);
    costs.see(std::abs(data.state.cost() - data.dense.conic_cost(v, own)),
              unit * (data.dense.conic_cost(v, own) + (speed + free) * (speed + free)), sample);
    for (Index k = data.small.count(); k < data.small.padded(); ++k) {
      for (int c = 0; c < 3; ++c) {
        padding.see_holds(data.small.array(Small::impulse + c)[k] == Scalar(0));
      }
    }
  });
  velocities.check(500);
  for (const WorstCase* law : {&impulses, &momenta, &gradients, &costs}) law->check(70);
  measures.check(280);
  padding.check(100);
}

TEMPLATE_TEST_CASE("small_problem: costs at rest, without contact, and ahead, which move nothing",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Small = SmallProblem<Scalar>;
  WorstCase costs("costs"), same("as evaluated there"), still("the iterate stays");
  for_each_case<Scalar>(5u, [&](Case<Scalar>& data, auto& source, int sample) {
    Small& small = data.small;
    data.state.evaluate();
    const std::vector<Scalar> start(small.vector(Small::whitened),
                                    small.vector(Small::whitened) + small.lanes());
    const LongVector gamma = data.rows(Small::impulse);
    const Long unit = rounding<Scalar>(2000, 1), size = data.cost_size();
    const LongVector rest = LongVector::Zero(small.size());
    const Scalar at_rest = data.state.cost_at_rest(), when_free = data.state.cost_when_free();
    costs.see(std::abs(at_rest - data.dense.cost(rest)), unit * size, sample, 1);
    costs.see(std::abs(when_free - data.dense.cost(data.dense.free_velocity)), unit * size, sample,
              2);
    // At a trial impulse of its own, with a change that is given.
    LongVector y(3 * small.count());
    for (Index r = 0; r < y.size(); ++r) y(r) = Scalar(source.entry(4));
    data.set_rows(Small::trial_ahead, y);
    const auto change = Scalar(source.positive(4));
    const LongVector ahead = data.dense.project(y);
    const Long slack = inner(ahead, data.dense.weigh(ahead));
    const Long trial = inner(y, data.dense.weigh(y));
    costs.see(std::abs(data.state.cost_ahead(change) - (change + slack) / 2),
              unit * (change + trial), sample, 3);
    still.see_holds(std::equal(start.begin(), start.end(), small.vector(Small::whitened)));
    still.see_holds(gamma == data.rows(Small::impulse));
    data.state.start_at_rest();
    same.see(std::abs(data.state.cost() - at_rest), unit * size, sample, 4);
    same.see_holds(data.rows(Small::velocity).isZero(0));
    data.state.start_free();
    same.see(std::abs(data.state.cost() - when_free), unit * size, sample, 5);
    same.see_holds(std::equal(small.vector(Small::free), small.vector(Small::free) + small.lanes(),
                              small.vector(Small::whitened)));
  });
  costs.check(200);
  same.check(200);
  still.check(100);
}

TEST_CASE("small_problem: the gradient is the slope of the cost in every direction",
          "[solvers][derivative]") {
  using Small = SmallProblem<double>;
  WorstCase slopes("∇ℓ·d");
  for_each_case<double>(6u, [&](Case<double>& data, auto& source, int sample) {
    Small& small = data.small;
    data.state.evaluate();
    const std::vector<double> w(small.vector(Small::whitened),
                                small.vector(Small::whitened) + small.lanes());
    const double size = double(data.cost_size());
    double square = 0;
    for (Index i = 0; i < small.size(); ++i) square += w[std::size_t(i)] * w[std::size_t(i)];
    double* const d = small.vector(Small::direction);
    for (Index i = 0; i < small.size(); ++i) d[i] = (2 * source.unit() - 1) * std::sqrt(square + 1);
    const double slope = data.state.dot(Small::gradient, Small::direction);
    // ℓ is convex and its slope is Lipschitz: two differences enclose it.
    const double h = 1e-6;
    const auto cost_at = [&](double step) {
      for (Index i = 0; i < small.size(); ++i) {
        small.vector(Small::whitened)[i] = w[std::size_t(i)] + step * d[i];
      }
      data.state.evaluate();
      return data.state.cost();
    };
    const double here = cost_at(0), ahead = (cost_at(h) - here) / h,
                 behind = (here - cost_at(-h)) / h;
    const double noise = rounding(100, size) / h;
    slopes.see(std::max({slope - ahead, behind - slope, 0.0}), noise, sample, slope, ahead, behind);
    // A curvature of at most ‖d‖² + Σ (Ĵd)²/R bounds how far apart they are.
    double curvature = data.state.dot(Small::direction, Small::direction);
    for (Index k = 0; k < small.padded(); k += carom::detail::row_lanes) {
      typename SmallState<double>::Lane moved[3];
      data.state.multiply(Small::direction, k, moved);
      for (int c = 0; c < 3; ++c) {
        const int inverse = c < 2 ? Small::inverse_tangent : Small::inverse_normal;
        curvature += (moved[c].square() * data.state.in_array(inverse, k)).sum();
      }
    }
    slopes.see(ahead - behind, 2 * (noise + h * curvature), sample);
  });
  slopes.check(140);
}

TEMPLATE_TEST_CASE("small_problem: inner products and changes are those of the vectors",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Small = SmallProblem<Scalar>;
  WorstCase products("inner products");
  for_each_case<Scalar>(7u, [&](Case<Scalar>& data, auto& source, int sample) {
    Small& small = data.small;
    Long product = 0, gross = 0, changed = 0, changed_gross = 0;
    Scalar *const a = small.vector(Small::direction), *const b = small.vector(Small::best);
    for (Index i = 0; i < small.size(); ++i) {
      a[i] = Scalar(source.entry(6)), b[i] = Scalar(source.entry(6));
      product += Long(a[i]) * b[i];
      gross += std::abs(Long(a[i]) * b[i]);
      const Long w = small.vector(Small::whitened)[i], w_free = small.vector(Small::free)[i];
      changed += a[i] * (w - w_free);
      changed_gross += std::abs(a[i]) * (std::abs(w) + std::abs(w_free));
    }
    products.see(std::abs(data.state.dot(Small::direction, Small::best) - product),
                 rounding<Scalar>(70, Scalar(gross)), sample);
    products.see(std::abs(data.state.dot_change(Small::direction) - changed),
                 rounding<Scalar>(70, Scalar(changed_gross)), sample);
    data.state.copy(Small::direction, Small::best);
    products.see_holds(std::equal(a, a + small.lanes(), b));
  });
  products.check(200);
}

TEMPLATE_TEST_CASE("small_problem: numbers that leave the range of the type are told",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  using Small = SmallProblem<Scalar>;
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  for_each_case<Scalar>(8u, [&](Case<Scalar>& data, auto& source, int) {
    Small& small = data.small;
    for (const Scalar bad : {infinity, -infinity, std::numeric_limits<Scalar>::quiet_NaN()}) {
      data.state.start_free();
      REQUIRE(data.state.are_finite());
      small.vector(Small::whitened)[Index(source.unit() * double(small.size()))] = bad;
      data.state.evaluate();
      CHECK_FALSE(data.state.are_finite());
      CHECK(data.state.cost() == infinity);
      CHECK(data.rows(Small::impulse).isZero(0));
    }
    LongVector y = LongVector::Ones(3 * small.count());
    y(y.size() - 1) = infinity;
    data.set_rows(Small::trial_ahead, y);
    CHECK(data.state.cost_ahead(Scalar(0)) == infinity);
    // Each is finite, and their sum is not.
    y.setConstant(std::numeric_limits<Scalar>::max());
    data.set_rows(Small::trial_ahead, y);
    CHECK(data.state.cost_ahead(Scalar(0)) == infinity);
  });
}

}  // namespace small_problem_test
