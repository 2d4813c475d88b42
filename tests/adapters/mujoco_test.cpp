// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/mujoco.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "carom/compiled.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "engines/mujoco_models.hpp"

// Calls of malloc, which Eigen and operator new come down to, where no sanitizer is in the way.
static long allocation_count = 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAROM_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CAROM_TEST_SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(CAROM_TEST_SANITIZED)
#define CAROM_TEST_COUNTS_MALLOC 1
extern "C" {
void* __libc_malloc(std::size_t size);
void* malloc(std::size_t size) noexcept {
  ++allocation_count;
  return __libc_malloc(size);
}
}
#else
#define CAROM_TEST_COUNTS_MALLOC 0
#endif

namespace mujoco_test {

using carom::Index, carom::MujocoLaw, carom::MujocoOutcome, carom::MujocoStepper;
using carom::MujocoVerdict;
using carom::examples::gripper_text, carom::examples::humanoid_text;
using carom::examples::load_mujoco, carom::examples::make_mujoco, carom::examples::MujocoData;
using carom::examples::mechanism_text, carom::examples::MujocoModel;
using carom::examples::MujocoScene, carom::examples::pile_text, carom::examples::slope_text;
using carom::examples::tilt;
using carom::testing::by_compliance;
using carom::testing::by_conditioning;
using carom::testing::by_settling;
using carom::testing::by_solver;
using carom::testing::by_step;
using carom::testing::clearly;
using Eigen::VectorXd;

namespace {

constexpr double degree = 3.14159265358979323846 / 180;

VectorXd numbers(const mjtNum* from, int count) {
  return VectorXd::Map(from, count);
}

/// The largest difference of carom's answer from MuJoCo's over a run, and what was met on it.
struct Comparison {
  double acceleration = 0;       ///< ‖qacc − MuJoCo's‖/‖MuJoCo's‖
  double force = 0;              ///< the same for qfrc_constraint
  double row_force = 0;          ///< efc_force by MuJoCo's law of our qacc, relative
  int unanswered = 0, rows = 0;  ///< steps without a solved problem; most rows
  std::vector<bool> types = std::vector<bool>(8, false);
  bool three_bodies = false;  ///< fewer bodies than trees, as a tendon has merged some
};

/// Efforts that keep a mechanism busy.
void excite(const mjModel& model, mjData& data, int step) {
  for (int i = 0; i < model.nv; ++i) {
    data.qfrc_applied[i] = 0.3 * std::sin(0.013 * step + i);
  }
}

/// Runs a model under MuJoCo's law by carom, and asks MuJoCo at every instant.
Comparison compare(const std::string& text, int steps, bool excited) {
  const MujocoModel model = load_mujoco(text);
  const MujocoData ours = make_mujoco(model), theirs = make_mujoco(model);
  MujocoStepper stepper({.law = MujocoLaw::soft});
  Comparison worst;
  for (int step = 0; step < steps; ++step) {
    if (excited) excite(*model, *ours, step);
    mj_step1(model.get(), ours.get());
    mj_fwdActuation(model.get(), ours.get());
    mj_fwdAcceleration(model.get(), ours.get());
    mj_copyData(theirs.get(), model.get(), ours.get());
    mj_fwdConstraint(model.get(), theirs.get());
    worst.unanswered += stepper.solve(model.get(), ours.get()).verdict != MujocoVerdict::solved;
    const auto difference = [&](const mjtNum* a, const mjtNum* b, int count) {
      const double scale = numbers(b, count).norm();
      return (numbers(a, count) - numbers(b, count)).norm() / (scale > 0 ? scale : 1);
    };
    worst.acceleration =
        std::max(worst.acceleration, difference(ours->qacc, theirs->qacc, model->nv));
    worst.force = std::max(worst.force,
                           difference(ours->qfrc_constraint, theirs->qfrc_constraint, model->nv));
    worst.rows = std::max(worst.rows, ours->nefc);
    for (int row = 0; row < ours->nefc; ++row) worst.types[std::size_t(ours->efc_type[row])] = true;
    if (ours->nefc > 0) {
      const VectorXd given = numbers(ours->efc_force, ours->nefc);
      VectorXd slack(ours->nefc);
      mj_mulJacVec(model.get(), theirs.get(), slack.data(), ours->qacc);
      slack -= numbers(ours->efc_aref, ours->nefc);
      mj_constraintUpdate(model.get(), theirs.get(), slack.data(), nullptr, 0);
      worst.row_force =
          std::max(worst.row_force, difference(given.data(), theirs->efc_force, ours->nefc));
    }
    mj_Euler(model.get(), ours.get());
  }
  return worst;
}

void check_same(const Comparison& worst) {
  CAPTURE(worst.acceleration, worst.force, worst.row_force, worst.unanswered, worst.rows);
  CHECK(worst.acceleration <= by_solver(carom::examples::mujoco_accuracy));
  CHECK(worst.force <= by_solver(carom::examples::mujoco_accuracy));
  CHECK(worst.row_force <= by_solver(1e-7));
  CHECK(worst.unanswered == 0);
}

/// Every force of a contact in Coulomb's cone, up to a share of the largest.
void check_cones(const mjModel& model, const mjData& data, double slack) {
  for (int i = 0; i < data.ncon; ++i) {
    const mjContact& contact = data.contact[i];
    if (contact.efc_address < 0) continue;
    double force[6], reach = 0;
    mj_contactForce(&model, &data, i, force);
    for (int k = 1; k < contact.dim; ++k) {
      const double x = force[k] / contact.friction[k - 1];
      reach += x * x;
    }
    CHECK(force[0] >= -slack);
    CHECK(std::sqrt(reach) <= force[0] + slack);
  }
}

/// Largest penetration of the data's contacts [m].
double penetration(const mjData& data) {
  double deepest = 0;
  for (int i = 0; i < data.ncon; ++i) deepest = std::max(deepest, -data.contact[i].dist);
  return deepest;
}

}  // namespace

TEST_CASE("mujoco: a pile's qacc is MuJoCo's, by cone, dimension, impratio and storage",
          "[adapters][oracle]") {
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    for (const int condim : {1, 3, 4, 6}) {
      MujocoScene scene;
      scene.cone = cone;
      scene.condim = condim;
      scene.time_step = 0.004;
      scene.impratio = condim == 1 || condim == 4 ? 1 : 10;
      for (const char* jacobian : {"dense", "sparse"}) {
        scene.jacobian = jacobian;
        CAPTURE(cone, condim, jacobian);
        const Comparison worst = compare(pile_text(scene, 6), 80, false);
        CHECK(worst.rows > (condim == 1 ? 4 : 20));
        check_same(worst);
        scene.impratio = 11 - scene.impratio;
      }
    }
  }
}

TEST_CASE("mujoco: qacc under limits, equalities, dry friction and tendons is MuJoCo's",
          "[adapters][oracle]") {
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    for (const char* jacobian : {"dense", "sparse"}) {
      MujocoScene scene;
      scene.cone = cone;
      scene.jacobian = jacobian;
      const Comparison worst = compare(mechanism_text(scene), 200, true);
      CAPTURE(cone, jacobian);
      check_same(worst);
      for (const int type : {mjCNSTR_EQUALITY, mjCNSTR_FRICTION_DOF, mjCNSTR_FRICTION_TENDON,
                             mjCNSTR_LIMIT_JOINT, mjCNSTR_LIMIT_TENDON}) {
        CAPTURE(type);
        CHECK(worst.types[std::size_t(type)]);
      }
    }
  }
}

TEST_CASE("mujoco: under the rigid law limits, equalities and dry friction do not yield",
          "[adapters][law]") {
  for (const char* jacobian : {"dense", "sparse"}) {
    MujocoScene scene;
    scene.jacobian = jacobian;
    const MujocoModel model = load_mujoco(mechanism_text(scene));
    const MujocoData data = make_mujoco(model);
    MujocoStepper stepper({.law = MujocoLaw::rigid, .tolerance = 1e-8, .correction = 0.2});
    double worst = 0;  // over the second half of the run
    VectorXd moved(model->nv);
    for (int i = 0; i < 600; ++i) {
      const MujocoOutcome outcome = stepper.step(model.get(), data.get());
      CAPTURE(i, outcome.report.residual);
      REQUIRE(outcome.verdict == MujocoVerdict::solved);
      for (int row = 0; i > 300 && row < data->nefc; ++row) {
        const double pos = data->efc_pos[row];
        if (data->efc_type[row] == mjCNSTR_EQUALITY) worst = std::max(worst, std::abs(pos));
        if (data->efc_type[row] == mjCNSTR_LIMIT_JOINT) worst = std::max(worst, -pos);
        if (data->efc_type[row] == mjCNSTR_FRICTION_DOF) {
          CHECK(std::abs(data->efc_force[row]) <=
                data->efc_frictionloss[row] * (1 + by_solver(1e-9)));
        }
      }
    }
    CAPTURE(jacobian);
    CHECK(worst < by_step(1e-3));  // [m, rad]: a step's curvature, a fifth of it taken back
  }
}

TEST_CASE("mujoco: contacts that cannot close in a step are left out, and change nothing",
          "[adapters][law]") {
  // A block that jumps down a slope, with margins of 5 cm and of a metre, where all corners are
  // contacts from the start.
  for (const double angle : {0.2, 0.7}) {
    std::vector<VectorXd> ends;
    Index blocks[2] = {0, 0};
    for (const double margin : {0.05, 1.0}) {
      const MujocoModel model = load_mujoco(slope_text({}));
      carom::give_margin(*model, margin);
      tilt(*model, angle, 0.3);
      const MujocoData data = make_mujoco(model);
      data->qvel[2] = 0.5;
      MujocoStepper stepper;
      for (int i = 0; i < 200; ++i) {
        REQUIRE(stepper.step(model.get(), data.get()).verdict == MujocoVerdict::solved);
        if (margin == 1.0 && stepper.problem().block_count() < data->ncon) ++blocks[0];
        if (margin == 1.0 && data->ncon == 4) ++blocks[1];
      }
      ends.push_back(numbers(data->qpos, model->nq));
    }
    CAPTURE(angle);
    CHECK(blocks[0] > 0);
    CHECK(blocks[1] > 0);
    CHECK((ends[0] - ends[1]).norm() < by_step(1e-6));
  }
}

TEST_CASE("mujoco: a humanoid's qacc is MuJoCo's along its fall", "[adapters][oracle]") {
  MujocoScene scene;
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    scene.cone = cone;
    const Comparison worst = compare(humanoid_text(scene), 300, false);
    CAPTURE(cone);
    check_same(worst);
    CHECK(worst.types[mjCNSTR_LIMIT_JOINT]);
    CHECK(worst.types[cone == "elliptic" ? mjCNSTR_CONTACT_ELLIPTIC : mjCNSTR_CONTACT_PYRAMIDAL]);
  }
}

TEST_CASE("mujoco: trees that one tendon joins are one body, idle ones are left out",
          "[adapters][example]") {
  const MujocoModel model = load_mujoco(mechanism_text({}));
  const MujocoData data = make_mujoco(model);
  MujocoStepper stepper({.law = MujocoLaw::soft});
  CHECK(stepper.step(model.get(), data.get()).answered());
  // Arms 0, 1 and 2 by tendon "three", then the swing if at its limit, slab, brick, rail.
  CHECK(stepper.problem().body_count() == 4);
  CHECK(stepper.problem().body(0).size == 6);
  CHECK(stepper.problem().velocity_count() == 6 + 6 + 6 + 1);
}

TEST_CASE("mujoco: rows of friction that move nothing leave the cone, whatever its dimension",
          "[adapters][oracle]") {
  // Bodies that slide and turn in the plane, along one line, or on a rail: condim 6 with one to
  // five rows of friction.
  const std::vector<std::string> joints{
      "<joint type=\"slide\" axis=\"0 0 1\"/>",
      "<joint type=\"slide\" axis=\"0 0 1\"/><joint type=\"slide\" axis=\"1 0 0\"/>",
      "<joint type=\"slide\" axis=\"0 0 1\"/><joint type=\"slide\" axis=\"1 0 0\"/>"
      "<joint type=\"slide\" axis=\"0 1 0\"/>",
      "<joint type=\"slide\" axis=\"0 0 1\"/><joint type=\"slide\" axis=\"1 0 0\"/>"
      "<joint type=\"hinge\" axis=\"0 1 0\"/>",
      "<joint type=\"slide\" axis=\"0 0 1\"/><joint type=\"slide\" axis=\"1 0 0\"/>"
      "<joint type=\"slide\" axis=\"0 1 0\"/><joint type=\"hinge\" axis=\"0 0 1\"/>",
      "<joint type=\"slide\" axis=\"0 0 1\"/><joint type=\"slide\" axis=\"1 0 0\"/>"
      "<joint type=\"slide\" axis=\"0 1 0\"/><joint type=\"hinge\" axis=\"0 0 1\"/>"
      "<joint type=\"hinge\" axis=\"0 1 0\"/>"};
  MujocoScene scene;
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    scene.cone = cone;
    scene.condim = 6;
    std::string text =
        mujoco_head(scene, "0.6 0.02 0.01") + "<geom type=\"plane\" size=\"9 9 1\"/>";
    double x = 0;
    for (const std::string& joint : joints) {
      text += "<body pos=\"" + std::to_string(x += 1) + " 0 0.098\">" + joint +
              "<geom type=\"sphere\" size=\"0.1\"/></body>";
    }
    text += "</worldbody></mujoco>";
    CAPTURE(cone);
    check_same(compare(text, 100, true));
    const MujocoModel model = load_mujoco(text);
    const MujocoData data = make_mujoco(model);
    carom::give_margin(*model, 1e-3);
    MujocoStepper stepper;
    for (int step = 0; step < 50; ++step) {
      excite(*model, *data, step);
      CHECK(stepper.step(model.get(), data.get()).verdict == MujocoVerdict::solved);
      check_cones(*model, *data, 1e-7);
    }
    CHECK(penetration(*data) < 0.002 + by_solver(1e-9));  // as deep as it was put
  }
}

TEST_CASE("mujoco: a block on a slope slides as Coulomb says, whatever its heading",
          "[adapters][scene]") {
  const double mu = 0.5, time = 2;
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    for (const double slope : {20.0, 30.0, 40.0}) {
      for (int heading = 0; heading <= 90; heading += 15) {
        MujocoScene scene;
        scene.cone = cone;
        scene.time_step = 0.01;
        const MujocoModel model = load_mujoco(slope_text(scene));
        carom::give_margin(*model, 1e-3);
        tilt(*model, slope * degree, heading * degree);
        const MujocoData data = make_mujoco(model);
        MujocoStepper stepper;
        bool solved = true;
        for (int i = 0; i < 200; ++i) {
          solved = stepper.step(model.get(), data.get()).verdict == MujocoVerdict::solved && solved;
        }
        CAPTURE(cone, slope, heading);
        CHECK(solved);
        const double sine = std::sin(slope * degree), cosine = std::cos(slope * degree);
        const double exact = std::max(0.0, time * 9.81 * (sine - mu * cosine));
        const double along =
            data->qvel[0] * std::cos(heading * degree) + data->qvel[1] * std::sin(heading * degree);
        CHECK(std::abs(along - exact) < by_solver(1e-9));
        CHECK(numbers(data->qvel + 2, 4).norm() <
              by_solver(1e-9));  // neither lifts, nor tips, nor yaws
        if (exact == 0) CHECK(std::hypot(data->qpos[0], data->qpos[1]) < by_solver(1e-12));
        CHECK(penetration(*data) < by_solver(1e-12));
        check_cones(*model, *data, 1e-8);
        CHECK(stepper.certificate().natural_map_error <= by_solver(1e-11));
        CHECK(stepper.certificate().cone_violation <= by_solver(1e-12));
      }
    }
  }
}

TEST_CASE("mujoco: a block that slides and spins obeys Coulomb's law on the whole wrench",
          "[adapters][law]") {
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    for (const int condim : {3, 4, 6}) {
      for (const MujocoLaw law : {MujocoLaw::coulomb, MujocoLaw::soft_coulomb}) {
        const MujocoModel model = load_mujoco(slope_text({.cone = cone, .condim = condim}));
        if (law == MujocoLaw::coulomb) carom::give_margin(*model, 1e-3);
        for (int i = 0; i < model->ngeom; ++i) model->geom_friction[3 * i + 1] = 0.03;
        const MujocoData data = make_mujoco(model);
        data->qvel[0] = 1;
        data->qvel[5] = 4;
        MujocoStepper stepper({.law = law, .tolerance = 1e-11});
        double energy = std::numeric_limits<double>::infinity();
        for (int i = 0; i < 200; ++i) {
          CHECK(stepper.step(model.get(), data.get()).verdict == MujocoVerdict::solved);
          check_cones(*model, *data, 1e-7);
          const auto certificate = stepper.certificate();
          CHECK(certificate.natural_map_error <= by_solver(1.1e-11));
          const VectorXd planar = numbers(data->qvel, 2);
          // Of a contact that hardly presses the direction is known less well.
          if (planar.norm() > 0.1) CHECK(certificate.dissipation_angle <= by_conditioning(1e-3));
          const double now = planar.squaredNorm() + data->qvel[5] * data->qvel[5] / 150;
          CHECK(now <= energy + by_solver(1e-7));
          energy = now;
        }
        CAPTURE(cone, condim, int(law), energy);
        CHECK(energy < by_settling(1e-3));
      }
    }
  }
}

TEST_CASE("mujoco: MuJoCo's own law misses the slope's closed form", "[adapters][example]") {
  // The reason for the law, and what shows that the scene above can tell.
  const MujocoModel model = load_mujoco(slope_text({.cone = "pyramidal", .time_step = 0.01}));
  tilt(*model, 30 * degree, 45 * degree);
  const MujocoData data = make_mujoco(model);
  for (int i = 0; i < 200; ++i) mj_step(model.get(), data.get());
  const double exact = 2 * 9.81 * (std::sin(30 * degree) - 0.5 * std::cos(30 * degree));
  CHECK(std::abs(std::hypot(data->qvel[0], data->qvel[1]) - exact) > clearly(1e-2));
}

TEST_CASE("mujoco: a grip does not creep", "[adapters][scene]") {
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    for (const MujocoLaw law : {MujocoLaw::coulomb, MujocoLaw::soft_coulomb}) {
      MujocoScene scene;
      scene.cone = cone;
      scene.impratio = 10;
      const MujocoModel model = load_mujoco(gripper_text(scene));
      if (law == MujocoLaw::coulomb) carom::give_margin(*model, 1e-3);
      const MujocoData data = make_mujoco(model);
      data->ctrl[0] = data->ctrl[1] = 12;
      MujocoStepper stepper({.law = law});
      double start = 0;
      bool solved = true;
      for (int i = 0; i < 500; ++i) {
        if (i == 250) start = data->qpos[4];
        solved = stepper.step(model.get(), data.get()).verdict == MujocoVerdict::solved && solved;
      }
      CAPTURE(cone, int(law));
      CHECK(solved);
      CHECK(std::abs(start - data->qpos[4]) / 0.5 < by_solver(1e-12));  // [m/s]: 1e-6 um/s
      check_cones(*model, *data, 1e-8);
      double held = 0, pressed = 0;  // friction carries the weight, the pads press with 12 N
      for (int i = 0; i < data->ncon; ++i) {
        double force[6];
        mj_contactForce(model.get(), data.get(), i, force);
        pressed += force[0];
        const mjtNum* const frame = data->contact[i].frame;  // rows n, t1, t2
        held += std::abs(force[0] * frame[2] + force[1] * frame[5] + force[2] * frame[8]);
      }
      CHECK(pressed ==
            Approx(24).margin(law == MujocoLaw::coulomb ? by_solver(1e-6) : by_compliance(0.5)));
      CHECK(held == Approx(0.045 * 9.81).margin(by_solver(1e-6)));
    }
  }
}

TEST_CASE("mujoco: soft normals under Coulomb's law carry what MuJoCo's do", "[adapters][oracle]") {
  // At rest on the flat nothing rubs, and the two laws agree: forces, and the depth they go with.
  for (const std::string cone : {"elliptic", "pyramidal"}) {
    const MujocoModel model = load_mujoco(slope_text({.cone = cone, .time_step = 0.002}));
    const MujocoData soft = make_mujoco(model), exact = make_mujoco(model);
    MujocoStepper own({.law = MujocoLaw::soft}), coulomb({.law = MujocoLaw::soft_coulomb});
    for (int i = 0; i < 500; ++i) {
      CHECK(own.step(model.get(), soft.get()).answered());
      CHECK(coulomb.step(model.get(), exact.get()).answered());
    }
    CAPTURE(cone, soft->qpos[2], exact->qpos[2]);
    CHECK(soft->qpos[2] < 0.05 - clearly(1e-6));
    if (cone == "elliptic") CHECK(std::abs(soft->qpos[2] - exact->qpos[2]) < by_solver(1e-9));
    CHECK(numbers(exact->qvel, 6).norm() < by_settling(1e-6));
  }
}

TEST_CASE("mujoco: a pile and a humanoid run under Coulomb's law", "[adapters][scene]") {
  for (const bool humanoid : {false, true}) {
    MujocoScene scene;
    const MujocoModel model = load_mujoco(humanoid ? humanoid_text(scene) : pile_text(scene, 8));
    carom::give_margin(*model, 1e-2);  // 5 m/s in a step
    const MujocoData data = make_mujoco(model);
    MujocoStepper stepper({.correction = 0.1});
    int unsolved = 0, most = 0;
    double deepest = 0;
    for (int i = 0; i < 300; ++i) {
      const MujocoOutcome outcome = stepper.step(model.get(), data.get());
      REQUIRE(outcome.answered());
      unsolved += outcome.report.residual > 1e-8;
      most = std::max(most, data->nefc);
      deepest = std::max(deepest, penetration(*data));
      if (i % 50 == 49) check_cones(*model, *data, 1e-4);
    }
    CAPTURE(humanoid, unsolved, most, deepest);
    CHECK(unsolved == 0);
    CHECK(most > 20);
    CHECK(deepest < by_step(humanoid ? 1e-3 : 5e-3));
    for (int i = 0; i < mjNWARNING; ++i) CHECK(data->warning[i].number == 0);
  }
}

TEST_CASE("mujoco: the joints' implicit damping is part of what Coulomb's law decides",
          "[adapters][law]") {
  // A damped slider at the end of a push: MuJoCo's Euler step with D must end at rest exactly.
  const std::string text =
      "<mujoco><option timestep=\"0.01\" cone=\"elliptic\" gravity=\"1 0 -9.81\"/><worldbody>"
      "<geom type=\"plane\" size=\"9 9 1\" friction=\"0.5 0 0\"/><body pos=\"0 0 0.1\">"
      "<joint type=\"slide\" axis=\"1 0 0\" damping=\"30\"/><joint type=\"slide\" axis=\"0 0 1\"/>"
      "<geom type=\"sphere\" size=\"0.1\" mass=\"1\" friction=\"0.5 0 0\"/></body></worldbody>"
      "</mujoco>";
  const MujocoModel model = load_mujoco(text);
  carom::give_margin(*model, 1e-3);
  const MujocoData data = make_mujoco(model);
  data->qvel[0] = 0.5;
  MujocoStepper stepper;
  double before = 0.5;
  for (int i = 0; i < 60; ++i) {
    CHECK(stepper.step(model.get(), data.get()).answered());
    // (1 + δt D) v' = v + δt (g_x − μ g), or rest.
    const double next = std::max(0.0, (before + 0.01 * (1 - 0.5 * 9.81)) / (1 + 0.3));
    CHECK(std::abs(data->qvel[0] - next) < by_solver(1e-12));
    CHECK(std::abs(data->qvel[1]) < by_solver(1e-12));
    before = next;
  }
  CHECK(before == 0);
}

TEST_CASE("mujoco: bad states are reported, and the data kept", "[adapters][input]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const MujocoModel model = load_mujoco(pile_text({}, 3));
  const MujocoData data = make_mujoco(model);
  MujocoStepper stepper;
  for (int i = 0; i < 100; ++i) CHECK(stepper.step(model.get(), data.get()).answered());
  const VectorXd position = numbers(data->qpos, model->nq),
                 velocity = numbers(data->qvel, model->nv);
  const double time = data->time;
  const auto check_kept = [&](MujocoVerdict verdict, mjtNum* number, double bad) {
    const mjtNum good = *number;
    *number = bad;
    const MujocoOutcome outcome = stepper.step(model.get(), data.get());
    CHECK(outcome.verdict == verdict);
    CHECK_FALSE(outcome.answered());
    *number = good;
    CHECK(numbers(data->qpos, model->nq) == position);
    CHECK(numbers(data->qvel, model->nv) == velocity);
    CHECK(data->time == time);
  };
  for (const double bad : {nan, std::numeric_limits<double>::infinity(), 1e11}) {
    check_kept(MujocoVerdict::not_finite, &data->qpos[2], bad);
    check_kept(MujocoVerdict::not_finite, &data->qvel[4], bad);
  }
  check_kept(MujocoVerdict::not_finite, &data->qfrc_applied[1], nan);
  check_kept(MujocoVerdict::not_finite, &data->xfrc_applied[6 + 2], nan);
  model->opt.integrator = mjINT_RK4;
  CHECK(stepper.step(model.get(), data.get()).verdict == MujocoVerdict::unsupported_integrator);
  CHECK(data->time == time);
  model->opt.integrator = mjINT_EULER;
  CHECK(stepper.step(model.get(), data.get()).answered());
  CHECK(data->time > time);
}

TEST_CASE("mujoco: friction on a normal that moves nothing is refused with a sentence",
          "[adapters][input]") {
  const std::string text =
      "<mujoco><worldbody><geom type=\"plane\" size=\"9 9 1\"/><body pos=\"0 0 0.099\">"
      "<joint type=\"slide\" axis=\"1 0 0\"/><geom type=\"sphere\" "
      "size=\"0.1\"/></body></worldbody>"
      "</mujoco>";
  const MujocoModel model = load_mujoco(text);
  const MujocoData data = make_mujoco(model);
  MujocoStepper stepper;
  CHECK(stepper.step(model.get(), data.get()).verdict == MujocoVerdict::unsupported_contact);
  CHECK(std::string(to_string(MujocoVerdict::unsupported_contact)) == "unsupported contact");
  for (const MujocoVerdict verdict :
       {MujocoVerdict::solved, MujocoVerdict::best_effort, MujocoVerdict::not_finite,
        MujocoVerdict::singular_mass, MujocoVerdict::unsupported_integrator}) {
    CHECK(std::string(to_string(verdict)) != "unknown");
  }
}

TEST_CASE("mujoco: options out of range are refused, naming them", "[adapters][input]") {
  CHECK(MujocoStepper::check({}).empty());
  CHECK(MujocoStepper::check({.tolerance = 0}) == "tolerance: expected a finite number > 0, got 0");
  CHECK(MujocoStepper::check({.correction = 1.5}) ==
        "correction: expected a number in [0, 1], got 1.5");
  CHECK_THROWS_AS(MujocoStepper({.tolerance = -1}), std::invalid_argument);
  const MujocoModel model = load_mujoco(slope_text({}));
  CHECK_THROWS_AS(carom::give_margin(*model, -1), std::invalid_argument);
  carom::give_margin(*model, 0.25);
  CHECK(model->geom_margin[0] == 0.25);
  carom::give_margin(*model, 0.1);
  CHECK(model->geom_margin[1] == 0.25);
}

TEST_CASE("mujoco: a step without rows is MuJoCo's, to the bit", "[adapters][law]") {
  const MujocoModel model = load_mujoco(pile_text({}, 2));
  const MujocoData ours = make_mujoco(model), theirs = make_mujoco(model);
  MujocoStepper stepper;
  for (int i = 0; i < 5; ++i) {
    CHECK(stepper.step(model.get(), ours.get()).verdict == MujocoVerdict::solved);
    mj_step(model.get(), theirs.get());
  }
  CHECK(ours->nefc == 0);
  CHECK(numbers(ours->qpos, model->nq) == numbers(theirs->qpos, model->nq));
  CHECK(numbers(ours->qvel, model->nv) == numbers(theirs->qvel, model->nv));
}

TEST_CASE("mujoco: a step like the one before allocates nothing", "[adapters][real_time]") {
  if (CAROM_TEST_COUNTS_MALLOC == 0) return;
  for (const MujocoLaw law : {MujocoLaw::soft, MujocoLaw::coulomb, MujocoLaw::soft_coulomb}) {
    const MujocoModel model = load_mujoco(gripper_text({}));
    if (law == MujocoLaw::coulomb) carom::give_margin(*model, 1e-3);
    const MujocoData data = make_mujoco(model);
    data->ctrl[0] = data->ctrl[1] = 12;
    MujocoStepper stepper({.law = law});
    for (int i = 0; i < 200; ++i) CHECK(stepper.step(model.get(), data.get()).answered());
    const long before = allocation_count;
    const MujocoOutcome outcome = stepper.step(model.get(), data.get());
    const long after = allocation_count;
    CHECK(outcome.answered());
    CAPTURE(int(law));
    CHECK(after == before);
    const std::vector<double> witness(3);  // the counter does count
    CHECK(witness.size() == 3);
    CHECK(allocation_count > before);
  }
}

}  // namespace mujoco_test
