// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <Eigen/StdVector>

#include "carom/cones/friction_cone_batch.hpp"

namespace carom::benchmarks {

/// Which region the samples of a run fall in; with `mixed` it is random, so that the branch
/// predictor cannot know it.
enum class Sample { stick, slide, separate, mixed };

/// Trial impulses with friction and weights of their own, as aligned arrays.
template <typename Scalar>
struct ConeSamples {
  using Array = std::vector<Scalar, Eigen::aligned_allocator<Scalar>>;
  Array tangent1, tangent2, normal, friction, tangent_weight, normal_weight;
  Array point1, point2, point_normal;

  ConeSamples(std::size_t count, Sample sample) {
    std::mt19937 engine(20240607u);
    std::uniform_real_distribution<double> unit(0.1, 1.0);
    const auto draw = [&] { return Scalar(unit(engine)); };
    for (std::size_t i = 0; i < count; ++i) {
      tangent1.push_back(draw() - Scalar(0.55));
      tangent2.push_back(draw());
      friction.push_back(draw());
      tangent_weight.push_back(draw());
      normal_weight.push_back(draw());
      const Scalar reach = Scalar(2) / friction.back();  // beyond this it sticks
      const Scalar share = draw();
      switch (sample) {
        case Sample::stick:
          normal.push_back(reach + share);
          break;
        case Sample::slide:
          normal.push_back(Scalar(0.05) * share);
          break;
        case Sample::separate:
          normal.push_back(-Scalar(20) - share);
          break;
        case Sample::mixed:
          normal.push_back((share - Scalar(0.55)) * reach);
          break;
      }
    }
    point1 = point2 = point_normal = tangent1;
  }

  [[nodiscard]] std::size_t size() const { return tangent1.size(); }
  [[nodiscard]] Vector3<Scalar> impulse(std::size_t i) const {
    return {tangent1[i], tangent2[i], normal[i]};
  }
  [[nodiscard]] ContactWeights<Scalar> weights(std::size_t i) const {
    return {tangent_weight[i], normal_weight[i]};
  }
};

}  // namespace carom::benchmarks
