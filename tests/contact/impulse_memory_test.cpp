// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/impulse_memory.hpp"

#include <vector>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/wrench_contact.hpp"

#include "support/catch.hpp"

namespace impulse_memory_test {

namespace {

using carom::ContactProblem;
using carom::ImpulseMemory;
using carom::Index;
using Vector = Eigen::VectorXd;
using Name = ImpulseMemory<double>::Name;

/// A step with one body and a contact for every name, in that order; the name 0 is not given.
ContactProblem<double> make_step(ImpulseMemory<double>& memory, const std::vector<Name>& names,
                                 double time_step = 0.01) {
  ContactProblem<double> problem(time_step);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  for (const Name name : names) {
    const Index block = problem.add_contact(0, Eigen::Matrix3d::Identity(),
                                            carom::RigidContact<double>{.friction = 0.5});
    if (name != 0) memory.name_block(block, name);
  }
  return problem;
}

/// The guess for such a step, the first number of each contact.
std::vector<double> guess_of(ImpulseMemory<double>& memory, const std::vector<Name>& names,
                             double time_step = 0.01) {
  const auto problem = make_step(memory, names, time_step);
  Vector impulse;
  memory.write_guess(problem, impulse);
  REQUIRE(impulse.size() == problem.impulse_count());
  std::vector<double> first;
  for (Index i = 0; i < impulse.size(); i += 3) {
    // All three rows belong to the same contact of the step before.
    CHECK(impulse(i + 1) - impulse(i) == (impulse(i) == 0 ? 0 : impulse(i + 2) - impulse(i + 1)));
    first.push_back(impulse(i));
  }
  memory.remember(problem, impulse);
  return first;
}

/// A memory of contacts named so with impulses 1 2 3, 4 5 6, ...
void keep(ImpulseMemory<double>& memory, const std::vector<Name>& names) {
  const auto problem = make_step(memory, names);
  memory.remember(problem,
                  Vector::LinSpaced(problem.impulse_count(), 1, double(problem.impulse_count())));
}

}  // namespace

TEST_CASE("impulse_memory: contacts that come, go and change places keep their impulses",
          "[contact][example]") {
  ImpulseMemory<double> memory;
  CHECK(guess_of(memory, {7, 5}) == std::vector<double>{0, 0});
  keep(memory, {7, 5, 9});
  CHECK(memory.count() == 3);
  CHECK(guess_of(memory, {9, 8, 7}) == std::vector<double>{7, 0, 1});
  // 5 was gone for a step, 8 had nothing.
  CHECK(guess_of(memory, {5, 7, 8}) == std::vector<double>{0, 1, 0});
  memory.clear();
  CHECK(memory.count() == 0);
  CHECK(guess_of(memory, {7}) == std::vector<double>{0});
}

TEST_CASE("impulse_memory: a block without a name starts from zero and is not kept",
          "[contact][example]") {
  ImpulseMemory<double> memory;
  keep(memory, {0, 3, 0});
  CHECK(memory.count() == 1);
  CHECK(guess_of(memory, {3, 0}) == std::vector<double>{4, 0});
}

TEST_CASE("impulse_memory: of two blocks with one name the first keeps it", "[contact][example]") {
  ImpulseMemory<double> memory;
  keep(memory, {3, 3, 1});
  CHECK(memory.count() == 2);
  CHECK(guess_of(memory, {3, 1, 3}) == std::vector<double>{1, 7, 0});
}

TEST_CASE("impulse_memory: impulses follow the time step", "[contact][law]") {
  ImpulseMemory<double> memory;
  keep(memory, {2, 4});
  CHECK(guess_of(memory, {4}, 0.02) == std::vector<double>{8});
  CHECK(guess_of(memory, {4}, 0.01) == std::vector<double>{4});
}

TEST_CASE("impulse_memory: rows of any block are kept, of another number they are not",
          "[contact][example]") {
  ImpulseMemory<double> memory;
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix<double, 6, 6>::Identity(), Vector::Zero(6));
  const auto add = [&](bool rolling, Name name) {
    if (rolling) {
      memory.name_block(
          problem.add_contact(
              0, Eigen::Matrix<double, 6, 6>::Identity(),
              carom::WrenchContact<double>{.contact = {.gap = 0, .stiffness = 1e5, .friction = 0.5},
                                           .rolling_friction = 0.1,
                                           .torsional_friction = 0.1}),
          name);
    } else {
      memory.name_block(problem.add_contact(0, Eigen::Matrix<double, 3, 6>::Identity(),
                                            carom::RigidContact<double>{.friction = 0.5}),
                        name);
    }
  };
  add(true, 1);
  add(false, 2);
  memory.remember(problem, Vector::LinSpaced(9, 1, 9));
  problem.reset(0.01);
  problem.add_body(Eigen::Matrix<double, 6, 6>::Identity(), Vector::Zero(6));
  add(true, 2);
  add(true, 1);
  Vector impulse;
  memory.write_guess(problem, impulse);
  CHECK(impulse.head<6>().isZero(0));
  CHECK(impulse.tail<6>() == Vector::LinSpaced(6, 1, 6));
}

}  // namespace impulse_memory_test
