// SPDX-License-Identifier: BSD-3-Clause
#include "cli/judged_answer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/coulomb_derivative.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "io/friction_dual.hpp"

namespace carom::cli {
namespace {

void judge_impulses(const DelassusProblem<double>& dual, const VectorX<double>& impulse,
                    JudgedAnswer& judged) {
  const ImpulseCertificate<double> c = certify(dual, impulse, judged.law);
  judged.natural_map_error = judged.residual = c.natural_map_error;
  judged.cone_violation = c.cone_violation;
  judged.complementarity = c.complementarity;
  judged.signorini = c.signorini;
  judged.friction_direction = c.dissipation_angle;
  judged.natural_map_block = c.worst_block;
  judged.cone_violation_block = c.cone_violation_block;
  judged.largest_impulse = impulse.size() > 0 ? impulse.cwiseAbs().maxCoeff() : 0;
}

/// The impulses of a velocity. They are defined for compliant contact only.
VectorX<double> impulses_of(const ContactProblem<double>& problem, FrictionLaw law,
                            const VectorX<double>& velocity) {
  VectorX<double> impulse(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows trial = block.trial(block.velocity(velocity));
    if (!trial.allFinite()) {
      return block.write(Rows::Constant(std::numeric_limits<double>::infinity()), impulse);
    }
    if (law == FrictionLaw::convex) return block.write(block.nearest(trial), impulse);
    RowNumbers<double> weights = RowNumbers<double>::Ones(), y = RowNumbers<double>::Zero();
    weights.head(Rows::RowsAtCompileTime) = block.regularization();
    y.head(Rows::RowsAtCompileTime) = trial;
    const RowNumbers<double> nearest = coulomb_impulse(block.set(), weights, y);
    block.write(Rows(nearest.head(Rows::RowsAtCompileTime)), impulse);
  });
  return impulse;
}

/// ‖γ − γ(v)‖ in ‖J_k‖_{A⁻¹} |γ_k| over the rows, relative to the momentum scale.
double mismatch(const ContactProblem<double>& problem, const VectorX<double>& given,
                const VectorX<double>& own) {
  double miss = 0, gross = 0;
  problem.for_each_block([&](const auto& block) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows a = block.read(given), b = block.read(own);
    miss += block.gross_squared(Rows(a - b));
    gross += block.gross_squared(b);
  });
  const double scale = std::max(gross, problem.whitened_free_velocity().squaredNorm());
  return std::sqrt(scale > 0 ? miss / scale : miss);
}

std::optional<int> index_of(const ContactProblem<double>& problem, const VectorX<double>& velocity,
                            const VectorX<double>& impulse) {
  if (!velocity.allFinite() || !impulse.allFinite()) return {};
  CoulombDerivative<double> derivative;
  derivative.prepare(problem);
  if (!derivative.linearize(problem, velocity, impulse).usable()) return {};
  return derivative.index();
}

/// The largest |v_i| of all velocities with ‖v‖_A ≤ 1: |v_i| ≤ ‖v‖_A √(A⁻¹)_ii, and with A = L Lᵀ
/// the root is the norm of the i-th column of L⁻¹.
double largest_entry(const ContactProblem<double>& problem) {
  double most = 0;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const MatrixX<double> factor = problem.momentum_factor(b);
    const MatrixX<double> inverse = factor.triangularView<Eigen::Lower>().solve(
        MatrixX<double>::Identity(factor.rows(), factor.cols()));
    most = std::max(most, inverse.colwise().norm().maxCoeff());
  }
  return most;
}

void see_pair(const ContactProblem<double>& problem, const VectorX<double>& velocity,
              const VectorX<double>& impulse, JudgedAnswer& judged) {
  const ContactCertificate<double> c = certify(problem, velocity, impulse);
  judged.residual = c.velocity_residual;
  judged.velocity_error_bound = c.velocity_error_bound;
  judged.velocity_entry_bound = c.velocity_error_bound * largest_entry(problem);
  judged.duality_gap = c.duality_gap;
  judged.natural_map_error = c.natural_map_error;
  judged.complementarity = c.complementarity;
}

}  // namespace

double JudgedAnswer::relative_cone_violation() const {
  if (!cone_violation || *cone_violation == 0) return 0;
  return largest_impulse > 0 ? *cone_violation / largest_impulse
                             : std::numeric_limits<double>::infinity();
}

bool JudgedAnswer::meets(double tolerance) const {
  if (ray && ray->infeasible) return true;
  if (!residual || !(*residual <= tolerance)) return false;
  if (momentum_residual && !(*momentum_residual <= tolerance)) return false;
  if (impulse_mismatch && !(*impulse_mismatch <= tolerance)) return false;
  return true;
}

JudgedAnswer judge_bodies(const ContactProblem<double>& problem, FrictionLaw law,
                          const GivenAnswer& answer, double tolerance) {
  JudgedAnswer judged;
  judged.law = law;
  if (answer.ray) judged.ray = certify_infeasible(problem, law, *answer.ray);
  const bool compliant = problem.rigid_count() == 0;
  if (!answer.impulse && !(answer.velocity && compliant)) return judged;
  VectorX<double> own;
  if (answer.velocity && compliant) own = impulses_of(problem, law, *answer.velocity);
  const VectorX<double> impulse = answer.impulse ? *answer.impulse : own;
  VectorX<double> velocity(problem.velocity_count());
  if (answer.velocity) {
    velocity = *answer.velocity;
  } else {
    write_velocity(problem, impulse, velocity);
  }
  DelassusForm<double> form;
  DelassusProblem<double> dual;
  form.write(problem, dual);
  judge_impulses(dual, impulse, judged);
  if (compliant && law == FrictionLaw::convex) {
    see_pair(problem, velocity, impulse, judged);
  } else {
    judged.residual = judge_answer(problem, law, velocity, impulse).residual;
  }
  if (answer.velocity && answer.impulse) {
    judged.momentum_residual = certify(problem, velocity, impulse).residual;
    if (compliant && law == FrictionLaw::convex) {
      judged.impulse_mismatch = mismatch(problem, impulse, own);
    }
  } else if (answer.velocity && law == FrictionLaw::coulomb) {
    // A velocity without impulses must also be that of its own impulses.
    const double balance = certify(problem, velocity, impulse).residual;
    judged.residual = std::max(*judged.residual, balance);
  }
  if (law == FrictionLaw::coulomb && judged.meets(tolerance)) {
    judged.index = index_of(problem, velocity, impulse);
  }
  return judged;
}

JudgedAnswer judge_friction(const files::FrictionProblem& given, FrictionLaw law,
                            const GivenAnswer& answer) {
  const DelassusProblem<double> dual = files::friction_dual(given);
  if (const Fault fault = dual.check(); !fault.empty()) throw files::BadInput(fault);
  JudgedAnswer judged;
  judged.law = law;
  const auto rows_of = [&](const VectorX<double>& numbers) {
    VectorX<double> rows = VectorX<double>::Zero(dual.row_count());
    rows.head(given.row_count()) = files::to_row_order(given.dimension, numbers);
    return rows;
  };
  if (answer.ray) judged.ray = certify_infeasible(dual, law, rows_of(*answer.ray));
  if (!answer.impulse) return judged;
  VectorX<double> impulse = rows_of(*answer.impulse);
  if (answer.multiplier) impulse.tail(given.equality_count()) = *answer.multiplier;
  judge_impulses(dual, impulse, judged);
  if (!answer.velocity || !given.global) return judged;
  const VectorX<double> right = files::friction_answer(given, impulse).velocity;
  const VectorX<double> miss = *answer.velocity - right;
  const auto energy = [&](const VectorX<double>& v) {
    return std::max(0.0, v.dot(VectorX<double>(given.global->mass * v)));
  };
  const double scale = std::max(energy(right), energy(*answer.velocity));
  judged.momentum_residual = std::sqrt(scale > 0 ? energy(miss) / scale : energy(miss));
  return judged;
}

}  // namespace carom::cli
