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
#include "support/gradient_arrays.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"

namespace batch_gradients_test {

using carom::BatchGradients, carom::BatchStorage, carom::BatchWorkspace, carom::ContactProblem;
using carom::FrictionLaw, carom::ImpulseShape, carom::Index, carom::SapOptions;
using carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::by_conditioning, carom::testing::by_differences;
using namespace carom::testing::gradient_parts;
using carom::testing::draw_blocks, carom::testing::is_same;
using carom::testing::draw_matrix, carom::testing::draw_problem, carom::testing::VectorSource,
    carom::testing::WorstCase;

namespace {

using Gradients = carom::testing::GradientArrays<double>;

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

template <int LaneCount = carom::batch_lane_count<double>>
carom::BatchReport solve(BatchStorage<double>& batch, Gradients& gradients,
                         const SapOptions<double>& options) {
  BatchWorkspace<double, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  return solve_batch(batch.view(), batch.answers(), gradients.view(), options, workspace);
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

/// The problem with some blocks on boundaries: what sticks gets the μ at which it begins to slide,
/// what is open the v̂ at which it closes, what is between bounds its impulse as a bound.
ContactProblem<double> move_to_boundaries(ContactProblem<double> problem,
                                          const VectorX<double>& velocity,
                                          const VectorX<double>& impulse, FrictionLaw obeyed) {
  for (Index k = 0; k < problem.block_count(); k += 2) {
    const int rows = problem.rows(k);
    carom::WeightedBlock<double> law = problem.law(k);
    const VectorX<double> gamma = impulse.segment(problem.first_row(k), rows);
    VectorX<double> u = VectorX<double>::Zero(rows);
    for (int s = 0; s < int(problem.side_count(k)); ++s) {
      const auto body = problem.body(problem.side_body(k, s));
      u += problem.jacobian(k, s) * velocity.segment(body.start, body.size);
    }
    for (int r = 0; r < rows; ++r) {
      u(r) += law.regularization(r) * gamma(r) - law.bias_velocity(r);
    }
    if (law.set.shape == ImpulseShape::intervals) {
      if (gamma(0) > law.set.lower(0) && gamma(0) < law.set.upper(0)) law.set.upper(0) = gamma(0);
    } else if (gamma.isZero(0) && law.set.shift.isZero(0)) {
      const int normal = carom::detail::LaneShape::of(law.set.shape).normal;
      carom::RowNumbers<double> slip = carom::RowNumbers<double>::Zero();
      slip.head(rows) = u;
      const bool convex = obeyed == FrictionLaw::convex;
      law.bias_velocity(normal) += u(normal) - (convex ? de_saxce_lift(law.set, slip) : 0);
    } else if (law.set.shape == ImpulseShape::friction && u.norm() < 1e-9 * velocity.norm()) {
      law.set.friction(0) = gamma.head(2).norm() / gamma(2);
    }
    problem.set_law(k, law);
  }
  return problem;
}

TEST_CASE("batch_gradients: blocks on boundaries are counted as CoulombDerivative counts them",
          "[batch_gradients]") {
  VectorSource<double> source(25008u);
  std::vector<ContactProblem<double>> problems = draw_all(20);
  for (int i = 0; i < 40; ++i) problems.push_back(build(draw_problem(source, {{6, 3, 2}, i % 6})));
  for (int i = 0; i < 20; ++i) {
    problems.push_back(build(carom::testing::make_rigid(draw_problem(source, {{6, 6, 3}, 3}))));
  }
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const SapOptions<double> options{.law = law, .tolerance = 1e-12, .iteration_limit = 300};
    BatchStorage<double> first;
    for (const auto& problem : problems) first.add(problem);
    Gradients none(first, 1000, 25009u);
    solve(first, none, options);
    std::vector<ContactProblem<double>> moved = problems;
    for (Index i = 0; i < first.count(); ++i) {
      moved[std::size_t(i)] =
          move_to_boundaries(problems[std::size_t(i)], first.velocity(i), first.impulse(i), law);
    }
    BatchStorage<double> batch;
    for (const auto& problem : moved) batch.add(problem);
    Gradients wanted(batch, 1000, 25009u), counted = wanted;
    solve(batch, wanted, options);
    std::vector<int> counts(std::size_t(batch.count()), -1);
    counted.boundary_counts = counts.data();
    solve(batch, counted, options);
    CHECK(is_same(wanted, counted));  // to count changes no bit
    WorstCase same("the count of CoulombDerivative");
    Index seen = 0;
    int kinds[4] = {};
    for (Index i = 0; i < batch.count(); ++i) {
      const int count = counts[std::size_t(i)];
      if (counted.statuses[std::size_t(i)] != SolveStatus::converged) {
        CHECK(count == 0);
        continue;
      }
      carom::CoulombDerivative<double> derivative(
          carom::CoulombDerivativeOptions<double>{.law = law});
      const VectorX<double> velocity = batch.velocity(i), impulse = batch.impulse(i);
      const auto found = derivative.linearize(moved[std::size_t(i)], velocity, impulse);
      CAPTURE(int(law), i, count, found.boundary_count);
      same.see_holds(count == int(found.boundary_count), i);
      ++seen;
      for (const Index k : derivative.one_sided()) ++kinds[int(derivative.boundary(k))];
    }
    same.check(seen);
    CHECK(seen >= 60);
    for (const auto kind : {carom::RegionBoundary::stick_slide, carom::RegionBoundary::open_closed,
                            carom::RegionBoundary::bound}) {
      CAPTURE(to_string(kind));
      CHECK(kinds[int(kind)] >= 6);
    }
    // Side by side or alone.
    std::vector<int> alone(counts.size(), -1);
    counted.boundary_counts = alone.data();
    solve<1>(batch, counted, options);
    CHECK(alone == counts);
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

TEST_CASE("batch_gradients: a problem whose pattern number names none changes no other",
          "[batch_gradients]") {
  VectorSource<double> source(25012u);
  BatchStorage<double> batch;
  for (int i = 0; i < 30; ++i) batch.add(build(draw_problem(source, {{6, 3, 2}, i % 4})));
  Gradients good(batch, 400, 25013u), found = good;
  const SapOptions<double> options;
  solve(batch, good, options);
  constexpr Index bad = 17;
  auto view = batch.view();
  std::vector<int> numbers;
  for (Index i = 0; i < batch.count(); ++i) numbers.push_back(view.pattern_number(i));
  numbers[bad] = view.pattern_count;
  view.pattern_numbers = numbers.data();
  BatchWorkspace<double> workspace;
  workspace.prepare(view, 1);
  // The reports are those of before, of a problem that converged.
  const Index count = pull_back_batch(view, batch.answers(), found.view(), options, workspace);
  CHECK(count ==
        std::count(good.statuses.begin(), good.statuses.end(), SolveStatus::converged) - 1);
  CHECK(found.statuses[bad] == SolveStatus::not_finite);
  for (auto& part : good.parts) {  // nothing is written
    std::fill_n(part.begin() + 400 * bad, 400, std::numeric_limits<double>::quiet_NaN());
  }
  good.statuses[bad] = SolveStatus::not_finite;
  CHECK(is_same(found, good));
}

}  // namespace batch_gradients_test
