// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/dart.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <dart/constraint/DantzigBoxedLcpSolver.hpp>
#include <dart/external/odelcpsolver/common.h>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/dart_worlds.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAROM_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CAROM_TEST_SANITIZED 1
#endif
#endif

// Calls of malloc, which operator new and Eigen both end in, where the C library lets a program
// count them and no sanitizer does so already.
#if defined(__GLIBC__) && !defined(CAROM_TEST_SANITIZED)
#define CAROM_TEST_COUNTS_MALLOC 1
namespace {
std::size_t malloc_count = 0;
}  // namespace
extern "C" {
void* __libc_malloc(std::size_t size);
void* malloc(std::size_t size) noexcept {
  ++malloc_count;
  return __libc_malloc(size);
}
}
#else
#define CAROM_TEST_COUNTS_MALLOC 0
#endif

using namespace carom::testing;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// A problem as DART states it: A x = b + w. What must not be read is NaN.
struct Boxed {
  int unbounded = 0;
  Eigen::MatrixXd w;
  Eigen::VectorXd b, lower, upper;
  std::vector<int> findex;

  explicit Boxed(int n)
      : w(Eigen::MatrixXd::Zero(n, n)),
        b(Eigen::VectorXd::Zero(n)),
        lower(Eigen::VectorXd::Constant(n, -infinity)),
        upper(Eigen::VectorXd::Constant(n, infinity)),
        findex(std::size_t(n), -1) {}
  [[nodiscard]] int size() const { return int(b.size()); }

  void bound(int row, double low, double high) {
    lower(row) = low;
    upper(row) = high;
  }
  void follow(int row, int normal, double friction) {
    bound(row, no_number, friction);
    findex[std::size_t(row)] = normal;
  }
  /// A normal and its rows of friction behind it.
  void contact(int normal, const std::vector<double>& friction) {
    bound(normal, 0, infinity);
    for (int k = 0; k < int(friction.size()); ++k) {
      follow(normal + 1 + k, normal, friction[std::size_t(k)]);
    }
  }
};

struct Answer {
  bool solved = false;
  Eigen::VectorXd x, w;
};

Answer solve(dart::constraint::BoxedLcpSolver& solver, Boxed problem) {
  const int n = problem.size(), stride = carom::DartLcpSolver::row_stride(n);
  std::vector<double> padded(std::size_t(n) * std::size_t(stride) + 1, no_number);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) padded[std::size_t(r * stride + c)] = problem.w(r, c);
  }
  Answer answer;
  answer.x.setConstant(n, no_number);
  answer.solved =
      solver.solve(n, padded.data(), answer.x.data(), problem.b.data(), problem.unbounded,
                   problem.lower.data(), problem.upper.data(), problem.findex.data(), false);
  answer.w = problem.w * answer.x - problem.b;
  return answer;
}

/// How far an answer is from DART's conditions with friction by Coulomb's law, relative to the
/// impulses and velocities at hand: from the definitions, without carom.
double fault(const Boxed& problem, const Answer& answer, bool cones) {
  const double impulse = std::max(answer.x.norm(), 1e-300);
  const double velocity = std::max({problem.b.norm(), answer.w.norm(), 1e-300});
  double worst = 0;
  const auto see = [&](double violation) { worst = std::max(worst, violation); };
  const auto see_interval = [&](double x, double w, double low, double high) {
    see((low - x) / impulse);
    see((x - high) / impulse);
    const double room_below = std::min((x - low) / impulse, 1.0);
    const double room_above = std::min((high - x) / impulse, 1.0);
    see(std::min(room_below, w / velocity));   // moves up only from the lower bound
    see(std::min(room_above, -w / velocity));  // and down only from the upper one
  };
  std::vector<std::vector<int>> rubbing(std::size_t(problem.size()));
  for (int r = 0; r < problem.size(); ++r) {
    const int normal = problem.findex[std::size_t(r)];
    if (r < problem.unbounded) {
      see_interval(answer.x(r), answer.w(r), -infinity, infinity);
    } else if (normal < 0 || normal == r) {
      see_interval(answer.x(r), answer.w(r), problem.lower(r), problem.upper(r));
    } else {
      rubbing[std::size_t(normal)].push_back(r);
    }
  }
  for (int normal = 0; normal < problem.size(); ++normal) {
    const auto& rows = rubbing[std::size_t(normal)];
    const double pressed = answer.x(normal);
    if (cones && !rows.empty() && rows.size() <= 2) {
      double share = 0, slip = 0;  // ‖x/μ‖, ‖μ w‖
      for (const int r : rows) {
        const double mu = problem.upper(r);
        share = mu > 0 ? std::hypot(share, answer.x(r) / mu) : share;
        slip = std::hypot(slip, mu * answer.w(r));
      }
      see((share - pressed) / impulse);
      for (const int r : rows) {  // xₜ ‖μ w‖ = −μ² wₜ xₙ, in slide as in stick
        const double mu = problem.upper(r);
        see(std::abs(answer.x(r) * slip + mu * mu * answer.w(r) * pressed) / (impulse * velocity));
      }
      continue;
    }
    for (const int r : rows) {
      const double mu = problem.upper(r);
      const double bound = pressed > 0 ? mu * pressed : 0;
      see_interval(answer.x(r), answer.w(r), -bound, bound);
    }
  }
  return worst;
}

/// W = G Gᵀ of bodies with six velocities, two of them in each constraint of `rows` rows, and the
/// load of bodies that move at random.
void draw_bodies(VectorSource<double>& source, const std::vector<int>& rows, int bodies,
                 Boxed& problem) {
  const auto entry = [&] { return 2 * source.unit() - 1; };
  Eigen::MatrixXd g = Eigen::MatrixXd::Zero(problem.size(), 6 * bodies);
  int first = 0;
  for (const int count : rows) {
    for (int side = 0; side < 2; ++side) {
      const int body = int(source.unit() * bodies);
      for (int r = 0; r < count; ++r) {
        for (int c = 0; c < 6; ++c) g(first + r, 6 * body + c) += entry();
      }
    }
    first += count;
  }
  Eigen::VectorXd velocity(g.cols());
  for (Eigen::Index c = 0; c < g.cols(); ++c) velocity(c) = entry();
  problem.w = g * g.transpose();
  problem.b = -g * velocity;
}

/// Contacts of all kinds among limits, motors and joints.
Boxed draw_robot(VectorSource<double>& source, int constraints, int bodies) {
  const int joint = 2;
  std::vector<int> kinds, rows{joint};
  int n = joint;
  for (int k = 0; k < constraints; ++k) {
    kinds.push_back(int(source.unit() * 7));
    const int sizes[] = {3, 3, 2, 1, 1, 1, 3};
    rows.push_back(sizes[kinds.back()]);
    n += rows.back();
  }
  Boxed problem(n);
  problem.unbounded = joint;
  problem.lower.head(joint).setConstant(no_number);
  problem.upper.head(joint).setConstant(no_number);
  problem.findex[0] = n - 1;
  problem.findex[1] = 1 << 20;
  const auto mu = [&] { return source.unit() < 0.1 ? 0.0 : 0.5 * source.unit(); };
  int row = joint;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const double both = mu(), torque = source.unit();
    switch (kinds[k]) {
      case 0:
        problem.contact(row, {both, both});
        problem.findex[std::size_t(row)] = row;  // DART's header allows both for a normal
        break;
      case 1:
        problem.contact(row, {mu(), mu()});
        break;
      case 2:
        problem.contact(row, {both});
        break;
      case 3:
        problem.bound(row, 0, infinity);
        break;
      case 4:
        problem.bound(row, -torque, torque);
        break;
      case 5:
        problem.bound(row, -infinity, 0);
        break;
      default:
        problem.follow(row, row + 2, both);
        problem.follow(row + 1, row + 2, both);
        problem.bound(row + 2, 0, infinity);  // a normal behind its rows of friction
    }
    row += rows[k + 1];
  }
  draw_bodies(source, rows, bodies, problem);
  return problem;
}

}  // namespace

TEST_CASE("dart: rows are as far apart as DART puts them", "[adapters][oracle]") {
  for (int n = 0; n < 70; ++n) CHECK(carom::DartLcpSolver::row_stride(n) == dPAD(n));
}

TEST_CASE("dart: random robots obey Coulomb's law and their bounds", "[adapters][law]") {
  VectorSource<double> source(7u);
  carom::DartLcpSolver solver;
  for (int round = 0; round < 300; ++round) {
    const int bodies = 2 + int(source.unit() * 6);
    Boxed problem = draw_robot(source, 1 + int(source.unit() * 2 * bodies), bodies);
    problem.w.diagonal() *= 1 + 1e-5;  // DART's constraint force mixing
    const Answer answer = solve(solver, problem);
    CAPTURE(round, problem.size(), solver.report().residual, solver.report().iterations,
            to_string(solver.report().status));
    REQUIRE(answer.solved);
    CHECK(fault(problem, answer, true) < by_solver(1e-8));
    CHECK(solver.report().residual <= solver.options().accepted);
  }
  CHECK(solver.solve_count() == 300);
  CHECK(solver.failure_count() == 0);
}

TEST_CASE("dart: the report is what the certificate says of the problem", "[adapters][law]") {
  VectorSource<double> source(11u);
  for (const auto law : {carom::FrictionLaw::coulomb, carom::FrictionLaw::convex}) {
    carom::DartLcpSolver solver({.law = law});
    for (int round = 0; round < 20; ++round) {
      REQUIRE(solve(solver, draw_robot(source, 6, 4)).solved);
      const auto certificate = certify(solver.problem(), Eigen::VectorXd(solver.impulse()), law);
      CAPTURE(round, to_string(law));
      CHECK(std::abs(certificate.natural_map_error - solver.report().residual) < rounding(50, 1.0));
      CHECK(certificate.natural_map_error <= solver.options().accepted);
    }
  }
}

TEST_CASE("dart: boxes alone have the answer of Dantzig's algorithm", "[adapters][oracle]") {
  VectorSource<double> source(3u);
  carom::DartLcpSolver solver;
  dart::constraint::DantzigBoxedLcpSolver dantzig;
  int at_bound = 0, inside = 0;
  for (int round = 0; round < 100; ++round) {
    const int n = 1 + int(source.unit() * 20);
    Boxed problem(n);
    draw_bodies(source, std::vector<int>(std::size_t(n), 1), n, problem);
    problem.w.diagonal().array() += 0.1;
    for (int r = 0; r < n; ++r) {
      const double kind = source.unit();
      if (kind < 0.3) problem.bound(r, 0, infinity);
      if (kind > 0.3 && kind < 0.8) problem.bound(r, -source.unit(), source.unit());
    }
    const Answer ours = solve(solver, problem);
    const Answer theirs = solve(dantzig, problem);
    CAPTURE(round, n, solver.report().residual);
    REQUIRE(ours.solved);
    REQUIRE(theirs.solved);
    CHECK((ours.x - theirs.x).norm() < by_solver(1e-8) * (1 + theirs.x.norm()));
    for (int r = 0; r < n; ++r) ++(std::abs(ours.w(r)) > 1e-6 ? at_bound : inside);
  }
  CHECK(at_bound > 100);
  CHECK(inside > 100);
}

TEST_CASE("dart: intervals of friction are kept on request", "[adapters][law]") {
  VectorSource<double> source(5u);
  carom::DartLcpSolver solver({.cones = false});
  dart::constraint::DantzigBoxedLcpSolver dantzig;
  for (int round = 0; round < 50; ++round) {
    const int contacts = 1 + int(source.unit() * 4);
    Boxed problem(3 * contacts);
    const std::vector<int> rows(std::size_t(contacts), 3);
    draw_bodies(source, rows, 2 * contacts, problem);
    problem.w.diagonal().array() += 0.1;
    for (int k = 0; k < contacts; ++k) problem.contact(3 * k, {0.3 * source.unit(), 0.2});
    const Answer answer = solve(solver, problem);
    CAPTURE(round, contacts, solver.report().residual, solver.report().iterations);
    REQUIRE(answer.solved);
    CHECK(fault(problem, answer, false) < by_solver(1e-8));
    // Dantzig's algorithm in DART fixes all intervals before any friction acts: where friction and
    // normals do not couple that is the answer.
    for (int r = 0; r < problem.size(); ++r) {
      for (int c = 0; c < problem.size(); ++c) {
        if ((r % 3 == 0) != (c % 3 == 0)) problem.w(r, c) = 0;
      }
    }
    const Answer ours = solve(solver, problem);
    for (int k = 0; k < contacts; ++k) {  // it reads these too
      problem.lower.segment<2>(3 * k + 1) = -problem.upper.segment<2>(3 * k + 1);
    }
    const Answer theirs = solve(dantzig, problem);
    REQUIRE(ours.solved);
    CHECK((ours.x - theirs.x).norm() < by_solver(1e-7) * (1 + theirs.x.norm()));
  }
}

TEST_CASE("dart: pyramids and friction of what pulls too keep their intervals", "[adapters][law]") {
  VectorSource<double> source(9u);
  carom::DartLcpSolver solver;
  int rubs = 0;
  for (int round = 0; round < 50; ++round) {
    Boxed problem(5 + 2 + 3);
    draw_bodies(source, {5, 2, 3}, 6, problem);
    problem.w.diagonal().array() += 0.1;
    problem.contact(0, {0.2, 0.2, 0.2, 0.2});
    problem.bound(5, -0.1, round % 2 == 0 ? 0.3 : infinity);  // a motor, a spring
    problem.follow(6, 5, 0.5);
    problem.contact(7, {0.3, 0.3});
    const Answer answer = solve(solver, problem);
    CAPTURE(round, solver.report().residual, solver.report().iterations);
    REQUIRE(answer.solved);
    const double bound = 0.5 * std::abs(answer.x(5));
    CHECK(std::abs(answer.x(6)) < bound + by_solver(1e-9));
    CHECK(std::abs(answer.x(6) - std::clamp(answer.x(6) - answer.w(6), -bound, bound)) <
          by_solver(1e-8));
    rubs += std::abs(answer.w(6)) > 1e-6 && bound > 1e-3;
    // The definitions have no row that follows a motor, so it is a box for the other rows.
    problem.bound(6, -bound, bound);
    problem.findex[6] = -1;
    CHECK(fault(problem, answer, true) < by_solver(1e-8));
  }
  CHECK(rubs > 10);
}

TEST_CASE("dart: infinite friction holds what it touches", "[adapters][example]") {
  Boxed problem(3);
  problem.contact(0, {infinity, infinity});
  problem.w.setIdentity();
  problem.b << 0.1, -20, 10;
  carom::DartLcpSolver solver;
  const Answer pressed = solve(solver, problem);
  REQUIRE(pressed.solved);
  CHECK((pressed.x - problem.b).norm() < by_solver(1e-7));
  problem.b(0) = -0.01;
  const Answer parted = solve(solver, problem);
  REQUIRE(parted.solved);
  CHECK(parted.x.norm() < by_solver(1e-7));
}

TEST_CASE("dart: contacts that repeat each other share the load of one", "[adapters][example]") {
  const int copies = 4;
  Boxed problem(3 * copies);
  const double mass = 2, friction = 0.5;
  const Eigen::Vector3d velocity(-1, 0.6, 0.8);  // (n, t₁, t₂): slides
  for (int k = 0; k < copies; ++k) {
    problem.contact(3 * k, {friction, friction});
    problem.b.segment<3>(3 * k) = -velocity;
    for (int l = 0; l < copies; ++l) {
      problem.w.block<3, 3>(3 * k, 3 * l) = Eigen::Matrix3d::Identity() / mass;
    }
  }
  carom::DartLcpSolver solver;
  const Answer answer = solve(solver, problem);
  REQUIRE(answer.solved);
  CHECK(fault(problem, answer, true) < by_solver(1e-9));
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int k = 0; k < copies; ++k) sum += answer.x.segment<3>(3 * k);
  const Eigen::Vector3d expected = mass * Eigen::Vector3d(1, -0.6 * friction, -0.8 * friction);
  CHECK((sum - expected).norm() < by_solver(1e-9));
  CHECK((answer.w.head<3>() - Eigen::Vector3d(0, 0.3, 0.4)).norm() < by_solver(1e-9));
}

TEST_CASE("dart: the convex law lets what slides separate", "[adapters][example]") {
  Boxed problem(3);
  problem.contact(0, {0.5, 0.5});
  problem.w.setIdentity();
  problem.b << 1, -3, 0;
  carom::DartLcpSolver solver({.law = carom::FrictionLaw::convex});
  const Answer answer = solve(solver, problem);
  REQUIRE(answer.solved);
  CHECK(std::abs(answer.w(0) - 0.5 * answer.w(1)) < by_solver(1e-9));
  CHECK(answer.w(1) > 1);
}

TEST_CASE("dart: what is not a problem is refused", "[adapters][example]") {
  Boxed sound(4);
  sound.w.setIdentity();
  sound.b << 1, 0.2, 0.2, -1;
  sound.contact(0, {0.5, 0.5});
  sound.bound(3, -1, 1);
  carom::DartLcpSolver solver;
  REQUIRE(solve(solver, sound).solved);
  std::vector<Boxed> unsound;
  const auto spoil = [&](auto&& how) {
    Boxed problem = sound;
    how(problem);
    unsound.push_back(problem);
  };
  for (const double number : {no_number, infinity, -infinity}) {
    spoil([&](Boxed& p) { p.w(2, 1) = number; });
    spoil([&](Boxed& p) { p.w(3, 3) = number; });
    spoil([&](Boxed& p) { p.b(2) = number; });
    spoil([&](Boxed& p) { p.bound(3, number, number); });
  }
  spoil([](Boxed& p) { p.lower(3) = no_number; });
  spoil([](Boxed& p) { p.upper(3) = no_number; });
  spoil([](Boxed& p) { p.upper(1) = no_number; });
  spoil([](Boxed& p) { p.upper(2) = -0.5; });
  spoil([](Boxed& p) { p.bound(3, 1, -1); });
  spoil([](Boxed& p) { p.findex[2] = 4; });
  spoil([](Boxed& p) { p.findex[2] = -2; });
  for (std::size_t k = 0; k < unsound.size(); ++k) {
    const Answer answer = solve(solver, unsound[k]);
    CAPTURE(k);
    CHECK_FALSE(answer.solved);
    CHECK(answer.x == Eigen::VectorXd::Zero(4));
    CHECK(solver.report().status == carom::SolveStatus::not_finite);
    CHECK(solver.report().residual == infinity);
  }
  CHECK(solver.failure_count() == carom::Index(unsound.size()));
  CHECK(solver.solve_count() == carom::Index(unsound.size()) + 1);
  CHECK(solve(solver, Boxed(0)).solved);
}

TEST_CASE("dart: where no impulse helps, none is called an answer", "[adapters][example]") {
  Boxed problem(2);  // pushed into something rigid
  problem.w(1, 1) = 1;
  problem.bound(0, 0, infinity);
  problem.b << 1, 1;
  carom::DartLcpSolver solver;
  const Answer answer = solve(solver, problem);
  CHECK_FALSE(answer.solved);
  CHECK(answer.x.allFinite());
  CHECK_FALSE(solver.report().converged());
  Boxed opposed(2);  // two that push against each other
  opposed.w << 1, -1, -1, 1;
  opposed.bound(0, 0, infinity);
  opposed.bound(1, 0, infinity);
  opposed.b << 1, 1;
  CHECK_FALSE(solve(solver, opposed).solved);
}

TEST_CASE("dart: intervals that have not settled are no answer", "[adapters][example]") {
  Boxed problem(5);
  problem.contact(0, {0.2, 0.2, 0.2, 0.2});
  problem.w.setIdentity();
  problem.b << 1, 1, 0.1, 1, 0.1;
  carom::DartLcpSolver hasty({.interval_limit = 1});
  CHECK_FALSE(solve(hasty, problem).solved);
  CHECK(hasty.report().status == carom::SolveStatus::iteration_limit);
  carom::DartLcpSolver patient;
  CHECK(solve(patient, problem).solved);
}

TEST_CASE("dart: an answer does not depend on what was solved before", "[adapters][law]") {
  VectorSource<double> source(17u);
  carom::DartLcpSolver used;
  for (int round = 0; round < 20; ++round) {
    const Boxed problem = draw_robot(source, 8, 3);
    carom::DartLcpSolver fresh;
    CAPTURE(round);
    CHECK(solve(used, problem).x == solve(fresh, problem).x);
  }
}

TEST_CASE("dart: a problem solved before allocates nothing", "[adapters][real_time]") {
  VectorSource<double> source(13u);
  carom::DartLcpSolver solver;
  std::vector<Boxed> problems;
  for (int k = 0; k < 4; ++k) problems.push_back(draw_robot(source, 3 + 4 * k, 4));
  problems.push_back(Boxed(5));  // a pyramid
  problems.back().w.setIdentity();
  problems.back().contact(0, {0.2, 0.2, 0.2, 0.2});
  problems.back().b << 1, 1, 0.1, 1, 0.1;
  std::vector<std::vector<double>> padded;
  for (Boxed& problem : problems) {
    const int n = problem.size(), stride = carom::DartLcpSolver::row_stride(n);
    padded.emplace_back(std::size_t(n * stride), no_number);
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) padded.back()[std::size_t(r * stride + c)] = problem.w(r, c);
    }
  }
  Eigen::VectorXd x(200);
  const auto solve_all = [&] {
    bool solved = true;
    for (std::size_t k = 0; k < problems.size(); ++k) {
      Boxed& p = problems[k];
      solved = solver.solve(p.size(), padded[k].data(), x.data(), p.b.data(), p.unbounded,
                            p.lower.data(), p.upper.data(), p.findex.data()) &&
               solved;
    }
    return solved;
  };
  REQUIRE(solve_all());
#if CAROM_TEST_COUNTS_MALLOC
  const std::size_t before = malloc_count;
  const bool again = solve_all();
  CHECK(malloc_count == before);
  CHECK(again);
#endif
}

namespace {

using dart::constraint::BoxedLcpConstraintSolver;

/// Puts carom into a world, without a second solver behind it.
std::shared_ptr<carom::DartLcpSolver> install(const DartWorld& world,
                                              const carom::DartLcpSolverOptions& options = {}) {
  auto solver = std::make_shared<carom::DartLcpSolver>(options);
  world->setConstraintSolver(std::make_unique<BoxedLcpConstraintSolver>(solver, nullptr));
  use_exact_spheres(world);
  return solver;
}

/// Force of all contacts of the last step on what is not fixed [N], upwards.
double supporting_force(const DartWorld& world) {
  double sum = 0;
  for (const auto& contact : world->getLastCollisionResult().getContacts()) {
    sum += std::abs(contact.force.z());
  }
  return sum;
}

/// Whether DART asks its second solver.
class CountingSolver : public dart::constraint::DantzigBoxedLcpSolver {
 public:
  int count = 0;
  bool solve(int n, double* matrix, double* x, double* b, int unbounded, double* lower,
             double* upper, int* findex, bool early_termination) override {
    ++count;
    return DantzigBoxedLcpSolver::solve(n, matrix, x, b, unbounded, lower, upper, findex,
                                        early_termination);
  }
};

}  // namespace

TEST_CASE("dart: a block on a slope slides as fast whichever way the slope points",
          "[adapters][scene]") {
  for (const double degrees : {30.0, 20.0}) {
    for (int heading = 0; heading <= 90; heading += 15) {
      DartSlope slope(degrees, heading, {0.5, 0.5});
      const auto solver = install(slope.world);
      for (int step = 0; step < 2000; ++step) slope.world->step();
      const double angle = radians(degrees);
      const double expected = std::max(0.0, 2 * 9.81 * (std::sin(angle) - 0.5 * std::cos(angle)));
      CAPTURE(degrees, heading, slope.speed(), expected);
      CHECK(std::abs(slope.speed() - expected) < by_solver(1e-6));
      CHECK(std::abs(slope.sideways()) < by_solver(1e-6));
      CHECK(solver->failure_count() == 0);
      CHECK(solver->solve_count() >= 1999);
    }
  }
}

TEST_CASE("dart: friction that differs by direction slides as fast as its axis says",
          "[adapters][scene]") {
  for (const int heading : {0, 90}) {
    DartSlope slope(30, heading, {0.5, 0.25});
    const auto solver = install(slope.world);
    for (int step = 0; step < 2000; ++step) slope.world->step();
    const double mu = heading == 0 ? 0.5 : 0.25;
    const double expected = 2 * 9.81 * (std::sin(radians(30)) - mu * std::cos(radians(30)));
    CAPTURE(heading, slope.speed(), expected);
    CHECK(std::abs(slope.speed() - expected) < by_solver(1e-6));
    CHECK(solver->failure_count() == 0);
  }
}

TEST_CASE("dart: a quadruped stands, crouches and rises on its motors", "[adapters][scene]") {
  DartQuadruped robot;
  const auto solver = install(robot.world);
  for (int step = 0; step < 500; ++step) robot.step(0);
  CHECK(robot.world->getLastCollisionResult().getNumContacts() == 4);
  CHECK(std::abs(supporting_force(robot.world) - robot.weight()) <
        by_settling(1e-4) * robot.weight());
  CHECK((robot.trunk->getWorldTransform().translation() - robot.expected_place()).norm() <
        by_settling(1e-4));
  for (const double rate : {1.0, -1.0}) {
    for (int step = 0; step < 600; ++step) {  // slow enough to keep its feet on the ground
      robot.step(rate * std::pow(std::sin(std::numbers::pi * step / 600), 2));
    }
    for (int step = 0; step < 200; ++step) robot.step(0);
    CAPTURE(rate, robot.trunk->getWorldTransform().translation(), robot.expected_place());
    CHECK((robot.trunk->getWorldTransform().translation() - robot.expected_place()).norm() <
          by_settling(1e-4));
    CHECK(std::abs(supporting_force(robot.world) - robot.weight()) <
          by_settling(1e-4) * robot.weight());
  }
  CHECK(solver->failure_count() == 0);
}

TEST_CASE("dart: a gripper holds what its force allows, and no more", "[adapters][scene]") {
  // Two fingers press with force F each: friction carries up to 2 μ F of the weight.
  for (const double share : {0.6, 0.9, 1.1, 1.5}) {
    DartGripper gripper(share);
    const auto solver = install(gripper.world);
    for (int step = 0; step < 500; ++step) gripper.world->step(false);  // commands stay
    const double from = gripper.fall_speed();
    for (int step = 0; step < 200; ++step) gripper.world->step(false);  // commands stay
    const double acceleration = (gripper.fall_speed() - from) / 0.2;
    const double expected = std::max(0.0, 9.81 * (1 - share));
    CAPTURE(share, acceleration, expected, from);
    CHECK(std::abs(acceleration - expected) < by_settling(1e-4) * 9.81);
    if (share > 1) CHECK(std::abs(from) < by_settling(1e-5));
    CHECK(solver->failure_count() == 0);
  }
}

TEST_CASE("dart: a joint's limit, motor and friction bear what the arm weighs",
          "[adapters][scene]") {
  const double moment = DartArm::mass * 9.81 * DartArm::length;  // of the level arm
  SECTION("limit") {
    DartArm arm;
    arm.joint->setLimitEnforcement(true);
    arm.joint->setPositionLowerLimit(0, -0.5);
    const auto solver = install(arm.world);
    for (int step = 0; step < 3000; ++step) arm.world->step();
    CHECK(std::abs(arm.joint->getPosition(0) + 0.5) < by_step(1e-2));
    CHECK(std::abs(arm.joint->getVelocity(0)) < by_settling(1e-3));
    REQUIRE(solver->impulse().size() == 1);
    const double expected = moment * std::cos(arm.joint->getPosition(0));
    CHECK(std::abs(std::abs(solver->impulse()(0)) / 1e-3 - expected) <
          by_settling(1e-3) * expected);
    CHECK(solver->failure_count() == 0);
  }
  SECTION("motor, strong and weak") {
    for (const double strength : {2.0, 0.5}) {
      DartArm arm;
      arm.joint->setActuatorType(dart::dynamics::Joint::SERVO);
      arm.joint->setForceLowerLimit(0, -strength * moment);
      arm.joint->setForceUpperLimit(0, strength * moment);
      const auto solver = install(arm.world);
      for (int step = 0; step < 10; ++step) {
        arm.joint->setCommand(0, 0);
        arm.world->step();
      }
      const double rate = (strength - 1) * moment / arm.inertia() * 0.01;
      CAPTURE(strength, arm.joint->getVelocity(0), rate);
      CHECK(std::abs(arm.joint->getVelocity(0) - std::min(0.0, rate)) <
            by_step(1e-3) * std::abs(rate));
      CHECK(solver->failure_count() == 0);
    }
  }
  SECTION("friction") {
    DartArm arm;
    arm.world->setGravity(Eigen::Vector3d::Zero());
    arm.joint->setCoulombFriction(0, 0.3);
    arm.joint->setVelocity(0, 1);
    const auto solver = install(arm.world);
    const double rest = arm.inertia() / 0.3;  // [s]
    const int half = int(500 * rest);
    for (int step = 0; step < half; ++step) arm.world->step();
    const double expected = 1 - 0.3 * half * 1e-3 / arm.inertia();
    CHECK(std::abs(arm.joint->getVelocity(0) - expected) < by_solver(1e-6));
    for (int step = 0; step < 2 * half; ++step) arm.world->step();
    CHECK(std::abs(arm.joint->getVelocity(0)) < by_solver(1e-6));
    CHECK(solver->failure_count() == 0);
  }
}

TEST_CASE("dart: its second solver is asked where ours says no, and only there",
          "[adapters][example]") {
  for (const bool able : {true, false}) {
    DartSlope slope(20, 0, {0.5, 0.5});
    const auto first = able ? std::make_shared<carom::DartLcpSolver>()
                            : std::make_shared<carom::DartLcpSolver>(carom::DartLcpSolverOptions{
                                  .tolerance = 1e-300, .accepted = 1e-300, .iteration_limit = 0});
    const auto second = std::make_shared<CountingSolver>();
    slope.world->setConstraintSolver(std::make_unique<BoxedLcpConstraintSolver>(first, second));
    for (int step = 0; step < 20; ++step) slope.world->step();
    CHECK(first->solve_count() >= 19);
    CHECK(first->failure_count() == (able ? 0 : first->solve_count()));
    CHECK(second->count == (able ? 0 : int(first->solve_count())));
    CHECK(std::abs(slope.speed()) < by_solver(1e-5));
  }
}

TEST_CASE("dart: it says what it is", "[adapters][example]") {
  const std::shared_ptr<dart::constraint::BoxedLcpSolver> solver =
      std::make_shared<carom::DartLcpSolver>();
  CHECK(solver->is<carom::DartLcpSolver>());
  CHECK_FALSE(solver->is<dart::constraint::DantzigBoxedLcpSolver>());
  double number = 1;
  CHECK(solver->canSolve(1, &number));
  number = no_number;
  CHECK_FALSE(solver->canSolve(1, &number));
}
