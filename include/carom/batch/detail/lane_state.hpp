// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/batch/detail/lane_blocks.hpp"
#include "carom/batch/detail/lane_friction.hpp"
#include "carom/batch/detail/lane_map.hpp"
#include "carom/batch/detail/lane_matrices.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A sum with about twice the digits of its type: the rounding errors of the additions are summed
/// separately.
/// @cite  dekker1971floating for the products, ogita2005accurate for the sums.
template <typename Number>
struct LaneSum {
  using Scalar = typename Number::scalar_type;

  Number high, low;

  CAROM_DEVICE void add(const Number& x) noexcept {
    const Number sum = high + x, taken = sum - high;
    low += (high - (sum - taken)) + (x - taken);
    high = sum;
  }
  CAROM_DEVICE void add_product(const Number& a, const Number& b) noexcept {
    const Number product = a * b;
    const Number a_high = upper_digits(a), b_high = upper_digits(b);
    const Number a_low = a - a_high, b_low = b - b_high;
    low += ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    add(product);
  }

 private:
  /// The first half of the digits of a number.
  [[nodiscard]] CAROM_DEVICE static Number upper_digits(const Number& x) noexcept {
    constexpr int low_digits = (std::numeric_limits<Scalar>::digits + 1) / 2;
    const Number scaled = x * Number(Scalar((1LL << low_digits) + 1));
    return scaled - (scaled - x);
  }
};

/// A (v − v*) − Jᵀγ of lanes in twice the digits of their type. A sum in single digits has the
/// rounding error of each momentum, which A⁻¹ amplifies for the light parts of a body. A view of
/// the cells.
template <typename Number, int Stride>
class LaneBalance {
 public:
  using Cells = LaneCells<Number, Stride>;

  /// @param high, low  cells for the sums of each velocity.
  CAROM_DEVICE LaneBalance(const Cells& high, const Cells& low, int count) noexcept
      : high_(high), low_(low) {
    for (int i = 0; i < count; ++i) {
      high_.set(i, Number(0));
      low_.set(i, Number(0));
    }
  }
  /// Adds A (v − v*), where `matrix` has the lower half of A.
  CAROM_DEVICE void add_momentum(const LaneRows& rows, const Cells& matrix, const Cells& velocity,
                                 const Cells& free) const noexcept {
    const auto change = [&](int i) {
      LaneSum<Number> sum{velocity[i], Number(0)};
      sum.add(-free[i]);
      return sum;
    };
    for (int i = 0; i < rows.count; ++i) {
      const Cells row = matrix.from(rows.place[i]);
      const LaneSum<Number> own = change(i);
      for (int k = rows.first_column[i]; k < i; ++k) {
        add_product(i, row[k], change(k));
        add_product(k, row[k], own);
      }
      add_product(i, row[i], own);
    }
  }
  /// Subtracts Jᵀγ of a side.
  /// @param jacobian  of a side, `rows` numbers for each column.
  CAROM_DEVICE void take_push(const LaneSide& side, int rows, const Cells& jacobian,
                              const Cells& impulse) const noexcept {
    for (int c = 0; c < side.count; ++c) {
      for (int r = 0; r < rows; ++r) {
        add_product(side.column + c, -jacobian[rows * c + r], {impulse[r], Number(0)});
      }
    }
  }
  [[nodiscard]] CAROM_DEVICE Number sum(int i) const noexcept { return high_[i] + low_[i]; }

 private:
  CAROM_DEVICE void add_product(int i, const Number& a, const LaneSum<Number>& b) const noexcept {
    LaneSum<Number> sum{high_[i], low_[i]};
    sum.add_product(a, b.high);
    high_.set(i, sum.high);
    low_.set(i, sum.low + a * b.low);
  }

  Cells high_, low_;
};

/// The cost ℓ and its derivatives at the iterate of each lane. A view of the cells.
template <typename Number, int Stride>
class LaneState {
 public:
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = LaneCells<Number, Stride>;
  using Names = LaneLayout;

  using Blocks = LaneBlocks<Number, Stride>;
  using Block = LaneBlockCells<Cells>;

  CAROM_DEVICE LaneState(const LaneLayout& layout, const Cells& cells) noexcept
      : layout_(layout), cells_(cells) {}

  /// Writes the numbers that do not depend on the iterate: the factor of A, ‖v*‖_A. False in lanes
  /// whose A is not positive definite.
  [[nodiscard]] CAROM_DEVICE_CALL Mask begin() noexcept;
  /// Writes the numbers that depend on the friction and the R of a contact.
  CAROM_DEVICE void take_weights(int k) const noexcept {
    const Cells c = contact(k);
    write_weights_of_lanes(c[Names::friction], c[Names::tangent], c[Names::normal],
                           c.from(Names::inverse_tangent));
  }
  /// Changes to a moving frame: velocities become relative to the last evaluated iterates in lanes
  /// whose residual is near √ε_m times its scale and whose frame is still at rest. Then evaluates
  /// again. Contact laws depend on differences of velocities only. In the moving frame the iterates
  /// are small numbers, and so are their roundings, which 1/R amplifies in the trial impulses.
  CAROM_DEVICE_CALL void move_frames(const Mask& lanes) noexcept;
  /// Changes to the frames in the cells again.
  CAROM_DEVICE_CALL void restore_frames() noexcept;
  /// Lanes whose frame moves.
  [[nodiscard]] CAROM_DEVICE const Mask& has_moving_frame() const noexcept { return moving_; }
  /// Writes all numbers that depend on the iterate.
  CAROM_DEVICE_CALL void evaluate() noexcept;
  /// ℓ at the last evaluated iterate.
  [[nodiscard]] CAROM_DEVICE_CALL Number cost() const noexcept;
  /// ℓ at rest and at the free velocity.
  [[nodiscard]] CAROM_DEVICE_CALL Number cost_at_rest() const noexcept;
  [[nodiscard]] CAROM_DEVICE_CALL Number cost_when_free() const noexcept;

  Number residual{}, free_squared{}, pushed_squared{};

  /// Selects the lanes with Coulomb's law for the next evaluations. The others use the convex law
  /// with v̂ₙ reduced by De Saxcé's terms of the contacts.
  CAROM_DEVICE void set_law(const Mask& coulomb) noexcept {
    lifted_ = true;
    coulomb_ = coulomb;
  }

  /// Moves De Saxcé's terms a share of the way to those of the iterates.
  CAROM_DEVICE void renew_lifts(const Mask& lanes, const Number& share) const noexcept;

  [[nodiscard]] CAROM_DEVICE Number scale() const noexcept {
    return sqrt((free_squared + pushed_squared) * Number(Scalar(0.5)));
  }
  [[nodiscard]] CAROM_DEVICE const LaneLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] CAROM_DEVICE Cells vector(int name) const noexcept {
    return cells_.from(layout_.vector_at(name));
  }
  [[nodiscard]] CAROM_DEVICE Cells contact(int k) const noexcept {
    return cells_.from(layout_.contact_at(k));
  }
  [[nodiscard]] CAROM_DEVICE Cells cells(int at) const noexcept { return cells_.from(at); }
  /// The blocks that are not friction contacts.
  [[nodiscard]] CAROM_DEVICE Blocks blocks() const noexcept { return {layout_, cells_}; }
  /// Calls visit(block) for all blocks, including friction contacts.
  template <typename Visit>
  CAROM_DEVICE void for_each_block(const Visit& visit) const noexcept {
    Block::for_each(layout_, cells_, visit);
  }
  /// The same for the rigid ones.
  template <typename Visit>
  CAROM_DEVICE void for_each_rigid_block(const Visit& visit) const noexcept {
    if (!layout_.rigid) return;
    for_each_block([&](const Block& block) {
      if (block.rigid) visit(block);
    });
  }
  [[nodiscard]] CAROM_DEVICE Cells jacobian(const LaneSide& side) const noexcept {
    return cells_.from(layout_.jacobian_at + side.jacobian);
  }
  /// J x of a contact.
  CAROM_DEVICE LaneImpulse<Number> rows_times(int k, const Cells& x) const noexcept;
  /// Numbers of a contact with the trial impulse at y + α Δy.
  [[nodiscard]] CAROM_DEVICE LaneTrial<Number> at_trial(int k) const noexcept {
    const Cells c = contact(k);
    return {c[Names::friction],        c[Names::tangent],        c[Names::normal],
            c[Names::inverse_tangent], c[Names::inverse_normal], c[Names::inverse_sliding],
            c[Names::opening],         c[Names::trial],          c[Names::trial + 1],
            c[Names::trial + 2]};
  }
  [[nodiscard]] CAROM_DEVICE Number dot(int a, int b) const noexcept {
    const Cells x = vector(a), y = vector(b);
    Number sum(Scalar(0));
    for (int i = 0; i < layout_.velocities; ++i) sum += x[i] * y[i];
    return sum;
  }
  /// Copies a vector in these lanes.
  CAROM_DEVICE void copy(const Mask& lanes, int from, int to) const noexcept {
    const Cells source = vector(from), target = vector(to);
    for (int i = 0; i < layout_.velocities; ++i) target.set(i, select(lanes, source[i], target[i]));
  }
  /// Lanes in which the residual is at most this multiple of its scale.
  [[nodiscard]] CAROM_DEVICE Mask meets(const Number& tolerance) const noexcept {
    const Number size = scale(), largest((std::numeric_limits<Scalar>::max)());
    return (residual <= largest) & (size <= largest) & (residual <= tolerance * size);
  }
  /// Lanes in which the numbers of the iterate are in range.
  [[nodiscard]] CAROM_DEVICE Mask is_finite() const noexcept {
    return residual <= Number((std::numeric_limits<Scalar>::max)());
  }

 private:
  /// Σ R γ² with γ = P((v̂ − u)/R) for a given u of each contact.
  template <typename Velocity>
  [[nodiscard]] CAROM_DEVICE Number stored(const Velocity& velocity) const noexcept;
  [[nodiscard]] CAROM_DEVICE Number squared_by_mass(const Cells& momentum) const noexcept;

  [[nodiscard]] CAROM_DEVICE LaneImpulse<Number> choose(
      const LaneImpulse<Number>& coulomb, const LaneImpulse<Number>& convex) const noexcept {
    return {select(coulomb_, coulomb.t1, convex.t1), select(coulomb_, coulomb.t2, convex.t2),
            select(coulomb_, coulomb.n, convex.n)};
  }

  /// Subtracts the velocity of the frame from v*, v̂ and J v.
  CAROM_DEVICE void shift(const Mask& lanes) noexcept;
  CAROM_DEVICE_CALL void balance_exactly() noexcept;

  LaneLayout layout_;
  Cells cells_;
  Mask moving_ = everywhere<Number>(false);
  bool lifted_ = false;
  Mask coulomb_ = everywhere<Number>(false);
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE LaneImpulse<Number> LaneState<Number, Stride>::rows_times(
    int k, const Cells& x) const noexcept {
  LaneImpulse<Number> sum{Number(Scalar(0)), Number(Scalar(0)), Number(Scalar(0))};
  const auto add = [&](const LaneSide& side) {
    const Cells j = jacobian(side), columns = x.from(side.column);
    for (int c = 0; c < side.count; ++c) {
      const Number xc = columns[c];
      sum.t1 += j[3 * c] * xc;
      sum.t2 += j[3 * c + 1] * xc;
      sum.n += j[3 * c + 2] * xc;
    }
  };
  add(layout_.sides[k].low);
  add(layout_.sides[k].high);
  return sum;
}

/// ‖p‖²_{A⁻¹}; the momentum is overwritten.
template <typename Number, int Stride>
CAROM_DEVICE Number
LaneState<Number, Stride>::squared_by_mass(const Cells& momentum) const noexcept {
  solve_lanes(layout_.mass_rows, cells(layout_.mass_factor_at), momentum);
  Number sum(Scalar(0));
  for (int i = 0; i < layout_.velocities; ++i) sum += momentum[i] * momentum[i];
  return sum;
}

template <typename Number, int Stride>
CAROM_DEVICE typename Number::Mask LaneState<Number, Stride>::begin() noexcept {
  const Cells mass = cells(layout_.mass_at), factor = cells(layout_.mass_factor_at);
  for (int i = 0; i < layout_.mass_factor_at - layout_.mass_at; ++i) factor.set(i, mass[i]);
  const Mask definite = factor_lanes(layout_.mass_rows, factor);
  for (int k = 0; k < layout_.contacts; ++k) take_weights(k);
  blocks().begin();
  multiply_lanes(layout_.mass_rows, mass, vector(Names::free), vector(Names::momentum));
  free_squared = dot(Names::free, Names::momentum);
  return definite;
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneState<Number, Stride>::shift(const Mask& lanes) noexcept {
  const Cells frame = vector(Names::frame), free = vector(Names::free);
  for (int i = 0; i < layout_.velocities; ++i) {
    free.set(i, select(lanes, free[i] - frame[i], free[i]));
  }
  const Number zero(0);
  for_each_block([&](const Block& block) {
    Number u[6] = {zero, zero, zero, zero, zero, zero};
    block.add_product(frame, u);
    const auto lower = [&](const Cells& at, int r) {
      at.set(r, select(lanes, at[r] - u[r], at[r]));
    };
    for (int r = 0; r < block.rows; ++r) {
      lower(block.bias, r);
      lower(block.contact_velocity, r);
    }
  });
  moving_ = moving_ | lanes;
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneState<Number, Stride>::restore_frames() noexcept {
  const Cells frame = vector(Names::frame);
  Number speed(Scalar(0));
  for (int i = 0; i < layout_.velocities; ++i) speed += abs(frame[i]);
  shift(speed > Number(Scalar(0)));
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneState<Number, Stride>::move_frames(const Mask& lanes) noexcept {
  const Mask near_floor =
      residual <= Number(std::sqrt(std::numeric_limits<Scalar>::epsilon())) * scale();
  const Mask begins = lanes & near_floor & (!moving_);
  if (!any(begins)) return;
  const Cells frame = vector(Names::frame);
  copy(begins, Names::velocity, Names::frame);
  shift(begins);
  const auto lower = [&](int name) {
    const Cells kept = vector(name);
    for (int i = 0; i < layout_.velocities; ++i) {
      kept.set(i, select(begins, kept[i] - frame[i], kept[i]));
    }
  };
  lower(Names::velocity);
  lower(Names::best);
  if (layout_.is_coulomb) lower(Names::kept);
  evaluate();
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneState<Number, Stride>::evaluate() noexcept {
  const int n = layout_.velocities;
  const Cells v = vector(Names::velocity), pushed = vector(Names::scratch);
  const Cells change = vector(Names::direction), gradient = vector(Names::gradient);
  for (int i = 0; i < n; ++i) pushed.set(i, Number(Scalar(0)));
  for (int k = 0; k < layout_.contacts; ++k) {
    const Cells c = contact(k);
    const LaneImpulse<Number> u = rows_times(k, v);
    c.set(Names::contact_velocity, u.t1);
    c.set(Names::contact_velocity + 1, u.t2);
    c.set(Names::contact_velocity + 2, u.n);
    const Number it = c[Names::inverse_tangent], in = c[Names::inverse_normal];
    c.set(Names::trial, (c[Names::bias] - u.t1) * it);
    c.set(Names::trial + 1, (c[Names::bias + 1] - u.t2) * it);
    Number normal_bias = c[Names::bias + 2];
    if (lifted_) normal_bias -= select(coulomb_, Number(Scalar(0)), c[Names::lift]);
    c.set(Names::trial + 2, (normal_bias - u.n) * in);
    if (layout_.rigid) {
      for (int r = 0; r < 3; ++r) c.add(Names::trial + r, c[Names::multiplier + r]);
    }
    LaneImpulse<Number> y = project_lanes(at_trial(k));
    if (lifted_) y = choose(coulomb_lanes(at_trial(k)), y);
    c.set(Names::impulse, y.t1);
    c.set(Names::impulse + 1, y.t2);
    c.set(Names::impulse + 2, y.n);
    const auto push = [&](const LaneSide& side) {
      const Cells j = jacobian(side), columns = pushed.from(side.column);
      for (int i = 0; i < side.count; ++i) {
        columns.add(i, j[3 * i] * y.t1 + j[3 * i + 1] * y.t2 + j[3 * i + 2] * y.n);
      }
    };
    const Number zero(Scalar(0));
    if (!any(!(abs(y.t1) + abs(y.t2) + abs(y.n) <= zero)))
      continue;  // the addition of zeros changes nothing
    push(layout_.sides[k].low);
    push(layout_.sides[k].high);
  }
  blocks().evaluate(v, pushed, coulomb_);
  const Cells free = vector(Names::free);
  for (int i = 0; i < n; ++i) change.set(i, v[i] - free[i]);
  const Cells momentum = vector(Names::momentum);
  multiply_lanes(layout_.mass_rows, cells(layout_.mass_at), change, momentum);
  Number moved(Scalar(0));
  for (int i = 0; i < n; ++i) {
    moved += change[i] * momentum[i];
    const Number g = momentum[i] - pushed[i];
    gradient.set(i, g);
  }
  if (any(moving_)) balance_exactly();
  for (int i = 0; i < n; ++i) change.set(i, gradient[i]);
  residual = sqrt(squared_by_mass(change));
  // ‖Jᵀγ‖ is ‖A (v − v*)‖ up to the residual.
  const Number pushed_norm = larger(sqrt(moved) - residual, Number(Scalar(0)));
  pushed_squared = pushed_norm * pushed_norm;
}

/// The gradient, in twice the digits, of lanes whose frame moves.
template <typename Number, int Stride>
CAROM_DEVICE void LaneState<Number, Stride>::balance_exactly() noexcept {
  const LaneBalance<Number, Stride> balance(vector(Names::direction), vector(Names::scratch),
                                            layout_.velocities);
  balance.add_momentum(layout_.mass_rows, cells(layout_.mass_at), vector(Names::velocity),
                       vector(Names::free));
  for_each_block([&](const Block& block) {
    const auto take = [&](const LaneSide& side) {
      balance.take_push(side, block.rows, jacobian(side), block.impulse);
    };
    take(block.sides.low);
    take(block.sides.high);
  });
  const Cells gradient = vector(Names::gradient);
  for (int i = 0; i < layout_.velocities; ++i) {
    gradient.set(i, select(moving_, balance.sum(i), gradient[i]));
  }
}

template <typename Number, int Stride>
template <typename Velocity>
CAROM_DEVICE Number LaneState<Number, Stride>::stored(const Velocity& velocity) const noexcept {
  Number sum(Scalar(0));
  for (int k = 0; k < layout_.contacts; ++k) {
    const Cells c = contact(k);
    const LaneImpulse<Number> u = velocity(k);
    LaneTrial<Number> at = at_trial(k);
    at.y1 = (c[Names::bias] - u.t1) * c[Names::inverse_tangent];
    at.y2 = (c[Names::bias + 1] - u.t2) * c[Names::inverse_tangent];
    at.yn = (c[Names::bias + 2] - u.n) * c[Names::inverse_normal];
    if (layout_.rigid) {
      at.y1 += c[Names::multiplier];
      at.y2 += c[Names::multiplier + 1];
      at.yn += c[Names::multiplier + 2];
    }
    const LaneImpulse<Number> y = project_lanes(at);
    sum += at.tangent * (y.t1 * y.t1 + y.t2 * y.t2) + at.normal * (y.n * y.n);
  }
  return sum;
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneState<Number, Stride>::cost() const noexcept {
  const Cells v = vector(Names::velocity), free = vector(Names::free);
  const Cells momentum = vector(Names::momentum);
  Number sum(Scalar(0));
  for (int i = 0; i < layout_.velocities; ++i) sum += (v[i] - free[i]) * momentum[i];
  for (int k = 0; k < layout_.contacts; ++k) {
    const Cells c = contact(k);
    const Number y1 = c[Names::impulse], y2 = c[Names::impulse + 1], yn = c[Names::impulse + 2];
    sum += c[Names::tangent] * (y1 * y1 + y2 * y2) + c[Names::normal] * (yn * yn);
  }
  return sum + blocks().stored();
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneState<Number, Stride>::cost_at_rest() const noexcept {
  const Number zero(Scalar(0));
  const Number contacts = stored([&](int) { return LaneImpulse<Number>{zero, zero, zero}; });
  return free_squared + contacts + blocks().stored([](const Block&, Number(&)[6]) {});
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneState<Number, Stride>::cost_when_free() const noexcept {
  const Cells free = vector(Names::free);
  const Number contacts = stored([&](int k) { return rows_times(k, free); });
  const auto moving = [&](const Block& block, Number(&u)[6]) { block.add_product(free, u); };
  return contacts + blocks().stored(moving);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneState<Number, Stride>::renew_lifts(const Mask& lanes,
                                                         const Number& share) const noexcept {
  for_each_block([&](const Block& block) {
    if (!block.is_cone()) return;
    Number slip[6];
    for (int r = 0; r < block.rows; ++r) {
      Number pressed = block.impulse[r];
      if (layout_.rigid) pressed -= block.multiplier[r];
      slip[r] =
          block.contact_velocity[r] - block.bias[r] + block.weight[block.weight_of(r)] * pressed;
    }
    const Number wanted = lift_of_lanes(trial_of(block), slip), lift = block.lift[0];
    block.lift.set(0, select(lanes, lift + share * (wanted - lift), lift));
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
