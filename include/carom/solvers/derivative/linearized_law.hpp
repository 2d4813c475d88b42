// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/core/elementary.hpp"
#include "carom/solvers/derivative/closed_impulses.hpp"
#include "carom/solvers/derivative/linearized_answer.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The law of a whole problem, Coulomb's or the convex one, linearised at a solution: P dγ + Q du
/// of LinearizedAnswer with P + Q R of LawSlope for P; transposed,
///
///     y + Ĵᵀ Qᵀ z = a,    Pᵀ z − Ĵ y = b.
///
/// Sticking rows without their own R are softened by ε w. The matrix I + Ĵᵀ N Ĵ then has one sparse
/// factor, and refinement removes the softness. If impulses are not unique (Ĵᵀ dγ = 0 for some dγ),
/// the result is the solution of least norm, and contradicting rows are satisfied in the
/// least-squares sense.
/// @note  Real-time safe after prepare() for a problem of this size and pattern.
template <RealScalar Scalar>
class LinearizedLaw {
 public:
  using scalar_type = Scalar;

  /// Allocates memory for a problem's size and pattern.
  void prepare(const ContactProblem<Scalar>& problem);

  /// Linearises all blocks, as BlockSlopes::linearize().
  /// @param options  as CoulombDerivativeOptions.
  /// @param product  κ of a point of the central path [J]; 0 for the law itself.
  template <typename Velocity, typename Options, typename Impulse>
  [[nodiscard]] Index linearize(const ContactProblem<Scalar>& problem, const Velocity& velocity,
                                const Options& options, const Impulse& impulse,
                                const Scalar& product) noexcept {
    is_factored_ = false;
    tolerance_ = options.tolerance;
    impulse_ = impulse;
    return slopes_.linearize(
        problem, system_, velocity, impulse_,
        {.tolerance = options.boundary_tolerance, .product = product, .law = options.law});
  }
  /// Factors. Returns false if a pivot fails.
  [[nodiscard]] bool factor(const ContactProblem<Scalar>& problem) noexcept;
  /// As CoulombDerivative::index().
  [[nodiscard]] int index() noexcept;

  [[nodiscard]] const BlockSlopes<Scalar>& slopes() const noexcept { return slopes_; }
  [[nodiscard]] Index boundary_count() const noexcept { return Index(slopes_.one_sided().size()); }

  // --- the functions that LinearizedAnswer calls ---

  template <typename View>
  [[nodiscard]] typename View::Rows impulse(const View& view) const noexcept {
    return view.read(impulse_);
  }
  template <typename View>
  [[nodiscard]] static bool is_soft(const View& view) noexcept {
    return !view.law().rigid;
  }
  template <typename View>
  void push(const View& view, const BlockData<typename View::Rows>& change,
            VectorX<Scalar>& momentum) noexcept;
  template <typename View>
  [[nodiscard]] typename View::Rows impulse_change(const View& view,
                                                   const VectorX<Scalar>&) const noexcept {
    typename View::Rows result = View::Rows::Zero();
    visit(view, [&](const auto& block, const auto&) {
      const auto own = read_parts(block, parts_.data());
      for (int r = 0; r < view.rows(); ++r) result(r) = own(block.place(r));
    });
    return result;
  }
  void clear_gradient() noexcept { std::fill(right_.begin(), right_.end(), Scalar(0)); }
  template <typename View, typename Momentum>
  void set_gradient(const View& view, const typename View::Rows& by_impulse, Momentum&) noexcept {
    visit(view, [&](const auto& block, const auto&) {
      for (int r = 0; r < view.rows(); ++r) {
        right_[3 * block.first_part + block.place(r)] = by_impulse(r);
      }
    });
  }
  template <typename View, typename Lambda>
  [[nodiscard]] BlockData<typename View::Rows> pull(const View& view, const Lambda&) const noexcept;

  [[nodiscard]] const ContactGraph& graph() const noexcept { return system_.rows().graph(); }
  [[nodiscard]] const Index* starts() const noexcept { return system_.rows().starts(); }
  [[nodiscard]] Scalar* given() noexcept { return given_.data(); }
  [[nodiscard]] const Scalar* solution() const noexcept { return sum_.data(); }
  /// Solves one of the systems. b is overwritten.
  /// @return  see CoulombDerivative::push_forward().
  template <bool Transposed>
  SolveReport<Scalar> solve() noexcept;

 private:
  using Tuning = LinearizedLawTuning;

  /// Calls visit(block of parts, slope) of a block of the problem.
  template <typename View, typename Visit>
  void visit(const View& view, Visit&& visit) const noexcept {
    slopes_.visit(system_, slopes_.place(view.number()), visit);
  }
  template <typename Visit>
  void for_each(Index island, Visit&& visit) const noexcept {
    const BlockIsland& own = system_.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) slopes_.visit(system_, i, visit);
  }
  template <bool Transposed>
  void solve_island(Index island, SolveReport<Scalar>& report) noexcept;
  /// Whether a and b of an island are at most the rounding of the solution.
  [[nodiscard]] bool is_rounding(Index island) const noexcept;
  template <bool Transposed>
  [[nodiscard]] Scalar correct(Index island, Scalar& total) noexcept;
  template <bool Transposed>
  void write_rest(Index island) noexcept;

  BodySystem<Scalar> system_;
  BlockSlopes<Scalar> slopes_;
  Growing<VectorX<Scalar>> impulse_;
  Scalar tolerance_{0};
  bool is_factored_ = false;
  // Vectors: a, its residual, the unknown dw or y, and its correction.
  Sequence<Scalar> given_, rest_, sum_, step_;
  // Parts: the same of b and dγ or z; Ĵ times the unknown and times its correction.
  Sequence<Scalar> right_, left_, parts_, added_, moved_, moving_;
  Sequence<char> direct_;  ///< per island, whether ClosedImpulses solves it
  Sequence<char> even_;    ///< of the others, whether one right side is enough
  Sequence<Scalar> lost_;  ///< error of an answer by one right side, relative [-]
  ClosedImpulses<Scalar> closed_;
};

// --- implementation ---

template <RealScalar Scalar>
void LinearizedLaw<Scalar>::prepare(const ContactProblem<Scalar>& problem) {
  impulse_.grow(problem.impulse_count());
  system_.take(problem, false, false);
  slopes_.take(problem, system_);
  closed_.take(system_);
  lost_.resize(system_.islands().size());
  for (Sequence<char>* flags : {&direct_, &even_}) flags->resize(system_.islands().size());
  fit<Scalar>(system_.rows().vector_size(), {&given_, &rest_, &sum_, &step_});
  fit<Scalar>(3 * system_.part_count(), {&right_, &left_, &parts_, &added_, &moved_, &moving_});
}

template <RealScalar Scalar>
template <typename View>
void LinearizedLaw<Scalar>::push(const View& view, const BlockData<typename View::Rows>& change,
                                 VectorX<Scalar>&) noexcept {
  visit(view, [&](const auto& block, const auto& slope) {
    using Numbers = std::decay_t<decltype(slope.by_lower)>;
    Numbers moved, lower, upper;
    for (int r = 0; r < view.rows(); ++r) {
      const int place = block.place(r);
      moved(place) = change.excess(r);
      if constexpr (View::capacity == 3) {
        upper(place) = r < 2 ? change.friction : Scalar(0);
      } else {
        lower(place) = change.lower(r);
        upper(place) = change.upper(r);
      }
    }
    write_parts(
        block, slope.by_velocity * moved + slope.by_upper * upper + products(slope.by_lower, lower),
        right_.data());
  });
}

template <RealScalar Scalar>
template <typename View, typename Lambda>
auto LinearizedLaw<Scalar>::pull(const View& view, const Lambda&) const noexcept
    -> BlockData<typename View::Rows> {
  BlockData<typename View::Rows> result;
  visit(view, [&](const auto& block, const auto& slope) {
    using Numbers = std::decay_t<decltype(slope.by_lower)>;
    const Numbers z = read_parts(block, parts_.data());
    const Numbers by_excess = transposed_times(slope.by_velocity, z),
                  by_upper = transposed_times(slope.by_upper, z);
    for (int r = 0; r < view.rows(); ++r) {
      const int place = block.place(r);
      result.excess(r) = by_excess(place);
      result.lower(r) = slope.by_lower(place) * z(place);
      result.upper(r) = by_upper(place);
    }
  });
  if constexpr (View::capacity == 3) {
    result.friction = result.upper(0) + result.upper(1);
    result.lower.setZero(), result.upper.setZero();
  }
  return result;
}

template <RealScalar Scalar>
bool LinearizedLaw<Scalar>::factor(const ContactProblem<Scalar>&) noexcept {
  using std::sqrt;
  const Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  const Scalar most = Scalar(Tuning::even_pivots) / sqrt(sqrt(rounding));
  bool regular = true;
  const auto even = [&](Index island, const Scalar& ratio) {  // whether one right side is enough
    lost_[island] = rounding * ratio;
    return ratio <= most && lost_[island] <= tolerance_;
  };
  for (Index i = 0; i < system_.islands().size(); ++i) {
    direct_[i] = even(i, closed_.factor(system_, slopes_, i));
    if (direct_[i]) continue;
    regular = system_.factor(i, slopes_.gains()) && regular;
    bool softened = false;
    for_each(i, [&](const auto&, const auto& slope) { softened = softened || slope.softened; });
    even_[i] = !softened && even(i, system_.pivot_ratio(i));
  }
  return is_factored_ = regular;
}

/// The blocks' own P + Q (R + s) have positive determinants in every region of the law, so the sign
/// is that of I + Ĵᵀ N Ĵ.
template <RealScalar Scalar>
int LinearizedLaw<Scalar>::index() noexcept {
  if (!is_factored_ || boundary_count() > 0) return 0;
  system_.follow();  // this object may have been moved
  int sign = 1;
  for (Index i = 0; i < system_.islands().size(); ++i) {
    if (direct_[i] && !system_.factor(i, slopes_.gains())) return 0;
    sign *= system_.determinant_sign(i);
  }
  return sign;
}

/// Writes the residuals of a and b.
template <RealScalar Scalar>
template <bool Transposed>
void LinearizedLaw<Scalar>::write_rest(Index island) noexcept {
  const BodyRows<Scalar>& rows = system_.rows();
  const Index begin = rows.vector_start(island), end = rows.vector_end(island);
  for_each(island, [&](const auto& block, const auto& slope) {
    const auto unknown = read_parts(block, parts_.data()), moved = read_parts(block, moved_.data());
    const auto right = read_parts(block, right_.data());
    if constexpr (Transposed) {
      write_parts(block, right - transposed_times(slope.by_impulse, unknown) + moved, left_.data());
      write_parts(block, -transposed_times(slope.by_velocity, unknown), added_.data());
    } else {
      write_parts(block, right - slope.by_impulse * unknown - slope.by_velocity * moved,
                  left_.data());
      write_parts(block, unknown, added_.data());
    }
  });
  rows.write_momentum(island, added_.data(), rest_.data());
  for (Index k = begin; k < end; ++k) rest_[k] += given_[k] - sum_[k];
}

template <RealScalar Scalar>
bool LinearizedLaw<Scalar>::is_rounding(Index island) const noexcept {
  using elementary::pow;
  const BlockIsland& own = system_.islands()[island];
  Scalar change(0), solution(0);
  for (Index k = system_.rows().vector_start(island); k < system_.rows().vector_end(island); ++k) {
    change += given_[k] * given_[k];
  }
  for (Index i = own.first_block; i < own.block_end; ++i) {
    solution += slopes_.energy(i);
    slopes_.visit(system_, i, [&](const auto& block, const auto&) {
      change += block.inverse_mass * read_parts(block, right_.data()).squared_norm();
    });
  }
  const Scalar rounded =
      pow(std::numeric_limits<Scalar>::epsilon(), Scalar(Tuning::rounded_change));
  return change <= rounded * rounded * solution;
}

/// Adds the solution of the softened system for the residuals to the unknowns.
/// @param total  written: norm of the unknowns [√J or as a and b].
/// @return  norm of the correction.
template <RealScalar Scalar>
template <bool Transposed>
Scalar LinearizedLaw<Scalar>::correct(Index island, Scalar& total) noexcept {
  using std::sqrt;
  const BodyRows<Scalar>& rows = system_.rows();
  const Index begin = rows.vector_start(island), end = rows.vector_end(island);
  for_each(island, [&](const auto& block, const auto& slope) {
    const auto left = read_parts(block, left_.data());
    if constexpr (Transposed) {
      write_parts(block, -transposed_times(slope.gain, left), added_.data());
    } else {
      write_parts(block, slope.inverse * left, added_.data());
    }
  });
  rows.write_momentum(island, added_.data(), step_.data());
  for (Index k = begin; k < end; ++k) step_[k] += rest_[k];
  system_.template apply_inverse<Transposed>(island, step_.data());
  rows.write_velocities(island, step_.data(), moving_.data());
  Scalar change(0), all(0);
  for (Index k = begin; k < end; ++k) {
    sum_[k] += step_[k];
    change += step_[k] * step_[k];
    all += sum_[k] * sum_[k];
  }
  for_each(island, [&](const auto& block, const auto& slope) {
    const auto moving = read_parts(block, moving_.data());
    auto unknown = read_parts(block, parts_.data());
    std::decay_t<decltype(unknown)> step;
    if constexpr (Transposed) {
      step = transposed_times(slope.inverse, read_parts(block, left_.data()) + moving);
    } else {
      step = read_parts(block, added_.data()) - slope.gain * moving;
    }
    unknown += step;
    write_parts(block, unknown, parts_.data());
    write_parts(block, read_parts(block, moved_.data()) + moving, moved_.data());
    if constexpr (Transposed) {  // as impulses
      step = transposed_times(slope.by_velocity, step);
      unknown = transposed_times(slope.by_velocity, unknown);
    }
    change += block.inverse_mass * step.squared_norm();
    all += block.inverse_mass * unknown.squared_norm();
  });
  total = sqrt(all);
  return sqrt(change);
}

template <RealScalar Scalar>
template <bool Transposed>
void LinearizedLaw<Scalar>::solve_island(Index island, SolveReport<Scalar>& report) noexcept {
  const Scalar enough = Scalar(Tuning::enough) * std::numeric_limits<Scalar>::epsilon();
  const BlockIsland& own = system_.islands()[island];
  const Index first = 3 * own.first_part, count = 3 * (own.part_end - own.first_part);
  const Index begin = system_.rows().vector_start(island);
  const Index size = system_.rows().vector_end(island) - begin;
  const auto start = [&] {
    for (Sequence<Scalar>* numbers : {&parts_, &moved_}) {
      std::fill_n(numbers->data() + first, count, Scalar(0));
    }
    std::fill_n(sum_.data() + begin, size, Scalar(0));
    std::copy_n(given_.data() + begin, size, rest_.data() + begin);
    std::copy_n(right_.data() + first, count, left_.data() + first);
  };
  // Returns the expected error of the answer, relative to it.
  const auto refine = [&](int most) {
    start();
    Scalar last(1), expected(1);
    for (int k = 0; k < most; ++k) {
      if (k > 0) write_rest<Transposed>(island);
      Scalar total(0);
      const Scalar change = correct<Transposed>(island, total);
      ++report.iterations;
      if (!(total > Scalar(0))) return Scalar(0);
      if (even_[island]) return lost_[island];
      const Scalar now = change / total;
      expected = now * (std::min)(Scalar(1), now / last);
      last = now;
      if (k > 0 && expected <= enough) break;
    }
    return expected;
  };
  const Scalar left = refine(Tuning::corrections);
  const bool counts = left <= enough || Transposed || !is_rounding(island);
  if (left > Scalar(Tuning::contradiction)) {
    write_rest<Transposed>(island);
    for (Index p = first; p < first + count; ++p) right_[p] -= left_[p];
    static_cast<void>(refine(Tuning::corrections));
  }
  if (counts) report.residual = (std::max)(report.residual, left);
}

template <RealScalar Scalar>
template <bool Transposed>
SolveReport<Scalar> LinearizedLaw<Scalar>::solve() noexcept {
  system_.follow();  // this object may have been moved
  SolveReport<Scalar> report;
  report.residual_target = tolerance_;
  const typename ClosedImpulses<Scalar>::Numbers numbers{given_.data(), right_.data(), sum_.data(),
                                                         parts_.data()};
  for (Index i = 0; i < system_.islands().size(); ++i) {
    if (!direct_[i]) {
      solve_island<Transposed>(i, report);
      continue;
    }
    if constexpr (Transposed) {
      closed_.solve_transposed(system_, slopes_, i, numbers);
    } else {
      closed_.solve(system_, slopes_, i, numbers);
    }
    report.iterations += 1;
    report.residual = (std::max)(report.residual, lost_[i]);
  }
  report.status = report.residual <= tolerance_ ? SolveStatus::converged : SolveStatus::no_progress;
  return report;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
