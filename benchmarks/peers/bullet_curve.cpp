// SPDX-License-Identifier: BSD-3-Clause
// One row of the board's curves: a scene in Bullet, solved by Bullet's own solver or by carom.
//   carom_bullet_curve SCENE SETTINGS ANSWER
// SETTINGS are words name=value with commas. solver=bullet has iterations; solver=carom has law
// (coulomb, convex), rigid (1, 0), tolerance, allowed, the overlap [m] beyond which bodies are
// moved apart, and deadline [us per contact], which counts from Bullet's call of the solver. Times
// are of that call: detection of collisions and motion of bodies are not in them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "carom/adapters/bullet.hpp"
#include "carom/compiled.hpp"
#include "carom/solvers/contact_certificate.hpp"

#include "engines/bullet_scenes.hpp"
#include "engines/bullet_watch.hpp"
#include "peers/board_scene.hpp"

namespace {

using carom::examples::BulletScene, carom::examples::Watch, carom::examples::WatchedSolver;
using carom::examples::count_points, carom::examples::now;
using carom::peers::BoardAnswer, carom::peers::BoardBody, carom::peers::BoardSample;
using carom::peers::BoardScene, carom::peers::BoardSettings, carom::peers::Triple;

double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// The natural map error of the impulses that the points of a group hold, in carom's problem of
/// rigid contacts: the problem is posed by carom, whose answer is then taken back.
class ImpulseJudge {
 public:
  /// Called before the solve.
  void pose(btCollisionObject** bodies, int body_count, btPersistentManifold** manifolds,
            int manifold_count, const btContactSolverInfo& info) {
    std::vector<btTransform> places;
    std::vector<btVector3> speeds;
    for (int i = 0; i < body_count; ++i) {
      places.push_back(bodies[i]->getWorldTransform());
      const btRigidBody* const body = btRigidBody::upcast(bodies[i]);
      speeds.push_back(body->getLinearVelocity());
      speeds.push_back(body->getAngularVelocity());
    }
    std::vector<btManifoldPoint> points;
    for (int i = 0; i < manifold_count; ++i) {
      for (int k = 0; k < manifolds[i]->getNumContacts(); ++k) {
        points.push_back(manifolds[i]->getContactPoint(k));
      }
    }
    solver_.set_limits({.now = now, .deadline = 0});
    solver_.solveGroup(bodies, body_count, manifolds, manifold_count, nullptr, 0, info, nullptr,
                       nullptr);
    for (int i = 0; i < body_count; ++i) {
      bodies[i]->setWorldTransform(places[std::size_t(i)]);
      btRigidBody* const body = btRigidBody::upcast(bodies[i]);
      body->setLinearVelocity(speeds[std::size_t(2 * i)]);
      body->setAngularVelocity(speeds[std::size_t(2 * i + 1)]);
    }
    std::size_t next = 0;
    for (int i = 0; i < manifold_count; ++i) {
      for (int k = 0; k < manifolds[i]->getNumContacts(); ++k) {
        manifolds[i]->getContactPoint(k) = points[next++];
      }
    }
  }
  /// Called after the solve. NaN if a point is in no block of the problem.
  double judge(btPersistentManifold** manifolds, int manifold_count) {
    const auto& problem = solver_.problem();
    const auto blocks = carom::Index(count_points(manifolds, manifold_count));
    if (problem.impulse_count() != 3 * blocks) return std::numeric_limits<double>::quiet_NaN();
    carom::VectorX<double> impulse(problem.impulse_count());
    carom::Index row = 0;
    for (int i = 0; i < manifold_count; ++i) {
      for (int k = 0; k < manifolds[i]->getNumContacts(); ++k, row += 3) {
        impulse.segment<3>(row) = impulse_of(manifolds[i]->getContactPoint(k));
      }
    }
    // This error does not depend on the velocity.
    return carom::certify(problem, problem.free_velocity(), impulse).natural_map_error;
  }

 private:
  /// In the axes that carom gives a point.
  [[nodiscard]] static Eigen::Vector3d impulse_of(const btManifoldPoint& point) {
    const Eigen::Vector3d n = carom::detail::from_bullet(point.m_normalWorldOnB).normalized();
    btVector3 own, second;
    btPlaneSpace1(point.m_normalWorldOnB, own, second);
    Eigen::Vector3d t = carom::detail::from_bullet(own);
    t = (t - n * n.dot(t)).normalized();
    const Eigen::Vector3d lateral = double(point.m_appliedImpulseLateral1) *
                                        carom::detail::from_bullet(point.m_lateralFrictionDir1) +
                                    double(point.m_appliedImpulseLateral2) *
                                        carom::detail::from_bullet(point.m_lateralFrictionDir2);
    return {t.dot(lateral), n.cross(t).dot(lateral), double(point.m_appliedImpulse)};
  }

  carom::BulletSolver solver_{
      carom::BulletOptions{.allowed_penetration = std::numeric_limits<double>::infinity()}};
};

/// A solver whose calls are timed, and judged where there is a judge.
template <typename Solver>
class Judged : public WatchedSolver<Solver> {
 public:
  using WatchedSolver<Solver>::WatchedSolver;
  // NOLINTNEXTLINE(readability-function-size): the parameters are Bullet's
  btScalar solveGroup(btCollisionObject** bodies, int body_count, btPersistentManifold** manifolds,
                      int manifold_count, btTypedConstraint** joints, int joint_count,
                      const btContactSolverInfo& info, btIDebugDraw* drawer,
                      btDispatcher* dispatcher) override {
    if (judge != nullptr) judge->pose(bodies, body_count, manifolds, manifold_count, info);
    const btScalar left =
        WatchedSolver<Solver>::solveGroup(bodies, body_count, manifolds, manifold_count, joints,
                                          joint_count, info, drawer, dispatcher);
    if (judge != nullptr) error = std::max(error, judge->judge(manifolds, manifold_count));
    return left;
  }
  ImpulseJudge* judge = nullptr;
  double error = 0;  ///< the largest that the judge found
};

carom::BulletOptions options_of(const BoardSettings& settings) {
  carom::BulletOptions options;
  options.tolerance = settings.number("tolerance", 1e-9);
  options.rigid = settings.number("rigid", 1) != 0;
  options.allowed_penetration = settings.number("allowed", options.allowed_penetration);
  if (settings.word("law", "coulomb") == "convex") options.law = carom::FrictionLaw::convex;
  return options;
}

btVector3 bullet(const Triple& t) {
  return carom::examples::triple(t[0], t[1], t[2]);
}
Triple triple_of(const btVector3& v) {
  return {double(v.x()), double(v.y()), double(v.z())};
}

void place(btRigidBody& body, const BoardBody& at) {
  const auto& [w, x, y, z] = at.orientation;
  const btTransform frame(btQuaternion(btScalar(x), btScalar(y), btScalar(z), btScalar(w)),
                          bullet(at.position));
  body.setWorldTransform(frame);
  body.setInterpolationWorldTransform(frame);
  body.setLinearVelocity(bullet(at.velocity));
  body.setAngularVelocity(bullet(at.spin));
  body.clearForces();
}

/// Adds all bodies; a plane is a static box. Friction of a pair is that of the body.
void build(const BoardScene& from, BulletScene& scene) {
  scene.world().setGravity(bullet(from.gravity));
  for (const auto& plane : from.planes) {
    const btQuaternion turn = shortestArcQuat(btVector3(0, 0, 1), bullet(plane.normal));
    scene.add_ground(btTransform(turn, bullet(plane.point)), {.friction = 1});
  }
  // Bullet multiplies the friction of two bodies: roots give the product to pairs of bodies.
  const double root = std::sqrt(from.friction);
  for (int i = 0; i < scene.body_count(); ++i) scene.body(i).setFriction(btScalar(root));
  for (const BoardBody& body : from.bodies) {
    btRigidBody& made =
        body.is_box ? scene.add_box(bullet(body.size), body.mass,
                                    carom::examples::at_point(0, 0, 0), {.friction = root})
                    : scene.add_sphere(body.size[0], body.mass, {0, 0, 0}, {.friction = root});
    place(made, body);
  }
}

/// The bodies of the scene, which come after the planes.
BoardSample sample(const BoardScene& from, BulletScene& scene, double time) {
  BoardSample result{time, from.bodies};
  for (std::size_t i = 0; i < from.bodies.size(); ++i) {
    const btRigidBody& body = scene.body(int(from.planes.size() + i));
    const btQuaternion q = body.getWorldTransform().getRotation();
    result.bodies[i].position = triple_of(body.getWorldTransform().getOrigin());
    result.bodies[i].orientation = {double(q.w()), double(q.x()), double(q.y()), double(q.z())};
    result.bodies[i].velocity = triple_of(body.getLinearVelocity());
    result.bodies[i].spin = triple_of(body.getAngularVelocity());
  }
  return result;
}

/// The world back at its start, with no impulse remembered.
void restart(const BoardScene& from, BulletScene& scene) {
  btDispatcher& dispatcher = *scene.world().getDispatcher();
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
    dispatcher.clearManifold(dispatcher.getManifoldByIndexInternal(i));
  }
  scene.world().getConstraintSolver()->reset();
  for (std::size_t i = 0; i < from.bodies.size(); ++i) {
    place(scene.body(int(from.planes.size() + i)), from.bodies[i]);
  }
}

/// The first step from its start, five times, of which the first may grow memory: the least time of
/// the others. Then once more under the judge.
template <typename Solver>
void measure_first_step(const BoardScene& from, BulletScene& scene, Judged<Solver>& solver,
                        BoardAnswer& answer) {
  double least = std::numeric_limits<double>::infinity();
  Watch& watch = *solver.watch;
  for (int k = 0; k < 5; ++k) {
    restart(from, scene);
    watch.clear();
    scene.step(from.time_step);
    if (k > 0) least = std::min(least, watch.seconds);
  }
  answer.numbers["first_contacts"] = double(watch.contacts);
  answer.numbers["first"] = least;
  ImpulseJudge judge;
  restart(from, scene);
  solver.judge = &judge;
  scene.step(from.time_step);
  solver.judge = nullptr;
  if (std::isfinite(solver.error)) answer.numbers["natural_map"] = solver.error;
  restart(from, scene);
  watch.clear();
}

template <typename Solver>
BoardAnswer run(const BoardScene& from, const BoardSettings& settings,
                std::unique_ptr<Judged<Solver>> owned) {
  Watch watch;
  Judged<Solver>& solver = *owned;
  solver.watch = &watch;
  watch.per_contact = true;
  watch.deadline = 1e-6 * settings.number("deadline", watch.deadline);
  BulletScene scene(std::move(owned));
  scene.info().m_numIterations = int(settings.number("iterations", 10));
  build(from, scene);
  BoardAnswer answer;
  if (settings.number("first", 0) != 0) measure_first_step(from, scene, solver, answer);
  answer.samples.push_back(sample(from, scene, 0));
  double solve = 0, pose = 0, step = 0;
  for (int done = 1; done <= from.step_count; ++done) {
    const double before = watch.seconds, posed = watch.posing;
    const double begin = now(), own = processor_time();
    scene.step(from.time_step);
    const double took = processor_time() - own;
    const double share = took / (now() - begin);  // of the processor that this program had
    step += took;
    solve += share * (watch.seconds - before);
    pose += share * (watch.posing - posed);
    if (done % from.sample_every == 0) {
      answer.samples.push_back(sample(from, scene, done * from.time_step));
    }
  }
  answer.numbers["steps"] = from.step_count;
  answer.numbers["step"] = step / from.step_count;
  answer.numbers["solve"] = solve / from.step_count;
  if (pose > 0) answer.numbers["pose"] = pose / from.step_count;
  answer.numbers["own_contacts"] = double(watch.contacts) / from.step_count;
  return answer;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) {
    std::fputs("usage: carom_bullet_curve SCENE SETTINGS ANSWER\n", stderr);
    return 2;
  }
  const BoardScene scene = carom::peers::read_board_scene(arguments[1]);
  const BoardSettings settings(arguments[2]);
  const bool own = settings.word("solver", "carom") == "carom";
  BoardAnswer answer =
      own ? run(scene, settings,
                std::make_unique<Judged<carom::BulletSolver>>(options_of(settings)))
          : run(scene, settings, std::make_unique<Judged<btSequentialImpulseConstraintSolver>>());
  const int version = btGetVersion();
  answer.version = std::to_string(version / 100) + "." + std::to_string(version % 100);
  answer.write(arguments[3]);
  return 0;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 1;
}
