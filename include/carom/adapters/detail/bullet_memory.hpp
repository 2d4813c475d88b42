// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <btBulletDynamicsCommon.h>
#include <functional>
#include <vector>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What a point did in a step.
struct PointImpulse {
  Vector3<double> force;   ///< along the point's two lateral directions and its normal [N·s]
  Vector3<double> moment;  ///< against rolling and spinning, in the world's axes [N·m·s]
};

/// The impulses of one step's points before they are stored in Bullet's numbers, which round them
/// and have no room for moments. At rest they are the answer of the next step.
class BulletMemory {
 public:
  /// The step starts from what was kept since the last call.
  void begin_step() {
    known_.swap(kept_);
    kept_.clear();
    std::sort(known_.begin(), known_.end(), before);
  }
  void clear() noexcept {
    known_.clear();
    kept_.clear();
  }
  /// @param impulse  its force as rounded in the point.
  void keep(const btManifoldPoint& point, const PointImpulse& impulse) {
    kept_.push_back({&point, impulse});
  }
  /// @return  what the point has, or, if a point at this address with the same rounded numbers was
  ///          kept, these with more digits and their moment. If it is another point, only the guess
  ///          differs.
  [[nodiscard]] PointImpulse recall(const btManifoldPoint& point) const {
    PointImpulse rounded{{double(point.m_appliedImpulseLateral1),
                          double(point.m_appliedImpulseLateral2), double(point.m_appliedImpulse)},
                         Vector3<double>::Zero()};
    const Kept wanted{&point, rounded};
    const auto found = std::lower_bound(known_.begin(), known_.end(), wanted, before);
    if (found == known_.end() || found->point != &point) return rounded;
    const Vector3<double> kept = found->impulse.force.cast<btScalar>().cast<double>();
    return kept == rounded.force ? found->impulse : rounded;
  }

 private:
  struct Kept {
    const btManifoldPoint* point;  ///< never read, as the manifold may be gone
    PointImpulse impulse;
  };
  [[nodiscard]] static bool before(const Kept& a, const Kept& b) noexcept {
    return std::less<>()(a.point, b.point);
  }

  std::vector<Kept> kept_, known_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
