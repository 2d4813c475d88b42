// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "carom/core/scalar.hpp"

#include "support/number_file.hpp"

namespace carom::testing {

/// A case of tests/data/force_cone.txt.
struct ConeCase {
  double friction = 0;
  MatrixX<double> gain;
  VectorX<double> average;
  struct Answer {
    VectorX<double> velocity, force;
  } program, convex, coulomb;

  [[nodiscard]] VectorX<double> frictions() const {
    return VectorX<double>::Constant(average.size() / 3, friction);
  }
};

inline std::vector<ConeCase> read_cone_cases() {
  std::vector<ConeCase> cases;
  for (const NumberLine& line : read_numbers("force_cone.txt")) {
    const auto size = Index(line.numbers.size());
    const Eigen::Map<const VectorX<double>> numbers(line.numbers.data(), size);
    if (line.name == "case") cases.emplace_back().friction = numbers(0);
    ConeCase& c = cases.back();
    if (line.name == "average") {
      c.average = numbers;
      c.gain = c.gain.reshaped(size, size).eval();
    }
    if (line.name == "gain") c.gain = numbers;
    const ConeCase::Answer answer{numbers.head(size / 2), numbers.tail(size / 2)};
    if (line.name == "program") c.program = answer;
    if (line.name == "convex") c.convex = answer;
    if (line.name == "coulomb") c.coulomb = answer;
  }
  return cases;
}

}  // namespace carom::testing
