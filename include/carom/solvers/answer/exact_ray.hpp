// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/detail/delassus_islands.hpp"
#include "carom/solvers/answer/island_ray.hpp"
#include "carom/solvers/answer/ray_measures.hpp"
#include "carom/solvers/answer/ray_polish.hpp"
#include "carom/solvers/answer/ray_scales.hpp"
#include "carom/solvers/rows/balanced_form.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

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
    const Scalar gross = RayScales<Scalar>(part).gross_norm(scaled);
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
