// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

#include "carom/cones/projection.hpp"
#include "carom/core/detail/small_vector.hpp"

#include "support/catch.hpp"

namespace carom::testing {

/// Whether long double, in which oracles compute, has more digits and exponents than a type. On
/// 32-bit ARM it is double: what needs an oracle with more is not compared there.
template <typename Scalar>
inline constexpr bool has_longer =
    std::numeric_limits<long double>::digits >
    std::numeric_limits<Scalar>::digits&& std::numeric_limits<long double>::max_exponent >
    std::numeric_limits<Scalar>::max_exponent;

/// Collects the inputs of a worst case; write_input(text, x) is found through it for any x.
class InputText : public std::ostringstream {};

inline void write_input(InputText& out, ConeRegion region) {
  out << to_string(region);
}

template <typename Number>
requires std::is_arithmetic_v<Number>
void write_input(InputText& out, Number number) {
  out << number;
}

inline void write_input(InputText& out, const char* text) {
  out << text;
}

template <typename Derived>
void write_input(InputText& out, const Eigen::MatrixBase<Derived>& x) {
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) out << x(i, j) << ' ';
  }
}

template <typename Number, std::size_t Size>
void write_input(InputText& out, const std::array<Number, Size>& list) {
  for (const Number& number : list) out << number << ' ';
}

template <typename Number, int Size>
void write_input(InputText& out, const detail::SmallVector<Number, Size>& x) {
  for (const Number& number : x.numbers) out << number << ' ';
}

/// The input that came closest to breaking a law: a loop over many inputs checks once at its end,
/// and a failure still names its input.
class WorstCase {
 public:
  explicit WorstCase(const char* law) : law_(law) {}

  /// Notes error / allowed; a law holds while it is at most one. Not-a-number breaks the law.
  template <typename... Inputs>
  void see(long double error, long double allowed, const Inputs&... inputs) {
    ++count_;
    long double ratio = error == 0 ? 0 : error / allowed;
    if (std::isnan(ratio)) ratio = std::numeric_limits<long double>::infinity();
    if (ratio <= ratio_) return;
    ratio_ = ratio;
    InputText text;
    text << std::setprecision(21);
    ((write_input(text, inputs), text << "| "), ...);
    input_ = text.str();
  }

  /// Notes a yes or no.
  template <typename... Inputs>
  void see_holds(bool holds, const Inputs&... inputs) {
    see(holds ? 0 : 2, 1, inputs...);
  }

  /// Fails unless the law held for every input seen, and at least `least` were seen.
  void check(long least = 1) const {
    INFO(law_ << " (" << count_ << " inputs), worst input: " << input_);
    CHECK(ratio_ <= 1);
    CHECK(count_ >= least);
  }

  [[nodiscard]] long double ratio() const { return ratio_; }
  [[nodiscard]] long count() const { return count_; }

 private:
  const char* law_;
  long double ratio_ = 0;
  long count_ = 0;
  std::string input_ = "none";
};

}  // namespace carom::testing
