// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "carom/contact/contact_problem.hpp"

namespace carom::testing {

/// Every number of a problem, in an order of this test's own, as its bits.
template <typename Scalar>
[[nodiscard]] std::vector<std::uint64_t> bits_of(const ContactProblem<Scalar>& problem) {
  std::vector<std::uint64_t> bits;
  const auto add = [&](double number) { bits.push_back(std::bit_cast<std::uint64_t>(number)); };
  const auto add_all = [&](const auto& matrix) {
    add(double(matrix.size()));
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (Index r = 0; r < matrix.rows(); ++r) add(double(matrix(r, c)));
    }
  };
  add(double(problem.time_step()));
  add_all(problem.free_velocity());
  for (Index b = 0; b < problem.body_count(); ++b) add_all(problem.momentum_matrix(b));
  for (Index i = 0; i < problem.block_count(); ++i) {
    const WeightedBlock<Scalar> law = problem.law(i);
    add(double(law.set.shape));
    add(law.set.rows);
    add(double(law.rigid));
    for (const auto* rows : {&law.set.lower, &law.set.upper, &law.set.shift, &law.regularization,
                             &law.bias_velocity}) {
      add_all(*rows);
    }
    add_all(law.set.friction);
    for (int side = 0; side < problem.side_count(i); ++side) {
      add(double(problem.side_body(i, side)));
      add_all(problem.jacobian(i, side));
    }
  }
  return bits;
}

/// The overlaps of all blocks and the velocities that remove them, as their bits.
template <typename Scalar>
[[nodiscard]] std::vector<std::uint64_t> overlap_bits(const ContactProblem<Scalar>& problem) {
  std::vector<std::uint64_t> bits;
  for (Index i = 0; i < problem.block_count(); ++i) {
    const WeightedBlock<Scalar> law = problem.law(i);
    for (const Scalar& number : {law.overlap, law.overlap_velocity}) {
      bits.push_back(std::bit_cast<std::uint64_t>(double(number)));
    }
  }
  return bits;
}

}  // namespace carom::testing
