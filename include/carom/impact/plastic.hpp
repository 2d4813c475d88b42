// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "carom/impact/equivalent_contacts.hpp"
#include "carom/impact/impact_problem.hpp"
#include "carom/impact/impact_report.hpp"
#include "carom/impact/wedge.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/nonnegative_least_squares.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Perfectly plastic impact.
enum class PlasticLaw {
  moreau,  ///< argmin |q − p| with ⟨q, u_i⟩ ≥ 0: contacts only push (λ ≥ 0).
  bilateral,  ///< argmin |q − p| with ⟨q, u_i⟩ = 0 for all contacts: negative impulses are allowed.
};

/// Projects momenta onto the set that closed contacts allow, in the kinetic metric.
///
/// In contact space: Moreau's law is min ½ λᵀGλ + sᵀλ over λ ≥ 0. The bilateral law is G λ = −s,
/// with least norm if the normals are linearly dependent. In this case Moreau's law assigns equal
/// impulses to equivalent contacts, see EquivalentContacts. Both laws lose energy; Moreau's law
/// loses no more than any other feasible outcome.
/// @cite seghete2014propagative, eq. (11); moreau1962decomposition
template <RealScalar Scalar>
class PlasticImpact {
 public:
  explicit PlasticImpact(PlasticLaw law = PlasticLaw::moreau) noexcept : law_(law) {}

  /// Allocates memory for problems with up to `count` contacts. Cold.
  void grow(Index count) {
    gram_.grow(count, count);
    squares_.prepare(count);
    equivalent_.prepare(count);
    for (Vector* vector : {&linear_, &rates_, &impulse_, &image_, &residual_, &direction_}) {
      vector->grow(count);
    }
  }

  /// Allocates memory for the problem, if it is larger than every problem before.
  void prepare(const ImpactProblem<Scalar>& problem) {
    problem.require_prepared();
    grow(problem.contact_count());
    problem.write_gram(gram_);
  }

  /// Impulses for given rates s [√J], one per contact; the rates become those after the impact,
  /// s + G λ.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  void project(const ImpactProblem<Scalar>& problem, std::span<Scalar> rates) noexcept {
    CAROM_EXPECTS(Index(rates.size()) == linear_.size());
    std::copy(rates.begin(), rates.end(), linear_.data());
    if (law_ == PlasticLaw::moreau) {
      static_cast<void>(squares_.solve(gram_, linear_, impulse_));
      share_equally(problem);
    } else {
      solve_least_norm(problem);
    }
    detail::multiply_gram(problem, impulse_, image_);
    for (Index i = 0; i < linear_.size(); ++i) rates[std::size_t(i)] += image_(i);
  }

  /// The plastic outcome of an impact: p⁻ is replaced by p⁺.
  /// @pre   prepare() was called with this problem.
  /// @note  Real-time safe: no allocation, no exception.
  ImpactReport<Scalar> resolve(const ImpactProblem<Scalar>& problem,
                               VectorX<Scalar>& momentum) noexcept {
    CAROM_EXPECTS(momentum.size() == problem.size());
    CAROM_EXPECTS(linear_.size() == problem.contact_count());
    ImpactReport<Scalar> report;
    for (Index i = 0; i < problem.contact_count(); ++i) rates_(i) = problem.rate(i, momentum);
    if (!rates_.allFinite()) return report;
    project(problem, {rates_.data(), std::size_t(rates_.size())});
    report.energy_gain = energy_gain();
    for (Index i = 0; i < problem.contact_count(); ++i) {
      problem.add_impulse(i, impulse_(i), momentum);
    }
    report.status = ImpactStatus::resolved;
    return report;
  }

  /// Increase of the kinetic energy in the last impact, λᵀs + ½ λᵀGλ ≤ 0 [J].
  [[nodiscard]] Scalar energy_gain() const noexcept {
    return impulse_.dot(linear_) + impulse_.dot(image_) / 2;
  }
  /// λ_i of the last impact, per unit normal [√J].
  [[nodiscard]] const Growing<VectorX<Scalar>>& impulses() const noexcept { return impulse_; }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  /// A contact that neither presses nor opens may be supported by others. Equivalent contacts are
  /// assigned the mean of their impulses, which is also a minimum. If round-off increases the
  /// objective, the impulses do not change.
  void share_equally(const ImpactProblem<Scalar>& problem) noexcept {
    using std::abs;
    if (linear_.size() < 2) return;
    detail::multiply_gram(problem, impulse_, image_);
    const Scalar scale = linear_.cwiseAbs().maxCoeff() + impulse_.maxCoeff();
    const Scalar zero =
        64 * Scalar(linear_.size()) * std::numeric_limits<Scalar>::epsilon() * scale;
    bool idle = false;
    for (Index i = 0; i < linear_.size() && !idle; ++i) {
      idle =
          problem.merged_into(i) < 0 && impulse_(i) <= zero && abs(linear_(i) + image_(i)) <= zero;
    }
    if (!idle) return;
    const std::span<const Scalar> rates(linear_.data(), std::size_t(linear_.size()));
    if (!equivalent_.split(problem, rates, zero)) return;
    residual_ = impulse_;
    equivalent_.average(impulse_);
    direction_ = impulse_ - residual_;
    detail::multiply_gram(problem, direction_, image_);
    if (image_.cwiseAbs().maxCoeff() > zero) impulse_ = residual_;
  }
  /// Conjugate gradients from zero on G λ = −s stay in the range of G. Their limit is the
  /// least-norm solution.
  void solve_least_norm(const ImpactProblem<Scalar>& problem) noexcept {
    impulse_.setZero();
    residual_ = -linear_;
    direction_ = -linear_;
    const Scalar floor = Scalar(problem.contact_count()) * std::numeric_limits<Scalar>::epsilon();
    Scalar rest = residual_.squaredNorm();
    const Scalar done = floor * floor * rest;
    for (Index i = 0; i < 10 * problem.contact_count() + 10 && rest > done; ++i) {
      detail::multiply_gram(problem, direction_, image_);
      const Scalar curvature = direction_.dot(image_);
      // The part that round-off places outside the range of G has no curvature.
      if (!(curvature > 64 * floor * direction_.squaredNorm())) break;
      const Scalar step = rest / curvature;
      impulse_ += step * direction_;
      residual_ -= step * image_;
      const Scalar next = residual_.squaredNorm();
      direction_ = residual_ + (next / rest) * direction_;
      rest = next;
    }
  }

  PlasticLaw law_;
  Growing<MatrixX<Scalar>> gram_;
  NonnegativeLeastSquares<Scalar> squares_;
  EquivalentContacts<Scalar> equivalent_;
  Vector linear_, rates_, impulse_, image_;
  Vector residual_, direction_;  ///< of the conjugate gradients
};

}  // namespace CAROM_ABI
}  // namespace carom
