// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/coulomb_contact.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/cholesky.hpp"
#include "carom/linalg/growing.hpp"
#include "carom/linalg/lu.hpp"
#include "carom/viscoelastic/convex_slip.hpp"

namespace carom::inline CAROM_ABI {

/// Coulomb's law for viscoelastic contacts that act on each other: λ = λ_avg + G w with, per
/// contact, stick w = 0, slide wₙ = 0 and λₜ = −μ λₙ wₜ/‖wₜ‖, or open λ = 0 and wₙ ≥ 0.
///
/// This is a rigid contact problem with Delassus matrix G⁻¹ and free velocity −G⁻¹λ_avg, solved on
/// G itself: sweeps of exact one-contact solves; once their modes repeat, Newton's method on what
/// slides and opens, kept only where the next sweep finds a smaller change. Should all that not
/// end, convex problems follow in which the sliding speed of the one before lowers the normal
/// velocity, with steps halved: slow, but on a compact set.
/// @cite  acary2018coulomb, for the fixed point; the rest is ours.
template <RealScalar Scalar>
class CoulombSlip {
 public:
  static constexpr int sweep_limit = 60;     ///< sweeps on G
  static constexpr int inverse_limit = 600;  ///< then on G⁻¹
  static constexpr int fallback_limit = 60;  ///< then convex problems

  /// Takes n contacts. Cold: allocates where there were never as many.
  void prepare(Index contact_count) {
    const auto n = static_cast<std::size_t>(contact_count);
    count_ = contact_count;
    if (blocks_.size() < n) {
      blocks_.resize(n);
      inverse_blocks_.resize(n);
      inverse_.resize(3 * contact_count, 3 * contact_count);
      contacts_.resize(n);
      rows_.resize(3 * n);
      matrix_.resize(3 * contact_count, 3 * contact_count);
    }
    for (Vector* v : {&force_, &velocity_, &response_, &step_, &kept_}) v->grow(3 * contact_count);
    lu_.prepare(3 * contact_count);
    convex_.prepare(contact_count);
  }

  /// @param gain      G, 3n×3n [N·s/m], symmetric positive definite.
  /// @param average   λ_avg, 3n [N].
  /// @param friction  μ, n [-], ≥ 0.
  /// @return  residual: largest change of a force in the last sweep [N]; iterations are sweeps.
  /// @note  Real-time safe once prepared: no allocation, no exception; a sweep takes 9 n² products.
  template <typename Matrix, typename Values>
  SolveReport<Scalar> solve(const Matrix& gain, const Values& average,
                            const Values& friction) noexcept {
    CAROM_EXPECTS(average.size() == 3 * count_ && friction.size() == count_);
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    velocity_.setZero();
    response_ = average;
    newton_steps_ = 0;
    if (!average.allFinite()) return report;
    for (Index i = 0; i < count_; ++i) {
      contacts_[std::size_t(i)] = {at(response_, i), at(velocity_, i), ConeRegion::stick,
                                   Scalar(0)};
      blocks_[std::size_t(i)] = CoulombGain<Scalar>(gain.template block<3, 3>(3 * i, 3 * i));
    }
    iterate(gain, average, friction, report);
    if (report.status == SolveStatus::iteration_limit) {
      iterate_inverse(gain, average, friction, report);
    }
    if (report.status == SolveStatus::iteration_limit) {
      fall_back(gain, average, friction, report);
    }
    if (!force_.allFinite() || !velocity_.allFinite()) report.status = SolveStatus::not_finite;
    return report;
  }

  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return force_; }
  /// w [m/s]
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] ConeRegion region(Index contact) const noexcept {
    return contacts_[std::size_t(contact)].region;
  }
  /// Newton steps of the last solve.
  [[nodiscard]] int newton_steps() const noexcept { return newton_steps_; }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  template <typename Values>
  [[nodiscard]] static auto at(Values& values, Index i) noexcept {
    return values.template segment<3>(3 * i);
  }

  /// One sweep; largest change of a force, and whether all modes stayed.
  template <typename Matrix, typename Values>
  [[nodiscard]] Scalar sweep(const Matrix& gain, const Values& friction, bool& same) noexcept {
    Scalar largest(0);
    same = true;
    for (Index i = 0; i < count_; ++i) {
      auto& contact = contacts_[std::size_t(i)];
      const auto& block = blocks_[std::size_t(i)];
      const Vector3<Scalar> old = at(velocity_, i);
      const Vector3<Scalar> held = at(response_, i) - block.gain() * old;
      const ConeRegion before = contact.region;
      contact = block.solve(held, friction(i), contact.ratio);
      same = same && contact.region == before;
      const Vector3<Scalar> change = contact.velocity - old;
      at(force_, i) = contact.impulse;
      if (change.x() == Scalar(0) && change.y() == Scalar(0) && change.z() == Scalar(0)) continue;
      at(velocity_, i) = contact.velocity;
      Scalar* const out = response_.data();
      const Scalar* const columns = gain.data() + 9 * i * count_;
      const Index rows = 3 * count_;
      for (Index r = 0; r < rows; ++r) {
        out[r] += columns[r] * change(0) + columns[rows + r] * change(1) +
                  columns[2 * rows + r] * change(2);
      }
      largest =
          std::max(largest, Scalar((block.gain() * change).template lpNorm<Eigen::Infinity>()));
    }
    return largest;
  }

  template <typename Matrix, typename Values>
  void iterate(const Matrix& gain, const Values& average, const Values& friction,
               SolveReport<Scalar>& report) noexcept {
    report.status = SolveStatus::iteration_limit;
    Scalar before = std::numeric_limits<Scalar>::infinity();
    bool tried = false;
    int patience = 0;
    while (report.iterations < sweep_limit) {
      bool same = true;
      report.residual = sweep(gain, friction, same);
      ++report.iterations;
      const Scalar size = std::max(average.template lpNorm<Eigen::Infinity>(),
                                   force_.template lpNorm<Eigen::Infinity>());
      report.residual_target = 64 * std::numeric_limits<Scalar>::epsilon() * size;
      if (report.residual <= report.residual_target) {
        report.status = SolveStatus::converged;
        return;
      }
      if (tried && !(report.residual < before)) {  // Newton led astray
        velocity_ = kept_;
        response_ = average;
        response_.noalias() += gain * velocity_;
        for (Index i = 0; i < count_; ++i) contacts_[std::size_t(i)].ratio = Scalar(0);
        patience = 8;
        tried = false;
        before = std::numeric_limits<Scalar>::infinity();
        continue;
      }
      tried = false;
      if (same && --patience < 0 && worthwhile(report, before)) {
        kept_ = velocity_;
        before = report.residual;
        tried = newton(gain, average, friction);
        if (tried) ++newton_steps_;
        continue;
      }
      before = report.residual;
    }
  }

  /// Whether a Newton step costs less than the sweeps left at the present rate.
  [[nodiscard]] bool worthwhile(const SolveReport<Scalar>& report, const Scalar& before) noexcept {
    using std::log;
    Index unknowns = 0;
    for (Index i = 0; i < count_; ++i) {
      const ConeRegion region = contacts_[std::size_t(i)].region;
      unknowns += region == ConeRegion::slide ? 2 : region == ConeRegion::separate ? 3 : 0;
    }
    const auto n = Scalar(double(count_)), m = Scalar(double(unknowns));
    const Scalar sweep_cost = n * (9 * n / 4 + 120);
    const Scalar newton_cost = m * m * m / 6 + 20 * m * m + 100;
    const Scalar ratio = report.residual / before;
    if (!(ratio < Scalar(0.999))) return true;
    const Scalar sweeps =
        log(report.residual_target / report.residual) / log(std::max(ratio, Scalar(1e-6)));
    return sweeps * sweep_cost > 2 * newton_cost;
  }

  /// Newton's method on λₜ + μ λₙ wₜ/‖wₜ‖ = 0 (slide) and λ = 0 (open).
  template <typename Matrix, typename Values>
  [[nodiscard]] bool newton(const Matrix& gain, const Values& average,
                            const Values& friction) noexcept {
    Index m = 0;
    for (Index i = 0; i < count_; ++i) {
      const ConeRegion region = contacts_[std::size_t(i)].region;
      const Index size = region == ConeRegion::slide ? 2 : region == ConeRegion::separate ? 3 : 0;
      for (Index k = 0; k < size; ++k) rows_[std::size_t(m++)] = 3 * i + k;
    }
    for (Index c = 0; c < m; ++c) {
      for (Index r = 0; r < m; ++r) {
        matrix_(r, c) = gain(rows_[std::size_t(r)], rows_[std::size_t(c)]);
      }
    }
    for (Index r = 0; r < m; ++r) {
      const Index row = rows_[std::size_t(r)], i = row / 3, k = row % 3;
      step_(r) = -response_(row);
      if (contacts_[std::size_t(i)].region != ConeRegion::slide) continue;
      const Vector3<Scalar> w = at(velocity_, i);
      const Scalar speed = w.template head<2>().norm();
      if (!(speed > Scalar(0))) return false;
      const Scalar mu = friction(i), direction = w(k) / speed, normal = response_(3 * i + 2);
      step_(r) -= mu * normal * direction;
      for (Index c = 0; c < m; ++c) {
        matrix_(r, c) += mu * direction * gain(3 * i + 2, rows_[std::size_t(c)]);
      }
      const Scalar turn = mu * std::max(normal, Scalar(0)) / speed;
      const Index first = r - k;
      matrix_(r, first) += turn * ((k == 0 ? Scalar(1) : Scalar(0)) - direction * w(0) / speed);
      matrix_(r, first + 1) += turn * ((k == 1 ? Scalar(1) : Scalar(0)) - direction * w(1) / speed);
    }
    if (!lu_.factor(matrix_, m)) return false;
    lu_.solve(step_.data());
    for (Index r = 0; r < m; ++r) velocity_(rows_[std::size_t(r)]) += step_(r);
    response_ = average;
    for (Index c = 0; c < 3 * count_; ++c) {
      if (velocity_(c) != Scalar(0)) response_ += velocity_(c) * gain.col(c);
    }
    return true;
  }

  /// Sweeps on w = W (λ − λ_avg), W = G⁻¹.
  template <typename Matrix, typename Values>
  void iterate_inverse(const Matrix& gain, const Values& average, const Values& friction,
                       SolveReport<Scalar>& report) noexcept {
    const Index n = 3 * count_, stride = inverse_.rows();
    matrix_.topLeftCorner(n, n) = gain;
    if (!factor_cholesky(matrix_.data(), n, stride)) return;
    inverse_.topLeftCorner(n, n).setIdentity();
    for (Index c = 0; c < n; ++c) {
      solve_lower(matrix_.data(), n, stride, inverse_.data() + c * stride);
      solve_lower_transposed(matrix_.data(), n, stride, inverse_.data() + c * stride);
    }
    for (Index i = 0; i < count_; ++i) {
      const SquareMatrix<Scalar, 3> block = inverse_.template block<3, 3>(3 * i, 3 * i);
      inverse_blocks_[std::size_t(i)] = CoulombInverseMass<Scalar>(block);
      contacts_[std::size_t(i)].ratio = Scalar(0);
    }
    velocity_.setZero();
    for (Index c = 0; c < n; ++c) {
      velocity_ += (force_(c) - average(c)) * inverse_.col(c).head(n);
    }
    for (int round = 0; round < inverse_limit; ++round) {
      Scalar largest(0);
      for (Index i = 0; i < count_; ++i) {
        auto& contact = contacts_[std::size_t(i)];
        const Vector3<Scalar> old = at(force_, i);
        const Vector3<Scalar> free =
            at(velocity_, i) - inverse_.template block<3, 3>(3 * i, 3 * i) * old;
        contact = inverse_blocks_[std::size_t(i)].solve(free, friction(i), contact.ratio);
        const Vector3<Scalar> change = contact.impulse - old;
        for (Index k = 0; k < 3; ++k) {
          velocity_ += change(k) * inverse_.col(3 * i + k).head(n);
        }
        at(force_, i) = contact.impulse;
        largest = std::max(largest, Scalar(change.template lpNorm<Eigen::Infinity>()));
      }
      ++report.iterations;
      report.residual = largest;
      if (!(largest <= report.residual_target)) continue;
      report.status = SolveStatus::converged;
      break;
    }
    for (Index i = 0; i < count_; ++i) at(velocity_, i) = contacts_[std::size_t(i)].velocity;
  }

  /// w = v − s n with v of the convex problem for λ_avg − G s n, s = μ‖vₜ‖.
  template <typename Matrix, typename Values>
  void fall_back(const Matrix& gain, const Values& average, const Values& friction,
                 SolveReport<Scalar>& report) noexcept {
    convex_.set(gain, friction);
    kept_.setZero();  // s in the normal entries
    for (int round = 0; round < fallback_limit; ++round) {
      response_ = average;
      for (Index i = 0; i < count_; ++i) {
        if (kept_(3 * i + 2) != Scalar(0)) response_ -= kept_(3 * i + 2) * gain.col(3 * i + 2);
      }
      static_cast<void>(convex_.solve(gain, response_, 100));
      Scalar change(0);
      for (Index i = 0; i < count_; ++i) {
        const Scalar slip = friction(i) * at(convex_.velocity(), i).template head<2>().norm();
        const Scalar next = (kept_(3 * i + 2) + slip) / 2;
        change = std::max(change,
                          Scalar(std::abs(next - kept_(3 * i + 2)) * gain(3 * i + 2, 3 * i + 2)));
        kept_(3 * i + 2) = next;
      }
      ++report.iterations;
      report.residual = change;
      if (change <= report.residual_target) {
        report.status = SolveStatus::converged;
        break;
      }
    }
    velocity_ = convex_.velocity() - kept_;
    force_ = convex_.force();
    for (Index i = 0; i < count_; ++i) contacts_[std::size_t(i)].region = convex_.region(i);
  }

  Index count_ = 0;
  std::vector<CoulombGain<Scalar>> blocks_;
  std::vector<CoulombInverseMass<Scalar>> inverse_blocks_;
  std::vector<CoulombContact<Scalar>> contacts_;
  std::vector<Index> rows_;
  MatrixX<Scalar> matrix_, inverse_;
  LuFactor<Scalar> lu_;
  ConvexSlip<Scalar> convex_;
  Vector force_, velocity_, response_, step_, kept_;
  int newton_steps_ = 0;
};

}  // namespace carom::inline CAROM_ABI
