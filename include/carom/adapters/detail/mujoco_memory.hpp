// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/adapters/detail/mujoco_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Impulses of the step before, found again by the geometries or items between which they acted:
/// the warm start of solvers in impulses.
class MujocoMemory {
 public:
  /// Keeps a step's impulses.
  /// @note  Allocates beyond the largest step so far.
  void keep(const mjData& data, const MujocoProblem& posed, const VectorX<double>& impulse) {
    const Sequence<MujocoRowLaw>& laws = posed.laws();
    kept_.resize(laws.size());
    for (Index i = 0; i < laws.size(); ++i) {
      kept_[i] = {key_of(data, posed, laws[i]), RowNumbers<double>::Zero()};
      const Index first = posed.first_impulse(laws[i]);
      for (int r = 0; r < laws[i].rows(); ++r) kept_[i].impulse(r) = impulse(first + r);
    }
  }

  /// Writes what is known of a step's impulses, zero elsewhere.
  /// @param impulse  of the problem's size.
  /// @return  whether any of them is known.
  [[nodiscard]] bool recall(const mjData& data, const MujocoProblem& posed,
                            VectorX<double>& impulse) const noexcept {
    impulse.setZero();
    bool known = false;
    Index next = 0;  // the order seldom changes, so the search goes on behind the last one found
    for (const MujocoRowLaw& law : posed.laws()) {
      const Key key = key_of(data, posed, law);
      for (Index tried = 0; tried < kept_.size(); ++tried) {
        const Index at = (next + tried) % kept_.size();
        if (!(kept_[at].key == key)) continue;
        const Index first = posed.first_impulse(law);
        for (int r = 0; r < law.rows(); ++r) impulse(first + r) = kept_[at].impulse(r);
        known = true;
        next = at + 1;
        break;
      }
    }
    return known;
  }

 private:
  struct Key {
    int type, first, second;  ///< geometries of a contact; else the number of its item
    int shape, rows;
    bool operator==(const Key&) const = default;
  };
  struct Kept {
    Key key;
    RowNumbers<double> impulse;
  };

  [[nodiscard]] static Key key_of(const mjData& data, const MujocoProblem& posed,
                                  const MujocoRowLaw& law) noexcept {
    const MujocoBlock& block = posed.blocks()[law.block];
    Key key{block.type, block.id, 0, int(law.law.set.shape), law.rows()};
    if (MujocoLawWriter::is_contact(block)) {
      key.first = data.contact[block.id].geom1;
      key.second = data.contact[block.id].geom2;
    }
    return key;
  }

  Sequence<Kept> kept_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
