// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "carom/impact/detail/face_inverse.hpp"
#include "carom/impact/impact_problem.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Why the derivative of an impact is that of one side, at a contact.
enum class ImpactBoundary {
  inside,  ///< The derivative is the only one.
  shape,   ///< As fast as a contact orthogonal to it, or a repetition of one that acts: changes of
           ///< normals and masses have one derivative per order of the two, others have one.
  order,   ///< As fast as a contact that is not orthogonal to it: which of them is first matters.
  rest,    ///< It neither closes nor opens where that decides whether it acts.
};

/// Which coincidences change the sequence that an order of reflections chooses.
struct SequenceRule {
  bool by_rate = true;  ///< Two equal rates: either may be next.
  bool by_sign = true;  ///< A rate of zero, whatever the other rates are.
};

/// Impulses λ of reflections along a fixed sequence, as a function of the rates s, of the Gram
/// matrix G and of the restitution e of each contact: λ_k −= (1 + e_k) s_k, s −= (1 + e_k) s_k G_k,
/// and its derivatives. Contacts A that reflect at once do so about their common face, elastically:
/// y = G_AA⁺ s_A, λ_A −= 2 y, s −= 2 G_A y.
///
/// It keeps one number per reflection; a product costs n_c multiply-adds for each, and that of
/// contacts at once an eigenvalue problem of their number.
template <RealScalar Scalar>
class ReflectionChain {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Grows memory. Cold: allocates.
  void grow(Index contacts, Index reflections) {
    for (Vector* vector : {&restitution_, &right_, &solution_}) vector->grow(contacts);
    face_.prepare(contacts);
    sequence_.reserve(std::size_t(reflections));
    rates_.reserve(std::size_t(reflections));
    steps_.reserve(std::size_t(reflections));
  }
  /// Forgets all reflections; those to come are elastic.
  void start() noexcept {
    restitution_.setOnes();
    sequence_.clear();
    rates_.clear();
    steps_.clear();
    face_.clear();
  }
  /// Reflections to come have this e, one per contact.
  void set_restitution(const VectorX<Scalar>& restitution) noexcept { restitution_ = restitution; }
  /// Reflects once more: s and λ are brought up to date.
  void reflect(const Matrix& gram, Index contact, Vector& rates, Vector& impulses) noexcept {
    sequence_.push_back(contact);
    rates_.push_back(rates(contact));
    steps_.push_back(1);
    const Scalar impulse = -(1 + restitution_(contact)) * rates(contact);
    impulses(contact) += impulse;
    rates += impulse * gram.col(contact);
  }
  /// Reflects some contacts at once.
  /// @return  false where a number is not finite.
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

  /// Changes of s and λ by those of G and e: those of s⁻ in, of s⁺ out; those of λ are added.
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
  /// Gradients by s⁻, G and e of a scalar with those by s⁺ and λ: that by s⁺ in, by s⁻ out; those
  /// by G and e are added.
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
  /// Contacts of one step in sequence_, and their y in rates_.
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
  std::vector<Scalar> rates_;  ///< of each reflection's contact just before it; y of several
  std::vector<Index> steps_;   ///< how many contacts reflect at once
  FaceInverse<Scalar> face_;
  Vector right_, solution_;  ///< of the step being differentiated
};

}  // namespace CAROM_ABI
}  // namespace carom
