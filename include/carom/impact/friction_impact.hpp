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
#include "carom/impact/spatial_friction.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Law of a single contact with friction. It is propagated over all contacts.
enum class FrictionImpactLaw {
  routh,   ///< Routh's method with Stronge's energetic restitution; planar contacts only.
  moreau,  ///< projection onto the friction cone in the metric, times 1 + e.
};

/// Which closed contact acts next.
enum class FrictionImpactOrder {
  most_infeasible,  ///< the largest closing speed.
  by_index,         ///< the first closing one, counted from the last contact that acted.
};

/// Simultaneous impacts with Coulomb friction, planar or spatial, one contact at a time.
///
/// With friction the outcome may depend on the order even if normals are orthogonal. No single
/// impact gains energy, so the sequence does not gain energy either. An infinite series of
/// decreasing impacts ends at the collapse threshold, and the status states this: some contacts
/// then still close, but slower than the threshold.
/// @cite stronge1990rigid; moreau1988unilateral, propagated from contact to contact
template <RealScalar Scalar>
class FrictionImpact {
 public:
  /// @param collapse_threshold  the impact ends when all closing rates are below this fraction of
  ///                            the largest rate before the impact [-], > 0. With a smaller one,
  ///                            there are more impacts. With a larger one, the remaining closing
  ///                            rates are larger. Other values than the default were not measured.
  explicit FrictionImpact(FrictionImpactLaw law = FrictionImpactLaw::routh,
                          FrictionImpactOrder order = FrictionImpactOrder::most_infeasible,
                          Scalar collapse_threshold = Scalar(1e-9))
      : law_(law), order_(order), threshold_(collapse_threshold) {
    detail::reject_if(detail::collapse_fault(collapse_threshold));
  }

  /// Removes all contacts.
  void reset() noexcept { contacts_.clear(); }

  /// Adds a closed planar contact.
  /// @param normal       gradient Dϕ of the gap [-]; its length determines the unit of impulses.
  /// @param tangent      gradient of the sliding displacement, same unit.
  /// @param friction     μ [-], ≥ 0.
  /// @param restitution  e [-], in [0, 1].
  /// @note  Cold: allocates, throws std::invalid_argument naming the contact.
  template <InverseMassLike Mass>
  Index add_contact(const Mass& mass, const VectorX<Scalar>& normal, const VectorX<Scalar>& tangent,
                    const Scalar& friction, const Scalar& restitution) {
    check_gradient(mass.size(), ": normal", normal);
    check_gradient(mass.size(), ": tangent", tangent);
    MatrixX<Scalar> gradients(mass.size(), 2);
    gradients << tangent, normal;
    return add(mass, std::move(gradients), friction, restitution);
  }

  /// Adds a closed spatial contact, under the law `moreau`.
  /// @param first_tangent, second_tangent  gradients of the sliding displacement along two
  ///                                       orthogonal directions of the contact plane.
  /// @note  Cold: allocates, throws std::invalid_argument naming the contact.
  template <InverseMassLike Mass>
  Index add_contact(const Mass& mass, const VectorX<Scalar>& normal,
                    const VectorX<Scalar>& first_tangent, const VectorX<Scalar>& second_tangent,
                    const Scalar& friction, const Scalar& restitution) {
    if (law_ == FrictionImpactLaw::routh) {
      detail::reject_if(item() + ": expected the law moreau for a spatial contact, got routh");
    }
    check_gradient(mass.size(), ": normal", normal);
    check_gradient(mass.size(), ": first tangent", first_tangent);
    check_gradient(mass.size(), ": second tangent", second_tangent);
    MatrixX<Scalar> gradients(mass.size(), 3);
    gradients << first_tangent, second_tangent, normal;
    return add(mass, std::move(gradients), friction, restitution);
  }

  /// Resolves an impact: p⁻ is replaced by p⁺.
  /// @note  Real-time safe: no allocation, no exception, at most options.reflection_limit impacts.
  ImpactReport<Scalar> resolve(VectorX<Scalar>& momentum,
                               const ImpactOptions<Scalar>& options = {}) noexcept {
    CAROM_EXPECTS(check(options).empty());
    CAROM_EXPECTS(contacts_.empty() || momentum.size() == contacts_[0].gradients.rows());
    ImpactReport<Scalar> report;
    if (!momentum.allFinite()) return report;
    const Scalar fastest = fastest_closing(momentum);
    const Scalar resting = options.tolerance * closing_scale(momentum);
    const Scalar least = (std::max)(resting, Scalar(threshold_ * fastest));
    report.status = ImpactStatus::resolved;
    for (std::size_t last = contacts_.size() - 1; !contacts_.empty();) {
      std::size_t next = contacts_.size();
      Scalar speed = least;
      for (std::size_t k = 1; k <= contacts_.size(); ++k) {
        const std::size_t i = (last + k) % contacts_.size();
        const Scalar closing = -contacts_[i].normal_response().dot(momentum);
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
    MatrixX<Scalar> gradients;             ///< (tangents, normal)
    MatrixX<Scalar> responses;             ///< M⁻¹ of them
    SquareMatrix<Scalar, 3> inverse_mass;  ///< W, its leading block when planar
    Scalar friction, restitution;

    [[nodiscard]] auto normal_response() const noexcept {
      return responses.col(responses.cols() - 1);
    }
  };

  [[nodiscard]] std::string item() const { return "contact " + std::to_string(contacts_.size()); }

  void check_gradient(Index size, const char* name, const VectorX<Scalar>& gradient) const {
    if (gradient.size() != size) {
      detail::reject_if(item() + ": expected gradients as long as the mass matrix");
    }
    if (!gradient.allFinite()) detail::reject_if(detail::finite_fault(item() + name, gradient));
  }

  template <InverseMassLike Mass>
  Index add(const Mass& mass, MatrixX<Scalar> gradients, const Scalar& friction,
            const Scalar& restitution) {
    if (!detail::is_nonnegative(friction)) {
      detail::reject_if(detail::fault(item() + ": friction", "a finite number >= 0", friction));
    }
    if (const Fault fault = detail::restitution_fault(restitution); !fault.empty()) {
      detail::reject_if(item() + ": " + fault);
    }
    Contact contact{gradients, gradients, SquareMatrix<Scalar, 3>::Identity(), friction,
                    restitution};
    const Index count = gradients.cols();
    for (Index k = 0; k < count; ++k) {
      VectorX<Scalar> response = gradients.col(k);
      mass.apply_inverse(response);
      contact.responses.col(k) = response;
    }
    contact.inverse_mass.topLeftCorner(count, count) =
        gradients.transpose().lazyProduct(contact.responses);
    SquareMatrix<Scalar, 3> lower = contact.inverse_mass;
    if (!factor_cholesky(lower.data(), 3, 3)) {
      detail::reject_if(
          item() + (count == 2 ? ": expected a tangent and a normal independent of each other"
                               : ": expected tangents and a normal independent of each other"));
    }
    contacts_.push_back(std::move(contact));
    return Index(contacts_.size()) - 1;
  }

  [[nodiscard]] Scalar fastest_closing(const VectorX<Scalar>& momentum) const noexcept {
    Scalar fastest = 0;
    for (const Contact& c : contacts_) {
      fastest = (std::max)(fastest, Scalar(-c.normal_response().dot(momentum)));
    }
    return fastest;
  }

  /// The reference of the rounding of closing rates: their sums without cancellation.
  [[nodiscard]] Scalar closing_scale(const VectorX<Scalar>& momentum) const noexcept {
    using std::abs;
    Scalar scale = 0;
    for (const Contact& c : contacts_) {
      Scalar sum = 0;
      for (Index i = 0; i < momentum.size(); ++i) sum += abs(c.normal_response()(i) * momentum(i));
      scale = (std::max)(scale, sum);
    }
    return scale;
  }

  /// Impulse (tangents, normal) of one contact with velocity u.
  [[nodiscard]] Vector3<Scalar> impulse_of(const Contact& contact,
                                           const Vector3<Scalar>& u) const noexcept {
    const auto& w = contact.inverse_mass;
    if (contact.gradients.cols() == 3) {
      return moreau_impulse(SpatialImpact<Scalar>{w, u, contact.friction, contact.restitution});
    }
    const PlanarImpact<Scalar> planar{w.template topLeftCorner<2, 2>(), u.template head<2>(),
                                      contact.friction, contact.restitution};
    const Vector<Scalar, 2> impulse =
        law_ == FrictionImpactLaw::routh ? routh_impulse(planar) : moreau_impulse(planar);
    return {impulse(0), impulse(1), Scalar(0)};
  }

  void act(const Contact& contact, VectorX<Scalar>& momentum,
           ImpactReport<Scalar>& report) const noexcept {
    Vector3<Scalar> u(Scalar(0), Scalar(0), Scalar(0));
    for (Index k = 0; k < contact.responses.cols(); ++k) {
      u(k) = contact.responses.col(k).dot(momentum);
    }
    const Vector3<Scalar> impulse = impulse_of(contact, u);
    for (Index k = 0; k < contact.gradients.cols(); ++k) {
      momentum += impulse(k) * contact.gradients.col(k);
    }
    report.energy_gain += impulse.dot(u) + impulse.dot(contact.inverse_mass * impulse) / 2;
    ++report.reflections;
  }

  FrictionImpactLaw law_;
  FrictionImpactOrder order_;
  Scalar threshold_;
  std::vector<Contact> contacts_;
};

}  // namespace CAROM_ABI
}  // namespace carom
