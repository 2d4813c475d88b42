// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/dual.hpp"
#include "carom/solvers/detail/infeasibility_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The nearest direction in which the impulses of a set are unbounded. Under Coulomb's law a cone
/// has only its normal.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> nearest_ray(const ImpulseSet<Scalar>& set, FrictionLaw law,
                                             const RowNumbers<Scalar>& given) noexcept {
  RowNumbers<Scalar> nearest = RowNumbers<Scalar>::Zero();
  const int n = normal_row(set.shape);
  if (n < 0) {
    for (int r = 0; r < set.rows; ++r) {
      const bool free = given(r) > Scalar(0) ? !is_finite(set.upper(r)) : !is_finite(set.lower(r));
      if (free) nearest(r) = given(r);
    }
    return nearest;
  }
  if (law == FrictionLaw::coulomb) {
    nearest(n) = (std::max)(given(n), Scalar(0));
    return nearest;
  }
  ImpulseSet<Scalar> cone = set;
  cone.shift.setZero();
  return nearest_impulse(cone, RowNumbers<Scalar>(RowNumbers<Scalar>::Ones()), given);
}

/// The rows of one contact, out of numbers for all rows.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> contact_rows(const DelassusProblem<Scalar>& problem, Index contact,
                                              const VectorX<Scalar>& all) noexcept {
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  const int count = problem.set(contact).rows;
  rows.head(count) = all.segment(problem.first_row(contact), count);
  return rows;
}

template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> ray_in_cone(const DelassusProblem<Scalar>& problem, FrictionLaw law,
                                          const VectorX<Scalar>& given) {
  VectorX<Scalar> ray(problem.row_count());
  for (Index i = 0; i < problem.count(); ++i) {
    const int count = problem.set(i).rows;
    ray.segment(problem.first_row(i), count) =
        nearest_ray(problem.set(i), law, contact_rows(problem, i, given)).head(count);
  }
  return ray;
}

/// q by rows.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> load_rows(const DelassusProblem<Scalar>& problem) {
  VectorX<Scalar> load(problem.row_count());
  problem.for_each_row(
      [&](Index row, const auto& place) { load(row) = problem.load(place.part)(place.row); });
  return load;
}

/// (W + R) r in parts: without q, so that what cancels leaves nothing but rounding.
template <RealScalar Scalar>
void write_products(const DelassusProblem<Scalar>& problem, const VectorX<Scalar>& parts,
                    VectorX<Scalar>& product) {
  product.resize(parts.size());
  if (problem.matrix_free()) {
    problem.product().multiply(problem.product().context, as_span(parts), as_span(product));
  }
  for (Index p = 0; p < problem.part_count(); ++p) {
    auto sum = product.template segment<3>(3 * p);
    if (!problem.matrix_free()) sum = problem.part_product(p, as_span(parts));
    sum += problem.regularization(p).cwiseProduct(parts.template segment<3>(3 * p));
  }
}

/// The same by rows.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> row_products(const DelassusProblem<Scalar>& problem,
                                           const VectorX<Scalar>& ray) {
  VectorX<Scalar> parts, product, rows;
  problem.write_parts(ray, parts);
  write_products(problem, parts, product);
  problem.write_rows(product, rows);
  return rows;
}

/// Diagonal entry of W + R.
template <RealScalar Scalar>
[[nodiscard]] Scalar row_inverse_mass(const DelassusProblem<Scalar>& problem, Index contact,
                                      int row) noexcept {
  const auto [part, place] = problem.place_of(contact, row);
  return problem.diagonal(part)(place, place);
}

/// How many tangents share one μ that bounds nothing else: 1, 2, or 0 for shapes in which the
/// direction of uₜ alone does not determine that of the impulse.
template <RealScalar Scalar>
[[nodiscard]] int plain_tangents(const ImpulseSet<Scalar>& set) noexcept {
  switch (set.shape) {
    case ImpulseShape::planar:
      return 1;
    case ImpulseShape::friction:
    case ImpulseShape::torsional:
    case ImpulseShape::rolling:
      return 2;
    default:
      return 0;
  }
}

/// The largest z·γ over the impulses of a set, as constant + slope · x, where x is the size of the
/// impulse that the set does not bound.
template <RealScalar Scalar>
struct Support {
  Scalar constant = 0, slope = 0;
};

/// The support of a set. The direction of friction is not known, so every friction block of a cone
/// counts with μ‖z_b‖.
template <RealScalar Scalar>
[[nodiscard]] Support<Scalar> support_of(const ImpulseSet<Scalar>& set,
                                         const RowNumbers<Scalar>& z) noexcept {
  using std::abs, std::sqrt;
  Support<Scalar> support;
  if (set.shape == ImpulseShape::intervals) {
    for (int r = 0; r < set.rows; ++r) {
      if (z(r) == Scalar(0)) continue;
      const Scalar& bound = z(r) > Scalar(0) ? set.upper(r) : set.lower(r);
      if (is_finite(bound)) {
        support.constant += z(r) * bound;
      } else {
        support.slope += abs(z(r));
      }
    }
    return support;
  }
  const int n = visit_friction_blocks(set, [&](const auto& block) {
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      const Scalar x = block.mu(k) * z(block.row(k));
      squared += x * x;
    }
    support.slope += sqrt(squared);
  });
  support.slope = (std::max)(Scalar(support.slope + z(n)), Scalar(0));
  support.constant = -z.dot(set.shift);
  return support;
}

/// The support of a contact that slides along t, so that γₜ = −μ γₙ t; t is known up to
/// `deviation`.
template <RealScalar Scalar>
[[nodiscard]] Support<Scalar> support_of_slide(const ImpulseSet<Scalar>& set,
                                               const RowNumbers<Scalar>& z,
                                               const Vector<Scalar, 2>& direction,
                                               const Scalar& deviation) noexcept {
  const int tangents = plain_tangents(set), n = normal_row(set.shape);
  RowNumbers<Scalar> rest = z;
  rest.head(tangents).setZero();
  const Scalar& mu = set.friction.x();
  const auto across = z.head(tangents);
  rest(n) += mu * (deviation * across.norm() - across.dot(direction.head(tangents)));
  Support<Scalar> support = support_of(set, rest);
  support.constant = -z.dot(set.shift);
  return support;
}

/// Sums over a ray of a problem in impulses.
template <RealScalar Scalar>
class DualRayMeasures {
 public:
  explicit DualRayMeasures(const DelassusProblem<Scalar>& problem)
      : problem_(problem), load_(load_rows(problem)) {}

  /// √(rᵀ(W + R)r); zero where it may be nothing but rounding.
  [[nodiscard]] Scalar net(const VectorX<Scalar>& ray) const {
    using std::sqrt;
    VectorX<Scalar> parts, product;
    problem_.write_parts(ray, parts);
    write_products(problem_, parts, product);
    const Scalar squared = parts.dot(product);
    const Scalar noise = InfeasibilityTuning::product_roundings *
                         std::numeric_limits<Scalar>::epsilon() * gross(parts);
    return squared > noise ? sqrt(squared) : Scalar(0);
  }
  [[nodiscard]] Scalar load_rounding(const VectorX<Scalar>& ray) const {
    return InfeasibilityTuning::load_roundings * std::numeric_limits<Scalar>::epsilon() *
           load_.cwiseProduct(ray).template lpNorm<1>();
  }

 private:
  /// |r|ᵀ|W + R||r|; where W is a function, an upper bound of it.
  [[nodiscard]] Scalar gross(const VectorX<Scalar>& parts) const {
    using std::sqrt;
    Scalar sum(0), roots(0);
    for (Index p = 0; p < problem_.part_count(); ++p) {
      const Vector3<Scalar> own = parts.template segment<3>(3 * p).cwiseAbs();
      for (int r = 0; r < 3; ++r)
        roots += sqrt((std::max)(problem_.diagonal(p)(r, r), Scalar(0))) * own(r);
      sum += own.cwiseAbs2().dot(problem_.regularization(p));
      if (problem_.matrix_free()) continue;
      for (const auto* n = problem_.begin(p); n != problem_.end(p); ++n) {
        const Vector3<Scalar> other = parts.template segment<3>(3 * Index(n->part)).cwiseAbs();
        sum += own.dot(n->matrix.cwiseAbs().lazyProduct(other));
      }
    }
    return problem_.matrix_free() ? roots * roots : sum;
  }

  const DelassusProblem<Scalar>& problem_;
  VectorX<Scalar> load_;
};

/// Sums over a ray of a problem given by bodies, whose momenta cancel to the last digit.
template <RealScalar Scalar>
class BodyRayMeasures {
 public:
  BodyRayMeasures(const ContactProblem<Scalar>& problem, const DelassusProblem<Scalar>& dual)
      : problem_(problem), dual_(dual) {}

  /// √(‖Jᵀr‖²_{A⁻¹} + ‖r‖²_R); zero where it may be nothing but rounding.
  [[nodiscard]] Scalar net(const VectorX<Scalar>& ray) const {
    using std::sqrt;
    VectorX<Scalar> sum = VectorX<Scalar>::Zero(problem_.velocity_count());
    problem_.for_each_block([&](const auto& block) { block.add_momentum(block.read(ray), sum); });
    problem_.whiten_momentum(as_span(sum));
    VectorX<Scalar> gross = VectorX<Scalar>::Zero(problem_.body_count());
    for_each_row_side([&](Index row, Index body, const auto& column) {
      gross(body) += std::abs(ray(row)) * column.norm();
    });
    const Scalar noise = InfeasibilityTuning::product_roundings *
                         std::numeric_limits<Scalar>::epsilon() * gross.norm();
    Scalar squared = sum.squaredNorm();
    if (!(squared > noise * noise)) squared = 0;
    dual_.for_each_row([&](Index row, const auto& place) {
      squared += dual_.regularization(place.part)(place.row) * ray(row) * ray(row);
    });
    return sqrt(squared);
  }
  /// The rounding of −q·r = v̂·r − r·J v*.
  [[nodiscard]] Scalar load_rounding(const VectorX<Scalar>& ray) const {
    const auto free = problem_.whitened_free_velocity();
    Scalar sum(0);
    for_each_row_side([&](Index row, Index body, const auto& column) {
      const auto [start, size] = problem_.body(body);
      sum += std::abs(ray(row)) * column.cwiseAbs().dot(free.segment(start, size).cwiseAbs());
    });
    problem_.for_each_block([&](const auto& block) {
      sum += block.read(ray).cwiseProduct(block.bias_velocity()).template lpNorm<1>();
    });
    return InfeasibilityTuning::load_roundings * std::numeric_limits<Scalar>::epsilon() * sum;
  }

 private:
  /// Calls visit(row of the impulses, body, column of Ĵᵀ).
  template <typename Visit>
  void for_each_row_side(const Visit& visit) const {
    problem_.for_each_block([&](const auto& block) {
      for (int s = 0; s < block.side_count(); ++s) {
        const auto columns = block.whitened_columns(s);
        for (int r = 0; r < block.rows(); ++r) {
          visit(block.first_row() + r, block.side(s).body, columns.col(r));
        }
      }
    });
  }

  const ContactProblem<Scalar>& problem_;
  const DelassusProblem<Scalar>& dual_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
