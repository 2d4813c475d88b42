// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/detail/infeasibility_tuning.hpp"
#include "carom/solvers/detail/ray_measures.hpp"
#include "carom/solvers/detail/ray_scales.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact that slides in the same direction under every answer, as on a belt or in a guide. Its
/// friction is then known, which may prove more.
///
/// The multipliers p prove that it slides. Let e be the row of the contact along t, and
/// Jᵀ(e − p) = 0. Then every velocity that satisfies the gaps has t·uₜ = p·u + (e − p)·q ≥
/// (e − p)·q, and the contact slides if that is positive.
template <RealScalar Scalar>
struct KnownSlide {
  Index contact = 0;  ///< with friction alike in all directions
  Vector<Scalar, 2> direction{1,
                              0};  ///< t, of uₜ: a unit vector; of planar contacts its first entry
  VectorX<Scalar> multipliers = {};  ///< p [-], as a ray of Coulomb's law; empty: none, p = 0
};

/// What a ray is to prove, and what else is known.
template <RealScalar Scalar>
struct InfeasibilityOptions {
  /// X: the proof is that no answer has ‖v − v*‖_A ≤ X [√J], the root of twice an energy, ≥ 0. The
  /// default 0 stands for ε_m^(−2/5) times the ray's velocity scale, which is 1.8e6 times in double
  /// and 6e2 times in float. A larger bound asks for more digits than the products of W have; with
  /// a smaller one a slot that is nearly closed counts as closed.
  Scalar velocity_bound = 0;
  /// Contacts that slide; the convex law does not use them.
  std::vector<KnownSlide<Scalar>> slides = {};
};

/// Says how well a ray r proves that a problem has no answer. It is computed from the ray alone.
///
/// A ray is a set of impulses that press on the bodies without moving them, Jᵀr = 0, although the
/// contacts ask for motion: drive = −q·r = (v̂ − J v*)·r > 0. Such impulses could grow without end,
/// and no impulses obey the law. Before anything is measured the ray is moved into its cone and
/// scaled so that its rows alone would move the bodies by 1 √J, so that no measure depends on its
/// size. Under Coulomb's law only the normals of contacts count, and rows between bounds.
///
/// In numbers Jᵀr is rarely zero exactly. Therefore the proof says how fast an answer would have to
/// be: none has ‖v − v*‖_A < velocity_needed. What rounding may have added to the drive is
/// subtracted from it; a net momentum that is zero to rounding counts as zero.
template <RealScalar Scalar>
struct InfeasibilityCertificate {
  /// Whether it is proven that no answer exists up to the velocity bound: velocity_needed exceeds
  /// the bound, or under Coulomb's law impulse_needed does.
  bool infeasible = false;
  /// ‖r − P(r)‖ relative to ‖r‖, both in ‖J_kᵀ‖ |r_k| over the rows k [-]: how far the ray that was
  /// given is from the one that is judged. Infinite where an entry is not finite.
  Scalar cone_violation = 0;
  Index cone_violation_block = -1;  ///< farthest outside; −1 when all are inside
  /// ‖Jᵀr‖_{A⁻¹} relative to √(Σ ‖J_kᵀ‖²_{A⁻¹} r_k²), what it would be if nothing cancelled [-].
  Scalar cancellation = 0;
  /// −q·r minus what rounding may have added to it [√J].
  Scalar drive = 0;
  /// drive/cancellation [√J]; 0 where there is no drive. With compliant contacts, or R of other
  /// rows, it bounds √(‖v − v*‖²_A + ‖γ‖²_R) instead.
  Scalar velocity_needed = 0;
  /// Under Coulomb's law no answer within the velocity bound has √(Σ w γₙ²) < impulse_needed [√J],
  /// where w is the inverse mass along the normal, and of rows between bounds the largest of their
  /// inverse masses. It is infinite where known friction takes away what every normal impulse
  /// gives, and 0 without a drive and under the convex law.
  Scalar impulse_needed = 0;
  /// What the drive would be if nothing cancelled in it [√J]: Σ |q_k r_k| of the scaled ray, under
  /// the convex law Σ ‖q‖ ‖r‖ over the parts. It is the scale of the problem's own velocities.
  Scalar velocity_scale = 0;
  Scalar velocity_bound = 0;  ///< X that was asked for, or the default [√J]
  Index slides_proven = 0;    ///< how many of the options' slides the multipliers prove up to X
};

/// Judges a ray of a problem in impulses. The momentum comes from W, ‖Jᵀr‖² = rᵀ(W + R)r, and
/// rounding leaves half of its digits: where bodies are known, use the other form.
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

/// Computes the certificate of one ray.
/// @tparam Measures  knows the momentum Jᵀr, from W or from the bodies: net(r), load_rounding(r).
template <RealScalar Scalar, typename Measures>
class RayJudge {
 public:
  RayJudge(const DelassusProblem<Scalar>& problem, const Measures& measures, FrictionLaw law)
      : problem_(problem),
        scales_(problem),
        measures_(measures),
        law_(law),
        load_(load_rows(problem)) {}

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
    // The entries become at most one, so that their squares stay in the range of the type.
    if (const Scalar largest = ray.size() > 0 ? ray.cwiseAbs().maxCoeff() : Scalar(0);
        largest > Scalar(0)) {
      ray /= largest;
    }
    see_violation(ray, result);
    ray = ray_in_cone(problem_, law_, ray);
    const Scalar gross = scales_.gross_norm(ray), norm = gross > Scalar(0) ? gross : ray.norm();
    if (!(norm > Scalar(0))) return result;
    ray /= norm;
    result.cancellation = measures_.net(ray);
    result.velocity_scale = drive_scale(ray);
    const Scalar bound = options.velocity_bound > Scalar(0)
                             ? options.velocity_bound
                             : pow(std::numeric_limits<Scalar>::epsilon(),
                                   Scalar(-InfeasibilityTuning::bound_power)) *
                                   result.velocity_scale;
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
  void see_violation(const VectorX<Scalar>& ray, InfeasibilityCertificate<Scalar>& result) const {
    using std::sqrt;
    const VectorX<Scalar> outside = ray - ray_in_cone(problem_, law_, ray);
    Scalar largest(0), squared(0), whole(0);
    for (Index i = 0; i < problem_.count(); ++i) {
      Scalar part(0);
      const Scalar heaviest = scales_.largest_inverse_mass(i);
      for (int r = 0; r < problem_.set(i).rows; ++r) {
        const Scalar own = scales_.inverse_mass(i, r), w = own > Scalar(0) ? own : heaviest;
        const Scalar x = outside(problem_.first_row(i) + r), y = ray(problem_.first_row(i) + r);
        part += w * x * x;
        whole += w * y * y;
      }
      squared += part;
      if (!(part > largest)) continue;
      largest = part;
      result.cone_violation_block = i;
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
    const Scalar scale = InfeasibilityTuning::product_roundings *
                         std::numeric_limits<Scalar>::epsilon() * scales_.root_sum(ray);
    Scalar left = drive, squared(0);
    for (Index i = 0; i < problem_.count(); ++i) {
      const ImpulseSet<Scalar>& set = problem_.set(i);
      RowNumbers<Scalar> z = RowNumbers<Scalar>::Zero();
      const Scalar heaviest = scales_.largest_inverse_mass(i), own = scales_.normal_inverse_mass(i);
      for (int r = 0; r < set.rows; ++r) {
        const Scalar value = rows(problem_.first_row(i) + r);
        if (std::abs(value) > scale * sqrt(scales_.inverse_mass(i, r))) z(r) = value;
      }
      const auto known = std::find_if(slides.begin(), slides.end(),
                                      [i](const auto& slide) { return slide.contact == i; });
      const Support<Scalar> support =
          known != slides.end() ? support_of_slide(set, z, known->direction, known->deviation)
                                : support_of(set, z);
      left -= support.constant;
      // Sums of z over a contact's rows are off by a few times as much as the rows are.
      const Scalar most = InfeasibilityTuning::row_roundings * scale * sqrt(heaviest) *
                          (std::max)(Scalar(1), set.friction.sum());
      if (support.slope > most) squared += support.slope * support.slope / own;
    }
    if (!(left > Scalar(0))) return Scalar(0);
    return squared > Scalar(0) ? left / sqrt(squared) : std::numeric_limits<Scalar>::infinity();
  }
  const DelassusProblem<Scalar>& problem_;
  RayScales<Scalar> scales_;
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
