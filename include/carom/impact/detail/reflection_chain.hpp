// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>
#include <vector>

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
/// and its derivatives.
///
/// It keeps one number per reflection; a product costs n_c multiply-adds for each.
template <RealScalar Scalar>
class ReflectionChain {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Grows memory. Cold: allocates.
  void grow(Index contacts, Index reflections) {
    restitution_.grow(contacts);
    sequence_.reserve(std::size_t(reflections));
    rates_.reserve(std::size_t(reflections));
  }
  /// Forgets all reflections; those to come are elastic.
  void start() noexcept {
    restitution_.setOnes();
    sequence_.clear();
    rates_.clear();
  }
  /// Reflections to come have this e, one per contact.
  void set_restitution(const VectorX<Scalar>& restitution) noexcept { restitution_ = restitution; }
  /// Reflects once more: s and λ are brought up to date.
  void reflect(const Matrix& gram, Index contact, Vector& rates, Vector& impulses) noexcept {
    sequence_.push_back(contact);
    rates_.push_back(rates(contact));
    const Scalar impulse = -(1 + restitution_(contact)) * rates(contact);
    impulses(contact) += impulse;
    rates += impulse * gram.col(contact);
  }

  /// Changes of s and λ by those of G and e: those of s⁻ in, of s⁺ out; those of λ are added.
  void push(const Matrix& gram, const Matrix& gram_change, const Vector& restitution_change,
            Vector& rates, Vector& impulses) const noexcept {
    for (std::size_t r = 0; r < sequence_.size(); ++r) {
      const Index k = sequence_[r];
      const Scalar factor = 1 + restitution_(k);
      const Scalar change = -factor * rates(k) - restitution_change(k) * rates_[r];
      impulses(k) += change;
      rates += change * gram.col(k) - factor * rates_[r] * gram_change.col(k);
    }
  }
  /// Gradients by s⁻, G and e of a scalar with those by s⁺ and λ: that by s⁺ in, by s⁻ out; those
  /// by G and e are added.
  void pull(const Matrix& gram, const Vector& by_impulses, Vector& by_rates, Matrix& by_gram,
            Vector& by_restitution) const noexcept {
    for (std::size_t r = sequence_.size(); r-- > 0;) {
      const Index k = sequence_[r];
      const Scalar factor = 1 + restitution_(k);
      const Scalar by_change = by_impulses(k) + gram.col(k).dot(by_rates);
      by_gram.col(k) -= factor * rates_[r] * by_rates;
      by_restitution(k) -= rates_[r] * by_change;
      by_rates(k) -= factor * by_change;
    }
  }

 private:
  Vector restitution_;
  std::vector<Index> sequence_;
  std::vector<Scalar> rates_;  ///< of each reflection's contact just before it
};

}  // namespace CAROM_ABI
}  // namespace carom
