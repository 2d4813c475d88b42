// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <Eigen/QR>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/body_touches.hpp"
#include "carom/contact/detail/delassus_islands.hpp"
#include "carom/contact/impulse_set.hpp"
#include "carom/solvers/answer/ray_columns.hpp"
#include "carom/solvers/answer/ray_cone.hpp"
#include "carom/solvers/answer/ray_measures.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes the problem in impulses whose exact rays are those of a problem given by bodies, and that
/// knows neither the masses nor v*, on which no such ray depends: q = −v̂, and each body's Jᵀ in a
/// unit of its own. What the gaps ask for is reduced by its rounding. A contact that gives way asks
/// for nothing and resists every ray.
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
  /// v̂ of a row as far as it is sure. A normal asks for less; a row that may press either way asks
  /// for nothing where it is not sure which.
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

/// A direction of a contact's impulse, and how much of it is in a ray.
template <RealScalar Scalar>
struct RayTerm {
  Index contact;
  RowNumbers<Scalar> direction;
  Scalar amount;
};

/// Changes the amounts of the terms of a ray until Jᵀr is zero to rounding, body by body. The
/// change is the least one relative to the amounts, by steps of Newton whose residual is summed
/// anew, so that the ray gets the digits that a Gram matrix does not have.
/// @note  Cold: allocates; work grows with the cube of the terms.
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
  /// Σ |r_k| ‖J_k‖_{A⁻¹} of each body, of the terms of the last call.
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
  /// One step. @return false where nothing is left to do, or cannot be done.
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
    const VectorX<Scalar> change = slopes.completeOrthogonalDecomposition().solve(left);
    if (!change.allFinite()) return false;
    // What a step leaves next to nothing of has no partner to cancel with.
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

/// Looks for a ray of a problem given by bodies that cancels to the last digit, island by island.
/// The masses are not looked at, so that heavy bodies among light ones are no harder.
/// @note  Cold: allocates.
template <RealScalar Scalar>
class ExactRay {
 public:
  ExactRay(const ContactProblem<Scalar>& problem, FrictionLaw law)
      : problem_(problem), law_(law), rounding_(problem), form_(problem), polish_(problem) {
    form_of_all_.write_matrix_free(problem, all_);
  }

  /// @param guess  γ of all rows, finite.
  /// @return  r of all rows; empty where none is found.
  [[nodiscard]] VectorX<Scalar> find(const VectorX<Scalar>& guess) {
    const VectorX<Scalar> units = form_.row_units();
    DelassusProblem<Scalar> dual;
    form_.write(rounding_.rows(), units, dual);
    DelassusIslands<Scalar> islands;
    islands.find(dual);
    for (Index island = 0; island < islands.count(); ++island) {
      const VectorX<Scalar> ray = find_in(islands, island, dual, units, guess);
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
      const VectorX<Scalar> ray = ray_in_cone(all_, law_, polish_.ray_of(terms));
      if (is_exact(ray)) return ray;
      // Once more in units in which all bodies that the ray presses are pressed alike.
      const VectorX<Scalar> pressed =
          polish_.gross().cwiseMax(std::numeric_limits<Scalar>::epsilon() * units);
      if (!pressed.allFinite()) return {};
      form_.write(rounding_.rows(), pressed, other);
      from = &other;
      guess = ray;
    }
    return {};
  }
  /// What the best ray of an island is the sum of, scaled; nothing where it is not near an exact
  /// one.
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
    const Scalar largest = ray.size() > 0 ? ray.cwiseAbs().maxCoeff() : Scalar(0);
    if (!(largest > Scalar(0)) || !is_finite(largest)) return false;
    const BodyRayMeasures<Scalar> measures(problem_, all_);
    return !(measures.net(ray) > Scalar(0)) && measures.load(ray, true).drive() > Scalar(0);
  }

  const ContactProblem<Scalar>& problem_;
  FrictionLaw law_;
  DemandRounding<Scalar> rounding_;
  BalancedForm<Scalar> form_;
  RayPolish<Scalar> polish_;
  DelassusForm<Scalar> form_of_all_;
  DelassusProblem<Scalar> all_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
