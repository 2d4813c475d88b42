// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/projection.hpp"
#include "carom/contact/detail/natural_map.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/viscoelastic/detail/slip_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The error of a contact in Coulomb's law.
template <RealScalar Scalar>
struct SlipGap {
  Vector3<Scalar> gap;  ///< λ − P(λ − ρ (w + μ‖wₜ‖ n)) [N], 0 if the law is satisfied.
  ConeRegion region;    ///< the region of the argument of P.
};

/// Natural map of one contact.
/// @param force     λ [N].
/// @param velocity  w of its anchor [m/s].
/// @param friction  μ [-], ≥ 0.
/// @param gain      ρ [N·s/m], > 0: the size of the contact's block of G.
/// @return  gap is infinite if a number is not finite.
/// @note  Real-time safe: no allocation, no exception.
/// @cite  acary2018coulomb, section 3, the natural map of De Saxcé's form of the law.
template <RealScalar Scalar>
[[nodiscard]] SlipGap<Scalar> slip_gap(const Vector3<Scalar>& force,
                                       const Vector3<Scalar>& velocity, const Scalar& friction,
                                       const Scalar& gain) noexcept {
  const FrictionCone<Scalar> cone{friction};
  const Vector3<Scalar> step = gain * detail::law_velocity(FrictionLaw::coulomb, cone, velocity);
  SlipGap<Scalar> result;
  result.gap = detail::natural_map(cone, force, step, result.region);
  return result;
}

/// The error of anchor velocities w in Coulomb's law over all contacts: the norm of all natural
/// maps of λ = λ_avg + G w, relative to the larger of ‖λ_avg‖ and ‖λ‖ [-]. It is 0 at a solution,
/// and infinite if a number is not finite.
/// @param gain      G, 3n×3n [N·s/m], symmetric positive semidefinite.
/// @param average   λ_avg, 3n [N].
/// @param friction  μ, n [-], ≥ 0.
/// @param velocity  w, 3n [m/s].
/// @param force     written: λ, 3n [N].
/// @note  Real-time safe: no allocation, no exception, 9 n² products.
template <typename Matrix, typename Values1, typename Values2, typename Values3, typename Values4>
[[nodiscard]] auto slip_error(const Matrix& gain, const Values1& average, const Values2& friction,
                              const Values3& velocity, Values4& force) noexcept {
  using Scalar = typename Matrix::Scalar;
  using std::sqrt;
  force = average;
  force.noalias() += gain * velocity;
  Scalar squared(0);
  for (Index i = 0; i < friction.size(); ++i) {
    const Scalar size = gain.diagonal().template segment<3>(3 * i).sum() / 3;
    const SlipGap<Scalar> gap = slip_gap<Scalar>(
        force.template segment<3>(3 * i), velocity.template segment<3>(3 * i), friction(i), size);
    squared += gap.gap.squaredNorm();
  }
  if (!(squared > Scalar(0))) {
    return squared == Scalar(0) ? Scalar(0) : std::numeric_limits<Scalar>::infinity();
  }
  const Scalar relative = sqrt(squared) / (std::max)(Scalar(average.norm()), Scalar(force.norm()));
  return relative - relative == Scalar(0) ? relative : std::numeric_limits<Scalar>::infinity();
}

namespace detail {

/// Newton's method on Coulomb's law of viscoelastic contacts with given regions: λₜ + μ λₙ
/// wₜ/‖wₜ‖ = 0 for a sliding contact, λ = 0 for an open contact. The unknowns are the components of
/// w that do not vanish.
template <RealScalar Scalar>
class SlipNewton {
 public:
  using Vector = Growing<VectorX<Scalar>>;

  /// Sets the count of contacts. Cold: allocates only for a count larger than all before.
  void prepare(Index contact_count) {
    const Index n = 3 * contact_count;
    regions_.resize((std::max)(regions_.size(), std::size_t(contact_count)));
    rows_.resize((std::max)(rows_.size(), std::size_t(n)));
    if (matrix_.rows() < n) matrix_.resize(n, n);
    step_.grow(n);
    fitted_.grow(n);
    lu_.prepare(n);
  }

  /// Region of a contact in the next step.
  [[nodiscard]] ConeRegion& region(Index contact) noexcept {
    return regions_[std::size_t(contact)];
  }
  [[nodiscard]] const ConeRegion& region(Index contact) const noexcept {
    return regions_[std::size_t(contact)];
  }
  /// Count of unknowns of the next step.
  [[nodiscard]] Index unknowns(Index contact_count) const noexcept {
    Index sum = 0;
    for (Index i = 0; i < contact_count; ++i) sum += unknowns_of(regions_[std::size_t(i)]);
    return sum;
  }

  /// Change of w, 3n, from the linearised law. It is −w in rows that must vanish.
  [[nodiscard]] const Vector& step() const noexcept { return step_; }

  /// Computes a step.
  /// @param gain      G, 3n×3n [N·s/m].
  /// @param response  λ_avg + G w, 3n [N].
  /// @param friction  μ, n [-].
  /// @param velocity  w, 3n [m/s].
  /// @return  false if the equations are singular or a sliding contact is at rest.
  /// @note  Real-time safe: no allocation, no exception.
  template <typename Matrix, typename Values1, typename Values2, typename Values3>
  [[nodiscard]] bool compute(const Matrix& gain, const Values1& response, const Values2& friction,
                             const Values3& velocity) noexcept {
    const Index m = collect(friction.size());
    fit(gain, response, velocity);
    for (Index c = 0; c < m; ++c) {
      for (Index r = 0; r < m; ++r) matrix_(r, c) = gain(row(r), row(c));
    }
    for (Index r = 0; r < m; ++r) {
      step_(r) = -fitted_(row(r));
      const Index i = row(r) / 3;
      if (region(i) != ConeRegion::slide || !(friction(i) > Scalar(0))) continue;
      const Vector3<Scalar> w = velocity.template segment<3>(3 * i);
      const Scalar speed = w.template head<2>().norm();
      if (!(speed > Scalar(0))) return false;
      const Scalar normal = fitted_(3 * i + 2);
      const Index k = row(r) % 3, first = r - k;
      const Scalar share = friction(i) * w(k) / speed;
      step_(r) -= share * normal;
      for (Index c = 0; c < m; ++c) matrix_(r, c) += share * gain(3 * i + 2, row(c));
      const Scalar turn = friction(i) * (std::max)(normal, Scalar(0)) / speed;
      for (Index l = 0; l < 2; ++l) {
        matrix_(r, first + l) += turn * (Scalar(k == l ? 1 : 0) - w(k) / speed * w(l) / speed);
      }
    }
    if (!lu_.factor(matrix_, m)) return false;
    lu_.solve(step_.data());
    Index from = m;
    for (Index to = step_.size() - 1; to >= 0; --to) {  // copied to its rows, from the last one on
      const bool own = from > 0 && row(from - 1) == to;
      step_(to) = own ? step_(--from) : -velocity(to);
    }
    return true;
  }

 private:
  /// Writes λ for w with zeros in the rows that must vanish.
  template <typename Matrix, typename Values1, typename Values2>
  void fit(const Matrix& gain, const Values1& response, const Values2& velocity) noexcept {
    fitted_ = response;
    for (Index row = 0; row < fitted_.size(); ++row) {
      const bool vanishes = row % 3 >= unknowns_of(region(row / 3));
      if (vanishes && velocity(row) != Scalar(0)) fitted_ -= velocity(row) * gain.col(row);
    }
  }
  [[nodiscard]] static Index unknowns_of(ConeRegion region) noexcept {
    return region == ConeRegion::slide ? 2 : region == ConeRegion::separate ? 3 : 0;
  }
  [[nodiscard]] Index row(Index unknown) const noexcept { return rows_[std::size_t(unknown)]; }

  Index collect(Index contact_count) noexcept {
    Index m = 0;
    for (Index i = 0; i < contact_count; ++i) {
      for (Index k = 0; k < unknowns_of(region(i)); ++k) rows_[std::size_t(m++)] = 3 * i + k;
    }
    return m;
  }

  std::vector<ConeRegion> regions_;
  std::vector<Index> rows_;
  MatrixX<Scalar> matrix_;
  LuFactor<Scalar> lu_;
  Vector step_, fitted_;
};

}  // namespace detail

/// Coulomb's law of viscoelastic contacts, λ = λ_avg + G w, for problems that sweeps over contacts
/// do not solve.
///
/// The rigid problem with the Delassus matrix W = G⁻¹ and the load −W λ_avg has the same forces.
/// The steps, for each first guess:
/// 1. InteriorPointSolver solves the rigid problem. Its forces determine the regions: which
///    contacts stick, slide and open.
/// 2. Newton's method on the law in terms of G improves the velocities w. This is necessary because
///    stiff contacts make the entries of W differ by many orders of magnitude; w from W is then
///    inaccurate. Each step is halved until the error decreases.
/// 3. slip_error() measures the error of the result. The search ends if it is at most the target.
/// Coulomb's law is not monotone, and one guess may fail. The next guesses are zero force, λ_avg
/// projected to its cones, and the solutions for slightly changed loads. The search fails after the
/// last guess.
/// @cite  acary2018coulomb; alart1991mixed
template <RealScalar Scalar>
class CoulombFallback {
 public:
  CoulombFallback()
      : solver_(
            {.tolerance = Scalar(Tuning::path_accuracy) * std::numeric_limits<Scalar>::epsilon(),
             .iteration_limit = Tuning::path_systems}) {}

  /// Sets the count of contacts. Cold: allocates only for a count larger than all before.
  void prepare(Index contact_count) {
    const Index n = 3 * contact_count;
    newton_.prepare(contact_count);
    for (Vector* v :
         {&force_, &velocity_, &kept_, &least_, &trial_, &best_, &moved_, &scale_, &load_})
      v->grow(n);
    for (Growing<MatrixX<Scalar>>* m : {&factor_, &inverse_}) m->grow(n, n);
    if (contact_count <= largest_) return;
    largest_ = contact_count;
    inverse_.setIdentity();
    load_.setZero();
    for (const int friction : {0, 1}) {  // contacts without friction have another shape
      assemble(VectorX<Scalar>(VectorX<Scalar>::Constant(contact_count, Scalar(friction))));
      solver_.prepare(problem_);
    }
  }

  /// @param gain      G, 3n×3n [N·s/m], symmetric positive definite.
  /// @param average   λ_avg, 3n [N].
  /// @param friction  μ, n [-], ≥ 0.
  /// @param guess     λ, 3n [N].
  /// @param target    slip_error at which the search ends [-].
  /// @return  residual: slip_error [-]; iterations: count of solved linear systems. The target is
  ///          raised to the rounding of G w. no_progress if no guess reaches it.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Matrix, typename Values1, typename Values2, typename Values3>
  // NOLINTNEXTLINE(bugprone-exception-escape): problems throw on bad numbers, refused here
  SolveReport<Scalar> solve(const Matrix& gain, const Values1& average, const Values2& friction,
                            const Values3& guess, const Scalar& target) noexcept {
    CAROM_EXPECTS(guess.size() == force_.size() && friction.size() == force_.size() / 3);
    SolveReport<Scalar> report;
    report.error_bound = report.residual = std::numeric_limits<Scalar>::infinity();
    report.residual_target = target;
    force_ = guess;
    velocity_.setZero();
    if (!guess.allFinite() || !average.allFinite() || !gain.allFinite()) return report;
    for (Index i = 0; i < friction.size(); ++i) {
      if (!detail::is_nonnegative(Scalar(friction(i)))) return report;
    }
    report.status = SolveStatus::no_progress;
    best_.setZero();
    for (int start = 0; start < Tuning::starts && !report.converged(); ++start) {
      if (start > 0) write_start(start, average, friction);
      if (start > 2) {
        disturb(start - 2, average);
        static_cast<void>(attempt(gain, moved_, friction, report));
      }
      const Scalar error = attempt(gain, average, friction, report);
      if (!(error < report.residual)) continue;
      report.residual = error;
      best_ = velocity_;
      const Scalar size = (std::max)(Scalar(average.norm()), Scalar(force_.norm()));
      const Scalar rounding = std::numeric_limits<Scalar>::epsilon() / Tuning::rounding_parts *
                              gain.norm() * (velocity_.norm() / size);
      report.residual_target = (std::max)(target, rounding);
      if (error <= report.residual_target) report.status = SolveStatus::converged;
    }
    velocity_ = best_;
    place(gain, average, friction, report.converged());
    return report;
  }

  /// λ [N], in the cones, and w [m/s]; the error of λ = λ_avg + G w is at most the residual.
  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return force_; }
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] ConeRegion region(Index contact) const noexcept { return newton_.region(contact); }

 private:
  using Vector = Growing<VectorX<Scalar>>;
  using Tuning = detail::CoulombFallbackTuning;

  /// Solves from force_. Writes w and λ, and returns their error.
  template <typename Matrix, typename Values1, typename Values2>
  Scalar attempt(const Matrix& gain, const Values1& average, const Values2& friction,
                 SolveReport<Scalar>& report) {
    if (!invert(gain, average)) return std::numeric_limits<Scalar>::infinity();
    assemble(friction);
    const std::span<Scalar> force(force_.data(), std::size_t(force_.size()));
    report.iterations += solver_.solve(problem_, force).iterations;
    velocity_ = force_ - average;
    multiply_by_inverse(velocity_);
    for (Index i = 0; i < friction.size(); ++i) newton_.region(i) = region_of(i, friction(i));
    return polish(gain, average, friction, report);
  }

  /// W = S (S G S)⁻¹ S, S = diag(G)^−½, and −W λ_avg.
  template <typename Matrix, typename Values>
  [[nodiscard]] bool invert(const Matrix& gain, const Values& average) noexcept {
    const Index n = force_.size();
    for (Index r = 0; r < n; ++r) {
      if (!(gain(r, r) > Scalar(0))) return false;
      scale_(r) = Scalar(1) / std::sqrt(gain(r, r));
    }
    for (Index c = 0; c < n; ++c) {
      for (Index r = 0; r < n; ++r) inverse_(r, c) = scale_(r) * gain(r, c) * scale_(c);
    }
    if (!factor_shifted()) return false;
    inverse_.setZero();
    for (Index c = 0; c < n; ++c) {
      Scalar* const column = inverse_.data() + c * n;
      column[c] = scale_(c);
      solve_lower(factor_.data(), n, n, column);
      solve_lower_transposed(factor_.data(), n, n, column);
      for (Index r = 0; r < n; ++r) column[r] *= scale_(r);
    }
    load_ = -average;
    multiply_by_inverse(load_);
    return inverse_.allFinite() && load_.allFinite();
  }

  /// Factors inverse_, which has unit diagonal. If rounding made it indefinite, a shift is added.
  [[nodiscard]] bool factor_shifted() noexcept {
    const Index n = inverse_.rows();
    const Scalar rounding = Scalar(double(n)) * std::numeric_limits<Scalar>::epsilon();
    Scalar shift(0);
    for (int k = 0; k < std::numeric_limits<Scalar>::digits10; ++k) {
      factor_ = inverse_;
      factor_.diagonal().array() += shift;
      if (factor_cholesky(factor_.data(), n, n)) return true;
      shift = Tuning::shift_rise * (std::max)(shift, rounding);
    }
    return false;
  }

  /// Writes a guess without a solve: zero force, or λ_avg in its cones.
  template <typename Values1, typename Values2>
  void write_start(int start, const Values1& average, const Values2& friction) noexcept {
    force_.setZero();
    if (start != 2) return;
    for (Index i = 0; i < friction.size(); ++i) {
      const Vector3<Scalar> own = average.template segment<3>(3 * i);
      force_.template segment<3>(3 * i) = project(FrictionCone<Scalar>{friction(i)}, own).point;
    }
  }

  /// Writes λ_avg with changes of up to a percent, distributed by multiples of the golden ratio.
  template <typename Values>
  void disturb(int number, const Values& average) noexcept {
    constexpr Scalar golden = Scalar(0.618033988749894848);
    moved_ = average;
    for (Index r = 0; r < moved_.size(); ++r) {
      const Scalar turns = Scalar(double(number)) * Scalar(double(2 * r + 1)) * golden;
      moved_(r) *= 1 + Scalar(Tuning::disturbance) * (turns - std::floor(turns) - Scalar(0.5));
    }
  }

  /// x ← G⁻¹ x with the factor of G.
  void multiply_by_inverse(Vector& x) noexcept {
    const Index n = x.size();
    x.array() *= scale_.array();
    solve_lower(factor_.data(), n, n, x.data());
    solve_lower_transposed(factor_.data(), n, n, x.data());
    x.array() *= scale_.array();
  }

  template <typename Values>
  void assemble(const Values& friction) {
    problem_.reset();
    for (Index i = 0; i < friction.size(); ++i) {
      problem_.add_contact(friction_impulses(Scalar(friction(i))),
                           load_.template segment<3>(3 * i));
    }
    for (Index i = 0; i < friction.size(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        problem_.add_coupling(i, j, inverse_.template block<3, 3>(3 * i, 3 * j));
      }
    }
    problem_.assemble();
  }

  /// Region from the force only.
  [[nodiscard]] ConeRegion region_of(Index i, const Scalar& friction) const noexcept {
    const Vector3<Scalar> f = force_.template segment<3>(3 * i);
    if (!(f(2) > Scalar(0))) return ConeRegion::separate;
    const Scalar rim = Scalar(1) - Tuning::rim_roundings * std::numeric_limits<Scalar>::epsilon();
    const bool slides = f.template head<2>().norm() >= rim * friction * f(2);
    return slides ? ConeRegion::slide : ConeRegion::stick;
  }

  /// Newton's method on the law in terms of G from velocity_ and the known regions. Afterwards
  /// velocity_ and force_ are those with the least error; returns this error.
  template <typename Matrix, typename Values1, typename Values2>
  Scalar polish(const Matrix& gain, const Values1& average, const Values2& friction,
                SolveReport<Scalar>& report) noexcept {
    Scalar least = std::numeric_limits<Scalar>::infinity();
    const auto measure = [&] {
      const Scalar error = slip_error(gain, average, friction, velocity_, force_);
      if (!(error < least)) return error;
      least = error;
      least_ = velocity_;
      return error;
    };
    least_ = velocity_;
    static_cast<void>(measure());
    for (Index i = 0; i < friction.size(); ++i) rest(i);
    Scalar error = measure();
    for (int k = 0; k < Tuning::newton_steps; ++k) {
      if (!newton_.compute(gain, force_, friction, velocity_)) break;
      Scalar share(1), best = std::numeric_limits<Scalar>::infinity();
      for (int l = 0; l < Tuning::shares && !(best < error); ++l, share /= 2) {
        trial_ = velocity_ + share * newton_.step();
        const Scalar reached = slip_error(gain, average, friction, trial_, force_);
        if (k == 0 || reached < best) {  // the first step adapts the velocities to the regions
          best = reached;
          kept_ = trial_;
        }
        if (k == 0) break;
      }
      ++report.iterations;
      if (k > 0 && !(best < error)) break;
      velocity_ = kept_;
      error = measure();
      take_regions(gain, friction);
    }
    velocity_ = least_;
    return slip_error(gain, average, friction, velocity_, force_);
  }

  /// Moves λ of velocity_ to its cones. For a solution it also sets the entries to zero that vanish
  /// in its regions.
  template <typename Matrix, typename Values1, typename Values2>
  void place(const Matrix& gain, const Values1& average, const Values2& friction,
             bool solved) noexcept {
    static_cast<void>(slip_error(gain, average, friction, velocity_, force_));
    take_regions(gain, friction);
    for (Index i = 0; i < friction.size(); ++i) {
      auto f = force_.template segment<3>(3 * i);
      f = project(FrictionCone<Scalar>{friction(i)}, Vector3<Scalar>(f)).point;
      if (newton_.region(i) == ConeRegion::separate) f.setZero();
      if (solved) rest(i);
    }
  }
  /// Sets the rows of w to zero that vanish in the region of a contact.
  void rest(Index i) noexcept {
    auto w = velocity_.template segment<3>(3 * i);
    if (newton_.region(i) == ConeRegion::stick) w.setZero();
    if (newton_.region(i) == ConeRegion::slide) w(2) = Scalar(0);
  }

  /// Computes the regions by the natural map of velocity_ and force_.
  template <typename Matrix, typename Values>
  void take_regions(const Matrix& gain, const Values& friction) noexcept {
    for (Index i = 0; i < friction.size(); ++i) {
      const Scalar size = gain.diagonal().template segment<3>(3 * i).sum() / 3;
      newton_.region(i) = slip_gap<Scalar>(force_.template segment<3>(3 * i),
                                           velocity_.template segment<3>(3 * i), friction(i), size)
                              .region;
    }
  }

  Index largest_ = 0;
  InteriorPointSolver<Scalar> solver_;
  DelassusProblem<Scalar> problem_;
  detail::SlipNewton<Scalar> newton_;
  Growing<MatrixX<Scalar>> factor_, inverse_;
  Vector force_, velocity_, kept_, least_, trial_, best_, moved_, scale_, load_;
};

}  // namespace CAROM_ABI
}  // namespace carom
