// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/dual.hpp"
#include "carom/core/elementary.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of certify_infeasible() and refine_ray(). Each is a pure number [-]; ε is the rounding
/// unit of the scalar type.
///
/// Half and twice each value were measured on the problems of examples/scenes/infeasible.hpp, just
/// before and just after the threshold at which their answers end: docs/performance.md.
struct InfeasibilityTuning {
  /// A demand v̂·r is positive if it is more than ε to this power times the speeds at its contacts:
  /// 3.7e-11 of them in double and 2.4e-5 in float. Gaps are differences of positions, and their
  /// rounding over the step is many ε of a speed: 1 m, 1 ms and the 1 cm/s from gravity in it make
  /// 1e5 ε. With a larger power, such roundings count as overlaps that no velocity can remove, and
  /// bodies that exactly fit their place count as a contradiction. With a smaller one,
  /// contradictions larger than a contact's tolerance remain unproven.
  static constexpr double demand_power = 2.0 / 3.0;
  /// A contact is in the first guess of a ray if its impulse is more than the largest one divided
  /// by this number. The others are added when they are needed.
  static constexpr double guess_range = 1000;
  /// Largest count of rounds of a ray. Each adds all columns along which the cost still decreases.
  static constexpr int column_rounds = 100;
  /// A ray is refined if the momenta of its rows cancel up to less than this share. Those of exact
  /// rays cancel up to √ε before the refinement, 3e-4 in float.
  static constexpr double near_exact = 0.01;
  /// Count of steps that make a near ray exact, and count of fits in units in which its momenta are
  /// similar. Two of each are enough for similar bodies.
  static constexpr int polish_steps = 4, exact_rounds = 3;
  /// A direction becomes a column if the cost decreases along it by more than this count of ε times
  /// its own norm. Otherwise the rounding of the sums over the contacts would add columns without
  /// end.
  static constexpr int slope_roundings = 64;
  /// Possible rounding [ε of the sum of the absolute terms] of products of W or momenta, and of
  /// sums of the load. Roundings grow as the root of the count of terms: these values cover some
  /// 250 and some 60 terms. With much larger product_roundings a small momentum would count as
  /// zero; with much smaller load_roundings a drive that is rounding would count as positive. Both
  /// could prove something false. The opposite changes lose proofs.
  static constexpr int product_roundings = 16, load_roundings = 8;
};

/// The nearest direction in which the impulses of a set are unbounded. Under Coulomb's law it is
/// the normal of a cone.
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

/// The rows of one contact from numbers for all rows.
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

/// (W + R) r in parts: without q, so that after cancellation only rounding remains.
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

/// Count of tangents with one common μ that bounds nothing else: 1, 2, or 0 for shapes in which the
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

/// The largest inverse mass of a contact's rows; 1 if none of its bodies moves.
template <RealScalar Scalar>
[[nodiscard]] Scalar largest_inverse_mass(const DelassusProblem<Scalar>& problem,
                                          Index contact) noexcept {
  Scalar largest(0);
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    largest = (std::max)(largest, row_inverse_mass(problem, contact, r));
  }
  return largest > Scalar(0) ? largest : Scalar(1);
}

/// The inverse mass of the normal row; the largest one of a contact without a normal.
template <RealScalar Scalar>
[[nodiscard]] Scalar normal_inverse_mass(const DelassusProblem<Scalar>& problem,
                                         Index contact) noexcept {
  const int n = normal_row(problem.set(contact).shape);
  const Scalar own = n >= 0 ? row_inverse_mass(problem, contact, n) : Scalar(0);
  return own > Scalar(0) ? own : largest_inverse_mass(problem, contact);
}

/// √(Σ ‖J_kᵀ‖² r_k²), the norm of the momentum of a ray without cancellation between its rows.
template <RealScalar Scalar>
[[nodiscard]] Scalar gross_norm(const DelassusProblem<Scalar>& problem,
                                const VectorX<Scalar>& ray) {
  using std::sqrt;
  Scalar squared(0);
  problem.for_each_row([&](Index row, const auto& place) {
    squared += problem.diagonal(place.part)(place.row, place.row) * ray(row) * ray(row);
  });
  return sqrt(squared);
}

/// Possible error of a product as a share of the sum of the absolute terms.
template <RealScalar Scalar>
[[nodiscard]] constexpr Scalar product_rounding() noexcept {
  return InfeasibilityTuning::product_roundings * std::numeric_limits<Scalar>::epsilon();
}

/// Whether a row of a set is a normal or a tangent of a contact, not a row with another unit.
template <RealScalar Scalar>
[[nodiscard]] bool is_of_point(const ImpulseSet<Scalar>& set, int row) noexcept {
  const int n = normal_row(set.shape);
  return row <= n;
}

/// The norm of each row of a block on one side. For the rows of a contact's point it is the largest
/// of their norms: axes are rotated with rounding, so that a normal without motion contains a part
/// of the tangents.
/// @param columns  Jᵀ or Ĵᵀ, size × rows.
template <RealScalar Scalar, typename Columns>
[[nodiscard]] RowNumbers<Scalar> point_norms(const ImpulseSet<Scalar>& set,
                                             const Columns& columns) noexcept {
  RowNumbers<Scalar> norms = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < set.rows; ++r) norms(r) = columns.col(r).norm();
  const int n = normal_row(set.shape);
  if (n >= 0) norms.head(n + 1).setConstant(norms.head(n + 1).maxCoeff());
  return norms;
}
/// ‖J_k‖_{A⁻¹} of every row, as point_norms() has it.
template <typename Block>
[[nodiscard]] auto side_weights(const Block& block, int side) noexcept {
  return point_norms(block.set(), block.whitened_columns(side));
}

/// The speeds of the rows of a problem, and the part of a row's bias that may be only rounding:
/// docs/derivations/infeasibility.md.
template <RealScalar Scalar>
class DemandRounding {
 public:
  /// For a problem given by bodies: |v̂_k| + Σ ‖J_k‖_{A⁻¹} ‖v*‖_A over the bodies of the row, with
  /// the weights of side_weights(). The part of a body is limited to ‖J_k‖ ‖v*‖ of its coordinates,
  /// which it would exceed if heavy and light parts are in one A.
  explicit DemandRounding(const ContactProblem<Scalar>& problem) {
    using std::abs;
    prepare(problem.impulse_count());
    const auto whitened = problem.whitened_free_velocity(), free = problem.free_velocity();
    problem.for_each_block([&](const auto& block) {
      const ImpulseSet<Scalar> set = block.set();
      for (int r = 0; r < block.rows(); ++r) {
        const Index row = block.first_row() + r;
        kind_[std::size_t(row)] = is_of_point(set, r) ? 1 : 0;
        speed_(row) = bias_(row) = abs(block.least_bias_velocity()(r));
      }
      for (int s = 0; s < block.side_count(); ++s) {
        const auto [start, size] = block.side(s).range;
        const RowNumbers<Scalar> by_energy =
            side_weights(block, s) * whitened.segment(start, size).norm();
        const RowNumbers<Scalar> by_entries =
            point_norms(set, block.columns(s)) * free.segment(start, size).norm();
        for (int r = 0; r < block.rows(); ++r) {
          const Index row = block.first_row() + r;
          if (side_weights(block, s)(r) > Scalar(0)) moves_[std::size_t(row)] = 1;
          speed_(row) += (std::min)(by_energy(r), by_entries(r));
        }
      }
    });
    finish(free.size() > 0 ? Scalar(free.cwiseAbs().maxCoeff()) : Scalar(0));
  }
  /// For a problem in impulses: the largest |q| of the contact's point; |q_k| of other rows.
  explicit DemandRounding(const DelassusProblem<Scalar>& problem) {
    using std::abs;
    prepare(problem.row_count());
    problem.for_each_row([&](Index row, const auto& place) {
      bias_(row) = abs(problem.load(place.part)(place.row));
    });
    speed_ = bias_;
    for (Index i = 0; i < problem.count(); ++i) {
      Scalar largest(0);
      for (int r = 0; r < problem.set(i).rows; ++r) {
        const std::size_t row = std::size_t(problem.first_row(i) + r);
        kind_[row] = is_of_point(problem.set(i), r) ? 1 : 0;
        moves_[row] = row_inverse_mass(problem, i, r) > Scalar(0) ? 1 : 0;
        if (kind_[row] != 0) largest = (std::max)(largest, bias_(Index(row)));
      }
      for (int r = 0; r < problem.set(i).rows; ++r) {
        const Index row = problem.first_row(i) + r;
        if (kind_[std::size_t(row)] != 0) speed_(row) = largest;
      }
    }
    finish(Scalar(0));
  }

  /// For each row [m/s, rad/s].
  [[nodiscard]] const VectorX<Scalar>& rows() const noexcept { return rounding_; }

 private:
  void prepare(Index rows) {
    bias_.setZero(rows);
    speed_.setZero(rows);
    kind_.assign(std::size_t(rows), 0);
    moves_.assign(std::size_t(rows), 0);
  }
  /// @param fallback  the speed if no row that moves a body has one.
  void finish(const Scalar& fallback) {
    using elementary::pow;
    const Scalar share =
        pow(std::numeric_limits<Scalar>::epsilon(), Scalar(InfeasibilityTuning::demand_power));
    Scalar speeds[] = {0, 0}, biases[] = {0, 0};  // largest ones by kind
    for (Index row = 0; row < bias_.size(); ++row) {
      const std::size_t kind = std::size_t(kind_[std::size_t(row)]);
      biases[kind] = (std::max)(biases[kind], bias_(row));
      if (moves_[std::size_t(row)] == 0) continue;
      speeds[kind] = (std::max)(speeds[kind], speed_(row));
    }
    for (Scalar& speed : speeds) speed = speed > Scalar(0) ? speed : fallback;
    rounding_.resize(bias_.size());
    for (Index row = 0; row < bias_.size(); ++row) {
      const std::size_t kind = std::size_t(kind_[std::size_t(row)]);
      Scalar speed = speed_(row);
      if (moves_[std::size_t(row)] == 0) speed = (std::max)(speed, speeds[kind]);
      rounding_(row) = share * speed + product_rounding<Scalar>() * biases[kind];
    }
  }

  VectorX<Scalar> bias_, speed_, rounding_;
  std::vector<unsigned char> kind_;  ///< 1: of a contact's point, in m/s
  std::vector<signed char> moves_;   ///< 0: J_k = 0, the row moves nothing
};

/// −q·r of a ray, or v̂·r if Jᵀr = 0, where the two are equal.
template <RealScalar Scalar>
struct RayLoad {
  Scalar value;
  Scalar rounding;  ///< possible contribution of rounding to the value
  Scalar unsure;    ///< below this number the value may be only the rounding of gaps

  /// @param size    the sum of the absolute terms of the value.
  /// @param demand  Σ of DemandRounding's rows times |r|, used if Jᵀr = 0.
  RayLoad(const Scalar& sum, const Scalar& size, bool exact, const Scalar& demand) noexcept
      : value(sum),
        rounding(InfeasibilityTuning::load_roundings * std::numeric_limits<Scalar>::epsilon() *
                 size),
        unsure(exact ? demand : rounding) {}
  /// The value minus its rounding; not positive if it may be rounding only.
  [[nodiscard]] Scalar drive() const noexcept {
    return value > unsure ? Scalar(value - rounding)
                          : (std::min)(Scalar(value - unsure), Scalar(0));
  }
};

/// z = (W + R) r by rows, and an upper bound of the error of each. If a body's part may be zero for
/// all rows of a contact, it is set to zero without error; otherwise no row is set to zero.
/// @tparam Rows  of a problem, or of one contact.
template <typename Rows>
struct RayProducts {
  Rows rows, errors;
};

/// Sums over a ray of a problem in impulses.
template <RealScalar Scalar>
class DualRayMeasures {
 public:
  explicit DualRayMeasures(const DelassusProblem<Scalar>& problem)
      : problem_(problem), load_(load_rows(problem)), demand_(problem) {}

  /// √(rᵀ(W + R)r); zero if all rows of (W + R) r may be only rounding.
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
        exact = exact && std::abs(product(3 * p + r)) <= noise * sizes(3 * p + r);
    }
    return exact ? Scalar(0) : sqrt((std::max)(Scalar(parts.dot(product)), Scalar(noise * gross)));
  }
  [[nodiscard]] RayLoad<Scalar> load(const VectorX<Scalar>& ray, bool exact) const {
    return {-load_.dot(ray), load_.cwiseProduct(ray).template lpNorm<1>(), exact,
            demand_.rows().dot(ray.cwiseAbs())};
  }
  [[nodiscard]] RayProducts<VectorX<Scalar>> products(const VectorX<Scalar>& ray) const {
    VectorX<Scalar> parts, product, sizes;
    problem_.write_parts(ray, parts);
    write_products(problem_, parts, product);
    (void)write_sizes(parts, sizes);
    sizes *= noise;
    for (Index i = 0; i < problem_.count(); ++i) {
      const Index first = 3 * problem_.first_part(i), count = 3 * problem_.parts(i);
      auto own = product.segment(first, count), errors = sizes.segment(first, count);
      if (!(own.cwiseAbs().array() <= errors.array()).all()) continue;
      own.setZero();
      errors.setZero();
    }
    RayProducts<VectorX<Scalar>> result;
    problem_.write_rows(product, result.rows);
    problem_.write_rows(sizes, result.errors);
    return result;
  }

 private:
  static constexpr Scalar noise = product_rounding<Scalar>();

  /// Σ_j √(W_kk W_jj) |r_j| over the rows j with a common body with k, or all rows if W is a
  /// function. Entries of W that should be zero have rounding of this size, which |W_kj| does not
  /// show.
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

/// Calls visit(row of the impulses, body, column of Ĵᵀ) for the sides and rows of a block.
template <typename Block, typename Visit>
void for_each_column(const Block& block, const Visit& visit) {
  for (int s = 0; s < block.side_count(); ++s) {
    const auto columns = block.whitened_columns(s);
    for (int r = 0; r < block.rows(); ++r) {
      visit(block.first_row() + r, block.side(s).body, columns.col(r));
    }
  }
}

/// L⁻¹Jᵀr, and Σ |r_k| ‖J_k‖_{A⁻¹} of each body.
template <RealScalar Scalar>
struct BodyMomenta {
  VectorX<Scalar> sum, gross;
};

template <RealScalar Scalar>
[[nodiscard]] BodyMomenta<Scalar> body_momenta(const ContactProblem<Scalar>& problem,
                                               const VectorX<Scalar>& ray) {
  BodyMomenta<Scalar> momenta{VectorX<Scalar>::Zero(problem.velocity_count()),
                              VectorX<Scalar>::Zero(problem.body_count())};
  problem.for_each_block([&](const auto& block) {
    const auto own = block.read(ray);
    if (own.isZero(Scalar(0))) return;
    block.add_momentum(own, momenta.sum);
    for_each_column(block, [&](Index row, Index body, const auto& column) {
      momenta.gross(body) += std::abs(ray(row)) * column.norm();
    });
  });
  problem.whiten_momentum(as_span(momenta.sum));
  return momenta;
}

/// Sums over a ray of a problem given by bodies, whose momenta cancel to the last digit.
template <RealScalar Scalar>
class BodyRayMeasures {
 public:
  BodyRayMeasures(const ContactProblem<Scalar>& problem, const DelassusProblem<Scalar>& dual)
      : problem_(problem), dual_(dual), demand_(problem) {}

  /// √(‖Jᵀr‖²_{A⁻¹} + ‖r‖²_R); zero if the part of each body may be only rounding.
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
    Scalar value(0), size(0);
    problem_.for_each_block([&](const auto& block) {
      const auto own = block.read(ray);
      value += own.dot(block.least_bias_velocity());
      size += own.cwiseProduct(block.least_bias_velocity()).template lpNorm<1>();
      if (!exact) value -= own.dot(block.velocity(problem_.free_velocity()));
    });
    if (!exact) {
      problem_.for_each_block([&](const auto& block) {
        for_each_column(block, [&](Index row, Index body, const auto& column) {
          const auto [start, count] = problem_.body(body);
          size += std::abs(ray(row)) * column.cwiseAbs().dot(free.segment(start, count).cwiseAbs());
        });
      });
    }
    return {value, size, exact, demand_.rows().dot(ray.cwiseAbs())};
  }
  [[nodiscard]] RayProducts<VectorX<Scalar>> products(const VectorX<Scalar>& ray) const {
    const Momenta momenta = momenta_of(ray);
    RayProducts<VectorX<Scalar>> result{VectorX<Scalar>::Zero(ray.size()),
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
  /// L⁻¹Jᵀr, and the possible rounding for each body.
  struct Momenta {
    VectorX<Scalar> sum, errors;
  };
  [[nodiscard]] Momenta momenta_of(const VectorX<Scalar>& ray) const {
    auto [sum, errors] = body_momenta(problem_, ray);
    errors *= product_rounding<Scalar>();
    return {std::move(sum), std::move(errors)};
  }
  const ContactProblem<Scalar>& problem_;
  const DelassusProblem<Scalar>& dual_;
  DemandRounding<Scalar> demand_;
};

/// The largest z·γ over the impulses of a set, as constant + slope · x, where x is the size of the
/// impulse in the unbounded direction of the set.
template <RealScalar Scalar>
struct Support {
  Scalar constant = 0, slope = 0;
};

/// The support of one row between bounds, for the worst z within its error: that of z γ + error
/// |γ|, which is convex and largest at an end.
template <RealScalar Scalar>
[[nodiscard]] Support<Scalar> support_of_row(const Scalar& lower, const Scalar& upper,
                                             const Scalar& z, const Scalar& error) noexcept {
  using std::abs;
  const bool above = is_finite(upper), below = is_finite(lower);
  const auto at = [&](const Scalar& bound) { return Scalar(z * bound + error * abs(bound)); };
  if (above && below) return {(std::max)(at(lower), at(upper)), Scalar(0)};
  Scalar slope(0);
  if (!above) slope = (std::max)(slope, Scalar(error + z));
  if (!below) slope = (std::max)(slope, Scalar(error - z));
  if (!above && !below) return {Scalar(0), slope};
  const Scalar end = at(above ? upper : lower);
  if (!(slope > Scalar(0))) return {end, slope};
  // If z may increase towards infinity, the slope contains all impulses of that sign.
  const bool opposite = above ? upper > Scalar(0) : lower < Scalar(0);
  return {opposite ? (std::max)(end, Scalar(0)) : Scalar(0), slope};
}

/// The support function of a set, for the worst z within its errors. The direction of friction is
/// unknown, so each friction block of a cone counts with μ‖z_b‖.
template <RealScalar Scalar>
[[nodiscard]] Support<Scalar> support_of(const ImpulseSet<Scalar>& set,
                                         const RayProducts<RowNumbers<Scalar>>& z) noexcept {
  using std::abs, std::sqrt;
  Support<Scalar> support;
  if (set.shape == ImpulseShape::intervals) {
    for (int r = 0; r < set.rows; ++r) {
      const Support<Scalar> own =
          support_of_row(set.lower(r), set.upper(r), z.rows(r), z.errors(r));
      support.constant += own.constant;
      support.slope += own.slope;
    }
    return support;
  }
  const int n = visit_friction_blocks(set, [&](const auto& block) {
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      const int row = block.row(k);
      const Scalar x = block.mu(k) * (abs(z.rows(row)) + z.errors(row));
      squared += x * x;
    }
    support.slope += sqrt(squared);
  });
  support.slope = (std::max)(Scalar(support.slope + z.rows(n) + z.errors(n)), Scalar(0));
  support.constant = z.errors.dot(set.shift.cwiseAbs()) - z.rows.dot(set.shift);
  return support;
}

/// The support of a contact that slides along t, so that γₜ = −μ γₙ t; t is known up to
/// `deviation`.
template <RealScalar Scalar>
[[nodiscard]] Support<Scalar> support_of_slide(const ImpulseSet<Scalar>& set,
                                               const RayProducts<RowNumbers<Scalar>>& z,
                                               const Vector<Scalar, 2>& direction,
                                               const Scalar& deviation) noexcept {
  const int tangents = plain_tangents(set), n = normal_row(set.shape);
  RayProducts<RowNumbers<Scalar>> rest = z;
  rest.rows.head(tangents).setZero();
  rest.errors.head(tangents).setZero();
  const Scalar& mu = set.friction.x();
  const auto across = z.rows.head(tangents);
  rest.rows(n) += mu * (deviation * across.norm() - across.dot(direction.head(tangents)));
  rest.errors(n) += mu * (Scalar(1) + deviation) * z.errors.head(tangents).norm();
  Support<Scalar> support = support_of(set, rest);
  support.constant = z.errors.dot(set.shift.cwiseAbs()) - z.rows.dot(set.shift);
  return support;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
