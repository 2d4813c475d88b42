// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>

#include <Eigen/Core>

/// Prints numbers so that no bit is lost.
template <typename Derived>
void print_bits(const char* name, const Eigen::MatrixBase<Derived>& numbers) {
  std::printf("%s", name);
  for (Eigen::Index i = 0; i < numbers.size(); ++i) {
    std::printf(" %a", static_cast<double>(
                           numbers.derived().coeff(i % numbers.rows(), i / numbers.rows())));
  }
  std::printf("\n");
}

/// Numbers between -1 and 1 that are the same everywhere.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
  }

 private:
  unsigned long long state_ = 1;
};
