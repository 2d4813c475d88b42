// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/batch_pattern.hpp"

#include <vector>

#include "carom/contact/joint_constraints.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"

namespace batch_pattern_test {

using carom::BatchPattern, carom::ContactProblem, carom::Index, carom::testing::build;
using carom::testing::draw_problem, carom::testing::RawProblem, carom::testing::VectorSource;

namespace {

/// Bodies of six velocities, 0 and 1 joined by one contact, 2 on the ground, 3 untouched.
RawProblem make_four_bodies() {
  VectorSource<double> source(22101u);
  RawProblem raw = draw_problem(source, {{6, 6, 6, 6}, 2});
  for (auto& contact : raw.contacts) {
    contact.first_jacobian = carom::testing::draw_matrix(source, 3, 6);
    contact.second_jacobian = carom::testing::draw_matrix(source, 3, 6);
  }
  raw.contacts[0].first = 1;
  raw.contacts[0].second = 0;
  raw.contacts[1].first = 2;
  raw.contacts[1].second = -1;
  return raw;
}

}  // namespace

TEST_CASE("batch_pattern: counts and islands", "[batch_pattern]") {
  const BatchPattern pattern(build(make_four_bodies()));
  CHECK(pattern.velocity_count() == 24);
  CHECK(pattern.body_count() == 4);
  CHECK(pattern.contact_count() == 2);
  CHECK(pattern.mass_count() == 4 * 36);
  CHECK(pattern.jacobian_count() == 3 * 18);
  REQUIRE(pattern.islands().size() == 3);
  CHECK(pattern.islands()[0].bodies().size() == 2);
  CHECK(pattern.islands()[0].contacts()[0].number == 0);
  CHECK(pattern.islands()[1].bodies()[0].number == 2);
  CHECK(pattern.islands()[2].bodies()[0].number == 3);
  CHECK(pattern.islands()[2].contacts().empty());
}

TEST_CASE("batch_pattern: the key is that of bodies and contacts, not of numbers",
          "[batch_pattern]") {
  const RawProblem raw = make_four_bodies();
  RawProblem other = raw, turned = raw, larger = raw;
  other.bodies[0].momentum *= 2;
  other.contacts[0].first_jacobian.setZero();
  turned.contacts[1].first = 3;
  larger.bodies[3].momentum = Eigen::MatrixXd::Identity(2, 2);
  larger.bodies[3].free_velocity = Eigen::VectorXd::Zero(2);
  CHECK(BatchPattern::key(build(raw)) == BatchPattern::key(build(other)));
  CHECK(BatchPattern::key(build(raw)) != BatchPattern::key(build(turned)));
  CHECK(BatchPattern::key(build(raw)) != BatchPattern::key(build(larger)));
}

TEST_CASE("batch_pattern: the key tells rows and rigid blocks apart", "[batch_pattern]") {
  const auto key = [](int rows, bool rigid) {
    ContactProblem<double> problem = build(make_four_bodies());
    carom::WeightedBlock<double> law;
    law.set = carom::free_impulses<double>(rows);
    law.rigid = rigid;
    problem.add_constraint(0, Eigen::MatrixXd::Ones(rows, 6), law);
    return BatchPattern::key(problem);
  };
  CHECK(key(2, false) == key(2, false));
  CHECK(key(2, false) != key(3, false));
  CHECK(key(2, false) != key(2, true));
}

TEST_CASE("batch_pattern: columns that are zero are left out until a problem needs them",
          "[batch_pattern]") {
  RawProblem raw = make_four_bodies();
  const ContactProblem<double> full = build(raw);
  raw.contacts[1].first_jacobian.leftCols(2).setZero();
  raw.contacts[1].first_jacobian.rightCols(1).setZero();
  BatchPattern pattern(build(raw));
  const auto side = [&] { return pattern.islands()[1].contacts()[0].sides[0]; };
  CHECK((side().first == 2 && side().count == 3));
  pattern.widen(build(raw));
  CHECK((side().first == 2 && side().count == 3));
  pattern.widen(full);
  CHECK((side().first == 0 && side().count == 6));
  CHECK(pattern.islands().size() == 3);
}

TEST_CASE("batch_pattern: one more column at the end of one block lays the islands out again",
          "[batch_pattern]") {
  for (const std::size_t k : {0u, 1u}) {  // the other block stays as it is
    RawProblem raw = make_four_bodies();
    const ContactProblem<double> full = build(raw);
    raw.contacts[k].first_jacobian.rightCols(1).setZero();
    BatchPattern pattern(build(raw));
    const auto side = [&] { return pattern.islands()[k].contacts()[0].sides[0]; };
    CHECK((side().first == 0 && side().count == 5));
    pattern.widen(full);
    CHECK((side().first == 0 && side().count == 6));
  }
}

TEST_CASE("batch_pattern: a chain of bodies keeps its matrix narrow", "[batch_pattern]") {
  // The numbers of the bodies say nothing of who touches whom.
  constexpr int count = 9, numbers[count] = {4, 8, 0, 2, 6, 1, 7, 3, 5};
  ContactProblem<double> problem(0.01);
  for (int b = 0; b < count; ++b) {
    problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  }
  const Eigen::Matrix3d rows = Eigen::Matrix3d::Ones();
  for (int b = 0; b + 1 < count; ++b) {
    problem.add_contact(numbers[b], rows, numbers[b + 1], rows,
                        carom::CompliantContact<double>{.gap = 0, .stiffness = 1});
  }
  const BatchPattern pattern(problem);
  REQUIRE(pattern.islands().size() == 1);
  const auto layout = pattern.islands()[0].layout();
  for (int i = 0; i < layout.velocities; ++i) CHECK(i - layout.matrix_rows.first_column[i] < 6);
}

TEST_CASE("batch_pattern: a block that is no friction contact has its own places",
          "[batch_pattern]") {
  ContactProblem<double> problem = build(make_four_bodies());
  const BatchPattern without(problem);
  problem.add_constraint(0, Eigen::Matrix<double, 1, 6>::Ones(),
                         carom::Motor<double>{.velocity_gain = 1});
  const BatchPattern with(problem);
  CHECK(with.contact_count() == without.contact_count() + 1);
  CHECK(with.row_count() == without.row_count() + 1);
  CHECK(BatchPattern::key(problem) != BatchPattern::key(build(make_four_bodies())));
  std::size_t friction_contacts = 0, others = 0;
  for (const auto& island : with.islands()) {
    friction_contacts += island.contacts().size();
    others += island.others().size();
    for (const auto& block : island.others()) {
      CHECK((block.number == 2 && block.rows == 1 && block.row == 6));
    }
  }
  CHECK((friction_contacts == 2 && others == 1));
}

}  // namespace batch_pattern_test
