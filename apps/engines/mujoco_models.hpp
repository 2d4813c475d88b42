// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mujoco/mujoco.h>
#include <stdexcept>
#include <string>

/// @file
/// Models for MuJoCo that its demonstrations and tests share, as text in MuJoCo's own format.
namespace carom::examples {

struct MujocoRelease {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using MujocoModel = std::unique_ptr<mjModel, MujocoRelease>;
using MujocoData = std::unique_ptr<mjData, MujocoRelease>;

/// Adds a text to MuJoCo's virtual files. MuJoCo 2 needs reserved memory for it, later versions
/// copy it.
template <typename Files>
void add_file(Files& files, const char* name, const std::string& text) {
  if constexpr (requires { files.filedata; }) {
    mj_makeEmptyFileVFS(&files, name, int(text.size()));
    std::copy(text.begin(), text.end(), static_cast<char*>(files.filedata[0]));
  } else {
    mj_addBufferVFS(&files, name, text.data(), int(text.size()));
  }
}

/// Throws std::runtime_error with MuJoCo's message if the text is not a model.
inline MujocoModel load_mujoco(const std::string& text) {
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  add_file(*files, "model.xml", text);
  std::array<char, 1000> error{};
  MujocoModel model(mj_loadXML("model.xml", files.get(), error.data(), int(error.size())));
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(std::string("MuJoCo: ") + error.data());
  return model;
}
inline MujocoData make_mujoco(const MujocoModel& model) {
  MujocoData data(mj_makeData(model.get()));
  if (!data) throw std::runtime_error("MuJoCo: out of memory");
  return data;
}

/// Accuracy of MuJoCo's Newton solver at a tolerance of 1e-15, relative to the answer: version 4
/// stops slightly earlier with elliptic cones.
inline constexpr double mujoco_accuracy = mjVERSION_HEADER < 300 ? 1e-9 : 1e-7;

/// Iterations of MuJoCo's last solve; with islands, those of the island with the most iterations.
template <typename Data>
[[nodiscard]] int count_iterations(const Data& data) {
  if constexpr (requires { data.solver_iter; }) {
    return data.solver_iter;
  } else {
    return *std::max_element(data.solver_niter, data.solver_niter + std::max(data.nisland, 1));
  }
}

/// The common settings of the models below.
struct MujocoScene {
  std::string cone = "elliptic";  ///< "elliptic" or "pyramidal".
  int condim = 3;                 ///< 1, 3, 4 or 6.
  double impratio = 1;
  std::string jacobian = "dense";  ///< "dense" or "sparse".
  std::string solver = "Newton";   ///< MuJoCo's: "Newton", "CG" or "PGS".
  double time_step = 0.002;        ///< [s]
};

/// Options and defaults; the solver runs until nothing changes.
inline std::string mujoco_head(const MujocoScene& scene, const std::string& friction) {
  return "<mujoco><option timestep=\"" + std::to_string(scene.time_step) + "\" cone=\"" +
         scene.cone + "\" impratio=\"" + std::to_string(scene.impratio) + "\" jacobian=\"" +
         scene.jacobian + "\" solver=\"" + scene.solver +
         "\" tolerance=\"1e-15\" iterations=\"100\"/>"
         "<size nconmax=\"150\" njmax=\"700\" nstack=\"2000000\"/>"
         "<default><geom condim=\"" +
         std::to_string(scene.condim) + "\" friction=\"" + friction + "\"/></default><worldbody>";
}

/// Two pads of 100 g on damped slides press a horizontal capsule of 45 g, r = 4 mm, with 12 N each:
/// the grip of MuJoCo's issue 3328. Friction μ = 0.7. The centre of each pad starts where its face
/// touches the capsule.
inline std::string gripper_text(const MujocoScene& scene) {
  std::string text = mujoco_head(scene, "0.7 0.005 0.0001");
  for (const int side : {-1, 1}) {
    const std::string name = side < 0 ? "left" : "right";
    text +=
        "<body pos=\"" + std::to_string(0.014 * side) + " 0 0.1\"><joint name=\"" + name +
        "\" type=\"slide\" axis=\"" + std::to_string(-side) +
        " 0 0\" damping=\"20\"/><geom type=\"box\" size=\"0.01 0.03 0.02\" mass=\"0.1\"/></body>";
  }
  return text +
         "<body pos=\"0 0 0.1\"><freejoint/><geom type=\"capsule\" size=\"0.004 0.02\" "
         "euler=\"90 0 0\" mass=\"0.045\"/></body></worldbody><actuator><motor joint=\"left\"/>"
         "<motor joint=\"right\"/></actuator></mujoco>";
}

/// A block of 2 kg on a plane, μ = 0.5; the slope is made by gravity, see tilt().
inline std::string slope_text(const MujocoScene& scene) {
  return mujoco_head(scene, "0.5 0.005 0.0001") +
         "<geom type=\"plane\" size=\"30 30 1\"/><body pos=\"0 0 0.05\"><freejoint/>"
         "<geom type=\"box\" size=\"0.1 0.1 0.05\" mass=\"2\"/></body></worldbody></mujoco>";
}

/// Rotates gravity: down a plane of this angle, in the direction of this heading [rad].
inline void tilt(mjModel& model, double angle, double heading) {
  const double along = 9.81 * std::sin(angle);
  model.opt.gravity[0] = along * std::cos(heading);
  model.opt.gravity[1] = along * std::sin(heading);
  model.opt.gravity[2] = -9.81 * std::cos(angle);
}

/// Spheres, capsules, boxes, ellipsoids and cylinders that fall between four walls.
inline std::string pile_text(const MujocoScene& scene, int count) {
  static constexpr std::array<const char*, 5> shapes{
      "sphere\" size=\"0.1", "capsule\" size=\"0.06 0.1", "box\" size=\"0.1 0.08 0.06",
      "ellipsoid\" size=\"0.1 0.08 0.06", "cylinder\" size=\"0.08 0.1"};
  std::string text = mujoco_head(scene, "0.8 0.02 0.01") + "<geom type=\"plane\" size=\"3 3 1\"/>";
  for (const char* wall : {"0.4 0 0\" zaxis=\"-1 0 0", "-0.4 0 0\" zaxis=\"1 0 0",
                           "0 0.4 0\" zaxis=\"0 -1 0", "0 -0.4 0\" zaxis=\"0 1 0"}) {
    text += std::string("<geom type=\"plane\" size=\"3 3 1\" pos=\"") + wall + "\"/>";
  }
  for (int i = 0; i < count; ++i) {
    const double x = 0.3 * (i % 2) - 0.15, y = 0.3 * (i / 2 % 2) - 0.15;
    text += "<body pos=\"" + std::to_string(x) + ' ' + std::to_string(y) + ' ' +
            std::to_string(0.17 + 0.36 * (i / 4)) + "\" euler=\"" + std::to_string(20 * i) +
            " 30 10\"><freejoint/><geom type=\"" + shapes[std::size_t(i % 5)] +
            "\" density=\"1000\"/></body>";
  }
  return text + "</worldbody></mujoco>";
}

/// A leg or an arm of capsules, on one side.
inline std::string humanoid_limb(bool leg, int side) {
  const std::string s = side < 0 ? "_right" : "_left",
                    y = std::to_string(side * (leg ? 0.1 : 0.24));
  const auto hinge = [&](const std::string& name, const char* axis, const char* range) {
    return "<joint name=\"" + name + s + "\" axis=\"" + axis + "\" range=\"" + range + "\"/>";
  };
  const auto capsule = [](const char* ends, const char* radius) {
    return std::string("<geom type=\"capsule\" fromto=\"") + ends + "\" size=\"" + radius + "\"/>";
  };
  if (leg) {
    return "<body pos=\"0 " + y + " -0.2\">" + hinge("hip_x", "1 0 0", "-25 25") +
           hinge("hip_y", "0 1 0", "-100 30") + hinge("hip_z", "0 0 1", "-40 40") +
           capsule("0 0 0 0 0 -0.4", "0.06") + "<body pos=\"0 0 -0.42\">" +
           hinge("knee", "0 1 0", "2 140") + capsule("0 0 0 0 0 -0.38", "0.05") +
           "<body pos=\"0 0 -0.42\">" + hinge("ankle_y", "0 1 0", "-40 40") +
           hinge("ankle_x", "1 0 0", "-25 25") + capsule("-0.06 0.03 0 0.14 0.04 0", "0.03") +
           capsule("-0.06 -0.03 0 0.14 -0.04 0", "0.03") + "</body></body></body>";
  }
  return "<body pos=\"0 " + y + " 0.2\">" + hinge("shoulder_y", "0 1 0", "-90 60") +
         hinge("shoulder_x", "1 0 0", "-80 80") + capsule("0 0 0 0 0 -0.26", "0.04") +
         "<body pos=\"0 0 -0.3\">" + hinge("elbow", "0 1 0", "-120 -2") +
         capsule("0 0 0 0.02 0 -0.24", "0.035") +
         "<geom type=\"sphere\" pos=\"0.02 0 -0.28\" size=\"0.045\"/></body></body>";
}

/// A humanoid of capsules with 21 hinges: limits, dry friction and armature in each joint; two
/// tendons with limits connect hips and knees. It starts slightly above the floor, bent by its
/// springs, and falls.
inline std::string humanoid_text(const MujocoScene& scene) {
  std::string text = mujoco_head(scene, "0.9 0.01 0.005");
  text.insert(text.find("</default>"),
              "<joint type=\"hinge\" limited=\"true\" damping=\"1\" stiffness=\"8\" "
              "armature=\"0.01\" frictionloss=\"0.2\"/>");
  text +=
      "<geom type=\"plane\" size=\"9 9 1\"/><body pos=\"0 0 1.17\" euler=\"0 8 5\"><freejoint/>"
      "<geom type=\"capsule\" fromto=\"0 -0.13 0.12 0 0.13 0.12\" size=\"0.09\"/>"
      "<geom type=\"sphere\" pos=\"0 0 0.38\" size=\"0.1\"/>"
      "<body pos=\"0 0 -0.05\"><joint name=\"waist_y\" axis=\"0 1 0\" range=\"-60 30\"/>"
      "<joint name=\"waist_z\" axis=\"0 0 1\" range=\"-45 45\"/>"
      "<joint name=\"waist_x\" axis=\"1 0 0\" range=\"-30 30\"/>"
      "<geom type=\"capsule\" fromto=\"0 -0.08 -0.1 0 0.08 -0.1\" size=\"0.09\"/>";
  for (const int side : {-1, 1}) text += humanoid_limb(true, side);
  text += "</body>";
  for (const int side : {-1, 1}) text += humanoid_limb(false, side);
  text += "</body></worldbody><tendon>";
  for (const char* s : {"_left", "_right"}) {
    text += std::string("<fixed limited=\"true\" range=\"-1.2 2\" frictionloss=\"0.1\">") +
            "<joint joint=\"hip_y" + s + "\" coef=\"0.5\"/><joint joint=\"knee" + s +
            "\" coef=\"1\"/></fixed>";
  }
  return text + "</tendon></mujoco>";
}

/// Everything but contact: bodies connected, welded and coupled, a ball joint at its limit, dry
/// friction, tendons with limits and friction, one over three trees.
inline std::string mechanism_text(const MujocoScene& scene) {
  std::string text = mujoco_head(scene, "0.7 0.01 0.005") + "<geom type=\"plane\" size=\"9 9 1\"/>";
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i), x = std::to_string(0.3 * i);
    text += "<body name=\"arm" + n + "\" pos=\"" + x + " 0 1\"><joint name=\"a" + n +
            "\" type=\"hinge\" axis=\"0 1 0\" frictionloss=\"0.3\" limited=\"true\" "
            "range=\"-40 20\" damping=\"0.1\"/><geom type=\"capsule\" size=\"0.03\" "
            "fromto=\"0 0 0 0.1 0 -0.3\"/><body name=\"fore" +
            n + "\" pos=\"0.1 0 -0.3\"><joint name=\"b" + n +
            "\" type=\"hinge\" axis=\"1 0 0\" armature=\"0.01\"/>"
            "<geom type=\"capsule\" size=\"0.03\" fromto=\"0 0 0 0 0.2 -0.2\"/></body></body>";
  }
  text +=
      "<body name=\"swing\" pos=\"0 0.8 1\"><joint name=\"ball\" type=\"ball\" limited=\"true\" "
      "range=\"0 20\"/><geom type=\"capsule\" size=\"0.04\" fromto=\"0 0 0 0.3 0 -0.1\"/></body>";
  text +=
      "<body name=\"slab\" pos=\"0.9 0.6 0.4\" euler=\"10 20 30\"><freejoint/>"
      "<geom type=\"box\" size=\"0.1 0.1 0.05\"/></body>"
      "<body name=\"brick\" pos=\"0.9 0.9 0.4\"><freejoint/>"
      "<geom type=\"box\" size=\"0.1 0.05 0.05\"/></body>"
      "<body name=\"rail\" pos=\"-0.5 0 0.3\"><joint name=\"rail\" type=\"slide\" axis=\"0 0 1\"/>"
      "<geom type=\"sphere\" size=\"0.05\"/></body></worldbody><equality>"
      "<connect body1=\"slab\" body2=\"brick\" anchor=\"0 0.15 0\"/>"
      "<weld body1=\"brick\" body2=\"fore2\"/><connect body1=\"rail\" anchor=\"0 0 0.1\"/>"
      "<joint joint1=\"a0\" joint2=\"b1\" polycoef=\"0.1 0.5 0 0 0\"/>"
      "<joint joint1=\"b0\" polycoef=\"0.2 0 0 0 0\"/>"
      "</equality><tendon>"
      "<fixed name=\"three\" limited=\"true\" range=\"-0.3 0.3\" frictionloss=\"0.5\">"
      "<joint joint=\"a0\" coef=\"1\"/><joint joint=\"a1\" coef=\"-0.7\"/>"
      "<joint joint=\"a2\" coef=\"0.4\"/></fixed>"
      "<fixed name=\"two\" limited=\"true\" range=\"-0.1 0.5\"><joint joint=\"b1\" coef=\"1\"/>"
      "<joint joint=\"b2\" coef=\"1\"/></fixed></tendon></mujoco>";
  return text;
}

}  // namespace carom::examples
