// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/batch_view.hpp"
#include "carom/impact/impact_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The form of the masses in a batch of impacts.
enum class ImpactMass {
  dense,             ///< M [kg, kg·m²], n×n; only its lower half is used.
  diagonal,          ///< the diagonal of M, n.
  inverse_dense,     ///< M⁻¹ [1/kg, 1/(kg·m²)], n×n; only its lower half is used.
  inverse_diagonal,  ///< the diagonal of M⁻¹, n.
};

/// The common structure of impacts in a batch: coordinates, contacts, and the form of the mass.
class ImpactPattern {
 public:
  /// @param coordinates  n, length of momenta and gradients, ≥ 0.
  /// @param contacts     n_c, all closed contacts, ≥ 0.
  /// @throws std::invalid_argument  naming a count that is negative.
  explicit ImpactPattern(int coordinates, int contacts, ImpactMass mass = ImpactMass::dense)
      : coordinates_(coordinates), contacts_(contacts), mass_(mass) {
    if (coordinates < 0)
      detail::reject_if(detail::fault("coordinates", "a count >= 0", coordinates));
    if (contacts < 0) detail::reject_if(detail::fault("contacts", "a count >= 0", contacts));
  }

  [[nodiscard]] CAROM_DEVICE int coordinate_count() const noexcept { return coordinates_; }
  [[nodiscard]] CAROM_DEVICE int contact_count() const noexcept { return contacts_; }
  [[nodiscard]] CAROM_DEVICE ImpactMass mass() const noexcept { return mass_; }
  [[nodiscard]] CAROM_DEVICE bool is_diagonal() const noexcept {
    return mass_ == ImpactMass::diagonal || mass_ == ImpactMass::inverse_diagonal;
  }
  [[nodiscard]] CAROM_DEVICE bool is_inverse() const noexcept {
    return mass_ == ImpactMass::inverse_dense || mass_ == ImpactMass::inverse_diagonal;
  }
  /// Numbers of a mass.
  [[nodiscard]] CAROM_DEVICE int mass_count() const noexcept {
    return is_diagonal() ? coordinates_ : coordinates_ * coordinates_;
  }

 private:
  int coordinates_, contacts_;
  ImpactMass mass_;
};

/// Which of the infeasible contacts reflects next; see order.hpp.
enum class ImpactOrder {
  most_infeasible,   ///< as MostInfeasibleFirst
  least_infeasible,  ///< as LeastInfeasibleFirst
  sweep,             ///< as SweepOrder: by index, or in the order of ImpactBatchView.
};

/// The law of an impact.
enum class ImpactBatchLaw {
  elastic,      ///< as ImpactResolver
  plastic,      ///< as PlasticImpact with Moreau's law
  restitution,  ///< as RestitutionImpact with Moreau's law, R from the view.
};

/// How a batch of impacts is resolved.
template <RealScalar Scalar>
struct ImpactBatchOptions {
  ImpactBatchLaw law = ImpactBatchLaw::elastic;
  ImpactOrder order = ImpactOrder::most_infeasible;
  /// As in ImpactOptions. For float, at most 2²⁴ reflections are counted.
  ImpactOptions<Scalar> resolver{};
};

/// Impacts in plain arrays: the contents of ImpactProblem and a momentum. A view.
///
/// Either the momentum or the velocity before the impact is given. The answers may be written to
/// the same memory.
template <RealScalar Scalar>
struct ImpactBatchView {
  Index count = 0;  ///< problems, ≥ 0
  const ImpactPattern* patterns = nullptr;
  const int* pattern_numbers = nullptr;  ///< one for each problem; null: all have patterns[0].
  /// Length of `patterns`. A problem whose pattern number is not in 0 to pattern_count − 1 is
  /// rejected.
  int pattern_count = 1;

  BatchArray<const Scalar> mass{};      ///< M or M⁻¹, according to the pattern.
  BatchArray<const Scalar> normals{};   ///< Dϕ_i [-, m], n of each contact; any length but zero.
  BatchArray<const Scalar> momentum{};  ///< p⁻ [N·s, N·m·s], n.
  BatchArray<const Scalar> velocity{};  ///< v⁻ [m/s, rad/s], n; read if momentum is null.
  /// R [-] in [0, 1], 1; null: 1. For the law `restitution` only.
  BatchArray<const Scalar> restitution{};
  /// Contacts in the order of ImpactOrder::sweep; null: by index. Contacts that are not in it never
  /// reflect.
  BatchArray<const int> sequence{};
  const int* sequence_counts = nullptr;  ///< entries of each problem's sequence; 0: by index.
  int sequence_count = 0;                ///< entries of each sequence if sequence_counts is null

  [[nodiscard]] CAROM_DEVICE int pattern_number(Index problem) const noexcept {
    return pattern_numbers != nullptr ? pattern_numbers[problem] : 0;
  }
  /// Whether the pattern number of a problem is valid.
  [[nodiscard]] CAROM_DEVICE bool has_pattern(Index problem) const noexcept {
    const int number = pattern_number(problem);
    return number >= 0 && number < pattern_count;
  }
  /// @pre  has_pattern(problem)
  [[nodiscard]] const ImpactPattern& pattern(Index problem) const noexcept {
    return patterns[pattern_number(problem)];
  }
  /// Entries of a problem's sequence; 0: by index.
  [[nodiscard]] CAROM_DEVICE int length_of_sequence(Index problem) const noexcept {
    if (sequence.data == nullptr) return 0;
    return sequence_counts != nullptr ? sequence_counts[problem] : sequence_count;
  }
};

/// The fault of the numbers of an impact.
enum class ImpactFault {
  none,
  mass,         ///< not positive definite, or not finite; item: coordinate
  normal,       ///< zero, or not finite; item: contact
  momentum,     ///< p⁻ or v⁻ is not finite, or too large; item: coordinate
  restitution,  ///< not in [0, 1]; item: 0
  sequence,     ///< an entry is not a contact; item: place in the sequence
  pattern,      ///< invalid pattern number; item: −1
};

/// The fault as a word for messages.
[[nodiscard]] constexpr const char* to_string(ImpactFault fault) noexcept {
  constexpr const char* words[] = {"none",        "mass",     "normal", "momentum",
                                   "restitution", "sequence", "pattern"};
  return words[static_cast<int>(fault)];
}

/// Result of one impact.
template <RealScalar Scalar>
struct ImpactProblemReport {
  ImpactStatus status = ImpactStatus::not_finite;
  Index reflections = 0;   ///< Count of reflections.
  Scalar energy_gain = 0;  ///< Increase of the kinetic energy [J], summed over the impulses.
  ImpactFault fault = ImpactFault::none;  ///< Fault of its numbers.
  int item = -1;                          ///< Place of the fault.
};

namespace detail {

/// The report of an impact without a pattern. Nothing of the impact is read or written.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE ImpactProblemReport<Scalar> impact_without_pattern() noexcept {
  return {ImpactStatus::not_finite, 0, Scalar(0), ImpactFault::pattern, -1};
}

}  // namespace detail

/// Arrays for the answers. An array with null data is not written.
///
/// For a problem with a fault, its original momentum or velocity is written, NaN for the other of
/// the two, and no impulses. For a problem without a pattern, only the report is written.
template <RealScalar Scalar>
struct ImpactBatchAnswers {
  BatchArray<Scalar> momentum{};                   ///< p⁺ [N·s, N·m·s], n.
  BatchArray<Scalar> velocity{};                   ///< v⁺ [m/s, rad/s], n.
  BatchArray<Scalar> impulse{};                    ///< λ_i, summed, per unit normal [√J], n_c.
  ImpactProblemReport<Scalar>* reports = nullptr;  ///< One for each problem.
};

}  // namespace CAROM_ABI
}  // namespace carom
