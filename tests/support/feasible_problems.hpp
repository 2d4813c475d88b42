// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/contact/rigid_contact.hpp"

#include "support/random.hpp"

#include "scenes/infeasible.hpp"

namespace carom::testing {

/// How the blocks of a problem join its bodies.
enum class Joining { chain, tree, hyperstatic, wedge, channel };

/// A rigid problem and an answer of Coulomb's law to it: v* and v̂ are chosen so that it is one.
template <typename Scalar>
struct AnsweredProblem {
  ContactProblem<Scalar> problem{Scalar(0.01)};
  VectorX<Scalar> velocity, impulse;
};

/// Draws problems around answers. Each block is open, sticks or slides in the answer, and its v̂ is
/// what makes that right. Everything is computed in the type of the problem, so that gaps, momenta
/// and Jacobians have the rounding that they have in use.
template <typename Scalar>
class FeasibleProblems {
 public:
  /// @param decades  of the masses.
  FeasibleProblems(std::uint32_t seed, double decades) : source_(seed), decades_(decades) {}

  [[nodiscard]] VectorSource<Scalar>& source() noexcept { return source_; }

  [[nodiscard]] AnsweredProblem<Scalar> draw(int sample) {
    answered_ = {};
    const int count = 1 + int(5 * source_.unit());
    rest_ = sample % 4 == 0;
    length_ = source_.positive(sample % 3 == 0 ? 8 : 1);
    speed_ = source_.positive(sample % 3 == 0 ? 8 : 1);
    for (int b = 0; b < count; ++b) add_body();
    finish_bodies();
    join(Joining(sample % 5), count);
    if (source_.unit() < 0.2) {
      add_immovable(answered_.problem, Index(count * source_.unit()), direction(), arm(),
                    Scalar(1));
    }
    answer();
    return answered_;
  }

  /// Adds a contact of a body with the world, along a unit vector through an arm of the body.
  static Index add_wall(ContactProblem<Scalar>& problem, Index body, const Vector3<Scalar>& normal,
                        const Vector3<Scalar>& arm, const Scalar& friction) {
    return problem.add_contact(body, rows_on(problem, body, normal, arm),
                               RigidContact<Scalar>{.friction = friction});
  }
  static void set_bias(ContactProblem<Scalar>& problem, Index block, const Vector3<Scalar>& bias) {
    WeightedContact<Scalar> law = problem.friction_contact_law(block);
    law.bias_velocity = bias;
    problem.set_law(block, law);
  }
  /// Rows of a contact for a body of 3 or 6 velocities.
  static MatrixX<Scalar> rows_on(const ContactProblem<Scalar>& problem, Index body,
                                 const Vector3<Scalar>& normal, const Vector3<Scalar>& arm) {
    const SquareMatrix<Scalar, 3> axes = examples::contact_axes(normal);
    if (problem.body(body).size == 3) return axes;
    return axes * point_rows(arm);
  }
  /// Adds a contact whose normal nothing moves, as of a part that only slides or turns about it.
  static Index add_immovable(ContactProblem<Scalar>& problem, Index body,
                             const Vector3<Scalar>& normal, const Vector3<Scalar>& arm,
                             const Scalar& friction) {
    MatrixX<Scalar> rows = rows_on(problem, body, normal, arm);
    rows.row(2).setZero();
    return problem.add_contact(body, rows, RigidContact<Scalar>{.friction = friction});
  }
  [[nodiscard]] Vector3<Scalar> direction() {
    return Vector3<Scalar>(source_.template vector<3>(1, 0)).normalized();
  }
  [[nodiscard]] Vector3<Scalar> arm() {
    return length_ * Vector3<Scalar>(source_.template vector<3>(1, 0.2));
  }
  [[nodiscard]] Scalar speed() const noexcept { return speed_; }

 private:
  void add_body() {
    const Scalar mass = source_.positive(decades_);
    if (source_.unit() < 0.5) {
      answered_.problem.add_body(mass * SquareMatrix<Scalar, 3>::Identity(),
                                 Vector3<Scalar>(Vector3<Scalar>::Zero()));
      return;
    }
    Vector<Scalar, 6> inertia;
    for (int k = 0; k < 3; ++k) {
      inertia(k) = mass * length_ * length_ * source_.positive(1);
      inertia(3 + k) = mass;
    }
    answered_.problem.add_body(SquareMatrix<Scalar, 6>(inertia.asDiagonal()),
                               Vector<Scalar, 6>(Vector<Scalar, 6>::Zero()));
  }
  /// The answer's velocities: none at rest.
  void finish_bodies() {
    answered_.velocity.setZero(answered_.problem.velocity_count());
    for (Index b = 0; b < answered_.problem.body_count() && !rest_; ++b) {
      const auto [start, size] = answered_.problem.body(b);
      for (Index k = 0; k < size; ++k) {
        const bool spin = size == 6 && k < 3;
        answered_.velocity(start + k) = source_.entry(1) * (spin ? speed_ / length_ : speed_);
      }
    }
  }
  void join(Joining joining, int count) {
    for (int b = 0; b < count; ++b) {
      const int parent = joining == Joining::tree ? int(b * source_.unit()) - 1 : b - 1;
      const Vector3<Scalar> normal = direction();
      if (source_.unit() < 0.15) {
        hold(b);
      } else {
        connect(b, parent, normal);
      }
      if (joining == Joining::channel) connect(b, -1, Vector3<Scalar>(-normal));
      if (joining == Joining::wedge) {
        Vector3<Scalar> other = -normal + source_.positive(6) * Scalar(1e-2) * direction();
        connect(b, parent < 0 ? -1 : int(parent), Vector3<Scalar>(other.normalized()));
      }
    }
    const int more = joining == Joining::hyperstatic ? 3 * count : count / 2;
    for (int i = 0; i < more; ++i) {
      const int first = int(count * source_.unit()), second = int((count + 1) * source_.unit()) - 1;
      const Vector3<Scalar> normal = i % 2 == 0 ? direction() : Vector3<Scalar>(0, 0, 1);
      connect(first, second == first ? -1 : second, normal);
    }
  }
  void connect(int body, int other, const Vector3<Scalar>& normal) {
    auto& problem = answered_.problem;
    const RigidContact<Scalar> law{.friction = source_.non_negative(2, 0.3)};
    if (other < 0) {
      problem.add_contact(body, rows_on(problem, body, normal, arm()), law);
    } else {
      problem.add_contact(body, rows_on(problem, body, normal, arm()), other,
                          MatrixX<Scalar>(-rows_on(problem, other, normal, arm())), law);
    }
  }
  /// Holds a body's rows from both sides.
  void hold(int body) {
    auto& problem = answered_.problem;
    WeightedBlock<Scalar> rows;
    rows.set = free_impulses<Scalar>(3);
    rows.rigid = true;
    problem.add_constraint(body, rows_on(problem, body, direction(), arm()), rows);
  }
  /// Chooses what every block does in the answer, and with it v̂ and v*.
  void answer() {
    auto& problem = answered_.problem;
    answered_.impulse.setZero(problem.impulse_count());
    for (Index i = 0; i < problem.block_count(); ++i) {
      problem.visit(i, [&](const auto& block) {
        const auto moved = block.velocity(answered_.velocity);
        if (block.set().shape == ImpulseShape::intervals) {
          WeightedBlock<Scalar> law = problem.law(i);
          law.bias_velocity.head(block.rows()) = moved.head(block.rows());
          for (int r = 0; r < block.rows(); ++r) {
            answered_.impulse(block.first_row() + r) = source_.entry(2);
          }
          problem.set_law(i, law);
          return;
        }
        Vector3<Scalar> slip = Vector3<Scalar>::Zero(), own = slip;
        choose(problem.friction_contact_law(i).friction, slip, own);
        const Vector3<Scalar> point = moved.template head<3>();
        set_bias(problem, i, Vector3<Scalar>(point - slip));
        answered_.impulse.segment(block.first_row(), 3) = own;
      });
    }
    VectorX<Scalar> momentum = VectorX<Scalar>::Zero(problem.velocity_count());
    problem.for_each_block(
        [&](const auto& block) { block.add_momentum(block.read(answered_.impulse), momentum); });
    problem.whiten_momentum(as_span(momentum));
    problem.unwhiten(as_span(momentum));
    const VectorX<Scalar> free = answered_.velocity - momentum;
    problem.set_free_velocity(as_span(free));
  }
  /// One contact: u and γ under Coulomb's law.
  void choose(const Scalar& friction, Vector3<Scalar>& slip, Vector3<Scalar>& own) {
    const double mode = source_.unit();
    const Vector3<Scalar> t = examples::contact_axes(Vector3<Scalar>(0, 0, 1)).transpose() *
                              Vector3<Scalar>(direction().x(), direction().y(), 0);
    if (mode < 0.2) {  // open
      slip = speed_ * source_.positive(1) * direction().cwiseAbs();
      return;
    }
    own.z() = mode < 0.3 ? Scalar(0) : source_.positive(4);
    const Scalar length = t.head(2).norm();
    if (!(length > Scalar(0))) return;
    if (mode < 0.6 || rest_) {  // sticks
      own.head(2) = friction * own.z() * Scalar(0.9 * source_.unit()) * t.head(2) / length;
    } else {
      slip.head(2) = speed_ * source_.positive(1) * t.head(2) / length;
      own.head(2) = -friction * own.z() * t.head(2) / length;
    }
  }

  VectorSource<Scalar> source_;
  double decades_;
  bool rest_ = false;
  Scalar length_ = 1, speed_ = 1;
  AnsweredProblem<Scalar> answered_;
};

/// What makes a problem one without an answer.
enum class Contradiction { walls, three_walls, chain, immovable };

/// The largest speed at a row, of v̂ and of v*: what rounding of gaps is relative to.
template <typename Scalar>
[[nodiscard]] Scalar largest_speed(const ContactProblem<Scalar>& problem) {
  const VectorX<Scalar> free = problem.free_velocity().cwiseAbs();
  Scalar largest(0);
  problem.for_each_block([&](const auto& block) {
    for (int r = 0; r < block.rows(); ++r) {
      Scalar own = std::abs(block.bias_velocity()(r));
      for (int s = 0; s < block.side_count(); ++s) {
        const auto [start, size] = block.side(s).range;
        own += block.columns(s).col(r).cwiseAbs().dot(free.segment(start, size));
      }
      largest = (std::max)(largest, own);
    }
  });
  return largest;
}

/// Adds what contradicts itself to a problem, by `closing` [m/s] at each contact, and by more where
/// the rounding of faster bodies would hide it.
/// @return  the ray that proves it.
template <typename Scalar>
VectorX<Scalar> contradict(ContactProblem<Scalar>& problem, Contradiction what,
                           FeasibleProblems<Scalar>& draws, const Scalar& closing) {
  const Index rows = problem.impulse_count(), blocks = problem.block_count();
  const Index body = Index(double(problem.body_count()) * draws.source().unit());
  const Vector3<Scalar> normal = draws.direction(), arm = draws.arm();
  const Scalar friction = draws.source().non_negative(2, 0.3);
  using Draws = FeasibleProblems<Scalar>;
  switch (what) {
    case Contradiction::walls:
      for (const int side : {1, -1})
        Draws::add_wall(problem, body, Scalar(side) * normal, arm, friction);
      break;
    case Contradiction::three_walls: {
      const Vector3<Scalar> across = normal.unitOrthogonal();
      for (const double angle : {0.0, 2.0943951023931953, 4.1887902047863906}) {
        const Vector3<Scalar> n =
            Scalar(std::cos(angle)) * normal + Scalar(std::sin(angle)) * across;
        Draws::add_wall(problem, body, n, arm, friction);
      }
      break;
    }
    case Contradiction::chain: {
      const Index last = problem.body_count() - 1;
      Draws::add_wall(problem, 0, normal, arm, friction);
      for (Index b = 0; b < last; ++b) {
        problem.add_contact(b, MatrixX<Scalar>(-Draws::rows_on(problem, b, normal, arm)), b + 1,
                            Draws::rows_on(problem, b + 1, normal, arm),
                            RigidContact<Scalar>{.friction = friction});
      }
      Draws::add_wall(problem, last, Vector3<Scalar>(-normal), arm, friction);
      break;
    }
    case Contradiction::immovable: {
      Draws::add_immovable(problem, body, normal, arm, friction);
      break;
    }
  }
  const Scalar share = std::pow(std::numeric_limits<Scalar>::epsilon(), Scalar(2) / 3);
  const Scalar least = (std::max)(closing, Scalar(4 * share * largest_speed(problem)));
  for (Index i = blocks; i < problem.block_count(); ++i) {
    Draws::set_bias(problem, i, Vector3<Scalar>(0, 0, least));
  }
  VectorX<Scalar> ray = VectorX<Scalar>::Zero(problem.impulse_count());
  for (Index row = rows + 2; row < ray.size(); row += 3) ray(row) = Scalar(1);
  return ray;
}

}  // namespace carom::testing
