// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "io/friction_problem.hpp"

/// @file
/// Balls that roll with resistance, one time step of each in FCLIB's rolling form. The bundled
/// files `examples/data/fclib/rolling_*.hdf5` are made here.
namespace carom::testing {

/// A homogeneous ball: its velocities are those of its centre, then its rates of rotation.
struct Ball {
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();  ///< [m]
  double radius = 0.25;                              ///< [m]
  double mass = 2;                                   ///< [kg]
  Vector<double, 6> velocity = Vector<double, 6>::Zero();

  [[nodiscard]] double inertia() const { return 0.4 * mass * radius * radius; }
};

/// Balls on the plane z = 0 and on each other. No gap is left where two touch: w = 0.
class RollingBalls {
 public:
  static constexpr double time_step = 0.01;                ///< [s]
  Eigen::Vector3d gravity = Eigen::Vector3d(0, 0, -9.81);  ///< [m/s²]

  int add(const Ball& ball) {
    balls_.push_back(ball);
    return int(balls_.size()) - 1;
  }
  /// A ball on the plane.
  void touch_plane(int ball, double friction, double rolling) {
    Eigen::Vector3d foot = balls_[std::size_t(ball)].centre;
    foot.z() = 0;
    touches_.push_back({ball, -1, Eigen::Vector3d::UnitZ(), foot});
    coefficients_.emplace_back(friction, rolling);
  }
  /// Two balls that touch; the normal points to the first.
  void touch(int first, int second, double friction, double rolling) {
    const Ball &a = balls_[std::size_t(first)], &b = balls_[std::size_t(second)];
    const Eigen::Vector3d n = (a.centre - b.centre).normalized();
    touches_.push_back({first, second, n, b.centre + b.radius * n});
    coefficients_.emplace_back(friction, rolling);
  }
  /// A bar that keeps the distance of two centres.
  void join(int first, int second) { bars_.emplace_back(first, second); }

  [[nodiscard]] files::FrictionProblem problem(const std::string& title,
                                               const std::string& description) const {
    const Index size = 6 * Index(balls_.size()), count = Index(touches_.size());
    files::FrictionProblem problem;
    problem.dimension = 5;
    problem.contact_count = count;
    problem.friction.resize(count);
    problem.rolling_friction.resize(count);
    files::GlobalForm& form = problem.global.emplace();
    form.mass.resize(size, size);
    form.momentum.resize(size);
    for (Index i = 0; i < size; i += 6) {
      const Ball& ball = balls_[std::size_t(i / 6)];
      for (Index k = 0; k < 6; ++k) {
        const double mass = k < 3 ? ball.mass : ball.inertia();
        form.mass.insert(i + k, i + k) = mass;
        form.momentum(i + k) = mass * ball.velocity(k);
      }
      form.momentum.segment<3>(i) += ball.mass * time_step * gravity;
    }
    Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(size, 5 * count);
    for (Index i = 0; i < count; ++i) {
      problem.friction(i) = coefficients_[std::size_t(i)].first;
      problem.rolling_friction(i) = coefficients_[std::size_t(i)].second;
      write_directions(touches_[std::size_t(i)], directions.middleCols<5>(5 * i));
    }
    form.directions = directions.sparseView();
    form.velocity = VectorX<double>::Zero(5 * count);
    if (!bars_.empty()) write_bars(problem.global_equalities.emplace());
    problem.metadata = {{"title", title}, {"description", description}};
    return problem;
  }

 private:
  struct Touch {
    int first, second;  ///< Balls; no second is the plane.
    Eigen::Vector3d normal, point;
  };

  /// Columns (n, t₁, t₂, m₁, m₂): motion of the first ball at the point, less that of the second.
  void write_directions(const Touch& touch, Eigen::Ref<Eigen::MatrixXd> columns) const {
    const Eigen::Vector3d& n = touch.normal;
    const Eigen::Vector3d across = std::abs(n.y()) < 0.9
                                       ? Eigen::Vector3d::UnitY()
                                       : Eigen::Vector3d(Eigen::Vector3d::UnitX());
    const Eigen::Vector3d t1 = across.cross(n).normalized(), t2 = n.cross(t1);
    for (const auto& [ball, sign] : {std::pair(touch.first, 1), std::pair(touch.second, -1)}) {
      if (ball < 0) continue;
      const Eigen::Vector3d arm = touch.point - balls_[std::size_t(ball)].centre;
      int k = 0;
      for (const Eigen::Vector3d& d : {n, t1, t2}) {
        columns.block<3, 1>(6 * ball, k) = sign * d;
        if (k > 0) columns.block<3, 1>(6 * ball + 3, k) = sign * arm.cross(d);  // 0 along n
        ++k;
      }
      columns.block<3, 1>(6 * ball + 3, 3) = sign * t1;
      columns.block<3, 1>(6 * ball + 3, 4) = sign * t2;
    }
  }

  void write_bars(files::GlobalEqualities& equalities) const {
    const Index size = 6 * Index(balls_.size()), count = Index(bars_.size());
    Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(size, count);
    for (Index i = 0; i < count; ++i) {
      const auto [first, second] = bars_[std::size_t(i)];
      const Eigen::Vector3d along =
          (balls_[std::size_t(first)].centre - balls_[std::size_t(second)].centre).normalized();
      directions.col(i).segment<3>(6 * first) = along;
      directions.col(i).segment<3>(6 * second) = -along;
    }
    equalities.directions = directions.sparseView();
    equalities.velocity = VectorX<double>::Zero(count);
  }

  std::vector<Ball> balls_;
  std::vector<Touch> touches_;
  std::vector<std::pair<double, double>> coefficients_;
  std::vector<std::pair<int, int>> bars_;
};

/// Gravity seen from a plane that falls along x.
/// @param slope  the tangent of its angle.
[[nodiscard]] inline Eigen::Vector3d gravity_on(double slope) {
  return 9.81 / std::sqrt(1 + slope * slope) * Eigen::Vector3d(slope, 0, -1);
}

/// A ball at rest on an incline, with the solution: it rests up to a slope of min(μ, μᵣ/r), or
/// rolls, or, where friction along the plane is not enough for that, slides and may roll.
[[nodiscard]] inline files::FrictionProblem ball_on_incline(double slope, double friction,
                                                            double rolling) {
  RollingBalls scene;
  scene.gravity = gravity_on(slope);
  Ball ball;
  ball.centre.z() = ball.radius;
  scene.touch_plane(scene.add(ball), friction, rolling);
  const double r = ball.radius, m = ball.mass, inertia = ball.inertia();
  const double push = m * RollingBalls::time_step * scene.gravity.x();
  const double normal = -m * RollingBalls::time_step * scene.gravity.z();
  // Impulse against the slope, and moment against the rotation about y. Rolling without slip:
  // m Δv = push − drag, I Δω = drag r − moment, Δv = r Δω.
  double drag = push, moment = push * r;
  if (moment > rolling * normal) {
    moment = rolling * normal;
    drag = (push * inertia / (m * r) + moment) / (r + inertia / (m * r));
  }
  if (drag > friction * normal) {
    drag = friction * normal;
    moment = std::min(drag * r, rolling * normal);
  }
  auto problem =
      scene.problem("a ball on an incline", "in closed form, slope " + std::to_string(slope));
  files::FrictionState& state = problem.solution.emplace();
  state.velocity = VectorX<double>::Zero(6);
  state.velocity(0) = (push - drag) / m;
  state.velocity(4) = (drag * r - moment) / inertia;
  state.impulse.resize(5);
  state.impulse << normal, -drag, 0, 0, -moment;
  state.contact_velocity = problem.global->directions.transpose() * state.velocity;
  return problem;
}

/// Two balls on an incline, held at their distance by a bar along it, of unequal resistance: both
/// roll, and the bar pulls at the one that would fall behind. With the solution.
[[nodiscard]] inline files::FrictionProblem balls_on_a_bar() {
  RollingBalls scene;
  scene.gravity = gravity_on(0.25);
  Ball ball;
  ball.centre.z() = ball.radius;
  const double r = ball.radius, m = ball.mass, inertia = ball.inertia(), dt = scene.time_step;
  const double rolling[2] = {0.01, 0.03};
  scene.touch_plane(scene.add(ball), 0.5, rolling[0]);
  ball.centre.x() = 3 * r;
  scene.touch_plane(scene.add(ball), 0.5, rolling[1]);
  scene.join(0, 1);
  auto problem = scene.problem("two balls on a bar", "in closed form");
  const double push = m * dt * scene.gravity.x(), normal = -m * dt * scene.gravity.z();
  const double speed = (push - (rolling[0] + rolling[1]) / 2 * normal / r) / (m + inertia / r / r);
  files::FrictionState& state = problem.solution.emplace();
  state.velocity = VectorX<double>::Zero(12);
  state.impulse = VectorX<double>::Zero(10);
  for (const int i : {0, 1}) {
    const double moment = rolling[i] * normal, drag = (inertia * speed / r + moment) / r;
    state.velocity(6 * i) = speed;
    state.velocity(6 * i + 4) = speed / r;
    state.impulse.segment<5>(5 * i) << normal, -drag, 0, 0, -moment;
    if (i > 0) continue;
    state.multiplier.resize(1);  // along −x at the first ball, which is behind
    state.multiplier(0) = -(m * speed - push + drag);
  }
  state.contact_velocity = problem.global->directions.transpose() * state.velocity;
  return problem;
}

/// Ten equal balls, six under three under one, the topmost with a blow: 30 contacts.
[[nodiscard]] inline files::FrictionProblem ball_heap() {
  RollingBalls scene;
  const double r = 0.25, height = 2 * r * std::sqrt(2.0 / 3);
  std::vector<Ball> balls;
  for (int layer = 0; layer < 3; ++layer) {
    for (int row = 0; row < 3 - layer; ++row) {
      for (int place = 0; place < 3 - layer - row; ++place) {
        Ball ball;
        const double x = place + 0.5 * row + 0.5 * layer;
        const double y = std::sqrt(3.0) * (row / 2.0 + layer / 6.0);
        ball.centre << 2 * r * x, 2 * r * y, r + layer * height;
        balls.push_back(ball);
      }
    }
  }
  balls.back().velocity << 0.3, 0.1, 0, 0, 1, 2;
  for (const Ball& ball : balls) scene.add(ball);
  for (int i = 0; i < int(balls.size()); ++i) {
    const Ball& upper = balls[std::size_t(i)];
    if (upper.centre.z() < 1.5 * r) scene.touch_plane(i, 0.5, 0.02);
    for (int j = 0; j < i; ++j) {
      const double distance = (upper.centre - balls[std::size_t(j)].centre).norm();
      if (distance < 2.001 * r) scene.touch(i, j, 0.3, 0.005 + 0.001 * (j % 3));
    }
  }
  return scene.problem("a heap of ten balls", "six under three under one, the topmost with a blow");
}

/// Contacts of every state, W and q made to fit impulses and velocities chosen first: those are the
/// solution under Coulomb's law. States follow each other: held, sliding, rolling, both, apart.
[[nodiscard]] inline files::FrictionProblem planted_rolling() {
  std::uint64_t state = 1;
  const auto draw = [&state] {  // in (−1, 1), of 20 bits, the same everywhere
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double(state >> 44) + 0.5) / 524288 - 1;
  };
  constexpr Index count = 10, rows = 5 * count, bodies = 9;
  files::FrictionProblem problem;
  problem.dimension = 5;
  problem.contact_count = count;
  problem.friction.resize(count);
  problem.rolling_friction.resize(count);
  VectorX<double> impulse = VectorX<double>::Zero(rows), velocity = impulse;
  for (Index i = 0; i < count; ++i) {
    const double mu = 0.5 + 0.4 * draw(), roll = 0.06 + 0.04 * draw(), normal = 1 + 0.5 * draw();
    problem.friction(i) = mu;
    problem.rolling_friction(i) = roll;
    auto r = impulse.segment<5>(5 * i);
    auto u = velocity.segment<5>(5 * i);
    const Index kind = i % 5;
    if (kind == 4) {
      u << 0.5 + 0.4 * draw(), draw(), draw(), draw(), draw();
      continue;
    }
    const auto draw_direction = [&draw] {  // each number in a statement of its own: in this order
      const double second = draw();
      const double first = draw();
      return Eigen::Vector2d(Eigen::Vector2d(first, second).normalized());
    };
    const Eigen::Vector2d t = draw_direction();
    const Eigen::Vector2d m = draw_direction();
    const bool slides = kind == 1 || kind == 3, rolls = kind >= 2;
    r << normal, (slides ? 1 : 0.7) * mu * normal * t, (rolls ? 1 : 0.6) * roll * normal * m;
    if (slides) u.segment<2>(1) = -(0.5 + 0.3 * draw()) * t;
    if (rolls) u.segment<2>(3) = -(2 + draw()) * m;
  }
  Eigen::MatrixXd factor(rows, 6 * bodies);
  for (double& entry : factor.reshaped()) entry = draw();
  for (Index i = 0; i < rows; ++i) factor.row(i) *= i % 5 < 3 ? 1 : 4;  // rates, in rad/s
  const Eigen::MatrixXd delassus = factor * factor.transpose();
  problem.local = {files::SparseMatrix(delassus.sparseView()), velocity - delassus * impulse};
  problem.solution = {impulse, velocity, {}, {}};
  problem.metadata = {{"title", "planted"},
                      {"description", "ten contacts: held, sliding, rolling, both, apart"}};
  return problem;
}

/// The bundled files with rolling, by name, and what they are made of.
[[nodiscard]] inline std::vector<std::pair<std::string, files::FrictionProblem>>
rolling_problems() {
  return {{"rolling_incline_rests", ball_on_incline(0.06, 0.5, 0.02)},
          {"rolling_incline_rolls", ball_on_incline(0.2, 0.5, 0.02)},
          {"rolling_bar", balls_on_a_bar()},
          {"rolling_heap", ball_heap()},
          {"rolling_planted", planted_rolling()}};
}

}  // namespace carom::testing
