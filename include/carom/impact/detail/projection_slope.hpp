// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "carom/impact/detail/face_inverse.hpp"
#include "carom/impact/plastic.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Impulses λ of a plastic impact as a function of the rates s and the Gram matrix G, and their
/// derivatives with the active contacts A fixed: λ_A = −G_AA⁺ s_A.
///
/// G⁺ gives the impulses of least norm. Where G_AA is singular the derivative is that along changes
/// which keep its rank; what other changes would do is left out.
template <RealScalar Scalar>
class ProjectionSlope {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Grows memory. Cold: allocates.
  void prepare(const ImpactProblem<Scalar>& problem) {
    const Index count = problem.contact_count();
    for (auto* plastic : {&moreau_, &bilateral_}) plastic->prepare(problem);
    for (Vector* vector : {&impulses_, &right_}) vector->grow(count);
    face_.prepare(count);
    active_.reserve(std::size_t(count));
  }

  /// Resolves and linearises at the rates s before; they become those after, s + G λ.
  /// @return  false where a number is not finite.
  [[nodiscard]] bool linearize(const ImpactProblem<Scalar>& problem, const Matrix& gram,
                               PlasticLaw law, Vector& rates) noexcept {
    PlasticImpact<Scalar>& plastic = law == PlasticLaw::moreau ? moreau_ : bilateral_;
    plastic.project(problem, {rates.data(), std::size_t(rates.size())});
    impulses_ = plastic.impulses();
    active_.clear();
    for (Index i = 0; i < impulses_.size(); ++i) {
      const bool acts =
          law == PlasticLaw::moreau ? impulses_(i) > Scalar(0) : problem.merged_into(i) < 0;
      if (acts) active_.push_back(i);
    }
    face_.clear();  // the Gram matrix may be another one
    return impulses_.allFinite() && face_.decompose(gram, active_);
  }
  /// λ of the rates linearised at.
  [[nodiscard]] const Vector& impulses() const noexcept { return impulses_; }

  /// Calls visit(i) for every active contact whose normal depends on those of others.
  template <typename Visit>
  void for_each_dependent(Visit&& visit) const noexcept {
    face_.for_each_dependent(std::forward<Visit>(visit));
  }

  /// The change of λ, written, by those of s and G.
  void push(const Matrix& gram_change, const Vector& rates, Vector& impulses) noexcept {
    right_ = rates;
    right_.noalias() += gram_change * impulses_;
    face_.solve(right_, impulses);
    impulses = -impulses;
  }
  /// Gradients by s and G, added, of a scalar with that by λ.
  void pull(const Vector& by_impulses, Vector& by_rates, Matrix& by_gram) noexcept {
    face_.solve(by_impulses, right_);
    by_rates -= right_;
    by_gram.noalias() -= right_ * impulses_.transpose();
  }

 private:
  PlasticImpact<Scalar> moreau_{PlasticLaw::moreau}, bilateral_{PlasticLaw::bilateral};
  FaceInverse<Scalar> face_;
  std::vector<Index> active_;
  Vector impulses_, right_;
};

}  // namespace CAROM_ABI
}  // namespace carom
