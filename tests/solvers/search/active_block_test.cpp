// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/active_block.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "support/catch.hpp"
#include "support/law_oracle.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace active_block_test {

using carom::FrictionLaw, carom::ImpulseSet, carom::ImpulseShape, carom::RowNumbers;
using carom::detail::ActiveBlock, carom::detail::BlockList, carom::detail::BlockResponse;
using carom::detail::BlockRows, carom::detail::held_softness;
using carom::testing::OracleBlock, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

using Rows = RowNumbers<double>;
using Six = Eigen::Matrix<double, 6, 6>;

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};
constexpr ImpulseShape shapes[] = {ImpulseShape::intervals,
                                   ImpulseShape::friction,
                                   ImpulseShape::planar,
                                   ImpulseShape::elliptic,
                                   ImpulseShape::torsional,
                                   ImpulseShape::rolling,
                                   ImpulseShape::ellipsoidal_torsional,
                                   ImpulseShape::ellipsoidal_rolling,
                                   ImpulseShape::spinless_rolling};

/// Newton's equation of the natural map of one block, dense and in doubles.
struct Equation {
  ImpulseSet<double> set;
  FrictionLaw law = FrictionLaw::coulomb;
  bool is_triple = false;
  Rows gamma = Rows::Zero(), u = Rows::Zero(), softness = Rows::Zero();
  Rows mobility = Rows::Ones();  ///< a
  double delta = 0;              ///< held_softness of the type tested

  /// Sets a and adds what softens held rows to R.
  void prepare(double w, const Rows& regularization) {
    mobility.setConstant(1 / w);
    softness = regularization + Rows::Constant(delta * w);
    if (law == FrictionLaw::convex && is_triple) {  // in units of μ, where the cone is Lorentz's
      const double mu = set.friction(0), own = w * (1 + 2 * mu * mu) / 3;
      mobility << mu * mu / own, mu * mu / own, 1 / own, 1 / own, 1 / own, 1 / own;
      softness.head<3>() = regularization.head<3>();
      softness.head<3>() += delta * own * Eigen::Vector3d(1 / (mu * mu), 1 / (mu * mu), 1);
    } else if (law == FrictionLaw::coulomb) {
      for (const OracleBlock& disc : carom::testing::shape_of(set).blocks) {
        const auto most = *std::max_element(disc.friction.begin(), disc.friction.end());
        for (std::size_t k = 0; most > 0 && k < disc.rows.size(); ++k) {
          const double part = double(disc.friction[k] / most);
          mobility(disc.rows[k]) *= part * part;
        }
      }
    }
  }
  [[nodiscard]] Rows trial() const { return gamma - mobility.cwiseProduct(u); }
  [[nodiscard]] Rows answer(const Rows& y) const {
    return law == FrictionLaw::coulomb ? coulomb_impulse(set, y)
                                       : nearest_impulse(set, Rows(mobility.cwiseInverse()), y);
  }
  [[nodiscard]] Six slope(const Rows& y) const {
    if (law == FrictionLaw::coulomb) return coulomb_slope(set, y);
    const Rows weights = mobility.cwiseInverse();
    return impulse_curvature(set, weights, y) * weights.asDiagonal();
  }
  /// Whether the law is smooth about y, so that rounding does not choose the region.
  [[nodiscard]] bool smooth(const Rows& y, VectorSource<double>& source) const {
    const Six here = slope(y);
    for (int k = 0; k < 6; ++k) {
      Rows moved = y;
      for (int r = 0; r < 6; ++r) moved(r) += 2e-3 * y.norm() * (source.unit() - 0.5);
      if (!((slope(moved) - here).norm() < 0.05)) return false;
    }
    return true;
  }
  /// The slope with the direction of friction as a separate unknown: where a friction contact
  /// slides under Coulomb's law, ∂γ_t/∂y_t is β (I − ẑ tᵀ) with β = bound/‖y_t‖, t = y_t/‖y_t‖ and
  /// ẑ = γ_t/bound, without what of ẑ is longer than 1 or against t.
  [[nodiscard]] Six linearised(const Rows& y) const {
    Six d = slope(y);
    const Eigen::Vector2d moved = y.head<2>() + set.shift.head<2>();
    const double bound = set.friction(0) * (y(2) + set.shift(2));
    if (law == FrictionLaw::convex || !is_triple || !(bound > 0) || moved.norm() <= bound) return d;
    const Eigen::Vector2d held = gamma.head<2>() + set.shift.head<2>(), t = moved.normalized();
    Eigen::Vector2d z = held / std::max(bound, held.norm());
    z -= std::min(z.dot(t), 0.0) * t;
    d.topLeftCorner<2, 2>() =
        bound / moved.norm() * (Eigen::Matrix2d::Identity() - z * t.transpose());
    return d;
  }
  /// (I − D + D a S) N = D a and (I − D + D a S) h = 𝒞(y) − γ.
  void solve(Six& gain, Rows& offset) const {
    const Rows y = trial();
    const Six d = linearised(y), moved = d * mobility.asDiagonal();
    Six matrix = Six::Identity() - d + moved * softness.asDiagonal();
    Rows right = answer(y) - gamma;
    for (int r = set.rows; r < 6; ++r) right(r) = 0;
    const Eigen::FullPivLU<Six> lu(matrix);
    gain = lu.solve(moved);
    offset = lu.solve(right);
  }
};

/// Blocks of all shapes at random impulses and velocities: visits each with its equation, R zero
/// or not.
template <typename Scalar, typename Visit>
void for_each_state(std::uint32_t seed, int rounds, const Visit& visit) {
  VectorSource<double> source(seed);
  for (int round = 0; round < rounds; ++round) {
    for (const ImpulseShape shape : shapes) {
      ImpulseSet<double> set = carom::free_impulses<double>(4);
      set.lower << 0, -1, 0.5, -1e30, 0, 0;
      set.upper << 1e30, 1, 0.5, 0, 0, 0;
      if (shape != ImpulseShape::intervals) {
        set = carom::cone_impulses<double>(
            shape, {source.pick({0, 0.125, 0.5, 2}), source.pick({0, 0.25, 0.5}),
                    source.pick({0, 0.125, 1})});
      }
      Equation equation;
      Rows softness = Rows::Zero();
      const double w = double(float(source.positive(2)));
      for (int r = 0; r < set.rows; ++r) {
        if (round % 2 == 0) softness(r) = double(float(w * source.positive(2)));
        if (round % 3 == 0 && shape != ImpulseShape::intervals) {
          set.shift(r) = double(float(source.unit()));
        }
      }
      equation.is_triple = shape == ImpulseShape::friction && set.friction(0) > 0;
      if (shape == ImpulseShape::friction || shape == ImpulseShape::torsional ||
          shape == ImpulseShape::rolling || shape == ImpulseShape::spinless_rolling) {
        softness(1) = softness(0);  // as such contacts have it
        if (set.rows > 4) softness(4) = softness(3);
      }
      ImpulseSet<Scalar> own;
      own.shape = set.shape;
      own.rows = set.rows;
      own.lower = set.lower.template cast<Scalar>();
      own.upper = set.upper.template cast<Scalar>();
      own.friction = set.friction.template cast<Scalar>();
      own.shift = set.shift.template cast<Scalar>();
      BlockList<Scalar> list;
      list.add(own, softness.template cast<Scalar>(), 0);
      list.change(0, [&](auto& block) { block.inverse_mass = Scalar(w); });
      equation.set = set;
      equation.delta = double(held_softness<Scalar>());
      for (const FrictionLaw law : laws) {
        equation.law = law;
        equation.prepare(w, softness);
        for (int r = 0; r < set.rows; ++r) {
          equation.gamma(r) = double(float(4 * source.unit() - 2));
          equation.u(r) = double(float(w * (4 * source.unit() - 2)));
        }
        const double push = 3 * source.unit();  // most normals push
        const int n = carom::testing::shape_of(set).normal;
        if (n >= 0) equation.gamma(n) += double(float(push));
        if (!equation.smooth(equation.trial(), source)) continue;
        list.visit(0, [&](const auto& block) { visit(block, equation, source); });
      }
    }
  }
}

template <typename Scalar, int Parts>
struct Response {
  Six gain = Six::Zero();
  Rows offset = Rows::Zero();

  Response(const BlockRows<Scalar, Parts>& block, const Equation& equation) {
    const RowNumbers<Scalar> gamma = equation.gamma.template cast<Scalar>();
    const RowNumbers<Scalar> u = equation.u.template cast<Scalar>();
    BlockResponse<Scalar, Parts> response;
    ActiveBlock<Scalar, Parts>::write(block, equation.law, parts_of_rows(block, gamma),
                                      parts_of_rows(block, u), response);
    for (int r = 0; r < equation.set.rows; ++r) {
      offset(r) = double(response.offset(block.place(r)));
      for (int c = 0; c < equation.set.rows; ++c) {
        gain(r, c) = double(response.gain(block.place(r), block.place(c)));
      }
    }
  }
};

/// Where rows that are held are held by softness alone, rounding is as large as this.
template <typename Scalar>
[[nodiscard]] double allowance() {
  return 20 * double(held_softness<Scalar>()) +
         double(rounding<Scalar>(200, 1)) / double(held_softness<Scalar>());
}

}  // namespace

TEMPLATE_TEST_CASE("active_block: N and h solve Newton's equation of the natural map",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase gains("N"), offsets("h");
  int open = 0, moving = 0;
  for_each_state<Scalar>(1, 150, [&](const auto& block, const Equation& equation, auto&) {
    Six gain;
    Rows offset;
    equation.solve(gain, offset);
    const Response response(block, equation);
    const Rows y = equation.trial();
    gains.see((response.gain - gain).norm(), allowance<Scalar>() * gain.norm(),
              int(equation.set.shape), equation.gamma, equation.u, equation.set.friction,
              equation.softness);
    const double size = offset.norm() + equation.gamma.norm() + gain.norm() * equation.u.norm();
    offsets.see((response.offset - offset).norm(), allowance<Scalar>() * size,
                int(equation.set.shape), equation.gamma, equation.u, equation.set.friction,
                equation.softness);
    open += gain.isZero(0);
    moving += !gain.isZero(0) && (equation.answer(y) - y).norm() > 1e-3;
  });
  gains.check(1500);
  offsets.check(1500);
  CHECK(open > 100);
  CHECK(moving > 500);
}

TEMPLATE_TEST_CASE("active_block: with compliance, the equation is solved to rounding",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase gains("N"), offsets("h");
  const double exact = double(rounding<Scalar>(500, 1)) + 4 * double(held_softness<Scalar>());
  for_each_state<Scalar>(2, 150, [&](const auto& block, const Equation& equation, auto&) {
    const double least = equation.softness.head(equation.set.rows).minCoeff();
    if (!(least > 100 * equation.delta / equation.mobility(0))) return;
    Six gain;
    Rows offset;
    equation.solve(gain, offset);
    const Response response(block, equation);
    gains.see((response.gain - gain).norm(), 30 * exact * gain.norm());
    offsets.see((response.offset - offset).norm(),
                30 * exact * (offset.norm() + equation.gamma.norm()));
  });
  gains.check(500);
  offsets.check(500);
}

TEMPLATE_TEST_CASE("active_block: clipping lands in the set and leaves alone what is in it",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase inside("in the set"), again("clipped again"), normal("normals that push are kept");
  for_each_state<Scalar>(
      6, 100,
      [&]<int Parts>(const BlockRows<Scalar, Parts>& block, const Equation& equation, auto&) {
        const RowNumbers<Scalar> gamma = equation.gamma.template cast<Scalar>();
        const auto clipped = ActiveBlock<Scalar, Parts>::clip(block, parts_of_rows(block, gamma));
        const RowNumbers<Scalar> rows = rows_of_parts(block, clipped);
        const auto& set = block.impulse_set();
        const auto shape = carom::testing::shape_of(set);
        const double allowed = double(rounding<Scalar>(16, 1)) * 8;
        if (shape.normal < 0) {
          for (int r = 0; r < set.rows; ++r) {
            inside.see_holds(set.lower(r) <= rows(r) && rows(r) <= set.upper(r));
          }
        } else {
          const double push = double(rows(shape.normal)) + double(set.shift(shape.normal));
          inside.see(std::max(0., -push), allowed);
          for (const OracleBlock& disc : shape.blocks) {
            double squared = 0, least = 1;
            for (std::size_t k = 0; k < disc.rows.size(); ++k) {
              const double x = double(rows(disc.rows[k])) + double(set.shift(disc.rows[k]));
              const double mu = double(disc.friction[k]);
              if (mu > 0) {
                squared += x / mu * (x / mu);
                least = std::min(least, mu);
              } else {
                inside.see(std::abs(x), allowed);
              }
            }
            inside.see(std::max(0., std::sqrt(squared) - push), allowed / least, rows,
                       set.friction);
          }
          const double before = double(gamma(shape.normal)) + double(set.shift(shape.normal));
          normal.see(std::abs(push - std::max(0., before)), allowed);
        }
        const auto twice = ActiveBlock<Scalar, Parts>::clip(block, clipped);
        again.see(double((twice - clipped).norm()), allowed);
      });
  inside.check(900);
  again.check(900);
  normal.check(600);
}

}  // namespace active_block_test
