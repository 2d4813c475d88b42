// SPDX-License-Identifier: BSD-3-Clause
// Compile-time tests: nothing runs. The least a user's set or cone must offer, and what falls
// short.
#include <utility>

#include "carom/cones/concepts.hpp"

// A named namespace: much of this is only ever declared.
namespace convex_set_concepts {

using carom::ConeProjection, carom::ConeRegion, carom::ConvexConeLike, carom::ConvexSetLike;
using Vector2 = carom::Vector<double, 2>;
using Matrix2 = carom::SquareMatrix<double, 2>;

/// A set and nothing else. Neither default constructible nor copyable: no algorithm may need that.
struct LeastSet {
  using scalar_type = double;
  static constexpr int dimension = 2;
  LeastSet() = delete;
  LeastSet(const LeastSet&) = delete;
  LeastSet& operator=(const LeastSet&) = delete;

  friend bool contains(const LeastSet&, const Vector2&, double) noexcept { return true; }
  friend ConeProjection<double, 2> project(const LeastSet&, const Vector2&,
                                           const Vector2& y) noexcept {
    return {y, ConeRegion::stick};
  }
  friend Matrix2 projection_derivative(const LeastSet&, const Vector2&, const Vector2&) noexcept {
    return Matrix2::Identity();
  }
};
static_assert(ConvexSetLike<LeastSet>);
static_assert(!ConvexConeLike<LeastSet>);

/// The same over float, in three dimensions, with a dual: a cone.
template <typename Scalar, int Size>
struct LeastCone {
  using scalar_type = Scalar;
  static constexpr int dimension = Size;
  using Point = carom::Vector<Scalar, Size>;

  friend bool contains(const LeastCone&, const Point&, Scalar) noexcept { return true; }
  friend bool in_dual(const LeastCone&, const Point&, Scalar) noexcept { return true; }
  friend ConeProjection<Scalar, Size> project(const LeastCone&, const Point&,
                                              const Point& y) noexcept {
    return {y, ConeRegion::stick};
  }
  friend carom::SquareMatrix<Scalar, Size> projection_derivative(const LeastCone&, const Point&,
                                                                 const Point&) noexcept {
    return carom::SquareMatrix<Scalar, Size>::Identity();
  }
};
static_assert(ConvexConeLike<LeastCone<float, 1>>);
static_assert(ConvexConeLike<LeastCone<double, 3>>);
static_assert(ConvexConeLike<LeastCone<long double, 6>>);

// Near misses of a type's own description.
static_assert(!ConvexSetLike<int>);

struct NoScalar {
  static constexpr int dimension = 2;
};
struct NoDimension {
  using scalar_type = double;
};
struct CountingScalar {
  using scalar_type = int;
  static constexpr int dimension = 2;
};
static_assert(!ConvexSetLike<NoScalar> && !ConvexSetLike<NoDimension>);
static_assert(!ConvexSetLike<CountingScalar>);

/// Near misses of an operation: everything but one thing is as it should be.
enum class Flaw {
  none,
  contains_missing,
  contains_throws,
  contains_returns_int,
  project_missing,
  project_throws,
  point_missing,
  region_missing,
  derivative_missing,
  dual_missing,
  dual_throws,
  dual_returns_int
};

struct BarePoint {
  Vector2 point;
};

template <Flaw flaw>
struct Flawed {
  using scalar_type = double;
  static constexpr int dimension = 2;
};

template <Flaw flaw>
requires(flaw != Flaw::contains_missing && flaw != Flaw::contains_returns_int) bool contains(
    const Flawed<flaw>&, const Vector2&, double) noexcept(flaw != Flaw::contains_throws) {
  return true;
}
int contains(const Flawed<Flaw::contains_returns_int>&, const Vector2&, double) noexcept;

template <Flaw flaw>
requires(flaw != Flaw::project_missing && flaw != Flaw::point_missing &&
         flaw != Flaw::region_missing) ConeProjection<double, 2> project(const Flawed<flaw>&,
                                                                         const Vector2&,
                                                                         const Vector2& y)
noexcept(flaw != Flaw::project_throws) {
  return {y, ConeRegion::stick};
}
Vector2 project(const Flawed<Flaw::point_missing>&, const Vector2&, const Vector2&) noexcept;
BarePoint project(const Flawed<Flaw::region_missing>&, const Vector2&, const Vector2&) noexcept;

template <Flaw flaw>
requires(flaw != Flaw::derivative_missing) Matrix2
    projection_derivative(const Flawed<flaw>&, const Vector2&, const Vector2&)
noexcept {
  return Matrix2::Identity();
}

template <Flaw flaw>
requires(flaw != Flaw::dual_missing &&
         flaw != Flaw::dual_returns_int) bool in_dual(const Flawed<flaw>&, const Vector2&,
                                                      double) noexcept(flaw != Flaw::dual_throws) {
  return true;
}
int in_dual(const Flawed<Flaw::dual_returns_int>&, const Vector2&, double) noexcept;

static_assert(ConvexConeLike<Flawed<Flaw::none>>);
static_assert(!ConvexSetLike<Flawed<Flaw::contains_missing>>);
static_assert(!ConvexSetLike<Flawed<Flaw::contains_throws>>);
static_assert(!ConvexSetLike<Flawed<Flaw::contains_returns_int>>);
static_assert(!ConvexSetLike<Flawed<Flaw::project_missing>>);
static_assert(!ConvexSetLike<Flawed<Flaw::project_throws>>);
static_assert(!ConvexSetLike<Flawed<Flaw::point_missing>>);
static_assert(!ConvexSetLike<Flawed<Flaw::region_missing>>);
static_assert(!ConvexSetLike<Flawed<Flaw::derivative_missing>>);
static_assert(ConvexSetLike<Flawed<Flaw::dual_missing>>);
static_assert(!ConvexConeLike<Flawed<Flaw::dual_missing>>);
static_assert(!ConvexConeLike<Flawed<Flaw::dual_throws>>);
static_assert(!ConvexConeLike<Flawed<Flaw::dual_returns_int>>);

/// Every generic algorithm on sets, compiled with the archetypes alone.
inline bool use_generic_algorithms(const LeastSet& set, const LeastCone<double, 3>& cone) {
  const Vector2 y = Vector2::Zero();
  const carom::Vector3<double> q = carom::Vector3<double>::Zero();
  static_assert(noexcept(carom::project(set, y)));
  static_assert(noexcept(carom::projection_derivative(set, y)));
  static_assert(noexcept(carom::in_polar(cone, q)));
  return carom::project(set, y).region == ConeRegion::stick &&
         carom::projection_derivative(set, y).size() == 4 && carom::in_polar(cone, q) &&
         carom::in_polar(cone, q, 0.5);
}

}  // namespace convex_set_concepts
