// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/batch_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/solvers/coulomb_derivative.hpp"

#include "support/catch.hpp"
#include "support/every_block.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"

namespace batch_gradients_test {

using carom::BatchGradients, carom::BatchStorage, carom::BatchWorkspace, carom::ContactProblem;
using carom::FrictionLaw, carom::ImpulseShape, carom::Index, carom::SapOptions;
using carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::by_conditioning, carom::testing::by_differences;
using carom::testing::draw_matrix, carom::testing::draw_problem, carom::testing::VectorSource,
    carom::testing::WorstCase;

namespace {

enum Part { mass, free_velocity, jacobian, friction, regularization, bias, bounds, part_count };

/// Gradients of a batch, each part of a problem as long as the longest.
struct Gradients {
  std::vector<double> by_velocity, by_impulse, parts[part_count];
  std::vector<SolveStatus> statuses;
  Index stride = 0;

  Gradients(const BatchStorage<double>& batch, Index longest, unsigned seed) : stride(longest) {
    const auto numbers = std::size_t(batch.count() * stride);
    VectorSource<double> source(seed);
    for (auto* slopes : {&by_velocity, &by_impulse}) {
      slopes->resize(numbers);
      for (double& slope : *slopes) slope = source.unit() - 0.5;
    }
    for (auto& part : parts) part.assign(numbers, std::numeric_limits<double>::quiet_NaN());
    statuses.resize(std::size_t(batch.count()));
  }
  [[nodiscard]] BatchGradients<double> view() {
    const auto at = [&](Part part) {
      return carom::BatchArray<double>{parts[part].data(), stride, nullptr};
    };
    return {{by_velocity.data(), stride},
            {by_impulse.data(), stride},
            at(mass),
            at(free_velocity),
            at(jacobian),
            at(friction),
            at(regularization),
            at(bias),
            at(bounds),
            statuses.data()};
  }
  /// Numbers of a part of a problem.
  [[nodiscard]] VectorX<double> of(Part part, Index problem, Index count) const {
    return Eigen::Map<const VectorX<double>>(parts[part].data() + problem * stride, count);
  }
};

/// A part of the reference in the order of a batch.
void append(std::vector<double>& to, const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (Index c = 0; c < matrix.cols(); ++c) to.push_back(matrix(r, c));
  }
}
struct Reference {
  std::vector<double> parts[part_count];
  bool usable = false;
  Index on_borders = 0;
};
Reference differentiate(const ContactProblem<double>& problem, const BatchStorage<double>& batch,
                        Index i, Gradients& given, FrictionLaw law) {
  carom::CoulombDerivative<double> derivative(
      carom::CoulombDerivativeOptions<double>{.law = law, .boundary_tolerance = 1e-9});
  carom::ProblemDifferential<double> gradient;
  gradient.set_zero(problem);
  Reference reference;
  const VectorX<double> velocity = batch.velocity(i), impulse = batch.impulse(i);
  const auto found = derivative.linearize(problem, velocity, impulse);
  reference.on_borders = found.boundary_count;
  if (!found.usable()) return reference;
  const VectorX<double> by_velocity = Eigen::Map<VectorX<double>>(
                            given.by_velocity.data() + i * given.stride, velocity.size()),
                        by_impulse = Eigen::Map<VectorX<double>>(
                            given.by_impulse.data() + i * given.stride, impulse.size());
  const auto report = derivative.pull_back(problem, by_velocity, by_impulse, gradient);
  reference.usable = report.converged();
  auto& parts = reference.parts;
  for (Index b = 0; b < problem.body_count(); ++b) append(parts[mass], gradient.momentum(b));
  append(parts[free_velocity], gradient.free_velocity);
  append(parts[bias], gradient.bias_velocity);
  Index row = 0;
  for (Index k = 0; k < problem.block_count(); ++k) {
    const int rows = problem.rows(k);
    for (int s = 0; s < int(problem.side_count(k)); ++s) {
      append(parts[jacobian], gradient.jacobian(k, s));
    }
    const VectorX<double> weights = gradient.regularization.segment(row, rows);
    const VectorX<double> lower = gradient.lower.segment(row, rows);
    const VectorX<double> upper = gradient.upper.segment(row, rows);
    row += rows;
    if (problem.is_friction_contact(k)) {
      parts[friction].push_back(gradient.friction(k));
      parts[regularization].push_back(weights(0) + weights(1));
      parts[regularization].push_back(weights(2));
      continue;
    }
    append(parts[regularization], weights);
    const auto shape = problem.law(k).set.shape;
    const auto own = carom::detail::LaneShape::of(shape);
    std::vector<double> mu(std::size_t(carom::friction_count(shape)), 0.0);
    for (int r = 0; own.normal >= 0 && r < rows; ++r) {
      if (r != own.normal) mu[std::size_t(own.friction_of_row[r])] += upper(r);
    }
    for (const double one : mu) parts[friction].push_back(one);
    append(parts[bounds], own.normal >= 0 ? VectorX<double>::Zero(rows) : lower);
    if (own.normal < 0) append(parts[bounds], upper);
  }
  return reference;
}

/// Blocks of every kind, and a body that nothing touches.
ContactProblem<double> draw_blocks(VectorSource<double>& source) {
  ContactProblem<double> problem = carom::testing::draw_every_block(source);
  problem.add_body(2 * Eigen::Matrix2d::Identity(), Eigen::Vector2d(1, 2));
  return problem;
}

template <int LaneCount = carom::batch_lane_count<double>>
carom::BatchReport solve(BatchStorage<double>& batch, Gradients& gradients,
                         const SapOptions<double>& options) {
  BatchWorkspace<double, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  return solve_batch(batch.view(), batch.answers(), gradients.view(), options, workspace);
}

bool is_same(const Gradients& a, const Gradients& b) {
  bool same = a.statuses == b.statuses;
  for (int p = 0; p < part_count; ++p) {
    same = same && std::memcmp(a.parts[p].data(), b.parts[p].data(),
                               a.parts[p].size() * sizeof(double)) == 0;
  }
  return same;
}

void check_against_reference(const std::vector<ContactProblem<double>>& problems, Index longest,
                             const SapOptions<double>& options, Index least,
                             double tolerance = 1e-9) {
  BatchStorage<double> batch;
  for (const auto& problem : problems) batch.add(problem);
  Gradients gradients(batch, longest, 25001u);
  solve(batch, gradients, options);
  WorstCase near_reference("the distance to CoulombDerivative's gradient");
  Index seen = 0;
  for (Index i = 0; i < batch.count(); ++i) {
    if (batch.report(i).status != SolveStatus::converged) continue;
    CHECK(gradients.statuses[std::size_t(i)] == SolveStatus::converged);
    const Reference reference =
        differentiate(problems[std::size_t(i)], batch, i, gradients, options.law);
    if (!reference.usable || reference.on_borders > 0) continue;
    ++seen;
    for (int p = 0; p < part_count; ++p) {
      if (p == bounds) continue;
      const auto& numbers = reference.parts[p];
      const Eigen::Map<const VectorX<double>> wanted(numbers.data(), Index(numbers.size()));
      const double error = (gradients.of(Part(p), i, wanted.size()) - wanted).norm();
      near_reference.see((long double)(error),
                         (long double)(by_conditioning(tolerance) * wanted.norm()), i);
    }
  }
  CHECK(seen >= least);
  if (seen > 0) near_reference.check(seen * (part_count - 1));
}

std::vector<ContactProblem<double>> draw_all(int count) {
  VectorSource<double> source(25002u);
  std::vector<ContactProblem<double>> problems;
  for (int i = 0; i < count; ++i) problems.push_back(draw_blocks(source));
  return problems;
}

}  // namespace

TEST_CASE("batch_gradients: every kind of block as CoulombDerivative has it", "[batch_gradients]") {
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    check_against_reference(draw_all(30), 1000, {.law = law, .tolerance = 1e-13}, 15);
  }
}

TEST_CASE("batch_gradients: rigid contacts as CoulombDerivative has them", "[batch_gradients]") {
  VectorSource<double> source(25003u);
  std::vector<ContactProblem<double>> problems;
  for (int i = 0; i < 30; ++i) {
    problems.push_back(build(carom::testing::make_rigid(draw_problem(source, {{6, 6, 3}, 3}))));
  }
  for (const char* name : {"robot_30x16", "pile_n10_s60"}) {
    problems.push_back(carom::files::read_text_problem(
                           std::string(CAROM_SOURCE_DIR "/examples/data/") + name + ".txt")
                           .problem);
    problems.back().make_rigid();
  }
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const SapOptions<double> options{.law = law, .tolerance = 1e-12, .iteration_limit = 500};
    check_against_reference(problems, 20000, options, 15, 1e-6);
  }
}

TEST_CASE("batch_gradients: bundled problems as CoulombDerivative has them", "[batch_gradients]") {
  for (const char* name : {"robot_30x16", "pile_n10_s60", "mujoco_box_10"}) {
    CAPTURE(name);
    const auto given = carom::files::read_text_problem(
        std::string(CAROM_SOURCE_DIR "/examples/data/") + name + ".txt");
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      check_against_reference({given.problem}, 20000, {.law = law, .tolerance = 1e-12}, 1);
    }
  }
}

TEST_CASE("batch_gradients: bounds and shifts as differences have them", "[batch_gradients]") {
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const SapOptions<double> options{.law = law, .tolerance = 1e-12};
    WorstCase near_difference("the distance to a central difference");
    Index seen = 0;
    for (const auto& problem : draw_all(4)) {
      BatchStorage<double> batch;
      batch.add(problem);
      Gradients gradients(batch, 1000, 25003u);
      BatchWorkspace<double> workspace;
      workspace.prepare(batch.view(), 1);
      solve_batch(batch.view(), batch.answers(), gradients.view(), options, workspace);
      CHECK(gradients.statuses[0] == SolveStatus::converged);
      Index count = 0;
      for (Index k = 0; k < problem.block_count(); ++k) {
        if (problem.is_friction_contact(k)) continue;
        const bool intervals = problem.law(k).set.shape == ImpulseShape::intervals;
        count += (intervals ? 2 : 1) * problem.rows(k);
      }
      const VectorX<double> found = gradients.of(bounds, 0, count);
      carom::BatchView<double> view = batch.view();
      std::vector<double> numbers(view.bounds.of(0), view.bounds.of(0) + count);
      view.bounds = {numbers.data()};
      const auto cost_at = [&](Index j, double change) {
        const double kept = numbers[std::size_t(j)];
        numbers[std::size_t(j)] += change;
        solve_batch(view, batch.answers(), options, workspace);
        numbers[std::size_t(j)] = kept;
        const VectorX<double> v = batch.velocity(0), impulse = batch.impulse(0);
        return v.dot(Eigen::Map<VectorX<double>>(gradients.by_velocity.data(), v.size())) +
               impulse.dot(
                   Eigen::Map<VectorX<double>>(gradients.by_impulse.data(), impulse.size()));
      };
      for (Index j = 0; j < count; ++j) {
        if (!std::isfinite(numbers[std::size_t(j)])) {
          CHECK(found(j) == 0);
          continue;
        }
        ++seen;
        const double h = 1e-6, difference = (cost_at(j, h) - cost_at(j, -h)) / (2 * h);
        near_difference.see((long double)(std::abs(found(j) - difference)),
                            (long double)(by_differences(1e-6) * (1 + found.norm())), j);
      }
    }
    near_difference.check(seen);
  }
}

TEST_CASE("batch_gradients: a puck that slides, in closed form", "[batch_gradients]") {
  const double m = 2, mu = 0.3, wanted_rt = 1e-4, rn = 1e-2, fall = -3;
  ContactProblem<double> problem(0.01);
  problem.add_body(m * Eigen::Matrix3d::Identity(), Eigen::Vector3d(5, 0, fall));
  problem.add_contact(
      0, Eigen::Matrix3d::Identity(),
      carom::WeightedContact<double>{.friction = mu,
                                     .regularization = {.tangent = wanted_rt, .normal = rn},
                                     .bias_velocity = Eigen::Vector3d::Zero()});
  BatchStorage<double> batch;
  batch.add(problem);
  Gradients gradients(batch, 9, 1u);
  std::fill(gradients.by_velocity.begin(), gradients.by_velocity.end(), 0.0);
  std::fill(gradients.by_impulse.begin(), gradients.by_impulse.end(), 0.0);
  gradients.by_velocity[0] = 1;  // c is the speed along the ground
  solve(batch, gradients, {.law = FrictionLaw::coulomb, .tolerance = 1e-14});
  const double normal = -fall / (rn + 1 / m);
  const auto near_by = [](double a, double b) {
    CAPTURE(a, b);
    return std::abs(a - b) <= carom::testing::rounding<double>(200, 1 + std::abs(b));
  };
  CHECK(near_by(batch.velocity(0)(0), 5 - mu * normal / m));
  CHECK(near_by(gradients.parts[friction][0], -normal / m));
  CHECK(near_by(gradients.parts[free_velocity][0], 1));
  CHECK(near_by(gradients.parts[free_velocity][2], mu / (m * (rn + 1 / m))));
  CHECK(near_by(gradients.parts[regularization][1], mu * normal / (m * (rn + 1 / m))));
  CHECK(near_by(gradients.parts[regularization][0], 0));
}

TEST_CASE("batch_gradients: the same bits for lanes, threads, and in a call of their own",
          "[batch_gradients]") {
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const SapOptions<double> options{.law = law};
    VectorSource<double> source(25004u);
    BatchStorage<double> batch;
    for (int i = 0; i < 300; ++i) {
      batch.add(i % 7 == 0 ? draw_blocks(source)
                           : build(draw_problem(source, {{6, 3, 2}, int(i % 5)})));
    }
    Gradients wide(batch, 1000, 25005u), narrow = wide, threaded = wide, apart = wide;
    const auto report = solve(batch, wide, options);
    CHECK(report.converged >= 290);
    solve<1>(batch, narrow, options);
    CHECK(is_same(wide, narrow));
    BatchWorkspace<double> workspace;
    workspace.prepare(batch.view(), 2);
    const auto on_threads = [](Index count, const auto& task) {
      std::vector<std::thread> threads;
      for (Index i = count - 1; i >= 0; --i) threads.emplace_back([&task, i] { task(i); });
      for (std::thread& one : threads) one.join();
    };
    solve_batch(batch.view(), batch.answers(), threaded.view(), options, workspace, on_threads);
    CHECK(is_same(wide, threaded));
    solve_batch(batch.view(), batch.answers(), options, workspace);
    const Index count =
        pull_back_batch(batch.view(), batch.answers(), apart.view(), options, workspace);
    CHECK(count == report.converged);
    CHECK(is_same(wide, apart));
  }
}

TEST_CASE("batch_gradients: a bad problem gets zeros and changes no other", "[batch_gradients]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto problems = draw_all(9);
  BatchStorage<double> batch;
  for (const auto& problem : problems) batch.add(problem);
  const SapOptions<double> options{.law = FrictionLaw::coulomb};
  Gradients good(batch, 1000, 25006u), bad = good;
  solve(batch, good, options);
  bad.by_velocity[std::size_t(2 * bad.stride)] = nan;
  bad.by_impulse[std::size_t(5 * bad.stride + 3)] = nan;
  carom::BatchView<double> view = batch.view();
  std::vector<double> free(view.free_velocity.of(0), view.free_velocity.of(8) + 17);
  free[std::size_t(view.free_velocity.offsets[7])] = nan;
  view.free_velocity.data = free.data();
  BatchWorkspace<double> workspace;
  workspace.prepare(view, 1);
  solve_batch(view, batch.answers(), bad.view(), options, workspace);
  for (Index i = 0; i < 9; ++i) {
    CAPTURE(i);
    const bool spoilt = i == 2 || i == 5 || i == 7;
    CHECK((bad.statuses[std::size_t(i)] == SolveStatus::not_finite) == spoilt);
    for (int p = 0; p < part_count; ++p) {
      const VectorX<double> own = bad.of(Part(p), i, bad.stride);
      const VectorX<double> other = good.of(Part(p), i, bad.stride);
      const std::size_t bytes = std::size_t(bad.stride) * sizeof(double);
      // Numbers past those of the problem stay as they were.
      if (spoilt) CHECK((own.array().isNaN() || own.array() == 0).all());
      if (spoilt) CHECK(own(0) == 0);
      if (!spoilt) CHECK(std::memcmp(own.data(), other.data(), bytes) == 0);
    }
  }
}

TEST_CASE("batch_gradients: no problems, and nothing wanted", "[batch_gradients]") {
  BatchStorage<double> batch;
  Gradients none(batch, 1, 1u);
  CHECK(solve(batch, none, {}).converged == 0);
  for (const auto& problem : draw_all(2)) batch.add(problem);
  std::vector<SolveStatus> statuses(2);
  BatchGradients<double> nothing;
  nothing.statuses = statuses.data();
  BatchWorkspace<double> workspace;
  workspace.prepare(batch.view(), 1);
  solve_batch(batch.view(), batch.answers(), SapOptions<double>{}, workspace);
  CHECK(pull_back_batch(batch.view(), batch.answers(), nothing, SapOptions<double>{}, workspace) ==
        2);
}

}  // namespace batch_gradients_test
