// SPDX-License-Identifier: BSD-3-Clause
#include "constraint_gradient.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "carom/contact/compliance_derivative.hpp"
#include "carom/contact/detail/inverse_mass.hpp"
#include "carom/contact/detail/near_rigid.hpp"

namespace carom::python {
namespace {

using Problem = ContactProblem<double>;

RowNumbers<double> row_masses(const Problem& problem, Index block) {
  RowNumbers<double> sum = RowNumbers<double>::Zero();
  for (int s = 0; s < problem.side_count(block); ++s) {
    sum += detail::delassus_diagonal(problem.momentum_matrix(problem.side_body(block, s)),
                                     problem.jacobian(block, s));
  }
  return sum;
}

/// Whether an impulse is a bound but for rounding.
bool is_at(double impulse, double bound) {
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
  return detail::is_finite(bound) && std::abs(impulse - bound) <= rounding * std::abs(bound);
}

/// The chain of one constraint, by its law.
class LawChain {
 public:
  LawChain(const Problem& problem, Index block, const ProblemDifferential<double>& gradient)
      : time_step_(problem.time_step()),
        inverse_mass_(row_masses(problem, block)),
        by_weight_(gradient.regularization.segment(problem.first_row(block), problem.rows(block))),
        by_bias_(gradient.bias_velocity.segment(problem.first_row(block), problem.rows(block))),
        by_lower_(gradient.lower.segment(problem.first_row(block), problem.rows(block))),
        by_upper_(gradient.upper.segment(problem.first_row(block), problem.rows(block))),
        by_friction_(gradient.friction(block)) {}

  void operator()(const JointLimit<double>& law) { add_springs(law, "gap", one(law.gap)); }
  void operator()(const Bilateral<double>& law) {
    add_springs(law, "error", law.error.head(law.rows));
  }
  void operator()(const Tendon<double>& law) {
    add_springs(law, "stretch", one(law.stretch));
    add("tension_limit", -time_step_ * by_lower_(0));
  }
  void operator()(const DryFriction<double>&) { add_effort_limit(); }
  void operator()(const Motor<double>& law) {
    const double gain = time_step_ * law.position_gain + law.velocity_gain;
    const double compliant = 1 / (time_step_ * gain);
    const detail::NearRigidWeight<double> weight(compliant, law.near_rigid, inverse_mass_(0));
    const double by_gain = weight.clamped ? 0 : -by_weight_(0) * compliant / gain;
    const double bias =
        (law.velocity_gain * law.wanted_velocity - law.position_gain * law.position_error) / gain;
    add("position_error", -by_bias_(0) * law.position_gain / gain);
    add("wanted_velocity", by_bias_(0) * law.velocity_gain / gain);
    add("position_gain",
        time_step_ * by_gain - by_bias_(0) * (law.position_error + time_step_ * bias) / gain);
    add("velocity_gain", by_gain + by_bias_(0) * (law.wanted_velocity - bias) / gain);
    add_effort_limit();
  }
  void operator()(const WrenchContact<double>& law) {
    const double inverse_mass = inverse_mass_.head<3>().norm() / 3;
    const auto slopes = make_compliance_derivative(law.contact, time_step_, inverse_mass);
    add("gap", by_bias_(2) * slopes.bias_by_gap);
    add("stiffness", by_weight_(2) * slopes.normal_by_stiffness);
    add("dissipation_time",
        by_bias_(2) * slopes.bias_by_dissipation + by_weight_(2) * slopes.normal_by_dissipation);
    const ImpulseShape shape = law.shape;
    const bool elliptic = shape == ImpulseShape::elliptic;
    add("friction", by_friction_ + (elliptic ? by_upper_(0) : by_upper_.head<2>().sum()));
    if (elliptic) add("second_friction", by_upper_(1));
    if (by_upper_.size() == 4) add("torsional_friction", by_upper_(3));
    if (by_upper_.size() >= 5) add("rolling_friction", by_upper_.segment<2>(3).sum());
    if (by_upper_.size() == 6) add("torsional_friction", by_upper_(5));
  }
  void operator()(const ContactData&) {}
  void operator()(const WeightedBlock<double>&) {
    add("regularization", by_weight_);
    add("bias", by_bias_);
  }

  [[nodiscard]] ConstraintGradient take() && { return std::move(out_); }

 private:
  static VectorX<double> one(double number) { return VectorX<double>::Constant(1, number); }
  void add(const char* name, const VectorX<double>& value) {
    out_.numbers.emplace_back(name, value);
  }
  void add(const char* name, double value) { add(name, one(value)); }
  /// Of F in bounds of ± δt F.
  void add_effort_limit() { add("effort_limit", time_step_ * (by_upper_(0) - by_lower_(0))); }

  /// SpringRow: R = 1/(δt k (δt + τ_d)) unless it is bounded, v̂ = −x/(δt + τ_d).
  template <typename Law>
  void add_springs(const Law& law, const char* name, const VectorX<double>& error) {
    const double relaxation = time_step_ + law.dissipation_time;
    const double compliant = 1 / (time_step_ * law.stiffness * relaxation);
    double by_stiffness = 0, by_dissipation = 0;
    for (int i = 0; i < int(error.size()); ++i) {
      const detail::NearRigidWeight<double> weight(compliant, law.near_rigid, inverse_mass_(i));
      by_dissipation += by_bias_(i) * error(i) / (relaxation * relaxation);
      if (weight.clamped) continue;
      by_stiffness -= by_weight_(i) * compliant / law.stiffness;
      by_dissipation -= by_weight_(i) * compliant / relaxation;
    }
    add(name, -by_bias_ / relaxation);
    add("stiffness", by_stiffness);
    add("dissipation_time", by_dissipation);
  }

  double time_step_;
  RowNumbers<double> inverse_mass_;
  VectorX<double> by_weight_, by_bias_, by_lower_, by_upper_;
  double by_friction_;  ///< Of a block that is kept as a friction contact.
  ConstraintGradient out_;
};

}  // namespace

MatrixX<double> constraint_slopes(const ProblemData& data, Index block) {
  const Problem& problem = data.problem();
  const int rows = problem.rows(block);
  const RowNumbers<double> inverse_mass = row_masses(problem, block);
  MatrixX<double> slopes = MatrixX<double>::Zero(rows, rows);
  std::visit(
      [&](const auto& law) {
        using Law = std::decay_t<decltype(law)>;
        if constexpr (!std::is_same_v<Law, ContactData>) {
          const auto weights = [&](const RowNumbers<double>& w) -> RowNumbers<double> {
            return make_weighted(law, problem.time_step(), w).regularization;
          };
          const RowNumbers<double> here = weights(inverse_mass);
          for (int j = 0; j < rows; ++j) {
            constexpr double part = 1.0 / (1 << 20);
            RowNumbers<double> moved = inverse_mass;
            moved(j) += part * inverse_mass(j);
            const double step = moved(j) - inverse_mass(j);
            slopes.col(j) = (weights(moved) - here).head(rows) / step;
          }
        }
      },
      data.law(block));
  return slopes;
}

SideSlope row_inverse_masses(const Problem& problem, Index block, int side,
                             const VectorX<double>& by_row) {
  const MatrixX<double> jacobian = problem.jacobian(block, side);
  const VectorX<double> inverse =
      problem.momentum_matrix(problem.side_body(block, side)).diagonal().cwiseInverse();
  SideSlope slope{MatrixX<double>::Zero(jacobian.rows(), jacobian.cols()),
                  VectorX<double>::Zero(inverse.size())};
  for (Index k = 0; k < inverse.size(); ++k) {
    for (Index i = 0; i < jacobian.rows(); ++i) {
      const double part = by_row(i) * jacobian(i, k) * inverse(k);
      slope.jacobian(i, k) = 2 * part;
      slope.mass(k) -= part * jacobian(i, k) * inverse(k);
    }
  }
  return slope;
}

void write_convex_bounds(const Problem& problem, const VectorX<double>& impulse,
                         const VectorX<double>& by_impulse, ProblemDifferential<double>& gradient) {
  VectorX<double> lambda = gradient.free_velocity;
  const std::span<double> numbers(lambda.data(), std::size_t(lambda.size()));
  problem.whiten_momentum(numbers);
  problem.unwhiten(numbers);
  for (Index block = 0; block < problem.block_count(); ++block) {
    if (problem.is_friction_contact(block)) continue;
    const WeightedBlock<double> law = problem.law(block);
    const bool bounded = law.set.shape == ImpulseShape::intervals;
    VectorX<double> moved = by_impulse.segment(problem.first_row(block), problem.rows(block));
    for (int s = 0; s < problem.side_count(block); ++s) {
      const auto [start, size] = problem.body(problem.side_body(block, s));
      moved += problem.jacobian(block, s) * lambda.segment(start, size);
    }
    for (int i = 0; i < problem.rows(block); ++i) {
      const Index row = problem.first_row(block) + i;
      if (!bounded) {
        gradient.upper(row) = std::numeric_limits<double>::quiet_NaN();
      } else if (is_at(impulse(row), law.set.upper(i))) {
        gradient.upper(row) = moved(i);
      } else if (is_at(impulse(row), law.set.lower(i))) {
        gradient.lower(row) = moved(i);
      }
    }
  }
}

ConstraintGradient make_constraint_gradient(const ProblemData& data, Index block,
                                            const ProblemDifferential<double>& gradient) {
  const Problem& problem = data.problem();
  LawChain chain(problem, block, gradient);
  std::visit(chain, data.law(block));
  ConstraintGradient result = std::move(chain).take();
  const VectorX<double> by_row =
      constraint_slopes(data, block).transpose() *
      gradient.regularization.segment(problem.first_row(block), problem.rows(block));
  for (int s = 0; s < problem.side_count(block); ++s) {
    (s == 0 ? result.jacobian : result.other_jacobian) =
        gradient.jacobian(block, s) + row_inverse_masses(problem, block, s, by_row).jacobian;
  }
  return result;
}

}  // namespace carom::python
