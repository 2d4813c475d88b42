// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/free_masses.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"

namespace free_masses_test {

using carom::Index, carom::LagrangianDerivatives, carom::MatrixX, carom::VectorX;
using carom::examples::write_free_lagrangian, carom::examples::write_free_lagrangian_curvature;
using carom::testing::numbers;

TEST_CASE("free_masses: half the sum of m v² and its derivatives", "[scenes][oracle]") {
  const VectorX<double> masses = numbers<double>({2, 0.5, 8}), v = numbers<double>({3, -4, 0});
  const auto mass_of = [&](Index k) { return masses(k); };
  LagrangianDerivatives<double> slopes, all;
  for (auto* out : {&slopes, &all}) {  // what is left out stays NaN
    const double nan = std::numeric_limits<double>::quiet_NaN();
    out->resize(3);
    for (VectorX<double>* vector : {&out->by_q, &out->by_v}) vector->setConstant(nan);
    for (MatrixX<double>* matrix : {&out->by_qq, &out->by_qv, &out->by_vv}) {
      matrix->setConstant(nan);
    }
  }
  write_free_lagrangian(mass_of, v, slopes);
  write_free_lagrangian_curvature(mass_of, v, all);
  for (const auto* out : {&slopes, &all}) {
    CHECK(out->value == 13);  // (18 + 8 + 0) / 2
    CHECK(out->by_q == VectorX<double>::Zero(3));
    CHECK(out->by_v == numbers<double>({6, -2, 0}));
  }
  CHECK(all.by_qq == MatrixX<double>::Zero(3, 3));
  CHECK(all.by_qv == MatrixX<double>::Zero(3, 3));
  CHECK(all.by_vv == MatrixX<double>(masses.asDiagonal()));
}

}  // namespace free_masses_test
