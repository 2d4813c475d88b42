// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/cone_pair.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace cone_pair_test {

using carom::detail::ConePair, carom::detail::ConeVector, carom::detail::jordan_product;
using carom::detail::SmallVector;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

using Long = long double;

template <typename Scalar, int Size>
[[nodiscard]] Long norm(const ConeVector<Scalar, Size>& x) {
  return std::sqrt(Long(x.head) * Long(x.head) + Long(x.tail.squared_norm()));
}
template <typename Scalar, int Size>
[[nodiscard]] Long distance(const ConeVector<Scalar, Size>& x, const ConeVector<Scalar, Size>& y) {
  return norm(x.plus(y, Scalar(-1)));
}
/// x₀² − ‖x‖² with negligible rounding.
template <typename Scalar, int Size>
[[nodiscard]] Long determinant(const ConeVector<Scalar, Size>& x) {
  Long squared = 0;
  for (int k = 0; k < Size; ++k) squared += Long(x.tail(k)) * Long(x.tail(k));
  const Long length = std::sqrt(squared), head = x.head;
  return (head - length) * (head + length);
}
/// How much the cone's boundary magnifies relative errors of a vector inside.
template <typename Scalar, int Size>
[[nodiscard]] Long sensitivity(const ConeVector<Scalar, Size>& x) {
  return Long(x.head) * Long(x.head) / determinant(x);
}

template <typename Scalar, int Size>
[[nodiscard]] ConeVector<Scalar, Size> draw(VectorSource<Scalar>& source, double size) {
  ConeVector<Scalar, Size> x;
  x.head = Scalar(size * (2 * source.unit() - 1));
  for (int k = 0; k < Size; ++k) x.tail(k) = Scalar(size * (2 * source.unit() - 1));
  return x;
}
/// Inside of the cone, the determinant a given share of the head's square or a little more.
template <typename Scalar, int Size>
[[nodiscard]] ConeVector<Scalar, Size> draw_inside(VectorSource<Scalar>& source, double head,
                                                   double share,
                                                   const SmallVector<Scalar, Size>& direction) {
  ConeVector<Scalar, Size> x;
  x.head = Scalar(head);
  if (source.unit() < 0.1) return x;  // on the axis
  x.tail = Scalar(head * std::sqrt(1 - share)) * direction;
  while (!(determinant(x) > 0.5L * Long(share) * Long(x.head) * Long(x.head))) {
    x.tail *= 1 - 4 * std::numeric_limits<Scalar>::epsilon();
  }
  return x;
}

/// Scaled pairs: magnitudes over many decades, determinants down to 1e-12 of the squares (1e-3 in
/// floats), directions alike, opposite as those of sliding are, and any.
template <typename Scalar, int Size, typename Visit>
void for_each_pair_of(std::uint32_t seed, int rounds, const Visit& visit) {
  VectorSource<Scalar> source(seed);
  const double least = sizeof(Scalar) == 4 ? -3 : -12;
  const double decades = sizeof(Scalar) == 4 ? 8 : 16;
  for (int k = 0; k < rounds; ++k) {
    const auto direction = [&] {
      const SmallVector<Scalar, Size> any = draw<Scalar, Size>(source, 1).tail;
      return any / std::max(any.norm(), Scalar(1e-3));
    };
    const auto share = [&] { return std::pow(10.0, least * source.unit() * source.unit()); };
    const SmallVector<Scalar, Size> first = direction();
    SmallVector<Scalar, Size> second = -first;
    if (k % 3 == 1) second = direction();
    if (k % 3 == 2) second = first;
    ConePair<Scalar, Size> pair;
    pair.r = draw_inside<Scalar, Size>(source, double(source.positive(decades)), share(), first);
    pair.z = draw_inside<Scalar, Size>(source, double(source.positive(decades)), share(), second);
    REQUIRE(pair.scale());
    visit(pair, source);
  }
}
template <typename Scalar, typename Visit>
void for_each_pair(std::uint32_t seed, const Visit& visit) {
  for_each_pair_of<Scalar, 2>(seed, 600, visit);
  for_each_pair_of<Scalar, 5>(seed + 1, 300, visit);
}

/// Relative error that rounding leaves in the scaling.
template <typename Scalar, int Size>
[[nodiscard]] Long allowance(const ConePair<Scalar, Size>& pair) {
  return Long(rounding<Scalar>(64, 1)) * (sensitivity(pair.r) + sensitivity(pair.z));
}
/// Largest of F, and of F⁻¹.
template <typename Scalar, int Size>
[[nodiscard]] Long largest(const ConePair<Scalar, Size>& pair) {
  return std::sqrt(Long(pair.eta_squared)) * (Long(pair.w.head) + Long(pair.w.tail.norm()));
}
template <typename Scalar, int Size>
[[nodiscard]] Long largest_inverse(const ConePair<Scalar, Size>& pair) {
  return (Long(pair.w.head) + Long(pair.w.tail.norm())) / std::sqrt(Long(pair.eta_squared));
}

/// The largest share of a step that stays inside, by bisection.
template <typename Scalar, int Size>
[[nodiscard]] Long longest_step(const ConeVector<Scalar, Size>& x,
                                const ConeVector<Scalar, Size>& d) {
  const auto inside = [&](Long share) {
    Long squared = 0;
    for (int k = 0; k < Size; ++k) {
      const Long y = Long(x.tail(k)) + share * Long(d.tail(k));
      squared += y * y;
    }
    return Long(x.head) + share * Long(d.head) > std::sqrt(squared);
  };
  Long low = 0, high = 1e-30L;
  while (inside(high) && high < 1e30L) low = high, high *= 2;
  if (high >= 1e30L) return std::numeric_limits<Long>::infinity();
  for (int k = 0; k < 100; ++k) {
    const Long middle = (low + high) / 2;
    (inside(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

TEMPLATE_TEST_CASE("cone_pair: one scaling takes both to the same point", "[solvers][law]", float,
                   double) {
  using Scalar = TestType;
  WorstCase first("F z = λ"), second("F⁻¹ r = λ"), products("λ·λ = r·z"), roots("det λ");
  for_each_pair<Scalar>(1, [&](const auto& pair, auto&) {
    const Long allowed = allowance(pair);
    first.see(distance(pair.times(pair.z), pair.lambda), allowed * largest(pair) * norm(pair.z),
              pair.r.head, pair.r.tail, pair.z.head, pair.z.tail);
    second.see(distance(pair.divide(pair.r), pair.lambda),
               allowed * largest_inverse(pair) * norm(pair.r), pair.r.head, pair.r.tail,
               pair.z.head, pair.z.tail);
    const Long product = norm(pair.r) * norm(pair.z);
    products.see(std::abs(Long(pair.lambda.dot(pair.lambda)) - Long(pair.r.dot(pair.z))),
                 allowed * product);
    const Long root = std::sqrt(determinant(pair.r) * determinant(pair.z));
    roots.see(std::abs(Long(pair.root_r) * Long(pair.root_z) - root), allowed * root);
  });
  for (const WorstCase* law : {&first, &second, &products, &roots}) law->check(900);
}

TEMPLATE_TEST_CASE("cone_pair: the scaling is symmetric, positive and keeps the cone",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase symmetric("x·F y = y·F x"), positive("x·F x > 0"), kept("det F x = η² det x");
  for_each_pair<Scalar>(3, [&]<int Size>(const ConePair<Scalar, Size>& pair, auto& source) {
    const auto x = draw<Scalar, Size>(source, 1), y = draw<Scalar, Size>(source, 1);
    const auto moved = pair.times(x);
    const Long size = largest(pair), allowed = allowance(pair);
    symmetric.see(std::abs(Long(moved.dot(y)) - Long(pair.times(y).dot(x))),
                  Long(rounding<Scalar>(32, 1)) * size * norm(x) * norm(y));
    const Long reach = Long(pair.w.head) + Long(pair.w.tail.norm());
    if (allowed * reach * reach < 1) positive.see_holds(moved.dot(x) > 0);
    // x is turned by −J in between: F J F = η² J for the form x₀ y₀ − x·y.
    const ConeVector<Scalar, Size> mirrored{y.head, -y.tail};
    const auto back = pair.times(mirrored);
    const Long form =
        Long(moved.head) * Long(pair.times(y).head) - Long(moved.tail.dot(pair.times(y).tail));
    kept.see(std::abs(form - Long(pair.eta_squared) * (Long(x.dot(mirrored)))),
             4 * allowed * size * size * norm(x) * norm(y), pair.w.head, pair.w.tail);
    symmetric.see(std::abs(Long(back.dot(x)) - Long(moved.dot(mirrored))),
                  Long(rounding<Scalar>(32, 1)) * size * norm(x) * norm(y));
  });
  symmetric.check(900);
  positive.check(500);
  kept.check(900);
}

TEMPLATE_TEST_CASE("cone_pair: dividing undoes multiplying, twice it is the curvature",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase inverse("F⁻¹ F x = x"), other("F F⁻¹ x = x"), curvature("F⁻¹ F⁻¹ x = G x");
  for_each_pair<Scalar>(5, [&]<int Size>(const ConePair<Scalar, Size>& pair, auto& source) {
    const auto x = draw<Scalar, Size>(source, 1);
    const Long both = largest(pair) * largest_inverse(pair) * norm(x), allowed = allowance(pair);
    inverse.see(distance(pair.divide(pair.times(x)), x), allowed * both);
    other.see(distance(pair.times(pair.divide(x)), x), allowed * both);
    curvature.see(distance(pair.divide(pair.divide(x)), pair.curvature_times(x)),
                  allowed * largest_inverse(pair) * largest_inverse(pair) * norm(x));
  });
  for (const WorstCase* law : {&inverse, &other, &curvature}) law->check(900);
}

TEMPLATE_TEST_CASE("cone_pair: a quotient times lambda is what was divided", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  WorstCase solved("λ ∘ (λ \\ d) = d");
  for_each_pair<Scalar>(7, [&]<int Size>(const ConePair<Scalar, Size>& pair, auto& source) {
    const auto d = draw<Scalar, Size>(source, 1);
    const Long head = Long(pair.lambda.head), root = Long(pair.root_r) * Long(pair.root_z);
    solved.see(distance(jordan_product(pair.lambda, pair.quotient(d)), d),
               allowance(pair) * head * head / root * norm(d), pair.lambda.head, pair.lambda.tail,
               d.head, d.tail);
  });
  solved.check(900);
}

TEMPLATE_TEST_CASE("cone_pair: the longest step ends on the boundary", "[solvers][oracle]", float,
                   double) {
  using Scalar = TestType;
  WorstCase exact("as bisection finds it"), bounded("never below the least");
  for_each_pair<Scalar>(9, [&]<int Size>(const ConePair<Scalar, Size>& pair, auto& source) {
    const auto dr = draw<Scalar, Size>(source, double(pair.r.head) * source.pick({1e-3, 1, 1e3}));
    const auto dz = draw<Scalar, Size>(source, double(pair.z.head) * source.pick({1e-3, 1, 1e3}));
    const Long r = 1 / longest_step(pair.r, dr), z = 1 / longest_step(pair.z, dz);
    const Scalar least = -std::numeric_limits<Scalar>::infinity();
    const Long found = std::max(Long(0), Long(pair.inverse_step(dr, dz, least)));
    const auto pace = [](const auto& x, const auto& d) {
      return norm(d) * Long(x.head) / determinant(x);
    };
    const Long size = std::max(pace(pair.r, dr), pace(pair.z, dz));
    exact.see(std::abs(found - std::max(r, z)), allowance(pair) * size, pair.r.head, pair.r.tail,
              dr.head, dr.tail, r, z);
    bounded.see_holds(pair.inverse_step(dr, dz, Scalar(found) + 1) == Scalar(found) + 1);
  });
  exact.check(900);
  bounded.check(900);
}

TEMPLATE_TEST_CASE("cone_pair: a pair outside of its cones is not scaled", "[solvers][example]",
                   float, double) {
  using Scalar = TestType;
  const auto scales = [](const auto& r, const auto& z) {
    ConePair<Scalar, 2> pair;
    pair.r = r;
    pair.z = z;
    return pair.scale();
  };
  using Vector = ConeVector<Scalar, 2>;
  const Vector inside{2, {1, -1}}, on{5, {3, 4}}, outside{1, {1, 1}}, behind{-2, {1, 0}};
  CHECK(scales(inside, inside));
  for (const Vector& bad : {on, outside, behind, Vector{Scalar(NAN), {0, 0}}, Vector{}}) {
    CHECK_FALSE(scales(bad, inside));
    CHECK_FALSE(scales(inside, bad));
  }
}

TEMPLATE_TEST_CASE("cone_pair: aim makes the scaled products equal but for second order",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase aimed("λ ∘ F (z + aim) = target e − second"), to_zero("aim of zero is −z");
  for_each_pair<Scalar>(11, [&]<int Size>(const ConePair<Scalar, Size>& pair, auto& source) {
    // Steps of a size that the pair itself has in its scaled frame.
    const Scalar size = pair.lambda.head;
    const auto scaled = draw<Scalar, Size>(source, double(size));
    const auto dr = pair.times(scaled), dz = pair.divide(draw<Scalar, Size>(source, double(size)));
    const Scalar target = size * size * Scalar(source.pick({0, 0.3, 1}));
    const auto aim = pair.aim(target, dr, dz);
    const auto product = jordan_product(pair.lambda, pair.times(aim.plus(pair.z, Scalar(1))));
    const auto second = jordan_product(pair.divide(dr), pair.times(dz));
    const ConeVector<Scalar, Size> wanted{target - second.head, -second.tail};
    const Long spread = Long(size) * Long(size) / (Long(pair.root_r) * Long(pair.root_z));
    const Long condition = largest(pair) * largest_inverse(pair);
    aimed.see(distance(product, wanted),
              allowance(pair) * (condition + spread) * (norm(wanted) + Long(size) * Long(size)),
              pair.r.head, pair.r.tail, pair.z.head, pair.z.tail);
    const ConeVector<Scalar, Size> none{};
    to_zero.see(norm(pair.aim(Scalar(0), none, none).plus(pair.z, Scalar(1))), 0);
  });
  aimed.check(900);
  to_zero.check(900);
}

TEMPLATE_TEST_CASE("cone_pair: the head that is left out follows from the tail", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  WorstCase follows("head of aim − G dr"), least("where G is least, to all digits");
  for_each_pair<Scalar>(13, [&]<int Size>(const ConePair<Scalar, Size>& pair, auto& source) {
    const auto aim = draw<Scalar, Size>(source, 1), dr = draw<Scalar, Size>(source, 1);
    const auto dz = aim.plus(pair.curvature_times(dr), Scalar(-1));
    const Long scale = largest_inverse(pair) * largest_inverse(pair);
    follows.see(std::abs(Long(pair.head_of(aim, dr, dz)) - Long(dz.head)),
                allowance(pair) * (norm(aim) + scale * norm(dr)), pair.w.head, pair.w.tail);
    // Along (1, w/‖w‖) the answer is the smallest eigenvalue's, however large the other is.
    const Long length = std::sqrt(Long(pair.w.tail.squared_norm()));
    if (!(length > 0)) return;
    ConeVector<Scalar, Size> along{1, pair.w.tail / Scalar(length)};
    const Long reach = Long(pair.w.head) + length;
    const Long share = 1 / (Long(pair.eta_squared) * reach * reach);
    const ConeVector<Scalar, Size> zero{};
    const ConeVector<Scalar, Size> answer{0, Scalar(-share) * along.tail};
    least.see(std::abs(Long(pair.head_of(zero, along, answer)) + share),
              Long(rounding<Scalar>(32, 1)) * share);
  });
  follows.check(900);
  least.check(500);
}

}  // namespace cone_pair_test
