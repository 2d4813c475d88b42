// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/adapters/detail/mujoco_laws.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// How MuJoCo's integrator takes the forces that depend on the velocity.
enum class MujocoIntegration {
  explicit_forces,  ///< As they are before the step.
  damped_joints,    ///< Damping of the joints at the end of the step: Euler's integrator.
  implicit,         ///< Their derivative as well: implicitfast.
};

/// The law in which a step of MuJoCo is solved.
struct MujocoTerms {
  bool coulomb;       ///< otherwise MuJoCo's own law
  bool soft_normal;   ///< for Coulomb's law: normals with MuJoCo's R and a_ref
  bool rigid_rows;    ///< for Coulomb's law: limits, equalities and friction loss do not yield
  double correction;  ///< for Coulomb's law with rigid normals [-]
  MujocoIntegration integration;  ///< for Coulomb's law: what A contains
};

/// A ContactProblem for the instant in mjData, and the conversion of its answer.
///
/// Under MuJoCo's law velocities are relative to v before the step, so that they are δt a without
/// cancellation: A = M, v* = δt a_smooth, v̂ = δt a_ref. Under Coulomb's law they are those at the
/// end of MuJoCo's step: A (v* − v) = δt f_smooth, where A = M + δt D with the damping D of the
/// joints for Euler's integrator, and A = M − δt ∂f_smooth/∂v for the implicit one.
class MujocoProblem {
 public:
  /// Writes the problem.
  /// @pre   Positions, velocities, constraints and smooth forces are computed and finite, and M is
  ///        positive definite.
  /// @return  false if a law cannot be stated: friction bounded by a normal that moves nothing.
  /// @note  Allocates only for a step larger than every step before.
  template <typename Model, typename Data>
  bool write(const Model& model, const Data& data, const MujocoTerms& terms) {
    blocks_.read(model, data);
    problem_.reset(model.opt.timestep);
    for (Index b = 0; b < blocks_.body_count(); ++b) add_body(model, data, terms, b);
    laws_.clear();
    const MujocoLawWriter<Model, Data> writer(model, data, !terms.coulomb);
    for (Index b = 0; b < blocks_.blocks().size(); ++b) {
      if (!add_block(model, data, terms, writer, b)) return false;
    }
    return true;
  }

  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  [[nodiscard]] const Sequence<MujocoBlock>& blocks() const noexcept { return blocks_.blocks(); }
  [[nodiscard]] const Sequence<MujocoRowLaw>& laws() const noexcept { return laws_; }
  /// Start of the impulses of a law in the problem's impulses.
  [[nodiscard]] Index first_impulse(const MujocoRowLaw& law) const noexcept {
    return problem_.first_row(law.number);
  }

  /// The velocities of the problem from numbers per degree of freedom, times a factor.
  template <typename Model>
  void gather(const Model& model, const MujocoNumber* given, double factor,
              VectorX<double>& velocity) const noexcept {
    for_each_dof(model, [&](int dof, Index at) { velocity(at) = factor * given[dof]; });
  }
  /// Numbers per degree of freedom from the velocities of the problem, times a factor, for the
  /// degrees of freedom in the problem.
  template <typename Model>
  void scatter(const Model& model, const VectorX<double>& velocity, double factor,
               MujocoNumber* result) const noexcept {
    for_each_dof(model, [&](int dof, Index at) { result[dof] = factor * velocity(at); });
  }
  /// MuJoCo's forces by rows, f = Cᵀ γ/δt; zero for rows without a law.
  template <typename Data>
  void write_forces(const Data& data, const VectorX<double>& impulse,
                    MujocoNumber* force) const noexcept {
    std::fill_n(force, data.nefc, 0.0);
    for (const MujocoRowLaw& law : laws_) {
      const MujocoBlock& block = blocks_.blocks()[law.block];
      const Index first = first_impulse(law);
      for (int r = 0; r < law.rows(); ++r) {
        const double share = impulse(first + r) / problem_.time_step();
        for (int k = 0; k < block.rows; ++k) {
          force[block.first_row + k] += law.combination(r, k) * share;
        }
      }
    }
  }

 private:
  template <typename Model, typename Visit>
  void for_each_dof(const Model& model, const Visit& visit) const noexcept {
    for (int dof = 0; dof < model.nv; ++dof) {
      const int body = blocks_.body_of(dof);
      if (body == MujocoBlocks::none) continue;
      visit(dof, problem_.body(body).start + blocks_.place_of(dof));
    }
  }

  template <typename Model, typename Data>
  void add_body(const Model& model, const Data& data, const MujocoTerms& terms, Index body) {
    const int size = blocks_.size_of(body);
    mass_.grow(size, size);
    free_.grow(size);
    mass_.setZero();
    bool damped = false;
    for (int place = 0; place < size; ++place) {
      const int dof = blocks_.dof(body, place);
      for_each_inertia(model, data, dof, [&](int other, MujocoNumber number) {
        const int column = blocks_.place_of(other);
        mass_(place, column) = mass_(column, place) = number;
      });
      damped = damped || model.dof_damping[dof] > 0;
    }
    const double step = model.opt.timestep;
    const bool joints = terms.integration == MujocoIntegration::damped_joints && damped;
    const bool forces = terms.integration == MujocoIntegration::implicit;
    const bool implicit = terms.coulomb && (joints || forces);
    if (implicit && forces) subtract_derivative(model, data, body);
    for (int place = 0; place < size; ++place) {
      const int dof = blocks_.dof(body, place);
      if (implicit && joints) mass_(place, place) += step * model.dof_damping[dof];
      free_(place) = step * (implicit ? data.qfrc_smooth[dof] : data.qacc_smooth[dof]);
    }
    if (implicit) {
      factor_.grow(size, size);
      factor_ = mass_;
      static_cast<void>(factor_cholesky(factor_.data(), Index(size), Index(size)));
      solve_lower(factor_.data(), Index(size), Index(size), free_.data());
      solve_lower_transposed(factor_.data(), Index(size), Index(size), free_.data());
    }
    if (terms.coulomb) {
      for (int place = 0; place < size; ++place) {
        free_(place) += data.qvel[blocks_.dof(body, place)];
      }
    }
    problem_.add_body(mass_, free_);
  }

  /// M − δt ∂f_smooth/∂v, whose halves MuJoCo makes equal for implicitfast.
  template <typename Model, typename Data>
  void subtract_derivative(const Model& model, const Data& data, Index body) {
    for (int place = 0; place < blocks_.size_of(body); ++place) {
      for_each_derivative(model, data, blocks_.dof(body, place), [&](int other, double number) {
        if (blocks_.body_of(other) != body) return;
        const int column = blocks_.place_of(other);
        const double half = model.opt.timestep * number / 2;
        mass_(place, column) -= half;
        mass_(column, place) -= half;
      });
    }
  }

  template <typename Model, typename Data>
  bool add_block(const Model& model, const Data& data, const MujocoTerms& terms,
                 const MujocoLawWriter<Model, Data>& writer, Index number) {
    const MujocoBlock& block = blocks_.blocks()[number];
    const bool contact = block.is_contact();
    if (!(terms.coulomb && contact) && block.type != MujocoKind::elliptic_contact) {
      for (int offset = 0; offset < block.rows; offset += 6) {
        if (terms.rigid_rows && !contact) {
          writer.write_rigid_rows(block, offset, terms.correction, law_);
        } else {
          writer.write_rows(block, offset, law_);
        }
        pose(model, data, number);
      }
      return true;
    }
    if (terms.coulomb && !terms.soft_normal && !writer.may_close(block)) return true;
    if (terms.coulomb) {
      writer.write_coulomb(block, terms.soft_normal, terms.correction, law_);
    } else {
      writer.write_elliptic(block, law_);
    }
    if (law_.solvable) pose(model, data, number);
    // Without softness a normal that moves nothing transmits no force.
    return law_.solvable || terms.rigid_rows;
  }

  /// Adds law_ with its Jacobian.
  template <typename Model, typename Data>
  void pose(const Model& model, const Data& data, Index number) {
    if (law_.rows() == 0) return;
    const MujocoBlock& block = blocks_.blocks()[number];
    write_jacobian(model, data, block);
    law_.block = number;
    const int first = block.bodies[0], second = block.bodies[1];
    const bool alone = second == MujocoBlocks::none;
    law_.number = alone ? problem_.add_constraint(first, sides_[0], law_.law)
                        : problem_.add_constraint(first, sides_[0], second, sides_[1], law_.law);
    laws_.push_back(law_);
  }

  /// C J_b, a matrix per body.
  template <typename Model, typename Data>
  void write_jacobian(const Model& model, const Data& data, const MujocoBlock& block) {
    for (int side = 0; side < 2; ++side) {
      if (block.bodies[side] == MujocoBlocks::none) continue;
      sides_[side].grow(law_.rows(), blocks_.size_of(block.bodies[side]));
      sides_[side].setZero();
    }
    for (int k = 0; k < block.rows; ++k) {
      const auto shares = law_.combination.col(k);
      if (shares.isZero(0)) continue;
      visit_mujoco_row(model, data, block.first_row + k, [&](int dof, MujocoNumber entry) {
        const int side = blocks_.body_of(dof) == block.bodies[0] ? 0 : 1;
        for (int r = 0; r < law_.rows(); ++r) {
          sides_[side](r, blocks_.place_of(dof)) += shares(r) * entry;
        }
      });
    }
  }

  MujocoBlocks blocks_;
  ContactProblem<double> problem_{1.0};
  Sequence<MujocoRowLaw> laws_;
  MujocoRowLaw law_{};
  Growing<MatrixX<double>> mass_, factor_, sides_[2];
  Growing<VectorX<double>> free_;
};

/// Impulses of the step before, identified by the geometries or items between which they acted.
/// They are the warm start of solvers in impulses.
class MujocoMemory {
 public:
  /// Stores the impulses of a step.
  /// @note  Allocates only for a step larger than every step before.
  template <typename Data>
  void keep(const Data& data, const MujocoProblem& posed, const VectorX<double>& impulse) {
    const Sequence<MujocoRowLaw>& laws = posed.laws();
    kept_.resize(laws.size());
    for (Index i = 0; i < laws.size(); ++i) {
      kept_[i] = {key_of(data, posed, laws[i]), RowNumbers<double>::Zero()};
      const Index first = posed.first_impulse(laws[i]);
      for (int r = 0; r < laws[i].rows(); ++r) kept_[i].impulse(r) = impulse(first + r);
    }
  }

  /// Writes the known impulses of a step, and zero for the others.
  /// @param impulse  of the problem's size.
  /// @return  whether any impulse is known.
  template <typename Data>
  [[nodiscard]] bool recall(const Data& data, const MujocoProblem& posed,
                            VectorX<double>& impulse) const noexcept {
    impulse.setZero();
    bool known = false;
    Index next = 0;  // the order seldom changes, so the search continues after the last one found
    for (const MujocoRowLaw& law : posed.laws()) {
      const Key key = key_of(data, posed, law);
      for (Index tried = 0; tried < kept_.size(); ++tried) {
        const Index at = (next + tried) % kept_.size();
        if (!(kept_[at].key == key)) continue;
        const Index first = posed.first_impulse(law);
        for (int r = 0; r < law.rows(); ++r) impulse(first + r) = kept_[at].impulse(r);
        known = true;
        next = at + 1;
        break;
      }
    }
    return known;
  }

 private:
  struct Key {
    int type, first, second;  ///< geometries of a contact; otherwise the number of its item
    int shape, rows;
    bool operator==(const Key&) const = default;
  };
  struct Kept {
    Key key;
    RowNumbers<double> impulse;
  };

  template <typename Data>
  [[nodiscard]] static Key key_of(const Data& data, const MujocoProblem& posed,
                                  const MujocoRowLaw& law) noexcept {
    const MujocoBlock& block = posed.blocks()[law.block];
    Key key{block.type, block.id, 0, int(law.law.set.shape), law.rows()};
    if (block.is_contact()) {
      key.first = data.contact[block.id].geom1;
      key.second = data.contact[block.id].geom2;
    }
    return key;
  }

  Sequence<Kept> kept_;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
