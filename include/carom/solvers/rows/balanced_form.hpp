// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/body_touches.hpp"
#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes the problem in impulses whose exact rays are those of a problem given by bodies, and that
/// knows neither the masses nor v*, on which no such ray depends: q = −v̂, and each body's Jᵀ in a
/// unit of its own. What the gaps ask for is reduced by its rounding. A contact that gives way asks
/// for nothing and resists every ray.
template <RealScalar Scalar>
class BalancedForm {
 public:
  explicit BalancedForm(const ContactProblem<Scalar>& problem) : problem_(problem) {
    touches_.gather(problem);
  }

  /// The units in which no row of a body is more than 1.
  [[nodiscard]] VectorX<Scalar> row_units() const {
    VectorX<Scalar> units = VectorX<Scalar>::Zero(problem_.body_count());
    problem_.for_each_block([&](const auto& block) {
      for (int s = 0; s < block.side_count(); ++s) {
        const auto columns = block.whitened_columns(s);
        Scalar& unit = units(block.side(s).body);
        for (int r = 0; r < block.rows(); ++r) {
          unit = (std::max)(unit, Scalar(columns.col(r).norm()));
        }
      }
    });
    return (units.array() > Scalar(0)).select(units, Scalar(1));
  }

  /// @param rounding  of v̂, by rows.
  /// @param units     of ‖J_kᵀ‖_{A⁻¹}, by bodies, > 0.
  void write(const VectorX<Scalar>& rounding, const VectorX<Scalar>& units,
             DelassusProblem<Scalar>& dual) const {
    dual.reset();
    problem_.for_each_block([&](const auto& block) {
      RowNumbers<Scalar> load = RowNumbers<Scalar>::Zero(), weights = load;
      if (!block.law().rigid) weights.head(block.rows()).setOnes();
      const ImpulseSet<Scalar> set = block.set();
      for (int r = 0; block.law().rigid && r < block.rows(); ++r) {
        load(r) = -least_demand(set, r, Scalar(block.bias_velocity()(r)),
                                rounding(block.first_row() + r));
      }
      dual.add_contact(set, load.head(block.rows()), weights);
    });
    for (Index b = 0; b < problem_.body_count(); ++b) add_body(b, units(b), dual);
    dual.assemble();
  }

 private:
  /// v̂ of a row as far as it is sure. A normal asks for less; a row that may press either way asks
  /// for nothing where it is not sure which.
  [[nodiscard]] static Scalar least_demand(const ImpulseSet<Scalar>& set, int row,
                                           const Scalar& bias, const Scalar& rounding) noexcept {
    const bool normal = row == normal_row(set.shape);
    if (normal) return bias - rounding;
    if (bias > Scalar(0)) return (std::max)(Scalar(bias - rounding), Scalar(0));
    return (std::min)(Scalar(bias + rounding), Scalar(0));
  }
  [[nodiscard]] MatrixX<Scalar> rows_of(const BodyTouch& touch, const Scalar& unit) const {
    MatrixX<Scalar> rows;
    problem_.visit(touch.block, [&](const auto& block) {
      rows = block.whitened_columns(touch.side).transpose() / unit;
    });
    return rows;
  }
  void add_body(Index body, const Scalar& unit, DelassusProblem<Scalar>& dual) const {
    const auto touches = touches_.of(body);
    for (auto a = touches.begin(); a != touches.end(); ++a) {
      const MatrixX<Scalar> left = rows_of(*a, unit);
      for (auto b = touches.begin(); b <= a; ++b) {
        const MatrixX<Scalar> product = left.lazyProduct(rows_of(*b, unit).transpose());
        dual.add_coupling(a->block, b->block, product);
      }
    }
  }

  const ContactProblem<Scalar>& problem_;
  BodyTouches touches_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
