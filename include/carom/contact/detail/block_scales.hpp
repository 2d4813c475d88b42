// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/detail/body_islands.hpp"
#include "carom/contact/impulse_set.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of BlockScales, pure numbers [-].
struct BlockScalesTuning {
  /// The least scale of a direction, as a share of the whole motion of its bodies, even if no body
  /// moves in this direction. With a larger share, the approach of a block that slides fast can
  /// remain undetected. A smaller share requires velocities that are more exact than their
  /// rounding: ε divided by the share is the least possible tolerance.
  static constexpr double least_share = 1e-2;
  /// The same share of the fastest motion in the island: bodies at rest that are pushed by others
  /// have no motion of their own as a scale.
  static constexpr double island_share = 1e-2;
};

/// The scales of the errors of a problem's rows: a velocity V for each row, which describes the
/// motion of the row's bodies, and the inverse mass of the row. The scales depend on the data only.
/// Impulses that grow without limit therefore do not reduce a relative error.
///
/// V of a group of rows (the normal, or the rows of one friction disc) is the largest of
/// * the velocity of either body along the rows before contact acts, J_s v*_s,
/// * the bias velocity of the block, v̂,
/// * a hundredth of ‖Ĵ_s‖ ‖v*_s‖_A of either body, which bounds J_s v*_s, and
/// * a hundredth of the fastest motion in the island. To this a normal's bias velocity adds only if
///   it pushes: a contact that is open by much moves no body.
/// V does not depend on the coordinates of the velocities, on rotated tangents or on the order of
/// the problem. It is proportional to the unit of velocity.
template <RealScalar Scalar>
class BlockScales {
 public:
  /// Allocates memory for the problem's size, so that write() does not.
  void reserve(const ContactProblem<Scalar>& problem) {
    velocity_.resize(problem.impulse_count());
    inverse_mass_.resize(problem.impulse_count());
    motion_.resize(problem.body_count());
    fastest_.resize(problem.body_count());
    groups_.reset(problem.body_count());
  }
  /// Computes the scales of a problem.
  /// @note  Allocates only for a problem larger than every problem before.
  void write(const ContactProblem<Scalar>& problem) {
    begin(problem);
    for (Index i = 0; i < problem.block_count(); ++i) add_block(problem, i);
    for (Index i = 0; i < problem.block_count(); ++i) raise_block(problem, i);
  }
  /// V of a row in the stacked impulses [m/s, rad/s].
  [[nodiscard]] const Scalar& velocity(Index row) const noexcept { return velocity_[row]; }
  /// ‖Ĵ‖² of a row, its diagonal entry of W [1/kg, 1/(kg·m²)].
  [[nodiscard]] const Scalar& inverse_mass(Index row) const noexcept { return inverse_mass_[row]; }

 private:
  using Tuning = BlockScalesTuning;

  /// The fastest motion of an island: of cones along their normals [m/s]; of other rows and of all
  /// rows in units of their own inverse masses [√J].
  struct Fastest {
    Scalar cones = 0, rows = 0, all = 0;
  };
  /// Rows with one common scale, each multiplied by its μ. The μ of a normal or of a row between
  /// bounds is 1.
  struct Group {
    Scalar velocity = 0;  ///< V of the rows times μ
    Scalar motion = 0;    ///< what they add to the fastest motion of the island
    Scalar squared = 0;   ///< ‖μ ∘ Ĵ‖²
  };

  void begin(const ContactProblem<Scalar>& problem) {
    using std::sqrt;
    reserve(problem);
    fastest_.assign(problem.body_count(), {});
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto [start, size] = problem.body(b);
      const Scalar* const whitened = problem.whitened_free_velocity().data() + start;
      motion_[b] = sqrt(long_dot(whitened, whitened, size));
    }
    for (Index i = 0; i < problem.block_count(); ++i) {
      if (problem.side_count(i) < 2) continue;
      groups_.join(problem.side_body(i, 0), problem.side_body(i, 1));
    }
  }

  /// The scale of a group from the motion of its own bodies only.
  /// @param is_normal  whether it is the normal of a cone.
  [[nodiscard]] Group find(const ContactProblem<Scalar>& problem, Index block,
                           const FrictionBlock<Scalar>& rows, bool is_normal) {
    using std::sqrt;
    Group group;
    Scalar asked(0);
    for (int k = 0; k < rows.size; ++k) {
      const Scalar bias = rows.mu(k) * problem.bias_velocity(block, rows.row(k));
      asked += bias * bias;
      inverse_mass_[problem.first_row(block) + rows.row(k)] = Scalar(0);
    }
    group.velocity = sqrt(asked);
    if (!is_normal || problem.bias_velocity(block, rows.row(0)) > Scalar(0)) {
      group.motion = group.velocity;
    }
    const Scalar* const free_velocity = problem.free_velocity().data();
    for (int s = 0; s < problem.side_count(block); ++s) {
      const auto [body, range, jacobian, whitened] = problem.side(block, s);
      Scalar moved(0), squared(0);
      for (int k = 0; k < rows.size; ++k) {
        const Index row = rows.row(k), at = row * range.size;
        const Scalar along =
            rows.mu(k) * long_dot(jacobian + at, free_velocity + range.start, range.size);
        const Scalar own = long_dot(whitened + at, whitened + at, range.size);
        moved += along * along;
        squared += rows.mu(k) * rows.mu(k) * own;
        inverse_mass_[problem.first_row(block) + row] += own;
      }
      group.squared += squared;
      raise(group.motion, Scalar(sqrt(moved)));
      raise(group.motion, Scalar(Scalar(Tuning::least_share) * sqrt(squared) * motion_[body]));
    }
    raise(group.velocity, group.motion);
    return group;
  }
  static void raise(Scalar& number, const Scalar& least) noexcept {
    number = (std::max)(number, least);
  }
  /// Calls visit(rows, whether they are the normal) for each group of a block, the normal first.
  template <typename Visit>
  static void for_each_group(const ContactProblem<Scalar>& problem, Index block,
                             const Visit& visit) {
    const auto one = [&](int row, bool is_normal) {
      FrictionBlock<Scalar> rows;
      rows.add(row, Scalar(1));
      visit(rows, is_normal);
    };
    if (problem.is_friction_contact(block)) {
      FrictionBlock<Scalar> disc;
      for (int r = 0; r < 2; ++r) disc.add(r, problem.friction_contact_law(block).friction);
      one(2, true);
      return visit(disc, false);
    }
    const ImpulseSet<Scalar>& set = problem.other_block(block).law().set;
    const int normal = normal_row(set.shape);
    for (int r = 0; normal < 0 && r < set.rows; ++r) one(r, false);
    if (normal >= 0) one(normal, true);
    for (const FrictionBlock<Scalar>& disc : FrictionBlocks<Scalar>(set)) visit(disc, false);
  }

  void add_block(const ContactProblem<Scalar>& problem, Index block) {
    using std::sqrt;
    Fastest& fastest = fastest_[groups_.lowest(problem.side_body(block, 0))];
    const bool cone = problem.shape(block) != ImpulseShape::intervals;
    const Index first_row = problem.first_row(block);
    Scalar normal(0);
    for_each_group(problem, block, [&](const FrictionBlock<Scalar>& rows, bool is_normal) {
      const Group group = find(problem, block, rows, cone && is_normal);
      for (int k = 0; k < rows.size; ++k) {
        velocity_[first_row + rows.row(k)] =
            rows.mu(k) > Scalar(0) ? Scalar(group.velocity / rows.mu(k)) : Scalar(0);
      }
      if (is_normal) normal = group.squared;
      if (!(group.squared > Scalar(0))) return;
      if (cone) {  // in units of the normal
        const Scalar share = normal > Scalar(0) ? sqrt(normal / group.squared) : Scalar(1);
        raise(fastest.cones, Scalar(group.motion * share));
      }
      const Scalar own = group.motion / sqrt(group.squared);
      raise(fastest.all, own);
      if (!cone) raise(fastest.rows, own);
    });
  }

  /// Raises the scales of a block to their share of the fastest motion in its island.
  void raise_block(const ContactProblem<Scalar>& problem, Index block) {
    using std::sqrt;
    const Fastest& fastest = fastest_[groups_.lowest(problem.side_body(block, 0))];
    const bool cone = problem.shape(block) != ImpulseShape::intervals;
    const Index first_row = problem.first_row(block);
    const auto share = Scalar(Tuning::island_share);
    Scalar normal(0);
    for_each_group(problem, block, [&](const FrictionBlock<Scalar>& rows, bool is_normal) {
      Scalar squared(0);
      for (int k = 0; k < rows.size; ++k) {
        squared += rows.mu(k) * rows.mu(k) * inverse_mass_[first_row + rows.row(k)];
      }
      if (is_normal) normal = squared;
      const Scalar own = sqrt(squared);
      Scalar least = share * own * fastest.all;
      if (cone && fastest.cones > Scalar(0)) {
        const Scalar part = normal > Scalar(0) && !is_normal ? sqrt(squared / normal) : Scalar(1);
        least = share * part * fastest.cones;
      } else if (!cone && fastest.rows > Scalar(0)) {
        least = share * own * fastest.rows;
      }
      // No velocity moves these rows: their error is measured by the full fastest motion.
      if (!(squared > Scalar(0))) least = fastest.cones;
      for (int k = 0; k < rows.size; ++k) {
        if (!(rows.mu(k) > Scalar(0))) continue;
        raise(velocity_[first_row + rows.row(k)], Scalar(least / rows.mu(k)));
      }
    });
  }

  Sequence<Scalar> velocity_, inverse_mass_;  ///< per stacked row
  Sequence<Scalar> motion_;                   ///< ‖v*‖_A of each body [√J]
  BodyGroups groups_;                         ///< islands
  Sequence<Fastest> fastest_;                 ///< of an island, stored at its lowest body
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
