// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "carom/batch/detail/lane_block.hpp"
#include "carom/contact/coulomb_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A body of a problem.
struct LaneBody {
  int number;
  int first;  ///< velocity
  int size;   ///< velocities
  int mass;   ///< place of its momentum matrix among the problem's numbers
};

/// What a block has of one body.
struct LaneContactSide {
  int body = -1;     ///< −1: the block has no such side
  int jacobian = 0;  ///< place of its rows among the problem's numbers
  int size = 0;      ///< columns of a row
  int first = 0;     ///< first column that may not be zero
  int count = 0;     ///< columns from there on
};

/// A block of a problem, and where its numbers are among those of the problem.
struct LaneContact {
  int number;  ///< in the problem
  ImpulseShape shape;
  int rows;
  bool is_friction_contact;  ///< as ContactProblem has it: a round cone, not shifted
  bool rigid;
  int friction, regularization, row, bounds;  ///< places; `row` among impulses and biases
  LaneContactSide sides[2];
  int low_side = 0;  ///< which of the two sides a solver has first
};

/// A LaneMap as plain numbers and pointers, so that a graphics processor reads it too.
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
  bool rigid;  ///< whether some block is

  [[nodiscard]] CAROM_DEVICE LaneLayout layout(FrictionLaw law) const noexcept;
  [[nodiscard]] CAROM_DEVICE bool is_touched() const noexcept {
    return contact_count > 0 || other_count > 0;
  }
};

/// An island of a pattern: where its numbers are among those of a problem, and where a lane solver
/// keeps them.
class LaneMap {
 public:
  /// @param bodies    of the problem.
  /// @param members   numbers of the island's bodies.
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
  [[nodiscard]] bool is_touched() const noexcept { return !contacts_.empty() || !others_.empty(); }
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

/// The bodies in an order that keeps those that touch close together: breadth first from the one
/// that touches the fewest, the least number first, turned around (Cuthill and McKee's).
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
  // Rows of one body begin alike, which lets the factor take several at once.
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
