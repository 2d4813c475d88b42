// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/impact/mass_matrix.hpp"

namespace carom::inline CAROM_ABI {

/// One nonzero of a sparse row.
template <RealScalar Scalar>
struct SparseEntry {
  Index index;
  Scalar value;
};

/// All closed contacts of one instant, seen in the kinetic metric ⟨a, b⟩ = a M⁻¹ bᵀ of momenta.
///
/// Contact i is its gap function's gradient Dϕ_i, a covector, normalised to u_i = Dϕ_i/|Dϕ_i|. A
/// momentum p closes it at the rate s_i = ⟨p, u_i⟩; s_i < 0 is infeasible. Everything that happens
/// in the impact happens through the Gram matrix G_ij = ⟨u_i, u_j⟩, kept sparse.
///
/// Put in all closed contacts, resting ones included: the outcome depends on them. Then prepare().
/// @cite seghete2014propagative, section III, with S the set of all closed contacts.
template <RealScalar Scalar>
class ImpactProblem {
 public:
  using scalar_type = Scalar;
  using Entry = SparseEntry<Scalar>;

  /// @param size  n, length of momenta and gradients.
  explicit ImpactProblem(Index size = 0) { reset(size); }

  /// Forgets all contacts, keeps their memory.
  void reset(Index size) {
    size_ = size;
    normals_.clear();
    responses_.clear();
    normal_starts_.assign(1, 0);
    response_starts_.assign(1, 0);
    merged_into_.clear();
    gram_.clear();
    gram_starts_.assign(1, 0);
  }

  /// Adds a closed contact.
  /// @param mass      M, or any operator that applies M⁻¹.
  /// @param gradient  Dϕ [-, m], n numbers, not all zero; its length does not matter.
  /// @return  index of the contact.
  /// @note  Cold: allocates, throws std::invalid_argument naming the contact.
  template <InverseMassLike Mass>
  Index add_contact(const Mass& mass, const VectorX<Scalar>& gradient);

  [[nodiscard]] Index size() const noexcept { return size_; }
  [[nodiscard]] Index contact_count() const noexcept { return Index(normal_starts_.size()) - 1; }

  /// u_i, sparse.
  [[nodiscard]] std::span<const Entry> normal(Index contact) const noexcept {
    return row(normals_, normal_starts_, contact);
  }
  /// M⁻¹ u_iᵀ, the velocity a unit impulse gives, sparse.
  [[nodiscard]] std::span<const Entry> response(Index contact) const noexcept {
    return row(responses_, response_starts_, contact);
  }
  /// Row i of G without its diagonal, which is 1, and without contacts that repeat others.
  [[nodiscard]] std::span<const Entry> neighbours(Index contact) const noexcept {
    CAROM_EXPECTS(prepared());
    return row(gram_, gram_starts_, contact);
  }
  /// The earlier contact this one repeats (the same unit normal, to round-off), or −1. A repeated
  /// contact never acts: its twin acts for both.
  [[nodiscard]] Index merged_into(Index contact) const noexcept {
    CAROM_EXPECTS(prepared());
    return merged_into_[std::size_t(contact)];
  }

  /// s_i = ⟨p, u_i⟩ [√J]; zero for a contact that repeats another.
  [[nodiscard]] Scalar rate(Index contact, const VectorX<Scalar>& momentum) const noexcept {
    if (merged_into(contact) >= 0) return Scalar(0);
    Scalar sum = 0;
    for (const Entry& e : response(contact)) sum += momentum(e.index) * e.value;
    return sum;
  }

  /// max_i Σ_j |p_j (M⁻¹u_i)_j| [√J], the rates' sums without cancellation: round-off in any rate
  /// is a few roundings of it, however small the rates themselves are. At least the fastest |s_i|.
  [[nodiscard]] Scalar rate_scale(const VectorX<Scalar>& momentum) const noexcept {
    using std::abs;
    Scalar scale = 0;
    for (Index i = 0; i < contact_count(); ++i) {
      Scalar sum = 0;
      for (const Entry& e : response(i)) sum += abs(momentum(e.index) * e.value);
      scale = std::max(scale, sum);
    }
    return scale;
  }

  /// p += λ u_i, λ in [√J].
  void add_impulse(Index contact, const Scalar& impulse, VectorX<Scalar>& momentum) const noexcept {
    for (const Entry& e : normal(contact)) momentum(e.index) += impulse * e.value;
  }

  /// Dense Gram matrix, for checking and small problems.
  /// @note  Cold: allocates, throws std::invalid_argument before prepare().
  [[nodiscard]] MatrixX<Scalar> gram() const {
    require_prepared();
    MatrixX<Scalar> g = MatrixX<Scalar>::Identity(contact_count(), contact_count());
    for (Index i = 0; i < contact_count(); ++i) {
      for (const Entry& e : neighbours(i)) g(i, e.index) = e.value;
    }
    return g;
  }

  /// Completes the Gram matrix after the last add_contact. All that asks for rates, neighbours or
  /// the Gram matrix needs it.
  /// @note  Cold: allocates.
  void prepare();

  /// Whether prepare() has seen all contacts.
  [[nodiscard]] bool prepared() const noexcept {
    return gram_starts_.size() == normal_starts_.size();
  }
  /// Refuses a problem that is not prepared().
  /// @note  Cold: throws std::invalid_argument.
  void require_prepared() const {
    if (!prepared()) detail::reject_if("impact problem: expected prepare() after the last contact");
  }

 private:
  using Row = std::vector<Entry>;

  [[nodiscard]] static std::span<const Entry> row(const Row& entries,
                                                  const std::vector<std::size_t>& starts,
                                                  Index i) noexcept {
    const auto k = static_cast<std::size_t>(i);
    return {entries.data() + starts[k], starts[k + 1] - starts[k]};
  }

  Index size_ = 0;
  Row normals_, responses_, gram_;
  std::vector<std::size_t> normal_starts_, response_starts_, gram_starts_;
  std::vector<Index> merged_into_;
};

// --- implementation ---

template <RealScalar Scalar>
template <InverseMassLike Mass>
Index ImpactProblem<Scalar>::add_contact(const Mass& mass, const VectorX<Scalar>& gradient) {
  using std::sqrt;
  const std::string item = "contact " + std::to_string(contact_count());
  if (mass.size() != size_) {
    detail::reject_if(detail::fault("mass size", "the problem's size", mass.size()));
  }
  if (gradient.size() != size_) {
    detail::reject_if(
        detail::fault(item + ": gradient entries", "as many as the mass has", gradient.size()));
  }
  if (!gradient.allFinite()) detail::reject_if(detail::finite_fault(item + ": gradient", gradient));
  const Scalar largest = size_ > 0 ? gradient.cwiseAbs().maxCoeff() : Scalar(0);
  if (!(largest > Scalar(0))) {
    detail::reject_if(item + ": gradient: expected a non-zero vector, got zero");
  }
  const VectorX<Scalar> scaled = gradient / largest;
  VectorX<Scalar> response = scaled;
  mass.apply_inverse(response);
  const Scalar norm_squared = scaled.dot(response);
  if (!(norm_squared > Scalar(0)) || !detail::is_finite(norm_squared)) {
    detail::reject_if(detail::fault(item + ": squared norm of the gradient in the mass metric",
                                    "a finite number > 0", norm_squared));
  }
  const Scalar norm = sqrt(norm_squared);
  for (Index i = 0; i < size_; ++i) {
    if (scaled(i) != Scalar(0)) normals_.push_back({i, scaled(i) / norm});
    if (response(i) != Scalar(0)) responses_.push_back({i, response(i) / norm});
  }
  normal_starts_.push_back(normals_.size());
  response_starts_.push_back(responses_.size());
  return contact_count() - 1;
}

template <RealScalar Scalar>
void ImpactProblem<Scalar>::prepare() {
  const auto count = static_cast<std::size_t>(contact_count());
  constexpr Scalar same = 8 * std::numeric_limits<Scalar>::epsilon();
  // Which contacts have a normal entry at each coordinate: only these can meet in a product.
  std::vector<Row> touching(static_cast<std::size_t>(size_));
  gram_.clear();
  gram_starts_.assign(1, 0);
  merged_into_.assign(count, -1);
  std::vector<Scalar> sums(count, Scalar(0));
  std::vector<Index> met;
  std::vector<Row> rows(count);
  for (std::size_t j = 0; j < count; ++j) {
    met.clear();
    for (const Entry& e : response(Index(j))) {
      for (const Entry& earlier : touching[std::size_t(e.index)]) {
        Scalar& sum = sums[std::size_t(earlier.index)];
        if (sum == Scalar(0)) met.push_back(earlier.index);
        sum += e.value * earlier.value;
      }
    }
    for (const Index i : met) {
      if (sums[std::size_t(i)] >= Scalar(1) - same) merged_into_[j] = i;
    }
    for (const Index i : met) {
      const Scalar product = std::exchange(sums[std::size_t(i)], Scalar(0));
      if (merged_into_[j] >= 0 || product == Scalar(0)) continue;
      rows[j].push_back({i, product});
      rows[std::size_t(i)].push_back({Index(j), product});
    }
    if (merged_into_[j] >= 0) continue;  // acts through its twin
    for (const Entry& e : normal(Index(j))) {
      touching[std::size_t(e.index)].push_back({Index(j), e.value});
    }
  }
  for (const Row& row : rows) {
    gram_.insert(gram_.end(), row.begin(), row.end());
    gram_starts_.push_back(gram_.size());
  }
}

}  // namespace carom::inline CAROM_ABI
