// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "carom/core/elementary.hpp"
#include "carom/solvers/search/active_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The schedule of the proximal steps of a search.
struct ProximalSchedule {
  double softness;  ///< first ρ, relative to w
  double factor;    ///< factor by which ρ decreases
  int patience;     ///< Newton steps per proximal step
  int steps;        ///< proximal steps
  /// Whether a Newton step without gain is tried again with fixed bounds of friction.
  bool bounds_given = false;
};

/// Constants of ProximalNewton.
struct ProximalTuning {
  /// After a proximal step, Newton's method on the law is tried below this natural map error.
  static constexpr double small_error = 1e-3;
  /// Most steps of that method.
  static constexpr int final_steps = 20;
  /// Count of consecutive failed proximal steps after which the search ends.
  static constexpr int most_failures = 8;
  /// Count of failures after which the centre returns to the best impulses.
  static constexpr int failures_to_return = 2;
  /// The least softness ρ is ε_m to this power; below it only rounding would remain.
  static constexpr double least_softness = 0.7;
  /// After a proximal step with up to quick_steps Newton steps ρ decreases by its factor, after one
  /// with up to fair_steps by the root of the factor; after a longer one it does not change.
  static constexpr int quick_steps = 5, fair_steps = 10;
  /// Count of consecutive successes after which the least permitted ρ decreases, and its factor.
  static constexpr int successes = 3;
  static constexpr double floor_fall = 4;
  /// A failure multiplies ρ by softness_rise, up to 1. The first failure after a success also sets
  /// the least permitted ρ to floor_rise times the ρ that failed.
  static constexpr double softness_rise = 4, floor_rise = 2;
  /// Patience of the step after a failure, relative to that of others. Without the increase,
  /// falling bodies need 32 % more systems.
  static constexpr int patience_rise = 2;
  /// A proximal step ends if its gap is smaller than its motion by this factor.
  static constexpr double accuracy = 10;
  /// Only rounding is left if a Newton step predicted less than this share of the gap that it
  /// reached.
  static constexpr double rounded = 1e-3;
  /// Count of halvings along a Newton step, and along one with fixed bounds of friction.
  static constexpr int halvings = 7, bounded_halvings = 12;
  /// Least achieved share of the predicted decrease of a Newton step (Armijo's rule).
  static constexpr double descent = 1e-4;
  /// Under the convex law: count of evaluations along a step, the permitted share of the
  /// derivative, and the least distance of the next point from an end of the bracket.
  static constexpr int evaluations = 12;
  static constexpr double slope_left = 0.5, bracket_inset = 0.1;
};

/// Proximal steps of a law: γ = 𝒞(c − u(γ)/(ρ w)) for a fixed centre c. Newton's method solves each
/// step, and its answer is the next centre. They converge where the central path folds.
///
/// A step is the law with ρ w added to R, where w are the weights of the law's map, and can
/// therefore be solved where the law itself is difficult. The softness ρ decreases while steps
/// succeed and increases after a failure. Near a solution Newton's method on the law is used; the
/// result is the best iterate. The search ends if it satisfies the tolerance, after the steps of
/// the schedule, or after most_failures consecutive failures.
/// @cite  rockafellar1976monotone for proximal steps; alart1991mixed for the law as a map.
///        Coulomb's law is not monotone: no proof of convergence exists.
template <typename System>
class ProximalNewton {
 public:
  using Scalar = typename System::scalar_type;

  void lay_out(const System& system) {
    fit<Scalar>(3 * system.part_count(),
                {&centre_, &gap_, &answer_, &trial_impulse_, &trial_velocity_, &best_, &kept_});
  }

  /// Computes proximal steps until the tolerance is satisfied, the schedule ends, or too many steps
  /// fail.
  /// @param given  the search; at the end its iterate is the best one.
  void solve(LawSearch<System>& given, const ProximalSchedule& schedule) {
    Search at{given, schedule, given.error};
    at.copy(at.iterate.impulse(), best_.data());
    search(at);
    if (!at.is_solved()) {
      at.copy(best_.data(), at.iterate.impulse());
      at.measure();
    }
    given.follow(at);
  }

 private:
  using Tuning = ProximalTuning;

  struct Search : LawSearch<System> {
    const ProximalSchedule& schedule;
    Scalar best;             ///< least merit
    Scalar softness = 1;     ///< ρ
    bool minimises = false;  ///< whether descend_convex applies
  };
  /// The merit of the iterate; stores the best.
  Scalar measure(Search& at) {
    at.measure();
    keep(at);
    return at.error;
  }
  void keep(Search& at) {
    if (!(at.error < at.best)) return;
    at.best = at.error;
    at.copy(at.iterate.impulse(), best_.data());
  }
  void search(Search& at);
  [[nodiscard]] bool polish(Search& at) {
    ActiveNewton<System>::solve(at, Tuning::final_steps);
    keep(at);
    return at.is_solved();
  }
  [[nodiscard]] bool take_step(Search& at, int patience, int& taken);
  [[nodiscard]] bool write_step(Search& at, bool coupled);
  [[nodiscard]] Scalar go(Search& at, const Scalar& share);
  [[nodiscard]] bool descend(Search& at, Scalar& reached);
  [[nodiscard]] bool descend_convex(Search& at, Scalar& reached);
  /// ρ w, part by part.
  template <int Parts>
  [[nodiscard]] static PartNumbers<Scalar, Parts> softness(
      const Search& at, const BlockRows<Scalar, Parts>& block) noexcept {
    return at.softness * ActiveBlock<Scalar, Parts>::weights(block, at.yardstick.law);
  }
  /// answer ← 𝒞(c − u/(ρ w)), gap ← γ − answer; its norm weighted by w.
  Scalar write_gap(Search& at, const Scalar* impulse, const Scalar* velocity) {
    using std::sqrt;
    Scalar squared(0);
    at.for_each([&]<int Parts>(Index i, const BlockRows<Scalar, Parts>& block) {
      const PartNumbers<Scalar, Parts> trial =
          read_parts(block, centre_.data()) -
          quotients(read_parts(block, velocity), softness(at, block));
      const PartNumbers<Scalar, Parts> answer =
          ActiveBlock<Scalar, Parts>::nearest(block, at.yardstick.law, trial);
      const PartNumbers<Scalar, Parts> gap = read_parts(block, impulse) - answer;
      write_parts(block, answer, answer_.data());
      write_parts(block, gap, gap_.data());
      if (counts_block(at.system, i)) squared += block.inverse_mass * gap.squared_norm();
    });
    return sqrt(total_of(at.system, std::array<Scalar, 1>{squared})[0]);
  }

  Sequence<Scalar> centre_, gap_, answer_, trial_impulse_, trial_velocity_, best_, kept_;
};

// --- implementation ---

template <typename System>
void ProximalNewton<System>::search(Search& at) {
  using elementary::pow, std::sqrt;
  const ProximalSchedule& schedule = at.schedule;
  const auto factor = Scalar(schedule.factor);
  const Scalar least = pow(std::numeric_limits<Scalar>::epsilon(), Scalar(Tuning::least_softness));
  Scalar floor = least;
  measure(at);
  at.copy(at.iterate.impulse(), centre_.data());
  at.softness = Scalar(schedule.softness);
  at.minimises = at.yardstick.law == FrictionLaw::convex;
  at.for_each([&](Index, const auto& block) {
    at.minimises = at.minimises && block.regularization.is_zero();
  });
  at.minimises = agreed(at.system, at.minimises);
  int failures = 0, successes = 0;
  for (int k = 0; k < schedule.steps && at.may_go_on(); ++k) {
    int taken = 0;
    const int rise = failures > 0 ? Tuning::patience_rise : 1;
    const bool done = take_step(at, schedule.patience * rise, taken);
    at.for_each([&]<int Parts>(Index, const BlockRows<Scalar, Parts>& block) {
      const auto impulse = read_parts(block, at.iterate.impulse());
      write_parts(block, ActiveBlock<Scalar, Parts>::clip(block, impulse), at.iterate.impulse());
    });
    const Scalar reached = measure(at);
    if (at.is_solved()) return;
    if (done) {
      at.copy(at.iterate.impulse(), centre_.data());
      if (reached < Scalar(Tuning::small_error) && polish(at)) return;
      at.copy(centre_.data(), at.iterate.impulse());
      failures = 0;
      if (++successes >= Tuning::successes) {
        floor = (std::max)(least, floor / Scalar(Tuning::floor_fall));
        successes = 0;
      }
      if (taken <= Tuning::fair_steps) {
        const Scalar fall = taken <= Tuning::quick_steps ? factor : sqrt(factor);
        at.softness = (std::max)(at.softness * fall, floor);
      }
      continue;
    }
    successes = 0;
    if (++failures == 1) floor = Scalar(Tuning::floor_rise) * at.softness;
    at.softness = (std::min)(Scalar(Tuning::softness_rise) * at.softness, Scalar(1));
    if (failures > Tuning::most_failures) return;
    if (failures > Tuning::failures_to_return) at.copy(best_.data(), centre_.data());
    at.copy(centre_.data(), at.iterate.impulse());
  }
}

/// Newton's method for one proximal step, from the iterate. Returns false if it does not converge.
template <typename System>
bool ProximalNewton<System>::take_step(Search& at, int patience, int& taken) {
  using std::sqrt;
  const Scalar mass = 1 / at.yardstick.inverse_mass;
  Scalar promised = std::numeric_limits<Scalar>::infinity();
  for (taken = 0; taken < patience; ++taken) {
    at.iterate.write_velocity(at.system, at.island);
    const Scalar gap = write_gap(at, at.iterate.impulse(), at.iterate.velocity());
    if (!is_finite(gap)) return false;
    // The gap did not decrease as predicted: only rounding is left.
    const bool rounded = promised < Scalar(Tuning::rounded) * gap;
    const Scalar moved = at.total_rows(std::array<Scalar, 1>{}, [&](Index p, auto& sums) {
      sums[0] += (answer_[p] - centre_[p]) * (answer_[p] - centre_[p]);
    })[0];
    const Scalar near_enough = at.softness * sqrt(moved / mass) / Scalar(Tuning::accuracy);
    if (rounded || gap <= near_enough) return true;
    if (!at.may_go_on()) return false;
    promised = gap;
    const bool goes_on = at.minimises ? descend_convex(at, promised) : descend(at, promised);
    if (!goes_on) return false;
  }
  return false;
}

/// Writes Newton's step on the law of the proximal step, whose velocity is u + ρ w (γ − c).
/// @param coupled  whether the bounds of friction depend on the normal impulse.
template <typename System>
bool ProximalNewton<System>::write_step(Search& at, bool coupled) {
  StepMemory<Scalar>& memory = at.memory;
  at.for_each([&]<int Parts>(Index i, const BlockRows<Scalar, Parts>& block) {
    const PartNumbers<Scalar, Parts> added = softness(at, block);
    BlockRows<Scalar, Parts> soft = block;
    soft.inverse_mass *= at.softness;
    soft.regularization += added;
    const auto impulse = read_parts(block, at.iterate.impulse());
    const PartNumbers<Scalar, Parts> velocity =
        read_parts(block, at.iterate.velocity()) +
        products(added, impulse - read_parts(block, centre_.data()));
    BlockResponse<Scalar, Parts> response;
    ActiveBlock<Scalar, Parts>::write(soft, at.yardstick.law, impulse, velocity, response);
    if constexpr (Parts == 1) {
      if (!coupled && response.gain(0, 2) != 0) {
        for (int k = 0; k < 2; ++k) {
          response.offset(k) -= response.gain(k, 2) / response.gain(2, 2) *
                                (response.offset(2) + velocity(2) / soft.inverse_mass);
          response.gain(k, 2) = 0;
        }
      }
    }
    memory.gains.write(i, block.parts, response.gain);
    write_parts(block, response.offset, memory.offset.data());
  });
  ++at.systems;
  if (!at.system.factor(at.island, memory.gains)) return false;
  at.system.solve(at.island, memory.gains, memory.offset.data(), memory.step.data(),
                  memory.moved.data());
  return true;
}

/// Writes the trial for a share of the step; returns the norm of its gap.
template <typename System>
auto ProximalNewton<System>::go(Search& at, const Scalar& share) -> Scalar {
  at.for_each([&]<int Parts>(Index, const BlockRows<Scalar, Parts>& block) {
    const auto step = read_parts(block, at.memory.step.data());
    const PartNumbers<Scalar, Parts> impulse =
        read_parts(block, at.iterate.impulse()) + share * step;
    const PartNumbers<Scalar, Parts> velocity =
        read_parts(block, at.iterate.velocity()) +
        share * (read_parts(block, at.memory.moved.data()) + products(block.regularization, step));
    write_parts(block, impulse, trial_impulse_.data());
    write_parts(block, velocity, trial_velocity_.data());
  });
  return write_gap(at, trial_impulse_.data(), trial_velocity_.data());
}

/// One Newton step with a search along it for a smaller gap. If there is none under Coulomb's law,
/// the step is computed again with fixed bounds of friction.
/// @param reached  norm of the gap, before and after.
template <typename System>
bool ProximalNewton<System>::descend(Search& at, Scalar& reached) {
  const Scalar gap = reached;
  Scalar best = gap;
  const bool bounds_given = at.schedule.bounds_given && at.yardstick.law == FrictionLaw::coulomb;
  for (const bool coupled : {true, false}) {
    if (!at.may_go_on() || (!coupled && !bounds_given)) break;
    if (!write_step(at, coupled)) continue;
    const int halvings = coupled ? Tuning::halvings : Tuning::bounded_halvings;
    Scalar share(1);
    bool accepted = false;
    for (int k = 0; k < halvings && !accepted; ++k, share /= 2) {
      const Scalar trial = go(at, share);
      accepted = trial <= (1 - Scalar(Tuning::descent) * share) * gap;
      if (!(trial < best)) continue;
      best = trial;
      at.copy(trial_impulse_.data(), kept_.data());
    }
    if (accepted) break;
  }
  reached = best;
  if (!(best < gap)) return false;
  at.copy(kept_.data(), at.iterate.impulse());
  return true;
}

/// One Newton step of a proximal step that minimises a cost: under the convex law with rigid blocks
/// the velocities minimise ½‖v − v*‖²_A + ½ ρ ‖𝒞(c − u/(ρ w))‖²_w, whose derivative along the step
/// is Δuᵀ(γ − 𝒞). The search ends if at most half of the derivative is left.
/// @param reached  norm of the gap, before and after.
template <typename System>
bool ProximalNewton<System>::descend_convex(Search& at, Scalar& reached) {
  if (!write_step(at, true)) return false;
  const auto slope_at = [&](const Scalar& share) {
    reached = go(at, share);
    return at.total_rows(std::array<Scalar, 1>{},
                         [&](Index p, auto& sums) { sums[0] += at.memory.moved[p] * gap_[p]; })[0];
  };
  const Scalar first = slope_at(Scalar(0));
  if (!(first < Scalar(0))) return false;
  const Scalar enough = -first * Scalar(Tuning::slope_left);
  const auto inset = Scalar(Tuning::bracket_inset);
  Scalar low(0), high(1), at_low = first, at_high = slope_at(high), slope = at_high;
  if (!is_finite(slope)) return false;
  for (int k = 0; k < Tuning::evaluations && at_high > enough && !(std::abs(slope) <= enough);
       ++k) {
    const Scalar root = at_low / (at_low - at_high);
    const Scalar share =
        low + (high - low) * std::clamp(root, inset, Scalar(1 - Tuning::bracket_inset));
    slope = slope_at(share);
    (slope > Scalar(0) ? high : low) = share;
    (slope > Scalar(0) ? at_high : at_low) = slope;
  }
  at.copy(trial_impulse_.data(), at.iterate.impulse());
  return true;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
