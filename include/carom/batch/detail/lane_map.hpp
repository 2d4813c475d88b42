// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "carom/batch/detail/lane_matrices.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/impulse_set.hpp"
#include "carom/core/detail/compiler.hpp"

/// @file
/// The places of the numbers of an island: in its problem, and in the memory of a lane solver.

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The columns of a block's Jacobian for one body that may be nonzero.
struct LaneSide {
  int column;    ///< the first one, a velocity of the island
  int count;     ///< columns; 0: the block has no such side
  int jacobian;  ///< place of the first column among the Jacobians, a number for each row
};

struct LaneSides {
  LaneSide low, high;  ///< the columns of `high` are after those of `low`
};

/// Rows of a cone that its normal bounds together.
struct LaneGroup {
  int first, size;
};

/// The rows of a block by its shape, the same in each lane.
struct LaneShape {
  int normal;              ///< row of the normal; −1: rows between bounds
  bool ellipsoidal;        ///< one bound for all rows, ‖(γ_i/μ_i)‖; otherwise separate groups
  int group_count;         ///< of a cone that is not ellipsoidal
  LaneGroup groups[3];     ///< rows that ‖γ_b‖ ≤ μ_b γₙ bounds
  int friction_of_row[6];  ///< place of the μ of a row in those of the block

  CAROM_DEVICE static constexpr LaneShape of(ImpulseShape shape) noexcept {
    LaneShape s{2, false, 1, {{0, 2}, {3, 2}, {5, 1}}, {0, 0, 0, 1, 1, 2}};
    switch (shape) {
      case ImpulseShape::intervals:
        s.normal = -1;
        s.group_count = 0;
        break;
      case ImpulseShape::friction:
        break;
      case ImpulseShape::planar:
        s.normal = 1;
        s.groups[0].size = 1;
        break;
      case ImpulseShape::elliptic:
        s.ellipsoidal = true;
        s.friction_of_row[1] = 1;
        break;
      case ImpulseShape::torsional:
        s.group_count = 2;
        s.groups[1].size = 1;
        break;
      case ImpulseShape::rolling:
        s.group_count = 3;
        break;
      case ImpulseShape::ellipsoidal_torsional:
      case ImpulseShape::ellipsoidal_rolling:
        s.ellipsoidal = true;
        break;
      case ImpulseShape::spinless_rolling:
        s.group_count = 2;
        break;
    }
    return s;
  }
};

/// A block that is not a friction contact, and the places of its numbers in the memory of a lane
/// solver.
struct LaneBlock {
  enum RowName {
    regularization,
    inverse,
    bias,
    contact_velocity,  ///< J v
    trial,
    impulse,
    velocity_step,  ///< J d
    trial_step,
    lower,  ///< of intervals; the shift of a cone
    upper,
    multiplier,    ///< of rigid blocks: γ of the problem before
    inverse_mass,  ///< of rigid blocks: J A⁻¹ Jᵀ of the row
    row_name_count
  };

  LaneShape shape;
  int rows;
  bool rigid;
  int at;  ///< of its first number, after that of all blocks
  LaneSides sides;

  [[nodiscard]] static constexpr int cell_count(int rows) noexcept {
    return rows * row_name_count + 4;
  }
  [[nodiscard]] CAROM_DEVICE int row_at(int name) const noexcept { return at + name * rows; }
  [[nodiscard]] CAROM_DEVICE int friction_at() const noexcept { return row_at(row_name_count); }
  [[nodiscard]] CAROM_DEVICE int lift_at() const noexcept { return friction_at() + 3; }
};

/// The places of the numbers of an island in the memory of a lane solver, in cells. It consists of
/// plain numbers and pointers, so that a graphics processor can read it.
struct LaneLayout {
  enum VectorName {
    free,
    velocity,  ///< relative to the frame, as are all velocities below
    frame,     ///< velocity of the frame
    best,
    momentum,
    gradient,
    direction,
    scratch,
    vector_count,
    // Coulomb's law needs three more vectors.
    kept = vector_count,
    start,
    law_direction,
    coulomb_vector_count
  };
  enum ContactName {
    friction,
    tangent,
    normal,
    inverse_tangent,
    inverse_normal,
    inverse_sliding,              ///< 1/(Rₙ + μ² Rₜ)
    opening,                      ///< (μ Rₜ/Rₙ)²
    bias,                         ///< three components, as all below but the last
    contact_velocity = bias + 3,  ///< J v
    trial = contact_velocity + 3,
    impulse = trial + 3,
    velocity_step = impulse + 3,  ///< J d
    trial_step = velocity_step + 3,
    predicted = trial_step + 3,  ///< ẑ, two components
    lift = predicted + 2,        ///< reduction of v̂ₙ, De Saxcé's term
    contact_number_count,
    // Islands with rigid blocks need six more numbers.
    multiplier = contact_number_count,  ///< γ of the compliant problem before
    inverse_mass = multiplier + 3,      ///< J A⁻¹ Jᵀ of each row
    rigid_contact_number_count = inverse_mass + 3
  };

  int velocities, contacts, block_count;
  LaneRows mass_rows, matrix_rows;
  const LaneSides* sides;               ///< of the friction contacts
  const LaneBlock* blocks;              ///< all others
  const unsigned char* rigid_contacts;  ///< 1: the contact is rigid
  bool rigid;                           ///< whether some block is rigid
  bool is_coulomb;                      ///< whether the law is Coulomb's
  int mass_at, mass_factor_at, matrix_at, jacobian_at, contacts_at, blocks_at, product_at, sweep_at,
      cell_count;
  int upper_at;  ///< the upper half of a nonsymmetric matrix, under Coulomb's law

  /// Whether a solve starts with sweeps over the contacts: for a single body with only friction
  /// contacts. One contact needs none, because Newton's method solves it in one step.
  [[nodiscard]] CAROM_DEVICE bool has_sweeps() const noexcept {
    return velocities <= 6 && contacts > 1 && block_count == 0 && !rigid;
  }
  /// Three columns for each contact.
  [[nodiscard]] CAROM_DEVICE int sweep_cells() const noexcept {
    return has_sweeps() ? 3 * velocities * contacts : 0;
  }
  [[nodiscard]] CAROM_DEVICE int vector_at(int name) const noexcept { return name * velocities; }
  [[nodiscard]] CAROM_DEVICE int contact_at(int contact) const noexcept {
    return contacts_at + contact * contact_size();
  }
  [[nodiscard]] CAROM_DEVICE int contact_size() const noexcept {
    return rigid ? rigid_contact_number_count : contact_number_count;
  }
};

/// A block, friction contact or other, in the cells of a lane solver.
template <typename Cells>
struct LaneBlockCells {
  int rows;
  const LaneSides& sides;
  LaneShape shape;
  bool is_contact;  ///< a friction contact, which has two numbers R for its three rows
  bool rigid;
  Cells weight, inverse;  ///< R, 1/R
  Cells friction;         ///< μ, as many as the shape has
  Cells lower, upper;     ///< of intervals; `lower` is the shift of a cone. None of a contact
  Cells bias, contact_velocity, trial, impulse;
  Cells velocity_step, trial_step;
  Cells lift;
  Cells multiplier, inverse_mass;  ///< of rigid blocks
  Cells jacobians;                 ///< those of all blocks

  using Number = decltype(Cells()[0]);

  [[nodiscard]] CAROM_DEVICE bool is_cone() const noexcept { return shape.normal >= 0; }
  /// The count of numbers R, the R of a row, and the first row with an R.
  [[nodiscard]] CAROM_DEVICE int weights() const noexcept { return is_contact ? 2 : rows; }
  [[nodiscard]] CAROM_DEVICE int weight_of(int row) const noexcept {
    return is_contact ? row / 2 : row;
  }
  [[nodiscard]] CAROM_DEVICE int row_of(int i) const noexcept { return is_contact ? 2 * i : i; }
  /// Whether the set has a shift.
  [[nodiscard]] CAROM_DEVICE bool is_shifted() const noexcept { return is_cone() && !is_contact; }
  /// sums ← sums + J x.
  CAROM_DEVICE void add_product(const Cells& x, Number (&sums)[6]) const noexcept {
    const auto add = [&](const LaneSide& side) {
      const Cells j = jacobians.from(side.jacobian), columns = x.from(side.column);
      for (int c = 0; c < side.count; ++c) {
        const Number xc = columns[c];
        for (int r = 0; r < rows; ++r) sums[r] += j[rows * c + r] * xc;
      }
    };
    add(sides.low);
    add(sides.high);
  }
  /// y ← y + Jᵀ x.
  CAROM_DEVICE void add_transposed(const Number (&x)[6], const Cells& y) const noexcept {
    const auto add = [&](const LaneSide& side) {
      const Cells j = jacobians.from(side.jacobian), columns = y.from(side.column);
      for (int c = 0; c < side.count; ++c) {
        Number sum(0);
        for (int r = 0; r < rows; ++r) sum += j[rows * c + r] * x[r];
        columns.add(c, sum);
      }
    };
    add(sides.low);
    add(sides.high);
  }

  CAROM_DEVICE static LaneBlockCells of_contact(const LaneLayout& layout, const Cells& cells,
                                                int k) noexcept {
    using Names = LaneLayout;
    const Cells c = cells.from(layout.contact_at(k));
    return {3,
            layout.sides[k],
            LaneShape::of(ImpulseShape::friction),
            true,
            layout.rigid && layout.rigid_contacts[k] != 0,
            c.from(Names::tangent),
            c.from(Names::inverse_tangent),
            c.from(Names::friction),
            {},
            {},
            c.from(Names::bias),
            c.from(Names::contact_velocity),
            c.from(Names::trial),
            c.from(Names::impulse),
            c.from(Names::velocity_step),
            c.from(Names::trial_step),
            c.from(Names::lift),
            c.from(Names::multiplier),
            c.from(Names::inverse_mass),
            cells.from(layout.jacobian_at)};
  }
  CAROM_DEVICE static LaneBlockCells of_block(const LaneLayout& layout, const Cells& cells,
                                              int b) noexcept {
    using Names = LaneBlock;
    const LaneBlock& block = layout.blocks[b];
    const Cells base = cells.from(layout.blocks_at);
    const auto rows = [&](int name) { return base.from(block.row_at(name)); };
    return {block.rows,
            block.sides,
            block.shape,
            false,
            block.rigid,
            rows(Names::regularization),
            rows(Names::inverse),
            base.from(block.friction_at()),
            rows(Names::lower),
            rows(Names::upper),
            rows(Names::bias),
            rows(Names::contact_velocity),
            rows(Names::trial),
            rows(Names::impulse),
            rows(Names::velocity_step),
            rows(Names::trial_step),
            base.from(block.lift_at()),
            rows(Names::multiplier),
            rows(Names::inverse_mass),
            cells.from(layout.jacobian_at)};
  }
  /// Calls visit(block) for all friction contacts, and then for all others.
  template <typename Visit>
  CAROM_DEVICE static void for_each(const LaneLayout& layout, const Cells& cells,
                                    const Visit& visit) noexcept {
    for (int k = 0; k < layout.contacts; ++k) visit(of_contact(layout, cells, k));
    for (int b = 0; b < layout.block_count; ++b) visit(of_block(layout, cells, b));
  }
};

/// A body of a problem.
struct LaneBody {
  int number;
  int first;  ///< velocity
  int size;   ///< velocities
  int mass;   ///< place of its momentum matrix among the problem's numbers
};

/// The part of a block for one body.
struct LaneContactSide {
  int body = -1;     ///< −1: the block has no such side
  int jacobian = 0;  ///< place of its rows among the problem's numbers
  int size = 0;      ///< columns of a row
  int first = 0;     ///< first column that may not be zero
  int count = 0;     ///< columns from there on
};

/// A block of a problem, and the places of its numbers in the problem.
struct LaneContact {
  int number;  ///< in the problem
  ImpulseShape shape;
  int rows;
  bool is_friction_contact;  ///< as in ContactProblem: a circular cone without shift
  bool rigid;
  int friction, regularization, row, bounds;  ///< places; `row` among impulses and biases
  LaneContactSide sides[2];
  int low_side = 0;  ///< which of its two sides is first in the solver
};

/// A LaneMap as plain numbers and pointers, so that a graphics processor can read it.
struct LaneMapView {
  const LaneBody* bodies;               ///< in the solver's order
  const int* starts;                    ///< first velocity of a body in the solver's numbering
  const LaneContact* contacts;          ///< the friction contacts
  const LaneSides* sides;               ///< of the friction contacts
  const LaneContact* others;            ///< the other blocks
  const LaneBlock* blocks;              ///< of the other blocks
  const unsigned char* rigid_contacts;  ///< 1: the friction contact is rigid
  LaneRows mass_rows, matrix_rows;
  int body_count, contact_count, other_count;
  int mass_cells, matrix_cells, jacobian_cells, block_cells;
  int widest;  ///< columns of the widest side
  bool rigid;  ///< whether some block is rigid

  [[nodiscard]] CAROM_DEVICE LaneLayout layout(FrictionLaw law) const noexcept;
  [[nodiscard]] CAROM_DEVICE bool is_touched() const noexcept {
    return contact_count > 0 || other_count > 0;
  }
};

/// An island of a pattern: the places of its numbers in a problem, and in the memory of a lane
/// solver.
class LaneMap {
 public:
  /// @param bodies    of the problem.
  /// @param members   indices of the island's bodies.
  /// @param contacts  of the island.
  LaneMap(const std::vector<LaneBody>& bodies, std::vector<int> members,
          const std::vector<LaneContact>& contacts);

  [[nodiscard]] LaneMapView view() const noexcept;
  [[nodiscard]] LaneLayout layout(FrictionLaw law = FrictionLaw::convex) const noexcept {
    return view().layout(law);
  }
  /// The bodies in the solver's order.
  [[nodiscard]] const std::vector<LaneBody>& bodies() const noexcept { return bodies_; }
  /// The friction contacts, and the other blocks.
  [[nodiscard]] const std::vector<LaneContact>& contacts() const noexcept { return contacts_; }
  [[nodiscard]] const std::vector<LaneContact>& others() const noexcept { return others_; }
  /// Whether some block is rigid.
  [[nodiscard]] bool is_rigid() const noexcept { return rigid_; }
  /// First velocity of a body of the solver's order in the solver's numbering.
  [[nodiscard]] int start(std::size_t body) const noexcept { return starts_[body]; }
  [[nodiscard]] const LaneSides& sides(std::size_t contact) const noexcept {
    return sides_[contact];
  }
  [[nodiscard]] const LaneBlock& block(std::size_t other) const noexcept { return blocks_[other]; }

 private:
  struct Rows {
    std::vector<int> first_column, place;
    int count = 0;

    void add(int first) {
      const int row = int(place.size());
      first_column.push_back(first);
      place.push_back(count - first);
      count += row - first + 1;
    }
    [[nodiscard]] LaneRows view() const noexcept {
      return {first_column.data(), place.data(), int(place.size())};
    }
  };
  void add_contacts(const std::vector<int>& local, const std::vector<LaneContact>& contacts);
  [[nodiscard]] LaneSides place_sides(const std::vector<int>& local, LaneContact& contact);

  std::vector<LaneBody> bodies_;
  std::vector<LaneContact> contacts_, others_;
  std::vector<int> starts_;
  std::vector<LaneSides> sides_;
  std::vector<LaneBlock> blocks_;
  std::vector<unsigned char> rigid_contacts_;
  bool rigid_ = false;
  Rows mass_, matrix_;
  int jacobian_count_ = 0, block_cells_ = 0, widest_ = 0;
};

/// The bodies in an order with small bandwidth (reverse Cuthill-McKee): breadth first from the body
/// with the fewest neighbours, the least index first, then reversed.
[[nodiscard]] std::vector<int> order_bodies(std::size_t body_count, std::vector<int> members,
                                            const std::vector<LaneContact>& contacts);

// --- implementation ---

inline std::vector<int> order_bodies(std::size_t body_count, std::vector<int> members,
                                     const std::vector<LaneContact>& contacts) {
  std::vector<std::vector<int>> neighbours(body_count);
  for (const auto& contact : contacts) {
    const auto& sides = contact.sides;
    if (sides[1].body < 0) continue;
    neighbours[std::size_t(sides[0].body)].push_back(sides[1].body);
    neighbours[std::size_t(sides[1].body)].push_back(sides[0].body);
  }
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  const auto fewer = [&](int a, int b) {
    const std::size_t x = neighbours[std::size_t(a)].size(), y = neighbours[std::size_t(b)].size();
    return x != y ? x < y : a < b;
  };
  std::vector<bool> seen(body_count);
  std::vector<int> order;
  std::sort(members.begin(), members.end(), fewer);
  for (const int start : members) {
    if (seen[std::size_t(start)]) continue;
    seen[std::size_t(start)] = true;
    order.push_back(start);
    for (std::size_t next = order.size() - 1; next < order.size(); ++next) {
      std::vector<int> reached = neighbours[std::size_t(order[next])];
      std::sort(reached.begin(), reached.end(), fewer);
      for (const int body : reached) {
        if (seen[std::size_t(body)]) continue;
        seen[std::size_t(body)] = true;
        order.push_back(body);
      }
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

inline LaneMap::LaneMap(const std::vector<LaneBody>& bodies, std::vector<int> members,
                        const std::vector<LaneContact>& contacts) {
  std::vector<int> local(bodies.size(), -1);
  int start = 0;
  for (const int body : order_bodies(bodies.size(), std::move(members), contacts)) {
    local[std::size_t(body)] = int(bodies_.size());
    bodies_.push_back(bodies[std::size_t(body)]);
    starts_.push_back(start);
    for (int i = 0; i < bodies_.back().size; ++i) mass_.add(start);
    start += bodies_.back().size;
  }
  add_contacts(local, contacts);
}

/// The columns of a block's sides, those of the body with the lower number first.
inline LaneSides LaneMap::place_sides(const std::vector<int>& local, LaneContact& contact) {
  const auto place = [&](int s) {
    return contact.sides[s].body < 0 ? -1 : local[std::size_t(contact.sides[s].body)];
  };
  contact.low_side = place(1) >= 0 && place(1) < place(0) ? 1 : 0;
  LaneSides both{};
  for (int s = 0; s < 2; ++s) {
    const int side = s == 0 ? contact.low_side : 1 - contact.low_side;
    if (place(side) < 0) continue;
    const LaneContactSide& given = contact.sides[side];
    (s == 0 ? both.low : both.high) = {starts_[std::size_t(place(side))] + given.first, given.count,
                                       jacobian_count_};
    jacobian_count_ += contact.rows * given.count;
    widest_ = (std::max)(widest_, given.count);
  }
  return both;
}

inline void LaneMap::add_contacts(const std::vector<int>& local,
                                  const std::vector<LaneContact>& contacts) {
  std::vector<int> first = mass_.first_column;
  for (LaneContact contact : contacts) {
    const LaneSides both = place_sides(local, contact);
    const auto rows = first.begin() + both.high.column;
    for (auto begin = rows; begin < rows + both.high.count; ++begin) {
      *begin = (std::min)(*begin, both.low.column);
    }
    rigid_ = rigid_ || contact.rigid;
    if (contact.is_friction_contact) {
      contacts_.push_back(contact);
      sides_.push_back(both);
      rigid_contacts_.push_back(contact.rigid ? 1 : 0);
    } else {
      others_.push_back(contact);
      blocks_.push_back(
          {LaneShape::of(contact.shape), contact.rows, contact.rigid, block_cells_, both});
      block_cells_ += LaneBlock::cell_count(contact.rows);
    }
  }
  // Rows of one body start at the same column, so that the factorisation can process several at
  // once.
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const auto begin = first.begin() + starts_[b];
    std::fill_n(begin, bodies_[b].size, *std::min_element(begin, begin + bodies_[b].size));
  }
  for (const int column : first) matrix_.add(column);
}

inline LaneMapView LaneMap::view() const noexcept {
  LaneMapView view{};
  view.bodies = bodies_.data();
  view.starts = starts_.data();
  view.contacts = contacts_.data();
  view.sides = sides_.data();
  view.others = others_.data();
  view.blocks = blocks_.data();
  view.rigid_contacts = rigid_contacts_.data();
  view.mass_rows = mass_.view();
  view.matrix_rows = matrix_.view();
  view.body_count = int(bodies_.size());
  view.contact_count = int(contacts_.size());
  view.other_count = int(others_.size());
  view.mass_cells = mass_.count;
  view.matrix_cells = matrix_.count;
  view.jacobian_cells = jacobian_count_;
  view.block_cells = block_cells_;
  view.widest = widest_;
  view.rigid = rigid_;
  return view;
}

CAROM_DEVICE inline LaneLayout LaneMapView::layout(FrictionLaw law) const noexcept {
  const bool coulomb = law == FrictionLaw::coulomb;
  LaneLayout l{};
  l.velocities = mass_rows.count;
  l.contacts = contact_count;
  l.mass_rows = mass_rows;
  l.matrix_rows = matrix_rows;
  l.sides = sides;
  l.block_count = other_count;
  l.blocks = blocks;
  l.rigid = rigid;
  l.is_coulomb = coulomb;
  l.rigid_contacts = rigid_contacts;
  l.mass_at =
      (coulomb ? LaneLayout::coulomb_vector_count : LaneLayout::vector_count) * l.velocities;
  l.mass_factor_at = l.mass_at + mass_cells;
  l.matrix_at = l.mass_factor_at + mass_cells;
  l.upper_at = l.matrix_at + matrix_cells;
  l.jacobian_at = l.upper_at + (coulomb ? matrix_cells : 0);
  l.contacts_at = l.jacobian_at + jacobian_cells;
  l.blocks_at = l.contacts_at + l.contacts * l.contact_size();
  l.product_at = l.blocks_at + block_cells;
  l.sweep_at = l.product_at + 3 * widest;
  l.cell_count = l.sweep_at + l.sweep_cells();
  return l;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
