// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <Eigen/Core>

/// @file
/// What scripts/mutants.py writes into copies of the headers in the place of operators, constants and
/// conditions. One build holds all mutants; the environment variable CAROM_MUTANT names the one that
/// runs, and without it the program computes what the headers say. The file that CAROM_MUTANT_NOTE
/// names receives an `r` as soon as the chosen mutant runs, and an `i` where its types allow no such
/// change, as for the quotient of two matrices.

namespace carom_mutant {

inline void write_note(char letter) noexcept {
  static bool ran = false;
  static bool impossible = false;
  bool& noted = letter == 'r' ? ran : impossible;
  if (noted) return;
  noted = true;
  const char* path = std::getenv("CAROM_MUTANT_NOTE");
  if (path == nullptr) return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0) return;
  static_cast<void>(!::write(file, &letter, 1));
  ::close(file);
}

inline int chosen_by_environment() noexcept {
  const char* number = std::getenv("CAROM_MUTANT");
  return number == nullptr ? -1 : std::atoi(number);
}

inline const int chosen = chosen_by_environment();

/// Whether mutant `id` runs. The compiler's own evaluation of constants is never changed.
template <int id>
[[nodiscard]] constexpr bool active() noexcept {
  if (std::is_constant_evaluated()) return false;
  if (chosen != id) return false;
  write_note('r');
  return true;
}

template <int id>
constexpr void note_impossible() noexcept {
  if (std::is_constant_evaluated()) return;
  if (chosen == id) write_note('i');
}

template <typename T>
inline constexpr bool is_matrix = std::is_base_of_v<Eigen::EigenBase<T>, T>;

// Matrices are evaluated on the spot, because the two sides of a choice need one type.

template <int id, typename L, typename R>
constexpr auto sum(const L& l, const R& r) {
  if constexpr (is_matrix<L> && is_matrix<R>) {
    using Scalar = typename R::Scalar;
    if constexpr (requires { (l + Scalar(1) * r).eval(); }) {
      return (l + (active<id>() ? Scalar(-1) : Scalar(1)) * r).eval();
    } else {
      note_impossible<id>();
      return l + r;
    }
  } else if constexpr (requires { { l - r } -> std::same_as<decltype(l + r)>; }) {
    return active<id>() ? l - r : l + r;
  } else {
    note_impossible<id>();
    return l + r;
  }
}

template <int id, typename L, typename R>
constexpr auto difference(const L& l, const R& r) {
  if constexpr (is_matrix<L> && is_matrix<R>) {
    using Scalar = typename R::Scalar;
    if constexpr (requires { (l - Scalar(1) * r).eval(); }) {
      return (l - (active<id>() ? Scalar(-1) : Scalar(1)) * r).eval();
    } else {
      note_impossible<id>();
      return l - r;
    }
  } else if constexpr (requires { { l + r } -> std::same_as<decltype(l - r)>; }) {
    return active<id>() ? l + r : l - r;
  } else {
    note_impossible<id>();
    return l - r;
  }
}

template <int id, typename L, typename R>
constexpr auto product(const L& l, const R& r) {
  if constexpr (is_matrix<L> && !is_matrix<R> && requires { (l / r).eval(); (l * r).eval(); }) {
    return active<id>() ? (l / r).eval() : (l * r).eval();
  } else if constexpr (is_matrix<R> && !is_matrix<L> && requires { (l * r).eval(); L(1) / l; }) {
    return active<id>() ? (static_cast<L>(L(1) / l) * r).eval() : (l * r).eval();
  } else if constexpr (!is_matrix<L> && !is_matrix<R> &&
                       requires { { l / r } -> std::same_as<decltype(l * r)>; }) {
    return active<id>() ? l / r : l * r;
  } else {
    note_impossible<id>();
    return l * r;
  }
}

template <int id, typename L, typename R>
constexpr auto quotient(const L& l, const R& r) {
  if constexpr (is_matrix<L> && !is_matrix<R> && requires { (l / r).eval(); (l * r).eval(); }) {
    return active<id>() ? (l * r).eval() : (l / r).eval();
  } else if constexpr (!is_matrix<L> && !is_matrix<R> &&
                       requires { { l * r } -> std::same_as<decltype(l / r)>; }) {
    return active<id>() ? l * r : l / r;
  } else {
    note_impossible<id>();
    return l / r;
  }
}

/// −x, or x in the mutant.
template <int id, typename T>
constexpr auto minus(const T& x) {
  if constexpr (is_matrix<T>) {
    using Scalar = typename T::Scalar;
    if constexpr (requires { (Scalar(1) * x).eval(); }) {
      return ((active<id>() ? Scalar(1) : Scalar(-1)) * x).eval();
    } else {
      note_impossible<id>();
      return -x;
    }
  } else {
    using Result = std::decay_t<decltype(-x)>;
    return active<id>() ? static_cast<Result>(x) : static_cast<Result>(-x);
  }
}

/// What `+=` adds, or its opposite in the mutant.
template <int id, typename T>
constexpr auto added(const T& x) {
  if constexpr (is_matrix<T>) {
    using Scalar = typename T::Scalar;
    if constexpr (requires { (Scalar(1) * x).eval(); }) {
      return ((active<id>() ? Scalar(-1) : Scalar(1)) * x).eval();
    } else {
      note_impossible<id>();
      return T(x);
    }
  } else if constexpr (requires { static_cast<T>(-x); }) {
    return active<id>() ? static_cast<T>(-x) : T(x);
  } else {
    note_impossible<id>();
    return x;
  }
}

/// What `*=` multiplies with, or its inverse in the mutant.
template <int id, typename T>
constexpr auto factor(const T& x) {
  if constexpr (!is_matrix<T> && requires { static_cast<T>(T(1) / x); }) {
    return active<id>() ? static_cast<T>(T(1) / x) : T(x);
  } else {
    note_impossible<id>();
    return x;
  }
}

/// The bound of a loop, or one less in the mutant.
template <int id, typename T>
constexpr auto bound(const T& x) {
  if constexpr (requires { static_cast<T>(x - 1); }) {
    return active<id>() ? static_cast<T>(x - 1) : T(x);
  } else {
    note_impossible<id>();
    return x;
  }
}

#define CAROM_MUTANT_RELATION(name, relation, other)                               \
  template <int id, typename L, typename R>                                        \
  constexpr auto name(const L& l, const R& r) {                                    \
    if constexpr (requires {                                                       \
                    { l relation r } -> std::convertible_to<bool>;                 \
                    { l other r } -> std::convertible_to<bool>;                    \
                  }) {                                                             \
      return active<id>() ? static_cast<bool>(l other r)                           \
                          : static_cast<bool>(l relation r);                       \
    } else {                                                                       \
      note_impossible<id>();                                                       \
      return l relation r;                                                         \
    }                                                                              \
  }
CAROM_MUTANT_RELATION(less, <, <=)
CAROM_MUTANT_RELATION(less_equal, <=, <)
CAROM_MUTANT_RELATION(greater, >, >=)
CAROM_MUTANT_RELATION(greater_equal, >=, >)
CAROM_MUTANT_RELATION(equal, ==, !=)
CAROM_MUTANT_RELATION(unequal, !=, ==)
#undef CAROM_MUTANT_RELATION

template <int id, typename T>
constexpr T constant(T value, T other) {
  return active<id>() ? other : value;
}

template <int id, typename T>
constexpr const T& larger(const T& a, const T& b) {
  const bool b_is_larger = a < b;
  return b_is_larger != active<id>() ? b : a;
}
template <int id, typename T>
constexpr T larger(std::initializer_list<T> all) {
  T best = *all.begin();
  for (const T& one : all) best = larger<id>(best, one);
  return best;
}
template <int id, typename T>
constexpr const T& smaller(const T& a, const T& b) {
  const bool b_is_smaller = b < a;
  return b_is_smaller != active<id>() ? b : a;
}
template <int id, typename T>
constexpr T smaller(std::initializer_list<T> all) {
  T best = *all.begin();
  for (const T& one : all) best = smaller<id>(best, one);
  return best;
}

/// What a function returns, or another value of its type in the mutant: the opposite of a boolean, 0
/// in the place of other numbers and 1 in the place of 0, a zero matrix, an empty object.
template <int id, typename T>
constexpr auto returned(T&& value) {
  using Value = std::decay_t<T>;
  if constexpr (std::same_as<Value, bool>) {
    return active<id>() ? !value : value;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return active<id>() ? Value(value == Value(0) ? 1 : 0) : value;
  } else if constexpr (std::is_enum_v<Value>) {
    return active<id>() ? static_cast<Value>(static_cast<int>(value) == 0 ? 1 : 0) : value;
  } else if constexpr (is_matrix<Value>) {
    if constexpr (requires { typename Value::PlainObject; }) {
      if constexpr (std::same_as<Value, typename Value::PlainObject>) {
        Value result(std::forward<T>(value));
        if (active<id>()) result.setZero();
        return result;
      } else {
        note_impossible<id>();
        return Value(std::forward<T>(value));
      }
    } else {
      note_impossible<id>();
      return Value(std::forward<T>(value));
    }
  } else if constexpr (std::is_copy_constructible_v<Value> &&
                       std::is_default_constructible_v<Value>) {
    return active<id>() ? Value() : Value(std::forward<T>(value));
  } else if constexpr (std::is_copy_constructible_v<Value>) {
    note_impossible<id>();
    return Value(std::forward<T>(value));
  } else if constexpr (std::is_default_constructible_v<Value>) {
    return active<id>() ? Value() : Value(std::move(value));
  } else {
    note_impossible<id>();
    return Value(std::move(value));
  }
}

}  // namespace carom_mutant
