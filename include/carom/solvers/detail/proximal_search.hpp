// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/detail/active_system.hpp"
#include "carom/solvers/gauss_seidel.hpp"

namespace carom::inline CAROM_ABI {

template <RealScalar Scalar>
struct ContactNewtonOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Natural map error at which to stop [-], > 0: ContactCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  int iteration_limit = 8000;  ///< Most linear systems solved, ≥ 0.
  /// Sweeps of Gauss-Seidel before the first system, ≥ 0; up to ten times as many while they gain
  /// a digit every twenty.
  int sweeps = 30;
};

namespace detail {

/// The search behind ContactNewton, for contacts that all influence each other: sweeps, then
/// proximal steps γ = 𝒞(c − a ∘ u(γ)/ρ) solved by Newton's method, then Newton's method on the law
/// itself.
/// @note  Allocates beyond the largest problem and pattern so far.
template <RealScalar Scalar>
class ProximalSearch {
 public:
  explicit ProximalSearch(const ContactNewtonOptions<Scalar>& options)
      : options_(options), sweeps_({.law = options.law, .tolerance = options.tolerance}) {}

  /// Room for a problem.
  void prepare(const DelassusProblem<Scalar>& problem) {
    sweeps_.prepare(problem);
    iterate_.reserve(problem);
    prepare_search(problem);
  }

  /// @param guess  γ in parts.
  SolveStatus solve(const DelassusProblem<Scalar>& problem, const Scalar* guess,
                    const Scalar& tolerance, int iteration_limit);

  /// The clock to ask.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// The best impulses met, in parts.
  [[nodiscard]] const Scalar* best() const noexcept { return iterate_.best(); }
  /// Linear systems solved.
  [[nodiscard]] int iterations() const noexcept { return iterations_; }

 private:
  /// Whether iterations and time are left; once not, it stays so.
  [[nodiscard]] bool may_go_on() noexcept {
    late_ = late_ || limits_.is_over();
    return !late_ && iterations_ < iteration_limit_;
  }
  /// Room for what comes after the sweeps.
  void prepare_search(const DelassusProblem<Scalar>& problem);

  using Map = Eigen::Map<VectorX<Scalar>>;

  /// How a search goes about its proximal steps.
  struct Manner {
    Scalar softness;  ///< first ρ
    Scalar factor;    ///< by which ρ falls
    int patience;     ///< Newton steps per proximal step
    int steps;        ///< proximal steps
  };
  enum class Outcome { solved, stalled };

  void sweep(const DelassusProblem<Scalar>& problem);
  Outcome search(const DelassusProblem<Scalar>& problem, const Manner& manner);
  bool take_proximal_step(const DelassusProblem<Scalar>& problem, const Manner& manner,
                          int patience, int& iterations);
  bool descend(const DelassusProblem<Scalar>& problem, Scalar& reached);
  Outcome polish(const DelassusProblem<Scalar>& problem, Scalar& error);

  /// f ← γ − 𝒞(c − a ∘ u/ρ), and its norm weighted by w.
  Scalar write_gap(const DelassusProblem<Scalar>& problem, const Scalar* impulse,
                   const Scalar* velocity) noexcept;
  /// The error of impulses, which the iterate takes on as its own.
  Scalar measure(const DelassusProblem<Scalar>& problem, const Sequence<Scalar>& impulse) noexcept {
    std::copy(impulse.begin(), impulse.end(), iterate_.impulse());
    return iterate_.measure(problem, options_.law);
  }
  /// Impulses to where the law would have them.
  void clip(const DelassusProblem<Scalar>& problem, Sequence<Scalar>& impulse) noexcept {
    for (Index i = 0; i < problem.count(); ++i) {
      Scalar* const own = impulse.data() + 3 * problem.first_part(i);
      Scalar clipped[6];
      law_.respond(problem, i, own, clipped);
      std::copy(clipped, clipped + 3 * problem.parts(i), own);
    }
  }
  ContactNewtonOptions<Scalar> options_;
  GaussSeidel<Scalar> sweeps_;
  DualIterate<Scalar> iterate_;
  DualLaw<Scalar> law_;
  ActiveSystem<Scalar> system_;
  Sequence<Scalar> start_, impulse_, velocity_, centre_, gap_, answer_, right_, step_, moved_;
  Sequence<Scalar> trial_impulse_, trial_velocity_, kept_step_;
  Scalar rho_ = 1, load_impulse_ = 0, tolerance_ = 0;
  int iterations_ = 0, iteration_limit_ = 0;
  SolveLimits limits_;
  bool late_ = false;
};

// --- implementation ---

template <RealScalar Scalar>
void ProximalSearch<Scalar>::prepare_search(const DelassusProblem<Scalar>& problem) {
  law_.prepare(problem, options_.law);
  system_.prepare(problem);
  for (Sequence<Scalar>* numbers :
       {&start_, &impulse_, &velocity_, &centre_, &gap_, &answer_, &right_, &step_, &moved_,
        &trial_impulse_, &trial_velocity_, &kept_step_}) {
    numbers->resize(3 * problem.part_count());
  }
}

template <RealScalar Scalar>
Scalar ProximalSearch<Scalar>::write_gap(const DelassusProblem<Scalar>& problem,
                                         const Scalar* impulse, const Scalar* velocity) noexcept {
  using std::sqrt;
  Scalar squared(0);
  for (Index i = 0; i < problem.count(); ++i) {
    const Index begin = 3 * problem.first_part(i), size = 3 * problem.parts(i);
    Scalar y[6];
    law_.write_trial(problem, i, centre_.data(), velocity, rho_, y);
    law_.respond(problem, i, y, answer_.data() + begin);
    for (Index k = begin; k < begin + size; ++k) {
      gap_[k] = impulse[k] - answer_[k];
      squared += law_.inverse_mass(k) * gap_[k] * gap_[k];
    }
  }
  return sqrt(squared);
}

/// Sweeps until they hardly change anything, or no longer gain enough.
template <RealScalar Scalar>
void ProximalSearch<Scalar>::sweep(const DelassusProblem<Scalar>& problem) {
  constexpr int together = 10;
  Scalar last = std::numeric_limits<Scalar>::infinity();
  for (int done = 0; done < 10 * options_.sweeps; done += together) {
    if ((late_ = late_ || limits_.is_over())) return;
    const int count = (std::min)(together, 10 * options_.sweeps - done);
    const Scalar change = sweeps_.sweep(problem, iterate_.impulse(), count);
    const Scalar size = Map(iterate_.impulse(), 3 * problem.part_count()).norm();
    if (!(change > Scalar(1e-3) * tolerance_ * size)) return;
    if (done + count >= options_.sweeps && !(change < Scalar(0.3) * last)) return;
    last = change;
  }
}

template <RealScalar Scalar>
SolveStatus ProximalSearch<Scalar>::solve(const DelassusProblem<Scalar>& problem,
                                          const Scalar* guess, const Scalar& tolerance,
                                          int iteration_limit) {
  sweeps_.prepare(problem);
  iterate_.reserve(problem);
  iterations_ = 0;
  late_ = false;
  tolerance_ = tolerance;
  iteration_limit_ = iteration_limit;
  iterate_.start_in_parts(guess);
  Scalar error = iterate_.measure(problem, options_.law);
  if (error <= tolerance) return SolveStatus::converged;
  const Index size = 3 * problem.part_count();
  const auto is_zero = [](const Scalar& x) { return x == Scalar(0); };
  const bool guessed = problem.count() > 1 && !std::all_of(guess, guess + size, is_zero);
  if (guessed) {  // it may be
    prepare_search(problem);
    std::copy_n(guess, size, impulse_.begin());
    if (polish(problem, error) == Outcome::solved) return SolveStatus::converged;
    iterate_.return_to_best();
  }
  sweep(problem);
  if (iterate_.measure(problem, options_.law) <= tolerance) return SolveStatus::converged;
  if (!guessed) prepare_search(problem);
  std::copy_n(iterate_.best(), size, start_.begin());
  const Scalar w = problem.mean_diagonal() > Scalar(0) ? problem.mean_diagonal() : Scalar(1);
  load_impulse_ = problem.load_norm() / w;
  const Manner manners[] = {{Scalar(1e-2), Scalar(0.5), 40, 80},
                            {Scalar(1e-3), Scalar(0.1), 15, 80},
                            {Scalar(1e-2), Scalar(0.3), 30, 300}};
  for (const Manner& manner : manners) {
    if (iterate_.best_error() <= tolerance || late_) break;
    std::copy(start_.begin(), start_.end(), impulse_.begin());
    if (search(problem, manner) == Outcome::solved) break;
  }
  if (iterate_.best_error() <= tolerance) return SolveStatus::converged;
  if (late_) return SolveStatus::deadline;
  return iterations_ >= iteration_limit ? SolveStatus::iteration_limit : SolveStatus::no_progress;
}

/// Proximal steps from impulse_, each followed by steps on the law itself once that is near.
template <RealScalar Scalar>
typename ProximalSearch<Scalar>::Outcome ProximalSearch<Scalar>::search(
    const DelassusProblem<Scalar>& problem, const Manner& manner) {
  using std::pow, std::sqrt;
  const Scalar least = pow(std::numeric_limits<Scalar>::epsilon(), Scalar(0.7));
  constexpr Scalar close = Scalar(1e-3);
  Scalar error = measure(problem, impulse_), floor = least;
  if (error < close && polish(problem, error) == Outcome::solved) return Outcome::solved;
  std::copy(impulse_.begin(), impulse_.end(), centre_.begin());
  rho_ = manner.softness;
  int failures = 0, successes = 0;
  for (int k = 0; k < manner.steps && may_go_on(); ++k) {
    int taken = 0;
    const bool done = take_proximal_step(problem, manner, failures > 0 ? 2 : 1, taken);
    Scalar reached = measure(problem, answer_);
    clip(problem, impulse_);
    if (const Scalar other = measure(problem, impulse_); !(other < reached)) {
      std::copy(answer_.begin(), answer_.end(), impulse_.begin());
    } else {
      reached = other;
    }
    if (reached <= tolerance_) return Outcome::solved;
    if (done) {
      if (reached < close && polish(problem, reached) == Outcome::solved) return Outcome::solved;
      failures = 0;
      if (++successes >= 3) {
        floor = (std::max)(least, floor / 4);
        successes = 0;
      }
      std::copy(impulse_.begin(), impulse_.end(), centre_.begin());
      const bool slow = reached > Scalar(0.02) * error;
      if (slow && taken <= 5) rho_ = (std::max)(rho_ * manner.factor, floor);
      if (slow && taken > 5 && taken <= 10) rho_ = (std::max)(rho_ * sqrt(manner.factor), floor);
      error = reached;
      continue;
    }
    successes = 0;
    if (++failures == 1) floor = 2 * rho_;
    rho_ = (std::min)(4 * rho_, Scalar(1));
    if (failures > 8) return Outcome::stalled;
    if (failures > 2) std::copy_n(iterate_.best(), centre_.size(), centre_.begin());
    std::copy(centre_.begin(), centre_.end(), impulse_.begin());
  }
  return Outcome::stalled;
}

/// Newton's method for one proximal step, from impulse_.
/// @return  false when it does not get there.
template <RealScalar Scalar>
bool ProximalSearch<Scalar>::take_proximal_step(const DelassusProblem<Scalar>& problem,
                                                const Manner& manner, int patience,
                                                int& iterations) {
  using std::sqrt;
  const Index size = impulse_.size();
  const Scalar unit =
      sqrt((std::max)(problem.mean_diagonal(), (std::numeric_limits<Scalar>::min)()));
  const Scalar noise = 5 * std::numeric_limits<Scalar>::epsilon() * load_impulse_ * unit / rho_;
  Scalar first(-1), last = std::numeric_limits<Scalar>::infinity(), promised = last;
  for (iterations = 0; iterations < manner.patience * patience; ++iterations) {
    problem.write_velocities(impulse_.data(), velocity_.data());
    const Scalar gap = write_gap(problem, impulse_.data(), velocity_.data());
    if (!is_finite(gap)) return false;
    if (iterations == 0) first = gap;
    // What a step promised does not show: rounding is all that is left.
    const bool rounded =
        promised < Scalar(1e-3) * gap ||
        (promised < Scalar(1e-2) * gap && gap > Scalar(0.1) * last && last < Scalar(1e-3) * first);
    const Scalar moved = (Map(answer_.data(), size) - Map(centre_.data(), size)).norm();
    if ((iterations > 0 && rounded) || gap <= (std::max)(noise, rho_ * unit * moved / 10)) {
      return true;
    }
    last = gap;
    if (!may_go_on()) return false;
    promised = gap;
    if (!descend(problem, promised)) return gap < Scalar(1e-6) * first;
  }
  return false;
}

/// One Newton step with a search along it; where that finds nothing, one along the direction of
/// friction with given bounds.
/// @param reached  gap before; after.
template <RealScalar Scalar>
bool ProximalSearch<Scalar>::descend(const DelassusProblem<Scalar>& problem, Scalar& reached) {
  const Index size = impulse_.size();
  const Scalar gap = reached;
  Scalar best = std::numeric_limits<Scalar>::infinity(), best_share(0);
  bool accepted = false;
  for (const bool coupled : {true, false}) {
    if (!may_go_on()) break;
    if (!coupled) static_cast<void>(write_gap(problem, impulse_.data(), velocity_.data()));
    for (Index i = 0; i < problem.count(); ++i) {
      const Index begin = 3 * problem.first_part(i);
      Scalar y[6];
      law_.write_trial(problem, i, centre_.data(), velocity_.data(), rho_, y);
      auto& equation = system_.equation(i);
      law_.write_proximal(problem, i, y, rho_, coupled, equation);
      for (int a = 0; a < problem.parts(i); ++a) {
        Vector3<Scalar> h = Vector3<Scalar>::Zero();
        for (int b = 0; b < problem.parts(i); ++b) {
          h -= equation.q.block[a][b] *
               Eigen::Map<const Vector3<Scalar>>(gap_.data() + begin + 3 * b);
        }
        Eigen::Map<Vector3<Scalar>>(right_.data() + begin + 3 * a) = h;
      }
    }
    if (!system_.factor(problem)) continue;
    ++iterations_;
    if (!system_.solve(problem, law_, right_.data(), step_.data(), moved_.data())) continue;
    Scalar share(1);
    for (int k = 0; k < (coupled ? 7 : 12) && !accepted; ++k, share /= 2) {
      Map(trial_impulse_.data(), size) =
          Map(impulse_.data(), size) + share * Map(step_.data(), size);
      Map(trial_velocity_.data(), size) =
          Map(velocity_.data(), size) + share * Map(moved_.data(), size);
      const Scalar trial = write_gap(problem, trial_impulse_.data(), trial_velocity_.data());
      accepted = trial <= (1 - Scalar(1e-4) * share) * gap;
      if (!(trial < best)) continue;
      best = trial;
      best_share = share;
      std::copy(step_.begin(), step_.end(), kept_step_.begin());
    }
    if (accepted) break;
  }
  if (!is_finite(best)) return false;
  Map(impulse_.data(), size) += best_share * Map(kept_step_.data(), size);
  reached = best;
  return best <= Scalar(0.999999) * gap;
}

/// Newton's method on the law itself, from impulse_, as long as every step halves the error.
template <RealScalar Scalar>
typename ProximalSearch<Scalar>::Outcome ProximalSearch<Scalar>::polish(
    const DelassusProblem<Scalar>& problem, Scalar& error) {
  using std::sqrt;
  const Scalar epsilon = sqrt(std::numeric_limits<Scalar>::epsilon());
  const Index size = impulse_.size();
  const Scalar rho = rho_;
  rho_ = Scalar(1);
  const auto leave = [&](Outcome outcome) {
    rho_ = rho;
    return outcome;
  };
  for (int k = 0; k < 20 && may_go_on(); ++k) {
    problem.write_velocities(impulse_.data(), velocity_.data());
    for (Index i = 0; i < problem.count(); ++i) {
      const Index begin = 3 * problem.first_part(i), end = begin + 3 * problem.parts(i);
      Scalar y[6];
      law_.write_trial(problem, i, impulse_.data(), velocity_.data(), rho_, y);
      law_.respond(problem, i, y, answer_.data() + begin);
      law_.write_direct(problem, i, y, epsilon, system_.equation(i));
      for (Index u = begin; u < end; ++u) {
        right_[u] = -law_.inverse_mass(u) * (impulse_[u] - answer_[u]);
      }
    }
    if (!system_.factor(problem)) return leave(Outcome::stalled);
    ++iterations_;
    if (!system_.solve(problem, law_, right_.data(), step_.data(), moved_.data())) {
      return leave(Outcome::stalled);
    }
    const Scalar before = error;
    Scalar share(1);
    bool improved = false;
    for (int l = 0; l < 6; ++l, share /= 2) {
      Map(trial_impulse_.data(), size) =
          Map(impulse_.data(), size) + share * Map(step_.data(), size);
      clip(problem, trial_impulse_);
      const Scalar trial = measure(problem, trial_impulse_);
      if (!(trial < error)) continue;
      improved = true;
      std::copy(trial_impulse_.begin(), trial_impulse_.end(), kept_step_.begin());
      error = trial;
      if (trial < (1 - share / 10) * before) break;
    }
    if (!improved) return leave(Outcome::stalled);
    std::copy(kept_step_.begin(), kept_step_.end(), impulse_.begin());
    if (error <= tolerance_) return leave(Outcome::solved);
    if (error > before / 2) return leave(Outcome::stalled);
  }
  return leave(Outcome::stalled);
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
