// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <type_traits>

#include "carom/batch/detail/lane_coulomb.hpp"
#include "carom/batch/detail/lane_state.hpp"
#include "carom/contact/coulomb_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The rigid blocks of an island in each lane. Their R is a multiple of their inverse mass. A view
/// of the cells.
template <typename Number, int Stride>
class LaneRigidBlocks {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Cells = typename State::Cells;
  using Names = LaneLayout;
  using Block = typename State::Block;

  CAROM_DEVICE explicit LaneRigidBlocks(const State& state) noexcept : state_(state) {}

  /// w, the mean of J A⁻¹ Jᵀ over a block's rows. It is a mean because rows that a cone bounds
  /// together have equal R.
  /// @pre  the factor of A is in the cells; the scratch vector is free.
  CAROM_DEVICE void write_inverse_masses() const noexcept;
  /// R = softness · w.
  CAROM_DEVICE void write_weights(const Number& softness) const noexcept;

 private:
  const State& state_;
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE void LaneRigidBlocks<Number, Stride>::write_inverse_masses() const noexcept {
  const LaneLayout& layout = state_.layout();
  const Number zero(Scalar(0));
  const Cells x = state_.vector(Names::scratch);
  state_.for_each_rigid_block([&](const Block& block) {
    Number sum = zero;
    for (int r = 0; r < block.rows; ++r) {
      for (int i = 0; i < layout.velocities; ++i) x.set(i, zero);
      const auto add = [&](const LaneSide& side) {
        const Cells j = state_.jacobian(side);
        for (int c = 0; c < side.count; ++c) x.set(side.column + c, j[block.rows * c + r]);
      };
      add(block.sides.low);
      add(block.sides.high);
      solve_lanes(layout.mass_rows, state_.cells(layout.mass_factor_at), x);
      for (int i = 0; i < layout.velocities; ++i) sum += x[i] * x[i];
    }
    // A block that moves nothing may have any R.
    const Number mean = select(sum > zero, sum / Number(Scalar(block.rows)), Number(Scalar(1)));
    for (int r = 0; r < block.rows; ++r) block.inverse_mass.set(r, mean);
  });
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneRigidBlocks<Number, Stride>::write_weights(
    const Number& softness) const noexcept {
  state_.for_each_rigid_block([&](const Block& block) {
    for (int i = 0; i < block.weights(); ++i) {
      const Number weight = softness * block.inverse_mass[block.row_of(i)];
      block.weight.set(i, weight);
      block.inverse.set(i, Number(Scalar(1)) / weight);
    }
  });
  const LaneLayout& layout = state_.layout();
  for (int k = 0; k < layout.contacts; ++k) {
    if (layout.rigid_contacts[k] != 0) state_.take_weights(k);
  }
}

/// Measured constants of LaneRigid.
struct LaneRigidTuning {
  /// Count of compliant problems after which a rigid problem has no answer. Most need 2 to 6.
  static constexpr int problem_limit = 100;
  /// If a problem leaves more than this share of the violation before, the next problem has a
  /// smaller R. Under Coulomb's law the steps are small: stiffer trial impulses are farther away,
  /// and from there Newton's method needed ten times the iterations or failed.
  static constexpr double convex_slow = 1.0 / 16, coulomb_slow = 0.8;
  static constexpr double convex_stiffer = 1.0 / 16, coulomb_stiffer = 0.7;
  /// Under Coulomb's law R may also decrease when impulses hardly change: by their relative change
  /// times `reach`, but at most by `fastest`. Trial impulses are then near those of the problem
  /// before. Random rigid steps need a seventh fewer iterations with this.
  static constexpr double reach = 30, fastest = 0.25;
  /// R/w of the first problem.
  static constexpr double first_softness = 1e-2;
  /// R of the next problem over R of one without an answer.
  static constexpr double softer = 64;
  /// The least R after a problem without an answer, relative to that problem's R; the path to it
  /// may have caused the failure. A larger value makes the sequence too slow for its limit: with
  /// 16, 12 of 9988 random rigid steps had no answer, with 1 three, with this value none.
  static constexpr double margin = 1.0 / 16;
  /// R/w is at least this count of roundings divided by the tolerance: Newton's method on a
  /// compliant problem loses about w/R of its digits.
  static constexpr double roundings = 1.0 / 64;
  /// Count of compliant problems without an answer after which the rigid problem has none.
  static constexpr int failure_limit = 4;
};

/// Rigid contact in each lane by a sequence of compliant problems (the proximal method of
/// multipliers). In each problem the impulse of a rigid block is γ' = P(γ + R⁻¹(v̂ − J v')), where
/// γ is its impulse in the problem before. If γ' = γ, then γ and J v obey the law with R = 0. The
/// solution does not depend on R. R is a multiple of the inverse mass w of the block, and is
/// reduced if the sequence is slow. Islands without rigid blocks are one compliant problem.
///
/// A lane ends as converged if its compliant problem has converged and
/// violation() ≤ tolerance · scale; as no_progress after problem_limit problems; or with the status
/// of its compliant problem after failure_limit problems without an answer.
/// @cite   rockafellar1976augmented, the proximal method of multipliers, for the convex law.
template <typename Number, int Stride, FrictionLaw Law>
class LaneRigid {
 public:
  using Compliant = std::conditional_t<Law == FrictionLaw::coulomb, LaneCoulomb<Number, Stride>,
                                       LaneNewton<Number, Stride>>;
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Limits = typename Compliant::Limits;
  using Names = LaneLayout;
  using Tuning = LaneRigidTuning;

  CAROM_DEVICE LaneRigid(State& state, const Limits& limits) noexcept
      : state_(state), limits_(limits), blocks_(state), compliant_(state, limits) {}

  /// As in LaneNewton.
  CAROM_DEVICE void begin(const Mask& valid) noexcept {
    if (!is_rigid()) return compliant_.begin(valid);
    const Number zero = number(0);
    course_.problems = course_.failures = zero;
    course_.softness = number(Tuning::first_softness);
    course_.least = number(Tuning::roundings * std::numeric_limits<Scalar>::epsilon()) /
                    Number(limits_.tolerance);
    course_.violation = Number(std::numeric_limits<Scalar>::infinity());
    status_ = number(-1);
    lay_out();
    compliant_.begin(valid);
    renew();
  }
  CAROM_DEVICE void step() noexcept {
    compliant_.step();
    if (is_rigid()) renew();
  }
  [[nodiscard]] CAROM_DEVICE Mask ended() const noexcept { return status() >= number(0); }
  CAROM_DEVICE void finish() noexcept { compliant_.finish(); }
  [[nodiscard]] CAROM_DEVICE const Number& status() const noexcept {
    return is_rigid() ? status_ : compliant_.status();
  }
  [[nodiscard]] CAROM_DEVICE const Number& iterations() const noexcept {
    return compliant_.iterations();
  }
  /// The error of the answer in the law, in the unit of √energy [√J]: √(δᵀw⁻¹δ) for the velocities
  /// δ = R Δγ, the change of v̂ for which the law is satisfied; w is the inverse mass of a row. It
  /// is 0 without rigid blocks.
  [[nodiscard]] CAROM_DEVICE Number violation() const noexcept {
    return is_rigid() ? course_.violation : number(0);
  }

  /// The progress of the lanes.
  struct Course {
    Number problems, failures;  ///< compliant problems solved, and without an answer
    Number softness, least;     ///< R/w, and its lower limit
    Number violation;
  };
  struct Progress {
    Course rigid;
    typename Compliant::Progress compliant;
  };
  [[nodiscard]] CAROM_DEVICE Progress progress() const noexcept {
    return {course_, compliant_.progress()};
  }
  CAROM_DEVICE void resume(const Progress& progress) noexcept {
    course_ = progress.rigid;
    status_ = number(-1);
    if (is_rigid()) lay_out();
    compliant_.resume(progress.compliant);
  }

 private:
  static constexpr bool is_coulomb = Law == FrictionLaw::coulomb;
  static constexpr double slow_share = is_coulomb ? Tuning::coulomb_slow : Tuning::convex_slow;
  static constexpr double stiffening =
      is_coulomb ? Tuning::coulomb_stiffer : Tuning::convex_stiffer;
  [[nodiscard]] CAROM_DEVICE static Number number(double x) noexcept { return Number(Scalar(x)); }
  [[nodiscard]] CAROM_DEVICE bool is_rigid() const noexcept { return state_.layout().rigid; }
  CAROM_DEVICE_CALL void renew() noexcept;
  CAROM_DEVICE Number measure(const Mask& lanes) noexcept;
  CAROM_DEVICE_CALL void lay_out() noexcept {
    (void)state_.begin();  // the factor of A; begin() of the compliant problem reads the answer
    blocks_.write_inverse_masses();
    blocks_.write_weights(course_.softness);
  }
  CAROM_DEVICE void soften(const Number& factor, const Mask& stiffer, const Mask& softer) noexcept;

  State& state_;
  Limits limits_;
  LaneRigidBlocks<Number, Stride> blocks_;
  Compliant compliant_;
  Number status_ = number(0);
  Course course_{};
};

// --- implementation ---

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LaneRigid<Number, Stride, Law>::soften(const Number& factor, const Mask& stiffer,
                                                         const Mask& softer) noexcept {
  Number &softness = course_.softness, &least = course_.least;
  least = select(softer, larger(least, softness * number(Tuning::margin)), least);
  const Number lower = larger(softness * factor, smaller(softness, least));
  softness = select(stiffer, lower, select(softer, softness * number(Tuning::softer), softness));
  blocks_.write_weights(softness);
}

/// @return  the relative change of the impulses.
template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE Number LaneRigid<Number, Stride, Law>::measure(const Mask& lanes) noexcept {
  Number sum = number(0), size = number(0);
  state_.for_each_rigid_block([&](const LaneBlockCells<Cells>& block) {
    for (int r = 0; r < block.rows; ++r) {
      const Number impulse = block.impulse[r], difference = impulse - block.multiplier[r];
      sum += block.inverse_mass[r] * (difference * difference);
      size += block.inverse_mass[r] * (impulse * impulse);
    }
  });
  course_.violation = select(lanes, course_.softness * sqrt(sum), course_.violation);
  return sqrt(sum / size);
}

/// Ends lanes whose compliant problem has ended, or starts the next problem with its impulses.
template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LaneRigid<Number, Stride, Law>::renew() noexcept {
  for (;;) {
    const Mask arrived = (status_ < number(0)) & compliant_.ended();
    if (!any(arrived)) return;
    const auto code = [](SolveStatus status) { return number(static_cast<int>(status)); };
    const Number ended_with = compliant_.status(), before = course_.violation;
    const Mask solved = arrived & (ended_with <= code(SolveStatus::converged));
    // A problem with numbers that are not finite ends before the first iteration.
    const Mask began = iterations() > number(0);
    const Mask unlimited = (!(ended_with <= code(SolveStatus::iteration_limit))) & began;
    const Mask failed = arrived & unlimited & (course_.failures < number(Tuning::failure_limit));
    const Number change = measure(arrived);
    course_.problems += as_numbers(arrived);
    course_.failures += as_numbers(failed);
    const Mask obeyed = solved & (course_.violation <= Number(limits_.tolerance) * state_.scale());
    const Mask spent = course_.problems >= number(Tuning::problem_limit);
    status_ = select(obeyed | (arrived & (!(solved | failed))), ended_with, status_);
    status_ =
        select((status_ < number(0)) & arrived & spent, code(SolveStatus::no_progress), status_);
    const Mask going = arrived & (status_ < number(0));
    if (!any(going)) return;
    if (any(failed)) compliant_.finish();
    state_.for_each_rigid_block([&](const LaneBlockCells<Cells>& block) {
      for (int r = 0; r < block.rows; ++r) {
        block.multiplier.set(r, select(going & solved, block.impulse[r], block.multiplier[r]));
      }
    });
    const Mask slow = solved & (course_.violation > number(slow_share) * before);
    Number factor = select(slow, number(stiffening), number(1));
    if (is_coulomb) {
      factor = smaller(factor, larger(number(Tuning::reach) * change, number(Tuning::fastest)));
    }
    soften(factor, going & solved, going & failed);
    compliant_.begin_again(going);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
