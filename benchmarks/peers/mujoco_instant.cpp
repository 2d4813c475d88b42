// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "peers/mujoco_rows.hpp"

namespace carom::peers {
namespace {

using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, 3, Eigen::Dynamic>;

/// One of at most two bodies whose columns of a contact's rows hold more than zeros.
struct Side {
  Index body;
  Rows rows;
};

std::vector<Side> read_sides(const MujocoInstant& instant, int first_row,
                             const ContactProblem<double>& problem,
                             const std::vector<Index>& body_of) {
  std::vector<Side> sides;
  for (int k = 0; k < 3; ++k) {
    for_each_jacobian(instant, first_row + k, [&](int column, double entry) {
      if (entry == 0) return;
      const Index body = body_of[std::size_t(column)];
      auto side = std::find_if(sides.begin(), sides.end(),
                               [&](const Side& known) { return known.body == body; });
      if (side == sides.end()) {
        side = sides.insert(side, {body, Rows::Zero(3, problem.body(body).size)});
      }
      side->rows((k + 2) % 3, column - problem.body(body).start) = entry;
    });
  }
  return sides;
}

void check(bool good, const char* fault) {
  if (!good) throw std::runtime_error(std::string("MuJoCo: ") + fault);
}

void read_contact(const MujocoInstant& instant, int first_row, const std::vector<Index>& body_of,
                  ContactProblem<double>& problem) {
  const mjData& d = *instant.data;
  check(d.efc_type[first_row] == mjCNSTR_CONTACT_ELLIPTIC, "a constraint is no elliptic contact");
  const mjContact& contact = d.contact[d.efc_id[first_row]];
  check(contact.dim == 3, "a contact has not three dimensions");
  check(contact.friction[0] == contact.friction[1], "friction is not isotropic");
  const VectorXd bias = VectorXd::Map(d.efc_vel + first_row, 3) +
                        instant.model->opt.timestep * VectorXd::Map(d.efc_aref + first_row, 3);
  const WeightedContact<double> law{contact.friction[0],
                                    {d.efc_R[first_row + 1], d.efc_R[first_row]},
                                    {bias(1), bias(2), bias(0)}};
  const std::vector<Side> sides = read_sides(instant, first_row, problem, body_of);
  check(sides.size() == 1 || sides.size() == 2, "a contact joins not one or two bodies");
  if (sides.size() == 1) {
    problem.add_contact(sides[0].body, sides[0].rows, law);
  } else {
    problem.add_contact(sides[0].body, sides[0].rows, sides[1].body, sides[1].rows, law);
  }
}

}  // namespace

MujocoInstant make_heap(const HeapShape& shape) {
  const bool box = shape.geometry == "box";
  const int side = int(std::ceil(std::cbrt(shape.body_count) / 2));  // higher than wide
  const double pitch = (box ? 3.5 : 2.2) * shape.half_width, wall = pitch * side / 2;
  std::ostringstream text;
  text << "<mujoco><option timestep=\"0.002\" cone=\"elliptic\" solver=\"CG\" impratio=\""
       << shape.impedance_ratio << "\"/>"
       << write_sizes(6 * shape.body_count, (box ? 12 : 4) * shape.body_count)
       << "<default><geom condim=\"3\" friction=\"0.7\"/></default><worldbody>"
       << "<geom type=\"plane\" size=\"9 9 1\"/>";
  for (const auto& [x, y] : {std::array{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    text << "<geom type=\"plane\" size=\"9 9 1\" pos=\"" << wall * x << ' ' << wall * y
         << " 0\" zaxis=\"" << -x << ' ' << -y << " 0\"/>";
  }
  std::minstd_rand random(1);
  const auto noise = [&] { return double(random()) / 0x1p30 - 1; };  // the same on every machine
  for (int i = 0; i < shape.body_count; ++i) {
    const int layer = i / (side * side);
    text << "<body pos=\"";
    for (const int place : {i % side, i / side % side}) {
      text << pitch * (place + 0.5) - wall + 0.05 * shape.half_width * noise() << ' ';
    }
    text << pitch * (layer + 0.5) << "\" quat=\"" << noise();
    for (int k = 0; k < 3; ++k) text << ' ' << noise();
    text << "\"><freejoint/><geom type=\"" << shape.geometry << "\" size=\"" << shape.half_width
         << ' ' << shape.half_width << ' ' << shape.half_width << "\"/></body>";
  }
  text << "</worldbody></mujoco>";
  MujocoInstant instant = load(text.str());
  mjModel* const model = instant.model.get();
  mjData* const data = instant.data.get();
  for (int i = 0; i < shape.steps; ++i) mj_step(model, data);
  mj_fwdPosition(model, data);
  mj_fwdVelocity(model, data);
  mj_fwdActuation(model, data);
  mj_fwdAcceleration(model, data);
  for (const mjWarningStat& warning : data->warning) check(warning.number == 0, "a warning");
  return instant;
}

files::TextProblem read_problem(const MujocoInstant& instant) {
  const mjModel& model = *instant.model;
  const mjData& data = *instant.data;
  const std::vector<Index> body_of = find_trees(model);
  std::vector<Index> starts{0};
  for (int i = 1; i < model.nv; ++i) {
    if (body_of[std::size_t(i)] != body_of[std::size_t(i - 1)]) starts.push_back(i);
  }
  starts.push_back(model.nv);
  std::vector<Eigen::MatrixXd> masses;
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    masses.push_back(Eigen::MatrixXd::Zero(starts[b + 1] - starts[b], starts[b + 1] - starts[b]));
  }
  for_each_mass(model, data, [&](int row, int column, const mjtNum& entry) {
    const auto body = std::size_t(body_of[std::size_t(row)]);
    const Index r = row - starts[body], c = column - starts[body];
    masses[body](r, c) = masses[body](c, r) = entry;
  });
  files::TextProblem result{ContactProblem<double>(model.opt.timestep), {}};
  const VectorXd free = instant.velocity(data.qacc_smooth);
  for (std::size_t b = 0; b < masses.size(); ++b) {
    result.problem.add_body(masses[b], free.segment(starts[b], masses[b].rows()));
  }
  for (int row = 0; row < data.nefc; row += 3) read_contact(instant, row, body_of, result.problem);
  result.guess = instant.velocity(data.qacc_warmstart);
  return result;
}

double own_residual(const MujocoInstant& instant) {
  const mjModel* const model = instant.model.get();
  mjData* const data = instant.data.get();
  VectorXd slack(data->nefc), balance(model->nv), solved(model->nv);
  mj_mulJacVec(model, data, slack.data(), data->qacc);
  slack -= VectorXd::Map(data->efc_aref, data->nefc);
  mj_constraintUpdate(model, data, slack.data(), nullptr, 0);
  mj_mulM(model, data, balance.data(), data->qacc);
  balance -=
      VectorXd::Map(data->qfrc_smooth, model->nv) + VectorXd::Map(data->qfrc_constraint, model->nv);
  mj_solveM(model, data, solved.data(), balance.data(), 1);
  return model->opt.timestep * std::sqrt(balance.dot(solved));
}

}  // namespace carom::peers
