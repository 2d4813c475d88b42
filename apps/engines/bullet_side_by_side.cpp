// SPDX-License-Identifier: BSD-3-Clause
// Question: what changes in a Bullet world when carom solves it?
//
// The same scenes run with Bullet's own solver at 10 and 50 iterations, and with carom: rigid
// contact and Coulomb's law (exact); the same with the time of Bullet's 10 and 50 iterations as its
// deadline; stiff springs and Coulomb's law; stiff springs and the convex law, under which sliding
// contacts separate. Exit status 1 if the exact solver differs from a closed form.
//   carom_engines_bullet_side_by_side [bodies in the pile, 40] [boxes in the wall, 55]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "carom/adapters/bullet.hpp"
#include "carom/compiled.hpp"

#include "engines/bullet_scenes.hpp"
#include "engines/bullet_watch.hpp"

namespace {

using carom::examples::BulletScene, carom::examples::Watch, carom::examples::WatchedSolver;

constexpr double gravity = 9.81, pi = 3.14159265358979323846;

constexpr std::array<const char*, 7> contenders = {
    "Bullet, 10", "Bullet, 50", "exact", "in 10's time", "in 50's time", "springs", "convex"};
constexpr std::size_t most_iterations = 1, exact = 2, hurried = 3, springs = 5;

/// Mean seconds of a call in the current scene, for each solver.
std::array<double, contenders.size()> mean_seconds{};

/// A scene with one of the solvers.
struct Run {
  /// @param tolerance  of carom.
  explicit Run(std::size_t which, double weight = gravity, double tolerance = 1e-9)
      : contender(which) {
    if (contender < exact) {
      auto own = std::make_unique<WatchedSolver<btSequentialImpulseConstraintSolver>>();
      own->watch = &watch;
      scene = std::make_unique<BulletScene>(std::move(own), weight);
      scene->info().m_numIterations = contender == 0 ? 10 : 50;
      return;
    }
    carom::BulletOptions options;
    options.tolerance = tolerance;
    if (contender >= springs) {
      options.rigid = false;
      options.stiffness = 1e7;
      options.near_rigid = 0;
      options.dissipation_time = 0.01;
    } else if (contender >= hurried) {
      watch.deadline = mean_seconds[contender - hurried];
    }
    if (contender > springs) options.law = carom::FrictionLaw::convex;
    auto ours = std::make_unique<WatchedSolver<carom::BulletSolver>>(options);
    ours->watch = &watch;
    scene = std::make_unique<BulletScene>(std::move(ours), weight);
  }
  ~Run() { mean_seconds[contender] = watch.mean(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::size_t contender;
  Watch watch;
  std::unique_ptr<BulletScene> scene;
};

/// A line of the table: one number per solver; that of the exact solver has a bound.
struct Line {
  std::string what;
  std::array<double, contenders.size()> numbers{};
  double bound = -1;  ///< of |number| of the exact one; negative: no requirement
};

class Table {
 public:
  Table() {
    std::printf("%-46s", "");
    for (const char* name : contenders) std::printf("%13s", name);
    std::printf("\n");
  }
  void add(const Line& line) {
    std::printf("%-46s", line.what.c_str());
    for (const double x : line.numbers) std::printf("%13.4g", x);
    const bool held = line.bound < 0 || std::abs(line.numbers[exact]) <= line.bound;
    std::printf("%s\n", held ? "" : "   <- wrong");
    std::fflush(stdout);
    right_ = right_ && held;
  }
  /// Adds a line with the times of the last measured scene.
  void add_time(const std::string& scene) {
    Line line{scene + ": time in the solver [ms/step]", {}};
    for (std::size_t c = 0; c < contenders.size(); ++c) line.numbers[c] = mean_seconds[c] * 1e3;
    add(line);
  }
  [[nodiscard]] bool right() const noexcept { return right_; }

 private:
  bool right_ = true;
};

/// Speed after 2 s on a slope of 30 degrees, μ = 0.5, relative to 2 g (sin a − μ cos a), minus 1.
void slope(Table& table) {
  const double angle = pi / 6, expected = 2 * gravity * (std::sin(angle) - 0.5 * std::cos(angle));
  for (const int heading : {0, 15, 30, 45, 60, 75, 90}) {
    Line line{"block on a slope, heading " + std::to_string(heading) + ": speed error", {}, 1e-4};
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      Run run(c);
      add_block_on_slope(*run.scene, angle, heading * pi / 180, 0.5);
      run.scene->run(1.0 / 240, 480);
      const double speed = double(run.scene->body(1).getLinearVelocity().length());
      line.numbers[c] = speed / expected - 1;
    }
    table.add(line);
  }
  table.add_time("block on a slope");
}

/// A cube launched over the ground at 4 m/s, diagonally: its speed after 0.5 s, and its rise.
void launched_cube(Table& table) {
  Line speed{"launched cube: speed error [m/s]", {}, 1e-4};
  Line rise{"launched cube: highest rise [m]", {}, 1e-5};
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    Run run(c);
    run.scene->add_ground();
    btRigidBody& cube = run.scene->add_box(carom::examples::triple(0.5, 0.5, 0.1), 1,
                                           carom::examples::at_point(0, 0, 0.1), {.friction = 0.4});
    cube.setLinearVelocity(carom::examples::triple(3.2, 2.4, 0));
    for (int i = 0; i < 120; ++i) {
      run.scene->step(1.0 / 240);
      const double height = double(cube.getWorldTransform().getOrigin().z()) - 0.1;
      rise.numbers[c] = std::max(rise.numbers[c], height);
    }
    speed.numbers[c] = double(cube.getLinearVelocity().length()) - (4 - 0.4 * gravity * 0.5);
  }
  table.add(speed);
  table.add(rise);
  table.add_time("launched cube");
}

/// Balls in a row: only the last one moves away, with all the energy.
void cradle(Table& table) {
  for (const int count : {3, 5}) {
    const std::string name = "cradle of " + std::to_string(count);
    Line energy{name + ": energy gained [-]", {}, 1e-6};
    Line error{name + ": velocities, distance from (0 .. 1)", {}, 1e-6};
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      Run run(c, 0);
      add_cradle(*run.scene, count);
      const double before = run.scene->kinetic_energy();
      run.scene->run(1.0 / 60, 30);
      energy.numbers[c] = run.scene->kinetic_energy() / before - 1;
      for (int i = 0; i < count; ++i) {
        const double wanted = i == count - 1 ? 1 : 0;
        const double vx = double(run.scene->body(i).getLinearVelocity().x());
        error.numbers[c] = std::max(error.numbers[c], std::abs(vx - wanted));
      }
    }
    table.add(energy);
    table.add(error);
    table.add_time(name);
  }
}

/// Ten cubes, the uppermost a thousand times as heavy as the lowest.
void stack(Table& table) {
  Line sunk{"stack, 1 : 1000: top sank [m]", {}, 1.1e-3};
  Line deep{"stack, 1 : 1000: penetration [m]", {}, 1.1e-3};
  Line energy{"stack, 1 : 1000: kinetic energy [J]", {}, 1e-6};
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    Run run(c);
    add_stack(*run.scene, 10, 1, 1000);
    run.scene->run(1.0 / 60, 180);
    const btVector3 top = run.scene->body(10).getWorldTransform().getOrigin();
    sunk.numbers[c] = 9.5 - double(top.z());
    deep.numbers[c] = run.scene->penetration();
    energy.numbers[c] = run.scene->kinetic_energy();
  }
  table.add(sunk);
  table.add(deep);
  table.add(energy);
  table.add_time("stack, 1 : 1000");
}

/// A cube between two plates that need slightly less, then slightly more friction than available.
void pinch(Table& table) {
  const double weight = 0.5 * gravity, mu = 0.5;
  for (const double margin : {1.02, 0.9}) {
    const double force = margin * weight / (2 * mu);
    const double fall = margin >= 1 ? 0 : (1 - margin) * gravity * 1;
    Line line{margin >= 1 ? "pinch, 2 % to spare: speed error [m/s]"
                          : "pinch, 10 % too little: speed error [m/s]",
              {},
              1e-4};
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      Run run(c);
      carom::examples::add_pinch(*run.scene, mu);
      for (int i = 0; i < 30; ++i) {
        carom::examples::press(*run.scene, force);
        run.scene->step(1.0 / 300);
      }
      const double before = -double(run.scene->body(2).getLinearVelocity().z());
      for (int i = 0; i < 30; ++i) {
        carom::examples::press(*run.scene, force);
        run.scene->step(1.0 / 300);
      }
      const double gained = -double(run.scene->body(2).getLinearVelocity().z()) - before;
      line.numbers[c] = gained - fall * 0.1;
    }
    table.add(line);
  }
  table.add_time("pinch");
}

std::vector<btVector3> places(BulletScene& scene) {
  std::vector<btVector3> all;
  for (int i = 0; i < scene.body_count(); ++i) {
    all.push_back(scene.body(i).getWorldTransform().getOrigin());
  }
  return all;
}

/// Steps of 1/60 s; returns the largest closing speed.
double run_watching_gaps(BulletScene& scene, int steps) {
  double fastest = 0;
  for (int i = 0; i < steps; ++i) {
    scene.step(1.0 / 60);
    fastest = std::max(fastest, scene.closing_speed(1.0 / 60));
  }
  return fastest;
}

/// Mixed bodies that fell into a bin with Bullet's own solver, then rest there with each of the
/// solvers for a second and a half: their remaining motion in the last third.
void pile(Table& table, int count) {
  const int side = count > 300 ? 20 : 5;
  const std::string name = std::to_string(count) + " mixed bodies";
  Line deep{name + ": penetration [m]", {}, 5e-3};
  Line drift{name + ": fastest, over 0.5 s [m/s]"};
  Line energy{name + ": kinetic energy [J]"};
  Line closing{name + ": closing speed [m/s]"};
  Line contacts{name + ": contact points"};
  Run fallen(most_iterations);
  add_mixed_bodies(*fallen.scene, count, side);
  fallen.scene->run(1.0 / 60, 600);
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    Run run(c, gravity, 1e-6);
    add_mixed_bodies(*run.scene, count, side);
    for (int i = 0; i < run.scene->body_count(); ++i) {
      run.scene->body(i).setWorldTransform(fallen.scene->body(i).getWorldTransform());
    }
    run.scene->run(1.0 / 60, 60);
    const std::vector<btVector3> before = places(*run.scene);
    run.watch.clear();
    closing.numbers[c] = run_watching_gaps(*run.scene, 30);
    const std::vector<btVector3> after = places(*run.scene);
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double moved = double((after[i] - before[i]).length());
      drift.numbers[c] = std::max(drift.numbers[c], moved / 0.5);
    }
    deep.numbers[c] = run.scene->penetration();
    energy.numbers[c] = run.scene->kinetic_energy();
    contacts.numbers[c] = run.scene->contact_count();
  }
  for (const Line& line : {deep, drift, energy, closing, contacts}) table.add(line);
  table.add_time(name);
}

/// A wall of boxes at rest: the cost of a step.
void wall(Table& table, int boxes) {
  const std::string name = std::to_string(boxes) + " boxes in a wall";
  Line contacts{name + ": contact points"};
  Line energy{name + ": kinetic energy [J]", {}, 1e-6};
  Line closing{name + ": closing speed [m/s]"};
  Line deep{name + ": penetration [m]", {}, 2e-3};
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    Run run(c);
    add_wall(*run.scene, boxes);
    run.scene->run(1.0 / 60, 10);
    run.watch.clear();
    closing.numbers[c] = run_watching_gaps(*run.scene, 20);
    deep.numbers[c] = run.scene->penetration();
    contacts.numbers[c] = run.scene->contact_count();
    energy.numbers[c] = run.scene->kinetic_energy();
  }
  for (const Line& line : {contacts, deep, energy, closing}) table.add(line);
  table.add_time(name);
}

}  // namespace

int main(int argc, char** argv) {
  const int bodies = argc > 1 ? std::atoi(argv[1]) : 40;
  const int boxes = argc > 2 ? std::atoi(argv[2]) : 55;
  if (bodies < 1 || boxes < 1) {
    std::fprintf(stderr, "usage: %s [bodies in the pile] [boxes in the wall], both > 0\n", argv[0]);
    return 2;
  }
  Table table;
  slope(table);
  launched_cube(table);
  cradle(table);
  stack(table);
  pinch(table);
  wall(table, boxes);
  pile(table, bodies);
  return table.right() ? 0 : 1;
}
