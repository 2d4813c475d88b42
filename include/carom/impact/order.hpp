// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/impact/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The most infeasible contact first. Of equal rates, the lowest index is first.
///
/// The minima are stored in a binary tree: the cost of an update is the depth of the tree, a pick
/// costs nothing. A few contacts are searched one by one instead.
template <RealScalar Scalar>
class MostInfeasibleFirst {
 public:
  void prepare(Index count) { tree_.resize(2 * leaves(count)); }

  void start(std::span<const Scalar> rates) noexcept {
    rates_ = rates;
    first_leaf_ = leaves(Index(rates.size()));
    if (rates.size() <= handful) return;
    for (std::size_t i = 0; i < first_leaf_; ++i) {
      tree_[first_leaf_ + i] = Index(i) < Index(rates.size()) ? Index(i) : Index(-1);
    }
    for (std::size_t node = first_leaf_ - 1; node > 0; --node) play(node);
  }

  void update(Index contact, const Scalar&) noexcept {
    if (rates_.size() <= handful) return;
    for (std::size_t node = (first_leaf_ + std::size_t(contact)) / 2; node > 0; node /= 2) {
      play(node);
    }
  }

  [[nodiscard]] Index pick(std::span<const Scalar> rates, const Scalar& limit) noexcept {
    if (rates.size() > handful) {
      const Index winner = tree_[1];
      return rates[std::size_t(winner)] < limit ? winner : -1;
    }
    Index winner = -1;
    Scalar lowest = limit;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (rates[i] < lowest) {
        lowest = rates[i];
        winner = Index(i);
      }
    }
    return winner;
  }

 private:
  [[nodiscard]] static std::size_t leaves(Index count) noexcept {
    return std::bit_ceil(std::size_t(count < 2 ? 2 : count));
  }
  void play(std::size_t node) noexcept {
    const Index left = tree_[2 * node];
    const Index right = tree_[2 * node + 1];
    tree_[node] =
        right < 0 || rates_[std::size_t(left)] <= rates_[std::size_t(right)] ? left : right;
  }

  /// Up to this count of contacts [-] are searched one by one, in one pass over the doubles of one
  /// cache line. The result is that of the tree, so the number affects only the time. Other values
  /// were not measured.
  static constexpr std::size_t handful = 8;

  std::span<const Scalar> rates_;
  std::size_t first_leaf_ = 0;
  std::vector<Index> tree_;  ///< contact with the lowest rate below a node; leaves are last
};

/// The most infeasible contact first, together with all contacts equivalent to it, see
/// EquivalentContacts. This is the default. Of equal rates of contacts that are not equivalent, the
/// lowest index is first.
///
/// The data define no order of equivalent contacts. They therefore reflect about their common face:
/// all their rates change sign. Symmetric impacts have symmetric outcomes. If all orders have the
/// same outcome, this order has it too.
template <RealScalar Scalar>
struct MostInfeasibleTogether : MostInfeasibleFirst<Scalar> {
  static constexpr bool together = true;
};

/// Whether equivalent contacts reflect together in an order.
template <typename Order>
inline constexpr bool reflects_together = requires {
  requires Order::together;
};

/// The least infeasible contact first.
template <RealScalar Scalar>
struct LeastInfeasibleFirst {
  void prepare(Index) noexcept {}
  void start(std::span<const Scalar>) noexcept {}
  void update(Index, const Scalar&) noexcept {}
  [[nodiscard]] Index pick(std::span<const Scalar> rates, const Scalar& limit) const noexcept {
    Index winner = -1;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (rates[i] < limit && (winner < 0 || rates[i] > rates[std::size_t(winner)])) {
        winner = Index(i);
      }
    }
    return winner;
  }
};

/// Contacts in a given order, repeated; feasible contacts are skipped. Without a given order: by
/// index. Contacts that are not in the given order never reflect.
template <RealScalar Scalar>
class SweepOrder {
 public:
  SweepOrder() = default;
  explicit SweepOrder(std::vector<Index> sequence)
      : sequence_(std::move(sequence)), given_(!sequence_.empty()) {}

  /// @note  Cold: allocates, throws std::invalid_argument when the order contains no contact.
  void prepare(Index count) {
    if (given_) {
      for (const Index contact : sequence_) {
        if (contact >= 0 && contact < count) continue;
        detail::reject_if(detail::fault("order", "the index of a contact", contact));
      }
      return;
    }
    sequence_.clear();
    for (Index i = 0; i < count; ++i) sequence_.push_back(i);
  }
  void start(std::span<const Scalar>) noexcept { next_ = 0; }
  void update(Index, const Scalar&) noexcept {}
  [[nodiscard]] Index pick(std::span<const Scalar> rates, const Scalar& limit) noexcept {
    for (std::size_t tried = 0; tried < sequence_.size(); ++tried) {
      const Index contact = sequence_[next_];
      next_ = next_ + 1 < sequence_.size() ? next_ + 1 : 0;
      if (rates[std::size_t(contact)] < limit) return contact;
    }
    return -1;
  }

 private:
  std::vector<Index> sequence_;
  bool given_ = false;
  std::size_t next_ = 0;
};

/// The user's choice: choose(rates, limit) returns a contact with a rate below the limit, or −1. It
/// must not throw.
template <RealScalar Scalar, typename Choose>
struct ChosenOrder {
  Choose choose;

  void prepare(Index) noexcept {}
  void start(std::span<const Scalar>) noexcept {}
  void update(Index, const Scalar&) noexcept {}
  [[nodiscard]] Index pick(std::span<const Scalar> rates, const Scalar& limit) noexcept {
    return choose(rates, limit);
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
