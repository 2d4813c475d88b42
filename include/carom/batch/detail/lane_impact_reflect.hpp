// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_impact_layout.hpp"
#include "carom/batch/detail/lane_matrices.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A sequence of contacts that the problem specifies; empty: by index.
struct LaneImpactSequence {
  const int* contacts = nullptr;
  int count = 0;
};

/// A limit of reflections as a number of each lane; it is at most the largest count that the type
/// represents exactly.
template <typename Number>
[[nodiscard]] CAROM_DEVICE Number most_reflections(Index limit) noexcept {
  using Scalar = typename Number::scalar_type;
  constexpr int digits = std::numeric_limits<Scalar>::digits;
  constexpr Index most = Index(1) << (digits < 53 ? digits : 53);
  return Number(Scalar(limit < most ? limit : most));
}

/// Reflects the momenta of all lanes, each across its own contact: ImpactResolver in lanes.
/// @tparam Stride  of the cells
template <typename Number, int Stride>
class LaneImpactReflector {
 public:
  using Mask = typename Number::Mask;
  using Scalar = typename Number::scalar_type;
  using Cells = LaneCells<Number, Stride>;
  using Names = LaneImpactLayout;
  static constexpr int lanes = Number::count;

  /// @param chosen     m + n numbers for each lane, zero
  /// @param sequences  one for each lane
  CAROM_DEVICE LaneImpactReflector(const LaneImpactCells<Cells>& problem, const Cells& chosen,
                                   ImpactOrder order, const Number& reflection_limit,
                                   const LaneImpactSequence* sequences) noexcept
      : problem_(problem),
        chosen_(chosen),
        order_(order),
        reflection_limit_(reflection_limit),
        sequences_(sequences),
        n_(problem.layout.n),
        m_(problem.layout.m) {}

  /// Computes one reflection in each active lane. If no contact closes, the rates are computed
  /// again and the status of the lane is set.
  CAROM_DEVICE void step() const noexcept {
    if constexpr (Stride > Number::count) {
      step<0>();  // a kernel would contain a copy for each count of contacts
    } else {
      step_by_count();
    }
  }

 private:
  /// Up to this count of contacts the row is selected from all rows. For more contacts, each lane
  /// reads its own row.
  static constexpr int looked_at = 12;

  /// If the count of contacts is a compile-time constant, the selected numbers stay in registers.
  CAROM_DEVICE void step_by_count() const noexcept {
    switch (m_) {
      case 1:
        return step<1>();
      case 2:
        return step<2>();
      case 3:
        return step<3>();
      case 4:
        return step<4>();
      default:
        return m_ <= looked_at ? step<looked_at>() : step<0>();
    }
  }
  /// @tparam Most  count of contacts, at most looked_at; 0: any count.
  template <int Most>
  CAROM_DEVICE void step() const noexcept {
    const int m = Most > 0 && Most < looked_at ? Most : m_;
    const Number zero(0), status = problem_.get(Names::status);
    const Number limit = problem_.get(Names::limit), count = problem_.get(Names::count);
    const Mask under_way = status < zero;
    const Number winner = select(under_way, pick(limit, m), Number(Scalar(-1)));
    const Mask has_next = winner >= zero;
    const Mask at_rest = under_way & !has_next;
    if (any(at_rest)) look(at_rest, limit);
    Mask wins[Most > 0 ? Most : 1];
    Cells row = chosen_, products = chosen_.from(n_);
    if constexpr (Most == 0) find_row(winner, row, products);
    const auto is_winner = [&](int i) {
      const Number index = Number(Scalar(i));
      return (winner <= index) & (winner >= index);
    };
    for (int i = 0; Most > 0 && i < m; ++i) wins[i] = is_winner(i);
    const Cells q = problem_.q();
    Number rate = zero;
    for (int k = 0; k < n_; ++k) {
      if constexpr (Most > 0) {
        Number chosen = zero;
        for (int i = 0; i < m; ++i) chosen = select(wins[i], problem_.normal(i)[k], chosen);
        row.set(k, chosen);
      }
      rate += q[k] * row[k];
    }
    // If the rate is not below the limit, the contact closed only by round-off.
    const Mask closes = has_next & (rate < limit), too_many = closes & (count >= reflection_limit_);
    const Mask acts = closes & !too_many;
    const Number impulse = select(acts, rate * Number(Scalar(-2)), zero);
    if (any(too_many)) {
      const Number ended = Number(Scalar(ImpactStatus::reflection_limit));
      problem_.set(Names::status, select(too_many, ended, problem_.get(Names::status)));
    }
    for (int k = 0; k < n_; ++k) q.add(k, impulse * row[k]);
    const Cells rates = problem_.rates(), impulses = problem_.impulses();
    for (int j = 0; j < m; ++j) {
      Number product = zero;
      if constexpr (Most > 0) {
        for (int i = 0; i < m; ++i) product = select(wins[i], problem_.gram(i)[j], product);
      } else {
        product = products[j];
      }
      const Mask won = Most > 0 ? wins[Most > 0 ? j : 0] : is_winner(j);
      rates.set(j, select(won, rate, rates[j]) + impulse * product);
      impulses.set(j, impulses[j] + select(won, impulse, zero));
    }
    problem_.set(Names::count, count + select(acts, Number(1), zero));
    problem_.set(Names::energy,
                 problem_.get(Names::energy) + impulse * (rate + impulse * Number(Scalar(0.5))));
  }
  /// The next contact of each lane; −1 if none is infeasible.
  [[nodiscard]] CAROM_DEVICE Number pick(const Number& limit, int m) const noexcept {
    if (order_ == ImpactOrder::most_infeasible) return pick_most(limit, m);
    if (order_ == ImpactOrder::least_infeasible) return pick_least(limit);
    return pick_in_sweep(limit);
  }
  [[nodiscard]] CAROM_DEVICE Number pick_most(const Number& limit, int m) const noexcept {
    const Cells rates = problem_.rates();
    Number winner = Number(Scalar(-1)), lowest = limit;
    for (int i = 0; i < m; ++i) {
      const Number rate = rates[i];
      const Mask better = rate < lowest;
      lowest = select(better, rate, lowest);
      winner = select(better, Number(Scalar(i)), winner);
    }
    return winner;
  }
  [[nodiscard]] CAROM_DEVICE Number pick_least(const Number& limit) const noexcept {
    const Cells rates = problem_.rates();
    Number winner = Number(Scalar(-1)), highest(0);
    for (int i = 0; i < m_; ++i) {
      const Number rate = rates[i];
      const Mask better = (rate < limit) & ((winner < Number(0)) | (rate > highest));
      highest = select(better, rate, highest);
      winner = select(better, Number(Scalar(i)), winner);
    }
    return winner;
  }
  [[nodiscard]] CAROM_DEVICE Number pick_in_sweep(const Number& limit) const noexcept {
    const Cells rates = problem_.rates();
    const Number cursor = problem_.get(Names::cursor);
    // By index: the first contact from the cursor on, otherwise the first of all.
    Number first = Number(Scalar(-1)), next = first;
    for (int i = m_ - 1; i >= 0; --i) {
      const Number index = Number(Scalar(i));
      const Mask infeasible = rates[i] < limit;
      first = select(infeasible, index, first);
      next = select(infeasible & (index >= cursor), index, next);
    }
    const Number winner = select(next < Number(0), first, next);
    problem_.set(Names::cursor, select(winner < Number(0), cursor, winner + Number(1)));
    return follow_sequences(winner, cursor, limit);
  }
  /// The same by the sequences of lanes that have a sequence.
  [[nodiscard]] CAROM_DEVICE Number follow_sequences(const Number& by_index, const Number& cursor,
                                                     const Number& limit) const noexcept {
    Scalar winners[lanes], cursors[lanes], limits[lanes];
    by_index.store(winners);
    cursor.store(cursors);
    limit.store(limits);
    bool some = false;
    for (int l = 0; l < lanes; ++l) {
      const auto& [contacts, count] = sequences_[l];
      if (count == 0) continue;
      some = true;
      winners[l] = Scalar(-1);
      int place = int(cursors[l]);
      for (int tried = 0; tried < count && winners[l] < 0; ++tried) {
        const int contact = contacts[place];
        place = place + 1 < count ? place + 1 : 0;
        if (problem_.rates().of_lane(contact, l) < limits[l]) winners[l] = Scalar(contact);
      }
      problem_.cells.of_lane(problem_.layout.items_at + Names::cursor, l) = Scalar(place);
    }
    return some ? Number::load(winners) : by_index;
  }
  /// The normal of the chosen contact and its products with the others: the original numbers if
  /// there is one lane, otherwise copies.
  CAROM_DEVICE void find_row(const Number& winner, Cells& row, Cells& products) const noexcept {
    Scalar winners[lanes];
    winner.store(winners);
    if constexpr (lanes == 1) {
      if (winners[0] < 0) return;
      row = problem_.normal(int(winners[0]));
      products = problem_.gram(int(winners[0]));
      return;
    }
    for (int l = 0; l < lanes; ++l) {
      const int i = int(winners[l]);
      for (int k = 0; k < n_; ++k) {
        chosen_.of_lane(k, l) = i < 0 ? Scalar(0) : problem_.normal(i).of_lane(k, l);
      }
      for (int k = 0; k < m_; ++k) {
        chosen_.of_lane(n_ + k, l) = i < 0 ? Scalar(0) : problem_.gram(i).of_lane(k, l);
      }
    }
  }
  /// Computes the rates of lanes that appear to be finished again from their momenta.
  CAROM_DEVICE void look(const Mask& at_rest, const Number& limit) const noexcept {
    Mask feasible = everywhere<Number>(true);
    const Cells rates = problem_.rates();
    for (int i = 0; i < m_; ++i) {
      const Number rate = select(at_rest, problem_.rate(i), rates[i]);
      rates.set(i, rate);
      feasible = feasible & !(rate < limit);
    }
    const Number count = problem_.get(Names::count), before = problem_.get(Names::before);
    // The order returns no contact although some close: the propagation ends.
    const Mask ends = at_rest & !feasible & (before >= count);
    const Number status = problem_.get(Names::status);
    problem_.set(Names::status,
                 select(at_rest & feasible, Number(Scalar(ImpactStatus::resolved)),
                        select(ends, Number(Scalar(ImpactStatus::reflection_limit)), status)));
    problem_.set(Names::before, select(at_rest, count, before));
    problem_.set(Names::cursor, select(at_rest, Number(0), problem_.get(Names::cursor)));
  }

  LaneImpactCells<Cells> problem_;
  Cells chosen_;
  ImpactOrder order_;
  Number reflection_limit_;
  const LaneImpactSequence* sequences_;
  int n_, m_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
