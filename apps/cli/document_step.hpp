// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/viscoelastic/contact_step.hpp"

#include "cli/document_program.hpp"

namespace carom::cli {

/// The result of a step of viscoelastic contact, for any law.
struct StepResult {
  SolveReport<double> report;
  VectorX<double> force, anchor_velocity, velocity, displacement, anchors;
  std::vector<ConeRegion> regions;
};

/// The result of a step of ContactStep.
[[nodiscard]] inline StepResult read_step(const SolveReport<double>& report,
                                          const ContactStep<double>& step, Index contact_count) {
  StepResult result{report,
                    step.force(),
                    step.anchor_velocity(),
                    step.velocity(),
                    step.displacement(),
                    step.anchors(),
                    {}};
  for (Index i = 0; i < contact_count; ++i) result.regions.push_back(step.region(i));
  return result;
}

/// The same step under the quadratic program of the source's document instead of a slip law, for a
/// comparison. Its anchors also move along the normal, so that a pushed body climbs.
/// @param step  has solved the data under SlipLaw::stick; its averages and gains are used.
/// @cite  hammoud2022exponential, eq. (21)–(24), (55)–(72)
[[nodiscard]] inline StepResult take_document_step(const ContactStepData<double>& data,
                                                   ContactStep<double>& step) {
  const Index n = data.contact_count();
  StepResult result = read_step({}, step, n);
  MatrixX<double> gain(3 * n, 3 * n), gain2(3 * n, 3 * n);
  if (!step.forces().write_gains(gain, gain2) || !gain.allFinite()) return result;
  for (Index r = 0; r < 3 * n; ++r) {  // the gain of a row without spring and damper is zero
    if (!(gain(r, r) > 0)) gain(r, r) = 1;
  }
  DocumentProgram<double> program;
  program.prepare(n);
  const VectorX<double> average = step.average_force();
  const QuadraticStatus status = program.solve(gain, average, data.friction);
  result.report.status = status == QuadraticStatus::optimal      ? SolveStatus::converged
                         : status == QuadraticStatus::not_finite ? SolveStatus::not_finite
                                                                 : SolveStatus::no_progress;
  result.force = program.force();
  result.anchor_velocity = program.velocity();
  VectorX<double> force2 = step.average_force2();
  force2 += gain2 * result.anchor_velocity;
  for (Index i = 0; i < n; ++i) {
    const Vector3<double> first = result.force.segment<3>(3 * i);
    const bool rests = result.anchor_velocity.segment<3>(3 * i).isZero(0);
    ConeRegion& region = result.regions[std::size_t(i)];
    region = rests ? ConeRegion::stick : first(2) > 0 ? ConeRegion::slide : ConeRegion::separate;
    if (region == ConeRegion::separate) force2.segment<3>(3 * i).setZero();
    if (region != ConeRegion::slide) continue;
    const double normal = std::max(force2(3 * i + 2), 0.0), tangent = first.head<2>().norm();
    const double reach = tangent > 0 ? data.friction(i) * normal / tangent : 0;
    force2.segment<3>(3 * i) << reach * first(0), reach * first(1), normal;
  }
  const Eigen::LLT<MatrixX<double>> mass(data.mass_matrix);
  const double t = data.time_step;
  const auto acceleration = [&](const VectorX<double>& force) -> VectorX<double> {
    return data.free_acceleration + mass.solve(data.jacobian.transpose() * force);
  };
  result.velocity = data.velocity + t * acceleration(result.force);
  result.displacement = t * (data.velocity + t / 2 * acceleration(force2));
  const VectorX<double> moved = data.jacobian * result.displacement + t * t / 2 * data.drift;
  for (Index r = 0; r < 3 * n; ++r) {
    const double point = data.points(r) + moved(r);
    const ConeRegion region = result.regions[std::size_t(r / 3)];
    result.anchors(r) = data.anchors(r);
    if (region == ConeRegion::stick || r % 3 == 2) continue;
    result.anchors(r) =
        region == ConeRegion::separate
            ? point
            : point - slip_stretch(data.points(r) - data.anchors(r), result.force(r),
                                   data.stiffness(r), data.damping(r), t);
  }
  return result;
}

}  // namespace carom::cli
