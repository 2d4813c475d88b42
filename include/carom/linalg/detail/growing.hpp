// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <new>
#include <utility>

#include <Eigen/Core>

#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A vector or matrix whose memory stays allocated when its size decreases. Eigen's own types free
/// the memory and allocate again at each change of size. In all other respects it is an Eigen::Map,
/// so an assignment needs equal sizes.
///
/// ```
/// carom::Growing<carom::VectorX<double>> x;
/// x.grow(5), x.grow(2), x.grow(4);  // allocates once
/// ```
/// @tparam Plain  VectorX<Scalar> or MatrixX<Scalar>.
template <typename Plain>
class Growing : public Eigen::Map<Plain> {
 public:
  using Map = Eigen::Map<Plain>;
  using Scalar = typename Plain::Scalar;

  Growing() : Map(make(nullptr, 0, Plain::IsVectorAtCompileTime ? 1 : 0)) {}
  Growing(const Growing& other) : Map(other), memory_(other.memory_) { place(other); }
  Growing(Growing&& other) noexcept : Map(other), memory_(std::move(other.memory_)) {
    place(other);
  }
  Growing& operator=(const Growing& other) {
    if (this == &other) return *this;
    memory_ = other.memory_;
    place(other);
    return *this;
  }
  Growing& operator=(Growing&& other) noexcept {
    memory_ = std::move(other.memory_);
    place(other);
    return *this;
  }
  ~Growing() = default;
  using Map::operator=;

  /// Changes the size to a smaller or larger one. The entries are undefined afterwards. It
  /// allocates only if the size is larger than every size before.
  void grow(Index rows, Index cols = 1) {
    memory_.resize((std::max)(memory_.size(), rows * cols));
    new (static_cast<Map*>(this)) Map(make(memory_.data(), rows, cols));
  }

 private:
  [[nodiscard]] static Map make(Scalar* data, Index rows, Index cols) noexcept {
    if constexpr (Plain::IsVectorAtCompileTime) {
      return Map(data, rows * cols);
    } else {
      return Map(data, rows, cols);
    }
  }
  void place(const Growing& like) noexcept {
    new (static_cast<Map*>(this)) Map(make(memory_.data(), like.rows(), like.cols()));
  }

  Sequence<Scalar> memory_;
};

}  // namespace CAROM_ABI
}  // namespace carom
