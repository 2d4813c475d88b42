// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/QR>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/body_touches.hpp"
#include "carom/contact/detail/delassus_islands.hpp"
#include "carom/contact/impulse_set.hpp"
#include "carom/linalg/detail/nonnegative_least_squares.hpp"
#include "carom/solvers/answer/ray_measures.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Finds the ray r with the largest g·r/√(rᵀ(W + R)r), g = −q. The method minimises ½
/// rᵀ(W + R)r + ½ (ω g·r − 1)² over the cone of rays; its minimiser has this direction for each
/// ω > 0.
///
/// The cone is spanned by columns; each is a direction of one contact. The steps: (1) non-negative
/// least squares computes the best ray of the current columns; (2) for each contact, add the
/// direction in which the cost decreases most; (3) remove unused columns. The iteration ends when
/// the cost decreases in no direction. A half line needs one column, a line two, and a circle some
/// near its final direction.
/// @note  Cold: allocates; the work grows with the cube of the count of used columns.
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
  /// @param keep  whether the direction stays if it is not used.
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

  /// Chooses ω by the largest drive of a direction relative to its momentum. Call it after the
  /// first columns are added.
  /// @return  false if no direction has a drive; then there is no ray.
  bool weigh() {
    using std::sqrt;
    Scalar largest(0);
    const auto raise = [&](const Scalar& drive, const Scalar& momentum) {
      if (!(drive > Scalar(0))) return;
      largest = (std::max)(largest, momentum > Scalar(0) ? Scalar(drive / sqrt(momentum)) : drive);
    };
    for (const Column& c : columns_) raise(c.drive, c.momentum);
    for_each_direction([&](Index contact, const Rows& direction, const Scalar& fall) {
      raise(-fall, own_momentum(contact, direction));
    });
    weight_ = largest > Scalar(0) ? Scalar(1) / largest : Scalar(0);
    return largest > Scalar(0);
  }

  /// Adds columns until the cost decreases in no remaining direction.
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
  /// Calls visit(contact, direction, amount) for the terms of the ray.
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
    Scalar amount = 0;        ///< the amount of the direction in the ray
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

  /// Calls visit(contact, direction, derivative along it) for the direction of steepest descent of
  /// each contact or row.
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
  /// The steepest descent of a block per unit of the normal.
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
    // if it stops early, the certificate still measures the ray
    (void)squares_.solve(gram, linear, x);
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
  /// One step of iterative refinement over the used columns: products of the ray have the digits
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

/// Adds columns that span the ray of one island. @return false if v* satisfies the gaps.
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

/// Writes a problem in impulses with the same exact rays as a problem given by bodies, but without
/// the masses and v*, on which no such ray depends: q = −v̂, and the Jᵀ of each body in its own
/// unit. The v̂ of gaps are reduced by their rounding. A compliant contact has v̂ = 0 and R = 1.
template <RealScalar Scalar>
class BalancedForm {
 public:
  explicit BalancedForm(const ContactProblem<Scalar>& problem) : problem_(problem) {
    touches_.gather(problem);
  }

  /// The units in which no row of a body is more than 1.
  [[nodiscard]] VectorX<Scalar> row_units() const {
    VectorX<Scalar> units = VectorX<Scalar>::Zero(problem_.body_count());
    problem_.for_each_block([&](const auto& block) {
      for (int s = 0; s < block.side_count(); ++s) {
        const auto columns = block.whitened_columns(s);
        Scalar& unit = units(block.side(s).body);
        for (int r = 0; r < block.rows(); ++r) {
          unit = (std::max)(unit, Scalar(columns.col(r).norm()));
        }
      }
    });
    return (units.array() > Scalar(0)).select(units, Scalar(1));
  }

  /// @param rounding  of v̂, by rows.
  /// @param units     of ‖J_kᵀ‖_{A⁻¹}, by bodies, > 0.
  void write(const VectorX<Scalar>& rounding, const VectorX<Scalar>& units,
             DelassusProblem<Scalar>& dual) const {
    dual.reset();
    problem_.for_each_block([&](const auto& block) {
      RowNumbers<Scalar> load = RowNumbers<Scalar>::Zero(), weights = load;
      if (!block.law().rigid) weights.head(block.rows()).setOnes();
      const ImpulseSet<Scalar> set = block.set();
      for (int r = 0; block.law().rigid && r < block.rows(); ++r) {
        load(r) = -least_demand(set, r, Scalar(block.bias_velocity()(r)),
                                rounding(block.first_row() + r));
      }
      dual.add_contact(set, load.head(block.rows()), weights);
    });
    for (Index b = 0; b < problem_.body_count(); ++b) add_body(b, units(b), dual);
    dual.assemble();
  }

 private:
  /// v̂ of a row minus its rounding. For a row with impulses of both signs it is zero if the
  /// rounding may change its sign.
  [[nodiscard]] static Scalar least_demand(const ImpulseSet<Scalar>& set, int row,
                                           const Scalar& bias, const Scalar& rounding) noexcept {
    const bool normal = row == normal_row(set.shape);
    if (normal) return bias - rounding;
    if (bias > Scalar(0)) return (std::max)(Scalar(bias - rounding), Scalar(0));
    return (std::min)(Scalar(bias + rounding), Scalar(0));
  }
  [[nodiscard]] MatrixX<Scalar> rows_of(const BodyTouch& touch, const Scalar& unit) const {
    MatrixX<Scalar> rows;
    problem_.visit(touch.block, [&](const auto& block) {
      rows = block.whitened_columns(touch.side).transpose() / unit;
    });
    return rows;
  }
  void add_body(Index body, const Scalar& unit, DelassusProblem<Scalar>& dual) const {
    const auto touches = touches_.of(body);
    for (auto a = touches.begin(); a != touches.end(); ++a) {
      const MatrixX<Scalar> left = rows_of(*a, unit);
      for (auto b = touches.begin(); b <= a; ++b) {
        const MatrixX<Scalar> product = left.lazyProduct(rows_of(*b, unit).transpose());
        dual.add_coupling(a->block, b->block, product);
      }
    }
  }

  const ContactProblem<Scalar>& problem_;
  BodyTouches touches_;
};

/// A direction of a contact's impulse, and its amount in a ray.
template <RealScalar Scalar>
struct RayTerm {
  Index contact;
  RowNumbers<Scalar> direction;
  Scalar amount;
};

/// The shortest x for which A x is nearest to b, by conjugate gradients on AᵀA x = Aᵀb from zero:
/// they end after as many steps as the rank of A, and stay in the range of Aᵀ. Rounding leaves
/// some share of b, which the next step of a refinement removes.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> shortest_solution(MatrixX<Scalar> a, VectorX<Scalar> left) {
  VectorX<Scalar> x = VectorX<Scalar>::Zero(a.cols());
  const Scalar size = a.size() > 0 ? a.cwiseAbs().maxCoeff() : Scalar(0);
  const Scalar load = left.size() > 0 ? left.cwiseAbs().maxCoeff() : Scalar(0);
  if (!(size > Scalar(0) && load > Scalar(0))) return x;
  a /= size;  // squares of slopes stay in the range of the type
  left /= load;
  VectorX<Scalar> slope = a.transpose() * left, direction = slope;
  Scalar squared = slope.squaredNorm();
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  const Scalar enough = rounding * rounding * squared;
  const Scalar noise = 4 * rounding * rounding * a.squaredNorm();
  for (Index k = 0; k < a.rows() + a.cols() && squared > enough; ++k) {
    // Nothing of A is left in b. The slope is rounding, and may be in the kernel of A.
    if (!(squared > noise * left.squaredNorm())) break;
    const VectorX<Scalar> moved = a * direction;
    const Scalar step = squared / moved.squaredNorm();
    x += step * direction;
    left -= step * moved;
    slope = a.transpose() * left;
    const Scalar before = squared;
    squared = slope.squaredNorm();
    direction = slope + (squared / before) * direction;
  }
  return x * (load / size);
}

/// Changes the amounts of the terms of a ray until Jᵀr is zero to rounding, body by body. The
/// change is the least one relative to the amounts. It is computed by Newton steps whose residual
/// is summed again, which has the digits that a Gram matrix loses.
/// @note  Cold: allocates; the work grows with the cube of the count of terms.
template <RealScalar Scalar>
class RayPolish {
 public:
  explicit RayPolish(const ContactProblem<Scalar>& problem) : problem_(problem) {}

  void improve(std::vector<RayTerm<Scalar>>& terms) {
    for (int step = 0; step < InfeasibilityTuning::polish_steps; ++step) {
      measure(terms);
      if (!correct(terms)) return;
    }
    measure(terms);
  }
  /// Σ |r_k| ‖J_k‖_{A⁻¹} of each body, for the terms of the last call.
  [[nodiscard]] const VectorX<Scalar>& gross() const noexcept { return momenta_.gross; }

  [[nodiscard]] VectorX<Scalar> ray_of(const std::vector<RayTerm<Scalar>>& terms) const {
    VectorX<Scalar> ray = VectorX<Scalar>::Zero(problem_.impulse_count());
    for (const RayTerm<Scalar>& t : terms) {
      problem_.visit(t.contact, [&](const auto& block) {
        ray.segment(block.first_row(), block.rows()) += t.amount * t.direction.head(block.rows());
      });
    }
    return ray;
  }

 private:
  void measure(const std::vector<RayTerm<Scalar>>& terms) {
    momenta_ = body_momenta(problem_, ray_of(terms));
  }
  /// One step. @return false if no change is needed or possible.
  bool correct(std::vector<RayTerm<Scalar>>& terms) {
    using std::sqrt;
    std::vector<Index> place(std::size_t(problem_.body_count()), -1);
    Index rows = 0;
    Scalar worst(0);
    for (Index b = 0; b < problem_.body_count(); ++b) {
      const auto [start, size] = problem_.body(b);
      if (!(momenta_.gross(b) > Scalar(0))) continue;
      worst =
          (std::max)(worst, Scalar(momenta_.sum.segment(start, size).norm() / momenta_.gross(b)));
      place[std::size_t(b)] = rows;
      rows += size;
    }
    if (!(worst > std::numeric_limits<Scalar>::epsilon()) || !is_finite(worst)) return false;
    MatrixX<Scalar> slopes = MatrixX<Scalar>::Zero(rows, Index(terms.size()));
    VectorX<Scalar> left(rows);
    for (Index b = 0; b < problem_.body_count(); ++b) {
      const auto [start, size] = problem_.body(b);
      if (place[std::size_t(b)] < 0) continue;
      left.segment(place[std::size_t(b)], size) =
          -momenta_.sum.segment(start, size) / momenta_.gross(b);
    }
    for (std::size_t k = 0; k < terms.size(); ++k) {
      problem_.visit(terms[k].contact, [&](const auto& block) {
        for (int s = 0; s < block.side_count(); ++s) {
          const Index body = block.side(s).body, at = place[std::size_t(body)];
          if (at < 0) continue;
          slopes.col(Index(k)).segment(at, block.side(s).range.size) +=
              block.whitened_columns(s).lazyProduct(terms[k].direction.head(block.rows())) *
              (terms[k].amount / momenta_.gross(body));
        }
      });
    }
    const VectorX<Scalar> change = shortest_solution(slopes, left);
    if (!change.allFinite()) return false;
    // A term that a step nearly removes has no other term for cancellation.
    const Scalar least = sqrt(std::numeric_limits<Scalar>::epsilon());
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const Scalar left_over = Scalar(1) + change(Index(k));
      terms[k].amount *= left_over > least ? left_over : Scalar(0);
    }
    return true;
  }

  const ContactProblem<Scalar>& problem_;
  BodyMomenta<Scalar> momenta_;
};

/// Finds a ray of a problem given by bodies that cancels to the last digit, island by island. It
/// does not depend on the masses, so that heavy bodies among light ones are not more difficult.
/// @note  Cold: allocates.
template <RealScalar Scalar>
class ExactRay {
 public:
  /// @param dual  the dual form of the problem, with or without a matrix; it outlives this.
  ExactRay(const ContactProblem<Scalar>& problem, const DelassusProblem<Scalar>& dual,
           FrictionLaw law)
      : problem_(problem),
        all_(dual),
        law_(law),
        rounding_(problem),
        form_(problem),
        polish_(problem) {}

  /// @param guess  γ of all rows, finite.
  /// @return  r of all rows; empty if none is found.
  [[nodiscard]] VectorX<Scalar> find(const VectorX<Scalar>& guess) {
    const VectorX<Scalar> units = form_.row_units();
    DelassusProblem<Scalar> dual;
    form_.write(rounding_.rows(), units, dual);
    DelassusIslands<Scalar> islands;
    islands.find(dual);
    for (Index island = 0; island < islands.count(); ++island) {
      VectorX<Scalar> ray = find_in(islands, island, dual, units, guess);
      if (ray.size() > 0) return ray;
    }
    return {};
  }

 private:
  using Terms = std::vector<RayTerm<Scalar>>;

  [[nodiscard]] VectorX<Scalar> find_in(DelassusIslands<Scalar>& islands, Index island,
                                        const DelassusProblem<Scalar>& dual,
                                        const VectorX<Scalar>& units, VectorX<Scalar> guess) {
    DelassusProblem<Scalar> part, other;
    const DelassusProblem<Scalar>* from = &dual;
    for (int round = 0; round < InfeasibilityTuning::exact_rounds; ++round) {
      islands.write(*from, island, part);
      Terms terms = near_terms(islands, island, part, guess);
      if (terms.empty()) return {};
      polish_.improve(terms);
      VectorX<Scalar> ray = ray_in_cone(all_, law_, polish_.ray_of(terms));
      if (is_exact(ray)) return ray;
      // Once more in units in which all bodies with forces from the ray have equal forces.
      const VectorX<Scalar> pressed =
          polish_.gross().cwiseMax(std::numeric_limits<Scalar>::epsilon() * units);
      if (!pressed.allFinite()) return {};
      form_.write(rounding_.rows(), pressed, other);
      from = &other;
      guess = ray;
    }
    return {};
  }
  /// The scaled terms of the best ray of an island; empty if it is not near an exact ray.
  [[nodiscard]] Terms near_terms(DelassusIslands<Scalar>& islands, Index island,
                                 const DelassusProblem<Scalar>& part,
                                 const VectorX<Scalar>& guess) const {
    using std::sqrt;
    VectorX<Scalar> own(part.row_count());
    for_each_island_row(all_, islands.contacts(island),
                        [&](Index row, Index place) { own(place) = guess(row); });
    RayColumns<Scalar> columns(part, law_);
    if (!fit_island_ray(part, law_, own, columns)) return {};
    const VectorX<Scalar>& ray = columns.ray();
    const Scalar largest = ray.cwiseAbs().maxCoeff();
    if (!(largest > Scalar(0)) || !is_finite(largest)) return {};
    const VectorX<Scalar> scaled = ray / largest;
    const Scalar squared = scaled.dot(row_products(part, scaled));
    const Scalar gross = gross_norm(part, scaled);
    if (squared > Scalar(0) && sqrt(squared) > InfeasibilityTuning::near_exact * gross) return {};
    Terms terms;
    columns.for_each_used([&](Index contact, const auto& direction, const Scalar& amount) {
      const Index whole = islands.contacts(island)[std::size_t(contact)];
      if (problem_.law(whole).rigid) terms.push_back({whole, direction, amount / largest});
    });
    return terms;
  }
  [[nodiscard]] bool is_exact(const VectorX<Scalar>& ray) const {
    const Scalar largest = ray.cwiseAbs().maxCoeff();  // an island has rows
    if (!(largest > Scalar(0)) || !is_finite(largest)) return false;
    const BodyRayMeasures<Scalar> measures(problem_, all_);
    return !(measures.net(ray) > Scalar(0)) && measures.load(ray, true).drive() > Scalar(0);
  }

  const ContactProblem<Scalar>& problem_;
  const DelassusProblem<Scalar>& all_;
  FrictionLaw law_;
  DemandRounding<Scalar> rounding_;
  BalancedForm<Scalar> form_;
  RayPolish<Scalar> polish_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
