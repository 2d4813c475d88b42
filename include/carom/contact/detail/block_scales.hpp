// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/detail/friction_blocks.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of BlockScales, pure numbers [-].
struct BlockScalesTuning {
  /// Share of its bodies' whole motion that a direction counts at least, though nothing moves along
  /// it. A larger share lets a block that slides fast approach unseen, a smaller one asks for
  /// velocities more exact than their rounding: its inverse times ε is the least error that can be
  /// asked for.
  static constexpr double least_share = 1e-2;
  /// The same share of what moves fastest in the island: bodies at rest that are pushed by others
  /// have no motion of their own to be measured by.
  static constexpr double island_share = 1e-2;
};

/// What the errors of a problem's rows are measured by: a velocity V of each row, which says what
/// the row's own bodies do, and the inverse mass of the row. They follow from the data alone, so
/// that impulses that grow without end do not make an error look small.
///
/// V of a group of rows, the normal or those that one friction disc bounds, is the largest of
/// * the velocity of either body along the rows before contact acts, J_s v*_s,
/// * the velocity that the block asks for, v̂,
/// * a hundredth of ‖Ĵ_s‖ ‖v*_s‖_A of either body, which bounds J_s v*_s, and
/// * a hundredth of what moves fastest in the island.
/// It does not change with the coordinates of the velocities, with turned tangents or with the
/// order of the problem, and it scales as the unit of velocity does.
template <RealScalar Scalar>
class BlockScales {
 public:
  /// Finds the scales of a problem.
  /// @note  Allocates beyond the largest problem so far.
  void write(const ContactProblem<Scalar>& problem) {
    begin(problem);
    problem.for_each_block([&](const BlockView<Scalar>& block) { add_block(problem, block); });
    problem.for_each_block([&](const BlockView<Scalar>& block) { raise_block(block); });
  }
  /// V of a row of the stacked impulses [m/s, rad/s].
  [[nodiscard]] const Scalar& velocity(Index row) const noexcept { return velocity_[row]; }
  /// ‖Ĵ‖² of a row, its entry of the diagonal of W [1/kg, 1/(kg·m²)].
  [[nodiscard]] const Scalar& inverse_mass(Index row) const noexcept { return inverse_mass_[row]; }

 private:
  using Tuning = BlockScalesTuning;

  /// The fastest of an island: of cones along their normals [m/s], of other rows and of all in
  /// units of their own inverse masses [√J].
  struct Fastest {
    Scalar cones = 0, rows = 0, all = 0;
  };
  /// Rows that share one scale, each times its μ; μ of a normal or a row between bounds is 1.
  struct Group {
    Scalar velocity = 0;  ///< V of the rows times μ
    Scalar squared = 0;   ///< ‖μ ∘ Ĵ‖²
  };

  void begin(const ContactProblem<Scalar>& problem) {
    using std::sqrt;
    velocity_.resize(problem.impulse_count());
    inverse_mass_.resize(problem.impulse_count());
    motion_.resize(problem.body_count());
    root_.resize(problem.body_count());
    fastest_.assign(problem.body_count(), {});
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto [start, size] = problem.body(b);
      const Scalar* const whitened = problem.whitened_free_velocity().data() + start;
      motion_[b] = sqrt(dot(whitened, whitened, size));
      root_[b] = int(b);
    }
    for (Index i = 0; i < problem.block_count(); ++i) {
      if (problem.side_count(i) < 2) continue;
      const int a = root(problem.side_body(i, 0)), b = root(problem.side_body(i, 1));
      root_[(std::max)(a, b)] = (std::min)(a, b);
    }
  }
  [[nodiscard]] int root(Index body) noexcept {
    int at = int(body);
    while (root_[at] != at) at = root_[at] = root_[root_[at]];
    return at;
  }

  /// The scale of a group from the motion of its bodies alone.
  [[nodiscard]] Group find(const ContactProblem<Scalar>& problem, const BlockView<Scalar>& block,
                           const FrictionBlock<Scalar>& rows) {
    using std::sqrt;
    Group group;
    Scalar asked(0);
    for (int k = 0; k < rows.size; ++k) {
      const Scalar bias = rows.mu(k) * block.bias_velocity()(rows.row(k));
      asked += bias * bias;
      inverse_mass_[block.first_row() + rows.row(k)] = Scalar(0);
    }
    group.velocity = sqrt(asked);
    const Scalar* const free_velocity = problem.free_velocity().data();
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      Scalar moved(0), squared(0);
      for (int k = 0; k < rows.size; ++k) {
        const Scalar* const whitened = block.whitened_row(s, rows.row(k));
        const Scalar along =
            rows.mu(k) * dot(block.jacobian_row(s, rows.row(k)), free_velocity + start, size);
        const Scalar own = dot(whitened, whitened, size);
        moved += along * along;
        squared += rows.mu(k) * rows.mu(k) * own;
        inverse_mass_[block.first_row() + rows.row(k)] += own;
      }
      group.squared += squared;
      raise(group.velocity, Scalar(sqrt(moved)));
      raise(group.velocity,
            Scalar(Scalar(Tuning::least_share) * sqrt(squared) * motion_[block.side(s).body]));
    }
    return group;
  }
  static void raise(Scalar& number, const Scalar& least) noexcept {
    number = (std::max)(number, least);
  }
  /// The rows of a block that share a scale, the normal or a row between bounds as a group of one.
  class Groups {
   public:
    explicit Groups(const ImpulseSet<Scalar>& set) noexcept {
      const int normal = normal_row(set.shape);
      for (int r = 0; normal < 0 && r < set.rows; ++r) groups_[count_++].add(r, Scalar(1));
      if (normal < 0) return;
      groups_[count_++].add(normal, Scalar(1));
      for (const FrictionBlock<Scalar>& disc : FrictionBlocks<Scalar>(set))
        groups_[count_++] = disc;
    }
    /// The normal comes first.
    [[nodiscard]] const FrictionBlock<Scalar>* begin() const noexcept { return groups_; }
    [[nodiscard]] const FrictionBlock<Scalar>* end() const noexcept { return groups_ + count_; }

   private:
    FrictionBlock<Scalar> groups_[6];
    int count_ = 0;
  };

  void add_block(const ContactProblem<Scalar>& problem, const BlockView<Scalar>& block) {
    using std::sqrt;
    Fastest& fastest = fastest_[root(block.side(0).body)];
    const bool cone = block.law().set.shape != ImpulseShape::intervals;
    const Groups groups(block.law().set);
    Scalar normal(0);
    for (const FrictionBlock<Scalar>& rows : groups) {
      const Group group = find(problem, block, rows);
      for (int k = 0; k < rows.size; ++k) {
        velocity_[block.first_row() + rows.row(k)] =
            rows.mu(k) > Scalar(0) ? Scalar(group.velocity / rows.mu(k)) : Scalar(0);
      }
      if (cone && &rows == groups.begin()) normal = group.squared;
      if (!(group.squared > Scalar(0))) continue;
      if (cone) {  // in units of the normal
        const Scalar share = normal > Scalar(0) ? sqrt(normal / group.squared) : Scalar(1);
        raise(fastest.cones, Scalar(group.velocity * share));
      }
      const Scalar own = group.velocity / sqrt(group.squared);
      raise(fastest.all, own);
      if (!cone) raise(fastest.rows, own);
    }
  }

  /// Raises the scales of a block to their share of what moves fastest in its island.
  void raise_block(const BlockView<Scalar>& block) {
    using std::sqrt;
    const Fastest& fastest = fastest_[root(block.side(0).body)];
    const bool cone = block.law().set.shape != ImpulseShape::intervals;
    const auto share = Scalar(Tuning::island_share);
    const Groups groups(block.law().set);
    Scalar normal(0);
    for (const FrictionBlock<Scalar>& rows : groups) {
      const bool is_normal = cone && &rows == groups.begin();
      Scalar squared(0);
      for (int k = 0; k < rows.size; ++k) {
        squared += rows.mu(k) * rows.mu(k) * inverse_mass_[block.first_row() + rows.row(k)];
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
      // Nothing moves these rows: what they lack is measured by the whole of the fastest.
      if (!(squared > Scalar(0))) least = fastest.cones;
      for (int k = 0; k < rows.size; ++k) {
        if (!(rows.mu(k) > Scalar(0))) continue;
        raise(velocity_[block.first_row() + rows.row(k)], Scalar(least / rows.mu(k)));
      }
    }
  }

  Sequence<Scalar> velocity_, inverse_mass_;  ///< per stacked row
  Sequence<Scalar> motion_;                   ///< ‖v*‖_A of every body [√J]
  Sequence<int> root_;                        ///< towards the lowest body of its island
  Sequence<Fastest> fastest_;                 ///< of an island, at its lowest body
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
