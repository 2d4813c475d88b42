// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/solvers/search/cone_path.hpp"
#include "carom/solvers/search/interior_point_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Rows between bounds on the central path: (γ − lower) z = κ, (upper − γ) y = κ, u = z − y. Rows
/// without bounds have u = 0, those with equal ones a given impulse.
template <RealScalar Scalar>
class IntervalPath {
 public:
  using Block = BlockRows<Scalar, 2>;
  using Numbers = PartNumbers<Scalar, 2>;

  /// Takes impulse and velocity, which may be outside of their bounds.
  void start(const Block& block, const Numbers& impulse, const Numbers& velocity) noexcept {
    for (int i = 0; i < 6; ++i) {
      Row& row = rows_[i];
      row = {};
      row.kind = kind_of(block, i);
      row.impulse = row.kind == Kind::fixed ? block.lower(i) : impulse(i);
      row.push = velocity(i);
    }
  }
  /// What rows bounded on one side lack to be inside: raised to the largest of both.
  void find_missing(const Block& block, Scalar& impulse, Scalar& velocity) const noexcept {
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[i];
      if (row.kind == Kind::below) {
        impulse = (std::max)(impulse, block.lower(i) - row.impulse);
        velocity = (std::max)(velocity, -row.push);
      } else if (row.kind == Kind::above) {
        impulse = (std::max)(impulse, row.impulse - block.upper(i));
        velocity = (std::max)(velocity, row.push);
      }
    }
  }
  /// Moves impulses away from bounds, and velocities from zero, by so much, or by a share of the
  /// room between two bounds.
  void raise(const Block& block, FrictionLaw, const Scalar& least,
             const Scalar& least_velocity) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      const Scalar lower = block.lower(i), upper = block.upper(i), velocity = row.push;
      if (row.kind == Kind::between) {
        const Scalar inset =
            (std::min)(least, Scalar(CentralPathTuning::bound_inset) * (upper - lower));
        row.impulse = (std::min)((std::max)(row.impulse, lower + inset), upper - inset);
      } else if (row.kind == Kind::below) {
        row.impulse = (std::max)(row.impulse, lower) + least;
      } else if (row.kind == Kind::above) {
        row.impulse = (std::min)(row.impulse, upper) - least;
      }
      row.push = row.has_lower() ? (std::max)(velocity, Scalar(0)) + least_velocity : Scalar(0);
      row.pull = row.has_upper() ? (std::max)(-velocity, Scalar(0)) + least_velocity : Scalar(0);
    }
  }
  [[nodiscard]] Numbers impulse(const Block& block) const noexcept {
    Numbers result;
    for (int i = 0; i < block.size(); ++i) result(i) = rows_[i].impulse;
    return result;
  }
  /// p = u as the path has it less u of the impulses.
  [[nodiscard]] Numbers gap(const Block& block, const Numbers& velocity) const noexcept {
    Numbers result;
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[i];
      if (row.moves()) result(i) = row.push - row.pull - velocity(i);
    }
    return result;
  }
  [[nodiscard]] int count(const Block& block, FrictionLaw) const noexcept {
    int sum = 0;
    for (int i = 0; i < block.size(); ++i) {
      sum += rows_[i].has_lower() + rows_[i].has_upper();
    }
    return sum;
  }
  void add_products(const Block& block, FrictionLaw, ProductSum<Scalar>& sum) const noexcept {
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[i];
      if (row.has_lower()) sum.add(row.above(block, i), row.push, row.step, row.push_step);
      if (row.has_upper()) sum.add(row.below(block, i), row.pull, -row.step, row.pull_step);
    }
  }
  /// Writes N. False when the iterate is not inside.
  [[nodiscard]] bool write_gain(const Block& block, FrictionLaw,
                                PartMatrix<Scalar, 2>& gain) noexcept {
    gain = {};
    bool inside = true;
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      if (!row.moves()) continue;
      constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
      const Scalar softness = Scalar(CentralPathTuning::free_softness) * epsilon;
      Scalar stiffness = block.regularization(i) + block.inverse_mass * softness;
      if (row.has_lower()) {
        inside = inside && row.above(block, i) > Scalar(0) && row.push > Scalar(0);
        stiffness += row.push / row.above(block, i);
      }
      if (row.has_upper()) {
        inside = inside && row.below(block, i) > Scalar(0) && row.pull > Scalar(0);
        stiffness += row.pull / row.below(block, i);
      }
      row.gain = gain(i, i) = Scalar(1) / stiffness;
    }
    return inside;
  }
  /// Writes h.
  void write_offset(const Block& block, FrictionLaw, const PathTarget<Scalar>& target,
                    const Numbers& gap, Numbers& offset) noexcept {
    offset = {};
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      if (!row.moves()) continue;
      const auto aim = [&](const Scalar& room, const Scalar& force, const Scalar& second) {
        return (target.product - (target.corrected ? second : Scalar(0))) / room - force;
      };
      row.push_aim = row.pull_aim = 0;
      if (row.has_lower()) {
        row.push_aim = aim(row.above(block, i), row.push, row.step * row.push_step);
      }
      if (row.has_upper()) {
        row.pull_aim = aim(row.below(block, i), row.pull, -row.step * row.pull_step);
      }
      offset(i) = row.gain * (gap(i) + row.push_aim - row.pull_aim);
    }
  }
  /// Keeps a step of the impulses; see ConePath.
  [[nodiscard]] Scalar take_step(const Block& block, FrictionLaw, const Numbers& impulse,
                                 const Numbers&, const Numbers&, Scalar least) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      row.step = row.moves() ? impulse(i) : Scalar(0);
      if (row.has_lower()) {
        const Scalar room = row.above(block, i);
        row.push_step = row.push_aim - row.push / room * row.step;
        least = (std::max)({least, -row.step / room, -row.push_step / row.push});
      }
      if (row.has_upper()) {
        const Scalar room = row.below(block, i);
        row.pull_step = row.pull_aim + row.pull / room * row.step;
        least = (std::max)({least, row.step / room, -row.pull_step / row.pull});
      }
    }
    return least;
  }
  void advance(const Block& block, const Scalar& share) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      row.impulse += share * row.step;
      row.push += share * row.push_step;
      row.pull += share * row.pull_step;
    }
  }

 private:
  enum class Kind { absent, fixed, free, below, above, between };
  struct Row {
    Kind kind = Kind::absent;
    Scalar impulse = 0, push = 0, pull = 0;
    Scalar step = 0, push_step = 0, pull_step = 0;
    Scalar gain = 0, push_aim = 0, pull_aim = 0;

    [[nodiscard]] bool moves() const noexcept {
      return kind != Kind::absent && kind != Kind::fixed;
    }
    [[nodiscard]] bool has_lower() const noexcept {
      return kind == Kind::below || kind == Kind::between;
    }
    [[nodiscard]] bool has_upper() const noexcept {
      return kind == Kind::above || kind == Kind::between;
    }
    [[nodiscard]] Scalar above(const Block& block, int i) const noexcept {
      return impulse - block.lower(i);
    }
    [[nodiscard]] Scalar below(const Block& block, int i) const noexcept {
      return block.upper(i) - impulse;
    }
  };
  [[nodiscard]] static Kind kind_of(const Block& block, int i) noexcept {
    if (!block.present(i)) return Kind::absent;
    const bool lower = is_finite(block.lower(i)), upper = is_finite(block.upper(i));
    if (lower && upper) return block.upper(i) > block.lower(i) ? Kind::between : Kind::fixed;
    return lower ? Kind::below : upper ? Kind::above : Kind::free;
  }

  Row rows_[6];
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
