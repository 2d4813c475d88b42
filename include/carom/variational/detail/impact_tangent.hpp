// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/linalg/detail/lu.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A momentum that impulses change, and how it moves with m parameters: p = p⁻ + Σ λ_i a_i.
template <RealScalar Scalar>
struct ImpactTangent {
  VectorX<Scalar> p;          ///< n [N·s]
  MatrixX<Scalar> dp;         ///< n×m
  VectorX<Scalar> impulses;   ///< λ, one per contact
  MatrixX<Scalar> dimpulses;  ///< ∂λ, one row per contact

  /// Cold: allocates.
  void prepare(Index size, Index contacts, Index parameters) {
    p.setZero(size);
    dp.setZero(size, parameters);
    impulses.setZero(contacts);
    dimpulses.setZero(contacts, parameters);
  }
};

/// Closed contacts of an instant, gradients a_i of their gaps and responses w_i = M⁻¹a_i, with what
/// moves them; it repeats what impact laws do to a momentum and moves a tangent along.
///
/// The choices of the law, its sequence of reflections or its set of contacts that push, stay as
/// they are. a_i is not normalised: no law depends on its length.
/// @note  Real-time safe once prepared: no allocation, no exception.
template <RealScalar Scalar>
class ContactTangents {
 public:
  using Tangent = ImpactTangent<Scalar>;

  struct Contact {
    VectorX<Scalar> a, w;    ///< n
    MatrixX<Scalar> da, dw;  ///< n×m
  };

  /// Cold: allocates.
  void prepare(Index size, Index contacts, Index parameters) {
    Contact empty;
    empty.a = empty.w = VectorX<Scalar>::Zero(size);
    empty.da = empty.dw = MatrixX<Scalar>::Zero(size, parameters);
    contacts_.assign(std::size_t(contacts), empty);
    active_.reserve(std::size_t(contacts));
    gram_.setZero(contacts, contacts);
    column_.setZero(contacts);
    lu_.prepare(contacts);
    plastic_.prepare(size, contacts, parameters);
    elastic_ = plastic_;
  }

  [[nodiscard]] Contact& contact(Index i) noexcept { return contacts_[std::size_t(i)]; }

  /// λ += −2 s/⟨a, w⟩ of one contact after the other, s = ⟨w, p⟩.
  void reflect(std::span<const Index> sequence, Tangent& tangent) const noexcept {
    for (const Index k : sequence) {
      const Contact& c = contacts_[std::size_t(k)];
      const Scalar rate = c.w.dot(tangent.p), norm = c.w.dot(c.a);
      const Scalar impulse = -2 * rate / norm;
      for (Index m = 0; m < tangent.dp.cols(); ++m) {
        const Scalar change =
            -2 * (rate_slope(c, tangent, m) - rate / norm * product_slope(c, c, m)) / norm;
        push(c, impulse, change, m, tangent);
        tangent.dimpulses(k, m) += change;
      }
      tangent.p += impulse * c.a;
      tangent.impulses(k) += impulse;
    }
  }

  /// λ_A = −G⁻¹s of the contacts that push, G_ij = ⟨a_i, w_j⟩.
  /// @param pushes  called with a contact's index: whether it pushes.
  /// @return  false where the impulses are not determined.
  template <typename Pushes>
  [[nodiscard]] bool rest(Index count, const Pushes& pushes, Tangent& tangent) noexcept;

  /// p = p_p + α(p_e − p_p) from the plastic and the elastic outcome, as RestitutionImpact blends
  /// them: D α² + 2xα = R²(2x + D), differentiated.
  /// @param restitution  R; the last parameter is it.
  template <typename Pushes>
  [[nodiscard]] bool blend(const Scalar& restitution, std::span<const Index> sequence, Index count,
                           const Pushes& pushes, Tangent& tangent) noexcept;

 private:
  /// ∂⟨w, p⟩ by parameter m.
  [[nodiscard]] static Scalar rate_slope(const Contact& c, const Tangent& tangent,
                                         Index m) noexcept {
    return c.dw.col(m).dot(tangent.p) + c.w.dot(tangent.dp.col(m));
  }
  /// ∂⟨a_i, w_j⟩ by parameter m.
  [[nodiscard]] static Scalar product_slope(const Contact& i, const Contact& j, Index m) noexcept {
    return i.da.col(m).dot(j.w) + i.a.dot(j.dw.col(m));
  }
  static void push(const Contact& c, const Scalar& impulse, const Scalar& change, Index m,
                   Tangent& tangent) noexcept {
    tangent.dp.col(m) += change * c.a + impulse * c.da.col(m);
  }

  std::vector<Contact> contacts_;
  std::vector<Index> active_;
  MatrixX<Scalar> gram_;
  VectorX<Scalar> column_;
  LuFactor<Scalar> lu_;
  Tangent plastic_, elastic_;
};

// --- implementation ---

template <RealScalar Scalar>
template <typename Pushes>
bool ContactTangents<Scalar>::rest(Index count, const Pushes& pushes, Tangent& tangent) noexcept {
  active_.clear();
  for (Index i = 0; i < count; ++i) {
    if (pushes(i)) active_.push_back(i);
  }
  const Index size = Index(active_.size());
  const auto at = [&](Index k) -> const Contact& {
    return contacts_[std::size_t(active_[std::size_t(k)])];
  };
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i < size; ++i) gram_(i, j) = at(i).a.dot(at(j).w);
    column_(j) = -at(j).w.dot(tangent.p);
  }
  if (size == 0) return true;
  if (!lu_.factor(gram_, size)) return false;
  lu_.solve(column_.data());
  for (Index k = 0; k < size; ++k) tangent.impulses(active_[std::size_t(k)]) = column_(k);
  for (Index m = 0; m < tangent.dp.cols(); ++m) {
    for (Index i = 0; i < size; ++i) {
      column_(i) = -rate_slope(at(i), tangent, m);
      for (Index j = 0; j < size; ++j) {
        column_(i) -= product_slope(at(j), at(i), m) * tangent.impulses(active_[std::size_t(j)]);
      }
    }
    lu_.solve(column_.data());
    for (Index k = 0; k < size; ++k) tangent.dimpulses(active_[std::size_t(k)], m) = column_(k);
  }
  for (Index k = 0; k < size; ++k) {
    const Index i = active_[std::size_t(k)];
    for (Index m = 0; m < tangent.dp.cols(); ++m) {
      push(at(k), tangent.impulses(i), tangent.dimpulses(i, m), m, tangent);
    }
    tangent.p += tangent.impulses(i) * at(k).a;
  }
  return true;
}

template <RealScalar Scalar>
template <typename Pushes>
bool ContactTangents<Scalar>::blend(const Scalar& restitution, std::span<const Index> sequence,
                                    Index count, const Pushes& pushes, Tangent& tangent) noexcept {
  plastic_ = tangent;
  elastic_ = tangent;
  if (!rest(count, pushes, plastic_)) return false;
  reflect(sequence, elastic_);
  Scalar x = 0, d = 0;  // ⟨p_p, δ⟩ and ⟨δ, δ⟩ of δ = p_e − p_p = Σ ξ_i a_i
  for (Index i = 0; i < count; ++i) {
    const Contact& c = contacts_[std::size_t(i)];
    const Scalar xi = elastic_.impulses(i) - plastic_.impulses(i);
    x += xi * c.w.dot(plastic_.p);
    d += xi * (c.w.dot(elastic_.p) - c.w.dot(plastic_.p));
  }
  const Scalar alpha = restitution_blend(restitution, x, d);
  // With x = 0, as for every single contact, α = R; rounding of x must not decide for R = 0.
  using std::abs;
  const bool plain = abs(x) <= 1024 * std::numeric_limits<Scalar>::epsilon() * abs(d);
  const Index last = tangent.dp.cols() - 1;
  for (Index m = 0; m <= last; ++m) {
    Scalar dx = 0, dd = 0;
    for (Index i = 0; i < count; ++i) {
      const Contact& c = contacts_[std::size_t(i)];
      const Scalar xi = elastic_.impulses(i) - plastic_.impulses(i);
      const Scalar dxi = elastic_.dimpulses(i, m) - plastic_.dimpulses(i, m);
      const Scalar below = c.w.dot(plastic_.p), above = c.w.dot(elastic_.p);
      const Scalar dbelow = rate_slope(c, plastic_, m), dabove = rate_slope(c, elastic_, m);
      dx += dxi * below + xi * dbelow;
      dd += dxi * (above - below) + xi * (dabove - dbelow);
    }
    const Scalar dr = m == last ? Scalar(1) : Scalar(0);
    const Scalar r2 = restitution * restitution;
    Scalar dalpha = dr;
    if (d > Scalar(0) && !(plain && restitution == Scalar(0))) {
      dalpha = (2 * restitution * (2 * x + d) * dr + (2 * r2 - 2 * alpha) * dx +
                (r2 - alpha * alpha) * dd) /
               (2 * (d * alpha + x));
    }
    tangent.dp.col(m) = (1 - alpha) * plastic_.dp.col(m) + alpha * elastic_.dp.col(m) +
                        dalpha * (elastic_.p - plastic_.p);
  }
  tangent.p = plastic_.p + alpha * (elastic_.p - plastic_.p);
  tangent.impulses = plastic_.impulses + alpha * (elastic_.impulses - plastic_.impulses);
  return true;
}

}  // namespace CAROM_ABI
}  // namespace carom
