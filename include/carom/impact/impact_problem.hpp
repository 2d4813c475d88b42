// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "carom/core/detail/rollback.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/impact/detail/gram_rows.hpp"
#include "carom/impact/mass_matrix.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// All closed contacts of one instant in the kinetic metric ⟨a, b⟩ = a M⁻¹ bᵀ of momenta.
///
/// Contact i is given by the gradient Dϕ_i of its gap, a covector, normalised to u_i = Dϕ_i/|Dϕ_i|.
/// A momentum p closes it at the rate s_i = ⟨p, u_i⟩; s_i < 0 is infeasible. The impact depends on
/// the data only through the rates and the sparse Gram matrix G_ij = ⟨u_i, u_j⟩.
///
/// Add all closed contacts, also those that rest: the outcome depends on them. Then call prepare().
/// @cite seghete2014propagative, section III, with S the set of all closed contacts.
template <RealScalar Scalar>
class ImpactProblem {
 public:
  using scalar_type = Scalar;
  using Entry = SparseEntry<Scalar>;

  /// @param size  n, length of momenta and gradients.
  explicit ImpactProblem(Index size = 0) { reset(size); }

  /// Removes all contacts. The memory stays allocated.
  void reset(Index size) {
    size_ = size;
    scaled_.resize(size);
    response_.resize(size);
    normals_.clear();
    responses_.clear();
    gram_.clear();
  }

  /// Adds a closed contact.
  /// @param mass      M, or an operator that applies M⁻¹.
  /// @param gradient  Dϕ [-, m], n numbers, not all zero; its length has no influence.
  /// @return  index of the contact.
  /// @note  Cold: throws std::invalid_argument naming the contact. Allocates only if the size, the
  ///        contacts or the entries exceed those of all problems before.
  template <InverseMassLike Mass>
  Index add_contact(const Mass& mass, const VectorX<Scalar>& gradient);

  /// The same for hot loops: returns false and adds nothing where add_contact() would throw.
  /// @note  Real-time safe once grown: no allocation, no exception.
  template <InverseMassLike Mass>
  [[nodiscard]] bool try_add_contact(const Mass& mass, const VectorX<Scalar>& gradient) noexcept {
    return append(mass, gradient);
  }

  [[nodiscard]] Index size() const noexcept { return size_; }
  [[nodiscard]] Index contact_count() const noexcept { return normals_.count(); }

  /// u_i, sparse.
  [[nodiscard]] std::span<const Entry> normal(Index contact) const noexcept {
    return normals_[contact];
  }
  /// M⁻¹ u_iᵀ, the velocity from a unit impulse, sparse.
  [[nodiscard]] std::span<const Entry> response(Index contact) const noexcept {
    return responses_[contact];
  }
  /// Row i of G without its diagonal, which is 1, and without contacts that repeat others.
  [[nodiscard]] std::span<const Entry> neighbours(Index contact) const noexcept {
    CAROM_EXPECTS(prepared());
    return gram_.row(contact);
  }
  /// The earlier contact with the same unit normal up to round-off, or −1. A repeated contact never
  /// acts: the earlier contact acts for both.
  [[nodiscard]] Index merged_into(Index contact) const noexcept {
    CAROM_EXPECTS(prepared());
    return gram_.merged_into(contact);
  }

  /// s_i = ⟨p, u_i⟩ [√J]; zero for a contact that repeats another.
  [[nodiscard]] Scalar rate(Index contact, const VectorX<Scalar>& momentum) const noexcept {
    if (merged_into(contact) >= 0) return Scalar(0);
    Scalar sum = 0;
    for (const Entry& e : response(contact)) sum += momentum(e.index) * e.value;
    return sum;
  }

  /// max_i Σ_j |p_j (M⁻¹u_i)_j| [√J], the sums of the rates without cancellation. The round-off in
  /// any rate is a few roundings of this number, for any size of the rates. It is at least the
  /// largest |s_i|.
  [[nodiscard]] Scalar rate_scale(const VectorX<Scalar>& momentum) const noexcept {
    using std::abs;
    Scalar scale = 0;
    for (Index i = 0; i < contact_count(); ++i) {
      Scalar sum = 0;
      for (const Entry& e : response(i)) sum += abs(momentum(e.index) * e.value);
      scale = (std::max)(scale, sum);
    }
    return scale;
  }

  /// p += λ u_i, λ [√J].
  void add_impulse(Index contact, const Scalar& impulse, VectorX<Scalar>& momentum) const noexcept {
    for (const Entry& e : normal(contact)) momentum(e.index) += impulse * e.value;
  }

  /// Dense Gram matrix, for checks and small problems.
  /// @note  Cold: allocates, throws std::invalid_argument before prepare().
  [[nodiscard]] MatrixX<Scalar> gram() const {
    require_prepared();
    MatrixX<Scalar> g(contact_count(), contact_count());
    write_gram(g);
    return g;
  }
  /// The same, written to memory of the caller, n_c×n_c.
  template <typename Derived>
  void write_gram(Eigen::MatrixBase<Derived>& out) const noexcept {
    CAROM_EXPECTS(out.rows() == contact_count() && out.cols() == contact_count());
    out.setIdentity();
    for (Index i = 0; i < contact_count(); ++i) {
      for (const Entry& e : neighbours(i)) out(i, e.index) = e.value;
    }
  }

  /// Completes the Gram matrix after the last add_contact. Calls with rates, neighbours or the Gram
  /// matrix need it.
  /// @note  Allocates until the memory has grown, as add_contact() does.
  void prepare() { gram_.write(size_, normals_, responses_); }

  /// Whether prepare() was called after the last contact.
  [[nodiscard]] bool prepared() const noexcept { return gram_.count() == contact_count(); }
  /// Rejects a problem that is not prepared().
  /// @note  Cold: throws std::invalid_argument.
  void require_prepared() const {
    if (!prepared()) detail::reject_if("impact problem: expected prepare() after the last contact");
  }

 private:
  void refuse_contact(Index mass_size, const VectorX<Scalar>& gradient) const;
  template <InverseMassLike Mass>
  [[nodiscard]] bool append(const Mass& mass, const VectorX<Scalar>& gradient);

  Index size_ = 0;
  SparseRows<Scalar> normals_, responses_;
  GramRows<Scalar> gram_;
  VectorX<Scalar> scaled_, response_;  ///< of the contact that is added
};

// --- implementation ---

template <RealScalar Scalar>
template <InverseMassLike Mass>
Index ImpactProblem<Scalar>::add_contact(const Mass& mass, const VectorX<Scalar>& gradient) {
  if (!append(mass, gradient)) refuse_contact(mass.size(), gradient);
  return contact_count() - 1;
}

/// Throws with the reason why append() rejected the contact.
template <RealScalar Scalar>
void ImpactProblem<Scalar>::refuse_contact(Index mass_size, const VectorX<Scalar>& gradient) const {
  const std::string item = "contact " + std::to_string(contact_count());
  if (mass_size != size_) {
    detail::reject_if(detail::fault("mass size", "the problem's size", mass_size));
  }
  if (gradient.size() != size_) {
    detail::reject_if(
        detail::fault(item + ": gradient entries", "as many as the mass has", gradient.size()));
  }
  detail::reject_if(detail::finite_fault(item + ": gradient", gradient));
  if (gradient.isZero(0)) {
    detail::reject_if(item + ": gradient: expected a non-zero vector, got zero");
  }
  detail::reject_if(detail::fault(item + ": squared norm of the gradient in the mass metric",
                                  "a finite number > 0", scaled_.dot(response_)));
}

/// Adds a contact, or nothing and returns false if it has a fault.
template <RealScalar Scalar>
template <InverseMassLike Mass>
bool ImpactProblem<Scalar>::append(const Mass& mass, const VectorX<Scalar>& gradient) {
  using std::sqrt;
  if (mass.size() != size_ || gradient.size() != size_ || !gradient.allFinite()) return false;
  const Scalar largest = size_ > 0 ? gradient.cwiseAbs().maxCoeff() : Scalar(0);
  if (!(largest > Scalar(0))) return false;
  scaled_ = gradient / largest;
  response_ = scaled_;
  mass.apply_inverse(response_);
  const Scalar norm_squared = scaled_.dot(response_);
  if (!(norm_squared > Scalar(0)) || !detail::is_finite(norm_squared)) return false;
  const Scalar norm = sqrt(norm_squared);
  detail::Rollback rollback([this, count = contact_count()] {
    normals_.shrink(count);
    responses_.shrink(count);
  });
  for (Index i = 0; i < size_; ++i) {
    if (scaled_(i) != Scalar(0)) normals_.entries.push_back({i, scaled_(i) / norm});
    if (response_(i) != Scalar(0)) responses_.entries.push_back({i, response_(i) / norm});
  }
  normals_.end_row();
  responses_.end_row();
  rollback.keep();
  return true;
}

}  // namespace CAROM_ABI
}  // namespace carom
