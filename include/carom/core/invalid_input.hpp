// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "carom/core/detail/matrix_entries.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A fault in user data, as one sentence with the item, its index and the expected value. It is
/// empty if there is no fault. An empty one does not allocate.
using Fault = std::string;

namespace detail {

/// Rejects user data with a fault: throws std::invalid_argument. If exceptions are disabled, it
/// prints the sentence on standard error and ends the program. Users who want neither call the
/// matching check first.
inline void reject_if(const Fault& fault) {
  if (fault.empty()) return;
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  throw std::invalid_argument(fault);
#else
  std::fprintf(stderr, "carom: %s\n", fault.c_str());
  std::abort();
#endif
}

// The sentences and their checks. A sentence is only composed if there is a fault.

template <RealScalar Scalar>
[[nodiscard]] bool is_finite(const Scalar& x) noexcept {
  return x - x == Scalar(0);
}

/// A number with nine digits, or a word if it cannot be converted to double.
template <RealScalar Scalar>
[[nodiscard]] std::string number_text(const Scalar& number) {
  if constexpr (std::constructible_from<double, const Scalar&>) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(number));
    return text;
  } else {
    return is_finite(number) ? "another finite number" : "a number that is not finite";
  }
}

/// "body 3: free velocity entry 2: expected a finite number, got nan".
template <RealScalar Scalar>
[[nodiscard]] Fault fault(const std::string& item, const char* expected, const Scalar& got) {
  return item + ": expected " + expected + ", got " + number_text(got);
}

[[nodiscard]] inline Fault fault(const std::string& item, const char* expected, Index got) {
  return item + ": expected " + expected + ", got " + std::to_string(got);
}

[[nodiscard]] inline std::string entry(const std::string& item, Index row, Index column) {
  return item + " entry (" + std::to_string(row) + ", " + std::to_string(column) + ")";
}

[[nodiscard]] inline std::string entry(const std::string& item, Index index) {
  return item + " entry " + std::to_string(index);
}

/// A fault for the first entry of a matrix or vector that is not finite; empty if all are finite.
template <RealScalar Scalar>
[[nodiscard]] Fault finite_fault(const std::string& item, const MatrixEntries<Scalar>& matrix) {
  for (Index c = 0; c < matrix.columns; ++c) {
    for (Index r = 0; r < matrix.rows; ++r) {
      if (is_finite(matrix(r, c))) continue;
      return fault(matrix.is_column ? entry(item, r) : entry(item, r, c), "a finite number",
                   matrix(r, c));
    }
  }
  return {};
}
template <typename Derived>
[[nodiscard]] Fault finite_fault(const std::string& item,
                                 const Eigen::MatrixBase<Derived>& matrix) {
  const auto& kept = in_memory(matrix);
  return finite_fault(item, entries_of(kept));
}

template <RealScalar Scalar>
[[nodiscard]] bool is_nonnegative(const Scalar& x) noexcept {
  return is_finite(x) && x >= Scalar(0);
}

template <RealScalar Scalar>
[[nodiscard]] bool is_positive(const Scalar& x) noexcept {
  return is_finite(x) && x > Scalar(0);
}

/// Checks of an item's numbers. The first check that fails is the fault of the item.
///
/// In the sentence, the name of a number comes after the item, as in "contact 3" + ": gap".
class Checks {
 public:
  explicit Checks(const std::string& item) noexcept : item_(item) {}

  template <typename Number>
  Checks& expect(bool holds, const char* name, const char* expected, const Number& got) {
    if (!holds && first_.empty()) first_ = detail::fault(item_ + name, expected, got);
    return *this;
  }
  template <RealScalar Scalar>
  Checks& finite(const char* name, const Scalar& x) {
    return expect(is_finite(x), name, "a finite number", x);
  }
  template <RealScalar Scalar>
  Checks& nonnegative(const char* name, const Scalar& x) {
    return expect(is_nonnegative(x), name, "a finite number >= 0", x);
  }
  template <RealScalar Scalar>
  Checks& positive(const char* name, const Scalar& x) {
    return expect(is_positive(x), name, "a finite number > 0", x);
  }
  /// A number in [0, 1].
  template <RealScalar Scalar>
  Checks& share(const char* name, const Scalar& x) {
    return expect(x >= Scalar(0) && x <= Scalar(1), name, "a number in [0, 1]", x);
  }
  /// A vector of finite numbers.
  template <typename Derived>
  Checks& all_finite(const char* name, const Eigen::MatrixBase<Derived>& vector) {
    for (Index i = 0; i < vector.size(); ++i) {
      if (first_.empty() && !is_finite(vector(i))) first_ = finite_fault(item_ + name, vector);
    }
    return *this;
  }

  [[nodiscard]] const Fault& fault() const noexcept { return first_; }

 private:
  const std::string& item_;
  Fault first_;
};

/// Fault of a matrix that should be symmetric positive definite. The pivots are not tested.
/// @param name  comes after the item in the sentence, as in "body 3" + ": momentum matrix".
template <RealScalar Scalar>
[[nodiscard]] Fault symmetric_fault(const std::string& item, const char* name,
                                    const MatrixEntries<Scalar>& matrix) {
  using std::abs, std::sqrt;
  const Index size = matrix.rows;
  if (size < 1) return fault(item + name + " rows", "at least 1", size);
  if (matrix.columns != size) {
    return fault(item + name + " columns", "as many as rows", matrix.columns);
  }
  Scalar largest(0);
  for (Index c = 0; c < size; ++c) {
    for (Index r = 0; r < size; ++r) {
      const Scalar magnitude = abs(matrix(r, c));
      if (!is_finite(magnitude)) return finite_fault(item + name, matrix);
      if (magnitude > largest) largest = magnitude;
    }
  }
  const Scalar allowance = sqrt(std::numeric_limits<Scalar>::epsilon()) * largest;
  for (Index c = 0; c < size; ++c) {
    if (!(matrix(c, c) > Scalar(0))) {
      return fault(entry(item + name, c, c), "a number > 0", matrix(c, c));
    }
    for (Index r = c + 1; r < size; ++r) {
      if (abs(matrix(r, c) - matrix(c, r)) > allowance) {
        return fault(entry(item + name, r, c), "its mirror image (a symmetric matrix)",
                     matrix(r, c));
      }
    }
  }
  return {};
}
template <typename Derived>
[[nodiscard]] Fault symmetric_fault(const std::string& item, const char* name,
                                    const Eigen::MatrixBase<Derived>& matrix) {
  const auto& kept = in_memory(matrix);
  return symmetric_fault(item, name, entries_of(kept));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
