// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include <Eigen/LU>

#include "carom/batch/impact_batch.hpp"
#include "carom/impact/impact_problem.hpp"

#include "support/impact_scenes.hpp"

/// @file
/// Impacts for tests of batches of them.
namespace carom::testing {

/// An impact in plain numbers.
struct Impact {
  Eigen::MatrixXd mass;
  std::vector<Eigen::VectorXd> normals;
  Eigen::VectorXd momentum;
  std::vector<int> sequence{};
  double restitution = 1;

  [[nodiscard]] MassMatrix<double> metric() const { return MassMatrix<double>::make_dense(mass); }
  [[nodiscard]] ImpactProblem<double> problem() const {
    ImpactProblem<double> problem(momentum.size());
    for (const auto& normal : normals) problem.add_contact(metric(), normal);
    problem.prepare();
    return problem;
  }
  [[nodiscard]] VectorX<double> velocity(VectorX<double> p) const {
    metric().apply_inverse(p);
    return p;
  }
};

/// Impacts in the arrays of a batch, and room for their answers.
template <typename Scalar>
struct ImpactBatch {
  std::vector<ImpactPattern> patterns;
  std::vector<int> pattern_numbers, sequence, sequence_counts;
  std::vector<Scalar> mass, normals, before, momentum, velocity, impulse, restitution;
  std::vector<Index> masses_at, normals_at, momenta_at, impulses_at, sequences_at, blends_at;
  std::vector<carom::ImpactProblemReport<Scalar>> reports;

  explicit ImpactBatch(const std::vector<Impact>& impacts, ImpactMass mass_form = ImpactMass::dense,
                       bool by_velocity = false) {
    for (const Impact& impact : impacts) add(impact, mass_form, by_velocity);
    by_velocity_ = by_velocity;
    momentum.resize(before.size());
    velocity.resize(before.size());
    impulse.resize(impulse_count_);
    reports.resize(impacts.size());
  }

  [[nodiscard]] ImpactBatchView<Scalar> view() const {
    ImpactBatchView<Scalar> view;
    view.count = Index(reports.size());
    view.patterns = patterns.data();
    view.pattern_numbers = pattern_numbers.data();
    view.pattern_count = int(patterns.size());
    view.mass = {mass.data(), 0, masses_at.data()};
    view.normals = {normals.data(), 0, normals_at.data()};
    auto& given = by_velocity_ ? view.velocity : view.momentum;
    given = {before.data(), 0, momenta_at.data()};
    view.restitution = {restitution.data(), 1};
    view.sequence = {sequence.data(), 0, sequences_at.data()};
    view.sequence_counts = sequence_counts.data();
    return view;
  }
  [[nodiscard]] carom::ImpactBatchAnswers<Scalar> answers() {
    return {{momentum.data(), 0, momenta_at.data()},
            {velocity.data(), 0, momenta_at.data()},
            {impulse.data(), 0, impulses_at.data()},
            reports.data()};
  }
  template <int LaneCount = carom::impact_lane_count<Scalar>>
  ImpactBatchReport resolve(const ImpactBatchOptions<Scalar>& options = {}) {
    ImpactBatchWorkspace<Scalar, LaneCount> workspace;
    workspace.prepare(view(), 1);
    return resolve_batch(view(), answers(), options, workspace);
  }
  [[nodiscard]] int size(std::size_t i) const {
    return patterns[std::size_t(pattern_numbers[i])].coordinate_count();
  }
  [[nodiscard]] int contacts(std::size_t i) const {
    return patterns[std::size_t(pattern_numbers[i])].contact_count();
  }
  [[nodiscard]] VectorX<Scalar> momentum_of(std::size_t i) const {
    return Eigen::Map<const VectorX<Scalar>>(momentum.data() + momenta_at[i], size(i));
  }
  [[nodiscard]] VectorX<Scalar> velocity_of(std::size_t i) const {
    return Eigen::Map<const VectorX<Scalar>>(velocity.data() + momenta_at[i], size(i));
  }
  [[nodiscard]] VectorX<Scalar> impulse_of(std::size_t i) const {
    return Eigen::Map<const VectorX<Scalar>>(impulse.data() + impulses_at[i], contacts(i));
  }

 private:
  void add(const Impact& impact, ImpactMass form, bool by_velocity) {
    const int n = int(impact.momentum.size()), m = int(impact.normals.size());
    int pattern = 0;
    while (pattern < int(patterns.size()) &&
           (patterns[std::size_t(pattern)].coordinate_count() != n ||
            patterns[std::size_t(pattern)].contact_count() != m))
      ++pattern;
    if (pattern == int(patterns.size())) patterns.emplace_back(n, m, form);
    pattern_numbers.push_back(pattern);
    const auto put = [](std::vector<Index>& at, auto& to, const auto& from) {
      at.push_back(Index(to.size()));
      for (const auto& entry : from) {
        to.push_back(static_cast<typename std::remove_cvref_t<decltype(to)>::value_type>(entry));
      }
    };
    Eigen::MatrixXd numbers = impact.mass;
    if (patterns[0].is_inverse()) numbers = impact.mass.inverse().eval();
    if (patterns[0].is_diagonal()) numbers = numbers.diagonal().eval();
    put(masses_at, mass, numbers.reshaped());
    std::vector<double> rows;
    for (const auto& normal : impact.normals) rows.insert(rows.end(), normal.begin(), normal.end());
    put(normals_at, normals, rows);
    const bool convert = by_velocity && n > 0;
    put(momenta_at, before, convert ? impact.velocity(impact.momentum) : impact.momentum);
    put(sequences_at, sequence, impact.sequence);
    sequence_counts.push_back(int(impact.sequence.size()));
    restitution.push_back(Scalar(impact.restitution));
    impulses_at.push_back(Index(impulse_count_));
    impulse_count_ += std::size_t(m);
  }
  std::size_t impulse_count_ = 0;
  bool by_velocity_ = false;
};

/// A line of balls along which they touch; with a wall, the first one touches it.
inline Impact line_impact(const std::vector<double>& masses, const Eigen::VectorXd& velocity,
                          bool wall = false) {
  const auto n = Index(masses.size());
  Impact impact;
  impact.mass = Eigen::Map<const Eigen::VectorXd>(masses.data(), n).asDiagonal();
  if (wall) impact.normals.push_back(Eigen::VectorXd::Unit(n, 0));
  for (Index i = 0; i + 1 < n; ++i) {
    impact.normals.push_back(Eigen::VectorXd::Unit(n, i + 1) - Eigen::VectorXd::Unit(n, i));
  }
  impact.momentum = impact.mass * velocity;
  return impact;
}

/// A ball of mass 1 between a wall and a heavy one that comes in.
inline Impact galperin(double ratio) {
  return line_impact({1, ratio}, vector_of({0, -1}), true);
}

/// Impacts of many sizes that some motion opens; every seventh repeats a normal, every eleventh has
/// no contact, and some have more contacts than are looked at one by one.
inline std::vector<Impact> draw_impacts(int count, unsigned seed, bool wedged = false) {
  VectorSource<double> source(seed);
  std::vector<Impact> impacts;
  for (int i = 0; i < count; ++i) {
    if (i % 5 == 4) {
      impacts.push_back(galperin(std::pow(10.0, i % 4)));
      continue;
    }
    const Index size = i % 13 == 12 ? 16 : 2 + i % 5;
    const Index contacts = i % 11 == 10 ? 0 : i % 13 == 12 ? 14 : 1 + i % (size + 1);
    Impact impact;
    impact.mass = draw_definite(source, size);
    const Eigen::VectorXd opening = draw_vector(source, size);
    while (Index(impact.normals.size()) < contacts) {
      Eigen::VectorXd normal = draw_vector(source, size);
      const double opens = normal.dot(opening);
      if (std::abs(opens) < 0.1 * opening.norm() * normal.norm()) continue;
      impact.normals.push_back((source.unit() + 0.1) * (opens > 0 ? normal : -normal));
    }
    if (i % 7 == 6 && contacts > 1) impact.normals.back() = 3 * impact.normals.front();
    if (wedged && i % 3 == 0 && contacts > 1) impact.normals.back() = -impact.normals.front();
    impact.momentum = draw_vector(source, size);
    impact.restitution = source.unit();
    for (Index k = 0; k < 2 * contacts; ++k) {
      impact.sequence.push_back(int(k < contacts ? contacts - 1 - k : k - contacts));
    }
    impacts.push_back(impact);
  }
  return impacts;
}

/// Whether an impact has the same bits in two batches.
template <typename Scalar>
[[nodiscard]] bool same_answer(const ImpactBatch<Scalar>& a, std::size_t i,
                               const ImpactBatch<Scalar>& b, std::size_t k) {
  const auto same = [](const VectorX<Scalar>& x, const VectorX<Scalar>& y) {
    return x.size() == y.size() &&
           (x.size() == 0 ||
            std::memcmp(x.data(), y.data(), sizeof(Scalar) * std::size_t(x.size())) == 0);
  };
  const auto &r = a.reports[i], &s = b.reports[k];
  return same(a.momentum_of(i), b.momentum_of(k)) && same(a.velocity_of(i), b.velocity_of(k)) &&
         same(a.impulse_of(i), b.impulse_of(k)) && r.status == s.status &&
         r.reflections == s.reflections && r.energy_gain == s.energy_gain && r.fault == s.fault;
}

}  // namespace carom::testing
