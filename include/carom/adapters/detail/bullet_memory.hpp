// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <btBulletDynamicsCommon.h>
#include <functional>
#include <vector>

#include "carom/core/scalar.hpp"

namespace carom::inline CAROM_ABI::detail {

/// The impulses of one step's points before they were rounded to Bullet's numbers. At rest the
/// rounding is all that keeps them from being the next step's answer.
class BulletMemory {
 public:
  /// What was kept since the last call is what the step knows.
  void begin_step() {
    known_.swap(kept_);
    kept_.clear();
    std::sort(known_.begin(), known_.end(), before);
  }
  void clear() noexcept {
    known_.clear();
    kept_.clear();
  }
  /// @param impulse  along the point's two lateral directions and its normal, as rounded there.
  void keep(const btManifoldPoint& point, const Vector3<double>& impulse) {
    kept_.push_back({&point, impulse});
  }
  /// @return  what the point has, or more digits of it: kept for a point at this address and of the
  ///          same rounded numbers. Another point than the one kept makes another guess, no more.
  [[nodiscard]] Vector3<double> recall(const btManifoldPoint& point) const {
    Vector3<double> rounded(double(point.m_appliedImpulseLateral1),
                            double(point.m_appliedImpulseLateral2), double(point.m_appliedImpulse));
    const Kept wanted{&point, rounded};
    const auto found = std::lower_bound(known_.begin(), known_.end(), wanted, before);
    if (found == known_.end() || found->point != &point) return rounded;
    const bool same = found->impulse.cast<btScalar>().cast<double>() == rounded;
    return same ? found->impulse : rounded;
  }

 private:
  struct Kept {
    const btManifoldPoint* point;  ///< never looked at, the manifold may be gone
    Vector3<double> impulse;
  };
  [[nodiscard]] static bool before(const Kept& a, const Kept& b) noexcept {
    return std::less<>()(a.point, b.point);
  }

  std::vector<Kept> kept_, known_;
};

}  // namespace carom::inline CAROM_ABI::detail
