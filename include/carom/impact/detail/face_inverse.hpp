// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// G_AA⁺ of some contacts A, the inverse on the range of their part of the Gram matrix: impulses of
/// least norm where normals depend on each other.
template <RealScalar Scalar>
class FaceInverse {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Grows memory. Cold: allocates.
  void prepare(Index count) {
    eigen_.prepare(count);
    contacts_.reserve(std::size_t(count));
  }
  /// Forgets what was decomposed.
  void clear() noexcept { contacts_.clear(); }
  /// Decomposes G_AA, unless it was the last one decomposed.
  /// @return  false where a number is not finite.
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

  /// y_A = G_AA⁺ x_A, zero elsewhere; x and y may not be the same.
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

  /// Calls visit(i) for every contact whose normal depends on those of others.
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
  /// Whether an eigenvalue is more than what rounding leaves of zero.
  [[nodiscard]] bool counts(Index mode) const noexcept {
    return eigen_.values()(mode) >
           64 * Scalar(contacts_.size()) * std::numeric_limits<Scalar>::epsilon();
  }

  SymmetricEigen<Scalar> eigen_;
  std::vector<Index> contacts_;
};

}  // namespace CAROM_ABI
}  // namespace carom
