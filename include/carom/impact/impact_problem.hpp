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

namespace carom {
inline namespace CAROM_ABI {

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
/// Add all closed contacts, also those that rest: the outcome depends on them. Then call prepare().
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
    scaled_.resize(size);
    response_.resize(size);
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
  /// @note  Cold: throws std::invalid_argument naming the contact. Allocates until grown: not where
  ///        a problem of the same size, as many contacts and entries was there before.
  template <InverseMassLike Mass>
  Index add_contact(const Mass& mass, const VectorX<Scalar>& gradient);

  /// The same for hot loops: false, and nothing added, where add_contact() would throw.
  /// @note  Real-time safe once grown: no allocation, no exception.
  template <InverseMassLike Mass>
  [[nodiscard]] bool try_add_contact(const Mass& mass, const VectorX<Scalar>& gradient) noexcept;

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
      scale = (std::max)(scale, sum);
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
    MatrixX<Scalar> g(contact_count(), contact_count());
    write_gram(g);
    return g;
  }
  /// The same into memory of the caller, n_c×n_c.
  template <typename Derived>
  void write_gram(Eigen::MatrixBase<Derived>& out) const noexcept {
    CAROM_EXPECTS(out.rows() == contact_count() && out.cols() == contact_count());
    out.setIdentity();
    for (Index i = 0; i < contact_count(); ++i) {
      for (const Entry& e : neighbours(i)) out(i, e.index) = e.value;
    }
  }

  /// Completes the Gram matrix after the last add_contact. All that asks for rates, neighbours or
  /// the Gram matrix needs it.
  /// @note  Allocates until grown, as add_contact() does.
  void prepare();

  /// Whether prepare() was called after the last contact.
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
  static constexpr std::size_t none = std::size_t(-1);

  /// A contact that touches a coordinate, and where the coordinate's next one is.
  struct Touch {
    Index contact;
    Scalar value;
    std::size_t next;
  };
  /// Two contacts whose normals meet.
  struct Meeting {
    Index contact, earlier;
    Scalar product;
  };

  [[nodiscard]] static std::span<const Entry> row(const Row& entries,
                                                  const std::vector<std::size_t>& starts,
                                                  Index i) noexcept {
    const auto k = static_cast<std::size_t>(i);
    return {entries.data() + starts[k], starts[k + 1] - starts[k]};
  }

  void refuse_contact(Index mass_size, const VectorX<Scalar>& gradient) const;
  void write_gram_rows(std::size_t count);

  Index size_ = 0;
  Row normals_, responses_, gram_;
  std::vector<std::size_t> normal_starts_, response_starts_, gram_starts_;
  std::vector<Index> merged_into_;
  VectorX<Scalar> scaled_, response_;  ///< of the contact being added
  // Memory of prepare().
  std::vector<Touch> touches_;
  std::vector<std::size_t> first_touch_, last_touch_;  ///< per coordinate
  std::vector<Scalar> sums_;
  std::vector<Index> met_;
  std::vector<Meeting> meetings_;
};

// --- implementation ---

template <RealScalar Scalar>
template <InverseMassLike Mass>
Index ImpactProblem<Scalar>::add_contact(const Mass& mass, const VectorX<Scalar>& gradient) {
  if (!try_add_contact(mass, gradient)) refuse_contact(mass.size(), gradient);
  return contact_count() - 1;
}

/// Says why try_add_contact() refused the contact.
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

template <RealScalar Scalar>
template <InverseMassLike Mass>
bool ImpactProblem<Scalar>::try_add_contact(const Mass& mass,
                                            const VectorX<Scalar>& gradient) noexcept {
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
  for (Index i = 0; i < size_; ++i) {
    if (scaled_(i) != Scalar(0)) normals_.push_back({i, scaled_(i) / norm});
    if (response_(i) != Scalar(0)) responses_.push_back({i, response_(i) / norm});
  }
  normal_starts_.push_back(normals_.size());
  response_starts_.push_back(responses_.size());
  return true;
}

template <RealScalar Scalar>
void ImpactProblem<Scalar>::prepare() {
  const auto count = static_cast<std::size_t>(contact_count());
  constexpr Scalar same = 8 * std::numeric_limits<Scalar>::epsilon();
  // Which contacts have a normal entry at each coordinate: only these have a product that is not 0.
  touches_.clear();
  first_touch_.assign(std::size_t(size_), none);
  last_touch_.assign(std::size_t(size_), none);
  merged_into_.assign(count, -1);
  sums_.assign(count, Scalar(0));
  meetings_.clear();
  for (std::size_t j = 0; j < count; ++j) {
    met_.clear();
    for (const Entry& e : response(Index(j))) {
      std::size_t k = first_touch_[std::size_t(e.index)];
      for (; k != none; k = touches_[k].next) {
        Scalar& sum = sums_[std::size_t(touches_[k].contact)];
        if (sum == Scalar(0)) met_.push_back(touches_[k].contact);
        sum += e.value * touches_[k].value;
      }
    }
    for (const Index i : met_) {
      if (sums_[std::size_t(i)] >= Scalar(1) - same) merged_into_[j] = i;
    }
    for (const Index i : met_) {
      const Scalar product = std::exchange(sums_[std::size_t(i)], Scalar(0));
      if (merged_into_[j] >= 0 || product == Scalar(0)) continue;
      meetings_.push_back({Index(j), i, product});
    }
    if (merged_into_[j] >= 0) continue;  // acts through its twin
    for (const Entry& e : normal(Index(j))) {
      std::size_t& last = last_touch_[std::size_t(e.index)];
      (last == none ? first_touch_[std::size_t(e.index)] : touches_[last].next) = touches_.size();
      last = touches_.size();
      touches_.push_back({Index(j), e.value, none});
    }
  }
  write_gram_rows(count);
}

/// Sorts the meetings into rows: counts, then starts, then entries. Starts lag by one row while the
/// entries are put in.
template <RealScalar Scalar>
void ImpactProblem<Scalar>::write_gram_rows(std::size_t count) {
  gram_.resize(2 * meetings_.size());
  gram_starts_.assign(count + 1, 0);
  if (count < 2) return;
  for (const Meeting& m : meetings_) {
    for (const Index i : {m.contact, m.earlier}) {
      if (std::size_t(i) + 2 <= count) ++gram_starts_[std::size_t(i) + 2];
    }
  }
  for (std::size_t i = 2; i <= count; ++i) gram_starts_[i] += gram_starts_[i - 1];
  for (const Meeting& m : meetings_) {
    gram_[gram_starts_[std::size_t(m.contact) + 1]++] = {m.earlier, m.product};
    gram_[gram_starts_[std::size_t(m.earlier) + 1]++] = {m.contact, m.product};
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
