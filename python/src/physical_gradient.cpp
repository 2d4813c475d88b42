// SPDX-License-Identifier: BSD-3-Clause
#include "physical_gradient.hpp"

#include "carom/contact/compliance_derivative.hpp"
#include "carom/contact/detail/block_reading.hpp"

namespace carom::python {
namespace {

using Problem = ContactProblem<double>;

/// What the step adds to the velocity of a body, or that velocity where it is not known before.
VectorX<double> added_velocity(const Problem& problem, Index body, bool known) {
  const auto [start, size] = problem.body(body);
  VectorX<double> added = problem.free_velocity().segment(start, size);
  if (known) added -= problem.velocity_now(body);
  return added;
}

/// How v̂ₙ of a contact whose overlap is taken out follows from what presses its bodies together.
class PressingSlope {
 public:
  PressingSlope() = default;
  /// @param law  of a rigid contact with an overlap.
  PressingSlope(const Problem& problem, Index block, const CompliantContact<double>& law)
      : by_pressing_(overlap_velocity(-law.gap, law.correction, law.pressing, problem.time_step())
                         .by_pressing),
        known_(law.pressing.known) {
    for (int s = 0; s < problem.side_count(block) && side_ < 0; ++s) {
      const VectorX<double> added = added_velocity(problem, problem.side_body(block, s), known_);
      const double closes = -problem.jacobian(block, s).row(2).dot(added);
      if (closes > 0 && closes >= law.pressing.speed * (1 - 1e-12)) side_ = s;
    }
  }
  /// Whether the body of a side presses on the other.
  [[nodiscard]] bool acts_on(int side) const { return by_pressing_ != 0 && side == side_; }
  /// Adds to the gradients by the velocities, and by J of the side that presses.
  /// @param by_normal_bias  the gradient by v̂ₙ.
  void pull(const Problem& problem, Index block, double by_normal_bias, MatrixX<double>& jacobian,
            PhysicalNumbers& out) const {
    const Index body = problem.side_body(block, side_);
    const auto [start, size] = problem.body(body);
    const VectorX<double> normal = problem.jacobian(block, side_).row(2).transpose();
    const double by_pressing = by_normal_bias * by_pressing_;
    out.free_velocity.segment(start, size) -= by_pressing * normal;
    if (known_) out.velocity.segment(start, size) += by_pressing * normal;
    jacobian.row(2) -= by_pressing * added_velocity(problem, body, known_).transpose();
  }
  /// The change of v̂ₙ.
  /// @param jacobian  the change of J of the side that presses.
  [[nodiscard]] double push(const Problem& problem, Index block, const MatrixX<double>& jacobian,
                            const PhysicalNumbers& change) const {
    const Index body = problem.side_body(block, side_);
    const auto [start, size] = problem.body(body);
    VectorX<double> added = change.free_velocity.segment(start, size);
    if (known_) added -= change.velocity.segment(start, size);
    return -by_pressing_ * (jacobian.row(2).dot(added_velocity(problem, body, known_)) +
                            problem.jacobian(block, side_).row(2).dot(added));
  }

 private:
  double by_pressing_ = 0;
  bool known_ = false;
  int side_ = -1;
};

/// How the numbers of a contact follow from physical ones.
struct ContactSlopes : ComplianceDerivative<double> {
  double bias_by_restitution = 0, bias_by_approach = 0;
  PressingSlope by_pressing = {};  ///< of v̂ₙ, of an overlap
};

/// That of a contact with moments or adhesion; of other constraints nothing.
PressingSlope pressing_slope(const ProblemData& data, Index block) {
  const auto* const law = std::get_if<WrenchContact<double>>(&data.law(block));
  if (law == nullptr || !(law->contact.gap < 0) || !data.problem().is_rigid(block)) return {};
  CompliantContact<double> contact = law->contact;
  contact.pressing = find_pressing(data.problem(), block);
  return {data.problem(), block, contact};
}

/// Newton's law: a contact that closes within the step asks for e s. At e = 0 that is the slope
/// towards larger e, where the contact asks for no other velocity.
void write_bounce_slopes(const ProblemData& data, Index block, ContactSlopes& slopes) {
  const auto& contact = std::get<ContactData>(data.law(block));
  const bool closes =
      contact.approach > 0 && contact.law.gap <= data.problem().time_step() * contact.approach;
  const double asked = data.problem().friction_contact_law(block).bias_velocity.z();
  const bool asks = asked != contact.law.surface_velocity.z();
  if (contact.bias || !closes || (contact.restitution == 0 && asks)) return;
  slopes.bias_by_restitution = contact.approach;
  slopes.bias_by_approach = contact.restitution;
}

/// The slopes of a contact; zero where numbers were given instead.
ContactSlopes contact_slopes(const ProblemData& data, Index block) {
  const auto& contact = std::get<ContactData>(data.law(block));
  const Problem& problem = data.problem();
  ContactSlopes slopes{};
  if (contact.rigid) {
    // rigid_bias(): an open gap may close, an overlap is taken out.
    const bool bounces = contact.restitution > 0 && contact.approach > 0 &&
                         contact.law.gap <= problem.time_step() * contact.approach;
    if (!bounces && !contact.bias) {
      const OverlapVelocity<double> out = overlap_velocity(
          -contact.law.gap, contact.law.correction, contact.law.pressing, problem.time_step());
      slopes.bias_by_gap = contact.law.gap > 0 ? -1 / problem.time_step() : -out.by_depth;
      slopes.by_pressing = PressingSlope(problem, block, contact.law);
    }
    write_bounce_slopes(data, block, slopes);
    return slopes;
  }
  static_cast<ComplianceDerivative<double>&>(slopes) = make_compliance_derivative(
      contact.law, problem.time_step(), inverse_mass_of(problem, block).value);
  if (contact.bias) slopes.bias_by_gap = slopes.bias_by_dissipation = 0;
  if (contact.regularization) {
    slopes.normal_by_stiffness = slopes.normal_by_dissipation = 0;
    slopes.normal_by_inverse_mass = slopes.tangent_by_inverse_mass = 0;
  }
  return slopes;
}

/// Whether the approach of a contact is that of its bodies' velocities before the step, −Σ Jₙ v.
bool follows_bodies(const ProblemData& data, Index block) {
  const auto& contact = std::get<ContactData>(data.law(block));
  return contact.rigid && contact.restitution_given && !contact.approach_given;
}

/// Of w = ‖W‖_F/3, a contact's; zero where J = 0, the least w.
SideSlope contact_inverse_mass(const Problem& problem, Index block, int side) {
  const SquareMatrix<double, 3> own = detail::own_delassus(detail::sides_of(problem, block));
  const double size = own.norm();
  if (size == 0) return inverse_mass_slope(problem, block, side, MatrixX<double>::Zero(3, 3));
  return inverse_mass_slope(problem, block, side, own / (3 * size));
}

/// Σ of the products of a slope with changes of J and A.
double along(const SideSlope& slope, const MatrixX<double>& jacobian, const MatrixX<double>& mass) {
  return slope.jacobian.cwiseProduct(jacobian).sum() + slope.mass.cwiseProduct(mass).sum();
}

}  // namespace

void PhysicalNumbers::set_zero(const ProblemData& data) {
  const Problem& problem = data.problem();
  const Index count = data.contact_count();
  free_velocity.setZero(problem.velocity_count());
  velocity.setZero(problem.velocity_count());
  for (auto* numbers : {&friction, &gap, &stiffness, &dissipation_time, &restitution, &approach}) {
    numbers->setZero(count);
  }
  for (auto* numbers : {&regularization, &bias}) numbers->setZero(3 * count);
  mass.clear();
  constraints.clear();
  jacobian.clear();
  other_jacobian.clear();
  for (Index b = 0; b < problem.body_count(); ++b) {
    mass.push_back(MatrixX<double>::Zero(problem.body(b).size, problem.body(b).size));
  }
  for (const Index block : data.contacts()) {
    const bool two = problem.side_count(block) == 2;
    jacobian.push_back(MatrixX<double>::Zero(3, problem.body(problem.side_body(block, 0)).size));
    other_jacobian.push_back(
        two ? MatrixX<double>::Zero(3, problem.body(problem.side_body(block, 1)).size)
            : MatrixX<double>(0, 0));
  }
}

void write_physical(const ProblemData& data, const ProblemDifferential<double>& gradient,
                    PhysicalNumbers& out) {
  const Problem& problem = data.problem();
  out.set_zero(data);
  out.free_velocity = gradient.free_velocity;
  for (Index b = 0; b < problem.body_count(); ++b) out.mass[std::size_t(b)] = gradient.momentum(b);
  for (Index c = 0; c < data.contact_count(); ++c) {
    const Index block = data.contacts()[std::size_t(c)], row = problem.first_row(block);
    const ContactSlopes slopes = contact_slopes(data, block);
    const Vector3<double> by_weight = gradient.regularization.segment<3>(row);
    const Vector3<double> by_bias = gradient.bias_velocity.segment<3>(row);
    out.friction(c) = gradient.friction(block);
    out.regularization.segment<3>(3 * c) = by_weight;
    out.bias.segment<3>(3 * c) = by_bias;
    out.gap(c) = by_bias.z() * slopes.bias_by_gap;
    out.restitution(c) = by_bias.z() * slopes.bias_by_restitution;
    out.approach(c) = by_bias.z() * slopes.bias_by_approach;
    out.stiffness(c) = by_weight.z() * slopes.normal_by_stiffness;
    out.dissipation_time(c) =
        by_bias.z() * slopes.bias_by_dissipation + by_weight.z() * slopes.normal_by_dissipation;
    const double by_inverse_mass = by_weight.z() * slopes.normal_by_inverse_mass +
                                   (by_weight.x() + by_weight.y()) * slopes.tangent_by_inverse_mass;
    for (int s = 0; s < problem.side_count(block); ++s) {
      MatrixX<double>& jacobian = (s == 0 ? out.jacobian : out.other_jacobian)[std::size_t(c)];
      jacobian = gradient.jacobian(block, s);
      if (slopes.bias_by_approach != 0 && follows_bodies(data, block)) {
        const Index body = problem.side_body(block, s);
        const auto [start, size] = problem.body(body);
        out.velocity.segment(start, size) -=
            out.approach(c) * problem.jacobian(block, s).row(2).transpose();
        jacobian.row(2) -= out.approach(c) * problem.velocity_now(body).transpose();
      }
      if (slopes.by_pressing.acts_on(s)) {
        slopes.by_pressing.pull(problem, block, by_bias.z(), jacobian, out);
      }
      if (by_inverse_mass == 0) continue;
      const SideSlope slope = contact_inverse_mass(problem, block, s);
      jacobian += by_inverse_mass * slope.jacobian;
      out.mass[std::size_t(problem.side_body(block, s))] += by_inverse_mass * slope.mass;
    }
  }
  for (const Index block : data.constraints()) {
    const int rows = problem.rows(block);
    const VectorX<double> by_row = constraint_slopes(data, block).transpose() *
                                   gradient.regularization.segment(problem.first_row(block), rows);
    for (int s = 0; s < problem.side_count(block); ++s) {
      out.mass[std::size_t(problem.side_body(block, s))] +=
          row_inverse_masses(problem, block, s, by_row).mass;
    }
    ConstraintNumbers pulled = pull_constraint(data, block, gradient);
    const PressingSlope by_pressing = pressing_slope(data, block);
    for (int s = 0; s < problem.side_count(block); ++s) {
      if (!by_pressing.acts_on(s)) continue;
      by_pressing.pull(problem, block, gradient.bias_velocity(problem.first_row(block) + 2),
                       s == 0 ? pulled.jacobian : pulled.other_jacobian, out);
    }
    out.constraints.push_back(std::move(pulled));
  }
}

void write_differential(const ProblemData& data, const PhysicalNumbers& change,
                        ProblemDifferential<double>& out) {
  const Problem& problem = data.problem();
  out.set_zero(problem);
  out.free_velocity = change.free_velocity;
  for (Index b = 0; b < problem.body_count(); ++b) out.momentum(b) = change.mass[std::size_t(b)];
  for (Index c = 0; c < data.contact_count(); ++c) {
    const Index block = data.contacts()[std::size_t(c)], row = problem.first_row(block);
    const ContactSlopes slopes = contact_slopes(data, block);
    double inverse_mass = 0, approach = change.approach(c), pressed = 0;
    for (int s = 0; s < problem.side_count(block); ++s) {
      const MatrixX<double>& jacobian =
          (s == 0 ? change.jacobian : change.other_jacobian)[std::size_t(c)];
      out.jacobian(block, s) = jacobian;
      if (slopes.bias_by_approach != 0 && follows_bodies(data, block)) {
        const Index body = problem.side_body(block, s);
        const auto [start, size] = problem.body(body);
        approach -= jacobian.row(2).dot(problem.velocity_now(body)) +
                    problem.jacobian(block, s).row(2).dot(change.velocity.segment(start, size));
      }
      if (slopes.by_pressing.acts_on(s)) {
        pressed = slopes.by_pressing.push(problem, block, jacobian, change);
      }
      inverse_mass += along(contact_inverse_mass(problem, block, s), jacobian,
                            change.mass[std::size_t(problem.side_body(block, s))]);
    }
    auto weights = out.regularization.segment<3>(row);
    auto bias = out.bias_velocity.segment<3>(row);
    weights = change.regularization.segment<3>(3 * c);
    bias = change.bias.segment<3>(3 * c);
    out.friction(block) = change.friction(c);
    bias.z() += slopes.bias_by_gap * change.gap(c) +
                slopes.bias_by_dissipation * change.dissipation_time(c) +
                slopes.bias_by_restitution * change.restitution(c) +
                slopes.bias_by_approach * approach + pressed;
    weights.z() += slopes.normal_by_stiffness * change.stiffness(c) +
                   slopes.normal_by_dissipation * change.dissipation_time(c) +
                   slopes.normal_by_inverse_mass * inverse_mass;
    weights.head<2>().array() += slopes.tangent_by_inverse_mass * inverse_mass;
  }
  for (Index c = 0; c < data.constraint_count(); ++c) {
    const Index block = data.constraints()[std::size_t(c)];
    const ConstraintNumbers numbers = change.constraints.empty()
                                          ? zero_constraint(data, block)
                                          : change.constraints[std::size_t(c)];
    push_constraint(data, block, numbers, change.mass, out);
    const PressingSlope by_pressing = pressing_slope(data, block);
    for (int s = 0; s < problem.side_count(block); ++s) {
      if (!by_pressing.acts_on(s)) continue;
      out.bias_velocity(problem.first_row(block) + 2) += by_pressing.push(
          problem, block, s == 0 ? numbers.jacobian : numbers.other_jacobian, change);
    }
  }
}

}  // namespace carom::python
