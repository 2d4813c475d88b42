// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/rows/packed_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The vectors and the arrays over parts that an iteration works on, for all islands.
template <RealScalar Scalar>
class SolverMemory {
 public:
  using Packed = PackedProblem<Scalar>;
  /// One number for each whitened unknown.
  enum VectorName {
    whitened,   ///< the iterate w
    free,       ///< w*
    best,       ///< the best iterate so far
    momentum,   ///< Ĵᵀγ
    gradient,   ///< ∇ℓ, or F under Coulomb's law
    direction,  ///< d
    spare1,
    common_count,           ///< of those above, which every solve uses
    spare2 = common_count,  ///< for IterativeHessian
    spare3,
    vector_count
  };
  /// Three components for each part.
  enum TripleName {
    velocity,       ///< v_c = Ĵ w; during a line search y at another point than the iterate
    trial,          ///< y
    impulse,        ///< γ
    trial_step,     ///< what the direction d does to y: −R⁻¹ Ĵ d
    impulse_ahead,  ///< γ at another point than the iterate
    triple_count
  };

  /// @param count  vectors in use: vector_count or common_count.
  void lay_out(const Packed& packed, Index count = vector_count) {
    vector_size_ = packed.vector_size();
    part_size_ = packed.part_size();
    // Padding must stay finite, and is zero where it takes part in sums.
    vectors_.reserve(vector_count * vector_size_);
    vectors_.assign(count * vector_size_, Scalar(0));
    const Index room = part_size_ + packed.spare_parts();
    contacts_.reserve((3 * triple_count + 2) * room);
    contacts_.assign((3 * triple_count + 2) * part_size_, Scalar(0));
    regions_.reserve(room);
    regions_.assign(part_size_, -1);
  }
  [[nodiscard]] Scalar* vector(VectorName name) noexcept {
    return vectors_.data() + name * vector_size_;
  }
  [[nodiscard]] Scalar* contact(TripleName name, int component) noexcept {
    return contacts_.data() + (3 * name + component) * part_size_;
  }
  /// Unit directions of friction as the last full step predicted them, two components.
  [[nodiscard]] Scalar* predicted_direction(int component) noexcept {
    return contacts_.data() + (3 * triple_count + component) * part_size_;
  }
  /// The region that each part was in when its curvature was last assembled; negative where the
  /// region does not fix the curvature.
  [[nodiscard]] signed char* regions() noexcept { return regions_.data(); }

 private:
  Sequence<signed char> regions_;
  Sequence<Scalar> vectors_, contacts_;
  Index vector_size_ = 0, part_size_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
