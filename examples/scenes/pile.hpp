// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "carom/contact/contact_problem.hpp"

namespace carom::examples {

/// One step of a heap of spheres and boxes, and the velocity before the step.
struct Pile {
  ContactProblem<double> problem;
  VectorX<double> guess;  ///< [rad/s, m/s], six per body: angular, then linear.
};

/// Which bodies a heap has. All are 10 cm wide.
enum class PileBodies {
  mixed,    ///< Three spheres to a box; a box meets another body along an edge, in two points.
  spheres,  ///< They meet in one point.
  boxes,    ///< Cubes, each on a quarter of four others; faces meet in four points.
};

/// What a heap is made of.
struct PileShape {
  Index body_count = 1000;  ///< > 0.
  Index layers = 10;        ///< Of the heap, > 0; fewer where the bodies do not suffice.
  double time_step = 0.01;  ///< δt [s], > 0.
  double friction = 0.5;    ///< μ [-], ≥ 0.
  double stiffness = 1e5;   ///< k [N/m], > 0.
  double agitation = 0.05;  ///< Speed of the bodies before the step [m/s], ≥ 0.
  PileBodies bodies = PileBodies::mixed;
  double dissipation_time = 0.02;  ///< τ_d [s], ≥ 0.

  /// Bodies along an edge of the lowest layer: the fewest whose layers hold all bodies.
  [[nodiscard]] Index side() const {
    Index side = 1;
    while (capacity(side) < body_count) ++side;
    return side;
  }

 private:
  [[nodiscard]] Index capacity(Index side) const {
    Index sum = 0;
    for (Index k = 0; k < layers && k < side; ++k) sum += (side - k) * (side - k);
    return sum;
  }
};

namespace detail {

/// The same numbers in [−1, 1) on every machine.
class SteadyNoise {
 public:
  explicit SteadyNoise(std::uint64_t seed) : state_(seed) {}
  double next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return double((z ^ (z >> 31U)) >> 11U) * 0x1p-52 - 1;
  }
  Vector3<double> vector() { return {next(), next(), next()}; }

 private:
  std::uint64_t state_;
};

inline constexpr double pile_radius = 0.05;     ///< Half the width of a body [m].
inline constexpr double pile_neighbours = 0.3;  ///< Share of those beside each other that touch.

/// Where a body is placed [m].
[[nodiscard]] inline Vector3<double> pile_place(const PileShape& shape, Index layer, Index row,
                                                Index column) {
  constexpr double radius = pile_radius;
  const double rise = shape.bodies == PileBodies::boxes ? 2 * radius : std::sqrt(2.0) * radius;
  return {radius * double(2 * column + layer), radius * double(2 * row + layer),
          radius + double(layer) * rise};
}

/// Places bodies layer by layer: each rests in the hollow between four of the layer below. Contacts
/// are where the spheres, or the boxes' faces, would meet. It keeps nothing of what it has placed.
/// @tparam Sink  takes it: add_body(place, momentum, velocity, free_velocity);
///               add_contact(body, first_jacobian, law) and (body, first, other, second, law), for
///               the contacts with the ground or others that wants(body, other) says, other −1 for
///               the ground.
template <typename Sink>
class PileWalk {
 public:
  PileWalk(const PileShape& shape, Sink& sink) : shape_(shape), sink_(sink) {}

  /// @param observe  is called with the number of bodies so far, row by row.
  template <typename Observe>
  void make(Index heaps, const Observe& observe) {
    const Index side = shape_.side();
    for (Index heap = 0; heap < heaps; ++heap) {
      limit_ = count_ + shape_.body_count;
      Index below = count_;
      for (Index layer = 0; count_ < limit_; ++layer) {
        const Index first = count_;
        add_layer(side - layer, layer, below, observe);
        below = first;
      }
    }
  }

 private:
  static constexpr double radius = pile_radius;

  [[nodiscard]] bool is_box(Index body) const {
    if (shape_.bodies == PileBodies::mixed) return body % 4 == 3;
    return shape_.bodies == PileBodies::boxes;
  }

  /// Bodies of a layer, row by row; those above the count are missing.
  /// @param below  the first body of the layer below.
  template <typename Observe>
  void add_layer(Index side, Index layer, Index below, const Observe& observe) {
    for (Index row = 0; row < side && count_ < limit_; ++row) {
      observe(count_);
      for (Index column = 0; column < side && count_ < limit_; ++column) {
        const Index body = add_body(pile_place(shape_, layer, row, column));
        if (layer == 0) {
          touch_ground(body);
        } else {
          for (const Index dr : {0, 1}) {
            for (const Index dc : {0, 1}) {
              const Index other = below + (row + dr) * (side + 1) + column + dc;
              rest_on(body, other, 1 - 2.0 * double(dc), 1 - 2.0 * double(dr));
            }
          }
        }
        if (column > 0) touch_beside(body, body - 1, {1, 0, 0});
        if (row > 0) touch_beside(body, body - side, {0, 1, 0});
      }
    }
  }

  Index add_body(const Vector3<double>& place) {
    const double mass = 0.8 + 0.3 * noise_.next();
    const double inertia = (is_box(count_) ? 2.0 / 3 : 2.0 / 5) * mass * radius * radius;
    Vector<double, 6> diagonal, velocity;
    diagonal << inertia, inertia, inertia, mass, mass, mass;
    velocity << shape_.agitation / radius * noise_.vector(), shape_.agitation * noise_.vector();
    Vector<double, 6> free = velocity;
    free(5) -= 9.81 * shape_.time_step;
    const SquareMatrix<double, 6> momentum = diagonal.asDiagonal();
    sink_.add_body(place, momentum, velocity, free);
    return count_++;
  }

  /// A box stands on four corners, a sphere on one point.
  void touch_ground(Index body) {
    const Vector3<double> normal = Vector3<double>::UnitZ();
    const Vector3<double> none = Vector3<double>::Zero();
    if (!is_box(body)) return add(body, -1, -radius * normal, none, normal);
    for (const double x : {-radius, radius}) {
      for (const double y : {-radius, radius}) add(body, -1, {x, y, -radius}, none, normal);
    }
  }
  /// A body on another, which is by (x, y) radii to the side.
  void rest_on(Index body, Index other, double x, double y) {
    if (shape_.bodies != PileBodies::boxes) return touch(body, other, {x, y, std::sqrt(2.0)});
    const Vector3<double> apart(radius * x, radius * y, 2 * radius);
    const Vector3<double> normal = tilted(Vector3<double>::UnitZ());
    for (const double along : {0.0, -radius * x}) {
      for (const double across : {0.0, -radius * y}) {
        const Vector3<double> corner(along, across, -radius);
        add(body, other, corner, corner + apart, normal);
      }
    }
  }
  /// A body on another: the normal points from the other to it, a little off.
  void touch(Index body, Index other, const Vector3<double>& direction) {
    const Vector3<double> normal = tilted(direction.normalized());
    const bool flat = is_box(body) || is_box(other);
    const Vector3<double> arm = radius * normal;
    if (!flat) return add(body, other, -arm, arm, normal);
    const Vector3<double> along = normal.unitOrthogonal() * (radius / 3);  // ends of an edge
    add(body, other, along - arm, along + arm, normal);
    add(body, other, -along - arm, arm - along, normal);
  }
  /// Some neighbours of a layer touch.
  void touch_beside(Index body, Index other, const Vector3<double>& direction) {
    if (noise_.next() < 1 - 2 * pile_neighbours) return;
    const Vector3<double> normal = tilted(direction);
    if (shape_.bodies != PileBodies::boxes) {
      return add(body, other, -radius * normal, radius * normal, normal);
    }
    const Vector3<double> apart = 2 * radius * direction;
    const Vector3<double> across(radius * direction.y(), radius * direction.x(), 0);
    for (const double up : {-radius, radius}) {
      for (const double sign : {-1.0, 1.0}) {
        const Vector3<double> corner = sign * across + up * Vector3<double>::UnitZ() - apart / 2;
        add(body, other, corner, corner + apart, normal);
      }
    }
  }
  [[nodiscard]] Vector3<double> tilted(const Vector3<double>& direction) {
    return (direction + 0.1 * noise_.vector()).normalized();
  }

  void add(Index body, Index other, const Vector3<double>& point,
           const Vector3<double>& other_point, const Vector3<double>& normal) {
    const CompliantContact<double> law{.gap = -1e-4 * (1 + noise_.next()),
                                       .stiffness = shape_.stiffness,
                                       .dissipation_time = shape_.dissipation_time,
                                       .friction = shape_.friction};
    if (!sink_.wants(body, other)) return;
    const auto first = jacobian(point, normal);
    if (other < 0) {
      sink_.add_contact(body, first, law);
    } else {
      const auto second = jacobian(other_point, normal);
      sink_.add_contact(body, first, other, (-second).eval(), law);
    }
  }
  /// Rows (t₁, t₂, n) of the velocity of a point of a body.
  [[nodiscard]] static Eigen::Matrix<double, 3, 6> jacobian(const Vector3<double>& point,
                                                            const Vector3<double>& normal) {
    SquareMatrix<double, 3> frame;
    frame.row(0) = normal.unitOrthogonal();
    frame.row(1) = normal.cross(Vector3<double>(frame.row(0)));
    frame.row(2) = normal;
    Eigen::Matrix<double, 3, 6> result;
    for (int k = 0; k < 3; ++k) {
      const Vector3<double> axis = frame.row(k);
      result.row(k) << point.cross(axis).transpose(), axis.transpose();
    }
    return result;
  }

  PileShape shape_;
  Sink& sink_;
  Index count_ = 0, limit_ = 0;  ///< bodies so far, and when the heap is complete
  SteadyNoise noise_{20260101};
};

/// Makes the problem of all that a PileWalk places.
struct WholePile {
  ContactProblem<double> problem;
  std::vector<double> guess;

  [[nodiscard]] static bool wants(Index /*body*/, Index /*other*/) { return true; }
  void add_body(const Vector3<double>& /*place*/, const SquareMatrix<double, 6>& momentum,
                const Vector<double, 6>& velocity, const Vector<double, 6>& free_velocity) {
    for (const double number : velocity) guess.push_back(number);
    problem.add_body(momentum, free_velocity);
  }
  template <typename... Sides>
  void add_contact(const Sides&... sides) {
    problem.add_contact(sides...);
  }
};

template <typename Observe>
[[nodiscard]] Pile make_whole_pile(Index heaps, const PileShape& shape, const Observe& observe) {
  WholePile whole{ContactProblem<double>(shape.time_step), {}};
  whole.guess.reserve(std::size_t(6 * shape.body_count * heaps));
  PileWalk(shape, whole).make(heaps, observe);
  return {std::move(whole.problem),
          Eigen::Map<const VectorX<double>>(whole.guess.data(), Index(whole.guess.size()))};
}

}  // namespace detail

/// Heaps of spheres and boxes that do not touch each other, agitated, one step before they settle.
/// Deterministic: the same numbers on every machine, up to the rounding of square roots.
[[nodiscard]] inline Pile make_piles(Index heaps, const PileShape& shape) {
  return detail::make_whole_pile(heaps, shape, [](Index /*bodies*/) {});
}
/// One heap.
[[nodiscard]] inline Pile make_pile(const PileShape& shape) {
  return make_piles(1, shape);
}
/// One heap.
/// @param observe  observe(bodies) is called with the number of bodies so far, row by row.
template <typename Observe>
[[nodiscard]] Pile make_pile(const PileShape& shape, const Observe& observe) {
  return detail::make_whole_pile(1, shape, observe);
}

/// Where the bodies of a heap are as they are placed [m], by their numbers.
[[nodiscard]] inline std::vector<Vector3<double>> pile_places(const PileShape& shape) {
  std::vector<Vector3<double>> places;
  Index side = shape.side();
  for (Index layer = 0; Index(places.size()) < shape.body_count; ++layer, --side) {
    for (Index i = 0; i < side * side && Index(places.size()) < shape.body_count; ++i) {
      places.push_back(detail::pile_place(shape, layer, i / side, i % side));
    }
  }
  return places;
}

/// Where one body of a heap is as it is placed [m], by its number.
[[nodiscard]] inline Vector3<double> pile_place(const PileShape& shape, Index body) {
  Index layer = 0, side = shape.side();
  for (; body >= side * side; ++layer, --side) body -= side * side;
  return detail::pile_place(shape, layer, body / side, body % side);
}

/// How many contacts a heap has on average over the noise that decides which bodies beside each
/// other touch; without making it.
[[nodiscard]] inline double expected_contacts(const PileShape& shape) {
  const bool boxes = shape.bodies == PileBodies::boxes, mixed = shape.bodies == PileBodies::mixed;
  const double on_ground = boxes ? 4 : mixed ? 1.75 : 1;
  const double on_body = boxes ? 4 : mixed ? 2 - 0.75 * 0.75 : 1;  // two where either is a box
  const double beside = detail::pile_neighbours * (boxes ? 4 : 1);
  double sum = 0;
  Index side = shape.side(), left = shape.body_count;
  for (Index layer = 0; left > 0; ++layer, --side) {
    const Index here = (std::min)(left, side * side), rows = (here + side - 1) / side;
    sum += double(here) * (layer == 0 ? on_ground : 4 * on_body);
    sum += beside * double((here - rows) + (std::max)(Index(0), here - side));
    left -= here;
  }
  return sum;
}

}  // namespace carom::examples
