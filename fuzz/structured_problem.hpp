// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/hunt_crossley.hpp"
#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/wrench_contact.hpp"

#include "support/law_oracle.hpp"

#include "draws.hpp"

/// @file
/// Contact problems with an answer known beforehand, out of the bytes of an input, and a measure of
/// answers that shares no code with the solvers.
namespace carom::fuzz {

/// The contact of a problem that is drawn.
enum class Softness { rigid, compliant, mixed };

/// How wild the numbers of a problem are.
struct ProblemShape {
  int most_bodies = 5, most_blocks = 10;
  double decades = 1;      ///< of masses and stiffnesses
  double row_decades = 1;  ///< of the entries of J
  double speed = 1;        ///< [m/s]
  Softness softness = Softness::mixed;
  bool only_contacts = false;  ///< friction contacts of three rows, and no other blocks
};

/// A problem and an answer to it under a law: v̂ and v* are chosen so that it is one, up to the
/// rounding of these two.
template <RealScalar Scalar>
struct PlantedProblem {
  ContactProblem<Scalar> problem{Scalar(0.01)};
  VectorX<Scalar> velocity, impulse;
};

/// Draws problems around answers.
template <RealScalar Scalar>
class PlantedDraws {
 public:
  PlantedDraws(Draws& draws, const ProblemShape& shape, FrictionLaw law)
      : draws_(draws), shape_(shape), law_(law) {}

  [[nodiscard]] PlantedProblem<Scalar> draw() {
    planted_ = {};
    planted_.problem.reset(Scalar(draws_.pick({1e-4, 0.002, 0.01, 1.0})));
    const int bodies = 1 + draws_.below(shape_.most_bodies);
    for (int b = 0; b < bodies; ++b) add_body();
    const int blocks = draws_.below(shape_.most_blocks + 1);
    for (int i = 0; i < blocks; ++i) add_block();
    answer();
    return std::move(planted_);
  }

 private:
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

  void add_body() {
    const int size = draws_.pick({3, 6, 3, 6, 1, 2});
    const double mass = draws_.positive(shape_.decades);
    Matrix factor = Matrix::Zero(size, size);
    const bool full = draws_.chance(0.3);
    for (int c = 0; c < size; ++c) {
      factor(c, c) = Scalar(std::sqrt(mass * draws_.positive(1)));
      for (int r = c + 1; full && r < size; ++r) {
        factor(r, c) = factor(c, c) * Scalar(draws_.unit() - 0.5);
      }
    }
    const Matrix momentum = factor * factor.transpose();
    planted_.problem.add_body(momentum, VectorX<Scalar>(VectorX<Scalar>::Zero(size)));
  }
  [[nodiscard]] Matrix rows_on(Index body, int rows) {
    Matrix jacobian(rows, planted_.problem.body(body).size);
    draws_.fill(jacobian, shape_.row_decades);
    if (jacobian.isZero(0)) jacobian(rows == 1 ? 0 : rows - 1, 0) = Scalar(1);
    return jacobian;
  }
  [[nodiscard]] bool is_rigid() {
    if (shape_.softness == Softness::mixed) return draws_.chance(0.5);
    return shape_.softness == Softness::rigid;
  }
  [[nodiscard]] Scalar stiffness() { return Scalar(1e4 * draws_.positive(shape_.decades)); }
  [[nodiscard]] Scalar coefficient() {
    return draws_.chance(0.2) ? Scalar(0) : Scalar(0.5 * draws_.positive(1));
  }
  template <typename Law>
  void add_contact(const Law& law, int rows) {
    add(law, rows, [&](auto&&... given) { planted_.problem.add_contact(given...); });
  }
  template <typename Law>
  void add_constraint(const Law& law, int rows) {
    add(law, rows, [&](auto&&... given) { planted_.problem.add_constraint(given...); });
  }
  /// One body, or two of them. What the library refuses, as a row that nothing can move, is left
  /// out.
  template <typename Law, typename Add>
  void add(const Law& law, int rows, const Add& to_problem) {
    const Index count = planted_.problem.body_count();
    const Index first = draws_.below(int(count)), other = draws_.below(int(count) + 2);
    try {
      if (other < count && other != first) {
        to_problem(first, rows_on(first, rows), other, rows_on(other, rows), law);
      } else {
        to_problem(first, rows_on(first, rows), law);
      }
    } catch (const std::invalid_argument&) {
    }
  }

  void add_block() {
    const int kind = shape_.only_contacts ? draws_.below(2) : draws_.below(10);
    const bool rigid = is_rigid();
    const Scalar gap = Scalar(0.01 * draws_.entry(2)),
                 infinity = std::numeric_limits<Scalar>::infinity();
    const Scalar limit = Scalar(draws_.positive(4));
    switch (kind) {
      case 0:
      case 1:
        if (rigid)
          return add_contact(RigidContact<Scalar>{.gap = gap, .friction = coefficient()}, 3);
        return add_contact(
            CompliantContact<Scalar>{
                .gap = gap, .stiffness = stiffness(), .friction = coefficient()},
            3);
      case 2:
        return add_wrench(gap, rigid);
      case 3:
        if (shape_.softness == Softness::rigid) return add_wrench(gap, true);
        return add_contact(HuntCrossleyContact<Scalar>{.gap = gap,
                                                       .stiffness = stiffness(),
                                                       .dissipation = Scalar(draws_.positive(2)),
                                                       .normal_velocity = Scalar(draws_.entry(1)),
                                                       .friction = coefficient()},
                           3);
      case 4: {
        const int rows = 1 + draws_.below(6);
        Bilateral<Scalar> law{.rows = rows};
        if (!rigid) law.stiffness = stiffness();
        return add_constraint(law, rows);
      }
      case 5:
        return add_constraint(
            JointLimit<Scalar>{.gap = gap, .stiffness = rigid ? infinity : stiffness()}, 1);
      case 6:
        return add_constraint(
            DryFriction<Scalar>{.effort_limit = limit,
                                .relative_slip = rigid ? Scalar(0) : Scalar(1e-3)},
            1);
      case 7:
        return add_constraint(Motor<Scalar>{.wanted_velocity = Scalar(draws_.entry(1)),
                                            .velocity_gain = stiffness(),
                                            .effort_limit = draws_.chance(0.5) ? infinity : limit},
                              1);
      case 8:
        return add_constraint(
            Tendon<Scalar>{.stretch = gap,
                           .stiffness = rigid ? infinity : stiffness(),
                           .tension_limit = draws_.chance(0.5) ? infinity : limit},
            1);
      default:
        return add_planar(rigid);
    }
  }
  void add_wrench(const Scalar& gap, bool rigid) {
    using Shape = ImpulseShape;
    const Shape shape = draws_.pick({Shape::friction, Shape::elliptic, Shape::torsional,
                                     Shape::rolling, Shape::ellipsoidal_torsional,
                                     Shape::ellipsoidal_rolling, Shape::spinless_rolling});
    WrenchContact<Scalar> law{.contact = {.gap = gap, .friction = coefficient()}, .shape = shape};
    if (!rigid) law.contact.stiffness = stiffness();
    const int rows = cone_row_count(shape);
    if (rows >= 5) law.rolling_friction = coefficient();
    if (rows == 4 || rows == 6) law.torsional_friction = coefficient();
    if (shape == Shape::elliptic) law.second_friction = coefficient();
    if (draws_.chance(0.2)) law.bond = Scalar(draws_.positive(2));
    add_contact(law, rows);
  }
  /// A contact in the plane, by the numbers of the convex problem.
  void add_planar(bool rigid) {
    WeightedBlock<Scalar> law;
    law.set = cone_impulses<Scalar>(ImpulseShape::planar, {coefficient(), Scalar(0), Scalar(0)});
    law.regularization *= Scalar(1e-4 * draws_.positive(shape_.decades));
    law.rigid = rigid;
    add_constraint(law, 2);
  }

  /// Chooses what every block does in the answer, and with it v̂ and v*.
  void answer() {
    auto& problem = planted_.problem;
    planted_.velocity.resize(problem.velocity_count());
    for (Index i = 0; i < planted_.velocity.size(); ++i) {
      planted_.velocity(i) = Scalar(shape_.speed * draws_.entry(1));
    }
    planted_.impulse.setZero(problem.impulse_count());
    for (Index i = 0; i < problem.block_count(); ++i) {
      problem.visit(i, [&](const auto& block) { answer_block(i, block); });
    }
    VectorX<Scalar> momentum = VectorX<Scalar>::Zero(problem.velocity_count());
    problem.for_each_block(
        [&](const auto& block) { block.add_momentum(block.read(planted_.impulse), momentum); });
    problem.whiten_momentum(as_span(momentum));
    problem.unwhiten(as_span(momentum));
    const VectorX<Scalar> free = planted_.velocity - momentum;
    problem.set_free_velocity(as_span(free));
  }
  template <typename Block>
  void answer_block(Index i, const Block& block) {
    WeightedBlock<Scalar> law = planted_.problem.law(i);
    RowNumbers<Scalar> y = RowNumbers<Scalar>::Zero(), moved = y, step = RowNumbers<Scalar>::Ones();
    const auto own = block.velocity(planted_.velocity);
    // Impulses in the size that moves the bodies as fast as they are, so that contact matters.
    const Scalar weight = mean_weight(block), size = Scalar(shape_.speed) / weight;
    for (int r = 0; r < law.set.rows; ++r) {
      moved(r) = own(r);
      y(r) = size * Scalar(2 * draws_.unit() - 0.8);
      step(r) = law.rigid ? weight : law.regularization(r);
    }
    const bool coulomb = law_ == FrictionLaw::coulomb;
    if (law.rigid && coulomb) {  // slip along an ellipsoid is as the impulse over its μ²
      for (const detail::FrictionBlock<Scalar>& rows : detail::FrictionBlocks<Scalar>(law.set)) {
        Scalar least = std::numeric_limits<Scalar>::infinity();
        for (int k = 0; k < rows.size; ++k) {
          if (rows.mu(k) > Scalar(0)) least = (std::min)(least, rows.mu(k));
        }
        for (int k = 0; k < rows.size; ++k) {
          if (!(rows.mu(k) > Scalar(0))) continue;
          step(rows.row(k)) *= (least / rows.mu(k)) * (least / rows.mu(k));
        }
      }
    }
    RowNumbers<Scalar> impulse;
    if (!law.rigid) {
      impulse = coulomb ? coulomb_impulse(law.set, law.regularization, y)
                        : nearest_impulse(law.set, law.regularization, y);
    } else {
      impulse = coulomb ? coulomb_impulse(law.set, y) : nearest_impulse(law.set, step, y);
    }
    for (int r = 0; r < law.set.rows; ++r) {
      planted_.impulse(block.first_row() + r) = impulse(r);
      // y = R⁻¹ (v̂ − J v) where the block yields, else u = a (γ − y) = J v − v̂.
      law.bias_velocity(r) = law.rigid ? Scalar(moved(r) - step(r) * (impulse(r) - y(r)))
                                       : Scalar(moved(r) + law.regularization(r) * y(r));
    }
    law.overlap = law.overlap_velocity = Scalar(0);
    planted_.problem.set_law(i, law);
  }
  /// The mean inverse mass of the rows of a block.
  template <typename Block>
  [[nodiscard]] static Scalar mean_weight(const Block& block) {
    Scalar sum(0);
    for (int s = 0; s < block.side_count(); ++s) {
      const auto& side = block.side(s);
      for (Index k = 0; k < Index(block.rows()) * side.range.size; ++k) {
        sum += side.whitened[k] * side.whitened[k];
      }
    }
    return sum > Scalar(0) ? Scalar(sum / Scalar(block.rows())) : Scalar(1);
  }

  Draws& draws_;
  ProblemShape shape_;
  FrictionLaw law_;
  PlantedProblem<Scalar> planted_;
};

template <RealScalar Scalar>
[[nodiscard]] PlantedProblem<Scalar> plant_problem(Draws& draws, const ProblemShape& shape,
                                                   FrictionLaw law) {
  return PlantedDraws<Scalar>(draws, shape, law).draw();
}

/// Draws the shape of a problem; one in two is tame.
[[nodiscard]] inline ProblemShape draw_shape(Draws& draws) {
  ProblemShape shape;
  if (draws.chance(0.5)) {
    shape.decades = draws.pick({4.0, 8.0, 12.0});
    shape.row_decades = draws.pick({1.0, 2.0, 6.0});
    shape.speed = draws.positive(6);
  }
  shape.softness = draws.pick({Softness::rigid, Softness::compliant, Softness::mixed});
  shape.only_contacts = draws.chance(0.3);
  return shape;
}
[[nodiscard]] inline bool is_tame(const ProblemShape& shape) {
  return shape.decades <= 1 && shape.row_decades <= 1 && shape.speed == 1;
}

/// The error of an answer in the sense of long double: that of momenta and of laws, both relative
/// to the largest motion of the whole problem. Judged bodies and blocks of their own scales are
/// nowhere worse than this, so that an answer with a small error there has a small one here.
struct IndependentError {
  double momentum = 0, law = 0;
};

/// @param softened  whether rigid blocks use their R.
template <RealScalar Scalar>
[[nodiscard]] IndependentError independent_error(const ContactProblem<Scalar>& problem,
                                                 FrictionLaw law, const VectorX<Scalar>& velocity,
                                                 const VectorX<Scalar>& impulse, bool softened) {
  using Long = long double;
  using Numbers = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;
  Numbers lacks(problem.velocity_count());  // A (v − v*) − Jᵀγ
  Long scale_squared = 0;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const Matrix mass = problem.momentum_matrix(b).template cast<Long>();
    const Numbers free = problem.free_velocity().segment(start, size).template cast<Long>();
    const Numbers v = velocity.segment(start, size).template cast<Long>();
    lacks.segment(start, size) = mass * (v - free);
    scale_squared += free.dot(mass * free) + v.dot(mass * v);
  }
  Long scale = std::sqrt(scale_squared);
  const auto for_each = [&](const auto& visit) {
    problem.for_each_block([&](const auto& block) {
      const int rows = block.rows();
      Numbers moved = Numbers::Zero(rows), weights = Numbers::Zero(rows);
      for (int s = 0; s < block.side_count(); ++s) {
        const auto& side = block.side(s);
        const auto [start, size] = side.range;
        const Matrix jacobian = block.columns(s).transpose().template cast<Long>();
        moved += jacobian * velocity.segment(start, size).template cast<Long>();
        for (int r = 0; r < rows; ++r) {
          for (Index k = 0; k < size; ++k) {
            const Long x = side.whitened[r * size + k];
            weights(r) += x * x;
          }
        }
      }
      visit(block, moved, weights);
    });
  };
  // Units of a part of a block: all rows of a cone along the surface and its normal share one, as
  // do its moments; rows between bounds have their own.
  const auto units_of = [&](const auto& block, const Numbers& weights) {
    const auto law_of_block = problem.law(block.number());
    const bool soft = softened || !law_of_block.rigid,
               cone = law_of_block.set.shape != ImpulseShape::intervals;
    const int rows = block.rows();
    Numbers units(rows);
    for (int r = 0; r < rows; ++r) {
      const int begin = !cone   ? r
                        : r < 3 ? 0
                                : 3,
                end = !cone   ? r + 1
                      : r < 3 ? std::min(rows, 3)
                              : rows;
      Long sum = 0;
      for (int k = begin; k < end; ++k) {
        sum += weights(k) + (soft ? Long(block.regularization()(k)) : Long(0));
      }
      units(r) = std::sqrt(sum / (end - begin));
    }
    return units;
  };
  for_each([&](const auto& block, const Numbers&, const Numbers& weights) {
    const Numbers units = units_of(block, weights);
    for (int r = 0; r < block.rows(); ++r) {
      scale += units(r) * std::abs(Long(impulse(block.first_row() + r)));
    }
  });
  IndependentError error;
  if (!(scale > 0)) return error;
  for_each([&](const auto& block, const Numbers& moved, const Numbers& weights) {
    const int rows = block.rows();
    const bool soft = softened || !problem.law(block.number()).rigid;
    const auto set = problem.law(block.number()).set;
    const Numbers units = units_of(block, weights);
    Numbers gamma(rows);
    for (int r = 0; r < rows; ++r) gamma(r) = impulse(block.first_row() + r);
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      lacks.segment(start, size) -= block.columns(s).template cast<Long>() * gamma;
    }
    Eigen::Matrix<Long, 6, 1> g = Eigen::Matrix<Long, 6, 1>::Zero(), u = g;
    ImpulseSet<Long> scaled;
    scaled.shape = set.shape;
    scaled.rows = set.rows;
    for (int r = 0; r < rows; ++r) {
      const Long unit = units(r), softness = soft ? Long(block.regularization()(r)) : Long(0);
      if (!(unit > 0)) continue;
      g(r) = gamma(r) * unit / scale;
      u(r) = (moved(r) - Long(block.bias_velocity()(r)) + softness * gamma(r)) / unit / scale;
      scaled.lower(r) = Long(set.lower(r)) * unit / scale;
      scaled.upper(r) = Long(set.upper(r)) * unit / scale;
      scaled.shift(r) = Long(set.shift(r)) * unit / scale;
    }
    for (int k = 0; k < 3; ++k) scaled.friction(k) = Long(set.friction(k));
    const bool turns = rows > 3 && set.shape != ImpulseShape::intervals && units(0) > 0;
    for (int k = 1; turns && k < 3; ++k) scaled.friction(k) *= units(3) / units(0);
    if (law == FrictionLaw::convex && set.shape != ImpulseShape::intervals) {
      u(testing::shape_of(scaled).normal) -= testing::lift_of(scaled, u);
    }
    error.law = std::max(error.law, double(testing::law_error(scaled, g, u)));
  });
  Long squared = 0;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const Matrix mass = problem.momentum_matrix(b).template cast<Long>();
    const Numbers own = lacks.segment(start, size);
    squared += own.dot(mass.llt().solve(own));
  }
  error.momentum = double(std::sqrt(squared) / scale);
  return error;
}

}  // namespace carom::fuzz
