// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Recognises chatter: impacts of one contact that come ever faster and lose energy each time.
///
/// A contact chatters when its last `required` intervals each shrank, every impact lost energy, and
/// the geometric series that the last two intervals start ends within a step. Lossless sequences,
/// however fast, never chatter.
template <RealScalar Scalar>
class ChatterWatch {
 public:
  static constexpr int required = 3;  ///< shrinking intervals that make a chattering contact

  /// Cold: allocates.
  void prepare(Index contact_count) { contacts_.assign(std::size_t(contact_count), {}); }

  /// Records an impact.
  /// @param time  of the impact [s].
  /// @param lost  whether it lost energy.
  /// @param step  time step [s], > 0.
  /// @return  whether the contact chatters and should come to rest.
  bool see(Index contact, const Scalar& time, bool lost, const Scalar& step) noexcept {
    History& h = contacts_[std::size_t(contact)];
    const Scalar interval = time - h.time;
    const bool shrinks = lost && h.impacts > 1 && interval < h.interval;
    const Scalar ratio = shrinks ? interval / h.interval : Scalar(1);
    h.shrinking = shrinks ? h.shrinking + 1 : 0;
    h.impacts = lost ? (h.impacts < 2 ? h.impacts + 1 : 2) : 0;
    h.time = time;
    h.interval = interval;
    return h.shrinking >= required && interval * ratio < step * (1 - ratio);
  }

  void forget(Index contact) noexcept { contacts_[std::size_t(contact)] = {}; }
  void forget_all() noexcept {
    for (History& h : contacts_) h = {};
  }

 private:
  struct History {
    Scalar time = 0;
    Scalar interval = 0;
    int impacts = 0;    ///< that lost energy, up to two: needed for an interval
    int shrinking = 0;  ///< intervals in a row
  };
  std::vector<History> contacts_;
};

}  // namespace CAROM_ABI
}  // namespace carom
