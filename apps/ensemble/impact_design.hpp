// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "carom/impact/design.hpp"
#include "carom/impact/outcomes.hpp"
#include "carom/impact/uniqueness.hpp"

#include "ensemble/random_impact.hpp"
#include "ensemble/tally.hpp"

namespace carom::ensemble {

/// Classifies random designs, computes all outcomes of their impact and the distance of these
/// outcomes, and moves the corners to the nearest design with one outcome.
class ImpactDesign {
 public:
  static constexpr const char* name = "impact-design";

  explicit ImpactDesign(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] static TallyLayout layout() {
    TallyLayout layout;
    for (const char* family : family_names) {
      const std::string of(family);
      const auto first = int(layout.counters.size());
      layout.counters.push_back({of, -1});
      for (const char* reason : reason_names)
        layout.counters.push_back({of + ", " + reason, first});
      for (const char* fault : fault_names) layout.counters.push_back({of + ", " + fault, first});
      layout.histograms.push_back({of + ": outcomes", doubling_bins(10)});
      layout.histograms.push_back({of + ": indeterminacy", decade_bins(spread_low, 1)});
      layout.histograms.push_back({of + ": momenta met", doubling_bins(16)});
      layout.largest.push_back(of + ": outcomes");
      layout.largest.push_back(of + ": indeterminacy");
      layout.largest.push_back(of + ": relative change of energy");
      layout.sums.push_back(of + ": indeterminacy");
      layout.sums.push_back(of + ": indeterminacy, where it is not unique");
    }
    layout.counters.push_back({"corner redesigned", int(family_counters)});
    const auto redesigned = int(layout.counters.size()) - 1;
    layout.counters.push_back({"corner redesigned, reached", redesigned});
    layout.counters.push_back({"corner redesigned, reached but not certified", redesigned + 1});
    layout.counters.push_back({"corner redesigned, reached but several outcomes", redesigned + 1});
    layout.histograms.push_back({"corner redesigned: iterations", doubling_bins(8)});
    layout.largest.emplace_back("corner redesigned: indeterminacy left");
    layout.sums.emplace_back("corner redesigned: distance of the designs");
    return layout;
  }

  /// Analyses design `index` and adds it to a tally of layout().
  void run(std::uint64_t index, Tally& tally) {
    impact_.make(seed_, index);
    Digest digest(index);
    const bool unique = examine(index, tally, digest);
    if (impact_.family == DesignFamily::corner && !unique) redesign(index, tally, digest);
    tally.finish_problem(digest);
  }

 private:
  static constexpr std::array family_names{"cradle", "corner"};
  /// In the order of UniquenessReason.
  static constexpr std::array reason_names{"orthogonal", "dihedral", "Coxeter", "not certified"};
  static constexpr std::array fault_names{"search not complete", "certified but several outcomes",
                                          "an outcome still closes", "an outcome changes energy"};
  static constexpr std::size_t family_counters = 1 + reason_names.size() + fault_names.size();
  static constexpr int spread_low = -16;
  static constexpr double allowance = 1e-9;  ///< for rates and energies, relative [-]

  /// Adds classification and outcomes of a design to the tally. Returns whether it is certified
  /// unique.
  bool examine(std::uint64_t index, Tally& tally, Digest& digest) {
    const auto family = std::size_t(impact_.family);
    const Uniqueness uniqueness = classify(impact_.problem);
    const ImpactOutcomes<double> found =
        enumerate_outcomes(impact_.problem, impact_.mass, impact_.momentum, search_);
    const std::size_t first = family * family_counters;
    const std::size_t faults = first + 1 + reason_names.size();
    ++tally.counters[first];
    ++tally.counters[first + 1 + std::size_t(uniqueness.reason)];
    if (!found.complete) ++tally.counters[faults];
    if (uniqueness.unique() && found.outcomes.size() > 1) ++tally.counters[faults + 1];
    double change = 0;
    bool closes = false;
    for (const ImpactOutcome<double>& outcome : found.outcomes) {
      change = std::max(change, std::abs(energy(outcome.momentum) / energy(impact_.momentum) - 1));
      closes = closes || still_closes(outcome.momentum);
      digest.take_all(outcome.momentum);
    }
    if (closes) ++tally.counters[faults + 2];
    if (!(change <= allowance)) ++tally.counters[faults + 3];
    const auto outcomes = std::uint64_t(found.outcomes.size());
    tally.count_bin(3 * family, doubling_bin(outcomes));
    tally.count_bin(3 * family + 1, decade_bin(found.indeterminacy, spread_low, 1));
    tally.count_bin(3 * family + 2, doubling_bin(std::uint64_t(found.states)));
    tally.largest[3 * family].see(double(outcomes), index);
    tally.largest[3 * family + 1].see(found.indeterminacy, index);
    tally.largest[3 * family + 2].see(change, index);
    tally.sums[2 * family].add(found.indeterminacy);
    if (!uniqueness.unique()) tally.sums[2 * family + 1].add(found.indeterminacy);
    digest.take(std::uint64_t(uniqueness.reason));
    digest.take(std::uint64_t(found.states));
    return uniqueness.unique();
  }

  /// Computes the nearest corner with one outcome, and counts whether it has one.
  void redesign(std::uint64_t index, Tally& tally, Digest& digest) {
    const std::size_t first = 2 * family_counters;
    VectorX<double> x = impact_.parameters;
    const int m = nearest_unique_label(normal_product(corner_design(x)));
    const SolveReport<double> report = find_unique_design<double>(corner_design, x, m);
    ++tally.counters[first];
    tally.count_bin(6, doubling_bin(std::uint64_t(report.iterations)));
    digest.take(std::uint64_t(report.status));
    digest.take_all(x);
    if (!report.converged()) return;
    ++tally.counters[first + 1];
    tally.sums[4].add((x - impact_.parameters).norm());
    const DesignPoint<double> point = corner_design(x);
    write_design_problem(point, redesigned_);
    if (!classify(redesigned_).unique()) ++tally.counters[first + 2];
    VectorX<double> velocity = impact_.momentum;
    impact_.mass.apply_inverse(velocity);
    const auto found =
        enumerate_outcomes(redesigned_, point.mass, point.mass.momentum(velocity), search_);
    if (found.outcomes.size() > 1) ++tally.counters[first + 3];
    tally.largest[6].see(found.indeterminacy, index);
  }

  [[nodiscard]] double energy(const VectorX<double>& momentum) const {
    VectorX<double> velocity = momentum;
    impact_.mass.apply_inverse(velocity);
    return momentum.dot(velocity) / 2;
  }
  [[nodiscard]] bool still_closes(const VectorX<double>& momentum) const {
    const double scale = impact_.problem.rate_scale(impact_.momentum);
    for (Index i = 0; i < impact_.problem.contact_count(); ++i) {
      if (!(impact_.problem.rate(i, momentum) >= -allowance * scale)) return true;
    }
    return false;
  }

  std::uint64_t seed_;
  RandomImpact impact_;
  ImpactProblem<double> redesigned_;
  OutcomeOptions<double> search_{.state_limit = 2000};
};

}  // namespace carom::ensemble
