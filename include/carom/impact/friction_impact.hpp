// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "carom/impact/impact_report.hpp"
#include "carom/impact/mass_matrix.hpp"
#include "carom/impact/planar_friction.hpp"

namespace carom::inline CAROM_ABI {

/// Law of a single planar contact with friction, propagated over all of them.
enum class FrictionImpactLaw {
  routh,   ///< Routh's course with Stronge's energetic restitution.
  moreau,  ///< projection onto the friction cone in the metric, times 1 + e.
};

/// Which closed contact acts next.
enum class FrictionImpactOrder {
  most_infeasible,  ///< the largest closing speed.
  by_index,         ///< the first closing one, from the last that acted on.
};

/// Simultaneous impacts with Coulomb friction in the plane, one contact at a time.
///
/// Friction breaks what orthogonal normals promise: the outcome may depend on the order even then.
/// No single impact gains energy, so propagation does not either; an infinite series of ever weaker
/// impacts is cut at the collapse threshold, and the status says so: some contacts then close
/// still, slower than the threshold.
/// @cite stronge1990rigid; moreau1988unilateral, propagated from contact to contact
template <RealScalar Scalar>
class FrictionImpact {
 public:
  /// @param collapse_threshold  closing rates below this fraction of the first fastest one end the
  ///                            propagation [-], > 0. Smaller takes more impacts before giving up.
  explicit FrictionImpact(FrictionImpactLaw law = FrictionImpactLaw::routh,
                          FrictionImpactOrder order = FrictionImpactOrder::most_infeasible,
                          Scalar collapse_threshold = Scalar(1e-9)) noexcept
      : law_(law), order_(order), threshold_(collapse_threshold) {
    CAROM_EXPECTS(collapse_threshold > Scalar(0));
  }

  /// Forgets all contacts.
  void reset() noexcept { contacts_.clear(); }

  /// Adds a closed contact.
  /// @param normal       gradient Dϕ of the gap [-], its length gives the unit of impulses.
  /// @param tangent      gradient of the sliding displacement, same unit.
  /// @param friction     μ [-], ≥ 0.  @param restitution  e [-], in [0, 1].
  /// @note  Cold: allocates, throws std::invalid_argument naming the contact.
  template <InverseMassLike Mass>
  Index add_contact(const Mass& mass, const VectorX<Scalar>& normal, const VectorX<Scalar>& tangent,
                    const Scalar& friction, const Scalar& restitution) {
    const std::string item = "contact " + std::to_string(contacts_.size());
    if (normal.size() != mass.size() || tangent.size() != mass.size()) {
      detail::reject_if(item + ": expected gradients as long as the mass matrix");
    }
    detail::reject_if(detail::finite_fault(item + ": normal", normal));
    detail::reject_if(detail::finite_fault(item + ": tangent", tangent));
    if (!(friction >= Scalar(0)) || !detail::is_finite(friction)) {
      detail::reject_if(detail::fault(item + ": friction", "a finite number >= 0", friction));
    }
    if (!(restitution >= Scalar(0) && restitution <= Scalar(1))) {
      detail::reject_if(detail::fault(item + ": restitution", "a number in [0, 1]", restitution));
    }
    Contact contact;
    contact.gradients.resize(mass.size(), 2);
    contact.gradients << tangent, normal;
    contact.responses = contact.gradients;
    for (int k = 0; k < 2; ++k) {
      VectorX<Scalar> response = contact.gradients.col(k);
      mass.apply_inverse(response);
      contact.responses.col(k) = response;
    }
    contact.impact.inverse_mass = contact.gradients.transpose().lazyProduct(contact.responses);
    contact.impact.friction = friction;
    contact.impact.restitution = restitution;
    const auto& w = contact.impact.inverse_mass;
    if (!(w(1, 1) > Scalar(0)) || !(w(0, 0) * w(1, 1) - w(0, 1) * w(1, 0) > Scalar(0))) {
      detail::reject_if(item + ": expected a tangent and a normal independent of each other");
    }
    contacts_.push_back(std::move(contact));
    return Index(contacts_.size()) - 1;
  }

  /// Resolves an impact: p⁻ in, p⁺ out.
  /// @note  Real-time safe: no allocation, no exception, at most options.reflection_limit impacts.
  ImpactReport<Scalar> resolve(VectorX<Scalar>& momentum,
                               const ImpactOptions<Scalar>& options = {}) noexcept {
    CAROM_EXPECTS(contacts_.empty() || momentum.size() == contacts_[0].gradients.rows());
    ImpactReport<Scalar> report;
    if (!momentum.allFinite()) return report;
    const Scalar fastest = fastest_closing(momentum);
    const Scalar resting = options.tolerance * closing_scale(momentum);
    const Scalar least = std::max(resting, Scalar(threshold_ * fastest));
    report.status = ImpactStatus::resolved;
    for (std::size_t last = contacts_.size() - 1; !contacts_.empty();) {
      std::size_t next = contacts_.size();
      Scalar speed = least;
      for (std::size_t k = 1; k <= contacts_.size(); ++k) {
        const std::size_t i = (last + k) % contacts_.size();
        const Scalar closing = -contacts_[i].responses.col(1).dot(momentum);
        if (!(closing > speed)) continue;
        next = i;
        speed = closing;
        if (order_ == FrictionImpactOrder::by_index) break;
      }
      if (next == contacts_.size()) break;
      if (report.reflections == options.reflection_limit) {
        report.status = ImpactStatus::reflection_limit;
        break;
      }
      act(contacts_[next], momentum, report);
      last = next;
    }
    const bool closing = fastest_closing(momentum) > resting;
    if (report.status == ImpactStatus::resolved && closing) report.status = ImpactStatus::collapsed;
    return report;
  }

 private:
  struct Contact {
    Eigen::Matrix<Scalar, Eigen::Dynamic, 2> gradients;  ///< (tangent, normal)
    Eigen::Matrix<Scalar, Eigen::Dynamic, 2> responses;  ///< M⁻¹ of them
    PlanarImpact<Scalar> impact;
  };

  [[nodiscard]] Scalar fastest_closing(const VectorX<Scalar>& momentum) const noexcept {
    Scalar fastest = 0;
    for (const Contact& c : contacts_) {
      fastest = std::max(fastest, Scalar(-c.responses.col(1).dot(momentum)));
    }
    return fastest;
  }

  /// What round-off of closing rates is relative to: their sums without cancellation.
  [[nodiscard]] Scalar closing_scale(const VectorX<Scalar>& momentum) const noexcept {
    using std::abs;
    Scalar scale = 0;
    for (const Contact& c : contacts_) {
      Scalar sum = 0;
      for (Index i = 0; i < momentum.size(); ++i) sum += abs(c.responses(i, 1) * momentum(i));
      scale = std::max(scale, sum);
    }
    return scale;
  }

  void act(Contact& contact, VectorX<Scalar>& momentum, ImpactReport<Scalar>& report) noexcept {
    PlanarImpact<Scalar>& impact = contact.impact;
    impact.velocity << contact.responses.col(0).dot(momentum),
        contact.responses.col(1).dot(momentum);
    const Vector<Scalar, 2> impulse =
        law_ == FrictionImpactLaw::routh ? routh_impulse(impact) : moreau_impulse(impact);
    for (int k = 0; k < 2; ++k) momentum += impulse(k) * contact.gradients.col(k);
    report.energy_gain +=
        impulse.dot(impact.velocity) + impulse.dot(impact.inverse_mass * impulse) / 2;
    ++report.reflections;
  }

  FrictionImpactLaw law_;
  FrictionImpactOrder order_;
  Scalar threshold_;
  std::vector<Contact> contacts_;
};

}  // namespace carom::inline CAROM_ABI
