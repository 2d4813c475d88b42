// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_impact_layout.hpp"
#include "carom/batch/detail/lane_matrices.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Minimises ½ xᵀ(G + w 11ᵀ)x + cᵀx over x ≥ 0 in each lane: NonnegativeLeastSquares in lanes.
///
/// Each lane has its own free variables; the others have rows of the identity.
template <typename Cells>
class LaneImpactSquares {
 public:
  using Number = decltype(Cells()[0]);
  using Mask = typename Number::Mask;
  using Scalar = typename Number::scalar_type;

  /// @param linear  c, m cells; the minimiser is written to the cells of x.
  CAROM_DEVICE LaneImpactSquares(const LaneImpactCells<Cells>& problem, const Cells& linear,
                                 const Number& weight) noexcept
      : problem_(problem),
        linear_(linear),
        weight_(weight),
        m_(problem.layout.m),
        x_(problem.cells.from(problem.layout.x_at)),
        free_(problem.cells.from(problem.layout.free_at)),
        candidate_(problem.cells.from(problem.layout.product_at)),
        factor_(problem.cells.from(problem.layout.square_at)) {}

  /// @param wanted  lanes to be solved; in the others x is zero.
  CAROM_DEVICE void solve(const Mask& wanted) noexcept {
    const Number zero(0);
    Number scale = zero;
    for (int i = 0; i < m_; ++i) {
      x_.set(i, zero);
      free_.set(i, zero);
      scale = larger(abs(linear_[i]), scale);
    }
    Mask under_way = wanted;
    for (int iteration = 0; iteration <= 3 * m_ + 10; ++iteration) {
      const Number entering = pick(under_way, scale);
      under_way = under_way & (entering >= zero);
      if (!any(under_way)) return;
      for (int i = 0; i < m_; ++i) {
        const Number index = Number(Scalar(i));
        const Mask enters = under_way & (entering <= index) & (entering >= index);
        free_.set(i, select(enters, Number(1), free_[i]));
      }
      under_way = under_way & move_to_free_minimum(under_way, entering);
    }
  }

 private:
  [[nodiscard]] CAROM_DEVICE Number entry(int i, int j) const noexcept {
    return problem_.gram(i)[j] + weight_;
  }
  /// The fixed variable with the most negative gradient; −1 if there is none beyond rounding.
  [[nodiscard]] CAROM_DEVICE Number pick(const Mask& under_way, const Number& scale) noexcept {
    Number largest(0), steepest(0), entering(Scalar(-1));
    for (int i = 0; i < m_; ++i) largest = larger(x_[i], largest);
    for (int i = 0; i < m_; ++i) {
      Number gradient = linear_[i];
      for (int j = 0; j < m_; ++j) gradient += entry(i, j) * x_[j];
      const Mask better = under_way & (free_[i] <= Number(0)) & (-gradient > steepest);
      steepest = select(better, -gradient, steepest);
      entering = select(better, Number(Scalar(i)), entering);
    }
    const Number target =
        Number(64 * std::numeric_limits<Scalar>::epsilon()) * larger(largest, scale);
    return select(steepest <= target, Number(Scalar(-1)), entering);
  }
  /// The minimum over the free variables. False in lanes with linearly dependent columns.
  [[nodiscard]] CAROM_DEVICE Mask write_candidate() const noexcept {
    const Number zero(0), one(1);
    const LaneTriangle rows(m_);
    for (int i = 0; i < m_; ++i) {
      const Cells row = factor_.from(rows.place[i]);
      const Mask is_free = free_[i] > zero;
      for (int j = 0; j < i; ++j) {
        row.set(j, select(is_free & (free_[j] > zero), entry(i, j), zero));
      }
      row.set(i, select(is_free, entry(i, i), one));
      candidate_.set(i, select(is_free, -linear_[i], zero));
    }
    const Mask definite = factor_lanes(rows, factor_);
    solve_lanes(rows, factor_, candidate_);
    solve_lanes_transposed(rows, factor_, candidate_);
    return definite;
  }
  /// Moves to the minimum over the free variables. Variables that would become negative are fixed
  /// at zero on the way. False in lanes in which the new variable is linearly dependent on the
  /// others.
  [[nodiscard]] CAROM_DEVICE Mask move_to_free_minimum(const Mask& wanted,
                                                       const Number& entering) noexcept {
    const Number zero(0), one(1);
    Mask moving = wanted, independent = everywhere<Number>(true);
    for (int round = 0; round <= m_ && any(moving); ++round) {
      const Mask definite = write_candidate();
      independent = independent & (definite | !moving);
      const Mask dependent = moving & !definite;
      moving = moving & definite;
      Number step = one, largest = zero;
      for (int i = 0; i < m_; ++i) {
        const Number index = Number(Scalar(i));
        const Mask entered = dependent & (entering <= index) & (entering >= index);
        free_.set(i, select(entered, zero, free_[i]));
        const Number to = candidate_[i], from = x_[i];
        const Number allowed = from / (from - to);
        step = select((free_[i] > zero) & !(to > zero) & (allowed < step), allowed, step);
      }
      for (int i = 0; i < m_; ++i) {
        const Mask moves = moving & (free_[i] > zero);
        x_.set(i, select(moves, x_[i] + step * (candidate_[i] - x_[i]), x_[i]));
        largest = larger(abs(x_[i]), largest);
      }
      moving = moving & (step < one);
      const Number negligible = Number(std::numeric_limits<Scalar>::epsilon()) * largest;
      Mask some = everywhere<Number>(false);
      for (int i = 0; i < m_; ++i) {
        const Mask leaves = moving & (free_[i] > zero) & (x_[i] <= negligible);
        x_.set(i, select(leaves, zero, x_[i]));
        free_.set(i, select(leaves, zero, free_[i]));
        some = some | (free_[i] > zero);
      }
      moving = moving & some;
    }
    return independent;
  }

  LaneImpactCells<Cells> problem_;
  Cells linear_;
  Number weight_;
  int m_;
  Cells x_, free_, candidate_, factor_;
};

/// Projects the momenta of the selected lanes by Moreau's law: q ← q + Σ λ_i a_i. λ is written to
/// the cells of x.
/// @return  the energy gained, ≤ 0.
template <typename Cells>
[[nodiscard]] CAROM_DEVICE auto project_impact_lanes(
    const LaneImpactCells<Cells>& problem, const Cells& q,
    const typename LaneImpactCells<Cells>::Number::Mask& wanted) noexcept {
  using Number = typename LaneImpactCells<Cells>::Number;
  using Scalar = typename Number::scalar_type;
  const LaneImpactLayout& at = problem.layout;
  const Cells rates = problem.rates(), x = problem.cells.from(at.x_at);
  const Cells product = problem.cells.from(at.product_at);
  LaneImpactSquares<Cells>(problem, rates, Number(0)).solve(wanted);
  problem.multiply_gram(x, product);
  Number gain(0);
  for (int i = 0; i < at.m; ++i) {
    gain += x[i] * (rates[i] + product[i] * Number(Scalar(0.5)));
    for (int k = 0; k < at.n; ++k) q.add(k, x[i] * problem.normal(i)[k]);
  }
  return gain;
}

/// Lanes in which some motion opens all contacts at once, as in WedgeTest.
template <typename Cells>
[[nodiscard]] CAROM_DEVICE auto opens_impact_lanes(
    const LaneImpactCells<Cells>& problem,
    const typename LaneImpactCells<Cells>::Number::Mask& valid) noexcept {
  using Number = typename LaneImpactCells<Cells>::Number;
  using Scalar = typename Number::scalar_type;
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  using std::sqrt;
  const LaneImpactLayout& at = problem.layout;
  const int m = at.m;
  const Number zero(0), one(1), below_one = Number(Scalar(1) - sqrt(rounding));
  const Number product_error = Number((64 + Scalar(m)) * rounding);
  const Cells x = problem.cells.from(at.x_at), residual = problem.cells.from(at.residual_at);
  const Cells product = problem.cells.from(at.product_at);
  const Cells direction = problem.cells.from(at.direction_at);
  auto open = everywhere<Number>(m == 0);
  if (m == 0) return open;
  for (int i = 0; i < m; ++i) {
    x.set(i, zero);
    residual.set(i, one);
    direction.set(i, one);
  }
  Number rest = Number(Scalar(m));
  auto under_way = valid;
  for (int iteration = 0; iteration < 2 * m + 10 && any(under_way); ++iteration) {
    problem.multiply_gram(direction, product);
    const Number curvature = problem.dot(direction, product, m);
    under_way = under_way & (rest > zero) &
                (curvature > Number(rounding) * problem.dot(direction, direction, m));
    const Number step = rest / curvature;
    Number largest_residual = Number(-1), largest = zero,
           least = Number(std::numeric_limits<Scalar>::infinity());
    for (int i = 0; i < m; ++i) {
      x.set(i, x[i] + step * direction[i]);
      residual.set(i, residual[i] - step * product[i]);
      largest_residual = larger(residual[i], largest_residual);
      largest = larger(abs(x[i]), largest);
    }
    const auto promising = under_way & (largest_residual < below_one);
    if (any(promising)) {
      problem.multiply_gram(x, product);
      for (int i = 0; i < m; ++i) least = smaller(product[i], least);
      open = open | (promising & (least > product_error * largest));
      under_way = under_way & !open;
    }
    const Number next = problem.dot(residual, residual, m), ratio = next / rest;
    for (int i = 0; i < m; ++i) direction.set(i, residual[i] + ratio * direction[i]);
    rest = next;
  }
  const auto unknown = valid & !open;
  if (!any(unknown)) return open;
  // The distance of the origin from the hull of the normals decides; see WedgeTest.
  for (int i = 0; i < m; ++i) residual.set(i, Number(-1));
  LaneImpactSquares<Cells>(problem, residual, one).solve(unknown);
  problem.multiply_gram(x, product);
  const Number distance = problem.dot(x, product, m), size = problem.dot(x, x, m);
  return open | (unknown & (distance > Number(64 * rounding) * size));
}

/// Copies numbers of problems, `size` of each, to cells. Numbers that all problems share are copied
/// once to all lanes.
/// @param problems  one for each lane
template <typename Cells, typename Scalar>
CAROM_DEVICE void read_numbers(const BatchArray<const Scalar>& from, const Index* problems,
                               int size, const Cells& cells) noexcept {
  using Number = decltype(cells[0]);
  if (from.offsets == nullptr && from.stride == 0) {
    for (int i = 0; i < size; ++i) cells.set(i, Number(from.data[i]));
    return;
  }
  for (int l = 0; l < Number::count; ++l) {
    const Scalar* const numbers = from.of(problems[l]);
    for (int i = 0; i < size; ++i) cells.of_lane(i, l) = numbers[i];
  }
}

/// Copies the numbers of problems into the cells of their lanes.
template <typename Cells, typename Scalar>
CAROM_DEVICE void read_impacts(const ImpactBatchView<Scalar>& view, const Index* problems,
                               const LaneImpactCells<Cells>& to) noexcept {
  using Number = decltype(Cells()[0]);
  const LaneImpactLayout& at = to.layout;
  const auto read = [&](const BatchArray<const Scalar>& from, int size, int begin) {
    read_numbers(from, problems, size, to.cells.from(begin));
  };
  if (at.pattern.is_diagonal()) {
    read(view.mass, at.n, at.factor_at);
  } else {
    for (int row = 0, place = at.factor_at; row < at.n; place += ++row) {
      BatchArray<const Scalar> from = view.mass;
      from.data += row * at.n;
      read(from, row + 1, place);
    }
  }
  read(view.normals, at.n * at.m, at.normals_at);
  read(view.momentum.data != nullptr ? view.momentum : view.velocity, at.n, at.q_at);
  if (!at.blends) return;
  const int place = at.items_at + LaneImpactLayout::restitution;
  if (view.restitution.data != nullptr) return read(view.restitution, 1, place);
  to.cells.set(place, Number(1));
}

/// The preparation of each problem, in all lanes together: unit normals, their products, rates; for
/// a plastic impact also the whole solution.
template <typename Cells>
class LaneImpactSetup {
 public:
  using Number = decltype(Cells()[0]);
  using Mask = typename Number::Mask;
  using Scalar = typename Number::scalar_type;
  using Names = LaneImpactLayout;

  CAROM_DEVICE explicit LaneImpactSetup(const LaneImpactCells<Cells>& problem) noexcept
      : problem_(problem), metric_{problem.layout.pattern, problem.factor()} {}

  /// @param by_velocity  the cells of q have velocities, otherwise momenta.
  CAROM_DEVICE void begin(ImpactBatchLaw law, const Scalar& tolerance, bool by_velocity) noexcept {
    const Number zero(0), running(Scalar(-1));
    const LaneImpactLayout& at = problem_.layout;
    Mask valid = metric_.begin();
    by_velocity ? metric_.take_velocity(problem_.q()) : metric_.take_momentum(problem_.q());
    for (int k = 0; k < at.n; ++k) problem_.given().set(k, problem_.q()[k]);
    Number scale = zero;
    for (int i = 0; i < at.m; ++i) valid = valid & write_normal(i, scale);
    write_gram();
    valid = valid & write_rates();
    if (at.blends) {
      const Number r = problem_.get(Names::restitution);
      valid = valid & (r >= zero) & (r <= Number(1));
    }
    problem_.set(Names::limit, -(Number(tolerance) * scale));
    for (const auto item : {Names::count, Names::before, Names::energy, Names::cursor})
      problem_.set(item, zero);
    for (int i = 0; i < at.m; ++i) problem_.impulses().set(i, zero);
    if (at.blends) write_plastic(valid);
    const Mask open = law == ImpactBatchLaw::plastic ? everywhere<Number>(false)
                                                     : opens_impact_lanes(problem_, valid);
    const Mask stuck = valid & !open;
    if (any(stuck)) end_plastically(stuck);
    const Number ended(
        Scalar(law == ImpactBatchLaw::plastic ? ImpactStatus::resolved : ImpactStatus::wedged));
    problem_.set(Names::status, select(valid, select(stuck, ended, running),
                                       Number(Scalar(ImpactStatus::not_finite))));
  }

 private:
  [[nodiscard]] CAROM_DEVICE static Number largest_number() noexcept {
    return Number((std::numeric_limits<Scalar>::max)());
  }

  /// Replaces a gradient by the unit normal a_i. The scale becomes at least Σ_j |p_j (M⁻¹u_i)_j|.
  /// False in lanes without such a normal.
  [[nodiscard]] CAROM_DEVICE Mask write_normal(int i, Number& scale) const noexcept {
    const Number zero(0);
    const int n = problem_.layout.n;
    const Cells a = problem_.normal(i), response = problem_.cells.from(problem_.layout.scratch_at);
    Number largest = zero;
    for (int k = 0; k < n; ++k) largest = larger(abs(a[k]), largest);
    for (int k = 0; k < n; ++k) a.set(k, a[k] / largest);
    metric_.take_momentum(a);
    const Number squared = problem_.dot(a, a, n), norm = sqrt(squared);
    Number sum = zero;
    for (int k = 0; k < n; ++k) {
      a.set(k, a[k] / norm);
      sum += abs(a[k] * problem_.q()[k]);
    }
    if (!problem_.layout.pattern.is_diagonal()) {
      sum = zero;
      const Cells p = response.from(n);
      for (int k = 0; k < n; ++k) {
        response.set(k, a[k]);
        p.set(k, problem_.q()[k]);
      }
      metric_.give_velocity(response);
      metric_.give_momentum(p);
      for (int k = 0; k < n; ++k) sum += abs(response[k] * p[k]);
    }
    scale = larger(sum, scale);
    return (largest > zero) & (largest <= largest_number()) & (squared > zero) &
           (squared <= largest_number());
  }
  /// Computes the products of the normals. A normal equal to an earlier one, up to round-off,
  /// becomes zero and therefore never acts.
  CAROM_DEVICE void write_gram() const noexcept {
    const Number zero(0), same(Scalar(1) - 8 * std::numeric_limits<Scalar>::epsilon());
    const int n = problem_.layout.n;
    for (int i = 0; i < problem_.layout.m; ++i) {
      const Cells a = problem_.normal(i);
      Mask repeats = everywhere<Number>(false);
      for (int j = 0; j < i; ++j) {
        const Number product = problem_.dot(a, problem_.normal(j), n);
        repeats = repeats | (product >= same);
        problem_.gram(i).set(j, product);
      }
      for (int j = 0; j < i; ++j) {
        const Number product = select(repeats, zero, problem_.gram(i)[j]);
        problem_.gram(i).set(j, product);
        problem_.gram(j).set(i, product);
      }
      problem_.gram(i).set(i, Number(1));
      for (int k = 0; k < n; ++k) a.set(k, select(repeats, zero, a[k]));
    }
  }
  /// False in lanes where a number is not finite.
  [[nodiscard]] CAROM_DEVICE Mask write_rates() const noexcept {
    Mask valid = everywhere<Number>(true);
    for (int k = 0; k < problem_.layout.n; ++k) {
      valid = valid & (abs(problem_.q()[k]) <= largest_number());
    }
    for (int i = 0; i < problem_.layout.m; ++i) {
      const Number rate = problem_.rate(i);
      problem_.rates().set(i, rate);
      valid = valid & (abs(rate) <= largest_number());
    }
    return valid;
  }
  /// Writes the plastic outcome.
  CAROM_DEVICE void write_plastic(const Mask& valid) const noexcept {
    const Cells q = problem_.plastic_q(), x = problem_.cells.from(problem_.layout.x_at);
    for (int k = 0; k < problem_.layout.n; ++k) q.set(k, problem_.q()[k]);
    problem_.set(Names::plastic_energy, project_impact_lanes(problem_, q, valid));
    for (int i = 0; i < problem_.layout.m; ++i) problem_.plastic_impulses().set(i, x[i]);
  }
  CAROM_DEVICE void end_plastically(const Mask& stuck) const noexcept {
    const Cells x = problem_.cells.from(problem_.layout.x_at);
    problem_.set(Names::energy, project_impact_lanes(problem_, problem_.q(), stuck));
    for (int i = 0; i < problem_.layout.m; ++i) problem_.impulses().set(i, x[i]);
  }

  LaneImpactCells<Cells> problem_;
  LaneImpactMetric<Cells> metric_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
