// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "carom/impact/impact_problem.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// G_AA⁺ of contacts A: the pseudoinverse of their part of the Gram matrix. If normals are linearly
/// dependent, the impulses have least norm.
template <RealScalar Scalar>
class FaceInverse {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Allocates memory. Cold.
  void prepare(Index count) {
    eigen_.prepare(count);
    contacts_.reserve(std::size_t(count));
  }
  /// Removes the stored decomposition.
  void clear() noexcept { contacts_.clear(); }
  /// Decomposes G_AA, unless it is equal to the last decomposed block.
  /// @return  false if a number is not finite.
  [[nodiscard]] bool decompose(const Matrix& gram, std::span<const Index> contacts) noexcept {
    if (!contacts.empty() &&
        std::equal(contacts.begin(), contacts.end(), contacts_.begin(), contacts_.end())) {
      return true;
    }
    contacts_.assign(contacts.begin(), contacts.end());
    const Index count = Index(contacts_.size());
    eigen_.prepare(count);
    for (Index c = 0; c < count; ++c) {
      for (Index r = 0; r < count; ++r) eigen_.matrix()(r, c) = gram(at(r), at(c));
    }
    return eigen_.solve();
  }
  /// A.
  [[nodiscard]] std::span<const Index> contacts() const noexcept { return contacts_; }

  /// y_A = G_AA⁺ x_A, zero elsewhere; x and y must be different objects.
  void solve(const Vector& x, Vector& y) const noexcept {
    const Index count = Index(contacts_.size());
    y.setZero();
    for (Index mode = 0; mode < count; ++mode) {
      if (!counts(mode)) continue;
      Scalar part = 0;
      for (Index r = 0; r < count; ++r) part += eigen_.vectors()(r, mode) * x(at(r));
      part /= eigen_.values()(mode);
      for (Index r = 0; r < count; ++r) y(at(r)) += part * eigen_.vectors()(r, mode);
    }
  }

  /// Calls visit(i) for each contact whose normal is linearly dependent on those of others.
  template <typename Visit>
  void for_each_dependent(Visit&& visit) const noexcept {
    const Scalar clear = Scalar(std::sqrt(std::numeric_limits<Scalar>::epsilon()));
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      Scalar share = 0;  // of the null space
      for (Index mode = 0; mode < Index(contacts_.size()); ++mode) {
        const Scalar part = eigen_.vectors()(Index(c), mode);
        if (!counts(mode)) share += part * part;
      }
      if (share > clear) visit(contacts_[c]);
    }
  }

 private:
  [[nodiscard]] Index at(Index place) const noexcept { return contacts_[std::size_t(place)]; }
  /// Whether an eigenvalue is larger than the rounding error of zero.
  [[nodiscard]] bool counts(Index mode) const noexcept {
    return eigen_.values()(mode) >
           64 * Scalar(contacts_.size()) * std::numeric_limits<Scalar>::epsilon();
  }

  SymmetricEigen<Scalar> eigen_;
  std::vector<Index> contacts_;
};

/// Impulses λ of a plastic impact as a function of the rates s and the Gram matrix G, and their
/// derivatives for fixed active contacts A: λ_A = −G_AA⁺ s_A.
///
/// G⁺ selects the impulses of least norm. If G_AA is singular, the derivative is that along changes
/// that keep the rank of G_AA constant; other changes are ignored. For a change (ds, dG):
/// dλ_A = −G_AA⁺ (ds_A + dG_AA λ_A).
template <RealScalar Scalar>
class ProjectionSlope {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Allocates memory. Cold.
  void prepare(const ImpactProblem<Scalar>& problem) {
    const Index count = problem.contact_count();
    for (auto* plastic : {&moreau_, &bilateral_}) plastic->prepare(problem);
    for (Vector* vector : {&impulses_, &right_}) vector->grow(count);
    face_.prepare(count);
    active_.reserve(std::size_t(count));
  }

  /// Computes the impact and its linearisation at the rates s before; the rates become those after,
  /// s + G λ.
  /// @return  false if a number is not finite.
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
    face_.clear();  // the Gram matrix may have changed
    return impulses_.allFinite() && face_.decompose(gram, active_);
  }
  /// λ at the rates of the linearisation.
  [[nodiscard]] const Vector& impulses() const noexcept { return impulses_; }

  /// Calls visit(i) for each active contact whose normal is linearly dependent on those of others.
  template <typename Visit>
  void for_each_dependent(Visit&& visit) const noexcept {
    face_.for_each_dependent(std::forward<Visit>(visit));
  }

  /// Writes the change of λ for changes of s and G.
  void push(const Matrix& gram_change, const Vector& rates, Vector& impulses) noexcept {
    right_ = rates;
    right_.noalias() += gram_change * impulses_;
    face_.solve(right_, impulses);
    impulses = -impulses;
  }
  /// Adds the gradients by s and G of a scalar from its gradient by λ.
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

/// The reason why the derivative of an impact is one-sided at a contact.
enum class ImpactBoundary {
  inside,  ///< The derivative is two-sided.
  /// As fast as a contact orthogonal to it, or equal to a contact that acts. Changes of normals and
  /// masses have one derivative per order of the two; other changes have one derivative.
  shape,
  order,  ///< As fast as a contact that is not orthogonal to it: the order of the two matters.
  rest,   ///< It neither closes nor opens, and this determines whether it acts.
};

/// The coincidences that change the sequence of an order of reflections.
struct SequenceRule {
  bool by_rate = true;  ///< Two equal rates: either contact may be next.
  bool by_sign = true;  ///< A rate of zero, independent of the other rates.
};

/// Impulses λ of reflections along a fixed sequence, as a function of the rates s, of the Gram
/// matrix G and of the restitution e of each contact; and its derivatives.
///
/// One reflection of contact k changes λ_k −= (1 + e_k) s_k, s −= (1 + e_k) s_k G_k. Contacts A
/// that reflect at once reflect elastically about their common face: y = G_AA⁺ s_A, λ_A −= 2 y,
/// s −= 2 G_A y. The derivatives are products over the reflections: push() processes them from the
/// first to the last (changes of s and λ), pull() from the last to the first (gradients by s, G and
/// e).
///
/// One number per reflection is stored. A product costs n_c multiply-adds for each reflection. For
/// contacts that reflect at once it costs an eigenvalue problem of their count.
template <RealScalar Scalar>
class ReflectionChain {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Allocates memory. Cold.
  void grow(Index contacts, Index reflections) {
    for (Vector* vector : {&restitution_, &right_, &solution_}) vector->grow(contacts);
    face_.prepare(contacts);
    sequence_.reserve(std::size_t(reflections));
    rates_.reserve(std::size_t(reflections));
    steps_.reserve(std::size_t(reflections));
  }
  /// Removes all reflections. The next ones are elastic.
  void start() noexcept {
    restitution_.setOnes();
    sequence_.clear();
    rates_.clear();
    steps_.clear();
    face_.clear();
  }
  /// Sets e of each contact for the next reflections.
  void set_restitution(const VectorX<Scalar>& restitution) noexcept { restitution_ = restitution; }
  /// Adds one reflection and updates s and λ.
  void reflect(const Matrix& gram, Index contact, Vector& rates, Vector& impulses) noexcept {
    sequence_.push_back(contact);
    rates_.push_back(rates(contact));
    steps_.push_back(1);
    const Scalar impulse = -(1 + restitution_(contact)) * rates(contact);
    impulses(contact) += impulse;
    rates += impulse * gram.col(contact);
  }
  /// Adds a reflection of several contacts at once.
  /// @return  false if a number is not finite.
  [[nodiscard]] bool reflect(const Matrix& gram, std::span<const Index> contacts, Vector& rates,
                             Vector& impulses) noexcept {
    if (!face_.decompose(gram, contacts)) return false;
    face_.solve(rates, solution_);
    for (const Index k : contacts) {
      sequence_.push_back(k);
      rates_.push_back(solution_(k));
      impulses(k) -= 2 * solution_(k);
    }
    for (const Index k : contacts) rates -= 2 * solution_(k) * gram.col(k);
    steps_.push_back(Index(contacts.size()));
    return true;
  }

  /// Changes of s and λ for changes of G and e: the change of s⁻ is input and becomes that of s⁺;
  /// the change of λ is added.
  void push(const Matrix& gram, const Matrix& gram_change, const Vector& restitution_change,
            Vector& rates, Vector& impulses) noexcept {
    std::size_t r = 0;
    for (const Index step : steps_) {
      if (step > 1) {
        push_together(gram, gram_change, {r, std::size_t(step)}, rates, impulses);
      } else {
        const Index k = sequence_[r];
        const Scalar factor = 1 + restitution_(k);
        const Scalar change = -factor * rates(k) - restitution_change(k) * rates_[r];
        impulses(k) += change;
        rates += change * gram.col(k) - factor * rates_[r] * gram_change.col(k);
      }
      r += std::size_t(step);
    }
  }
  /// Gradients by s⁻, G and e of a scalar from those by s⁺ and λ: the gradient by s⁺ is input and
  /// becomes that by s⁻; the gradients by G and e are added.
  void pull(const Matrix& gram, const Vector& by_impulses, Vector& by_rates, Matrix& by_gram,
            Vector& by_restitution) noexcept {
    std::size_t r = sequence_.size();
    for (std::size_t s = steps_.size(); s-- > 0;) {
      r -= std::size_t(steps_[s]);
      if (steps_[s] > 1) {
        pull_together(gram, by_impulses, {r, std::size_t(steps_[s])}, by_rates, by_gram);
        continue;
      }
      const Index k = sequence_[r];
      const Scalar factor = 1 + restitution_(k);
      const Scalar by_change = by_impulses(k) + gram.col(k).dot(by_rates);
      by_gram.col(k) -= factor * rates_[r] * by_rates;
      by_restitution(k) -= rates_[r] * by_change;
      by_rates(k) -= factor * by_change;
    }
  }

 private:
  /// Place of the contacts of one step in sequence_, and of their y in rates_.
  struct Step {
    std::size_t first, size;
  };
  [[nodiscard]] std::span<const Index> contacts(const Step& step) const noexcept {
    return {sequence_.data() + step.first, step.size};
  }

  /// dy = G_AA⁺(ds_A − dG_AA y).
  void push_together(const Matrix& gram, const Matrix& gram_change, const Step& step, Vector& rates,
                     Vector& impulses) noexcept {
    static_cast<void>(face_.decompose(gram, contacts(step)));
    right_ = rates;
    for (std::size_t r = step.first; r < step.first + step.size; ++r) {
      right_ -= rates_[r] * gram_change.col(sequence_[r]);
    }
    face_.solve(right_, solution_);
    for (std::size_t r = step.first; r < step.first + step.size; ++r) {
      const Index k = sequence_[r];
      impulses(k) -= 2 * solution_(k);
      rates -= 2 * (solution_(k) * gram.col(k) + rates_[r] * gram_change.col(k));
    }
  }
  void pull_together(const Matrix& gram, const Vector& by_impulses, const Step& step,
                     Vector& by_rates, Matrix& by_gram) noexcept {
    static_cast<void>(face_.decompose(gram, contacts(step)));
    right_.noalias() = gram * by_rates;
    right_ += by_impulses;
    right_ *= Scalar(-2);  // by y
    face_.solve(right_, solution_);
    for (std::size_t r = step.first; r < step.first + step.size; ++r) {
      by_gram.col(sequence_[r]) -= rates_[r] * (2 * by_rates + solution_);
    }
    by_rates += solution_;
  }

  Vector restitution_;
  std::vector<Index> sequence_;
  /// the rate of each reflection's contact before it; y for several contacts
  std::vector<Scalar> rates_;
  std::vector<Index> steps_;  ///< count of contacts that reflect at once
  FaceInverse<Scalar> face_;
  Vector right_, solution_;  ///< of the current step of a product
};

}  // namespace CAROM_ABI
}  // namespace carom
