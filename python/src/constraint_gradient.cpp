// SPDX-License-Identifier: BSD-3-Clause
#include "constraint_gradient.hpp"

#include <type_traits>

#include "carom/contact/compliance.hpp"
#include "carom/contact/compliance_derivative.hpp"
#include "carom/contact/detail/block_reading.hpp"

namespace carom::python {
namespace {

using Problem = ContactProblem<double>;

RowNumbers<double> row_masses(const Problem& problem, Index block) {
  return detail::own_inverse_masses(detail::sides_of(problem, block));
}

/// How R, v̂, lower and upper bounds and μ of a block follow from one number of its law.
struct NumberSlope {
  const char* name;
  /// (4 rows + 1) × entries of the number: R, v̂, lower, upper, each by rows, and μ of a block that
  /// is kept as a friction contact.
  MatrixX<double> slope;
};

/// The numbers of one constraint and their slopes, by its law.
class LawSlopes {
 public:
  LawSlopes(const Problem& problem, Index block)
      : time_step_(problem.time_step()),
        inverse_mass_(row_masses(problem, block)),
        rows_(problem.rows(block)),
        pressing_(rows_ >= 3 ? find_pressing(problem, block) : Pressing<double>{}) {}

  void operator()(const JointLimit<double>& law) {
    add_springs(law, "gap", one(law.gap), law.gap > 0 ? 1 : law.correction);
  }
  void operator()(const Bilateral<double>& law) {
    add_springs(law, "error", law.error.head(law.rows), law.correction);
  }
  void operator()(const Tendon<double>& law) {
    add_springs(law, "stretch", one(law.stretch), law.stretch < 0 ? 1 : law.correction);
    add("tension_limit")(lower(0)) = -time_step_;
  }
  void operator()(const DryFriction<double>&) { add_effort_limit(); }
  void operator()(const Motor<double>& law) {
    const double gain = time_step_ * law.position_gain + law.velocity_gain;
    const double compliant = 1 / (time_step_ * gain);
    const detail::NearRigidWeight<double> bounded(compliant, law.near_rigid, inverse_mass_(0));
    const double by_gain = bounded.clamped ? 0 : -compliant / gain;
    const double aim =
        (law.velocity_gain * law.wanted_velocity - law.position_gain * law.position_error) / gain;
    add("position_error")(bias(0)) = -law.position_gain / gain;
    add("wanted_velocity")(bias(0)) = law.velocity_gain / gain;
    MatrixX<double>& position = add("position_gain");
    position(weight(0)) = time_step_ * by_gain;
    position(bias(0)) = -(law.position_error + time_step_ * aim) / gain;
    MatrixX<double>& velocity = add("velocity_gain");
    velocity(weight(0)) = by_gain;
    velocity(bias(0)) = (law.wanted_velocity - aim) / gain;
    add_effort_limit();
  }
  void operator()(const WrenchContact<double>& law) {
    const double inverse_mass = detail::contact_inverse_mass(inverse_mass_);
    CompliantContact<double> contact = law.contact;
    contact.pressing = pressing_;
    const auto slopes = make_compliance_derivative(contact, time_step_, inverse_mass);
    add("gap")(bias(2)) = slopes.bias_by_gap;
    add("stiffness")(weight(2)) = slopes.normal_by_stiffness;
    MatrixX<double>& dissipation = add("dissipation_time");
    dissipation(bias(2)) = slopes.bias_by_dissipation;
    dissipation(weight(2)) = slopes.normal_by_dissipation;
    const bool elliptic = law.shape == ImpulseShape::elliptic;
    MatrixX<double>& friction = add("friction");
    friction(4 * rows_) = friction(upper(0)) = 1;
    if (!elliptic || !law.second_friction) friction(upper(1)) = 1;
    if (elliptic) add("second_friction")(upper(1)) = 1;
    if (rows_ == 4) add("torsional_friction")(upper(3)) = 1;
    if (rows_ < 5) return;
    MatrixX<double>& rolling = add("rolling_friction");
    rolling(upper(3)) = rolling(upper(4)) = 1;
    if (rows_ == 6) add("torsional_friction")(upper(5)) = 1;
  }
  void operator()(const ContactData&) {}
  void operator()(const WeightedBlock<double>&) {
    add("regularization", rows_).topRows(rows_).setIdentity();
    add("bias", rows_).middleRows(rows_, rows_).setIdentity();
  }

  [[nodiscard]] std::vector<NumberSlope> take() && { return std::move(out_); }

 private:
  static VectorX<double> one(double number) { return VectorX<double>::Constant(1, number); }
  [[nodiscard]] static Index weight(Index row) noexcept { return row; }
  [[nodiscard]] Index bias(Index row) const noexcept { return rows_ + row; }
  [[nodiscard]] Index lower(Index row) const noexcept { return 2 * rows_ + row; }
  [[nodiscard]] Index upper(Index row) const noexcept { return 3 * rows_ + row; }
  /// A number without slope yet; the matrix holds until the next is added.
  MatrixX<double>& add(const char* name, Index entries = 1) {
    out_.push_back({name, MatrixX<double>::Zero(4 * rows_ + 1, entries)});
    return out_.back().slope;
  }
  /// Of F in bounds of ± δt F.
  void add_effort_limit() {
    MatrixX<double>& limit = add("effort_limit");
    limit(lower(0)) = -time_step_;
    limit(upper(0)) = time_step_;
  }

  /// SpringRow: R = 1/(δt k (δt + τ_d)) unless it is bounded, v̂ = −x/(δt + τ_d); of a rigid row v̂
  /// is a share of −x/δt.
  template <typename Law>
  void add_springs(const Law& law, const char* name, const VectorX<double>& error, double share) {
    if (detail::is_unyielding(law)) {
      MatrixX<double>& errors = add(name, rows_);
      for (Index i = 0; i < rows_; ++i) errors(bias(i), i) = -share / time_step_;
      add("stiffness");
      add("dissipation_time");
      return;
    }
    const double relaxation = time_step_ + law.dissipation_time;
    const double compliant = 1 / (time_step_ * law.stiffness * relaxation);
    MatrixX<double>& errors = add(name, rows_);
    for (Index i = 0; i < rows_; ++i) errors(bias(i), i) = -1 / relaxation;
    MatrixX<double> stiffness = MatrixX<double>::Zero(4 * rows_ + 1, 1), dissipation = stiffness;
    for (Index i = 0; i < rows_; ++i) {
      const detail::NearRigidWeight<double> bounded(compliant, law.near_rigid, inverse_mass_(i));
      dissipation(bias(i)) = error(i) / (relaxation * relaxation);
      if (bounded.clamped) continue;
      stiffness(weight(i)) = -compliant / law.stiffness;
      dissipation(weight(i)) = -compliant / relaxation;
    }
    add("stiffness") = stiffness;
    add("dissipation_time") = dissipation;
  }

  double time_step_;
  RowNumbers<double> inverse_mass_;
  Index rows_;
  Pressing<double> pressing_;
  std::vector<NumberSlope> out_;
};

std::vector<NumberSlope> number_slopes(const ProblemData& data, Index block) {
  LawSlopes slopes(data.problem(), block);
  std::visit(slopes, data.law(block));
  return std::move(slopes).take();
}

}  // namespace

MatrixX<double> constraint_slopes(const ProblemData& data, Index block) {
  const Problem& problem = data.problem();
  const int rows = problem.rows(block);
  const RowNumbers<double> inverse_mass = row_masses(problem, block);
  MatrixX<double> slopes = MatrixX<double>::Zero(rows, rows);
  if (problem.is_rigid(block)) return slopes;
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

SideSlope inverse_mass_slope(const Problem& problem, Index block, int side,
                             const MatrixX<double>& by_inverse_mass) {
  const auto sides = detail::sides_of(problem, block);
  const auto factor = problem.momentum_factor(sides.body(side)).triangularView<Eigen::Lower>();
  const MatrixX<double> moved = factor.transpose().solve(sides.whitened_columns(side));  // A⁻¹ Jᵀ
  const MatrixX<double> turned = moved * by_inverse_mass;
  return {2 * turned.transpose(), -turned * moved.transpose()};
}

SideSlope row_inverse_masses(const Problem& problem, Index block, int side,
                             const VectorX<double>& by_row) {
  return inverse_mass_slope(problem, block, side, by_row.asDiagonal());
}

ConstraintNumbers zero_constraint(const ProblemData& data, Index block) {
  const Problem& problem = data.problem();
  ConstraintNumbers result;
  for (const NumberSlope& number : number_slopes(data, block)) {
    result.numbers.emplace_back(number.name, VectorX<double>::Zero(number.slope.cols()));
  }
  for (int s = 0; s < problem.side_count(block); ++s) {
    (s == 0 ? result.jacobian : result.other_jacobian)
        .setZero(problem.rows(block), problem.body(problem.side_body(block, s)).size);
  }
  return result;
}

ConstraintNumbers pull_constraint(const ProblemData& data, Index block,
                                  const ProblemDifferential<double>& gradient) {
  const Problem& problem = data.problem();
  const Index row = problem.first_row(block), rows = problem.rows(block);
  VectorX<double> stacked(4 * rows + 1);
  stacked << gradient.regularization.segment(row, rows), gradient.bias_velocity.segment(row, rows),
      gradient.lower.segment(row, rows), gradient.upper.segment(row, rows),
      gradient.friction(block);
  ConstraintNumbers result;
  for (const NumberSlope& number : number_slopes(data, block)) {
    result.numbers.emplace_back(number.name, number.slope.transpose() * stacked);
  }
  const VectorX<double> by_row = constraint_slopes(data, block).transpose() * stacked.head(rows);
  for (int s = 0; s < problem.side_count(block); ++s) {
    (s == 0 ? result.jacobian : result.other_jacobian) =
        gradient.jacobian(block, s) + row_inverse_masses(problem, block, s, by_row).jacobian;
  }
  return result;
}

void push_constraint(const ProblemData& data, Index block, const ConstraintNumbers& change,
                     const std::vector<MatrixX<double>>& mass, ProblemDifferential<double>& out) {
  const Problem& problem = data.problem();
  const Index row = problem.first_row(block), rows = problem.rows(block);
  VectorX<double> stacked = VectorX<double>::Zero(4 * rows + 1);
  const std::vector<NumberSlope> slopes = number_slopes(data, block);
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    stacked += slopes[k].slope * change.numbers[k].second;
  }
  VectorX<double> inverse_masses = VectorX<double>::Zero(rows);
  for (int s = 0; s < problem.side_count(block); ++s) {
    const MatrixX<double>& jacobian = s == 0 ? change.jacobian : change.other_jacobian;
    const MatrixX<double>& momentum = mass[std::size_t(problem.side_body(block, s))];
    out.jacobian(block, s) = jacobian;
    for (Index i = 0; i < rows; ++i) {
      const SideSlope slope = row_inverse_masses(problem, block, s, VectorX<double>::Unit(rows, i));
      inverse_masses(i) +=
          slope.jacobian.cwiseProduct(jacobian).sum() + slope.mass.cwiseProduct(momentum).sum();
    }
  }
  out.regularization.segment(row, rows) =
      stacked.head(rows) + constraint_slopes(data, block) * inverse_masses;
  out.bias_velocity.segment(row, rows) = stacked.segment(rows, rows);
  out.lower.segment(row, rows) = stacked.segment(2 * rows, rows);
  out.upper.segment(row, rows) = stacked.segment(3 * rows, rows);
  out.friction(block) = stacked(4 * rows);
}

}  // namespace carom::python
