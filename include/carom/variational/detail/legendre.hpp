// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "carom/core/invalid_input.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/variational/detail/evaluators.hpp"
#include "carom/variational/mechanical_state.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Mass matrix of a system under constraints C v = 0. It applies the inverse that maps a momentum
/// to a velocity, v = first block of [M Cᵀ; C 0]⁻¹ (p, 0). It is an InverseMassLike of the impact
/// room.
template <RealScalar Scalar>
class ConstrainedMass {
 public:
  using scalar_type = Scalar;

  /// Allocates memory for n coordinates and up to `rows` constraints. Cold.
  void prepare(Index size, Index rows) {
    size_ = size;
    matrix_.setZero(size + rows, size + rows);
    work_.setZero(size + rows);
    lu_.prepare(size + rows);
  }

  /// @param mass       M, n×n.
  /// @param gradients  C, its first `rows` rows, linearly independent.
  /// @return  false when the matrix is singular.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  [[nodiscard]] bool factor(const MatrixX<Scalar>& mass, const MatrixX<Scalar>& gradients,
                            Index rows) noexcept {
    CAROM_EXPECTS(mass.rows() == size_ && work_.size() >= size_ + rows);
    rows_ = rows;
    if (rows == 0) return lu_.factor(mass, size_);
    matrix_.topLeftCorner(size_ + rows, size_ + rows).setZero();
    for (Index j = 0; j < size_; ++j) {
      for (Index i = 0; i < size_; ++i) matrix_(i, j) = mass(i, j);
      for (Index k = 0; k < rows; ++k) {
        matrix_(j, size_ + k) = matrix_(size_ + k, j) = gradients(k, j);
      }
    }
    return lu_.factor(matrix_, size_ + rows);
  }

  [[nodiscard]] Index size() const noexcept { return size_; }
  /// Count of constraints of the last factor().
  [[nodiscard]] Index rows() const noexcept { return rows_; }

  /// Solves M v + Cᵀκ = p, C v = b for (v, κ) in place: x is (p, b) before and (v, κ) after, in its
  /// first size() + rows() numbers.
  /// @pre  the last factor() returned true.
  void solve(VectorX<Scalar>& x) const noexcept { lu_.solve(x); }

  /// Maps a momentum to a velocity, in place.
  void apply_inverse(VectorX<Scalar>& momentum) const noexcept {
    CAROM_EXPECTS(momentum.size() == size_);
    for (Index i = 0; i < size_; ++i) work_(i) = momentum(i);
    for (Index k = 0; k < rows_; ++k) work_(size_ + k) = 0;
    solve(work_);
    for (Index i = 0; i < size_; ++i) momentum(i) = work_(i);
  }

  /// κ of the last apply_inverse: M v = p − Cᵀκ.
  [[nodiscard]] Scalar multiplier(Index row) const noexcept { return work_(size_ + row); }

 private:
  Index size_ = 0, rows_ = 0;
  MatrixX<Scalar> matrix_;
  mutable VectorX<Scalar> work_;
  LuFactor<Scalar> lu_;
};

/// Gradients of constraints, the first `count` rows of a matrix.
template <RealScalar Scalar>
struct ConstraintRows {
  const MatrixX<Scalar>& gradients;
  Index count;
};

/// Legendre's map between velocities and momenta, p = ∂L/∂v, its inverse, and the energy p·v − L.
///
/// The problem of the inverse: for a given q, p and t, find v and κ with
///   ∂L/∂v(q, v, t) + Cᵀκ = p,   C v = 0.
/// Notation: M = ∂²L/∂v∂v, C are the gradients of constraints (none for a free system), κ are the
/// multipliers; ν = −κ.
///
/// The steps of Newton's method:
/// 1. Evaluate ∂L/∂v and M at v, and factor K = [M Cᵀ; C 0]. If K of an earlier call at the same
///    (q, t) is known and there are no constraints, use it.
/// 2. Solve K (δv, κ) = (p − ∂L/∂v, −C v); set v ← v + δv.
/// 3. Repeat. The second iteration uses the same K, which is sufficient if L is quadratic in v;
///    from the third on, each iteration factors a new K.
/// The iteration ends if |δv|, or the predicted next |δv|, is at most 16 ε |v|. If |δv| stops
/// decreasing, the result is accepted up to 1e4 times this bound. Constraints may take up most of
/// the momentum, or all of it where they leave no freedom: |v| is then as small as the roundings of
/// what they take up. So under constraints the bound of a |δv| that stops decreasing has for |v| at
/// least the maximum over i of |pᵢ|/Σⱼ|Mᵢⱼ|, which no velocity without constraints would be below.
/// The iteration fails if K is singular, a number is not finite, or the iteration limit is reached.
/// @note  Real-time safe once prepared, if the system's functions are: no allocation, no exception.
template <LagrangianSystemLike System>
class LegendreMap {
 public:
  using Scalar = typename System::scalar_type;

  /// @param rows  largest count of constraint rows in later calls. Cold: allocates.
  void prepare(const System& system, Index rows = 0) {
    const Index n = system.size();
    lagrangian_.prepare(system);
    at_.resize(n);
    mass_.prepare(n, rows);
    change_.setZero(n + rows);
    q_factored_.setZero(n);
    factored_ = false;
  }

  /// p = ∂L/∂v.
  void write_momentum(const System& system, const VectorX<Scalar>& q, const VectorX<Scalar>& v,
                      const Scalar& t, VectorX<Scalar>& momentum) noexcept {
    lagrangian_.write_gradient(system, q, v, t, at_);
    momentum = at_.by_v;
  }

  /// v with ∂L/∂v = p by Newton's method, exact after one iteration if L is quadratic in v.
  /// @param v  in: start, out: result.
  /// @return  false when the mass matrix ∂²L/∂v∂v is singular or a number is not finite.
  [[nodiscard]] bool write_velocity(const System& system, const VectorX<Scalar>& q,
                                    const VectorX<Scalar>& momentum, const Scalar& t,
                                    VectorX<Scalar>& v) noexcept {
    return solve(system, q, momentum, t, {at_.by_vv, 0}, v);
  }

  /// The same under constraints: adds Cᵀν to p such that C v = 0.
  /// @param rows  C.
  [[nodiscard]] bool constrain(const System& system, const VectorX<Scalar>& q, const Scalar& t,
                               const ConstraintRows<Scalar>& rows, VectorX<Scalar>& v,
                               VectorX<Scalar>& momentum) noexcept {
    if (!solve(system, q, momentum, t, rows, v)) return false;
    lagrangian_.write_gradient(system, q, v, t, at_);
    momentum = at_.by_v;
    return true;
  }

  /// Energy p·v − L [J] at a velocity.
  [[nodiscard]] Scalar energy(const System& system, const VectorX<Scalar>& q,
                              const VectorX<Scalar>& v, const Scalar& t) noexcept {
    lagrangian_.write_gradient(system, q, v, t, at_);
    return at_.by_v.dot(v) - at_.value;
  }

  /// M = ∂²L/∂v∂v at the result of the last write_velocity or constrain.
  [[nodiscard]] const MatrixX<Scalar>& mass() const noexcept { return at_.by_vv; }
  /// The same matrix, factored together with the rows of that call.
  [[nodiscard]] const ConstrainedMass<Scalar>& factored_mass() const noexcept { return mass_; }

  /// ν of the last constrain: Cᵀν was added to the momentum.
  [[nodiscard]] Scalar multiplier(Index row) const noexcept {
    return -change_(at_.by_v.size() + row);
  }

 private:
  /// A correction of at most this count of roundings of the largest velocity counts as zero [ε].
  static constexpr int enough_roundings = 16;
  /// Largest count of corrections. Newton's method converges in far fewer, or not at all.
  static constexpr int iteration_limit = 30;
  /// If corrections stop decreasing, they have reached rounding, which the condition of the mass
  /// matrix amplifies. They are accepted up to this multiple of the bound, 4e-11 in double. A
  /// larger multiple accepts iterates that do not converge. Other values were not measured.
  static constexpr double stalled_targets = 1e4;

  /// Newton's method as described above. Returns false if it fails.
  [[nodiscard]] bool solve(const System& system, const VectorX<Scalar>& q,
                           const VectorX<Scalar>& momentum, const Scalar& t,
                           const ConstraintRows<Scalar>& rows, VectorX<Scalar>& v) noexcept {
    using std::abs;
    const Index n = system.size();
    const Scalar enough = enough_roundings * std::numeric_limits<Scalar>::epsilon();
    Scalar before = (std::numeric_limits<Scalar>::max)();
    change_.tail(change_.size() - n).setZero();
    const bool known = rows.count == 0 && factored_ && t == t_factored_ && q == q_factored_;
    factored_ = false;
    for (int iteration = 0; iteration < iteration_limit; ++iteration) {
      if (iteration == 1 || (iteration == 0 && known)) {
        lagrangian_.write_gradient(system, q, v, t, at_);
      } else {
        lagrangian_.write_curvature(system, q, v, t, at_);
        if (!mass_.factor(at_.by_vv, rows.gradients, rows.count)) return false;
      }
      write_residual(momentum, rows, v);
      mass_.solve(change_);
      Scalar size = 0, largest = 0;
      for (Index i = 0; i < n; ++i) {
        v(i) += change_(i);
        size = (std::max)(size, Scalar(abs(change_(i))));
        largest = (std::max)(largest, Scalar(abs(v(i))));
        if (!(change_(i) - change_(i) == Scalar(0))) return false;
      }
      // The next correction is smaller than this one at least by the factor size/before.
      const Scalar ahead = iteration == 0 ? size : size * (size / before);
      if (size <= enough * largest || ahead <= enough * largest) {
        factored_ = rows.count == 0;
        q_factored_ = q;
        t_factored_ = t;
        return true;
      }
      if (iteration > 1 && size >= before) {
        if (rows.count > 0) largest = (std::max)(largest, least_free_velocity(momentum));
        return size <= Scalar(stalled_targets) * enough * largest;
      }
      before = size;
    }
    return false;
  }

  /// Writes the residual of the velocity, (p − ∂L/∂v, −C v), to change_.
  void write_residual(const VectorX<Scalar>& momentum, const ConstraintRows<Scalar>& rows,
                      const VectorX<Scalar>& v) noexcept {
    const Index n = at_.by_v.size();
    for (Index i = 0; i < n; ++i) change_(i) = momentum(i) - at_.by_v(i);
    for (Index r = 0; r < rows.count; ++r) {
      change_(n + r) = 0;
      for (Index j = 0; j < n; ++j) change_(n + r) -= rows.gradients(r, j) * v(j);
    }
  }

  /// A lower bound of the largest |vⱼ| with M v = p: |pᵢ| ≤ Σⱼ|Mᵢⱼ| · max |vⱼ|.
  [[nodiscard]] Scalar least_free_velocity(const VectorX<Scalar>& momentum) const noexcept {
    using std::abs;
    // Below the normal numbers a rounding is no longer a share of its number.
    Scalar least = (std::numeric_limits<Scalar>::min)() / std::numeric_limits<Scalar>::epsilon();
    for (Index i = 0; i < momentum.size(); ++i) {
      const Scalar row = at_.by_vv.row(i).cwiseAbs().sum();
      if (row > Scalar(0)) least = (std::max)(least, Scalar(abs(momentum(i)) / row));
    }
    return least;
  }

  LagrangianEvaluator<System> lagrangian_;
  LagrangianDerivatives<Scalar> at_;
  VectorX<Scalar> change_;
  ConstrainedMass<Scalar> mass_;
  /// whether mass_ is factored without rows at the place q_factored_, t_factored_
  bool factored_ = false;
  VectorX<Scalar> q_factored_;
  Scalar t_factored_ = 0;
};

namespace detail {

/// The fault of the length or the entries of a system's vector; empty if there is none.
template <LagrangianSystemLike System>
[[nodiscard]] Fault coordinate_fault(const System& system, const char* name,
                                     const VectorX<typename System::scalar_type>& vector) {
  if (vector.size() != system.size()) {
    return fault(std::string(name) + " entries", "as many as the system has coordinates",
                 vector.size());
  }
  return finite_fault(name, vector);
}

/// The fault of a state of a system; empty if there is none.
template <LagrangianSystemLike System>
[[nodiscard]] Fault state_fault(const System& system,
                                const MechanicalState<typename System::scalar_type>& state) {
  if (Fault f = coordinate_fault(system, "configuration", state.q); !f.empty()) return f;
  if (Fault f = coordinate_fault(system, "momentum", state.momentum); !f.empty()) return f;
  if (!is_finite(state.time)) return fault("time", "a finite number", state.time);
  return {};
}

/// State at a configuration and a velocity: p = ∂L/∂v.
/// @note  Cold: allocates, throws std::invalid_argument naming the entry.
template <LagrangianSystemLike System>
[[nodiscard]] MechanicalState<typename System::scalar_type> make_state(
    const System& system, LegendreMap<System>& legendre,
    const VectorX<typename System::scalar_type>& q,
    const VectorX<typename System::scalar_type>& velocity, typename System::scalar_type time) {
  using Scalar = typename System::scalar_type;
  reject_if(coordinate_fault(system, "velocity", velocity));
  MechanicalState<Scalar> state{time, q, VectorX<Scalar>::Zero(system.size())};
  reject_if(state_fault(system, state));
  legendre.write_momentum(system, q, velocity, time, state.momentum);
  if (!state.momentum.allFinite()) {
    reject_if(finite_fault("momentum at the configuration", state.momentum));
  }
  return state;
}

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
