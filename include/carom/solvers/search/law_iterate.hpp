// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "carom/contact/detail/block_error.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/rows/block_rows.hpp"
#include "carom/solvers/systems/system_totals.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of InteriorPointSolver itself.
struct InteriorPointTuning {
  /// Largest share of the load ‖q‖ that an answer may leave. If no impulses obey the law they grow
  /// without end, and any residual is small relative to them. The jammed brake of the scenes leaves
  /// 0.45, rigid heaps with self-stresses of 1000 times their load 1e-5: a much smaller share
  /// rejects answers of such heaps, a much larger one accepts impulses that solve nothing.
  static constexpr double lost_load = 0.1;
  /// Count of Gauss-Seidel sweeps between two measurements of their gain, for problems in impulses.
  /// With fewer, noise decides; with more, sweeps without gain are done.
  static constexpr int sweeps_together = 10;
  /// The sweeps of the options are repeated at most this count of times while they gain.
  static constexpr int sweep_extension = 10;
  /// Sweeps end if they change the impulses by less than this share of the tolerance.
  static constexpr double sweep_rest = 1e-3;
  /// After the sweeps of the options, sweeps continue while the change decreases to this share each
  /// time. Nearer to 1 they continue where Newton's method is cheaper.
  static constexpr double sweep_gain = 0.3;
  /// Largest count of systems for the removal of overlaps of an island that is already solved
  /// without it: Newton's method then needs a few. More only delays islands without such an answer.
  static constexpr int overlap_systems = 60;
};

/// The yardstick of some of a system's blocks.
template <typename System, RealScalar Scalar = typename System::scalar_type>
[[nodiscard]] Yardstick<Scalar> make_yardstick(const System& system, FrictionLaw law, Index begin,
                                               Index end) noexcept {
  Scalar trace(0), squared(0);
  Index rows = 0;
  for (Index i = begin; i < end; ++i) {
    if (!counts_block(system, i)) continue;
    system.blocks().visit(i, [&](const auto& block) {
      int own = 0;
      for (int k = 0; k < block.size(); ++k) {
        const Scalar& load = system.load()[3 * block.first_part + k];
        squared += load * load;
        own += block.present(k);
      }
      trace += Scalar(own) * block.inverse_mass;
      rows += own;
    });
  }
  const auto sums = total_of(system, std::array<Scalar, 3>{trace, squared, Scalar(rows)});
  return YardstickSums<Scalar>{sums[0], sums[1], sums[2]}.yardstick(law);
}
/// The yardstick of all blocks.
template <typename System>
[[nodiscard]] auto make_yardstick(const System& system, FrictionLaw law) noexcept {
  return make_yardstick(system, law, 0, system.blocks().size());
}

/// The natural map of one block in impulses times w, squared; infinite where a number is not
/// finite.
template <RealScalar Scalar, int Parts>
[[nodiscard]] Scalar natural_map_squared(FrictionLaw law, const BlockRows<Scalar, Parts>& block,
                                         const PartNumbers<Scalar, Parts>& impulse,
                                         const PartNumbers<Scalar, Parts>& velocity,
                                         const Scalar& inverse_mass) noexcept {
  if constexpr (Parts == 2) {
    return natural_map_squared(law, block.impulse_set(), rows_of_parts(block, impulse),
                               rows_of_parts(block, velocity), inverse_mass);
  } else {
    const FrictionCone<Scalar> cone{block.disc.friction[0]};
    return natural_map_squared(law, cone, as_vector(impulse + block.shift), as_vector(velocity),
                               inverse_mass);
  }
}

/// Whether a system has error scales of its blocks: scales(block). Systems without them, which have
/// no bodies, are measured by the natural map of all their blocks together.
template <typename System>
inline constexpr bool has_scales =
    requires(const System& system, const BlockRows<typename System::scalar_type, 1>& block) {
  system.scales(block);
};

/// The error of an island in its law.
template <RealScalar Scalar>
struct LawError {
  Scalar residual;  ///< the error that a tolerance is compared with [-]
  /// the number that steps must reduce: the root of the sum of the blocks' squares [-]
  Scalar merit;
  Index worst;  ///< the block with the largest error; −1 if blocks have no separate errors
};

/// Writes the report of a whole problem from the sums over its islands. If no impulses obey the law
/// the iterates grow, and the error, which is relative to them, decreases; such an answer solves
/// nothing.
template <RealScalar Scalar>
void conclude(const Yardstick<Scalar>& yardstick, const MapSums<Scalar>& sums,
              const std::type_identity_t<Scalar>& tolerance, SolveReport<Scalar>& report) noexcept {
  using std::sqrt;
  report.measure = ResidualMeasure::natural_map;
  report.residual_target = tolerance;
  report.residual = sums.error(yardstick);
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  if (!is_finite(report.residual)) report.status = SolveStatus::not_finite;
  if (report.residual <= tolerance) report.status = SolveStatus::converged;
  const Scalar grown = yardstick.inverse_mass * sqrt(sums.impulses);
  const Scalar least = Scalar(InteriorPointTuning::lost_load) * yardstick.load;
  if (report.converged() && report.residual * grown > least && yardstick.load > Scalar(0)) {
    report.status = SolveStatus::no_progress;
  }
}

/// Impulses of all islands in parts, with their velocities.
template <RealScalar Scalar>
class LawIterate {
 public:
  template <typename System>
  void lay_out(const System& system) {
    fit<Scalar>(3 * system.part_count(), {&impulse_, &velocity_});
  }
  [[nodiscard]] Scalar* impulse() noexcept { return impulse_.data(); }
  [[nodiscard]] const Scalar* impulse() const noexcept { return impulse_.data(); }
  /// u of the last measured impulses.
  [[nodiscard]] const Scalar* velocity() const noexcept { return velocity_.data(); }

  /// u = (W + R) γ + q of an island.
  template <typename System>
  void write_velocity(System& system, Index island) noexcept {
    system.multiply(island, impulse_.data(), velocity_.data());
    add_load(system, island);
  }
  /// u of an island's pair: that of the bodies' own velocities.
  template <typename System>
  void write_paired_velocity(System& system, Index island) noexcept {
    system.write_paired_velocities(island, velocity_.data());
    add_load(system, island);
  }
  /// u += q + R γ of an island.
  template <typename System>
  void add_load(const System& system, Index island) noexcept {
    const BlockIsland& own = system.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      system.blocks().visit(i, [&](const auto& block) {
        for (int k = 0; k < block.size(); ++k) {
          const Index p = 3 * block.first_part + k;
          velocity_[p] += system.load()[p] + block.regularization(k) * impulse_[p];
        }
      });
    }
  }
  /// Computes u, and the terms of the natural map error of an island.
  template <typename System>
  [[nodiscard]] MapSums<Scalar> sum(System& system, Index island,
                                    const Yardstick<Scalar>& yardstick) noexcept {
    write_velocity(system, island);
    return sum_as_it_stands(system, island, yardstick);
  }
  /// The same with the stored velocities.
  template <typename System>
  [[nodiscard]] MapSums<Scalar> sum_as_it_stands(
      System& system, Index island, const Yardstick<Scalar>& yardstick) const noexcept {
    MapSums<Scalar> sums;
    const BlockIsland& own = system.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      if (!counts_block(system, i)) continue;
      system.blocks().visit(i, [&](const auto& block) {
        const auto gamma = read_parts(block, impulse_.data());
        const auto u = read_parts(block, velocity_.data());
        sums.map += natural_map_squared(yardstick.law, block, gamma, u, yardstick.inverse_mass);
        sums.impulses += gamma.squared_norm();
        sums.velocities += u.squared_norm();
      });
    }
    const auto all =
        total_of(system, std::array<Scalar, 3>{sums.map, sums.impulses, sums.velocities});
    return {all[0], all[1], all[2]};
  }
  /// Computes u, and the error of an island in its law.
  template <typename System>
  [[nodiscard]] LawError<Scalar> measure(System& system, Index island,
                                         const Yardstick<Scalar>& yardstick) noexcept {
    if constexpr (has_scales<System>) {
      write_velocity(system, island);
      return judge(system, island, yardstick.law);
    } else {
      const Scalar error = sum(system, island, yardstick).error(yardstick);
      return {error, error, -1};
    }
  }
  /// The error of an island in its law with the stored velocities.
  template <typename System>
  [[nodiscard]] LawError<Scalar> judge(const System& system, Index island,
                                       FrictionLaw law) const noexcept {
    using std::sqrt;
    LawError<Scalar> result{Scalar(0), Scalar(0), -1};
    const BlockIsland& own = system.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      const ErrorSum<Scalar> part = system.blocks().visit(i, [&](const auto& block) {
        return error_of(law, block, read_parts(block, impulse_.data()),
                        read_parts(block, velocity_.data()), system.scales(block));
      });
      result.merit += part.squared;
      if (!(part.largest > result.residual)) continue;
      result.residual = part.largest;
      result.worst = i;
    }
    result.merit = sqrt(result.merit);
    return result;
  }

 private:
  template <int Parts, typename Scales>
  [[nodiscard]] static ErrorSum<Scalar> error_of(FrictionLaw law,
                                                 const BlockRows<Scalar, Parts>& block,
                                                 const PartNumbers<Scalar, Parts>& impulse,
                                                 const PartNumbers<Scalar, Parts>& velocity,
                                                 const Scales& scales) noexcept {
    if constexpr (Parts == 1) {
      return block_error(law, block.disc.friction[0], as_vector(impulse + block.shift),
                         as_vector(velocity), scales);
    } else {
      return block_error(law, block.set, rows_of_parts(block, impulse),
                         rows_of_parts(block, velocity), scales);
    }
  }

  Sequence<Scalar> impulse_, velocity_;
};

/// The memory of a step.
template <RealScalar Scalar>
struct StepMemory {
  BlockGains<Scalar> gains;              ///< N
  Sequence<Scalar> offset, step, moved;  ///< h, dγ, W dγ
  Sequence<Scalar> kept;                 ///< an iterate to return to

  template <typename System>
  void lay_out(const System& system) {
    gains.lay_out(system.blocks());
    fit<Scalar>(3 * system.part_count(), {&offset, &step, &moved, &kept});
  }
};

/// The search for the impulses of an island: its data, its limits, and its state.
template <typename System>
struct LawSearch {
  using Scalar = typename System::scalar_type;

  System& system;
  Index island;
  const Yardstick<Scalar>& yardstick;
  LawIterate<Scalar>& iterate;
  StepMemory<Scalar>& memory;
  Scalar tolerance;     ///< residual at which it ends [-]
  SolveLimits limits;   ///< total count of systems, and time
  Scalar error;         ///< merit of the iterate, which steps must reduce [-]
  Scalar residual;      ///< its error, which the tolerance bounds [-]
  int systems = 0;      ///< count of factored systems
  bool paired = false;  ///< whether the iterate is a solution with separate velocities

  /// Computes u of the iterate, and its error.
  void measure() { take(iterate.measure(system, island, yardstick)); }
  void take(const LawError<Scalar>& found) noexcept {
    error = found.merit;
    residual = found.residual;
  }
  /// Copies the state of another search of the same island.
  void follow(const LawSearch& other) noexcept {
    error = other.error;
    residual = other.residual;
    systems = other.systems;
    paired = other.paired;
  }
  [[nodiscard]] bool is_solved() const noexcept { return residual <= tolerance; }
  [[nodiscard]] bool may_go_on() const noexcept {
    return systems < limits.iteration_limit && !limits.is_over();
  }
  [[nodiscard]] const BlockIsland& parts() const noexcept { return system.islands()[island]; }
  /// Calls visit(i, block) for each block of the island.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    const BlockList<Scalar>& blocks = system.blocks();
    for (Index i = parts().first_block; i < parts().block_end; ++i) {
      blocks.is_triple(i) ? visit(i, blocks.triple(i)) : visit(i, blocks.other(i));
    }
  }
  /// Totals over the rows of the island: add(place, sums) adds a row's numbers to the sums.
  template <std::size_t Count, typename Add>
  [[nodiscard]] std::array<Scalar, Count> total_rows(std::array<Scalar, Count> sums,
                                                     const Add& add) const {
    for_each([&](Index i, const auto& block) {
      if (!counts_block(system, i)) return;
      for (int k = 0; k < block.size(); ++k) add(3 * block.first_part + k, sums);
    });
    return total_of(system, sums);
  }
  /// Copies the numbers of the island.
  void copy(const Scalar* from, Scalar* to) const {
    std::copy(from + 3 * parts().first_part, from + 3 * parts().part_end,
              to + 3 * parts().first_part);
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
