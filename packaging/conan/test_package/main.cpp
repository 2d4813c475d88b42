// SPDX-License-Identifier: BSD-3-Clause
#include <carom/carom.hpp>

int main() {
  const carom::FrictionCone<double> cone{0.5};
  const carom::ContactWeights<double> weights{1.0, 1.0};
  const auto answer = project(cone, weights, carom::Vector3<double>(0.0, 0.0, 1.0));
  return answer.region == carom::ConeRegion::stick ? 0 : 1;
}
