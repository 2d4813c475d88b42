// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "carom/impact/impact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Finds the contacts of an impact that nothing in its data tells apart, so that a law which treats
/// them differently takes its choice from their numbers alone.
///
/// Contacts are equivalent when they close at the same rate and meet the same others: the coarsest
/// split of the contacts into groups A, B, … for which s_i is the same all over a group, and so is
/// Σ_{j∈B} G_ij for every group B. Contacts that an exchange leaving G and s as they are takes into
/// each other are in one group, so what is done to whole groups keeps every symmetry of the data,
/// whatever the contacts' numbers, units, directions and lengths. Equal impulses −2 s/Σ_{j∈A} G_ij
/// on all contacts of a group turn all of its rates around and keep all groups as they are; G may
/// be singular.
///
/// Groups are split by s, then by Σ_j G_ij k(j) with a number k of each group, until nothing
/// changes. The numbers are e to the power of multiples of the golden ratio's fraction, whose
/// combinations agree only where the sums do.
template <RealScalar Scalar>
class EquivalentContacts {
 public:
  /// Part of the largest rate [-], and of the rows' sums of G, by which numbers of equivalent
  /// contacts may differ: round-off in masses and frames stays below it in ordinary units. A
  /// smaller one takes the round-off of a turned frame for a difference, a larger one takes small
  /// differences for round-off.
  static constexpr Scalar tolerance() noexcept {
    return Scalar(std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16);
  }

  /// Grows memory to a number of contacts; allocates where none was as large.
  void prepare(Index count) {
    const auto size = std::size_t(count);
    for (auto* list : {&group_, &members_, &waiting_, &sizes_, &starts_}) {
      list->reserve(size + 1);
    }
    moved_.reserve(size);
    is_waiting_.reserve(size);
    for (auto* list : {&sums_, &references_, &keys_}) list->reserve(size);
  }

  /// Splits the contacts of a problem.
  /// @param rates    s, one per contact.
  /// @param rounding  round-off of the rates [√J], ≥ 0.
  /// @return  whether any group has more than one contact.
  /// @pre   prepare() was called with as many contacts.
  /// @note  Real-time safe: no allocation, no exception. It costs n_c log n_c where all rates
  ///        differ, else as many visits of neighbours, times log n_c, as contacts change groups.
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

  /// The contacts equivalent to one, itself included, in their order; of one that repeats another,
  /// and of any where split() found no group, nothing.
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

  /// Gives every contact the mean of its group, in place.
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
    keys_.push_back(Scalar(std::exp(std::fmod(double(sizes_.size()) * std::numbers::phi, 1.0))));
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

  /// Groups by rates, in members_ sorted by them.
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
  /// Σ_j G_ij k(j) of every contact; all wait to be compared.
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
  /// Compares those that wait with the rest of their group, and moves what differs to new groups.
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
  /// @param begin, end  those of the group that wait, sorted by their sums. Where there are others,
  ///                    they all have the group's reference for a sum, and keep the group; else the
  ///                    largest part keeps it, so that a contact moves log n_c times at most.
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
  /// Past the last of those from `first` on whose sums are the same.
  [[nodiscard]] std::size_t end_of_part(std::size_t first, std::size_t end) const noexcept {
    std::size_t last = first + 1;
    while (last < end &&
           sums_[std::size_t(waiting_[last])] - sums_[std::size_t(waiting_[last - 1])] <=
               allowance_) {
      ++last;
    }
    return last;
  }
  /// Brings the sums of those up to date that meet a contact in a new group.
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
  std::vector<Index> group_;           ///< per contact; −1 of one that repeats another
  std::vector<Index> members_;         ///< contacts, in the end group by group
  std::vector<Index> sizes_, starts_;  ///< per group
  std::vector<Index> waiting_;
  std::vector<char> is_waiting_;
  std::vector<Scalar> sums_;               ///< per contact
  std::vector<Scalar> references_, keys_;  ///< per group
  std::vector<Move> moved_;
};

}  // namespace CAROM_ABI
}  // namespace carom
