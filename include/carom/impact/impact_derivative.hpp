// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "carom/impact/detail/linearized_laws.hpp"
#include "carom/impact/impact_problem.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One number for each number of an impact's data: a small change of the data, or the gradient of a
/// scalar with respect to the data. The product of the two is the change of the scalar, see dot().
template <RealScalar Scalar>
struct ImpactDifferential {
  /// By p⁻ [N·s, N·m·s], n; by v⁻ [m/s, rad/s] in products of velocities.
  Growing<VectorX<Scalar>> motion;
  Growing<MatrixX<Scalar>> normals;  ///< column i by Dϕ_i, n×n_c, with its original length
  /// By M [kg, kg·m²], n×n, or empty if it is not contained. Only the symmetric part of a change
  /// counts; a gradient is symmetric.
  Growing<MatrixX<Scalar>> mass;
  /// By e_i, n_c, for NewtonImpact; by R, one number, for RestitutionImpact; otherwise empty.
  Growing<VectorX<Scalar>> restitution;

  /// Σ of all products, number by number, over the data that both contain.
  [[nodiscard]] Scalar dot(const ImpactDifferential& other) const noexcept {
    Scalar sum = motion.dot(other.motion) + restitution.dot(other.restitution) +
                 normals.cwiseProduct(other.normals).sum();
    if (mass.size() > 0 && other.mass.size() > 0) sum += mass.cwiseProduct(other.mass).sum();
    return sum;
  }
};

/// The kind of motion that an impact maps.
enum class ImpactMotion { momentum, velocity };

/// The metric of momenta, linearised: the rates s and the Gram matrix G as functions of motion,
/// gradients and mass, and the motion after the impact as a function of the impulses λ.
///
/// Notation: U and W are the matrices with columns u_i and w_i = M⁻¹u_iᵀ, v = M⁻¹p⁻. u_i always has
/// the length 1 in the metric, so that G_ii stays 1.
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

  /// Allocates memory. Cold.
  void prepare(const ImpactProblem<Scalar>& problem) {
    const Index n = problem.size(), count = problem.contact_count();
    for (Matrix* matrix : {&normals_, &responses_, &normal_changes_, &products_}) {
      matrix->grow(n, count);
    }
    for (Vector* vector : {&lengths_, &sums_}) vector->grow(count);
    if (velocity_.size() != n) velocity_.resize(n);
  }

  /// Stores the geometry of an impact of the momentum p⁻.
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

  /// Writes ds and dG.
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
  /// Writes dU λ + U dλ, and for velocities −dM W λ: the contribution of the impact to the change
  /// of motion.
  /// @pre  push() was called with this change.
  void write_gain(const Differential& change, ImpactMotion kind, const Vector& impulses,
                  const Vector& impulse_changes, VectorX<Scalar>& out) const noexcept {
    out.noalias() = normal_changes_ * impulses;
    out.noalias() += normals_ * impulse_changes;
    if (kind == ImpactMotion::velocity && change.mass.size() > 0) {
      out.noalias() -= products_ * impulses;
    }
  }

  /// Writes Uᵀ y, the gradient by λ.
  /// @param y  dc/dp⁺, or M⁻¹ dc/dv⁺.
  void pull_impulses(const VectorX<Scalar>& y, Vector& by_impulses) const noexcept {
    by_impulses.noalias() = normals_.transpose() * y;
  }
  /// Writes the gradient by motion, normals and mass of a scalar. Before the call, its motion is
  /// dc/dp⁺ or dc/dv⁺.
  /// @param y         as in pull_impulses().
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
    // −M̄ = left Wᵀ, one column of W after the other.
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
  /// The factor of the motion before the impact in the rates.
  [[nodiscard]] const Matrix& before(ImpactMotion kind) const noexcept {
    return kind == ImpactMotion::momentum ? responses_ : normals_;
  }

  Matrix normals_, responses_;  ///< U, W
  Vector lengths_;              ///< |Dϕ_i|
  VectorX<Scalar> velocity_;
  Matrix normal_changes_, products_;  ///< of the current product: dU or Ū, dM W or W Ḡ
  Vector sums_;
};

/// Options of ImpactDerivative for coincidences.
template <RealScalar Scalar>
struct ImpactDerivativeOptions {
  /// Two rates are equal, or a rate is zero, if the difference is at most this share of |p⁻|
  /// [-], ≥ 0. With less, rounding decides about balls at rest and symmetric impacts. With more,
  /// contacts are named whose place in the sequence a small change of the data does not change.
  Scalar boundary_tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
};

/// Result of the linearisation of an impact.
enum class ImpactLinearization {
  usable,  ///< Products are available.
  /// The impulses of the law are not those of its sequence: the law has not recorded all
  /// reflections, or has resolved another impact since.
  unrecorded,
  not_finite,  ///< NaN or infinity found.
};

/// Derivative of an impact p⁻ → p⁺ along the reflections that a law chose, including its
/// restitution and its plastic end. The derivative is by p⁻, by the gradients Dϕ_i of the gaps, by
/// M, and by the restitution.
///
/// ```
/// resolver.prepare(problem, 100);                           // room for 100 reflections
/// VectorX<double> after = before;
/// const auto report = resolver.resolve(problem, after);
/// carom::ImpactDerivative<double> derivative;
/// derivative.prepare(problem, 100);
/// if (derivative.linearize(problem, mass, gradients, before, resolver) ==
///     carom::ImpactLinearization::usable) {
///   derivative.set_zero(gradient);
///   derivative.pull_back(cost_by_momentum, gradient);
/// }
/// ```
/// The sequence is fixed, and also the set of contacts that a plastic impact presses together. The
/// result is therefore the derivative for all neighbouring impacts with the same sequence.
/// one_sided() returns the contacts for which the slightest change may change the sequence:
/// examples are balls at rest that touch, and symmetric impacts of contacts that are not
/// orthogonal. The derivative is then that of the actual sequence. boundary() returns `shape` where
/// only changes of normals and masses can change the sequence, for example the order of two
/// orthogonal walls that are hit at once.
///
/// A collapsed impact ends by Moreau's law after a fixed count of bounces. One bounce more or less
/// changes the outcome by less than the collapse threshold, and no contact is named for this. If
/// normals of pressed contacts are linearly dependent, the derivative is along changes of normals
/// and masses that keep them dependent, with impulses of least norm.
/// @note  Real-time safe once prepared: no allocation, no exception. A product costs n_c for each
///        reflection, then n n_c², and n² n_c if it contains the mass.
/// @cite  seghete2014propagative, eqs. (9), (11), (16), differentiated
template <RealScalar Scalar>
class ImpactDerivative {
 public:
  using scalar_type = Scalar;
  using Differential = ImpactDifferential<Scalar>;

  explicit ImpactDerivative(const ImpactDerivativeOptions<Scalar>& options = {}) noexcept
      : options_(options) {
    CAROM_EXPECTS(options.boundary_tolerance >= Scalar(0));
  }

  /// Allocates memory for the problem and a count of reflections, if they are larger than all
  /// before.
  void prepare(const ImpactProblem<Scalar>& problem, Index reflections = 0);

  /// Linearises the impact that a law has just resolved.
  /// @param mass       M⁻¹ as in the calls that added the contacts to the problem.
  /// @param gradients  column i is Dϕ_i, n×n_c, as added to the problem.
  /// @param momentum   p⁻ [N·s, N·m·s], n.
  /// @param law        prepared with memory for all reflections of its sequence.
  /// @pre  the problem is prepared().
  template <InverseMassLike Mass, DifferentiableImpactLaw<Scalar> Law>
  [[nodiscard]] ImpactLinearization linearize(const ImpactProblem<Scalar>& problem,
                                              const Mass& mass, const MatrixX<Scalar>& gradients,
                                              const VectorX<Scalar>& momentum,
                                              const Law& law) noexcept;

  /// The boundary at a contact of the last linearised impact.
  [[nodiscard]] ImpactBoundary boundary(Index contact) const noexcept {
    return law_.boundary(contact);
  }
  /// Contacts at `rest` or in an `order` that the slightest change of the data may change, in
  /// ascending order. Empty if the derivative is two-sided.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept { return one_sided_; }

  /// Sets the sizes of a differential to those of the last linearised impact, and all its numbers
  /// to zero.
  /// @note  Allocates only for sizes larger than all sizes before.
  void set_zero(Differential& differential, bool with_mass = true) const;

  /// Jacobian times vector: the change dp⁺ for a change of the data.
  /// @param momentum_change  dp⁺ [N·s, N·m·s], written, n.
  /// @pre  the last linearisation was usable.
  void push_forward(const Differential& change, VectorX<Scalar>& momentum_change) noexcept;
  /// Transposed Jacobian times vector: the gradient by all data of a scalar.
  /// @param by_momentum  dc/dp⁺, n.
  /// @param gradient     written; set_zero() determines its size and whether it contains M.
  /// @pre  the last linearisation was usable.
  void pull_back(const VectorX<Scalar>& by_momentum, Differential& gradient) noexcept;

  /// The same for velocities: v⁻ → v⁺ = M⁻¹p⁺ with p⁻ = M v⁻.
  /// @param mass             the mass of the linearisation.
  /// @param velocity_change  dv⁺ [m/s, rad/s], written, n.
  template <InverseMassLike Mass>
  void push_forward_velocity(const Mass& mass, const Differential& change,
                             VectorX<Scalar>& velocity_change) noexcept;
  /// @param by_velocity  dc/dv⁺, n.
  template <InverseMassLike Mass>
  void pull_back_velocity(const Mass& mass, const VectorX<Scalar>& by_velocity,
                          Differential& gradient) noexcept;

 private:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  void push_impulses(const Differential& change, ImpactMotion kind) noexcept;
  void pull_impulses(const VectorX<Scalar>& y, ImpactMotion kind, Differential& gradient) noexcept;

  ImpactDerivativeOptions<Scalar> options_;
  LinearizedMetric<Scalar> metric_;
  ImpactImpulses<Scalar> law_;
  std::vector<Index> one_sided_;
  // Of the current product.
  Vector rates_, impulses_, restitution_;
  Matrix gram_;
  VectorX<Scalar> along_;
};

// --- implementation ---

template <RealScalar Scalar>
void ImpactDerivative<Scalar>::prepare(const ImpactProblem<Scalar>& problem, Index reflections) {
  const Index count = problem.contact_count();
  metric_.prepare(problem);
  law_.prepare(problem, reflections);
  for (Vector* vector : {&rates_, &impulses_}) vector->grow(count);
  restitution_.grow(count > 0 ? count : 1);
  gram_.grow(count, count);
  one_sided_.reserve(std::size_t(count));
  if (along_.size() != problem.size()) along_.resize(problem.size());
}

template <RealScalar Scalar>
template <InverseMassLike Mass, DifferentiableImpactLaw<Scalar> Law>
ImpactLinearization ImpactDerivative<Scalar>::linearize(const ImpactProblem<Scalar>& problem,
                                                        const Mass& mass,
                                                        const MatrixX<Scalar>& gradients,
                                                        const VectorX<Scalar>& momentum,
                                                        const Law& law) noexcept {
  CAROM_EXPECTS(problem.prepared());
  CAROM_EXPECTS(mass.size() == problem.size() && momentum.size() == problem.size());
  CAROM_EXPECTS(gradients.rows() == problem.size());
  CAROM_EXPECTS(gradients.cols() == problem.contact_count());
  using std::sqrt;
  one_sided_.clear();
  if (Index(law.impulses().size()) != problem.contact_count()) {
    return ImpactLinearization::unrecorded;
  }
  Index reflections = 0;
  if constexpr (requires { law.sequence(); }) reflections = Index(law.sequence().size());
  prepare(problem, reflections);
  metric_.linearize(problem, mass, gradients, momentum);
  const Scalar scale = sqrt(momentum.dot(metric_.velocity()));
  law_.start(problem, momentum, scale, options_.boundary_tolerance);
  const bool finite = detail::linearize_law(law_, problem, momentum, law);
  for (Index i = 0; i < problem.contact_count(); ++i) {
    if (boundary(i) >= ImpactBoundary::order) one_sided_.push_back(i);
  }
  if (!finite || !detail::is_finite(scale) || !law_.impulses().allFinite()) {
    return ImpactLinearization::not_finite;
  }
  return law_.agree_with(law.impulses()) ? ImpactLinearization::usable
                                         : ImpactLinearization::unrecorded;
}

template <RealScalar Scalar>
void ImpactDerivative<Scalar>::set_zero(Differential& differential, bool with_mass) const {
  const Index n = metric_.size();
  differential.motion.grow(n);
  differential.normals.grow(n, metric_.contact_count());
  differential.mass.grow(with_mass ? n : 0, with_mass ? n : 0);
  differential.restitution.grow(law_.restitution_count());
  differential.motion.setZero(), differential.normals.setZero();
  differential.mass.setZero(), differential.restitution.setZero();
}

/// Writes dλ to impulses_.
template <RealScalar Scalar>
void ImpactDerivative<Scalar>::push_impulses(const Differential& change,
                                             ImpactMotion kind) noexcept {
  CAROM_EXPECTS(change.motion.size() == metric_.size());
  CAROM_EXPECTS(change.normals.cols() == metric_.contact_count());
  CAROM_EXPECTS(change.restitution.size() == law_.restitution_count());
  metric_.push(change, kind, rates_, gram_);
  restitution_.setZero();
  restitution_.head(law_.restitution_count()) = change.restitution;
  law_.push(rates_, gram_, restitution_, impulses_);
}

/// @param gradient  its motion is dc/dp⁺ or dc/dv⁺ before the call.
template <RealScalar Scalar>
void ImpactDerivative<Scalar>::pull_impulses(const VectorX<Scalar>& y, ImpactMotion kind,
                                             Differential& gradient) noexcept {
  CAROM_EXPECTS(gradient.normals.cols() == metric_.contact_count());
  CAROM_EXPECTS(gradient.restitution.size() == law_.restitution_count());
  metric_.pull_impulses(y, impulses_);
  law_.pull(impulses_, rates_, gram_, restitution_);
  gradient.restitution = restitution_.head(law_.restitution_count());
  metric_.pull(y, kind, law_.impulses(), rates_, gram_, gradient);
}

template <RealScalar Scalar>
void ImpactDerivative<Scalar>::push_forward(const Differential& change,
                                            VectorX<Scalar>& momentum_change) noexcept {
  push_impulses(change, ImpactMotion::momentum);
  metric_.write_gain(change, ImpactMotion::momentum, law_.impulses(), impulses_, along_);
  momentum_change = change.motion + along_;
}

template <RealScalar Scalar>
void ImpactDerivative<Scalar>::pull_back(const VectorX<Scalar>& by_momentum,
                                         Differential& gradient) noexcept {
  gradient.motion = by_momentum;
  pull_impulses(by_momentum, ImpactMotion::momentum, gradient);
}

template <RealScalar Scalar>
template <InverseMassLike Mass>
void ImpactDerivative<Scalar>::push_forward_velocity(const Mass& mass, const Differential& change,
                                                     VectorX<Scalar>& velocity_change) noexcept {
  push_impulses(change, ImpactMotion::velocity);
  metric_.write_gain(change, ImpactMotion::velocity, law_.impulses(), impulses_, along_);
  mass.apply_inverse(along_);
  velocity_change = change.motion + along_;
}

template <RealScalar Scalar>
template <InverseMassLike Mass>
void ImpactDerivative<Scalar>::pull_back_velocity(const Mass& mass,
                                                  const VectorX<Scalar>& by_velocity,
                                                  Differential& gradient) noexcept {
  gradient.motion = by_velocity;
  along_ = by_velocity;
  mass.apply_inverse(along_);
  pull_impulses(along_, ImpactMotion::velocity, gradient);
}

}  // namespace CAROM_ABI
}  // namespace carom
