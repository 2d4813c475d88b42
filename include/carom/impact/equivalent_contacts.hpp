// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "carom/core/elementary.hpp"
#include "carom/impact/impact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Finds the equivalent contacts of an impact: contacts that are indistinguishable in the data. A
/// law that treats equivalent contacts differently would depend on their numbering.
///
/// Two contacts are equivalent if they close at the same rate and have the same products with other
/// groups. The groups are the coarsest partition A, B, … of the contacts for which s_i, and Σ_{j∈B}
/// G_ij for each group B, are constant in each group. If an exchange of contacts leaves G and s
/// unchanged, the exchanged contacts are in one group. An operation on whole groups therefore
/// preserves all symmetries of the data, for any numbering, units, directions and lengths. Equal
/// impulses −2 s/Σ_{j∈A} G_ij on all contacts of a group reverse all its rates and leave all groups
/// unchanged; G may be singular.
///
/// The steps: (1) split the contacts by s; (2) assign a number k to each group and split the groups
/// by Σ_j G_ij k(j); (3) repeat step 2 until no group changes. The numbers k are e to the power of
/// multiples of the golden ratio's fraction: their combinations are equal only if the sums are
/// equal.
template <RealScalar Scalar>
class EquivalentContacts {
 public:
  /// Relative tolerance between the numbers of equivalent contacts [-], relative to the largest
  /// rate and to the row sums of G. Round-off in masses and frames is below it in ordinary units.
  /// With a smaller tolerance, the round-off of a rotated frame counts as a difference. With a
  /// larger one, small differences count as round-off.
  static constexpr Scalar tolerance() noexcept {
    return Scalar(std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16);
  }

  /// Allocates memory for a count of contacts, if it is larger than every count before.
  void prepare(Index count) {
    const auto size = std::size_t(count);
    for (auto* list : {&group_, &members_, &waiting_, &sizes_, &starts_}) {
      list->reserve(size + 1);
    }
    moved_.reserve(size);
    is_waiting_.reserve(size);
    for (auto* list : {&sums_, &references_, &keys_}) list->reserve(size);
  }

  /// Partitions the contacts of a problem.
  /// @param rates    s, one per contact.
  /// @param rounding  round-off of the rates [√J], ≥ 0.
  /// @return  whether any group has more than one contact.
  /// @pre   prepare() was called with at least this count of contacts.
  /// @note  Real-time safe: no allocation, no exception. The cost is n_c log n_c if all rates
  ///        differ. Otherwise it is the count of visited neighbours, times log n_c, of the contacts
  ///        that change groups.
  bool split(const ImpactProblem<Scalar>& problem, std::span<const Scalar> rates,
             const Scalar& rounding) noexcept {
    start(problem, rates, rounding);
    if (sizes_.size() == members_.size()) return false;
    sum_neighbours(problem);
    while (!waiting_.empty()) {
      part_waiting();
      tell_neighbours(problem);
    }
    if (sizes_.size() == members_.size()) return false;
    sort_members();
    return true;
  }

  /// The contacts equivalent to a contact, including itself, in their order. It is empty for a
  /// contact that repeats another, and for all contacts if split() found no group.
  [[nodiscard]] std::span<const Index> group_of(Index contact) const noexcept {
    const Index group = group_[std::size_t(contact)];
    if (group < 0 || starts_.empty()) return {};
    const auto start = std::size_t(starts_[std::size_t(group)]);
    return {members_.data() + start, std::size_t(sizes_[std::size_t(group)])};
  }
  /// Whether two contacts are in one group.
  [[nodiscard]] bool same(Index a, Index b) const noexcept {
    return group_[std::size_t(a)] >= 0 && group_[std::size_t(a)] == group_[std::size_t(b)];
  }

  /// Replaces the number of each contact by the mean of its group, in place.
  /// @pre   split() found a group.
  template <typename Numbers>
  void average(Numbers& numbers) const noexcept {
    for (std::size_t g = 0; g < sizes_.size(); ++g) {
      const auto start = members_.begin() + starts_[g], end = start + sizes_[g];
      Scalar sum = 0;
      for (auto i = start; i != end; ++i) sum += numbers(*i);
      for (auto i = start; i != end; ++i) numbers(*i) = sum / Scalar(sizes_[g]);
    }
  }

 private:
  struct Move {
    Index contact, from;
  };

  void add_group(Index size) noexcept {
    keys_.push_back(
        Scalar(elementary::exp(std::fmod(double(sizes_.size()) * std::numbers::phi, 1.0))));
    sizes_.push_back(size);
  }
  [[nodiscard]] const Scalar& key(Index group) const noexcept { return keys_[std::size_t(group)]; }
  [[nodiscard]] std::size_t size_of_group(Index contact) const noexcept {
    return std::size_t(sizes_[std::size_t(group_[std::size_t(contact)])]);
  }
  void wait(Index contact) noexcept {
    if (is_waiting_[std::size_t(contact)] || size_of_group(contact) < 2) return;
    is_waiting_[std::size_t(contact)] = 1;
    waiting_.push_back(contact);
  }

  /// Groups the contacts by rates; members_ is sorted by rate.
  void start(const ImpactProblem<Scalar>& problem, std::span<const Scalar> rates,
             const Scalar& rounding) noexcept {
    CAROM_EXPECTS(Index(rates.size()) == problem.contact_count());
    using std::abs;
    group_.assign(rates.size(), -1);
    members_.clear(), sizes_.clear(), starts_.clear(), waiting_.clear(), keys_.clear();
    Scalar largest = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      largest = (std::max)(largest, Scalar(abs(rates[i])));
      if (problem.merged_into(Index(i)) < 0) members_.push_back(Index(i));
    }
    const auto before = [&](Index a, Index b) {
      return rates[std::size_t(a)] < rates[std::size_t(b)];
    };
    std::sort(members_.begin(), members_.end(), before);
    allowance_ = tolerance() * largest + rounding;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const bool apart =
          k == 0 ||
          rates[std::size_t(members_[k])] - rates[std::size_t(members_[k - 1])] > allowance_;
      if (apart) add_group(0);
      group_[std::size_t(members_[k])] = Index(sizes_.size()) - 1;
      ++sizes_.back();
    }
  }
  /// Computes Σ_j G_ij k(j) for each contact and marks all contacts as waiting for comparison.
  void sum_neighbours(const ImpactProblem<Scalar>& problem) noexcept {
    using std::abs;
    sums_.assign(group_.size(), Scalar(0));
    is_waiting_.assign(group_.size(), 0);
    references_.assign(sizes_.size(), Scalar(0));
    Scalar largest = 1;
    for (const Index i : members_) {
      Scalar size = 1;
      for (const auto& [other, product] : problem.neighbours(i)) {
        sums_[std::size_t(i)] += product * key(group_[std::size_t(other)]);
        size += abs(product);
      }
      largest = (std::max)(largest, size);
      wait(i);
    }
    allowance_ = tolerance() * largest;
  }
  /// Compares the waiting contacts with the rest of their group, and moves those that differ to new
  /// groups.
  void part_waiting() noexcept {
    std::sort(waiting_.begin(), waiting_.end(), [&](Index a, Index b) {
      const Index first = group_[std::size_t(a)], second = group_[std::size_t(b)];
      if (first != second) return first < second;
      return sums_[std::size_t(a)] < sums_[std::size_t(b)];
    });
    moved_.clear();
    for (std::size_t begin = 0, end = 0; begin < waiting_.size(); begin = end) {
      const Index group = group_[std::size_t(waiting_[begin])];
      while (end < waiting_.size() && group_[std::size_t(waiting_[end])] == group) ++end;
      part_group(group, begin, end);
    }
    for (const Index i : waiting_) is_waiting_[std::size_t(i)] = 0;
    waiting_.clear();
  }
  /// @param begin, end  the waiting contacts of the group, sorted by their sums. If the group has
  ///                    other contacts, these all have the reference sum of the group and stay in
  ///                    it. Otherwise the largest part stays, so that a contact moves at most log
  ///                    n_c times.
  void part_group(Index group, std::size_t begin, std::size_t end) noexcept {
    const bool others = std::size_t(sizes_[std::size_t(group)]) > end - begin;
    std::size_t keeps = end;
    for (std::size_t first = begin, last, most = 0; first < end; first = last) {
      last = end_of_part(first, end);
      const bool equal = sums_[std::size_t(waiting_[first])] - allowance_ <= reference(group) &&
                         reference(group) <= sums_[std::size_t(waiting_[last - 1])] + allowance_;
      if (others ? !equal || keeps < end : last - first <= most) continue;
      keeps = first;
      most = last - first;
    }
    for (std::size_t first = begin, last; first < end; first = last) {
      last = end_of_part(first, end);
      const Scalar sum = sums_[std::size_t(waiting_[first])];
      if (first == keeps) {
        if (!others) references_[std::size_t(group)] = sum;
        continue;
      }
      for (std::size_t k = first; k < last; ++k) moved_.push_back({waiting_[k], group});
      sizes_[std::size_t(group)] -= Index(last - first);
      add_group(Index(last - first));
      references_.push_back(sum);
      for (std::size_t k = first; k < last; ++k) place_in(Index(sizes_.size()) - 1, k);
    }
  }
  void place_in(Index group, std::size_t k) noexcept { group_[std::size_t(waiting_[k])] = group; }
  [[nodiscard]] const Scalar& reference(Index group) const noexcept {
    return references_[std::size_t(group)];
  }
  /// The end of the contacts, from `first` on, with equal sums.
  [[nodiscard]] std::size_t end_of_part(std::size_t first, std::size_t end) const noexcept {
    std::size_t last = first + 1;
    while (last < end &&
           sums_[std::size_t(waiting_[last])] - sums_[std::size_t(waiting_[last - 1])] <=
               allowance_) {
      ++last;
    }
    return last;
  }
  /// Updates the sums of the contacts that have a product with a contact in a new group.
  void tell_neighbours(const ImpactProblem<Scalar>& problem) noexcept {
    for (const auto& [contact, from] : moved_) {
      const Scalar change = key(group_[std::size_t(contact)]) - key(from);
      for (const auto& [other, product] : problem.neighbours(contact)) {
        sums_[std::size_t(other)] += product * change;
        wait(other);
      }
    }
  }
  void sort_members() noexcept {
    std::sort(members_.begin(), members_.end(), [&](Index a, Index b) {
      const Index first = group_[std::size_t(a)], second = group_[std::size_t(b)];
      return first != second ? first < second : a < b;
    });
    Index start = 0;
    for (const Index size : sizes_) {
      starts_.push_back(start);
      start += size;
    }
  }

  Scalar allowance_ = 0;
  std::vector<Index> group_;           ///< per contact; −1 for a contact that repeats another
  std::vector<Index> members_;         ///< contacts, finally sorted by group
  std::vector<Index> sizes_, starts_;  ///< per group
  std::vector<Index> waiting_;
  std::vector<char> is_waiting_;
  std::vector<Scalar> sums_;               ///< per contact
  std::vector<Scalar> references_, keys_;  ///< per group
  std::vector<Move> moved_;
};

}  // namespace CAROM_ABI
}  // namespace carom
