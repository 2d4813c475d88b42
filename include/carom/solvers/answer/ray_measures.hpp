// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/answer/demand_rounding.hpp"
#include "carom/solvers/answer/ray_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// −q·r of a ray, or v̂·r where Jᵀr = 0 and the two are the same.
template <RealScalar Scalar>
struct RayLoad {
  Scalar value = 0;
  Scalar rounding = 0;  ///< what rounding may have added to the value
  Scalar unsure = 0;    ///< below it the value may be nothing but the rounding of gaps
  /// The value less its rounding; not positive where it may be rounding alone.
  [[nodiscard]] Scalar drive() const noexcept {
    return value > unsure ? Scalar(value - rounding)
                          : (std::min)(Scalar(value - unsure), Scalar(0));
  }
};

/// z = (W + R) r by rows. Where a body's part of all rows of a contact may be zero it is, and has
/// no error; otherwise no row is.
template <RealScalar Scalar>
struct RayProducts {
  VectorX<Scalar> rows, errors;
};

/// Sums over a ray of a problem in impulses.
template <RealScalar Scalar>
class DualRayMeasures {
 public:
  explicit DualRayMeasures(const DelassusProblem<Scalar>& problem)
      : problem_(problem), load_(load_rows(problem)), demand_(problem) {}

  /// √(rᵀ(W + R)r); zero where every row of (W + R) r may be nothing but rounding.
  [[nodiscard]] Scalar net(const VectorX<Scalar>& ray) const {
    using std::sqrt;
    VectorX<Scalar> parts, product, sizes;
    problem_.write_parts(ray, parts);
    write_products(problem_, parts, product);
    const Scalar gross = write_sizes(parts, sizes);
    bool exact = true;
    for (Index p = 0; p < problem_.part_count(); ++p) {
      const auto own = parts.template segment<3>(3 * p);
      exact = exact && problem_.regularization(p).cwiseProduct(own).isZero(Scalar(0));
      for (int r = 0; r < 3; ++r)
        exact = exact && std::abs(product(3 * p + r)) <= noise() * sizes(3 * p + r);
    }
    return exact ? Scalar(0)
                 : sqrt((std::max)(Scalar(parts.dot(product)), Scalar(noise() * gross)));
  }
  [[nodiscard]] RayLoad<Scalar> load(const VectorX<Scalar>& ray, bool exact) const {
    RayLoad<Scalar> load{-load_.dot(ray), 0, 0};
    load.rounding = InfeasibilityTuning::load_roundings * std::numeric_limits<Scalar>::epsilon() *
                    load_.cwiseProduct(ray).template lpNorm<1>();
    load.unsure = exact ? demand_.rows().dot(ray.cwiseAbs()) : load.rounding;
    return load;
  }
  [[nodiscard]] RayProducts<Scalar> products(const VectorX<Scalar>& ray) const {
    VectorX<Scalar> parts, product, sizes;
    problem_.write_parts(ray, parts);
    write_products(problem_, parts, product);
    (void)write_sizes(parts, sizes);
    sizes *= noise();
    for (Index i = 0; i < problem_.count(); ++i) {
      const Index first = 3 * problem_.first_part(i), count = 3 * problem_.parts(i);
      auto own = product.segment(first, count), errors = sizes.segment(first, count);
      if (!(own.cwiseAbs().array() <= errors.array()).all()) continue;
      own.setZero();
      errors.setZero();
    }
    RayProducts<Scalar> result;
    problem_.write_rows(product, result.rows);
    problem_.write_rows(sizes, result.errors);
    return result;
  }

 private:
  [[nodiscard]] static Scalar noise() noexcept {
    return InfeasibilityTuning::product_roundings * std::numeric_limits<Scalar>::epsilon();
  }
  /// Σ_j √(W_kk W_jj) |r_j| over the rows j that share a body with k, or all where W is a function.
  /// Entries of W that should be zero have rounding of that size, and |W_kj| does not say so.
  /// @return  its sum over |r_k|.
  Scalar write_sizes(const VectorX<Scalar>& parts, VectorX<Scalar>& sizes) const {
    using std::sqrt;
    VectorX<Scalar> roots(parts.size()), own(problem_.part_count());
    for (Index p = 0; p < problem_.part_count(); ++p) {
      for (int r = 0; r < 3; ++r) {
        roots(3 * p + r) = sqrt((std::max)(problem_.diagonal(p)(r, r), Scalar(0)));
      }
      own(p) = roots.template segment<3>(3 * p).dot(parts.template segment<3>(3 * p).cwiseAbs());
    }
    sizes = problem_.matrix_free() ? VectorX<Scalar>(own.sum() * roots) : roots;
    for (Index p = 0; p < problem_.part_count() && !problem_.matrix_free(); ++p) {
      Scalar sum(0);
      for (const auto* n = problem_.begin(p); n != problem_.end(p); ++n) sum += own(n->part);
      sizes.template segment<3>(3 * p) *= sum;
    }
    return sizes.dot(parts.cwiseAbs());
  }

  const DelassusProblem<Scalar>& problem_;
  VectorX<Scalar> load_;
  DemandRounding<Scalar> demand_;
};

/// Sums over a ray of a problem given by bodies, whose momenta cancel to the last digit.
template <RealScalar Scalar>
class BodyRayMeasures {
 public:
  BodyRayMeasures(const ContactProblem<Scalar>& problem, const DelassusProblem<Scalar>& dual)
      : problem_(problem), dual_(dual), demand_(problem) {}

  /// √(‖Jᵀr‖²_{A⁻¹} + ‖r‖²_R); zero where every body's part may be nothing but rounding.
  [[nodiscard]] Scalar net(const VectorX<Scalar>& ray) const {
    using std::sqrt;
    const Momenta momenta = momenta_of(ray);
    Scalar squared(0);
    bool exact = true;
    for (Index b = 0; b < problem_.body_count(); ++b) {
      const auto [start, size] = problem_.body(b);
      const Scalar own = momenta.sum.segment(start, size).norm();
      const Scalar most = (std::max)(own, momenta.errors(b));
      exact = exact && !(own > momenta.errors(b));
      squared += most * most;
    }
    dual_.for_each_row([&](Index row, const auto& place) {
      const Scalar own = dual_.regularization(place.part)(place.row) * ray(row);
      exact = exact && !(std::abs(own) > Scalar(0));
      squared += own * ray(row);
    });
    return exact ? Scalar(0) : sqrt(squared);
  }
  [[nodiscard]] RayLoad<Scalar> load(const VectorX<Scalar>& ray, bool exact) const {
    const auto free = problem_.whitened_free_velocity();
    RayLoad<Scalar> load;
    Scalar size(0);
    problem_.for_each_block([&](const auto& block) {
      const auto own = block.read(ray);
      load.value += own.dot(block.least_bias_velocity());
      size += own.cwiseProduct(block.least_bias_velocity()).template lpNorm<1>();
      if (!exact) load.value -= own.dot(block.velocity(problem_.free_velocity()));
    });
    if (!exact) {
      for_each_row_side([&](Index row, Index body, const auto& column) {
        const auto [start, count] = problem_.body(body);
        size += std::abs(ray(row)) * column.cwiseAbs().dot(free.segment(start, count).cwiseAbs());
      });
    }
    load.rounding =
        InfeasibilityTuning::load_roundings * std::numeric_limits<Scalar>::epsilon() * size;
    load.unsure = exact ? demand_.rows().dot(ray.cwiseAbs()) : load.rounding;
    return load;
  }
  [[nodiscard]] RayProducts<Scalar> products(const VectorX<Scalar>& ray) const {
    const Momenta momenta = momenta_of(ray);
    RayProducts<Scalar> result{VectorX<Scalar>::Zero(ray.size()),
                               VectorX<Scalar>::Zero(ray.size())};
    problem_.for_each_block([&](const auto& block) {
      for (int s = 0; s < block.side_count(); ++s) {
        const auto [start, size] = block.side(s).range;
        const auto columns = block.whitened_columns(s);
        RowNumbers<Scalar> values = RowNumbers<Scalar>::Zero(), errors = values;
        for (int r = 0; r < block.rows(); ++r) {
          values(r) = columns.col(r).dot(momenta.sum.segment(start, size));
          errors(r) = columns.col(r).norm() * momenta.errors(block.side(s).body);
        }
        if ((values.cwiseAbs().array() <= errors.array()).all()) continue;
        result.rows.segment(block.first_row(), block.rows()) += values.head(block.rows());
        result.errors.segment(block.first_row(), block.rows()) += errors.head(block.rows());
      }
    });
    dual_.for_each_row([&](Index row, const auto& place) {
      result.rows(row) += dual_.regularization(place.part)(place.row) * ray(row);
    });
    return result;
  }

 private:
  /// L⁻¹Jᵀr, and of each body what rounding may have made of it.
  struct Momenta {
    VectorX<Scalar> sum, errors;
  };
  [[nodiscard]] Momenta momenta_of(const VectorX<Scalar>& ray) const {
    Momenta momenta{VectorX<Scalar>::Zero(problem_.velocity_count()),
                    VectorX<Scalar>::Zero(problem_.body_count())};
    problem_.for_each_block(
        [&](const auto& block) { block.add_momentum(block.read(ray), momenta.sum); });
    problem_.whiten_momentum(as_span(momenta.sum));
    for_each_row_side([&](Index row, Index body, const auto& column) {
      momenta.errors(body) += std::abs(ray(row)) * column.norm();
    });
    momenta.errors *=
        InfeasibilityTuning::product_roundings * std::numeric_limits<Scalar>::epsilon();
    return momenta;
  }
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
  DemandRounding<Scalar> demand_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
