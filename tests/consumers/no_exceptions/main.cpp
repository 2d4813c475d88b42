// SPDX-License-Identifier: BSD-3-Clause
// Built with -fno-exceptions -fno-rtti: the whole library compiles and a first call runs.
#include "carom/carom.hpp"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this program shows carom without exceptions and RTTI"
#endif

int main() {
  const carom::FrictionCone<double> cone{0.5};
  const carom::ContactWeights<double> weights{1.0, 1.0};
  const auto answer = project(cone, weights, carom::Vector3<double>(3.0, 4.0, 1.0));
  return answer.region == carom::ConeRegion::slide ? 0 : 1;
}
