// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone_batch.hpp"
#include "carom/contact/detail/contact_graph.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/search/newton_walk.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether SmallSolver can solve a problem: one body with no more than a few friction contacts.
template <RealScalar Scalar>
[[nodiscard]] bool is_small(const ContactProblem<Scalar>& problem) noexcept {
  const Index contacts = problem.friction_contact_count();
  return problem.body_count() == 1 && contacts >= 1 &&
         contacts <= SmallProblemLimits::contact_limit && contacts == problem.block_count() &&
         problem.velocity_count() <= SmallProblemLimits::velocity_limit;
}

/// A small problem laid out for passes over it: velocities and contacts padded to whole registers,
/// Ĵ by columns and by rows, one dense matrix. The order of the contacts depends on their data, not
/// on their numbers in the problem. lay_out(), then gather(); SmallState and SmallNewton work on
/// the arrays.
template <RealScalar Scalar>
class SmallProblem {
 public:
  enum VectorName { whitened, free, best, momentum, gradient, direction, vector_count };
  enum ArrayName {
    friction,
    tangent,
    normal,
    inverse_tangent,
    inverse_normal,
    bias,                         ///< three components, as all below but the last
    row_square = bias + 3,        ///< squared norms of the rows of Ĵ
    velocity = row_square + 3,    ///< Ĵ w
    trial = velocity + 3,         ///< y
    impulse = trial + 3,          ///< γ
    velocity_step = impulse + 3,  ///< the change of Ĵ w along the direction
    trial_step = velocity_step + 3,
    trial_ahead = trial_step + 3,
    impulse_ahead = trial_ahead + 3,
    /// unit directions of friction as the last full step predicted them, two components
    predicted_direction = impulse_ahead + 3,
    array_count = predicted_direction + 2
  };
  /// Contacts are padded to whole registers of this many.
  static constexpr Index contact_lanes =
      (std::max)(row_lanes, Index(Eigen::internal::packet_traits<Scalar>::size));

  /// Reserves memory for small problems with at most these counts of velocities and contacts.
  void reserve(Index velocities, Index contacts) {
    set_sizes((std::min)(velocities, SmallProblemLimits::velocity_limit),
              (std::min)(contacts, SmallProblemLimits::contact_limit));
    numbers_.reserve(end_);
    set_sizes(0, 0);
  }
  /// Sets the sizes to those of a problem; allocates beyond the largest so far.
  /// @pre  is_small(problem).
  void lay_out(const ContactProblem<Scalar>& problem) {
    set_sizes(problem.velocity_count(), problem.block_count());
    numbers_.resize(end_);
  }
  /// Copies the numbers of the problem, and whitens the guess.
  void gather(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& guess) noexcept;

  [[nodiscard]] Index size() const noexcept { return size_; }      ///< velocities
  [[nodiscard]] Index lanes() const noexcept { return lanes_; }    ///< with the padding
  [[nodiscard]] Index count() const noexcept { return count_; }    ///< contacts
  [[nodiscard]] Index padded() const noexcept { return padded_; }  ///< with the padding
  [[nodiscard]] Scalar* vector(int name) noexcept { return numbers_.data() + name * lanes_; }
  [[nodiscard]] Scalar* array(int name) noexcept {
    return numbers_.data() + arrays_at_ + name * padded_;
  }
  /// Ĵᵀ of the contacts: three columns each, of lanes() numbers.
  [[nodiscard]] Scalar* columns() noexcept { return numbers_.data() + columns_at_; }
  /// Ĵ by velocity and component, over the contacts: 3 size() arrays of padded() numbers.
  [[nodiscard]] Scalar* rows_by_contact() noexcept { return numbers_.data() + rows_at_; }
  [[nodiscard]] Columns<Scalar> matrix() noexcept { return {numbers_.data() + matrix_at_, lanes_}; }
  /// The problem's index of contact k of the arrays.
  [[nodiscard]] Index contact_at(Index k) const noexcept { return order_[k]; }

 private:
  void set_sizes(Index velocities, Index contacts) noexcept {
    size_ = velocities;
    lanes_ = lanes_above(size_);
    count_ = contacts;
    padded_ = (count_ + contact_lanes - 1) / contact_lanes * contact_lanes;
    arrays_at_ = vector_count * lanes_;
    columns_at_ = arrays_at_ + array_count * padded_;
    rows_at_ = columns_at_ + 3 * count_ * lanes_;
    matrix_at_ = rows_at_ + 3 * size_ * padded_;
    end_ = matrix_at_ + size_ * lanes_;
  }
  void order_contacts(const ContactProblem<Scalar>& problem) noexcept;
  void gather_contact(const ContactProblem<Scalar>& problem, Index k) noexcept;

  Sequence<Scalar> numbers_;
  Index order_[SmallProblemLimits::contact_limit] = {};
  Index size_ = 0, lanes_ = 0, count_ = 0, padded_ = 0;
  Index arrays_at_ = 0, columns_at_ = 0, rows_at_ = 0, matrix_at_ = 0, end_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
void SmallProblem<Scalar>::order_contacts(const ContactProblem<Scalar>& problem) noexcept {
  for (Index k = 0; k < count_; ++k) {
    Index place = k;  // after those that precede it: there are few
    for (; place > 0 && friction_contact_precedes(problem, k, order_[place - 1]); --place) {
      order_[place] = order_[place - 1];
    }
    order_[place] = k;
  }
}

template <RealScalar Scalar>
void SmallProblem<Scalar>::gather_contact(const ContactProblem<Scalar>& problem, Index k) noexcept {
  const auto contact = problem.friction_contact(order_[k]);
  const WeightedContact<Scalar>& law = contact.law();
  const Scalar& mu = law.friction;
  const ContactWeights<Scalar>& weights = law.regularization;
  const Vector3<Scalar>& bias_velocity = law.bias_velocity;
  Scalar* const numbers = numbers_.data() + arrays_at_ + k;
  numbers[friction * padded_] = mu;
  numbers[tangent * padded_] = weights.tangent;
  numbers[normal * padded_] = weights.normal;
  numbers[inverse_tangent * padded_] = Scalar(1) / weights.tangent;
  numbers[inverse_normal * padded_] = Scalar(1) / weights.normal;
  Scalar* const block = columns() + 3 * k * lanes_;
  const auto jacobian = contact.whitened_columns(0);
  for (int c = 0; c < 3; ++c) {
    std::copy_n(jacobian.data() + c * size_, size_, block + c * lanes_);
    std::fill(block + c * lanes_ + size_, block + (c + 1) * lanes_, Scalar(0));
  }
  for (int c = 0; c < 3; ++c) {
    const Scalar* const column = block + c * lanes_;
    Scalar squared = 0;
    for (Index i = 0; i < lanes_; i += row_lanes) squared += packet_at(column + i).square().sum();
    numbers[(bias + c) * padded_] = bias_velocity(c);
    numbers[(row_square + c) * padded_] = squared;
    Scalar* const row = rows_by_contact() + c * padded_ + k;
    for (Index i = 0; i < size_; ++i) row[3 * i * padded_] = column[i];
  }
}

template <RealScalar Scalar>
void SmallProblem<Scalar>::gather(const ContactProblem<Scalar>& problem,
                                  const VectorX<Scalar>& guess) noexcept {
  order_contacts(problem);
  // The padding: open contacts with a tangential component, because a batch projects a trial
  // impulse without one separately; and velocities that no contact moves.
  const Index pads = padded_ - count_;
  for (int a = 0; a < array_count; ++a) {
    const Scalar number =
        a <= bias ? Scalar(1) : Scalar(a == bias + 2 ? PaddingContact::normal_bias : 0);
    std::fill_n(array(a) + count_, pads, number);
  }
  for (Index i = 0; i < 3 * size_; ++i) {
    std::fill_n(rows_by_contact() + i * padded_ + count_, pads, Scalar(0));
  }
  std::fill_n(numbers_.data(), vector_count * lanes_, Scalar(0));
  for (Index k = 0; k < count_; ++k) gather_contact(problem, k);
  std::copy_n(problem.whitened_free_velocity().data(), size_, vector(free));
  std::copy_n(guess.data(), size_, vector(whitened));
  problem.whiten({vector(whitened), std::size_t(problem.velocity_count())});
}

/// The cost ℓ of a small problem and its derivatives at an iterate, equal to those of IslandState
/// up to rounding. A view of the problem.
template <RealScalar Scalar>
class SmallState : public IslandMeasures<Scalar> {
 public:
  using Problem = SmallProblem<Scalar>;
  using Lane = RowPacket<Scalar>;

  explicit SmallState(Problem& problem) noexcept : problem_(problem) {}

  /// Computes all that the iterate determines: v_c, y, γ, Ĵᵀγ, the gradient and its norm.
  void evaluate() noexcept;
  /// ℓ at the last evaluated iterate; infinite if numbers left the range of the type.
  [[nodiscard]] Scalar cost() const noexcept;
  /// ℓ with y in Problem::trial_ahead and a given ‖w − w*‖²; infinite if y is not finite.
  [[nodiscard]] Scalar cost_ahead(const Scalar& change_squared) const noexcept;

  /// Ĵ x of the contacts from k on, a register of each component.
  void multiply(int vector, Index k, Lane (&result)[3]) const noexcept;
  /// y = R⁻¹(v̂ − v_c) of the contacts from k on.
  void write_trial(const Lane (&velocity)[3], int trial, Index k) const noexcept;
  /// γ = P(y). Returns false and writes nothing if a trial impulse is not finite.
  [[nodiscard]] bool project_trials(int trial, int impulse) const noexcept;

  // The functions of start_from_best(). They write over the trial ahead.
  [[nodiscard]] Scalar cost_at_rest() const noexcept {
    const Lane velocity[3] = {Lane::Zero(), Lane::Zero(), Lane::Zero()};
    for (Index k = 0; k < problem_.padded(); k += row_lanes) {
      write_trial(velocity, Problem::trial_ahead, k);
    }
    return cost_ahead(this->free_squared);
  }
  [[nodiscard]] Scalar cost_when_free() const noexcept {
    Lane velocity[3];
    for (Index k = 0; k < problem_.padded(); k += row_lanes) {
      multiply(Problem::free, k, velocity);
      write_trial(velocity, Problem::trial_ahead, k);
    }
    return cost_ahead(Scalar(0));
  }
  void start_at_rest() noexcept {
    std::fill_n(problem_.vector(Problem::whitened), lanes(), Scalar(0));
    evaluate();
  }
  void start_free() noexcept {
    copy(Problem::free, Problem::whitened);
    evaluate();
  }

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
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    Lane velocity[3];
    multiply(Problem::whitened, k, velocity);
    for (int c = 0; c < 3; ++c) velocity[c].write_to(problem_.array(Problem::velocity + c) + k);
    write_trial(velocity, Problem::trial, k);
  }
  if (!project_trials(Problem::trial, Problem::impulse)) {
    std::fill_n(problem_.array(Problem::impulse), 3 * problem_.padded(), Scalar(0));
    this->residual = std::numeric_limits<Scalar>::infinity();
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
  this->take({gradient_sum.sum(), free_sum.sum(), pushed_sum.sum(), gross.sum()});
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
  if (!this->are_finite()) return std::numeric_limits<Scalar>::infinity();
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
