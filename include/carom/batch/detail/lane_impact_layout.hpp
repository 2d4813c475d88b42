// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "carom/batch/detail/lane_matrices.hpp"
#include "carom/batch/impact_batch_view.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The places of the numbers of an impact in the cells of its lane.
///
/// Momenta are stored as q, whose square is twice the kinetic energy: q = L⁻¹p where M = LLᵀ, and
/// q = Lᵀp where M⁻¹ = LLᵀ. The unit normals in these coordinates are a_i, so that s_i = a_i·q and
/// a reflection is q − 2 s_i a_i.
struct LaneImpactLayout {
  /// Single numbers.
  enum Item {
    status,          ///< an ImpactStatus; −1: active
    limit,           ///< rates below it are infeasible
    count,           ///< reflections
    before,          ///< reflections when the order last restarted
    cursor,          ///< place in the sequence of the sweep
    energy,          ///< gained energy
    restitution,     ///< R
    plastic_energy,  ///< gained by the plastic impact
    item_count
  };

  ImpactPattern pattern;
  int n = 0, m = 0;     ///< coordinates, contacts
  bool blends = false;  ///< restitution: the plastic outcome is stored too
  // Numbers that move with a problem to another lane.
  int items_at = 0, q_at = 0, given_at = 0, normals_at = 0, gram_at = 0, rates_at = 0,
      impulses_at = 0, factor_at = 0, plastic_q_at = 0, plastic_impulses_at = 0;
  int kept_count = 0;
  // Numbers that only LaneImpactSetup needs.
  int square_at = 0, x_at = 0, residual_at = 0, product_at = 0, direction_at = 0, free_at = 0,
      scratch_at = 0;
  int cell_count = 0;

  CAROM_DEVICE LaneImpactLayout(const ImpactPattern& of, ImpactBatchLaw law) noexcept
      : pattern(of),
        n(of.coordinate_count()),
        m(of.contact_count()),
        blends(law == ImpactBatchLaw::restitution) {
    int at = 0;
    const auto place = [&at](int size) {
      const int begin = at;
      at += size;
      return begin;
    };
    items_at = place(item_count);
    q_at = place(n);
    given_at = place(n);
    normals_at = place(n * m);
    gram_at = place(m * m);
    rates_at = place(m);
    impulses_at = place(m);
    factor_at = place(of.is_diagonal() ? n : n * (n + 1) / 2);
    plastic_q_at = place(blends ? n : 0);
    plastic_impulses_at = place(blends ? m : 0);
    kept_count = at;
    square_at = place(m * (m + 1) / 2);
    x_at = place(m);
    residual_at = place(m);
    product_at = place(m);
    direction_at = place(m);
    free_at = place(m);
    scratch_at = place(2 * n);
    cell_count = at;
  }
};

/// The numbers at these places.
template <typename Cells>
struct LaneImpactCells {
  LaneImpactLayout layout;
  Cells cells;

  using Number = decltype(Cells()[0]);
  using Names = LaneImpactLayout;

  [[nodiscard]] CAROM_DEVICE Number get(Names::Item name) const noexcept {
    return cells[layout.items_at + int(name)];
  }
  CAROM_DEVICE void set(Names::Item name, const Number& number) const noexcept {
    cells.set(layout.items_at + int(name), number);
  }
  [[nodiscard]] CAROM_DEVICE Cells q() const noexcept { return cells.from(layout.q_at); }
  [[nodiscard]] CAROM_DEVICE Cells given() const noexcept { return cells.from(layout.given_at); }
  [[nodiscard]] CAROM_DEVICE Cells normal(int i) const noexcept {
    return cells.from(layout.normals_at + i * layout.n);
  }
  [[nodiscard]] CAROM_DEVICE Cells gram(int i) const noexcept {
    return cells.from(layout.gram_at + i * layout.m);
  }
  [[nodiscard]] CAROM_DEVICE Cells rates() const noexcept { return cells.from(layout.rates_at); }
  [[nodiscard]] CAROM_DEVICE Cells impulses() const noexcept {
    return cells.from(layout.impulses_at);
  }
  [[nodiscard]] CAROM_DEVICE Cells factor() const noexcept { return cells.from(layout.factor_at); }
  [[nodiscard]] CAROM_DEVICE Cells plastic_q() const noexcept {
    return cells.from(layout.plastic_q_at);
  }
  [[nodiscard]] CAROM_DEVICE Cells plastic_impulses() const noexcept {
    return cells.from(layout.plastic_impulses_at);
  }

  [[nodiscard]] CAROM_DEVICE static Number dot(const Cells& a, const Cells& b, int count) noexcept {
    Number sum(0);
    for (int k = 0; k < count; ++k) sum += a[k] * b[k];
    return sum;
  }
  /// s_i of the momentum in q.
  [[nodiscard]] CAROM_DEVICE Number rate(int i) const noexcept {
    return dot(normal(i), q(), layout.n);
  }
  /// y ← G x.
  CAROM_DEVICE void multiply_gram(const Cells& x, const Cells& y) const noexcept {
    for (int i = 0; i < layout.m; ++i) y.set(i, dot(gram(i), x, layout.m));
  }
};

/// Changes of coordinates by the factor of a mass, or of its inverse, in place.
template <typename Cells>
struct LaneImpactMetric {
  ImpactPattern pattern;
  Cells factor;

  using Number = decltype(Cells()[0]);

  /// Factors the matrix in the cells. False in lanes in which it is not positive definite.
  [[nodiscard]] CAROM_DEVICE auto begin() const noexcept {
    if (!pattern.is_diagonal()) return factor_lanes(rows(), factor);
    auto definite = everywhere<Number>(true);
    for (int i = 0; i < rows().count; ++i) {
      definite = definite & (factor[i] > Number(0));
      factor.set(i, Number(1) / sqrt(factor[i]));
    }
    return definite;
  }
  /// Replaces a momentum p, or a gradient, by q.
  CAROM_DEVICE void take_momentum(const Cells& x) const noexcept {
    pattern.is_inverse() ? multiply_transposed(x) : solve(x);
  }
  /// Replaces q by the momentum p.
  CAROM_DEVICE void give_momentum(const Cells& x) const noexcept {
    pattern.is_inverse() ? solve_transposed(x) : multiply(x);
  }
  /// Replaces a velocity v by q.
  CAROM_DEVICE void take_velocity(const Cells& x) const noexcept {
    pattern.is_inverse() ? solve(x) : multiply_transposed(x);
  }
  /// Replaces q by the velocity v.
  CAROM_DEVICE void give_velocity(const Cells& x) const noexcept {
    pattern.is_inverse() ? multiply(x) : solve_transposed(x);
  }

 private:
  [[nodiscard]] CAROM_DEVICE LaneTriangle rows() const noexcept {
    return LaneTriangle(pattern.coordinate_count());
  }
  CAROM_DEVICE void scale(const Cells& x, bool by_inverse) const noexcept {
    for (int i = 0; i < rows().count; ++i) {
      x.set(i, by_inverse ? x[i] * factor[i] : x[i] / factor[i]);
    }
  }
  CAROM_DEVICE void solve(const Cells& x) const noexcept {
    pattern.is_diagonal() ? scale(x, true) : solve_lanes(rows(), factor, x);
  }
  CAROM_DEVICE void solve_transposed(const Cells& x) const noexcept {
    pattern.is_diagonal() ? scale(x, true) : solve_lanes_transposed(rows(), factor, x);
  }
  /// x ← L x; the diagonal of the factor is stored inverted.
  CAROM_DEVICE void multiply(const Cells& x) const noexcept {
    if (pattern.is_diagonal()) return scale(x, false);
    for (int i = rows().count - 1; i >= 0; --i) {
      const Cells row = factor.from(rows().place[i]);
      Number sum = x[i] / row[i];
      for (int k = 0; k < i; ++k) sum += row[k] * x[k];
      x.set(i, sum);
    }
  }
  /// x ← Lᵀ x.
  CAROM_DEVICE void multiply_transposed(const Cells& x) const noexcept {
    pattern.is_diagonal() ? scale(x, false) : multiply_lanes_transposed(rows(), factor, x, x);
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
