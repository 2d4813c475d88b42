// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/cone_path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Eigenvalues>

#include "support/catch.hpp"
#include "support/law_oracle.hpp"
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

TEST_CASE("cone_pair: dividing undoes multiplying, twice it is the curvature", "[solvers][law]") {
  using Scalar = double;
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

TEST_CASE("cone_pair: a pair outside of its cones is not scaled", "[solvers][example]") {
  using Scalar = double;
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

TEST_CASE("cone_pair: aim makes the scaled products equal but for second order", "[solvers][law]") {
  using Scalar = double;
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

namespace cone_path_test {

using carom::FrictionLaw, carom::ImpulseSet, carom::ImpulseShape, carom::RowNumbers;
using carom::detail::BlockList, carom::detail::BlockRows, carom::detail::ConePair;
using carom::detail::ConePath, carom::detail::ConeVector, carom::detail::PartMatrix;
using carom::detail::PartNumbers;
using carom::detail::PathTarget, carom::detail::ProductSum;
using carom::testing::OracleBlock, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

using Long = long double;

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};
constexpr ImpulseShape shapes[] = {ImpulseShape::friction,
                                   ImpulseShape::planar,
                                   ImpulseShape::elliptic,
                                   ImpulseShape::torsional,
                                   ImpulseShape::rolling,
                                   ImpulseShape::ellipsoidal_torsional,
                                   ImpulseShape::ellipsoidal_rolling,
                                   ImpulseShape::spinless_rolling};

/// A point inside of a block's cones, as the tests know it: by the rows of its set.
template <typename Scalar, int Parts>
struct Point {
  static constexpr int size = ConePath<Scalar, Parts>::rows;
  using Pair = ConePair<Scalar, size>;
  using Vector = ConeVector<Scalar, size>;
  using Numbers = PartNumbers<Scalar, Parts>;

  const BlockRows<Scalar, Parts>& block;
  FrictionLaw law;
  std::vector<OracleBlock> discs;  ///< without the rows of no friction
  int normal_place = 0;
  Scalar normal = 1, leave = 1;  ///< γₙ + shift and uₙ
  std::vector<Pair> pairs;

  Point(const BlockRows<Scalar, Parts>& given, FrictionLaw kind) : block(given), law(kind) {
    const auto shape = carom::testing::shape_of(block.impulse_set());
    normal_place = block.place(shape.normal);
    for (const OracleBlock& whole : shape.blocks) {
      OracleBlock disc;
      for (std::size_t k = 0; k < whole.rows.size(); ++k) {
        if (!(whole.friction[k] > 0)) continue;
        disc.rows.push_back(whole.rows[k]);
        disc.friction.push_back(whole.friction[k]);
      }
      if (!disc.rows.empty()) discs.push_back(disc);
    }
    pairs.resize(discs.size());
  }
  [[nodiscard]] bool signorini() const { return law == FrictionLaw::coulomb || discs.empty(); }
  /// Calls visit(b, k, place, μ).
  template <typename Visit>
  void for_each_row(const Visit& visit) const {
    for (std::size_t b = 0; b < discs.size(); ++b) {
      for (std::size_t k = 0; k < discs[b].rows.size(); ++k) {
        visit(b, int(k), block.place(discs[b].rows[k]), Scalar(discs[b].friction[k]));
      }
    }
  }
  /// Draws a point, no nearer to a boundary than a share of the way.
  void draw(VectorSource<Scalar>& source, double margin) {
    normal = source.positive(4);
    const Scalar head = source.positive(4);
    leave = signorini() ? head : head * Scalar(discs.size());
    for (Pair& pair : pairs) {
      for (Vector* x : {&pair.r, &pair.z}) {
        x->tail = {};
        x->head = x == &pair.r ? normal : head;
      }
    }
    for_each_row([&](std::size_t b, int k, int, const Scalar&) {
      pairs[b].r.tail(k) = Scalar(2 * source.unit() - 1);
      pairs[b].z.tail(k) = Scalar(2 * source.unit() - 1);
    });
    for (Pair& pair : pairs) {
      for (Vector* x : {&pair.r, &pair.z}) {
        const Scalar reach = Scalar(source.unit() < 0.1 ? 0 : (1 - margin) * source.unit());
        x->tail *= x->head * reach / std::max(Scalar(x->tail.norm()), Scalar(1e-3));
      }
      REQUIRE(pair.scale());
    }
  }
  [[nodiscard]] Numbers impulse() const {
    Numbers result = -block.shift;
    result(normal_place) += normal;
    for_each_row([&](std::size_t b, int k, int place, const Scalar& mu) {
      result(place) += mu * pairs[b].r.tail(k);
    });
    return result;
  }
  [[nodiscard]] Numbers velocity() const {
    Numbers result;
    result(normal_place) = leave;
    for_each_row([&](std::size_t b, int k, int place, const Scalar& mu) {
      result(place) = pairs[b].z.tail(k) / mu;
    });
    return result;
  }
  /// The path at this point.
  [[nodiscard]] ConePath<Scalar, Parts> path(VectorSource<Scalar>& source) const {
    const Scalar head = signorini() ? leave : leave / Scalar(discs.size());
    const Scalar lower = Scalar(source.unit()) * normal, slower = Scalar(source.unit()) * head;
    Numbers gamma = impulse(), u = velocity();
    gamma(normal_place) -= lower;
    u(normal_place) = head - slower;
    ConePath<Scalar, Parts> result;
    result.start(block, gamma, u);
    result.raise(block, law, lower, slower);
    return result;
  }
};

/// Blocks of all cones: friction zero now and then, R zero, equal or not, impulses shifted.
template <typename Scalar, typename Visit>
void for_each_block(std::uint32_t seed, int rounds, const Visit& visit) {
  VectorSource<Scalar> source(seed);
  for (int round = 0; round < rounds; ++round) {
    for (const ImpulseShape shape : shapes) {
      ImpulseSet<Scalar> set = carom::cone_impulses<Scalar>(
          shape,
          {source.pick({0, 0.1, 0.5, 2}), source.pick({0, 0.05, 0.5}), source.pick({0, 0.1, 1})});
      RowNumbers<Scalar> softness = RowNumbers<Scalar>::Zero();
      for (int r = 0; r < set.rows; ++r) {
        if (round % 2 == 0) softness(r) = source.positive(6);
        if (round % 3 == 0) set.shift(r) = Scalar(source.unit());
      }
      BlockList<Scalar> list;
      list.add(set, softness, 0);
      list.change(0, [&](auto& block) { block.inverse_mass = source.positive(2); });
      for (const FrictionLaw law : laws) {
        list.visit(0, [&](const auto& block) { visit(block, law, source); });
      }
    }
  }
}

template <typename Scalar, int Parts>
[[nodiscard]] PartNumbers<Scalar, Parts> draw_numbers(const BlockRows<Scalar, Parts>& block,
                                                      VectorSource<Scalar>& source, double size) {
  PartNumbers<Scalar, Parts> result;
  for (int k = 0; k < block.size(); ++k) {
    if (block.present(k)) result(k) = Scalar(size * (2 * source.unit() - 1));
  }
  return result;
}

/// One step of a path, from velocities du_w that are drawn, and the same by the equations.
template <typename Scalar, int Parts>
struct Step {
  using Numbers = PartNumbers<Scalar, Parts>;
  using Vector = typename Point<Scalar, Parts>::Vector;

  Numbers impulse, moved, change;  ///< dγ, du_w, du
  std::vector<Vector> dr, aim, dz;
  Scalar inverse = 0;

  Step(const Point<Scalar, Parts>& point, ConePath<Scalar, Parts>& path,
       const PartMatrix<Scalar, Parts>& gain, const PathTarget<Scalar>& target, const Numbers& gap,
       const Numbers& moved_given, const Step* before = nullptr)
      : moved(moved_given) {
    const auto& block = point.block;
    Numbers offset;
    path.write_offset(block, point.law, target, gap, offset);
    impulse = offset - gain * moved;
    inverse = path.take_step(block, point.law, impulse, moved, gap,
                             -std::numeric_limits<Scalar>::infinity());
    change = moved + products(block.regularization, impulse) - gap;
    for (std::size_t b = 0; b < point.pairs.size(); ++b) {
      dr.emplace_back();
      dz.emplace_back();
      dr.back().head = impulse(point.normal_place);
      aim.push_back(point.pairs[b].aim(target.product, before ? before->dr[b] : Vector{},
                                       before ? before->dz[b] : Vector{}));
    }
    point.for_each_row([&](std::size_t b, int k, int place, const Scalar& mu) {
      dr[b].tail(k) = impulse(place) / mu;
      dz[b].tail(k) = mu * change(place);
    });
    for (std::size_t b = 0; b < point.pairs.size(); ++b) {
      dz[b].head = aim[b].head - point.pairs[b].curvature_times(dr[b]).head;
    }
  }
};

template <typename Scalar, int Size>
[[nodiscard]] Long largest_curvature(const ConePair<Scalar, Size>& pair) {
  const Long reach = Long(pair.w.head) + Long(pair.w.tail.norm());
  return reach * reach / Long(pair.eta_squared);
}
template <typename Scalar, int Size>
[[nodiscard]] Long norm(const ConeVector<Scalar, Size>& x) {
  return std::sqrt(Long(x.head) * Long(x.head) + Long(x.tail.squared_norm()));
}

/// Notes how well a step solves the equations of the path.
template <typename Scalar, int Parts>
void see_equations(const Point<Scalar, Parts>& point, const Step<Scalar, Parts>& step,
                   const PathTarget<Scalar>& target, const Step<Scalar, Parts>* before,
                   WorstCase& normals, WorstCase& tails, Long allowed) {
  const int n = point.normal_place;
  const Long dn = step.impulse(n), du = step.change(n);
  const Long soft = Long(point.block.regularization(n)) * std::abs(dn);
  if (point.signorini()) {
    const Long r = point.normal, u = point.leave;
    const Long second = before ? Long(before->impulse(n)) * Long(before->change(n)) : Long(0);
    const Long left = u * dn + r * du + second + r * u - Long(target.product);
    const Long moved = std::abs(Long(step.moved(n)));
    normals.see(std::abs(left),
                allowed * (u * (r + std::abs(dn)) + r * (std::abs(du) + soft + moved) +
                           std::abs(second) + Long(target.product)),
                step.impulse, step.moved);
  } else {
    Long sum = 0, size = std::abs(du) + soft + std::abs(Long(step.moved(n)));
    for (std::size_t b = 0; b < point.pairs.size(); ++b) {
      sum += Long(step.dz[b].head);
      size += norm(step.aim[b]) + largest_curvature(point.pairs[b]) * norm(step.dr[b]);
      for (int k = 0; k < Point<Scalar, Parts>::size; ++k) {
        size += std::abs(Long(step.dz[b].tail(k)));
      }
    }
    normals.see(std::abs(sum - du), allowed * size, step.impulse, step.moved);
  }
  for (std::size_t b = 0; b < point.pairs.size(); ++b) {
    const auto wanted = step.aim[b].plus(point.pairs[b].curvature_times(step.dr[b]), Scalar(-1));
    Long size = norm(step.aim[b]) + largest_curvature(point.pairs[b]) * norm(step.dr[b]);
    point.for_each_row([&](std::size_t c, int, int place, const Scalar& mu) {
      if (c != b) return;
      size += Long(mu) *
              (std::abs(Long(step.moved(place))) + std::abs(Long(step.change(place))) +
               Long(point.block.regularization(place)) * std::abs(Long(step.impulse(place))));
    });
    tails.see(Long((step.dz[b].tail - wanted.tail).norm()), allowed * size, step.impulse,
              step.moved, point.block.regularization);
  }
}

/// The largest share that keeps a point inside, by bisection.
template <typename Scalar, int Parts>
[[nodiscard]] Long longest_step(const Point<Scalar, Parts>& point,
                                const Step<Scalar, Parts>& step) {
  const auto inside = [&](Long share) {
    const int n = point.normal_place;
    bool all = Long(point.normal) + share * Long(step.impulse(n)) > 0 &&
               Long(point.leave) + share * Long(step.change(n)) > 0;
    const auto within = [&](const auto& x, const auto& d) {
      Long squared = 0;
      for (int k = 0; k < x.tail.size(); ++k) {
        const Long y = Long(x.tail(k)) + share * Long(d.tail(k));
        squared += y * y;
      }
      return Long(x.head) + share * Long(d.head) > std::sqrt(squared);
    };
    for (std::size_t b = 0; b < point.pairs.size(); ++b) {
      all = all && within(point.pairs[b].r, step.dr[b]) && within(point.pairs[b].z, step.dz[b]);
    }
    return all;
  };
  Long low = 0, high = 1e-20L;
  while (inside(high) && high < 1e20L) low = high, high *= 2;
  if (high >= 1e20L) return std::numeric_limits<Long>::infinity();
  for (int k = 0; k < 80; ++k) {
    const Long middle = (low + high) / 2;
    (inside(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

TEMPLATE_TEST_CASE("cone_path: N and h solve the linearised equations of the path",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase normals("the normal's equation"), tails("the discs' equations"), still("fixed rows");
  for_each_block<Scalar>(
      1, 60, [&]<int Parts>(const BlockRows<Scalar, Parts>& block, FrictionLaw law, auto& source) {
        Point<Scalar, Parts> point(block, law);
        point.draw(source, 0.05);
        auto path = point.path(source);
        PartMatrix<Scalar, Parts> gain;
        REQUIRE(path.write_gain(block, law, gain));
        const double pace = double(point.leave) * source.pick({0.01, 1, 10});
        const auto gap = draw_numbers(block, source, double(point.leave) * source.pick({0, 1}));
        const Scalar product = point.normal * point.leave * source.pick({0, 0.3, 1});
        const PathTarget<Scalar> target{product, false};
        const Step<Scalar, Parts> step(point, path, gain, target, gap,
                                       draw_numbers(block, source, pace));
        const Long allowed = Long(rounding<Scalar>(500, 1));
        see_equations<Scalar, Parts>(point, step, target, nullptr, normals, tails, allowed);
        const PathTarget<Scalar> corrected{product, true};
        const Step<Scalar, Parts> second(point, path, gain, corrected, gap,
                                         draw_numbers(block, source, pace), &step);
        see_equations<Scalar, Parts>(point, second, corrected, &step, normals, tails, allowed);
        std::vector<bool> moves(std::size_t(3 * Parts), false);
        moves[std::size_t(point.normal_place)] = true;
        point.for_each_row(
            [&](std::size_t, int, int place, const Scalar&) { moves[std::size_t(place)] = true; });
        for (int k = 0; k < 3 * Parts; ++k) {
          if (moves[std::size_t(k)]) continue;
          bool zero = step.impulse(k) == 0;
          for (int l = 0; l < 3 * Parts; ++l) {
            zero = zero && gain(k, l) == 0 && gain(l, k) == 0;
          }
          still.see_holds(zero);
        }
      });
  normals.check(1500);
  tails.check(1500);
  still.check(500);
}

TEMPLATE_TEST_CASE("cone_path: a step goes where its equations say, up to the boundary",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase length("the longest step"), moved("impulses and velocities"), sums("products"),
      counted("count");
  for_each_block<Scalar>(
      3, 60, [&]<int Parts>(const BlockRows<Scalar, Parts>& block, FrictionLaw law, auto& source) {
        Point<Scalar, Parts> point(block, law);
        point.draw(source, 0.05);
        auto path = point.path(source);
        PartMatrix<Scalar, Parts> gain;
        REQUIRE(path.write_gain(block, law, gain));
        const double pace = double(point.leave) * source.pick({0.01, 1, 10});
        const PathTarget<Scalar> target{point.normal * point.leave * Scalar(0.2), false};
        const PartNumbers<Scalar, Parts> gap;
        const Step<Scalar, Parts> step(point, path, gain, target, gap,
                                       draw_numbers(block, source, pace));
        Long size = std::abs(Long(step.impulse(point.normal_place)) / Long(point.normal)) +
                    std::abs(Long(step.change(point.normal_place)) / Long(point.leave));
        Long soft = 1;  // R dγ cancels with du_w where R is large
        for (int k = 0; k < 3 * Parts; ++k) {
          soft += (std::abs(Long(step.moved(k))) +
                   std::abs(Long(block.regularization(k) * step.impulse(k)))) /
                  Long(point.leave) * 3;
        }
        for (std::size_t b = 0; b < point.pairs.size(); ++b) {
          const auto& pair = point.pairs[b];
          size +=
              norm(step.dr[b]) / Long(pair.r.head) +
              (norm(step.aim[b]) + largest_curvature(pair) * norm(step.dr[b])) / Long(pair.z.head);
        }
        const Long allowed = Long(rounding<Scalar>(200, 1));
        const Long inverse = 1 / longest_step(point, step);
        length.see(std::abs(std::max(Long(0), Long(step.inverse)) - inverse),
                   allowed * (size + soft) * 20, step.impulse, step.moved, inverse, step.inverse);

        ProductSum<Scalar> sum;
        path.add_products(block, law, sum);
        const Scalar share = Scalar(source.unit()) / std::max(Scalar(1), step.inverse);
        path.advance(block, share);
        const PartNumbers<Scalar, Parts> zero;
        const auto gamma = point.impulse(), u = point.velocity();
        Long impulse_error = 0, velocity_error = 0;
        const auto see_row = [&](int place) {
          const Long to = Long(gamma(place)) + Long(share) * Long(step.impulse(place));
          const Long v = Long(u(place)) + Long(share) * Long(step.change(place));
          impulse_error += std::abs(Long(path.impulse(block)(place)) - to);
          velocity_error += std::abs(Long(path.gap(block, zero)(place)) - v);
        };
        see_row(point.normal_place);
        point.for_each_row([&](std::size_t, int, int place, const Scalar&) { see_row(place); });
        moved.see(impulse_error, Long(rounding<Scalar>(64, 1)) *
                                     (gamma.norm() + block.shift.norm() + step.impulse.norm()));
        moved.see(velocity_error, Long(rounding<Scalar>(64, 1)) * (u.norm() + step.change.norm()));

        Long exact = 0, scale = 0;
        int count = 0;
        const auto add = [&](Long x, Long dx, Long y, Long dy) {
          exact += (x + Long(share) * dx) * (y + Long(share) * dy);
          scale += (std::abs(x) + std::abs(dx)) * (std::abs(y) + std::abs(dy));
        };
        if (point.signorini()) {
          const int n = point.normal_place;
          add(Long(point.normal), Long(step.impulse(n)), Long(point.leave), Long(step.change(n)));
          ++count;
        }
        for (std::size_t b = 0; b < point.pairs.size(); ++b) {
          const auto& pair = point.pairs[b];
          ++count;
          add(Long(pair.r.head), Long(step.dr[b].head), Long(pair.z.head), Long(step.dz[b].head));
          scale += Long(pair.r.head) * largest_curvature(pair) * norm(step.dr[b]);
          for (int k = 0; k < Point<Scalar, Parts>::size; ++k) {
            add(Long(pair.r.tail(k)), Long(step.dr[b].tail(k)), Long(pair.z.tail(k)),
                Long(step.dz[b].tail(k)));
          }
        }
        sums.see(std::abs(Long(sum.at(share)) - exact),
                 allowed * (scale + Long(point.normal) * Long(point.leave) * soft * (1 + size)));
        counted.see_holds(path.count(block, law) == count);
      });
  for (const WorstCase* law : {&length, &moved, &sums, &counted}) law->check(900);
}

TEST_CASE("cone_path: the residual of a solve does not separate a normal from its sum",
          "[solvers][law]") {
  // Under the convex law a single disc has ζ = uₙ, also where du_w is not that of dγ = h − N du_w.
  using Scalar = double;
  WorstCase sums("products of ζ = uₙ");
  for_each_block<Scalar>(
      5, 60, [&]<int Parts>(const BlockRows<Scalar, Parts>& block, FrictionLaw law, auto& source) {
        Point<Scalar, Parts> point(block, law);
        if (point.signorini() || point.discs.size() != 1) return;
        point.draw(source, 0.05);
        auto path = point.path(source);
        PartMatrix<Scalar, Parts> gain;
        REQUIRE(path.write_gain(block, law, gain));
        const PartNumbers<Scalar, Parts> zero;
        PartNumbers<Scalar, Parts> offset;
        path.write_offset(block, law, {point.normal * point.leave, false}, zero, offset);
        const auto impulse = draw_numbers(block, source, double(point.normal));
        const auto moved = draw_numbers(block, source, double(point.leave));
        static_cast<void>(path.take_step(block, law, impulse, moved, zero, Scalar(1)));
        const PartNumbers<Scalar, Parts> change = moved + products(block.regularization, impulse);
        ProductSum<Scalar> sum;
        path.add_products(block, law, sum);
        const auto& pair = point.pairs[0];
        const int n = point.normal_place;
        Long exact = (Long(pair.r.head) + Long(impulse(n))) * (Long(pair.z.head) + Long(change(n)));
        Long scale = Long(pair.r.head) * (Long(pair.z.head) + Long(change.norm()));
        point.for_each_row([&](std::size_t, int k, int place, const Scalar& mu) {
          const Long r = Long(pair.r.tail(k)) + Long(impulse(place)) / Long(mu);
          const Long z = Long(pair.z.tail(k)) + Long(mu) * Long(change(place));
          exact += r * z;
          scale += (Long(pair.r.head) + std::abs(Long(impulse(place)) / Long(mu))) *
                   (Long(pair.z.head) + Long(mu) * std::abs(Long(change(place))));
        });
        scale += Long(pair.r.head) * largest_curvature(pair) * Long(impulse.norm()) / 0.05L;
        sums.see(std::abs(Long(sum.at(Scalar(1))) - exact), Long(rounding<Scalar>(500, 1)) * scale,
                 impulse, moved);
      });
  sums.check(100);
}

TEST_CASE("cone_path: a start is raised into its cones from anywhere", "[solvers][law]") {
  using Scalar = double;
  WorstCase inside("inside"), lacks("what lacks, exactly"), split("convex normals are sums");
  for_each_block<Scalar>(
      4, 60, [&]<int Parts>(const BlockRows<Scalar, Parts>& block, FrictionLaw law, auto& source) {
        const auto gamma = draw_numbers(block, source, source.pick({0, 1, 100}));
        const auto u = draw_numbers(block, source, source.pick({0, 1, 100}));
        ConePath<Scalar, Parts> path;
        path.start(block, gamma, u);
        Scalar impulse(0), velocity(0);
        path.find_missing(block, impulse, velocity);
        const Point<Scalar, Parts> point(block, law);
        const int n = point.normal_place;
        std::vector<Long> reach(point.discs.size(), 0), slip = reach;
        point.for_each_row([&](std::size_t b, int, int place, const Scalar& mu) {
          const Long x = (Long(gamma(place)) + Long(block.shift(place))) / Long(mu);
          const Long y = Long(u(place)) * Long(mu);
          reach[b] += x * x;
          slip[b] += y * y;
        });
        Long most = 0, fastest = 0;
        for (const Long x : reach) most = std::max(most, std::sqrt(x));
        for (const Long x : slip) fastest = std::max(fastest, std::sqrt(x));
        const Long push = Long(gamma(n)) + Long(block.shift(n)), size = std::abs(push) + most;
        const Long speed = std::abs(Long(u(n))) + fastest;
        const Long allowed = Long(rounding<Scalar>(16, 1));
        lacks.see(std::abs(Long(impulse) - std::max(Long(0), most - push)), allowed * size);
        lacks.see(std::abs(Long(velocity) - std::max(Long(0), fastest - Long(u(n)))),
                  allowed * speed);
        path.raise(block, law, impulse + Scalar(size / 100) + Scalar(0.01),
                   velocity + Scalar(speed / 100) + Scalar(0.01));
        PartMatrix<Scalar, Parts> gain;
        inside.see_holds(path.write_gain(block, law, gain));
        const auto raised = path.impulse(block);
        inside.see_holds(Long(raised(n)) + Long(block.shift(n)) > most);
        const PartNumbers<Scalar, Parts> zero;
        const Long head = Long(u(n)) + Long(velocity) + speed / 100 + 0.01L;
        const auto parts = std::max(std::size_t(1), point.discs.size());
        split.see(std::abs(Long(path.gap(block, zero)(n)) -
                           (point.signorini() ? head : head * Long(parts))),
                  allowed * 8 * (speed + 1));
        path.start(block, -zero - block.shift, zero);  // on the tip: not inside
        inside.see_holds(!path.write_gain(block, law, gain));
      });
  for (const WorstCase* law : {&inside, &lacks, &split}) law->check(900);
}

}  // namespace cone_path_test
