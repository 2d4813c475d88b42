// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include <Eigen/Core>

#include "carom/contact/bodies.hpp"
#include "carom/contact/concepts.hpp"
#include "carom/contact/detail/inverse_mass.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The type that holds the numbers of a law.
template <typename Law, typename Scalar>
using LawNumbers = std::conditional_t<FrictionContactLaw<Law, Scalar>, WeightedContact<Scalar>,
                                      WeightedBlock<Scalar>>;

/// A body and J, as add_ functions are given them.
template <typename MatrixType>
struct BlockSide {
  Index body;
  const Eigen::MatrixBase<MatrixType>& jacobian;
};

/// The bodies of a block and the sizes of its Jacobians.
struct BlockSizes {
  int count;  ///< of the sides: 1 or 2
  std::array<Index, 2> bodies, rows, columns;
};

/// Says what is wrong with these; empty where nothing is.
template <RealScalar Scalar>
[[nodiscard]] Fault block_size_fault(const Bodies<Scalar>& all, const std::string& item,
                                     bool friction_contact, const BlockSizes& sizes) {
  for (std::size_t s = 0; s < std::size_t(sizes.count); ++s) {
    const Index body = sizes.bodies[s];
    Fault index = body_index_fault(item, body, all.body_count());
    if (!index.empty()) return index;
    Fault size = jacobian_size_fault(item, friction_contact, sizes.rows[s], sizes.columns[s],
                                     all.body(body).size);
    if (!size.empty()) return size;
  }
  if (sizes.count == 1) return {};
  if (sizes.bodies[0] == sizes.bodies[1]) {
    return fault(item + ": second body", "a body other than the first", sizes.bodies[1]);
  }
  if (sizes.rows[0] == sizes.rows[1]) return {};
  return fault(item + ": second Jacobian rows", std::to_string(sizes.rows[0]).c_str(),
               sizes.rows[1]);
}

/// A law that bounces with the speed at which its rows closed before the step.
template <typename Law>
concept BouncingLaw = requires(const Law& law) {
  law.restitution.has_value();
  law.approach.has_value();
  law.surface_velocity;
};

/// Gives a law that bounces its approach, where it has none, from the bodies' velocities before the
/// step.
/// @return  what is wrong where these are not known; empty where nothing is.
template <RealScalar Scalar, BouncingLaw Law, typename... Sides>
[[nodiscard]] Fault find_approach(const Bodies<Scalar>& all, const std::string& item, Law& law,
                                  const Sides&... sides) {
  if (!law.restitution || !(*law.restitution > Scalar(0)) || law.approach) return {};
  if (!(all.has_velocity_now(sides.body) && ...)) {
    return item +
           ": approach: expected a number, or bodies that were added with their velocity before "
           "the step, as restitution takes the approach from it, got neither";
  }
  const Scalar closes = law.surface_velocity.z() -
                        (sides.jacobian.row(2).dot(all.velocity_now(sides.body).transpose()) + ...);
  law.approach = (std::max)(closes, Scalar(0));
  return {};
}

/// A law whose overlap is taken out by what presses its bodies together.
template <typename Law>
concept PressedLaw = requires(const Law& law) {
  law.pressing.known;
  law.surface_velocity;
};

/// What presses the bodies of a contact together: the most that the step adds to either body's
/// speed towards the other; of a body whose velocity before the step is not known, that speed
/// itself.
template <RealScalar Scalar, typename... Sides>
[[nodiscard]] Pressing<Scalar> find_pressing(const Bodies<Scalar>& all, const Sides&... sides) {
  Pressing<Scalar> pressing{Scalar(0), (all.has_velocity_now(sides.body) && ...)};
  const auto see = [&](const auto& side) {
    const auto [start, size] = all.body(side.body);
    const auto row = side.jacobian.row(2);
    Scalar closes = -row.dot(all.free_velocity().segment(start, size).transpose());
    if (pressing.known) closes += row.dot(all.velocity_now(side.body).transpose());
    pressing.speed = (std::max)(pressing.speed, closes);
  };
  (see(sides), ...);
  return pressing;
}

/// Computes the numbers of a law from sides of the right sizes: of a friction contact by w =
/// ‖W_ii‖_F/3, of any other block by the diagonal of W_ii, with diag(A) in place of A.
/// @return  what is wrong with the law, J or the numbers they lead to; empty where nothing is.
template <RealScalar Scalar, typename Law, typename... Sides>
[[nodiscard]] Fault read_law(const Bodies<Scalar>& all, const Scalar& time_step,
                             const std::string& item, const Law& law,
                             LawNumbers<Law, Scalar>& numbers, const Sides&... sides) {
  Fault broken;
  const auto see = [&](const auto& side) {
    if (broken.empty() && !side.jacobian.allFinite()) {
      broken = finite_fault(item + ": Jacobian", side.jacobian);
    }
  };
  (see(sides), ...);
  if (!broken.empty()) return broken;
  if constexpr (FrictionContactLaw<Law, Scalar>) {
    if (Fault given = law_fault(item, law); !given.empty()) return given;
    const SquareMatrix<Scalar, 3> delassus =
        (diagonal_delassus(all.momentum_matrix(sides.body), sides.jacobian) + ...);
    // Where nothing moves the contact any R is as good.
    const bool unmoved = (sides.jacobian.isZero(Scalar(0)) && ...);
    const Scalar inverse_mass = unmoved ? Scalar(1) : Scalar(delassus.norm() / 3);
    if constexpr (PressedLaw<Law>) {
      Law found = law;
      if constexpr (BouncingLaw<Law>) {
        if (Fault f = find_approach(all, item, found, sides...); !f.empty()) return f;
      }
      if (law.gap < Scalar(0)) found.pressing = find_pressing(all, sides...);
      numbers = make_weighted(found, time_step, inverse_mass);
    } else {
      numbers = make_weighted(law, time_step, inverse_mass);
    }
  } else {
    const RowNumbers<Scalar> diagonal =
        (delassus_diagonal(all.momentum_matrix(sides.body), sides.jacobian) + ...);
    const Index rows = (std::max)({sides.jacobian.rows()...});
    for (Index i = 0; i < rows; ++i) {
      if (!(diagonal(i) > Scalar(0))) return zero_row_fault(item, i);
    }
    if (Fault given = law_fault(item, law); !given.empty()) return given;
    if constexpr (requires { law.contact.pressing; }) {
      Law found = law;
      if (law.contact.gap < Scalar(0)) found.contact.pressing = find_pressing(all, sides...);
      numbers = make_weighted(found, time_step, diagonal);
    } else {
      numbers = make_weighted(law, time_step, diagonal);
    }
    if (numbers.set.rows != rows) {
      return fault(item + ": Jacobian rows", std::to_string(numbers.set.rows).c_str(), rows);
    }
  }
  return law_fault(item, numbers);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
