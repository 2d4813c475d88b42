// SPDX-License-Identifier: BSD-3-Clause
// A user's whole program: it sees the installed headers only and gets none of carom's warnings.
#include <carom/carom.hpp>

int main(int argument_count, char**) {
  const int narrowed = argument_count * 0.5;  // -Wconversion, if it leaked, would refuse this line
  const carom::FrictionCone<double> cone{0.5};
  const carom::ContactWeights<double> weights{1.0, 1.0};
  const auto answer = project(cone, weights, carom::Vector3<double>(0.0, 0.0, 1.0));
  return answer.region == carom::ConeRegion::stick ? narrowed : 1;
}
