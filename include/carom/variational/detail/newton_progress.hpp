// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Judges Newton's corrections of a step: whether another one is needed, and whether it needs a
/// matrix of its own or the factored one serves again.
///
/// After a correction of θ times the size of the one before, the next one has at most θ times its
/// size. Where that is small enough, the next correction need not be computed.
template <RealScalar Scalar>
class NewtonProgress {
 public:
  /// A matrix serves again while corrections shrink to this share or less [-]: a stale matrix then
  /// costs no more iterations than a fresh one, and saves its factors.
  static constexpr Scalar shrink_of_kept_matrix = Scalar(0.1);
  /// Small corrections that do not shrink to this share of the one before have met rounding [-].
  static constexpr Scalar stalled_shrink = Scalar(0.5);
  /// A correction is small up to this many targets [-]. More would accept steps on which Newton's
  /// method fails, fewer would iterate on rounding where many terms cancel.
  static constexpr int stalled_targets = 256;
  /// A residual is none where one rounding of its terms is left. Where so many iterations do not
  /// reach that, `late_roundings` are accepted, as in a sum of many terms [ε].
  static constexpr int early_iterations = 6, late_roundings = 16;

  /// @param tolerance  see StepOptions.
  /// @param largest    largest absolute coordinate so far.
  NewtonProgress(const Scalar& tolerance, const Scalar& largest) noexcept
      : tolerance_(tolerance), largest_(largest) {}

  /// Roundings that count as no residual after so many iterations.
  [[nodiscard]] static Scalar roundings_after(int iterations) noexcept {
    return iterations < early_iterations ? Scalar(1) : Scalar(late_roundings);
  }
  /// What counts as no correction [unit of q].
  [[nodiscard]] Scalar target() const noexcept { return tolerance_ * largest_; }
  /// Whether the next iteration needs a matrix of its own.
  [[nodiscard]] bool needs_matrix() const noexcept { return needs_matrix_; }
  /// Whether no further correction is needed.
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// Whether the corrections ended at rounding, above the target.
  [[nodiscard]] bool stalled() const noexcept { return stalled_; }
  /// Largest entry of the last correction, or of the next one where that is foreseen [unit of q].
  [[nodiscard]] const Scalar& residual() const noexcept { return residual_; }

  /// Sees a correction.
  /// @param size     its largest entry.
  /// @param largest  largest absolute coordinate after it.
  void see(const Scalar& size, const Scalar& largest) noexcept {
    largest_ = (std::max)(largest_, largest);
    const Scalar shrink = first_ ? Scalar(1) : size / size_;
    const Scalar ahead = size * shrink;
    done_ = size <= target() || (!first_ && shrink < stalled_shrink && ahead <= target());
    stalled_ = !first_ && shrink >= stalled_shrink && size <= stalled_targets * target();
    done_ = done_ || stalled_;
    residual_ = done_ && !stalled_ ? (std::min)(size, ahead) : size;
    // Far from the solution a matrix is computed in each iteration; the first one serves twice.
    needs_matrix_ = !first_ && shrink > shrink_of_kept_matrix;
    size_ = size;
    first_ = false;
  }

 private:
  Scalar tolerance_, largest_;
  Scalar size_ = 0;  ///< of the last correction
  Scalar residual_ = 0;
  bool first_ = true, needs_matrix_ = true, done_ = false, stalled_ = false;
};

}  // namespace CAROM_ABI
}  // namespace carom
