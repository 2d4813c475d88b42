// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/answer/ray_measures.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact that slides in the same direction in all answers, as on a belt or in a guide. Its
/// friction is then known, which may make more proofs possible.
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

/// The statement that a ray must prove, and additional knowledge.
template <RealScalar Scalar>
struct InfeasibilityOptions {
  /// X: the proof is that no answer has ‖v − v*‖_A ≤ X [√J], the root of twice an energy, ≥ 0. The
  /// default 0 means no bound: then only a ray that cancels to the last digit proves the statement,
  /// because an answer may have any speed. Set a bound to exclude answers that are faster than
  /// everything in the scene.
  Scalar velocity_bound = 0;
  /// Contacts that slide; the convex law does not use them.
  std::vector<KnownSlide<Scalar>> slides = {};
};

/// The strength of the proof by a ray r that a problem has no answer. It is computed from the ray
/// only.
/// A ray is a set of impulses that act on the bodies without moving them, Jᵀr = 0, although the
/// gaps require motion: drive = v̂·r > 0. No velocity satisfies such gaps. Before the measurement,
/// the ray is moved to its cone and scaled such that its rows without cancellation would move the
/// bodies by 1 √J; no measure depends on its size. Under Coulomb's law only the normals of contacts
/// count, and rows between bounds.
///
/// Jᵀr counts as zero if for each body it may be only the rounding of the terms that cancel in it.
/// v̂·r counts as positive if it is larger than the possible rounding of gaps. A ray that moves a
/// body, even by little, has drive −q·r and bounds the speed of an answer: none has
/// ‖v − v*‖_A < velocity_needed. This is a proof only up to a given bound. Large impulses prove
/// nothing: heavy bodies on light ones need them.
template <RealScalar Scalar>
struct InfeasibilityCertificate {
  /// Whether it is proven that no answer exists, or none up to the given velocity bound: the ray is
  /// exact, velocity_needed exceeds the bound, or known friction cancels the contribution of each
  /// normal impulse.
  bool infeasible = false;
  /// ‖r − P(r)‖ relative to ‖r‖, both in ‖J_kᵀ‖ |r_k| over the rows k [-]: the distance of the
  /// given ray from the measured one. Infinite if an entry is not finite, or one of W or q.
  Scalar cone_violation = 0;
  Index cone_violation_block = -1;  ///< farthest outside; −1 if all are inside
  /// ‖Jᵀr‖_{A⁻¹} relative to √(Σ ‖J_kᵀ‖²_{A⁻¹} r_k²), its value without cancellation [-], and at
  /// least its rounding. 0 if it may be zero for each body.
  Scalar cancellation = 0;
  /// −q·r, or v̂·r if Jᵀr = 0, minus the possible contribution of rounding [√J].
  Scalar drive = 0;
  /// drive/cancellation [√J]; 0 without a drive. With compliant contacts, or R of other rows, it
  /// bounds √(‖v − v*‖²_A + ‖γ‖²_R) instead.
  Scalar velocity_needed = 0;
  /// Under Coulomb's law no answer within the velocity bound has √(Σ w γₙ²) < impulse_needed [√J],
  /// where w is the inverse mass along the normal; for rows between bounds it is the largest of
  /// their inverse masses. Infinite if no impulse is sufficient, and 0 without a drive and under
  /// the convex law. A finite number is a lower bound of the impulses, which may have any size, and
  /// is not a proof.
  Scalar impulse_needed = 0;
  /// The drive without cancellation [√J]: Σ |q_k r_k| of the scaled ray, under the convex law Σ ‖q‖
  /// ‖r‖ over the parts. It is the scale of the problem's own velocities.
  Scalar velocity_scale = 0;
  Scalar velocity_bound = 0;  ///< X of the options; infinite if there was none [√J]
  Index slides_proven = 0;    ///< count of the options' slides that the multipliers prove up to X
};

/// Measures a ray of a problem in impulses. Only (W + R) r is known of Jᵀr, and only q of v̂ and
/// v*: if the bodies are known, use the other form.
/// @param ray  r, row_count(). Any entries are valid.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] InfeasibilityCertificate<Scalar> certify_infeasible(
    const DelassusProblem<Scalar>& problem, FrictionLaw law, const VectorX<Scalar>& ray,
    const InfeasibilityOptions<Scalar>& options = {});

/// Measures a ray of a problem given by bodies.
/// @param ray  r, impulse_count(). Any entries are valid.
/// @note  Cold: allocates; time and memory are proportional to bodies and contacts.
template <RealScalar Scalar>
[[nodiscard]] InfeasibilityCertificate<Scalar> certify_infeasible(
    const ContactProblem<Scalar>& problem, FrictionLaw law, const VectorX<Scalar>& ray,
    const InfeasibilityOptions<Scalar>& options = {});

// --- implementation ---

namespace detail {

/// A slide that is known up to the velocity bound: t and its largest possible deviation.
template <RealScalar Scalar>
struct ProvenSlide {
  Index contact;
  Vector<Scalar, 2> direction;
  Scalar deviation;
};

/// Computes the certificate of one ray.
/// @tparam Measures  computes the momentum Jᵀr, from W or from the bodies: net(r),
///                   load_rounding(r).
template <RealScalar Scalar, typename Measures>
class RayJudge {
 public:
  RayJudge(const DelassusProblem<Scalar>& problem, const Measures& measures, FrictionLaw law)
      : problem_(problem), measures_(measures), law_(law), load_(load_rows(problem)) {}

  [[nodiscard]] InfeasibilityCertificate<Scalar> judge(
      const VectorX<Scalar>& given, const InfeasibilityOptions<Scalar>& options) {
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    InfeasibilityCertificate<Scalar> result;
    if (!given.allFinite() || !problem_.is_finite()) {
      result.cone_violation = infinity;
      return result;
    }
    VectorX<Scalar> ray = given;
    // The entries become at most one, so that their squares stay in the range of the type.
    if (const Scalar largest = ray.size() > 0 ? ray.cwiseAbs().maxCoeff() : Scalar(0);
        largest > Scalar(0)) {
      ray /= largest;
    }
    write_violation(ray, result);
    ray = ray_in_cone(problem_, law_, ray);
    const Scalar gross = gross_norm(problem_, ray), norm = gross > Scalar(0) ? gross : ray.norm();
    if (!(norm > Scalar(0))) return result;
    ray /= norm;
    result.cancellation = measures_.net(ray);
    result.velocity_scale = drive_scale(ray);
    result.velocity_bound = options.velocity_bound > Scalar(0) ? options.velocity_bound : infinity;
    std::vector<ProvenSlide<Scalar>> slides;
    if (law_ == FrictionLaw::coulomb) slides = prove(options.slides, result.velocity_bound);
    result.slides_proven = Index(slides.size());
    result.drive = drive_of(ray, result.cancellation);
    if (!(result.drive > Scalar(0))) return result;
    const bool exact = !(result.cancellation > Scalar(0));
    result.velocity_needed = exact ? infinity : Scalar(result.drive / result.cancellation);
    result.infeasible = exact || result.velocity_needed > result.velocity_bound;
    if (law_ == FrictionLaw::convex) return result;
    result.impulse_needed = impulse_needed(ray, result.drive, slides);
    // Without a slide impulse_needed is infinite for exact rays only.
    const bool jammed = !slides.empty() && !is_finite(result.impulse_needed);
    result.infeasible = result.infeasible || jammed;
    return result;
  }

 private:
  void write_violation(const VectorX<Scalar>& ray, InfeasibilityCertificate<Scalar>& result) const {
    using std::sqrt;
    const VectorX<Scalar> outside = ray - ray_in_cone(problem_, law_, ray);
    Scalar largest(0), squared(0), whole(0);
    for (Index i = 0; i < problem_.count(); ++i) {
      Scalar part(0);
      const Scalar heaviest = largest_inverse_mass(problem_, i);
      for (int r = 0; r < problem_.set(i).rows; ++r) {
        const Scalar own = row_inverse_mass(problem_, i, r), w = own > Scalar(0) ? own : heaviest;
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
  /// The size of the terms of −q·r: Σ |q_k r_k|; under the convex law, where a ray rotates with the
  /// load, Σ ‖q_p‖ ‖r_p‖ over the parts.
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
  /// −q·r minus its possible rounding.
  [[nodiscard]] Scalar drive_of(const VectorX<Scalar>& ray, const Scalar& net) const {
    return measures_.load(ray, !(net > Scalar(0))).drive();
  }
  /// The possible effect of a net momentum within the bound.
  [[nodiscard]] static Scalar reach(const Scalar& net, const Scalar& bound) {
    return net > Scalar(0) ? Scalar(net * bound) : Scalar(0);
  }

  /// The slides whose multipliers are valid for velocities up to the bound.
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
      const Scalar net = measures_.net(along), net_across = measures_.net(across);
      const Scalar least = drive_of(-along, net) - reach(net, bound);
      if (!(least > Scalar(0))) continue;
      const RayLoad<Scalar> load = measures_.load(across, !(net_across > Scalar(0)));
      Scalar aside = reach(net_across, bound);
      if (std::abs(load.value) > load.rounding) aside += std::abs(load.value);
      if (!is_finite(aside)) continue;
      proven.push_back({slide.contact, t, aside / least});
    }
    return proven;
  }

  /// The weight of normal impulses in y·u = q·y + z·γ ≥ 0, z = (W + R) y, bounded such that it can
  /// only help.
  [[nodiscard]] Scalar impulse_needed(const VectorX<Scalar>& ray, const Scalar& drive,
                                      const std::vector<ProvenSlide<Scalar>>& slides) const {
    using std::sqrt;
    const RayProducts<VectorX<Scalar>> products = measures_.products(ray);
    Scalar left = drive, squared(0);
    for (Index i = 0; i < problem_.count(); ++i) {
      const ImpulseSet<Scalar>& set = problem_.set(i);
      const RayProducts<RowNumbers<Scalar>> z{contact_rows(problem_, i, products.rows),
                                              contact_rows(problem_, i, products.errors)};
      const auto known = std::find_if(slides.begin(), slides.end(),
                                      [i](const auto& slide) { return slide.contact == i; });
      const Support<Scalar> support =
          known != slides.end() ? support_of_slide(set, z, known->direction, known->deviation)
                                : support_of(set, z);
      left -= support.constant;
      const Scalar& slope = support.slope;
      if (slope > Scalar(0)) squared += slope * slope / normal_inverse_mass(problem_, i);
    }
    if (!(left > Scalar(0))) return Scalar(0);
    return squared > Scalar(0) ? left / sqrt(squared) : std::numeric_limits<Scalar>::infinity();
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
