// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/detail/ray_measures.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact that slides one way whatever the answer is: on a belt, in a guide.
///
/// The multipliers p prove it. Where Jᵀ(e − p) = 0, e the row of the contact along t, every
/// velocity that satisfies the gaps has t·uₜ = p·u + (e − p)·q ≥ (e − p)·q, which is to be
/// positive.
template <RealScalar Scalar>
struct KnownSlide {
  Index contact = 0;  ///< with friction alike in all directions
  Vector<Scalar, 2> direction{1,
                              0};  ///< t, of uₜ: a unit vector; of planar contacts its first entry
  VectorX<Scalar> multipliers = {};  ///< p [-], as a ray of Coulomb's law; empty: none, p = 0
};

/// What is to be proven of a ray.
template <RealScalar Scalar>
struct InfeasibilityOptions {
  /// X, what no answer of interest exceeds: ‖v − v*‖_A, √(2 J of energy) [√J], ≥ 0. With 0 it is
  /// ε_m^(−2/5) times the ray's velocity scale, 1.8e6 times in double and 6e2 times in float: more
  /// asks for more digits than the products of W have, less calls a nearly closed slot closed.
  Scalar velocity_bound = 0;
  std::vector<KnownSlide<Scalar>> slides = {};  ///< looked at under Coulomb's law only
};

/// How well a ray r proves that a problem has no answer, computed from the ray alone.
///
/// The ray is impulses that press without moving anything, Jᵀr = 0, against what the contacts ask
/// for, drive = −q·r = (v̂ − J v*)·r > 0. It is put into its cone before anything is measured, and
/// scaled so that its rows alone would move the bodies by 1 √J: measures do not depend on its size.
/// Under Coulomb's law only the normals of contacts count, and rows between bounds.
///
/// An exact ray is rare, and so the proof says how fast an answer would have to be: none has
/// ‖v − v*‖_A < velocity_needed. Rounding counts against the drive; a net momentum that is zero to
/// rounding counts as zero.
template <RealScalar Scalar>
struct InfeasibilityCertificate {
  /// No answer exists up to the velocity bound: velocity_needed exceeds it, or under Coulomb's law
  /// impulse_needed does.
  bool infeasible = false;
  /// ‖r − P(r)‖ relative to ‖r‖, both in ‖J_kᵀ‖ |r_k| over the rows k [-]. It tells how far the ray
  /// that was given is from the one that is judged; infinite where an entry is not finite.
  Scalar cone_violation = 0;
  Index cone_violation_contact = -1;  ///< farthest outside; −1 when all are inside
  /// ‖Jᵀr‖_{A⁻¹} relative to √(Σ ‖J_kᵀ‖²_{A⁻¹} r_k²), what it would be if nothing cancelled [-].
  Scalar cancellation = 0;
  /// −q·r [√J], less what rounding may have added.
  Scalar drive = 0;
  /// drive/cancellation, 0 without a drive [√J]. With compliance or the R of other rows it is a
  /// bound of √(‖v − v*‖²_A + ‖γ‖²_R).
  Scalar velocity_needed = 0;
  /// Under Coulomb's law no answer within the velocity bound has √(Σ w γₙ²) < impulse_needed, w the
  /// inverse mass along the normal, and of rows between bounds the largest [√J]: infinite
  /// where friction that is known takes away what every normal impulse gives. 0 without a drive and
  /// under the convex law.
  Scalar impulse_needed = 0;
  /// What the drive is made of if nothing cancels, Σ |q_k r_k| of the scaled ray, under the convex
  /// law Σ ‖q‖ ‖r‖ over the contacts' parts [√J]: the problem's own velocity.
  Scalar velocity_scale = 0;
  Scalar velocity_bound = 0;  ///< X that was asked for, or the default [√J]
  Index slides_proven = 0;    ///< how many of the options' slides the multipliers prove up to X
};

/// Judges a ray of a problem in impulses. W r stands for the momentum, ‖Jᵀr‖² = rᵀ(W + R)r, of
/// which rounding leaves half of the digits: use the other form where bodies are known.
/// @param ray  r, row_count(). Entries may be anything.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] InfeasibilityCertificate<Scalar> certify_infeasible(
    const DelassusProblem<Scalar>& problem, FrictionLaw law, const VectorX<Scalar>& ray,
    const InfeasibilityOptions<Scalar>& options = {});

/// Judges a ray of a problem given by bodies.
/// @param ray  r, impulse_count(). Entries may be anything.
/// @note  Cold: allocates; time and memory in proportion to bodies and contacts.
template <RealScalar Scalar>
[[nodiscard]] InfeasibilityCertificate<Scalar> certify_infeasible(
    const ContactProblem<Scalar>& problem, FrictionLaw law, const VectorX<Scalar>& ray,
    const InfeasibilityOptions<Scalar>& options = {});

// --- implementation ---

namespace detail {

/// A slide that is known up to the velocity bound: t and the most that the direction may be off.
template <RealScalar Scalar>
struct ProvenSlide {
  Index contact;
  Vector<Scalar, 2> direction;
  Scalar deviation;
};

template <RealScalar Scalar, typename Measures>
class RayJudge {
 public:
  RayJudge(const DelassusProblem<Scalar>& problem, const Measures& measures, FrictionLaw law)
      : problem_(problem), measures_(measures), law_(law), load_(load_rows(problem)) {}

  [[nodiscard]] InfeasibilityCertificate<Scalar> judge(
      const VectorX<Scalar>& given, const InfeasibilityOptions<Scalar>& options) {
    using std::pow;
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    InfeasibilityCertificate<Scalar> result;
    if (!given.allFinite()) {
      result.cone_violation = infinity;
      return result;
    }
    VectorX<Scalar> ray = given;
    // First to numbers near one, which squares do not take out of range.
    if (const Scalar largest = ray.size() > 0 ? ray.cwiseAbs().maxCoeff() : Scalar(0);
        largest > Scalar(0)) {
      ray /= largest;
    }
    see_violation(ray, result);
    ray = ray_in_cone(problem_, law_, ray);
    const Scalar gross = gross_norm(ray), norm = gross > Scalar(0) ? gross : ray.norm();
    if (!(norm > Scalar(0))) return result;
    ray /= norm;
    result.cancellation = measures_.net(ray);
    result.velocity_scale = drive_scale(ray);
    const Scalar bound =
        options.velocity_bound > Scalar(0)
            ? options.velocity_bound
            : pow(std::numeric_limits<Scalar>::epsilon(), Scalar(-0.4)) * result.velocity_scale;
    result.velocity_bound = bound;
    std::vector<ProvenSlide<Scalar>> slides;
    if (law_ == FrictionLaw::coulomb) slides = prove(options.slides, bound);
    result.slides_proven = Index(slides.size());
    result.drive = drive_of(ray);
    if (!(result.drive > Scalar(0))) return result;
    result.velocity_needed =
        result.cancellation > Scalar(0) ? result.drive / result.cancellation : infinity;
    result.infeasible = result.velocity_needed > bound;
    if (law_ == FrictionLaw::convex) return result;
    result.impulse_needed = impulse_needed(ray, result.drive, slides);
    result.infeasible = result.infeasible || result.impulse_needed > bound;
    return result;
  }

 private:
  [[nodiscard]] Scalar inverse_mass(Index contact, int row) const noexcept {
    return row_inverse_mass(problem_, contact, row);
  }
  /// Of the rows of a contact; 1 where nothing it is on moves.
  [[nodiscard]] Scalar largest_inverse_mass(Index contact) const noexcept {
    Scalar largest(0);
    for (int r = 0; r < problem_.set(contact).rows; ++r) {
      largest = (std::max)(largest, inverse_mass(contact, r));
    }
    return largest > Scalar(0) ? largest : Scalar(1);
  }
  /// w of γₙ, or of unbounded rows.
  [[nodiscard]] Scalar normal_inverse_mass(Index contact) const noexcept {
    const int n = normal_row(problem_.set(contact).shape);
    const Scalar own = n >= 0 ? inverse_mass(contact, n) : Scalar(0);
    return own > Scalar(0) ? own : largest_inverse_mass(contact);
  }
  /// √(Σ ‖J_kᵀ‖² r_k²).
  [[nodiscard]] Scalar gross_norm(const VectorX<Scalar>& ray) const {
    using std::sqrt;
    Scalar squared(0);
    problem_.for_each_row([&](Index row, const auto& place) {
      squared += problem_.diagonal(place.part)(place.row, place.row) * ray(row) * ray(row);
    });
    return sqrt(squared);
  }
  void see_violation(const VectorX<Scalar>& ray, InfeasibilityCertificate<Scalar>& result) const {
    using std::sqrt;
    const VectorX<Scalar> outside = ray - ray_in_cone(problem_, law_, ray);
    Scalar largest(0), squared(0), whole(0);
    for (Index i = 0; i < problem_.count(); ++i) {
      Scalar part(0);
      const Scalar heaviest = largest_inverse_mass(i);
      for (int r = 0; r < problem_.set(i).rows; ++r) {
        const Scalar own = inverse_mass(i, r), w = own > Scalar(0) ? own : heaviest;
        const Scalar x = outside(problem_.first_row(i) + r), y = ray(problem_.first_row(i) + r);
        part += w * x * x;
        whole += w * y * y;
      }
      squared += part;
      if (!(part > largest)) continue;
      largest = part;
      result.cone_violation_contact = i;
    }
    if (squared > Scalar(0)) result.cone_violation = sqrt(squared / whole);
  }
  /// What −q·r is made of: Σ |q_k r_k|; under the convex law, where a ray turns with the load,
  /// Σ ‖q_p‖ ‖r_p‖ over the parts.
  [[nodiscard]] Scalar drive_scale(const VectorX<Scalar>& ray) const {
    if (law_ == FrictionLaw::coulomb) return load_.cwiseProduct(ray).template lpNorm<1>();
    VectorX<Scalar> parts;
    problem_.write_parts(ray, parts);
    Scalar sum(0);
    for (Index p = 0; p < problem_.part_count(); ++p) {
      sum += problem_.load(p).norm() * parts.template segment<3>(3 * p).norm();
    }
    return sum;
  }
  /// −q·r, less the rounding of its terms.
  [[nodiscard]] Scalar drive_of(const VectorX<Scalar>& ray) const {
    return -load_.dot(ray) - measures_.load_rounding(ray);
  }

  /// The slides whose multipliers hold, for velocities up to the bound.
  [[nodiscard]] std::vector<ProvenSlide<Scalar>> prove(
      const std::vector<KnownSlide<Scalar>>& slides, const Scalar& bound) const {
    std::vector<ProvenSlide<Scalar>> proven;
    for (const KnownSlide<Scalar>& slide : slides) {
      CAROM_EXPECTS(slide.contact >= 0 && slide.contact < problem_.count());
      const Index first = problem_.first_row(slide.contact);
      const int tangents = plain_tangents(problem_.set(slide.contact));
      const Scalar length = slide.direction.head(tangents).norm();
      if (tangents == 0 || !(length > Scalar(0))) continue;
      const Vector<Scalar, 2> t = slide.direction / length;
      VectorX<Scalar> along = VectorX<Scalar>::Zero(problem_.row_count()), across = along;
      along.segment(first, tangents) = t.head(tangents);
      if (tangents == 2) across.segment(first, 2) << -t(1), t(0);
      if (slide.multipliers.size() == along.size() && slide.multipliers.allFinite()) {
        along -= ray_in_cone(problem_, FrictionLaw::coulomb, slide.multipliers);
      }
      const Scalar least = drive_of(-along) - measures_.net(along) * bound;
      if (!(least > Scalar(0))) continue;
      Scalar aside = measures_.net(across) * bound;
      const Scalar q = std::abs(load_.dot(across));
      if (q > measures_.load_rounding(across)) aside += q;
      proven.push_back({slide.contact, t, aside / least});
    }
    return proven;
  }

  /// What normal impulses weigh in y·u = q·y + z·γ ≥ 0, z = (W + R) y, where that can only help.
  [[nodiscard]] Scalar impulse_needed(const VectorX<Scalar>& ray, const Scalar& drive,
                                      const std::vector<ProvenSlide<Scalar>>& slides) const {
    using std::sqrt;
    const VectorX<Scalar> rows = row_products(problem_, ray);
    const Scalar scale = 16 * std::numeric_limits<Scalar>::epsilon() * root_sum(ray);
    Scalar left = drive, squared(0);
    for (Index i = 0; i < problem_.count(); ++i) {
      const ImpulseSet<Scalar>& set = problem_.set(i);
      RowNumbers<Scalar> z = RowNumbers<Scalar>::Zero();
      const Scalar heaviest = largest_inverse_mass(i), own = normal_inverse_mass(i);
      for (int r = 0; r < set.rows; ++r) {
        const Scalar value = rows(problem_.first_row(i) + r);
        if (std::abs(value) > scale * sqrt(inverse_mass(i, r))) z(r) = value;
      }
      const auto known = std::find_if(slides.begin(), slides.end(),
                                      [i](const auto& slide) { return slide.contact == i; });
      const Support<Scalar> support =
          known != slides.end() ? support_of_slide(set, z, known->direction, known->deviation)
                                : support_of(set, z);
      left -= support.constant;
      // Sums of z over a contact's rows are off by as much as the rows are.
      const Scalar most = 4 * scale * sqrt(heaviest) * (std::max)(Scalar(1), set.friction.sum());
      if (support.slope > most) squared += support.slope * support.slope / own;
    }
    if (!(left > Scalar(0))) return Scalar(0);
    return squared > Scalar(0) ? left / sqrt(squared) : std::numeric_limits<Scalar>::infinity();
  }
  /// Σ ‖J_kᵀ‖ |r_k|: what an entry of (W + R) r is made of, by its row's own ‖J‖.
  [[nodiscard]] Scalar root_sum(const VectorX<Scalar>& ray) const {
    using std::sqrt;
    Scalar sum(0);
    problem_.for_each_row([&](Index row, const auto& place) {
      sum += sqrt(problem_.diagonal(place.part)(place.row, place.row)) * std::abs(ray(row));
    });
    return sum;
  }

  const DelassusProblem<Scalar>& problem_;
  const Measures& measures_;
  FrictionLaw law_;
  VectorX<Scalar> load_;
};

}  // namespace detail

template <RealScalar Scalar>
InfeasibilityCertificate<Scalar> certify_infeasible(const DelassusProblem<Scalar>& problem,
                                                    FrictionLaw law, const VectorX<Scalar>& ray,
                                                    const InfeasibilityOptions<Scalar>& options) {
  CAROM_EXPECTS(ray.size() == problem.row_count());
  const detail::DualRayMeasures<Scalar> measures(problem);
  return detail::RayJudge<Scalar, detail::DualRayMeasures<Scalar>>(problem, measures, law)
      .judge(ray, options);
}

template <RealScalar Scalar>
InfeasibilityCertificate<Scalar> certify_infeasible(const ContactProblem<Scalar>& problem,
                                                    FrictionLaw law, const VectorX<Scalar>& ray,
                                                    const InfeasibilityOptions<Scalar>& options) {
  CAROM_EXPECTS(ray.size() == problem.impulse_count());
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write_matrix_free(problem, dual);
  const detail::BodyRayMeasures<Scalar> measures(problem, dual);
  return detail::RayJudge<Scalar, detail::BodyRayMeasures<Scalar>>(dual, measures, law)
      .judge(ray, options);
}

}  // namespace CAROM_ABI
}  // namespace carom
