// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/cones/friction_cone_batch.hpp"
#include "carom/solvers/rows/small_problem.hpp"
#include "carom/solvers/search/newton_walk.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The cost ℓ of a small problem and its derivatives at an iterate, equal but for rounding to those
/// of IslandState. A view of the problem.
template <RealScalar Scalar>
class SmallState {
 public:
  using Problem = SmallProblem<Scalar>;
  using Lane = RowPacket<Scalar>;

  explicit SmallState(Problem& problem) noexcept : problem_(problem) {}

  /// Everything that follows from the iterate: v_c, y, γ, Ĵᵀγ, the gradient and its norm.
  void evaluate() noexcept;
  /// ℓ at the iterate last evaluated; infinite where that left the range of numbers.
  [[nodiscard]] Scalar cost() const noexcept;
  /// ℓ where Problem::trial_ahead is y and ‖w − w*‖² is given; infinite where y is not finite.
  [[nodiscard]] Scalar cost_ahead(const Scalar& change_squared) const noexcept;

  /// Ĵ x of the contacts from k on, a register of each component.
  void multiply(int vector, Index k, Lane (&result)[3]) const noexcept;
  /// y = R⁻¹(v̂ − v_c) of the contacts from k on.
  void write_trial(const Lane (&velocity)[3], int trial, Index k) const noexcept;
  /// γ = P(y); false, and nothing written, if a trial impulse is not finite.
  [[nodiscard]] bool project_trials(int trial, int impulse) const noexcept;

  Scalar residual = 0;        ///< ‖∇ℓ‖
  Scalar free_squared = 0;    ///< ‖w*‖²
  Scalar pushed_squared = 0;  ///< ‖Ĵᵀγ‖²
  Scalar gross_squared = 0;   ///< Σ ‖Ĵₖ‖² γₖ² over the rows

  [[nodiscard]] Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] Index size() const noexcept { return problem_.size(); }
  [[nodiscard]] Index lanes() const noexcept { return problem_.lanes(); }
  [[nodiscard]] Lane in_vector(int name, Index i) const noexcept {
    return Lane::at(problem_.vector(name) + i);
  }
  [[nodiscard]] Lane in_array(int name, Index k) const noexcept {
    return Lane::at(problem_.array(name) + k);
  }
  void copy(int from, int to) const noexcept {
    std::copy_n(problem_.vector(from), lanes(), problem_.vector(to));
  }
  [[nodiscard]] Scalar dot(int a, int b) const noexcept {
    Lane sum = Lane::Zero();
    for (Index i = 0; i < lanes(); i += row_lanes) sum += in_vector(a, i) * in_vector(b, i);
    return sum.sum();
  }
  /// d·(w − w*)
  [[nodiscard]] Scalar dot_change(int direction) const noexcept {
    Lane sum = Lane::Zero();
    for (Index i = 0; i < lanes(); i += row_lanes) {
      sum +=
          in_vector(direction, i) * (in_vector(Problem::whitened, i) - in_vector(Problem::free, i));
    }
    return sum.sum();
  }

 private:
  [[nodiscard]] Scalar cost_of(const Scalar& change_squared, int impulse) const noexcept;

  Problem& problem_;
};

// --- implementation ---

template <RealScalar Scalar>
void SmallState<Scalar>::multiply(int vector, Index k, Lane (&result)[3]) const noexcept {
  for (Lane& sum : result) sum.setZero();
  const Scalar* const x = problem_.vector(vector);
  const Scalar* row = problem_.rows_by_contact() + k;
  const Index stride = problem_.padded();
  for (Index i = 0; i < size(); ++i) {
    for (int c = 0; c < 3; ++c, row += stride) result[c] += packet_at(row) * x[i];
  }
}

template <RealScalar Scalar>
void SmallState<Scalar>::write_trial(const Lane (&velocity)[3], int trial, Index k) const noexcept {
  for (int c = 0; c < 3; ++c) {
    const int inverse = c < 2 ? Problem::inverse_tangent : Problem::inverse_normal;
    const Lane y = (in_array(Problem::bias + c, k) - velocity[c]) * in_array(inverse, k);
    y.write_to(problem_.array(trial + c) + k);
  }
}

template <RealScalar Scalar>
bool SmallState<Scalar>::project_trials(int trial, int impulse) const noexcept {
  const auto at = [&](int name) { return problem_.array(name); };
  Lane sizes = Lane::Zero();
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    for (int c = 0; c < 3; ++c) sizes += in_array(trial + c, k).abs();
  }
  if (!(sizes.sum() <= (std::numeric_limits<Scalar>::max)())) return false;
  project(FrictionConeBatch<Scalar>{problem_.padded(),
                                    {at(trial), at(trial + 1), at(trial + 2)},
                                    {at(Problem::friction)},
                                    {at(Problem::tangent)},
                                    {at(Problem::normal)}},
          {at(impulse), at(impulse + 1), at(impulse + 2)});
  return true;
}

template <RealScalar Scalar>
void SmallState<Scalar>::evaluate() noexcept {
  using std::sqrt;
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    Lane velocity[3];
    multiply(Problem::whitened, k, velocity);
    for (int c = 0; c < 3; ++c) velocity[c].write_to(problem_.array(Problem::velocity + c) + k);
    write_trial(velocity, Problem::trial, k);
  }
  if (!project_trials(Problem::trial, Problem::impulse)) {
    std::fill_n(problem_.array(Problem::impulse), 3 * problem_.padded(), Scalar(0));
    residual = std::numeric_limits<Scalar>::infinity();
    return;
  }
  const Scalar* const gamma = problem_.array(Problem::impulse);
  const Index stride = problem_.padded();
  Lane free_sum = Lane::Zero(), pushed_sum = free_sum, gradient_sum = free_sum, gross = free_sum;
  for (Index i = 0; i < lanes(); i += row_lanes) {
    Lane sum[3] = {Lane::Zero(), Lane::Zero(), Lane::Zero()};
    const Scalar* column = problem_.columns() + i;
    for (Index k = 0; k < problem_.count(); ++k) {
      for (int c = 0; c < 3; ++c, column += lanes()) {
        sum[c] += packet_at(column) * gamma[c * stride + k];
      }
    }
    const Lane momentum = sum[0] + sum[1] + sum[2];
    const Lane free = in_vector(Problem::free, i);
    const Lane gradient = in_vector(Problem::whitened, i) - free - momentum;
    momentum.write_to(problem_.vector(Problem::momentum) + i);
    gradient.write_to(problem_.vector(Problem::gradient) + i);
    free_sum += free.square();
    pushed_sum += momentum.square();
    gradient_sum += gradient.square();
  }
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    for (int c = 0; c < 3; ++c) {
      gross += in_array(Problem::row_square + c, k) * in_array(Problem::impulse + c, k).square();
    }
  }
  residual = sqrt(gradient_sum.sum());
  free_squared = free_sum.sum();
  pushed_squared = pushed_sum.sum();
  gross_squared = gross.sum();
}

template <RealScalar Scalar>
Scalar SmallState<Scalar>::cost_of(const Scalar& change_squared, int impulse) const noexcept {
  Lane sum = Lane::Zero();
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    sum += in_array(Problem::tangent, k) *
               (in_array(impulse, k).square() + in_array(impulse + 1, k).square()) +
           in_array(Problem::normal, k) * in_array(impulse + 2, k).square();
  }
  return (change_squared + sum.sum()) / 2;
}

template <RealScalar Scalar>
Scalar SmallState<Scalar>::cost() const noexcept {
  if (!(residual <= (std::numeric_limits<Scalar>::max)())) {
    return std::numeric_limits<Scalar>::infinity();
  }
  Lane change = Lane::Zero();
  for (Index i = 0; i < lanes(); i += row_lanes) {
    change += (in_vector(Problem::whitened, i) - in_vector(Problem::free, i)).square();
  }
  return cost_of(change.sum(), Problem::impulse);
}

template <RealScalar Scalar>
Scalar SmallState<Scalar>::cost_ahead(const Scalar& change_squared) const noexcept {
  if (!project_trials(Problem::trial_ahead, Problem::impulse_ahead)) {
    return std::numeric_limits<Scalar>::infinity();
  }
  return cost_of(change_squared, Problem::impulse_ahead);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
