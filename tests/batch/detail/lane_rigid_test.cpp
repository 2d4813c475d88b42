// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/detail/lane_rigid.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/every_block.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"

namespace lane_rigid_test {

using carom::BatchStorage, carom::BatchWorkspace, carom::ContactProblem, carom::FrictionLaw;
using carom::ImpulseShape, carom::Index, carom::SapOptions, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::by_solver, carom::testing::draw_matrix;
using carom::testing::draw_problem, carom::testing::VectorSource, carom::testing::WorstCase;
using Catch::Matchers::WithinAbs, Catch::Matchers::WithinRel;

namespace {

/// Makes the cones rigid and moves v̂ so that some velocities separate all of them.
void make_rigid(ContactProblem<double>& problem, VectorSource<double>& source) {
  const VectorX<double> wanted = draw_matrix(source, problem.velocity_count(), 1);
  for (Index k = 0; k < problem.block_count(); ++k) {
    carom::WeightedBlock<double> law = problem.law(k);
    if (law.set.shape == ImpulseShape::intervals && !law.rigid) continue;
    VectorX<double> velocity = VectorX<double>::Zero(problem.rows(k));
    for (int s = 0; s < int(problem.side_count(k)); ++s) {
      const auto [first, size] = problem.body(problem.side_body(k, s));
      velocity += problem.jacobian(k, s) * wanted.segment(first, size);
    }
    law.bias_velocity.head(problem.rows(k)) = velocity;
    const int normal = carom::detail::LaneShape::of(law.set.shape).normal;
    if (normal >= 0) law.bias_velocity(normal) -= source.unit();
    law.regularization *= 1e-4;
    law.rigid = true;
    problem.set_law(k, law);
  }
}

/// Rigid contacts of every kind, joints and limits on three bodies.
ContactProblem<double> draw_blocks(VectorSource<double>& source) {
  ContactProblem<double> problem = carom::testing::draw_every_block(
      source, {.held_regularization = 1e-5, .held_rigid = true, .bond = 0});
  make_rigid(problem, source);
  return problem;
}

template <int LaneCount = carom::batch_lane_count<double>>
carom::BatchReport solve(BatchStorage<double>& batch, const SapOptions<double>& options) {
  BatchWorkspace<double, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  return solve_batch(batch.view(), batch.answers(), options, workspace);
}

/// Solves in one lane and in as many as a register has, and certifies what has converged.
void check(const std::vector<ContactProblem<double>>& problems, FrictionLaw law,
           Index least_converged) {
  const SapOptions<double> options{.law = law, .tolerance = 1e-9, .iteration_limit = 500};
  BatchStorage<double> batch, other;
  for (const auto& problem : problems) {
    batch.add(problem);
    other.add(problem);
  }
  const auto report = solve(batch, options);
  solve<1>(other, options);
  WorstCase balance("balance"), obeys("law"), same("bits");
  for (Index i = 0; i < batch.count(); ++i) {
    const VectorX<double> velocity = batch.velocity(i), impulse = batch.impulse(i);
    same.see_holds(velocity == VectorX<double>(other.velocity(i)) &&
                       impulse == VectorX<double>(other.impulse(i)) &&
                       batch.report(i).status == other.report(i).status &&
                       batch.report(i).residual == other.report(i).residual,
                   i);
    if (batch.report(i).status != SolveStatus::converged) continue;
    const auto& problem = problems[std::size_t(i)];
    balance.see(certify(problem, velocity, impulse).residual, by_solver(1e-8), i);
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    obeys.see(certify(dual, impulse, law).natural_map_error, by_solver(1e-6), i);
  }
  CHECK(report.converged >= least_converged);
  same.check(int(problems.size()));
  balance.check(int(least_converged));
  obeys.check(int(least_converged));
}

/// Forty problems that draw(source) makes.
template <typename Draw>
void check_drawn(FrictionLaw law, Index least_converged, const Draw& draw) {
  VectorSource<double> source(23002u);
  std::vector<ContactProblem<double>> problems;
  for (int i = 0; i < 40; ++i) problems.push_back(draw(source));
  check(problems, law, least_converged);
}

/// Bundled problems with rigid contacts and other free velocities.
void check_bundled(const char* name, FrictionLaw law, Index least_converged) {
  const auto given = carom::files::read_text_problem(
      std::string(CAROM_SOURCE_DIR "/examples/data/") + name + ".txt");
  VectorSource<double> source(23003u);
  std::vector<ContactProblem<double>> problems;
  for (int i = 0; i < 12; ++i) {
    problems.push_back(given.problem);
    VectorX<double> free = given.problem.free_velocity();
    for (Index k = 0; k < free.size(); ++k) free(k) *= 1 + 0.1 * (source.unit() - 0.5);
    problems.back().set_free_velocity({free.data(), std::size_t(free.size())});
    problems.back().make_rigid();
  }
  check(problems, law, least_converged);
}

}  // namespace

TEST_CASE("lane_rigid: every kind of block obeys either law, rigid or not", "[lane_rigid]") {
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    check_drawn(law, 40, draw_blocks);
    check_drawn(law, 38, [](auto& source) { return carom::testing::draw_every_block(source); });
  }
}

TEST_CASE("lane_rigid: bundled problems made rigid", "[lane_rigid]") {
  for (const char* name : {"robot_30x16", "pile_n10_s60", "mujoco_box_10", "wall_n10"}) {
    INFO(name);
    check_bundled(name, FrictionLaw::convex, 12);
    check_bundled(name, FrictionLaw::coulomb, 12);
  }
}

TEST_CASE("lane_rigid: a mass on rigid ground, in closed form", "[lane_rigid]") {
  // Weight 3·9.81·0.01 N·s presses; the push of 2·weight exceeds friction 0.5·weight.
  ContactProblem<double> problem(0.01);
  const double weight = 3 * 9.81 * 0.01;
  problem.add_body(3 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(2 * weight, 0, -weight) / 3);
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::RigidContact<double>{.friction = 0.5, .softness = 0.1});
  BatchStorage<double> batch;
  batch.add(problem);
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    solve(batch, {.law = law, .tolerance = 1e-12});
    REQUIRE(batch.report(0).status == SolveStatus::converged);
    const VectorX<double> velocity = batch.velocity(0), impulse = batch.impulse(0);
    const bool coulomb = law == FrictionLaw::coulomb;
    // The convex law keeps u − v̂ in the dual cone: uₙ = μ ‖uₜ‖.
    const double slip = coulomb ? 1.5 * weight / 3 : velocity(0);
    CHECK_THAT(velocity(0), WithinRel(slip, by_solver(1e-9)));
    CHECK_THAT(velocity(2), WithinAbs(coulomb ? 0 : 0.5 * slip, by_solver(1e-9)));
    CHECK_THAT(impulse(0), WithinRel(-0.5 * impulse(2), by_solver(1e-9)));
    CHECK((!coulomb || std::abs(impulse(2) - weight) < by_solver(1e-9)));
    CHECK(std::isinf(batch.report(0).error_bound));
  }
}

TEST_CASE("lane_rigid: what no velocity obeys has no answer and disturbs no other",
          "[lane_rigid]") {
  VectorSource<double> source(23004u);
  BatchStorage<double> batch, alone;
  const ContactProblem<double> good = draw_blocks(source);
  ContactProblem<double> bad(0.01);
  bad.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  // Two walls that come closer: nothing between them obeys both.
  carom::RigidContact<double> wall{.gap = -0.01, .correction = 1};
  bad.add_contact(0, Eigen::Matrix3d::Identity(), wall);
  bad.add_contact(0, -Eigen::Matrix3d::Identity(), wall);
  for (const auto& problem : {good, bad, good}) batch.add(problem);
  alone.add(good);
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    const SapOptions<double> options{.law = law, .tolerance = 1e-9, .iteration_limit = 500};
    const auto report = solve(batch, options);
    solve(alone, options);
    CHECK((report.converged == 2 && report.first_bad == 1 && report.faults == 0));
    CHECK(batch.report(1).status != SolveStatus::converged);
    CHECK(std::isfinite(batch.report(1).residual));
    for (const Index i : {0, 2}) {
      CHECK(batch.velocity(i) == alone.velocity(0));
      CHECK(batch.impulse(i) == alone.impulse(0));
    }
  }
}

TEST_CASE("lane_rigid: float", "[lane_rigid]") {
  VectorSource<double> source(23005u);
  BatchStorage<float> batch;
  std::vector<ContactProblem<float>> problems;
  for (int i = 0; i < 20; ++i) {
    const carom::testing::RawProblem raw = draw_problem(source, {{6, 3}, 2});
    problems.push_back(build<float>(carom::testing::make_rigid(raw)));
    batch.add(problems.back());
  }
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    BatchWorkspace<float> workspace;
    workspace.prepare(batch.view(), 1);
    const SapOptions<float> options{.law = law, .tolerance = 1e-4F, .iteration_limit = 500};
    CHECK(solve_batch(batch.view(), batch.answers(), options, workspace).converged == 20);
    WorstCase obeys("law");
    for (Index i = 0; i < batch.count(); ++i) {
      carom::DelassusForm<float> form;
      carom::DelassusProblem<float> dual;
      form.write(problems[std::size_t(i)], dual);
      const VectorX<float> impulse = batch.impulse(i);
      obeys.see(certify(dual, impulse, law).natural_map_error, by_solver(1e-2), i);
    }
    obeys.check(20);
  }
}

}  // namespace lane_rigid_test
