// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/projection.hpp"
#include "carom/core/elementary.hpp"
#include "carom/core/scalar.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/viscoelastic/contact_step.hpp"
#include "carom/viscoelastic/slip_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// The columns of a part's data: n_v coordinates q, velocities v, 3n anchors p₀, n_v accelerations
/// v̇_free, K, B, μ of n contacts, and the time t.
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

/// The columns of a step's data: the state before it, forces, accelerations, K, B and μ of all
/// contacts, and the length of the step.
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

/// Writes the derivatives of a part's data by those of the step. Its time stays zero.
/// @param part   has its columns, its active contacts and M⁻¹.
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

/// Derivatives of the average forces λ̄ and λ̄₂ of spring-dampers over a step, along many
/// directions of all data at once, for any diagonal K and B.
///
/// The problem: for an anchor at rest the motion is ÿ = b − Υ (K y + B ẏ), and its derivative in a
/// direction is δÿ = δb − Υ (K δy + B δẏ) − δΥ (K y + B ẏ) − Υ (δK y + δB ẏ). Motion and
/// derivatives together are one linear system with constant coefficients.
///
/// The steps: (1) choose the unit of time 1/ω, as in GeneralForces, and substeps in which the
/// matrix of the system has norm 1; (2) in each substep add the terms of the Taylor series of y, ẏ
/// and the integrals of y; 20 terms are exact to rounding; (3) compute λ̄ and λ̄₂ from the
/// integrals. The method fails if too many substeps are needed or a number is not finite.
///
/// Column 0 is the motion. The directions are the next columns. The first ones change Υ. Those of K
/// and of B, one per row, are at the given columns.
/// @cite  hammoud2022exponential, eq. (11)–(20), for the averages. The derivatives are not in this
///        source.
template <RealScalar Scalar>
class AverageDerivative {
 public:
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;
  /// Terms of the series: the last one is below 1/20! of the first.
  static constexpr int terms = 20;
  /// Largest count of substeps. If ω t or the damping rate times t is larger, evaluate() returns
  /// false.
  static constexpr int substep_limit = 200000;

  /// Sets the sizes. Cold: allocates only for sizes larger than all before.
  /// @param rows  3n.  @param columns  1 + directions.  @param turning  directions that change Υ.
  void prepare(Index rows, Index columns, Index turning) {
    for (Matrix* m : {&twice_, &once_, &place_, &rate_, &pushed_, &force_, &drive_}) {
      m->grow(rows, columns);
    }
    for (Matrix* m : {&sum_twice_, &sum_once_, &sum_place_, &sum_rate_}) m->grow(rows, columns);
    for (Matrix* m : {&start_, &average_, &average2_}) m->grow(rows, columns);
    inverse_mass_.grow(rows, rows);
    inverse_mass_by_.grow(rows, rows * turning);
    for (Vector* v : {&stiffness_, &damping_, &end_force_}) v->grow(rows);
    turning_ = turning;
  }

  /// y and ẏ at the start, and b, with their derivatives. clear() sets them to zero.
  [[nodiscard]] Matrix& place() noexcept { return start_; }
  [[nodiscard]] Matrix& rate() noexcept { return rate_; }
  [[nodiscard]] Matrix& acceleration() noexcept { return drive_; }
  /// Υ, and its derivative along direction d.
  [[nodiscard]] Matrix& inverse_mass() noexcept { return inverse_mass_; }
  [[nodiscard]] auto inverse_mass_by(Index d) noexcept {
    return inverse_mass_by_.middleCols(d * inverse_mass_.rows(), inverse_mass_.rows());
  }
  void clear() noexcept {
    for (Matrix* m : {&start_, &rate_, &drive_}) m->setZero();
  }

  /// Integrates.
  /// @param stiffness, damping  diagonals of K [N/m] and B [N·s/m], ≥ 0, 3n.
  /// @param first_stiffness, first_damping  directions of their first rows.
  /// @return  false if a number is not finite, or if too many substeps would be needed.
  /// @note  Real-time safe once prepared: no allocation, no exception; about 20 products of Υ with
  ///        all columns per substep.
  template <typename Diagonal>
  [[nodiscard]] bool evaluate(const Diagonal& stiffness, const Diagonal& damping,
                              const Scalar& time, Index first_stiffness,
                              Index first_damping) noexcept {
    stiffness_ = stiffness;
    damping_ = damping;
    time_ = time;
    stiff_column_ = 1 + first_stiffness;
    damp_column_ = 1 + first_damping;
    Scalar norm;
    if (!choose_units(norm)) return false;
    using std::ceil;
    const Scalar substeps = ceil(norm);
    if (!(substeps <= Scalar(substep_limit))) return false;
    span_ = unit_ * time / substeps;
    sum_twice_.setZero();
    sum_once_.setZero();
    sum_place_ = start_;
    sum_rate_ = rate_ / unit_;
    for (int s = 0; s < int(substeps); ++s) add_series();
    write_averages();
    return average_.allFinite() && average2_.allFinite();
  }

  /// λ̄ and λ̄₂ in column 0, then their derivatives [N per direction].
  [[nodiscard]] Matrix& average() noexcept { return average_; }
  [[nodiscard]] Matrix& average2() noexcept { return average2_; }
  /// λ at the end of the step [N].
  [[nodiscard]] const Vector& end_force() const noexcept { return end_force_; }

 private:
  /// ω and the norm of the system's matrix times t, in units of 1/ω.
  [[nodiscard]] bool choose_units(Scalar& norm) noexcept {
    using std::abs, std::sqrt;
    const Index n = inverse_mass_.rows();
    Scalar spring(0), damper(0);
    for (Index r = 0; r < n; ++r) {
      Scalar spring_row(0), damper_row(0);
      for (Index c = 0; c < n; ++c) {
        spring_row += abs(inverse_mass_(r, c)) * stiffness_(c);
        damper_row += abs(inverse_mass_(r, c)) * damping_(c);
      }
      spring = (std::max)(spring, spring_row);
      damper = (std::max)(damper, damper_row);
    }
    unit_ = (std::max)(Scalar(sqrt(spring)), Scalar(1) / time_);
    norm = time_ * (std::max)(unit_, Scalar(spring / unit_ + damper));
    return norm - norm == Scalar(0);
  }

  /// Adds the next terms of the Taylor series over a substep to the sums.
  void add_series() noexcept {
    twice_ = sum_twice_;
    once_ = sum_once_;
    place_ = sum_place_;
    pushed_ = sum_rate_;
    for (int j = 1; j <= terms; ++j) {
      const Scalar share = span_ / Scalar(j);
      write_force();
      twice_ = share * once_;
      once_ = share * place_;
      place_ = share * pushed_;
      pushed_.noalias() = inverse_mass_.lazyProduct(force_);
      for (Index d = 0; d < turning_; ++d) {
        pushed_.col(1 + d).noalias() += inverse_mass_by(d).lazyProduct(force_.col(0));
      }
      pushed_ *= -share;
      if (j == 1) pushed_ += share / (unit_ * unit_) * drive_;
      sum_twice_ += twice_;
      sum_once_ += once_;
      sum_place_ += place_;
      sum_rate_ += pushed_;
    }
  }

  /// (K y + B ẏ)/ω² of the current term and its derivatives.
  void write_force() noexcept {
    const Index n = inverse_mass_.rows();
    const Scalar once = Scalar(1) / unit_, twice = once * once;
    for (Index c = 0; c < force_.cols(); ++c) {
      for (Index r = 0; r < n; ++r) {
        force_(r, c) = stiffness_(r) * twice * place_(r, c) + damping_(r) * once * pushed_(r, c);
      }
    }
    for (Index r = 0; r < n; ++r) {
      force_(r, stiff_column_ + r) += twice * place_(r, 0);
      force_(r, damp_column_ + r) += once * pushed_(r, 0);
    }
  }

  void write_averages() noexcept {
    const Index n = inverse_mass_.rows();
    const Scalar t = time_, once = Scalar(1) / unit_, twice = once * once;
    const auto moved = [&](Index r, Index c) { return sum_place_(r, c) - start_(r, c); };
    const auto swept = [&](Index r, Index c) { return once * sum_once_(r, c) - t * start_(r, c); };
    for (Index c = 0; c < average_.cols(); ++c) {
      for (Index r = 0; r < n; ++r) {
        const Scalar k = stiffness_(r), b = damping_(r);
        average_(r, c) = -(k * once * sum_once_(r, c) + b * moved(r, c)) / t;
        average2_(r, c) = -2 * (k * twice * sum_twice_(r, c) + b * swept(r, c)) / (t * t);
      }
    }
    for (Index r = 0; r < n; ++r) {
      average_(r, stiff_column_ + r) -= once * sum_once_(r, 0) / t;
      average2_(r, stiff_column_ + r) -= 2 * twice * sum_twice_(r, 0) / (t * t);
      average_(r, damp_column_ + r) -= moved(r, 0) / t;
      average2_(r, damp_column_ + r) -= 2 * swept(r, 0) / (t * t);
      end_force_(r) = -(stiffness_(r) * sum_place_(r, 0) + damping_(r) * unit_ * sum_rate_(r, 0));
    }
  }

  Matrix twice_, once_, place_, pushed_, force_;  ///< a term: ω²∫∫y, ω∫y, y, ẏ/ω; its force
  Matrix sum_twice_, sum_once_, sum_place_, sum_rate_;
  Matrix start_, rate_, drive_, average_, average2_, inverse_mass_, inverse_mass_by_;
  Vector stiffness_, damping_, end_force_;
  Scalar time_ = 0, unit_ = 1, span_ = 0;
  Index turning_ = 0, stiff_column_ = 0, damp_column_ = 0;
};

/// Derivatives of average forces in their cones, λ̄ = λ_avg + G w, from their derivatives at a
/// fixed w.
///
/// The method is the implicit function theorem on the law in the regions that the solver found:
/// w = 0 for a sticking contact; λₜ + μ λₙ wₜ/‖wₜ‖ = 0 for a sliding contact, with wₙ = 0, or under
/// the associated law wₙ = μ‖wₜ‖; λ = 0 for an open contact. Contacts on the boundary of a region
/// are reported. For them the derivative is that of the region which the solver chose.
template <RealScalar Scalar>
class SlipDerivative {
 public:
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;
  /// A contact is on a boundary if its distance, relative to its own force, is below this [-]. The
  /// value is above the rounding of a solve, and below any distance that a finite difference could
  /// cross.
  static constexpr double nearness = 1e-9;

  /// Sets the sizes. Cold: allocates only for sizes larger than all before.
  void prepare(Index contact_count, Index columns) {
    const Index n = 3 * contact_count;
    for (Matrix* m : {&gain_, &gain2_, &by_unknown_, &by_unknown2_}) m->grow(n, n);
    if (matrix_.rows() < n) matrix_.resize(n, n);
    lu_.prepare(n);
    solved_.grow(n, columns);
    rows_.resize((std::max)(rows_.size(), std::size_t(n)));
    boundary_.resize((std::max)(boundary_.size(), std::size_t(contact_count)));
  }

  /// @param step  a solved step, from which G and G₂ are computed. @param data the data of that
  ///              step.
  /// @param friction_column  the column of the first contact's μ.
  /// @param average, average2  in: λ̄ and λ̄₂ in column 0, then derivatives, all at a fixed w; out:
  ///                           those including the change of w.
  /// @return  false if the equations of slip are singular.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Data>
  [[nodiscard]] bool apply(SlipLaw law, ContactStep<Scalar>& step, const Data& data,
                           Index friction_column, Matrix& average, Matrix& average2) noexcept {
    const auto& friction = data.friction;
    const Index n = friction.size();
    std::fill_n(boundary_.begin(), n, std::uint8_t(0));
    if (law == SlipLaw::stick) return true;
    collect(step, n);
    for (Index i = 0; i < n; ++i) {
      if (step.region(i) == ConeRegion::stick) judge_stick(i, step, data);
    }
    if (unknowns_ == 0) return true;
    if (!step.forces().write_gains(gain_, gain2_)) return false;
    for (Index i = 0; i < n; ++i) {
      if (step.region(i) != ConeRegion::stick) judge_slip(i, step, friction(i), law, average2);
    }
    write_equations(law, step, friction, friction_column, average, average2);
    if (!lu_.factor(matrix_, unknowns_)) return false;
    solved_.col(0).setZero();
    for (Index c = 1; c < average.cols(); ++c) lu_.solve(solved_.col(c).data());
    average.noalias() += by_unknown_.leftCols(unknowns_).lazyProduct(solved_.topRows(unknowns_));
    average2.noalias() += by_unknown2_.leftCols(unknowns_).lazyProduct(solved_.topRows(unknowns_));
    average.col(0) = step.force();
    for (Index i = 0; i < n; ++i) place_second(i, step, friction(i), friction_column, average2);
    for (Index i = 0; i < n; ++i) {
      if (step.region(i) == ConeRegion::separate) average.middleRows(3 * i, 3).setZero();
    }
    return true;
  }

  /// Whether a contact was on the boundary of its region.
  [[nodiscard]] bool one_sided(Index contact) const noexcept {
    return boundary_[std::size_t(contact)] != 0;
  }

 private:
  [[nodiscard]] Index row(Index unknown) const noexcept { return rows_[std::size_t(unknown)]; }

  /// Collects the unknowns: wₜ of sliding contacts, w of open ones.
  void collect(const ContactStep<Scalar>& step, Index count) noexcept {
    unknowns_ = 0;
    for (Index i = 0; i < count; ++i) {
      const ConeRegion region = step.region(i);
      const Index own = region == ConeRegion::slide ? 2 : region == ConeRegion::separate ? 3 : 0;
      for (Index k = 0; k < own; ++k) rows_[std::size_t(unknowns_++)] = 3 * i + k;
    }
  }

  template <typename Data>
  void judge_stick(Index i, const ContactStep<Scalar>& step, const Data& data) noexcept {
    using elementary::hypot;
    const auto& f = step.force();
    const Scalar tangent = hypot(f(3 * i), f(3 * i + 1)), normal = f(3 * i + 2);
    // A contact without springs and dampers along the plane has no slip.
    const auto is_held = [&](Index row) {
      return data.stiffness(row) > Scalar(0) || data.damping(row) > Scalar(0);
    };
    const bool slips = is_held(3 * i) || is_held(3 * i + 1);
    const Scalar slack = slips ? data.friction(i) * normal - tangent : normal;
    boundary_[std::size_t(i)] = !(slack > Scalar(nearness) * (normal + tangent));
  }

  void judge_slip(Index i, const ContactStep<Scalar>& step, const Scalar& friction, SlipLaw law,
                  const Matrix& average2) noexcept {
    using elementary::hypot, std::abs;
    const auto& f = step.force();
    const auto& w = step.anchor_velocity();
    const Index r = 3 * i;
    const Scalar speed = hypot(w(r), w(r + 1));
    const Scalar size = step.average_force().template segment<3>(r).norm();
    const Scalar margin = Scalar(nearness) * size;
    if (step.region(i) == ConeRegion::slide) {
      const bool slow = !((gain_(r, r) + gain_(r + 1, r + 1)) * speed > margin);
      boundary_[std::size_t(i)] =
          slow || !(f(r + 2) > margin) || !(abs(average2(r + 2, 0)) > margin);
      return;
    }
    const Scalar rise = law == SlipLaw::convex ? friction * speed : Scalar(0);
    boundary_[std::size_t(i)] = !(gain_(r + 2, r + 2) * (w(r + 2) - rise) > margin);
  }

  /// Writes the changes of all forces by the unknowns, the matrix, and the right-hand sides.
  template <typename Values>
  void write_equations(SlipLaw law, const ContactStep<Scalar>& step, const Values& friction,
                       Index friction_column, Matrix& average, Matrix& average2) noexcept {
    // the gain of a row without spring and damper is zero
    for (Index r = 0; r < gain_.rows(); ++r) {
      if (!(gain_(r, r) > Scalar(0))) gain_(r, r) = Scalar(1);
    }
    for (Index u = 0; u < unknowns_; ++u) {
      by_unknown_.col(u) = gain_.col(row(u));
      by_unknown2_.col(u) = gain2_.col(row(u));
      const Index i = row(u) / 3, normal = 3 * i + 2;
      if (law != SlipLaw::convex || step.region(i) != ConeRegion::slide) continue;
      const Scalar rise = friction(i) * along(step, row(u));
      by_unknown_.col(u) += rise * gain_.col(normal);
      by_unknown2_.col(u) += rise * gain2_.col(normal);
      if (row(u) != 3 * i) continue;
      const Scalar slip = speed(step, i);
      average.col(friction_column + i) += slip * gain_.col(normal);
      average2.col(friction_column + i) += slip * gain2_.col(normal);
    }
    for (Index u = 0; u < unknowns_; ++u) {
      const Index r = row(u), i = r / 3, normal = 3 * i + 2;
      matrix_.row(u).head(unknowns_) = by_unknown_.row(r).head(unknowns_);
      solved_.row(u) = -average.row(r);
      if (step.region(i) != ConeRegion::slide) continue;
      const Scalar part = along(step, r), share = friction(i) * part;
      const Scalar force = step.force()(normal);
      matrix_.row(u).head(unknowns_) += share * by_unknown_.row(normal).head(unknowns_);
      solved_.row(u) -= share * average.row(normal);
      solved_(u, friction_column + i) -= force * part;
      const Index first = u - r % 3;
      for (Index l = 0; l < 2; ++l) {
        matrix_(u, first + l) += friction(i) * force * turning(step, r, l);
      }
    }
  }

  [[nodiscard]] static Scalar speed(const ContactStep<Scalar>& step, Index i) noexcept {
    return step.anchor_velocity().template segment<2>(3 * i).norm();
  }
  /// Entry of wₜ/‖wₜ‖; zero if the contact does not move.
  [[nodiscard]] static Scalar along(const ContactStep<Scalar>& step, Index row) noexcept {
    const Scalar size = speed(step, row / 3);
    return size > Scalar(0) ? step.anchor_velocity()(row) / size : Scalar(0);
  }
  /// Its derivative by entry l of wₜ.
  [[nodiscard]] static Scalar turning(const ContactStep<Scalar>& step, Index row,
                                      Index l) noexcept {
    const Scalar size = speed(step, row / 3);
    if (!(size > Scalar(0))) return Scalar(0);
    const Scalar same = row % 3 == l ? Scalar(1) : Scalar(0);
    return (same - along(step, row) * along(step, row - row % 3 + l)) / size;
  }

  /// λ̄₂ of an open contact is zero, and that of a sliding one is −μ max(λ̄₂ₙ, 0) wₜ/‖wₜ‖.
  void place_second(Index i, const ContactStep<Scalar>& step, const Scalar& friction,
                    Index friction_column, Matrix& average2) noexcept {
    const ConeRegion region = step.region(i);
    if (region == ConeRegion::stick) return;
    const Index r = 3 * i;
    const Scalar normal = average2(r + 2, 0);
    if (region == ConeRegion::separate || !(normal > Scalar(0))) {
      average2.middleRows(r, 3).setZero();
      return;
    }
    Index first = 0;
    while (row(first) != r) ++first;
    for (Index k = 0; k < 2; ++k) {
      const Scalar part = along(step, r + k), reach = friction * normal;
      average2.row(r + k) = -friction * part * average2.row(r + 2);
      for (Index l = 0; l < 2; ++l) {
        average2.row(r + k).tail(average2.cols() - 1) -=
            reach * turning(step, r + k, l) * solved_.row(first + l).tail(average2.cols() - 1);
      }
      average2(r + k, friction_column + i) -= normal * part;
    }
  }

  Matrix gain_, gain2_, by_unknown_, by_unknown2_, solved_;
  MatrixX<Scalar> matrix_;
  LuFactor<Scalar> lu_;
  std::vector<Index> rows_;
  std::vector<std::uint8_t> boundary_;
  Index unknowns_ = 0;
};

/// Derivatives of a ContactStep's velocity, displacement and forces by all of its data.
template <RealScalar Scalar>
class FrozenDerivative {
 public:
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;

  /// Sets the sizes. Cold: allocates only for sizes larger than all before.
  void prepare(Index contact_count, Index velocity_count) {
    columns_ = {velocity_count, contact_count};
    const Index k = velocity_count, n = 3 * contact_count;
    averages_.prepare(n, 1 + columns_.count(), k);
    slip_.prepare(contact_count, 1 + columns_.count());
    factor_.grow(k, k);
    answer_.grow(k, n);
    answer_by_.grow(k, n);
    inverse_mass_.grow(k, k);
    velocity_by_.grow(k, columns_.count());
    displacement_by_.grow(k, columns_.count());
    push_.grow(k);
  }

  [[nodiscard]] const PartColumns& columns() const noexcept { return columns_; }

  /// @param step  solved on the data.
  /// @param mechanism  derivatives of the mechanism's active contacts, as in ActiveMechanism.
  /// @return  false if numbers leave the range of the type or the equations of slip are singular.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Data, typename Mechanism>
  [[nodiscard]] bool evaluate(SlipLaw law, ContactStep<Scalar>& step, const Data& data,
                              const Mechanism& mechanism) noexcept {
    if (!factor(data)) return false;
    start(data, mechanism);
    averages_.rate().col(0) -= step.anchor_velocity();
    if (columns_.contacts > 0) {
      if (!averages_.evaluate(data.stiffness, data.damping, data.time_step, columns_.stiffness(),
                              columns_.damping())) {
        return false;
      }
      write_time(data.time_step);
      if (!slip_.apply(law, step, data, 1 + columns_.friction(), averages_.average(),
                       averages_.average2())) {
        return false;
      }
    }
    write_motion(data, mechanism);
    return velocity_by_.allFinite() && displacement_by_.allFinite();
  }

  /// ∂v⁺, n_v rows, with the columns of PartColumns.
  [[nodiscard]] const Matrix& velocity_by() const noexcept { return velocity_by_; }
  /// ∂(q⁺ ⊖ q), at a fixed q.
  [[nodiscard]] const Matrix& displacement_by() const noexcept { return displacement_by_; }
  /// ∂λ̄, 3n rows.
  [[nodiscard]] auto force_by() noexcept { return averages_.average().rightCols(columns_.count()); }
  /// M⁻¹, n_v×n_v.
  [[nodiscard]] const Matrix& inverse_mass() const noexcept { return inverse_mass_; }
  /// Whether an active contact was on the boundary of its region.
  [[nodiscard]] bool one_sided(Index contact) const noexcept { return slip_.one_sided(contact); }

 private:
  /// M⁻¹ and A = M⁻¹Jᵀ.
  template <typename Data>
  [[nodiscard]] bool factor(const Data& data) noexcept {
    const Index k = columns_.velocities;
    factor_ = data.mass_matrix;
    if (!factor_cholesky(factor_.data(), k, k)) return false;
    inverse_mass_.setIdentity();
    solve_lower(factor_.data(), k, k, inverse_mass_.data(), k);
    for (Index c = 0; c < k; ++c) {
      solve_lower_transposed(factor_.data(), k, k, inverse_mass_.col(c).data());
    }
    answer_.noalias() = inverse_mass_.lazyProduct(data.jacobian.transpose());
    return true;
  }

  /// out ← ∂A/∂q_d = M⁻¹ (∂Jᵀ − ∂M A).
  template <typename Mechanism>
  void write_answer_by(Index d, const Mechanism& mechanism) noexcept {
    for (Index c = 0; c < answer_.cols(); ++c) {
      for (Index r = 0; r < columns_.velocities; ++r) {
        push_(r) = mechanism.jacobian_by(d, c, r);
      }
      push_.noalias() -= mechanism.mass_by(d).lazyProduct(answer_.col(c));
      answer_by_.col(c).noalias() = inverse_mass_.lazyProduct(push_);
    }
  }

  /// Writes y, ẏ, b and Υ with all their derivatives.
  template <typename Data, typename Mechanism>
  void start(const Data& data, const Mechanism& mechanism) noexcept {
    const Index k = columns_.velocities, n = 3 * columns_.contacts;
    averages_.clear();
    auto& place = averages_.place();
    auto& rate = averages_.rate();
    auto& drive = averages_.acceleration();
    averages_.inverse_mass().noalias() = data.jacobian.lazyProduct(answer_);
    place.col(0) = data.points - data.anchors;
    rate.col(0).noalias() = data.jacobian.lazyProduct(data.velocity);
    drive.col(0) = data.drift;
    drive.col(0).noalias() += data.jacobian.lazyProduct(data.free_acceleration);
    for (Index d = 0; d < k; ++d) {
      write_answer_by(d, mechanism);
      auto turned = averages_.inverse_mass_by(d);
      turned.noalias() = data.jacobian.lazyProduct(answer_by_);
      for (Index r = 0; r < n; ++r) {
        for (Index j = 0; j < k; ++j) {
          const Scalar by = mechanism.jacobian_by(d, r, j);
          turned.row(r) += by * answer_.row(j);
          rate(r, 1 + d) += by * data.velocity(j);
          drive(r, 1 + d) += by * data.free_acceleration(j);
        }
      }
      place.col(1 + d) = data.jacobian.col(d);
      rate.col(1 + k + d) = data.jacobian.col(d);
      drive.col(1 + columns_.acceleration() + d) = data.jacobian.col(d);
    }
    for (Index d = 0; d < 2 * k; ++d) {
      drive.col(1 + d).noalias() += data.jacobian.lazyProduct(mechanism.acceleration_by(d));
      for (Index r = 0; r < n; ++r) drive(r, 1 + d) += mechanism.drift_by(d, r);
    }
    for (Index r = 0; r < n; ++r) place(r, 1 + columns_.anchors() + r) = Scalar(-1);
  }

  /// Column of t: (t λ̄)′ = λ(t) and (t² λ̄₂/2)′ = t λ̄.
  void write_time(const Scalar& t) noexcept {
    auto& average = averages_.average();
    auto& average2 = averages_.average2();
    const Index time = 1 + columns_.time();
    average.col(time) = (averages_.end_force() - average.col(0)) / t;
    average2.col(time) = 2 / t * (average.col(0) - average2.col(0));
  }

  template <typename Data, typename Mechanism>
  void write_motion(const Data& data, const Mechanism& mechanism) noexcept {
    const Index k = columns_.velocities, count = columns_.count();
    const Scalar t = data.time_step;
    auto& force = averages_.average();
    auto& force2 = averages_.average2();
    velocity_by_.noalias() = answer_.lazyProduct(force.rightCols(count));
    displacement_by_.noalias() = answer_.lazyProduct(force2.rightCols(count));
    for (Index d = 0; d < k; ++d) {
      write_answer_by(d, mechanism);
      velocity_by_.col(d).noalias() += answer_by_.lazyProduct(force.col(0));
      displacement_by_.col(d).noalias() += answer_by_.lazyProduct(force2.col(0));
      velocity_by_(d, columns_.acceleration() + d) += Scalar(1);
      displacement_by_(d, columns_.acceleration() + d) += Scalar(1);
    }
    for (Index d = 0; d < 2 * k; ++d) {
      velocity_by_.col(d) += mechanism.acceleration_by(d);
      displacement_by_.col(d) += mechanism.acceleration_by(d);
    }
    velocity_by_ *= t;
    displacement_by_ *= t * t / 2;
    for (Index d = 0; d < k; ++d) {
      velocity_by_(d, k + d) += Scalar(1);
      displacement_by_(d, k + d) += t;
    }
    push_ = data.free_acceleration;
    push_.noalias() += answer_.lazyProduct(force.col(0));
    velocity_by_.col(columns_.time()) += push_;
    push_ = data.free_acceleration;
    push_.noalias() += answer_.lazyProduct(force2.col(0));
    displacement_by_.col(columns_.time()) += data.velocity + t * push_;
  }

  PartColumns columns_;
  AverageDerivative<Scalar> averages_;
  SlipDerivative<Scalar> slip_;
  Matrix factor_, inverse_mass_, answer_, answer_by_, velocity_by_, displacement_by_;
  Vector push_;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
