// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "carom/linalg/detail/nonnegative_least_squares.hpp"
#include "carom/solvers/answer/ray_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Finds the ray of the largest g·r/√(rᵀ(W + R)r), g = −q. It minimises ½ rᵀ(W + R)r +
/// ½ (ω g·r − 1)² over the cone of rays, whose minimiser has that direction for every ω > 0.
///
/// The cone is spanned by columns; each is a direction of one contact. Non-negative least squares
/// finds the best ray of the columns at hand. Then each contact adds the direction along which the
/// cost falls most, and columns that are not used are dropped. A half line needs one column, a line
/// two, and a circle a few near the direction that it ends with.
/// @note  Cold: allocates; work grows with the cube of the columns in use.
template <RealScalar Scalar>
class RayColumns {
 public:
  using Rows = RowNumbers<Scalar>;

  RayColumns(const DelassusProblem<Scalar>& problem, FrictionLaw law)
      : problem_(problem), law_(law), load_(load_rows(problem)) {
    product_.setZero(problem.row_count());
    ray_.setZero(problem.row_count());
    slope_ = load_;
  }

  /// Adds a direction; it need not be in the cone.
  /// @param keep  whether it stays when it is not used.
  void add(Index contact, const Rows& direction, bool keep = false) {
    VectorX<Scalar> rows = VectorX<Scalar>::Zero(problem_.row_count());
    const int count = problem_.set(contact).rows;
    rows.segment(problem_.first_row(contact), count) = direction.head(count);
    Column column{contact, keep, direction, row_products(problem_, rows), 0, 0, 0, 0};
    column.momentum = direction.dot(contact_rows(problem_, contact, column.product));
    column.drive = -load_.dot(rows);
    if (!(column.momentum > Scalar(0)) && !(column.drive > Scalar(0))) return;
    columns_.push_back(std::move(column));
  }

  /// Chooses ω by the largest drive of a direction relative to its momentum. To be called after the
  /// first columns are added.
  /// @return  false where no direction has a drive, so that there is no ray.
  bool weigh() {
    using std::sqrt;
    Scalar largest(0);
    const auto see = [&](const Scalar& drive, const Scalar& momentum) {
      if (!(drive > Scalar(0))) return;
      largest = (std::max)(largest, momentum > Scalar(0) ? Scalar(drive / sqrt(momentum)) : drive);
    };
    for (const Column& c : columns_) see(c.drive, c.momentum);
    for_each_direction([&](Index contact, const Rows& direction, const Scalar& fall) {
      see(-fall, own_momentum(contact, direction));
    });
    weight_ = largest > Scalar(0) ? Scalar(1) / largest : Scalar(0);
    return largest > Scalar(0);
  }

  /// Adds columns until the cost falls along none that is left.
  void solve(int rounds) {
    constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
    constexpr int roundings = InfeasibilityTuning::slope_roundings;
    for (int round = 0; round < rounds; ++round) {
      update_slope();
      const std::size_t before = columns_.size();
      for_each_direction([&](Index contact, const Rows& direction, const Scalar& fall) {
        const Scalar g = weight_ * direction.dot(-contact_rows(problem_, contact, load_));
        const Scalar size = own_momentum(contact, direction) + g * g;
        if (fall < Scalar(0) && fall * fall > roundings * roundings * epsilon * epsilon * size) {
          add(contact, direction);
        }
      });
      if (round > 0 && columns_.size() == before) return;
      if (!fit()) return;
    }
  }

  [[nodiscard]] const VectorX<Scalar>& ray() const noexcept { return ray_; }
  /// Calls visit(contact, direction, how much of it) for what the ray is the sum of.
  template <typename Visit>
  void for_each_used(const Visit& visit) const {
    for (const Column& c : columns_) {
      if (c.amount > Scalar(0)) visit(c.contact, c.direction, c.amount);
    }
  }

 private:
  struct Column {
    Index contact;
    bool keep;
    Rows direction;
    VectorX<Scalar> product;  ///< (W + R) d
    Scalar momentum;          ///< dᵀ(W + R)d
    Scalar drive;             ///< g·d
    Scalar size;              ///< unit of its weight: one over the norm of [(W + R)^½; ω gᵀ] d
    Scalar amount = 0;        ///< how much of the direction is in the ray
  };

  /// dᵀ(W + R)d without the coupling between the two parts of a contact.
  [[nodiscard]] Scalar own_momentum(Index contact, const Rows& direction) const noexcept {
    Scalar sum(0);
    const int rows = problem_.set(contact).rows;
    for (int r = 0; r < rows; ++r) {
      const auto at = problem_.place_of(contact, r);
      for (int c = 0; c < rows; ++c) {
        const auto from = problem_.place_of(contact, c);
        if (at.part != from.part) continue;
        sum += direction(r) * direction(c) * problem_.diagonal(at.part)(at.row, from.row);
      }
    }
    return sum;
  }

  /// Calls visit(contact, direction, slope along it) for the direction of every contact, or row,
  /// along which the slope falls most.
  template <typename Visit>
  void for_each_direction(const Visit& visit) const {
    for (Index i = 0; i < problem_.count(); ++i) {
      const ImpulseSet<Scalar>& set = problem_.set(i);
      const Rows slope = contact_rows(problem_, i, slope_);
      Rows direction = Rows::Zero();
      if (set.shape == ImpulseShape::intervals) {
        for (int r = 0; r < set.rows; ++r) {
          const bool up = slope(r) < Scalar(0);
          if (is_finite(up ? set.upper(r) : set.lower(r))) continue;
          direction.setZero();
          direction(r) = up ? Scalar(1) : Scalar(-1);
          visit(i, direction, Scalar(-std::abs(slope(r))));
        }
        continue;
      }
      direction(normal_row(set.shape)) = Scalar(1);
      if (law_ == FrictionLaw::convex) {
        visit_friction_blocks(set, [&](const auto& block) { descend(block, slope, direction); });
      }
      visit(i, direction, direction.dot(slope));
    }
  }
  /// The rows of a block that fall most per unit of the normal.
  static void descend(const FrictionBlock<Scalar>& block, const Rows& slope, Rows& direction) {
    using std::sqrt;
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      const Scalar x = block.mu(k) * slope(block.row(k));
      squared += x * x;
    }
    if (!(squared > Scalar(0))) return;
    for (int k = 0; k < block.size; ++k) {
      direction(block.row(k)) = -block.mu(k) * block.mu(k) * slope(block.row(k)) / sqrt(squared);
    }
  }

  /// h = (W + R) r + ω (ω g·r − 1) g.
  void update_slope() {
    const Scalar missing = weight_ * -load_.dot(ray_) - Scalar(1);
    slope_ = product_ - weight_ * missing * load_;
  }

  /// Solves for the weights of the columns and drops columns of weight zero.
  [[nodiscard]] bool fit() {
    using std::sqrt;
    const Index count = Index(columns_.size());
    if (count == 0) return false;
    for (Column& c : columns_) {
      const Scalar g = weight_ * c.drive;
      c.size = Scalar(1) / sqrt((std::max)(c.momentum, Scalar(0)) + g * g);
    }
    MatrixX<Scalar> gram(count, count);
    VectorX<Scalar> linear(count), x(count);
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b <= a; ++b) gram(a, b) = gram(b, a) = entry(at(a), at(b));
      gram(a, a) = Scalar(1);
      linear(a) = -weight_ * at(a).drive * at(a).size;
    }
    squares_.prepare(count);
    (void)squares_.solve(gram, linear, x);  // if it stops early, the certificate judges the ray
    if (!x.allFinite()) return false;
    set_ray(x);
    for (int pass = 0; pass < 3; ++pass) correct(gram, x);
    Index kept = 0;
    for (Index a = 0; a < count; ++a) {
      if (!(x(a) > Scalar(0)) && !at(a).keep) continue;
      if (kept != a) columns_[std::size_t(kept)] = std::move(columns_[std::size_t(a)]);
      ++kept;
    }
    columns_.resize(std::size_t(kept), columns_.front());
    return kept > 0;
  }
  [[nodiscard]] const Column& at(Index a) const noexcept { return columns_[std::size_t(a)]; }
  [[nodiscard]] Scalar entry(const Column& a, const Column& b) const {
    const Scalar product = a.direction.dot(contact_rows(problem_, a.contact, b.product));
    return (product + weight_ * weight_ * a.drive * b.drive) * a.size * b.size;
  }
  void set_ray(const VectorX<Scalar>& x) {
    ray_.setZero();
    product_.setZero();
    for (Index a = 0; a < x.size(); ++a) {
      Column& c = columns_[std::size_t(a)];
      c.amount = (std::max)(Scalar(x(a) * c.size), Scalar(0));
      if (!(x(a) > Scalar(0))) continue;
      const int rows = problem_.set(c.contact).rows;
      ray_.segment(problem_.first_row(c.contact), rows) += x(a) * c.size * c.direction.head(rows);
      product_ += x(a) * c.size * c.product;
    }
  }
  /// One step of iterative refinement over the columns in use: products of the ray keep the digits
  /// that the Gram matrix, a square, has lost.
  void correct(const MatrixX<Scalar>& gram, VectorX<Scalar>& x) {
    std::vector<Index> used;
    for (Index a = 0; a < x.size(); ++a) {
      if (x(a) > Scalar(0)) used.push_back(a);
    }
    const Index size = Index(used.size());
    MatrixX<Scalar> factor(size, size);
    VectorX<Scalar> step(size);
    update_slope();
    for (Index k = 0; k < size; ++k) {
      const Column& c = at(used[std::size_t(k)]);
      step(k) = -c.size * c.direction.dot(contact_rows(problem_, c.contact, slope_));
      for (Index l = 0; l < size; ++l) {
        factor(k, l) = gram(used[std::size_t(k)], used[std::size_t(l)]);
      }
    }
    if (size == 0 || !factor_cholesky(factor.data(), size, size)) return;
    solve_lower(factor.data(), size, size, step.data());
    solve_lower_transposed(factor.data(), size, size, step.data());
    if (!step.allFinite()) return;
    for (Index k = 0; k < size; ++k) {
      Scalar& value = x(used[std::size_t(k)]);
      value = (std::max)(Scalar(value + step(k)), Scalar(0));
    }
    set_ray(x);
  }

  const DelassusProblem<Scalar>& problem_;
  FrictionLaw law_;
  VectorX<Scalar> load_, ray_, product_, slope_;
  Scalar weight_ = 0;  ///< ω
  std::vector<Column> columns_;
  NonnegativeLeastSquares<Scalar> squares_;
};

/// Makes columns span the ray of one island. @return false where v* satisfies the gaps.
template <RealScalar Scalar>
[[nodiscard]] bool fit_island_ray(const DelassusProblem<Scalar>& problem, FrictionLaw law,
                                  const VectorX<Scalar>& impulse, RayColumns<Scalar>& columns) {
  const VectorX<Scalar> guess = ray_in_cone(problem, law, impulse);
  const Scalar largest = guess.size() > 0 ? guess.cwiseAbs().maxCoeff() : Scalar(0);
  if (largest > Scalar(0)) {
    for (Index i = 0; i < problem.count(); ++i) {
      const RowNumbers<Scalar> own = contact_rows(problem, i, guess);
      if (!(own.cwiseAbs().maxCoeff() > largest / Scalar(InfeasibilityTuning::guess_range)))
        continue;
      if (normal_row(problem.set(i).shape) >= 0) {
        columns.add(i, RowNumbers<Scalar>(own / own(normal_row(problem.set(i).shape))));
        continue;
      }
      for (int r = 0; r < problem.set(i).rows; ++r) {
        RowNumbers<Scalar> row = RowNumbers<Scalar>::Zero();
        row(r) = own(r) < Scalar(0) ? Scalar(-1) : Scalar(1);
        if (own(r) != Scalar(0)) columns.add(i, row);
      }
    }
  }
  if (!columns.weigh()) return false;
  columns.solve(InfeasibilityTuning::column_rounds);
  return true;
}

/// The ray of one island.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> refine_island_ray(const DelassusProblem<Scalar>& problem,
                                                FrictionLaw law, const VectorX<Scalar>& impulse) {
  RayColumns<Scalar> columns(problem, law);
  if (fit_island_ray(problem, law, impulse, columns)) return columns.ray();
  return VectorX<Scalar>::Zero(problem.row_count());
}

/// Calls visit(row in the whole problem, row in the island's).
template <RealScalar Scalar, typename Contacts, typename Visit>
void for_each_island_row(const DelassusProblem<Scalar>& whole, const Contacts& contacts,
                         const Visit& visit) {
  Index place = 0;
  for (const int i : contacts) {
    for (int r = 0; r < whole.set(i).rows; ++r) visit(whole.first_row(i) + r, place++);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
