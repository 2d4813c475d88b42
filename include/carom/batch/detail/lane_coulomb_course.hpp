// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/lanes.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// How far the lanes of LaneCoulomb have come. Numbers only, so that a lane can be put aside.
/// @tparam ConvexProgress  that of the convex problem under way.
template <typename Number, typename ConvexProgress>
struct LaneCoulombCourse {
  Number on_law;              ///< 1: Newton's method on the law; 0: a convex problem
  Number lifts, since_trial;  ///< convex problems solved, in all and of a period
  Number reach, tolerance;    ///< as in CoulombNewton
  Number share, last, least;  ///< the last and the least ‖F‖ so far, that of the iterate kept
  Number law_least, law_stalls, convex_status;
  ConvexProgress convex;

  /// These lanes have come nowhere yet.
  CAROM_DEVICE void restart(const typename Number::Mask& lanes) noexcept {
    using Scalar = typename Number::scalar_type;
    using Tuning = CoulombNewtonTuning;
    const auto set = [&](Number& entry, double x) {
      entry = select(lanes, Number(Scalar(x)), entry);
    };
    for (Number* entry : {&since_trial, &law_least, &law_stalls}) set(*entry, 0);
    set(reach, Tuning::first_reach);
    set(tolerance, Tuning::first_tolerance);
    set(share, Tuning::first_share);
    set(last, std::numeric_limits<double>::infinity());
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
