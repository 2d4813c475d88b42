// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <limits>
#include <vector>

#include "carom/batch/batch_storage.hpp"

#include "support/every_block.hpp"

/// @file
/// Room for gradients in tests of batches.
namespace carom::testing {

/// Parts of a gradient.
namespace gradient_parts {
enum Part { mass, free_velocity, jacobian, friction, regularization, bias, bounds, part_count };
}  // namespace gradient_parts

/// Gradients of a batch, each part of a problem as long as the longest.
template <typename Scalar>
struct GradientArrays {
  using Part = gradient_parts::Part;

  std::vector<Scalar> by_velocity, by_impulse, parts[gradient_parts::part_count];
  std::vector<SolveStatus> statuses;
  int* boundary_counts = nullptr;
  Index stride = 0;

  GradientArrays(const BatchStorage<Scalar>& batch, Index longest, unsigned seed)
      : stride(longest) {
    const auto numbers = std::size_t(batch.count() * stride);
    VectorSource<double> source(seed);
    for (auto* slopes : {&by_velocity, &by_impulse}) {
      slopes->resize(numbers);
      for (Scalar& slope : *slopes) slope = Scalar(source.unit() - 0.5);
    }
    for (auto& part : parts) part.assign(numbers, std::numeric_limits<Scalar>::quiet_NaN());
    statuses.resize(std::size_t(batch.count()));
  }
  [[nodiscard]] BatchGradients<Scalar> view() {
    using namespace gradient_parts;
    const auto at = [&](Part part) {
      return carom::BatchArray<Scalar>{parts[part].data(), stride, nullptr};
    };
    return {{by_velocity.data(), stride},
            {by_impulse.data(), stride},
            at(mass),
            at(free_velocity),
            at(jacobian),
            at(friction),
            at(regularization),
            at(bias),
            at(bounds),
            statuses.data(),
            boundary_counts};
  }
  /// Numbers of a part of a problem.
  [[nodiscard]] VectorX<Scalar> of(Part part, Index problem, Index count) const {
    return Eigen::Map<const VectorX<Scalar>>(parts[part].data() + problem * stride, count);
  }
};

/// Whether two batches have the same bits.
template <typename Scalar>
[[nodiscard]] bool is_same(const GradientArrays<Scalar>& a, const GradientArrays<Scalar>& b) {
  bool same = a.statuses == b.statuses;
  for (int p = 0; p < gradient_parts::part_count; ++p) {
    same = same && std::memcmp(a.parts[p].data(), b.parts[p].data(),
                               a.parts[p].size() * sizeof(Scalar)) == 0;
  }
  return same;
}

/// Blocks of every kind, and a body that nothing touches.
[[nodiscard]] inline ContactProblem<double> draw_blocks(VectorSource<double>& source) {
  ContactProblem<double> problem = draw_every_block(source);
  problem.add_body(2 * Eigen::Matrix2d::Identity(), Eigen::Vector2d(1, 2));
  return problem;
}

}  // namespace carom::testing
