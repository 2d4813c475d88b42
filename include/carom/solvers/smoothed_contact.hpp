// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/dual.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/search/central_path.hpp"
#include "carom/solvers/systems/body_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of SmoothedContact.
struct SmoothedContactTuning {
  /// The distance by which the start is moved into the cones, as in IslandLawTuning::margins.
  static constexpr double margin = 30;
  /// Largest count of systems of an island: each reduces the products to a tenth at best, and some
  /// more are needed for convergence.
  static constexpr int systems = 100;
};

}  // namespace detail

/// Points of the central path of Coulomb's law: contact in which each product of an impulse and a
/// velocity is κ instead of zero. Contacts act before they touch, and friction slips slightly, so
/// that velocities depend smoothly on all data. For small κ they are near the answer of the law.
///
/// ```
/// carom::SmoothedContact<double> smoothed;
/// if (smoothed.solve(problem, 1e-4, velocity).converged()) {
///   derivative.linearize_smoothed(problem, velocity, smoothed.impulse(), 1e-4);
/// }
/// ```
/// The bias of velocities is the distance between the point and the answer of ContactSolver. Inside
/// of regions it is proportional to κ, on a boundary to √κ. Without friction
/// ‖v_κ − v‖²_A = (γ_κ − γ)ᵀ J (v_κ − v) ≤ Σ (γ_κ − γ)(u_κ − u) ≤ n κ for n contacts and bounds.
/// With friction no bound is known, and the distance itself must be measured.
/// @cite  docs/derivations/interior_point.md, (2) and (3).
template <RealScalar Scalar>
class SmoothedContact {
 public:
  using scalar_type = Scalar;

  /// Allocates memory for the problem's size and pattern, so that solve() does not.
  void prepare(const ContactProblem<Scalar>& problem) {
    system_.take(problem, false);
    path_.lay_out(system_);
    memory_.lay_out(system_);
    iterate_.lay_out(system_);
    impulse_.grow(problem.impulse_count());
  }

  /// Computes the point.
  /// @param product   κ [J], > 0: the size of the energies that may be blurred.
  /// @param velocity  v, n_v [m/s, rad/s], out.
  /// @return  residual: relative change of the impulses in the last step [-]; iterations: the
  ///          largest count of factored systems for one island. no_progress if the path folds.
  /// @note  Real-time safe after prepare() for a problem of this size and pattern.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, const Scalar& product,
                            VectorX<Scalar>& velocity) noexcept;

  /// γ of the last point [N·s], stacked block by block.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {impulse_.data(), impulse_.size()};
  }

 private:
  using Tuning = detail::SmoothedContactTuning;
  void follow(Index island, const detail::Yardstick<Scalar>& yardstick, const Scalar& product,
              SolveReport<Scalar>& report) noexcept;

  detail::BodySystem<Scalar> system_;
  detail::CentralPath<detail::BodySystem<Scalar>> path_;
  detail::StepMemory<Scalar> memory_;
  detail::LawIterate<Scalar> iterate_;
  Growing<VectorX<Scalar>> impulse_;
};

// --- implementation ---

template <RealScalar Scalar>
void SmoothedContact<Scalar>::follow(Index island, const detail::Yardstick<Scalar>& yardstick,
                                     const Scalar& product, SolveReport<Scalar>& report) noexcept {
  using std::sqrt;
  const Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  const auto& parts = system_.islands()[island];
  const bool started =
      path_.start(system_, island, yardstick, Scalar(Tuning::margin), iterate_, memory_);
  Scalar last(1);
  int systems = 1;
  for (; started && systems < Tuning::systems; ++systems) {
    iterate_.write_velocity(system_, island);
    const Scalar share = path_.centre(system_, island, yardstick.law, product, iterate_, memory_);
    if (!(share > Scalar(0))) break;
    Scalar moved(0), size(0);
    for (Index p = 3 * parts.first_part; p < 3 * parts.part_end; ++p) {
      moved += memory_.step[p] * memory_.step[p];
      size += iterate_.impulse()[p] * iterate_.impulse()[p];
    }
    const Scalar now = sqrt(moved) / (sqrt(size) + (std::numeric_limits<Scalar>::min)());
    const bool settled = now <= sqrt(rounding) && now > last / 4;  // only rounding changes it
    last = now;
    if (settled || now <= rounding) break;
  }
  report.residual = (std::max)(report.residual, last);
  report.iterations = (std::max)(report.iterations, systems);
}

template <RealScalar Scalar>
SolveReport<Scalar> SmoothedContact<Scalar>::solve(const ContactProblem<Scalar>& problem,
                                                   const Scalar& product,
                                                   VectorX<Scalar>& velocity) noexcept {
  using std::sqrt;
  CAROM_EXPECTS(product > Scalar(0));
  prepare(problem);
  const auto yardstick = detail::make_yardstick(system_, FrictionLaw::coulomb);
  SolveReport<Scalar> report;
  report.residual_target = sqrt(std::numeric_limits<Scalar>::epsilon());
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  for (Index i = 0; i < system_.islands().size(); ++i) follow(i, yardstick, product, report);
  impulse_.setZero();
  system_.rows().for_each_row(
      [&](Index row, Index place) { impulse_(row) = iterate_.impulse()[place]; });
  write_velocity(problem, impulse_, velocity);
  report.status =
      report.residual <= report.residual_target ? SolveStatus::converged : SolveStatus::no_progress;
  if (!impulse_.allFinite()) report.status = SolveStatus::not_finite;
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
