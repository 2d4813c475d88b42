// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "scenes/rigid_world.hpp"

namespace carom::examples {

/// @file
/// Bodies that only contact holds up: an arch, a house of cards, a table, a stack, a brick wall.
/// How the load spreads is not determined, because W is singular, but whether they stand is.

/// A semicircular arch of equal blocks on its two springings, joints along the radius. Of many
/// blocks, with friction enough, it stands while thickness/radius is at least 0.1075.
struct Arch {
  int count = 9;             ///< voussoirs
  double thickness = 0.2;    ///< t [m]
  double radius = 1;         ///< r of the middle of the ring [m]
  double friction = 1;       ///< μ [-]
  double time_step = 0.005;  ///< δt [s]
};

/// The voussoir between two joints, of density 1000 and depth 0.5 m.
[[nodiscard]] inline RigidBlock make_voussoir(const Arch& arch, double from, double to) {
  const double inner = arch.radius - arch.thickness / 2, outer = arch.radius + arch.thickness / 2;
  const double half = (to - from) / 2, middle = (from + to) / 2, depth = 0.5;
  const double squares = outer * outer - inner * inner;
  const double cubes = std::pow(outer, 3) - std::pow(inner, 3);
  const double centre = 2.0 / 3 * std::sin(half) / half * cubes / squares;
  const double mass = 1000 * depth * half * squares;
  const double polar = mass * ((outer * outer + inner * inner) / 2 - centre * centre);
  RigidBlock block = make_block(mass, {arch.thickness / 2, depth / 2, half * arch.radius});
  block.inertia.y() = polar;  // about the axis of the arch
  block.position << centre * std::cos(middle), 0, centre * std::sin(middle);
  block.orientation = Eigen::AngleAxisd(-middle, Vector3<double>::UnitY());
  return block;
}

[[nodiscard]] inline RigidWorld make_arch(const Arch& arch) {
  RigidWorld world;
  world.time_step = arch.time_step;
  const double step = std::numbers::pi / arch.count;
  for (int i = 0; i < arch.count; ++i) {
    world.blocks.push_back(make_voussoir(arch, i * step, (i + 1) * step));
  }
  world.find_touches = [arch, step](const std::vector<RigidBlock>& /*as built*/) {
    RigidWorld::Touches touches;
    for (int joint = 0; joint <= arch.count; ++joint) {
      const double angle = joint * step;
      const Vector3<double> out(std::cos(angle), 0, std::sin(angle));
      const Vector3<double> along(-std::sin(angle), 0, std::cos(angle));  // from joint to joint
      const bool last = joint == arch.count;
      for (const auto& point :
           four_around(arch.radius * out, arch.thickness / 2 * out, {0, 0.25, 0})) {
        if (last) {
          touches.push_back({joint - 1, -1, point, -along, 0, arch.friction});
        } else {
          touches.push_back({joint, joint - 1, point, along, 0, arch.friction});
        }
      }
    }
    return touches;
  };
  return world;
}

/// A house of cards: pairs that lean on each other, cards laid across their tops, and so on up.
/// One pair stands if μ ≥ ½ tan a.
struct CardHouse {
  int stories = 1;
  double lean = 0.4;         ///< a, of the cards against the vertical [rad]
  double friction = 0.6;     ///< μ [-]
  double length = 0.09;      ///< of a card [m]
  double width = 0.06;       ///< [m]
  double mass = 0.002;       ///< [kg]
  double time_step = 0.005;  ///< δt [s]
};

namespace detail {

/// Lays cards and notes their touches, story by story.
struct CardBuilder {
  const CardHouse& house;
  double reach = house.length * std::sin(house.lean);  ///< of a leaning card along x
  double height = house.length * std::cos(house.lean);
  std::vector<RigidBlock> blocks;
  RigidWorld::Touches touches;

  Index add_card(const Vector3<double>& centre, double turn) {
    blocks.push_back(make_block(house.mass, {5e-4, house.width / 2, house.length / 2}));
    blocks.back().position = centre;
    blocks.back().orientation = Eigen::AngleAxisd(turn, Vector3<double>::UnitY());
    return Index(blocks.size()) - 1;
  }
  /// At both ends of an edge.
  void touch(Index first, Index second, const Vector3<double>& point,
             const Vector3<double>& normal) {
    for (const double y : {-house.width / 2, house.width / 2}) {
      touches.push_back(
          {first, second, point + y * Vector3<double>::UnitY(), normal, 0, house.friction});
    }
  }
  /// Pairs of one story; `floor` is what each stands on. Returns what the next story stands on.
  std::vector<Index> add_story(double left, double z, const std::vector<Index>& floor) {
    std::vector<Index> cards, across;
    for (std::size_t i = 0; i < floor.size(); ++i) {
      const double x = left + 2 * reach * double(i);  // of the apex
      for (const double side : {-1.0, 1.0}) {
        const Vector3<double> centre(x + side * reach / 2, 0, z + height / 2);
        cards.push_back(add_card(centre, -side * house.lean));
        touch(cards.back(), floor[i], {x + side * reach, 0, z}, Vector3<double>::UnitZ());
      }
      touch(cards.back(), cards[cards.size() - 2], {x, 0, z + height}, Vector3<double>::UnitX());
    }
    for (std::size_t i = 0; i + 1 < floor.size(); ++i) {
      const double x = left + 2 * reach * double(i);
      across.push_back(add_card({x + reach, 0, z + height}, std::numbers::pi / 2));
      touch(across.back(), cards[2 * i + 1], {x, 0, z + height}, Vector3<double>::UnitZ());
      touch(across.back(), cards[2 * i + 2], {x + 2 * reach, 0, z + height},
            Vector3<double>::UnitZ());
    }
    return across;
  }
};

}  // namespace detail

[[nodiscard]] inline RigidWorld make_card_house(const CardHouse& house) {
  detail::CardBuilder builder{house, 0, 0, {}, {}};
  builder.reach = house.length * std::sin(house.lean);
  builder.height = house.length * std::cos(house.lean);
  std::vector<Index> floor(std::size_t(house.stories), -1);  // the ground
  for (int story = 0; story < house.stories; ++story) {
    floor = builder.add_story(story * builder.reach, story * builder.height, floor);
  }
  RigidWorld world;
  world.time_step = house.time_step;
  world.blocks = builder.blocks;
  world.find_touches = [touches = builder.touches](const std::vector<RigidBlock>& /*as built*/) {
    return touches;
  };
  return world;
}

/// Blocks of 0.2 m on each other's four corners, the first on the ground; a single one is a table
/// on four legs.
[[nodiscard]] inline RigidWorld make_stack(const std::vector<double>& masses,
                                           double friction = 0.5) {
  static constexpr double h = 0.1;
  RigidWorld world;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    world.blocks.push_back(make_block(masses[i], {h, h, h}));
    world.blocks.back().position.z() = h * double(2 * i + 1);
  }
  world.find_touches = [friction](const std::vector<RigidBlock>& blocks) {
    RigidWorld::Touches touches;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const double floor = i > 0 ? blocks[i - 1].position.z() + h : 0;
      for (const auto& corner : four_around({0, 0, -h}, {h, 0, 0}, {0, h, 0})) {
        const Vector3<double> point = blocks[i].place(corner);
        touches.push_back(
            {Index(i), Index(i) - 1, point, Vector3<double>::UnitZ(), point.z() - floor, friction});
      }
    }
    return touches;
  };
  return world;
}

/// Bricks in running bond, each on the halves of two below, with half bricks at the ends of every
/// second row; those side by side do not touch.
struct BrickWall {
  int columns = 43;                         ///< whole bricks of the lowest row
  int rows = 23;                            ///< [-]
  Vector3<double> half{0.1, 0.05, 0.0325};  ///< half a brick, along the wall, across, up [m]
  double density = 2000;                    ///< [kg/m³]
  double friction = 0.6;                    ///< μ [-]
  double time_step = 0.01;                  ///< δt [s]
};

namespace detail {

/// Two bricks that overlap along the wall, by the ends of the overlap in the axes of each.
struct BrickJoint {
  Index upper, lower;  ///< lower −1: the ground.
  Vector3<double> upper_point, lower_point;
};

/// The corners where a brick lies on the one below, or on the ground.
inline void add_joints(const std::vector<RigidBlock>& bricks, const std::vector<double>& lengths,
                       Index upper, Index lower, const Vector3<double>& half,
                       std::vector<BrickJoint>& joints) {
  const auto& top = bricks[std::size_t(upper)].position;
  double from = top.x() - lengths[std::size_t(upper)], to = top.x() + lengths[std::size_t(upper)];
  Vector3<double> under(0, 0, 0);
  if (lower >= 0) {
    under = bricks[std::size_t(lower)].position;
    from = std::max(from, under.x() - lengths[std::size_t(lower)]);
    to = std::min(to, under.x() + lengths[std::size_t(lower)]);
  }
  if (to - from < half.x() / 2) return;
  for (const double x : {from, to}) {
    for (const double y : {-half.y(), half.y()}) {
      const Vector3<double> point(x, y, top.z() - half.z());
      joints.push_back({upper, lower, point - top, point - under});
    }
  }
}

}  // namespace detail

[[nodiscard]] inline RigidWorld make_brick_wall(const BrickWall& wall) {
  RigidWorld world;
  world.time_step = wall.time_step;
  std::vector<double> lengths;  // halves
  std::vector<detail::BrickJoint> joints;
  std::vector<Index> below{-1}, row;
  for (int k = 0; k < wall.rows; ++k, below = row) {
    row.clear();
    const int count = wall.columns + k % 2;
    double left = 0;
    for (int i = 0; i < count; ++i) {
      const bool cut = k % 2 == 1 && (i == 0 || i + 1 == count);
      const double length = cut ? wall.half.x() / 2 : wall.half.x();
      const Vector3<double> half(length, wall.half.y(), wall.half.z());
      world.blocks.push_back(make_block(8 * wall.density * half.prod(), half));
      world.blocks.back().position << left + length, 0, wall.half.z() * (2 * k + 1);
      lengths.push_back(length);
      left += 2 * length;
      row.push_back(Index(world.blocks.size()) - 1);
      for (const Index lower : below) {
        detail::add_joints(world.blocks, lengths, row.back(), lower, wall.half, joints);
      }
    }
  }
  world.find_touches = [joints, friction = wall.friction](const std::vector<RigidBlock>& blocks) {
    RigidWorld::Touches touches;
    for (const auto& joint : joints) {
      const Vector3<double> upper = blocks[std::size_t(joint.upper)].place(joint.upper_point);
      Vector3<double> lower = joint.lower_point, normal = Vector3<double>::UnitZ();
      if (joint.lower >= 0) {
        const RigidBlock& block = blocks[std::size_t(joint.lower)];
        lower = block.place(joint.lower_point);
        normal = block.orientation * normal;
      }
      touches.push_back(
          {joint.upper, joint.lower, upper, normal, normal.dot(upper - lower), friction});
    }
    return touches;
  };
  return world;
}

}  // namespace carom::examples
