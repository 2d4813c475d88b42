// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_impact_metric.hpp"
#include "carom/batch/detail/lane_impact_plastic.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Copies numbers of problems, `size` of each, into cells; what all problems share at once into all
/// lanes.
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

/// What is done once for each problem, side by side: unit normals, their products, rates; and all
/// of an impact that is plastic.
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

  /// A gradient becomes the unit normal a_i; the scale takes Σ_j |p_j (M⁻¹u_i)_j|. False in lanes
  /// without such a normal.
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
  /// The products of the normals. One that repeats an earlier one, to round-off, is made zero and
  /// so never acts.
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
  /// The plastic outcome beside the momentum.
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
