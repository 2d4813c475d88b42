// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Where the directions of a part's data stand: n_v coordinates q, velocities v, 3n anchors p₀,
/// n_v accelerations v̇_free, K, B, μ of n contacts, and the time t.
struct PartColumns {
  Index velocities = 0, contacts = 0;
  [[nodiscard]] Index anchors() const noexcept { return 2 * velocities; }
  [[nodiscard]] Index acceleration() const noexcept { return anchors() + 3 * contacts; }
  [[nodiscard]] Index stiffness() const noexcept { return acceleration() + velocities; }
  [[nodiscard]] Index damping() const noexcept { return stiffness() + 3 * contacts; }
  [[nodiscard]] Index friction() const noexcept { return damping() + 3 * contacts; }
  [[nodiscard]] Index time() const noexcept { return friction() + contacts; }
  [[nodiscard]] Index count() const noexcept { return time() + 1; }
};

/// Where the directions of a step's data stand: the state before it, forces, accelerations, K, B
/// and μ of all contacts, and the length of the step.
struct StepColumns {
  Index velocities = 0, contacts = 0;
  [[nodiscard]] Index rows() const noexcept { return 2 * velocities + 3 * contacts; }
  [[nodiscard]] Index force() const noexcept { return rows(); }
  [[nodiscard]] Index acceleration() const noexcept { return force() + velocities; }
  [[nodiscard]] Index stiffness() const noexcept { return acceleration() + velocities; }
  [[nodiscard]] Index damping() const noexcept { return stiffness() + 3 * contacts; }
  [[nodiscard]] Index friction() const noexcept { return damping() + 3 * contacts; }
  [[nodiscard]] Index time_step() const noexcept { return friction() + contacts; }
  [[nodiscard]] Index count() const noexcept { return time_step() + 1; }
};

/// Writes the derivatives of a part's data by those of the step; its time stays zero.
/// @param part   knows its columns, its active contacts and M⁻¹.
/// @param state  derivatives of the state at the part's start.
/// @param out    PartColumns rows, StepColumns columns.
template <typename Part, typename Matrix>
void write_part_inputs(const StepColumns& step, const Part& part, const Matrix& state,
                       Matrix& out) noexcept {
  using Scalar = typename Matrix::Scalar;
  const PartColumns& columns = part.columns();
  const Index k = step.velocities;
  out.setZero();
  out.topRows(2 * k) = state.topRows(2 * k);
  out.block(columns.acceleration(), step.force(), k, k) = part.inverse_mass();
  out.block(columns.acceleration(), step.acceleration(), k, k).setIdentity();
  for (Index c = 0; c < columns.contacts; ++c) {
    const Index i = part.active()[std::size_t(c)];
    out.middleRows(columns.anchors() + 3 * c, 3) = state.middleRows(2 * k + 3 * i, 3);
    for (Index a = 0; a < 3; ++a) {
      out(columns.stiffness() + 3 * c + a, step.stiffness() + 3 * i + a) = Scalar(1);
      out(columns.damping() + 3 * c + a, step.damping() + 3 * i + a) = Scalar(1);
    }
    out(columns.friction() + c, step.friction() + i) = Scalar(1);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
