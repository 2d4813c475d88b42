// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/impact/impact_problem.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One number for each number of an impact's data: a small change of the data, or the gradient of a
/// scalar with respect to them. Their product is the scalar's change, see dot().
template <RealScalar Scalar>
struct ImpactDifferential {
  /// Of p⁻ [N·s, N·m·s], n; of v⁻ [m/s, rad/s] in products of velocities.
  Growing<VectorX<Scalar>> motion;
  Growing<MatrixX<Scalar>> normals;  ///< column i of Dϕ_i, n×n_c, as long as it was given
  /// Of M [kg, kg·m²], n×n, or empty where it is not covered. A change counts by its symmetric
  /// part; a gradient is symmetric.
  Growing<MatrixX<Scalar>> mass;
  /// Of e_i, n_c, for NewtonImpact; of R, one number, for RestitutionImpact; else empty.
  Growing<VectorX<Scalar>> restitution;

  /// Σ of all products, number by number, over what both cover.
  [[nodiscard]] Scalar dot(const ImpactDifferential& other) const noexcept {
    Scalar sum = motion.dot(other.motion) + restitution.dot(other.restitution) +
                 normals.cwiseProduct(other.normals).sum();
    if (mass.size() > 0 && other.mass.size() > 0) sum += mass.cwiseProduct(other.mass).sum();
    return sum;
  }
};

/// Which motion an impact maps.
enum class ImpactMotion { momentum, velocity };

/// The metric of momenta linearised: how rates s and the Gram matrix G follow from motion,
/// gradients and mass, and the motion after the impact from impulses λ.
///
/// Notation: U, W the matrices of columns u_i and w_i = M⁻¹u_iᵀ, v = M⁻¹p⁻. u_i has the length 1
/// in the metric whatever changes, so that G_ii stays 1.
///
///     ds_i  = w_i·dp + v·du_i − v·dM w_i,  or  u_i·dv + v·du_i of velocities,
///     dG_ij = w_j·du_i + w_i·du_j − w_i·dM w_j,
///     du_i  = (dDϕ_i − (w_i·dDϕ_i) u_i)/|Dϕ_i| + ½ (w_i·dM w_i) u_i,
///     dp⁺   = dp + dU λ + U dλ,  or  dv⁺ = dv + M⁻¹(dU λ + U dλ − dM W λ).
template <RealScalar Scalar>
class LinearizedMetric {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;
  using Differential = ImpactDifferential<Scalar>;

  /// Grows memory. Cold: allocates.
  void prepare(const ImpactProblem<Scalar>& problem) {
    const Index n = problem.size(), count = problem.contact_count();
    for (Matrix* matrix : {&normals_, &responses_, &normal_changes_, &products_}) {
      matrix->grow(n, count);
    }
    for (Vector* vector : {&lengths_, &sums_}) vector->grow(count);
    if (velocity_.size() != n) velocity_.resize(n);
  }

  /// Takes the geometry of an impact of the momentum p⁻.
  template <InverseMassLike Mass>
  void linearize(const ImpactProblem<Scalar>& problem, const Mass& mass,
                 const MatrixX<Scalar>& gradients, const VectorX<Scalar>& momentum) noexcept {
    normals_.setZero(), responses_.setZero();
    for (Index i = 0; i < problem.contact_count(); ++i) {
      for (const auto& e : problem.normal(i)) normals_(e.index, i) = e.value;
      for (const auto& e : problem.response(i)) responses_(e.index, i) = e.value;
      lengths_(i) = gradients.col(i).dot(responses_.col(i));
    }
    velocity_ = momentum;
    mass.apply_inverse(velocity_);
  }
  /// v⁻.
  [[nodiscard]] const VectorX<Scalar>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] Index size() const noexcept { return normals_.rows(); }
  [[nodiscard]] Index contact_count() const noexcept { return normals_.cols(); }

  /// ds and dG, written.
  void push(const Differential& change, ImpactMotion kind, Vector& rates, Matrix& gram) noexcept {
    const bool has_mass = change.mass.size() > 0;
    if (has_mass) {
      products_.noalias() = change.mass.lazyProduct(responses_);
      products_.noalias() += change.mass.transpose().lazyProduct(responses_);
      products_ /= Scalar(2);
    }
    for (Index i = 0; i < contact_count(); ++i) {
      const Scalar along = responses_.col(i).dot(change.normals.col(i));
      normal_changes_.col(i) = (change.normals.col(i) - along * normals_.col(i)) / lengths_(i);
      if (has_mass) {
        const Scalar stretch = responses_.col(i).dot(products_.col(i)) / 2;
        normal_changes_.col(i) += stretch * normals_.col(i);
      }
    }
    rates.noalias() = normal_changes_.transpose() * velocity_;
    rates.noalias() += before(kind).transpose() * change.motion;
    gram.noalias() = normal_changes_.transpose().lazyProduct(responses_);
    gram.noalias() += responses_.transpose().lazyProduct(normal_changes_);
    if (has_mass) {
      gram.noalias() -= responses_.transpose().lazyProduct(products_);
      if (kind == ImpactMotion::momentum) rates.noalias() -= products_.transpose() * velocity_;
    }
    gram.diagonal().setZero();
  }
  /// dU λ + U dλ, and −dM W λ for velocities, written: what the impact adds to the change of
  /// motion.
  /// @pre  push() was called with this change.
  void write_gain(const Differential& change, ImpactMotion kind, const Vector& impulses,
                  const Vector& impulse_changes, VectorX<Scalar>& out) const noexcept {
    out.noalias() = normal_changes_ * impulses;
    out.noalias() += normals_ * impulse_changes;
    if (kind == ImpactMotion::velocity && change.mass.size() > 0) {
      out.noalias() -= products_ * impulses;
    }
  }

  /// Uᵀ y, the gradient by λ, written.
  /// @param y  dc/dp⁺, or M⁻¹ dc/dv⁺.
  void pull_impulses(const VectorX<Scalar>& y, Vector& by_impulses) const noexcept {
    by_impulses.noalias() = normals_.transpose() * y;
  }
  /// The gradient by motion, normals and mass of a scalar, written; its motion holds dc/dp⁺ or
  /// dc/dv⁺ before.
  /// @param y         as for pull_impulses().
  /// @param impulses  λ.
  /// @param by_gram   dc/dG; overwritten.
  void pull(const VectorX<Scalar>& y, ImpactMotion kind, const Vector& impulses,
            const Vector& by_rates, Matrix& by_gram, Differential& gradient) noexcept {
    gradient.motion.noalias() += before(kind) * by_rates;
    by_gram.diagonal().setZero();
    products_.noalias() = responses_.lazyProduct(by_gram);
    auto& by_normals = normal_changes_;
    by_normals = products_;
    by_normals.noalias() += responses_.lazyProduct(by_gram.transpose());
    by_normals.noalias() += y * impulses.transpose();
    by_normals.noalias() += velocity_ * by_rates.transpose();
    for (Index i = 0; i < contact_count(); ++i) {
      sums_(i) = normals_.col(i).dot(by_normals.col(i));
      gradient.normals.col(i) = (by_normals.col(i) - sums_(i) * responses_.col(i)) / lengths_(i);
    }
    if (gradient.mass.size() == 0) return;
    // −M̄ = left Wᵀ, column by column of W.
    auto& left = products_;
    for (Index i = 0; i < contact_count(); ++i) {
      left.col(i) -= sums_(i) / 2 * responses_.col(i);
      left.col(i) += kind == ImpactMotion::velocity ? impulses(i) * y : by_rates(i) * velocity_;
    }
    gradient.mass.noalias() = left.lazyProduct(responses_.transpose());
    for (Index c = 0; c < size(); ++c) {
      for (Index r = 0; r <= c; ++r) {
        const Scalar sum = gradient.mass(r, c) + gradient.mass(c, r);
        gradient.mass(r, c) = gradient.mass(c, r) = -sum / 2;
      }
    }
  }

 private:
  /// What the motion before is multiplied with to give rates.
  [[nodiscard]] const Matrix& before(ImpactMotion kind) const noexcept {
    return kind == ImpactMotion::momentum ? responses_ : normals_;
  }

  Matrix normals_, responses_;  ///< U, W
  Vector lengths_;              ///< |Dϕ_i|
  VectorX<Scalar> velocity_;
  Matrix normal_changes_, products_;  ///< of the product being computed: dU or Ū, dM W or W Ḡ
  Vector sums_;
};

}  // namespace CAROM_ABI
}  // namespace carom
