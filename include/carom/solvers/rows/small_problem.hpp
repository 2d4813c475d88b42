// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/detail/contact_graph.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether SmallSolver takes a problem.
template <RealScalar Scalar>
[[nodiscard]] bool is_small(const ContactProblem<Scalar>& problem) noexcept {
  const Index contacts = problem.friction_contact_count();
  return problem.body_count() == 1 && contacts >= 1 &&
         contacts <= SmallProblemLimits::contact_limit && contacts == problem.block_count() &&
         problem.velocity_count() <= SmallProblemLimits::velocity_limit;
}

/// A small problem laid out for passes over it: velocities and contacts padded to whole registers,
/// Ĵ by columns and by rows, one dense matrix. The contacts stand in an order that depends on what
/// they are, not on their numbers.
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
    velocity_step = impulse + 3,  ///< what the direction does to Ĵ w
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

  /// Room for small problems of no more velocities and contacts.
  void reserve(Index velocities, Index contacts) {
    set_sizes((std::min)(velocities, SmallProblemLimits::velocity_limit),
              (std::min)(contacts, SmallProblemLimits::contact_limit));
    numbers_.reserve(end_);
    set_sizes(0, 0);
  }
  /// Takes on a problem's size; allocates beyond the largest so far.
  /// @pre  is_small(problem).
  void lay_out(const ContactProblem<Scalar>& problem) {
    set_sizes(problem.velocity_count(), problem.block_count());
    numbers_.resize(end_);
  }
  /// Copies the numbers of the problem laid out, and whitens the guess.
  void gather(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& guess) noexcept;

  [[nodiscard]] Index size() const noexcept { return size_; }      ///< velocities
  [[nodiscard]] Index lanes() const noexcept { return lanes_; }    ///< the same with the padding
  [[nodiscard]] Index count() const noexcept { return count_; }    ///< contacts
  [[nodiscard]] Index padded() const noexcept { return padded_; }  ///< the same with the padding
  [[nodiscard]] Scalar* vector(int name) noexcept { return numbers_.data() + name * lanes_; }
  [[nodiscard]] Scalar* array(int name) noexcept {
    return numbers_.data() + arrays_at_ + name * padded_;
  }
  /// Ĵᵀ of the contacts: three columns each, of lanes() numbers.
  [[nodiscard]] Scalar* columns() noexcept { return numbers_.data() + columns_at_; }
  /// Ĵ by velocity and component, over the contacts: 3 size() arrays of padded() numbers.
  [[nodiscard]] Scalar* rows_by_contact() noexcept { return numbers_.data() + rows_at_; }
  [[nodiscard]] Columns<Scalar> matrix() noexcept { return {numbers_.data() + matrix_at_, lanes_}; }
  /// The problem's number of contact k of the arrays.
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
    Index place = k;  // behind those that precede it: there are few
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
  // impulse without one separately, and velocities that nothing moves.
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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
