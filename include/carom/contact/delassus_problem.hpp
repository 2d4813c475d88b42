// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include <Eigen/Core>

#include "carom/contact/delassus_operator.hpp"
#include "carom/contact/detail/delassus_blocks.hpp"
#include "carom/contact/detail/delassus_faults.hpp"
#include "carom/contact/weighted_block.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

template <RealScalar Scalar>
class DelassusForm;
template <RealScalar Scalar>
class DelassusIslands;

/// A contact problem in impulses: find γ whose contacts each obey their law with u = (W + R) γ + q.
/// W = J A⁻¹ Jᵀ is given as blocks; the bodies are unknown.
///
/// A contact is any block of one to six rows with an ImpulseSet: friction in space (t₁, t₂, n) or
/// in a plane (t, n), with torsion or rolling; bilateral rows and limits are intervals. W may be
/// singular, and indefinite by rounding. R may be zero: rigid contact.
///
/// ```
/// carom::DelassusProblem<double> problem;
/// problem.add_contact(carom::friction_impulses(0.5), load);   // q of the three rows
/// problem.add_coupling(0, 0, inverse_mass);  // W_ij, and its transpose as W_ji
/// problem.assemble();
/// ```
/// Rows are stored in parts of three, such that W consists of 3 × 3 blocks. Rows that a contact
/// does not have are empty: a planar contact uses the first and last row of its part. A W that is
/// too large to store is given by its diagonal blocks and a function, see set_operator().
/// @note  Cold: add_ functions may allocate and throw std::invalid_argument, naming the item.
///        reset() does not free memory.
template <RealScalar Scalar>
class DelassusProblem : public detail::DelassusRows<Scalar> {
  using Base = detail::DelassusRows<Scalar>;
  template <RealScalar>
  friend class DelassusForm;
  template <RealScalar>
  friend class DelassusIslands;

 public:
  using scalar_type = Scalar;
  using Block = SquareMatrix<Scalar, 3>;
  using Rows = RowNumbers<Scalar>;
  using Base::count, Base::row_count, Base::part_count, Base::first_row, Base::first_part;
  using Base::parts, Base::place_of;
  using typename Base::Place;

  /// One block of W in its row of parts.
  using Neighbour = typename detail::DelassusBlocks<Scalar>::Neighbour;

  /// Removes all contacts and W. The memory stays allocated.
  void reset() noexcept {
    this->clear_rows();
    blocks_.clear();
    operator_ = {};
    asymmetry_ = 0;
  }

  /// Adds a contact without coupling.
  /// @param set   its impulses; γ and u are finite numbers of N·s and m/s, or moments and rates.
  /// @param load  q of its rows: u for zero impulses.
  /// @param regularization  R of its rows [1/kg, 1/(kg·m²)], ≥ 0; omitted for a rigid contact.
  /// @return  index of the contact.
  template <typename LoadType>
  Index add_contact(const ImpulseSet<Scalar>& set, const Eigen::MatrixBase<LoadType>& load,
                    const Rows& regularization = Rows::Zero()) {
    const Rows numbers = rows_of(load);
    detail::reject_if(
        detail::delassus_contact_fault(count(), set, load.size(), numbers, regularization));
    return this->append_rows(set, numbers, regularization);
  }
  /// The fault for which add_contact would throw; empty if there is none.
  template <typename LoadType>
  [[nodiscard]] Fault check_contact(const ImpulseSet<Scalar>& set,
                                    const Eigen::MatrixBase<LoadType>& load,
                                    const Rows& regularization = Rows::Zero()) const {
    return detail::delassus_contact_fault(count(), set, load.size(), rows_of(load), regularization);
  }

  /// Adds a block to W_ij, and its transpose to W_ji if i ≠ j.
  /// @param block  rows of i × rows of j.
  template <typename MatrixType>
  void add_coupling(Index i, Index j, const Eigen::MatrixBase<MatrixType>& block) {
    const auto& kept = detail::in_memory(block);
    const Entries entries = detail::entries_of(kept);
    detail::reject_if(detail::delassus_block_fault(*this, i, j, entries));
    append_coupling(i, j, entries);
  }
  /// The fault for which add_coupling would throw; empty if there is none.
  template <typename MatrixType>
  [[nodiscard]] Fault check_coupling(Index i, Index j,
                                     const Eigen::MatrixBase<MatrixType>& block) const {
    const auto& kept = detail::in_memory(block);
    return detail::delassus_block_fault(*this, i, j, detail::entries_of(kept));
  }

  /// Adds all of W in the order of the rows: a sparse matrix of Eigen, or a similar type. The
  /// symmetric part is added; asymmetry() returns the size of the rest.
  template <typename SparseType>
  void add_matrix(const SparseType& matrix);

  /// Makes W a function. The blocks W_ii of each contact with itself must still be added: they are
  /// the metric of ProjectedGradient and certify(), which need no other block. Other solvers need
  /// all blocks of W.
  /// @param product  its context must outlive the use of the problem.
  void set_operator(const DelassusOperator<Scalar>& product) {
    if (product.multiply == nullptr) detail::reject_if("operator: expected a function");
    operator_ = product;
  }
  /// Whether W is a function. If so, not all its blocks are stored.
  [[nodiscard]] bool matrix_free() const noexcept { return operator_.multiply != nullptr; }
  [[nodiscard]] const DelassusOperator<Scalar>& product() const noexcept { return operator_; }

  /// Sorts all added items. Call it after the last addition and before any use.
  void assemble();

  /// The fault that makes an assembled problem unsolvable; empty if there is none. It is a contact
  /// whose own block, of one part or two, is not symmetric positive semidefinite up to rounding.
  [[nodiscard]] Fault check() const;

  /// Whether all stored numbers of W and q are finite. Sums of added blocks may not be; W and q of
  /// a problem given by bodies may be beyond the range of the type though its own numbers are not.
  [[nodiscard]] bool is_finite() const noexcept;

  /// W_ii + R of a part.
  [[nodiscard]] const Block& diagonal(Index part) const noexcept {
    return this->parts_[part].diagonal;
  }
  /// Blocks of W in the rows of a part, by ascending part, including its own block; without R.
  [[nodiscard]] const Neighbour* begin(Index part) const noexcept { return blocks_.begin(part); }
  [[nodiscard]] const Neighbour* end(Index part) const noexcept { return blocks_.end(part); }
  /// Count of stored 3 × 3 blocks of W.
  [[nodiscard]] Index coupling_count() const noexcept { return blocks_.size(); }
  /// Largest |W − Wᵀ| of the argument of add_matrix(), relative to the largest |W|.
  [[nodiscard]] Scalar asymmetry() const noexcept { return asymmetry_; }

  /// Mean of the diagonal of W + R over the rows [1/kg].
  [[nodiscard]] Scalar mean_diagonal() const noexcept { return mean_diagonal_; }
  /// The same, but 1 if the mean is not positive, such that division by it is valid. It is w, the
  /// factor between impulses and velocities where the two are compared [1/kg].
  [[nodiscard]] Scalar inverse_mass_scale() const noexcept {
    return mean_diagonal_ > Scalar(0) ? mean_diagonal_ : Scalar(1);
  }
  /// ‖q‖.
  [[nodiscard]] Scalar load_norm() const noexcept { return load_norm_; }

  /// One part of u = (W + R) γ + q.
  /// @param impulse  γ in parts, 3 part_count() numbers.
  [[nodiscard]] Vector3<Scalar> part_velocity(Index part,
                                              std::span<const Scalar> impulse) const noexcept {
    Vector3<Scalar> velocity = part_product(part, impulse);
    add_own_velocity(part, impulse.data() + 3 * part, velocity.data());
    return velocity;
  }
  /// One part of W γ.
  [[nodiscard]] Vector3<Scalar> part_product(Index part,
                                             std::span<const Scalar> impulse) const noexcept {
    CAROM_EXPECTS(Index(impulse.size()) == 3 * part_count());
    Scalar sum[3] = {Scalar(0), Scalar(0), Scalar(0)};
    for (const Neighbour* n = begin(part); n != end(part); ++n) {
      const Scalar* const x = impulse.data() + 3 * Index(n->part);
      const Scalar* const w = n->matrix.data();
      for (int r = 0; r < 3; ++r) sum[r] += w[r] * x[0] + w[r + 3] * x[1] + w[r + 6] * x[2];
    }
    return {sum[0], sum[1], sum[2]};
  }

  /// u = (W + R) γ + q for all parts.
  /// @param impulse, velocity  in parts, 3 part_count() numbers each; not the same.
  void write_velocities(std::span<const Scalar> impulse,
                        std::span<Scalar> velocity) const noexcept {
    CAROM_EXPECTS(Index(impulse.size()) == 3 * part_count());
    CAROM_EXPECTS(velocity.size() == impulse.size());
    if (matrix_free()) operator_.multiply(operator_.context, impulse, velocity);
    for (Index p = 0; p < part_count(); ++p) {
      Scalar* const u = velocity.data() + 3 * p;
      if (!matrix_free()) {
        const Vector3<Scalar> product = part_product(p, impulse);
        for (int r = 0; r < 3; ++r) u[r] = product(r);
      }
      add_own_velocity(p, impulse.data() + 3 * p, u);
    }
  }

 private:
  using Entries = detail::MatrixEntries<Scalar>;

  /// The load of a contact. A load that is too long is truncated and rejected.
  template <typename LoadType>
  [[nodiscard]] static Rows rows_of(const Eigen::MatrixBase<LoadType>& load) {
    Rows result = Rows::Zero();
    for (Index r = 0; r < (std::min)(load.size(), Index(6)); ++r) result(r) = load(r);
    return result;
  }
  /// Adds a checked block.
  void append_coupling(Index i, Index j, const Entries& block) {
    for (int p = 0; p < parts(i); ++p) {
      for (int o = 0; o < parts(j); ++o) {
        Block padded = Block::Zero(), mirrored = padded;
        for (int c = 3 * o; c < (std::min)(3 * o + 3, int(block.columns)); ++c) {
          for (int r = 3 * p; r < (std::min)(3 * p + 3, int(block.rows)); ++r) {
            const int row = place_of(i, r).row, column = place_of(j, c).row;
            padded(row, column) = mirrored(column, row) = block(r, c);
          }
        }
        blocks_.add(first_part(i) + p, first_part(j) + o, padded);
        if (i != j) blocks_.add(first_part(j) + o, first_part(i) + p, mirrored);
      }
    }
  }
  /// Adds R γ + q of a part.
  void add_own_velocity(Index part, const Scalar* impulse, Scalar* velocity) const noexcept {
    const Vector3<Scalar>&q = this->load(part), &weights = this->regularization(part);
    for (int r = 0; r < 3; ++r) velocity[r] += q(r) + weights(r) * impulse[r];
  }

  detail::DelassusBlocks<Scalar> blocks_;  ///< W
  DelassusOperator<Scalar> operator_;
  Scalar asymmetry_ = 0, mean_diagonal_ = 0, load_norm_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
template <typename SparseType>
void DelassusProblem<Scalar>::add_matrix(const SparseType& matrix) {
  if (matrix.rows() != row_count() || matrix.cols() != row_count()) {
    detail::reject_if(detail::fault("W: size", std::to_string(row_count()).c_str(),
                                    matrix.rows() != row_count() ? matrix.rows() : matrix.cols()));
  }
  const auto for_each_entry = [&](auto&& visit) {
    for (Index k = 0; k < matrix.outerSize(); ++k) {
      for (typename SparseType::InnerIterator it(matrix, k); it; ++it) {
        const Index i = this->contact_of_row(it.row()), j = this->contact_of_row(it.col());
        visit(place_of(i, int(it.row() - first_row(i))), place_of(j, int(it.col() - first_row(j))),
              it);
      }
    }
  };
  for_each_entry([&](const Place&, const Place&, const auto& it) {
    if (detail::is_finite(it.value())) return;
    detail::reject_if(
        detail::fault(detail::entry("W", it.row(), it.col()), "a finite number", it.value()));
  });
  blocks_.add_symmetric_part(part_count(), for_each_entry);
  assemble();
  using std::abs;
  Scalar largest = 0, skew = 0;
  for_each_entry([&](const Place& at, const Place& from, const auto& it) {
    const Scalar kept = blocks_.find(at.part, from.part)->matrix(at.row, from.row);
    largest = (std::max)(largest, Scalar(abs(it.value())));
    skew = (std::max)(skew, Scalar(2 * abs(it.value() - kept)));
  });
  asymmetry_ = largest > Scalar(0) ? skew / largest : Scalar(0);
}

template <RealScalar Scalar>
void DelassusProblem<Scalar>::assemble() {
  blocks_.assemble(part_count());
  Scalar trace = 0, squared = 0;
  for (Index part = 0; part < part_count(); ++part) {
    auto& p = this->parts_[part];
    p.diagonal = blocks_.find(part, part)->matrix;
    for (int r = 0; r < 3; ++r) {
      p.diagonal(r, r) += p.regularization(r);
      trace += p.diagonal(r, r);
    }
    squared += detail::dot(p.load.data(), p.load.data(), 3);
  }
  mean_diagonal_ = row_count() > 0 ? trace / Scalar(row_count()) : Scalar(0);
  using std::sqrt;
  load_norm_ = sqrt(squared);
}

template <RealScalar Scalar>
bool DelassusProblem<Scalar>::is_finite() const noexcept {
  for (Index part = 0; part < part_count(); ++part) {
    if (!detail::all_finite(this->load(part).data(), 3)) return false;
    for (const Neighbour* n = begin(part); n != end(part); ++n) {
      if (!detail::all_finite(n->matrix.data(), 9)) return false;
    }
  }
  return true;
}

template <RealScalar Scalar>
Fault DelassusProblem<Scalar>::check() const {
  for (Index i = 0; i < count(); ++i) {
    if (detail::is_semidefinite(detail::own_block(*this, i))) continue;
    return "contact " + std::to_string(i) +
           ": expected a symmetric positive semidefinite own block of W";
  }
  return {};
}

}  // namespace CAROM_ABI
}  // namespace carom
