// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"

#include "support/random.hpp"

/// @file
/// A contact problem as plain matrices, kept by the tests themselves: every law and every oracle
/// starts from these numbers, never from what the library stored.
namespace carom::testing {

struct RawBody {
  Eigen::MatrixXd momentum;
  Eigen::VectorXd free_velocity;
};

struct RawContact {
  Index first = 0;
  Index second = -1;  ///< −1: the world
  Eigen::MatrixXd first_jacobian, second_jacobian;
  WeightedContact<double> law{0, {1, 1}, Eigen::Vector3d::Zero()};
};

struct RawProblem {
  std::vector<RawBody> bodies;
  std::vector<RawContact> contacts;
};

/// The same with rigid contacts.
[[nodiscard]] inline RawProblem make_rigid(RawProblem raw) {
  for (RawContact& contact : raw.contacts) contact.law.rigid = true;
  return raw;
}

template <typename Scalar>
[[nodiscard]] WeightedContact<Scalar> convert_law(const WeightedContact<double>& law) {
  return {Scalar(law.friction),
          {Scalar(law.regularization.tangent), Scalar(law.regularization.normal)},
          law.bias_velocity.cast<Scalar>(),
          law.rigid};
}

template <typename Scalar>
void add_to(ContactProblem<Scalar>& problem, const RawProblem& raw) {
  MatrixX<Scalar> first, second;
  for (const RawBody& body : raw.bodies) {
    first = body.momentum.cast<Scalar>();
    const VectorX<Scalar> velocity = body.free_velocity.cast<Scalar>();
    problem.add_body(first, velocity);
  }
  for (const RawContact& contact : raw.contacts) {
    const WeightedContact<Scalar> law = convert_law<Scalar>(contact.law);
    first = contact.first_jacobian.cast<Scalar>();
    if (contact.second < 0) {
      problem.add_contact(contact.first, first, law);
    } else {
      second = contact.second_jacobian.cast<Scalar>();
      problem.add_contact(contact.first, first, contact.second, second, law);
    }
  }
}

template <typename Scalar = double>
[[nodiscard]] ContactProblem<Scalar> build(const RawProblem& raw) {
  ContactProblem<Scalar> problem(Scalar(0.01));
  add_to(problem, raw);
  return problem;
}

/// Two contacts of one body, of which the second has entries with squares beyond the range of the
/// type: W is not finite, though all numbers of the problem are.
/// @param share  of the least such entry.
template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_overflowing(bool rigid, double share = 2) {
  using std::sqrt;
  ContactProblem<Scalar> problem(Scalar(0.01));
  const Eigen::Matrix3<Scalar> unit = Eigen::Matrix3<Scalar>::Identity();
  problem.add_body(unit, Eigen::Vector3<Scalar>(1, 0, -1));
  const WeightedContact<Scalar> law{Scalar(0.5), {1, 1}, Eigen::Vector3<Scalar>(0, 0, 0), rigid};
  problem.add_contact(0, unit, law);
  const Scalar entry = Scalar(share) * sqrt((std::numeric_limits<Scalar>::max)());
  problem.add_contact(0, Eigen::Matrix3<Scalar>(entry * unit), law);
  return problem;
}

/// What kind of random problem to draw.
struct RawShape {
  std::vector<int> sizes = {1, 2, 3, 6, 7};  ///< of the bodies
  int contact_count = 6;
  double mass_decades = 2;
  double stiffness_decades = 3;
};

[[nodiscard]] inline Eigen::MatrixXd draw_matrix(VectorSource<double>& source, Index rows,
                                                 Index columns) {
  Eigen::MatrixXd matrix(rows, columns);
  for (Index i = 0; i < matrix.size(); ++i) matrix(i) = 2 * source.unit() - 1;
  return matrix;
}

[[nodiscard]] inline RawBody draw_body(VectorSource<double>& source, int size, double mass) {
  const Eigen::MatrixXd spread = draw_matrix(source, size, size);
  Eigen::MatrixXd momentum(size, size);
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j <= i; ++j) {
      momentum(i, j) = momentum(j, i) = mass * spread.row(i).dot(spread.row(j)) / size;
    }
    momentum(i, i) += mass / 2;
  }
  return {momentum, draw_matrix(source, size, 1) * 3};
}

/// A random problem of bodies of mixed size; contacts with the world and between bodies whose
/// indices come in both orders; friction zero now and then, ten now and then.
[[nodiscard]] inline RawProblem draw_problem(VectorSource<double>& source, const RawShape& shape) {
  RawProblem raw;
  for (const int size : shape.sizes) {
    raw.bodies.push_back(draw_body(source, size, source.positive(shape.mass_decades)));
  }
  const auto draw_index = [&] { return Index(source.unit() * double(raw.bodies.size())); };
  for (int i = 0; i < shape.contact_count; ++i) {
    RawContact contact;
    contact.first = draw_index();
    const RawBody& first = raw.bodies[std::size_t(contact.first)];
    contact.first_jacobian = draw_matrix(source, 3, first.momentum.rows());
    if (const Index second = draw_index(); second != contact.first) {
      contact.second = second;
      contact.second_jacobian =
          draw_matrix(source, 3, raw.bodies[std::size_t(second)].momentum.rows());
    }
    const double inverse_mass = contact.first_jacobian.squaredNorm() / first.momentum.trace();
    contact.law.friction = source.pick({0, 0.1, 0.5, 0.5, 1, 10});
    contact.law.regularization.tangent =
        1e-2 * inverse_mass * source.positive(shape.stiffness_decades);
    contact.law.regularization.normal =
        3e-2 * inverse_mass * source.positive(shape.stiffness_decades);
    contact.law.bias_velocity = draw_matrix(source, 3, 1) * source.pick({0, 1, 1});
    raw.contacts.push_back(contact);
  }
  return raw;
}

/// A velocity for the problem: near the free one, near rest, or far from both.
[[nodiscard]] inline Eigen::VectorXd draw_velocity(VectorSource<double>& source,
                                                   const RawProblem& raw) {
  Index size = 0;
  for (const RawBody& body : raw.bodies) size += body.momentum.rows();
  Eigen::VectorXd velocity = draw_matrix(source, size, 1) * source.pick({0, 0.3, 3, 30});
  if (source.unit() < 0.5) {
    Index start = 0;
    for (const RawBody& body : raw.bodies) {
      velocity.segment(start, body.momentum.rows()) += body.free_velocity;
      start += body.momentum.rows();
    }
  }
  return velocity;
}

/// Bodies and contacts drawn so that impulses exist when they are rigid: v̂ = 0 and μ ≤ 0.3.
template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> draw_bodies(VectorSource<double>& source, int contacts) {
  auto raw = draw_problem(source, {{6, 6, 3, 6}, contacts, 1, 1});
  for (auto& contact : raw.contacts) {
    contact.law.friction = (std::min)(contact.law.friction, 0.3);
    contact.law.bias_velocity.setZero();
  }
  return build<Scalar>(raw);
}

}  // namespace carom::testing
