// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/scalar.hpp"

#include <complex>
#include <type_traits>

#include "support/catch.hpp"

namespace {

struct OptedIn {};
struct NotOptedIn {};

}  // namespace

template <>
inline constexpr bool carom::enable_real_scalar<OptedIn> = true;

static_assert(carom::RealScalar<float> && carom::RealScalar<double>);
static_assert(carom::RealScalar<long double> && carom::RealScalar<OptedIn>);
static_assert(!carom::RealScalar<int> && !carom::RealScalar<NotOptedIn>);
static_assert(!carom::RealScalar<std::complex<double>> && !carom::RealScalar<double&>);
static_assert(std::is_signed_v<carom::Index>);

TEST_CASE("scalar: the short names have the shapes they say", "[core][example]") {
  CHECK(carom::Vector3<float>::SizeAtCompileTime == 3);
  CHECK(carom::Vector<double, 5>::SizeAtCompileTime == 5);
  CHECK(carom::VectorX<double>(7).size() == 7);
  CHECK(carom::VectorX<double>::ColsAtCompileTime == 1);
  CHECK(carom::SquareMatrix<float, 4>::SizeAtCompileTime == 16);
  CHECK(carom::MatrixX<double>(2, 5).size() == 10);
}
