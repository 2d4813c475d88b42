// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_state.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Measured constants of LaneSweep. A Newton step costs a group of lanes as much as about 15
/// passes. Sliding bricks need 2 steps instead of 8, and 3 instead of 11 under Coulomb's law.
struct LaneSweepTuning {
  /// Passes over all contacts.
  static constexpr int convex_passes = 6, coulomb_passes = 10;
};

/// Sweeps over the contacts of a single body in each lane, starting with zero impulse. Each contact
/// in turn gets the impulse that would solve the problem of this contact alone, with its block of J
/// A⁻¹ Jᵀ replaced by its largest diagonal entry w times I. Coordinates are x = Lᵀ v, with A = L
/// Lᵀ. A view of the cells.
/// @see  sweep_small_contacts(), which does the same for one problem.
template <typename Number, int Stride>
class LaneSweep {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneSweep(const State& state) noexcept : state_(state) {}

  /// Moves these lanes to the result of the sweeps, if the measure is smaller there. The iterates
  /// are evaluated before and after.
  /// @pre  the layout has memory for sweeps, and the factor of A is in the cells.
  /// @param start     a second vector with the iterates.
  /// @param evaluate  evaluates the iterates.
  /// @param measure   the number for each lane that must decrease.
  template <typename Evaluate, typename Measure>
  CAROM_DEVICE_CALL void improve(FrictionLaw law, const Mask& lanes, int start,
                                 const Evaluate& evaluate, const Measure& measure) noexcept {
    const Number here = measure();
    run(law);
    state_.copy(lanes, Names::scratch, Names::velocity);
    evaluate();
    const Mask lost = lanes & (!(measure() < here));
    if (!any(lost)) return;
    state_.copy(lost, start, Names::velocity);
    evaluate();
  }

 private:
  /// Writes the velocity v* + A⁻¹Jᵀγ of the sweeps' impulses to the scratch vector. Impulses are
  /// overwritten.
  CAROM_DEVICE_CALL void run(FrictionLaw law) const noexcept;

  /// Numbers of a contact.
  enum NumberName { own, inverse_tangent, inverse_normal, inverse_sliding, opening, number_count };
  static_assert(int(Names::velocity_step) + int(number_count) <= int(Names::predicted));

  /// L⁻¹Jᵀ of a contact.
  [[nodiscard]] CAROM_DEVICE Cells columns(int k) const noexcept {
    return state_.cells(state_.layout().sweep_at + 3 * state_.layout().velocities * k);
  }
  /// They are at the place of the steps of a line search.
  [[nodiscard]] CAROM_DEVICE Cells numbers(int k) const noexcept {
    return state_.contact(k).from(Names::velocity_step);
  }
  CAROM_DEVICE void begin(int k) const noexcept;
  CAROM_DEVICE void visit(int k, FrictionLaw law) const noexcept;
  /// x ← x + L⁻¹Jᵀ γ of a contact.
  CAROM_DEVICE void push(int k, const LaneImpulse<Number>& impulse) const noexcept {
    const Cells rows = columns(k), x = state_.vector(Names::scratch);
    for (int i = 0; i < state_.layout().velocities; ++i) {
      x.add(i,
            rows[3 * i] * impulse.t1 + rows[3 * i + 1] * impulse.t2 + rows[3 * i + 2] * impulse.n);
    }
  }

  const State& state_;
};

// --- implementation ---

/// Computes the numbers that do not change between sweeps.
template <typename Number, int Stride>
CAROM_DEVICE void LaneSweep<Number, Stride>::begin(int k) const noexcept {
  const LaneLayout& layout = state_.layout();
  const Number zero(Scalar(0));
  const Cells x = columns(k), factor = state_.cells(layout.mass_factor_at);
  for (int i = 0; i < 3 * layout.velocities; ++i) x.set(i, zero);
  const auto take = [&](const LaneSide& side) {
    const Cells j = state_.jacobian(side), to = x.from(3 * side.column);
    for (int i = 0; i < 3 * side.count; ++i) to.set(i, j[i]);
  };
  take(layout.sides[k].low);
  take(layout.sides[k].high);
  Number square[3] = {zero, zero, zero};
  for (int i = 0; i < layout.velocities; ++i) {
    const Cells row = factor.from(layout.mass_rows.place[i]);
    Number a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
    for (int m = layout.mass_rows.first_column[i]; m < i; ++m) {
      const Number entry = row[m];
      a -= entry * x[3 * m];
      b -= entry * x[3 * m + 1];
      c -= entry * x[3 * m + 2];
    }
    const Number inverse = row[i];
    a *= inverse;
    b *= inverse;
    c *= inverse;
    x.set(3 * i, a);
    x.set(3 * i + 1, b);
    x.set(3 * i + 2, c);
    square[0] += a * a;
    square[1] += b * b;
    square[2] += c * c;
  }
  const Number largest = larger(square[0], larger(square[1], square[2]));
  const Cells c = state_.contact(k), to = numbers(k);
  to.set(own, largest);
  write_weights_of_lanes(c[Names::friction], c[Names::tangent] + largest,
                         c[Names::normal] + largest, to.from(inverse_tangent));
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneSweep<Number, Stride>::visit(int k, FrictionLaw law) const noexcept {
  const Cells c = state_.contact(k), given = numbers(k);
  const Cells rows = columns(k), x = state_.vector(Names::scratch);
  LaneImpulse<Number> u{Number(Scalar(0)), Number(Scalar(0)), Number(Scalar(0))};
  for (int i = 0; i < state_.layout().velocities; ++i) {
    const Number xi = x[i];
    u.t1 += rows[3 * i] * xi;
    u.t2 += rows[3 * i + 1] * xi;
    u.n += rows[3 * i + 2] * xi;
  }
  const LaneImpulse<Number> y{c[Names::impulse], c[Names::impulse + 1], c[Names::impulse + 2]};
  const Number w = given[own];
  const LaneTrial<Number> trial{c[Names::friction],
                                c[Names::tangent] + w,
                                c[Names::normal] + w,
                                given[inverse_tangent],
                                given[inverse_normal],
                                given[inverse_sliding],
                                given[opening],
                                (c[Names::bias] - u.t1 + w * y.t1) * given[inverse_tangent],
                                (c[Names::bias + 1] - u.t2 + w * y.t2) * given[inverse_tangent],
                                (c[Names::bias + 2] - u.n + w * y.n) * given[inverse_normal]};
  const LaneImpulse<Number> next =
      law == FrictionLaw::coulomb ? coulomb_lanes(trial) : project_lanes(trial);
  push(k, {next.t1 - y.t1, next.t2 - y.t2, next.n - y.n});
  c.set(Names::impulse, next.t1);
  c.set(Names::impulse + 1, next.t2);
  c.set(Names::impulse + 2, next.n);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneSweep<Number, Stride>::run(FrictionLaw law) const noexcept {
  const LaneLayout& layout = state_.layout();
  const Cells x = state_.vector(Names::scratch), free = state_.vector(Names::free);
  const Cells factor = state_.cells(layout.mass_factor_at);
  multiply_lanes_transposed(layout.mass_rows, factor, free, x);
  for (int k = 0; k < layout.contacts; ++k) {
    begin(k);
    const Cells c = state_.contact(k);
    for (int r = 0; r < 3; ++r) c.set(Names::impulse + r, Number(Scalar(0)));
  }
  const int passes = law == FrictionLaw::coulomb ? LaneSweepTuning::coulomb_passes
                                                 : LaneSweepTuning::convex_passes;
  for (int pass = 0; pass < passes; ++pass) {
    for (int k = 0; k < layout.contacts; ++k) visit(k, law);
  }
  solve_lanes_transposed(layout.mass_rows, factor, x);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
