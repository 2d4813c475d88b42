// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "carom/impact/plastic.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"

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
    eigen_.prepare(count);
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
    const Index count = Index(active_.size());
    eigen_.prepare(count);
    for (Index c = 0; c < count; ++c) {
      for (Index r = 0; r < count; ++r) eigen_.matrix()(r, c) = gram(at(r), at(c));
    }
    return impulses_.allFinite() && eigen_.solve();
  }
  /// λ of the rates linearised at.
  [[nodiscard]] const Vector& impulses() const noexcept { return impulses_; }

  /// Calls visit(i) for every active contact whose normal depends on those of others.
  template <typename Visit>
  void for_each_dependent(Visit&& visit) const noexcept {
    using std::abs;
    const Scalar clear = Scalar(std::sqrt(std::numeric_limits<Scalar>::epsilon()));
    for (std::size_t c = 0; c < active_.size(); ++c) {
      Scalar share = 0;  // of the null space
      for (Index mode = 0; mode < Index(active_.size()); ++mode) {
        const Scalar part = eigen_.vectors()(Index(c), mode);
        if (!counts(mode)) share += part * part;
      }
      if (share > clear) visit(active_[c]);
    }
  }

  /// The change of λ, written, by those of s and G.
  void push(const Matrix& gram_change, const Vector& rates, Vector& impulses) noexcept {
    right_ = rates;
    right_.noalias() += gram_change * impulses_;
    solve(right_, impulses);
    impulses = -impulses;
  }
  /// Gradients by s and G, added, of a scalar with that by λ.
  void pull(const Vector& by_impulses, Vector& by_rates, Matrix& by_gram) noexcept {
    solve(by_impulses, right_);
    by_rates -= right_;
    by_gram.noalias() -= right_ * impulses_.transpose();
  }

 private:
  [[nodiscard]] Index at(Index place) const noexcept { return active_[std::size_t(place)]; }
  /// Whether an eigenvalue is more than what rounding leaves of zero.
  [[nodiscard]] bool counts(Index mode) const noexcept {
    return eigen_.values()(mode) >
           64 * Scalar(active_.size()) * std::numeric_limits<Scalar>::epsilon();
  }
  /// y_A = G_AA⁺ x_A, zero elsewhere; x and y may not be the same.
  void solve(const Vector& x, Vector& y) noexcept {
    const Index count = Index(active_.size());
    y.setZero();
    for (Index mode = 0; mode < count; ++mode) {
      if (!counts(mode)) continue;
      Scalar part = 0;
      for (Index r = 0; r < count; ++r) part += eigen_.vectors()(r, mode) * x(at(r));
      part /= eigen_.values()(mode);
      for (Index r = 0; r < count; ++r) y(at(r)) += part * eigen_.vectors()(r, mode);
    }
  }

  PlasticImpact<Scalar> moreau_{PlasticLaw::moreau}, bilateral_{PlasticLaw::bilateral};
  SymmetricEigen<Scalar> eigen_;
  std::vector<Index> active_;
  Vector impulses_, right_;
};

}  // namespace CAROM_ABI
}  // namespace carom
