// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "carom/impact/outcome/contact_cells.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A convex set of outcomes with one course: the same cells, in the same order.
template <RealScalar Scalar>
struct OutcomePart {
  /// x of the corners on top, and below, for each cell of the course, the impulses in it (normal,
  /// tangential of each contact): a mixture of corners is an outcome with the mixed impulses.
  MatrixX<Scalar> corners;
  Index dimension = 0;  ///< count of coordinates x
  std::vector<typename ContactCells<Scalar>::Cell> course;
};

/// Finds outcomes of an impact with friction and without restitution, cell by cell.
///
/// Within a cell the velocity moves by any mixture of fixed directions, and the cell is convex.
/// From a convex set of velocities those that are reached in it are therefore exactly the sum of
/// the set and the cone of directions, cut by the planes of the cell: a polytope again, and each
/// point is reached along a straight line. Where it touches a plane, its part in the plane enters
/// the neighbours. A set that lies in one that the same cell has had leads to nothing new. The
/// impact ends where no contact closes.
/// @cite halm2021setvalued; docs/derivations/impact_sets.md proves it, and says which courses it
/// may miss
template <RealScalar Scalar>
class CourseSearch {
 public:
  using Cell = typename ContactCells<Scalar>::Cell;

  /// @param merging  velocities nearer to each other count as equal, in the unit of x, > 0.
  CourseSearch(const KineticContacts<Scalar>& contacts, const Scalar& merging)
      : contacts_(contacts), cells_(contacts), merging_(merging) {}

  /// @param part_limit  largest count of polytopes.
  /// @return  whether every course was followed to its end.
  bool run(Index part_limit) {
    const Index r = contacts_.dimension();
    Part start{Cell(std::size_t(cells_.plane_count()), open_sign), contacts_.start(), {}};
    enter(start);
    for (parts_ = 0; !waiting_.empty() && parts_ < part_limit;) {
      const Part part = std::move(waiting_.front());
      waiting_.pop_front();
      if (rests(part)) {
        keep(ends_, ReachPolytope<Scalar>(r, part.corners, none(part), merging_), part);
      } else {
        follow(part);
      }
    }
    return waiting_.empty();
  }

  /// The outcomes found: sets of which none lies in another.
  [[nodiscard]] std::vector<OutcomePart<Scalar>> outcomes() const {
    std::vector<OutcomePart<Scalar>> result;
    for (const Known& end : ends_) {
      result.push_back({end.polytope.corners(), contacts_.dimension(), end.course});
    }
    return result;
  }
  /// Count of polytopes that were made.
  [[nodiscard]] Index part_count() const noexcept { return parts_; }

 private:
  /// Corners of equal polytopes that were cut in different orders differ by so many mergings [-].
  static constexpr int cut_roundings = 16;
  /// A plane's sign that is still to be found.
  static constexpr int open_sign = 3;

  /// A set of velocities that enters a cell, and the cells before.
  struct Part {
    Cell cell;
    MatrixX<Scalar> corners;
    std::vector<Cell> course;
  };
  struct Known {
    ReachPolytope<Scalar> polytope;
    std::vector<Cell> course;
  };

  [[nodiscard]] MatrixX<Scalar> none(const Part& part) const {
    return MatrixX<Scalar>(part.corners.rows(), 0);
  }

  /// Puts a set in the cells whose signs are open, plane by plane; normal speeds come first, since
  /// they decide which slips matter.
  void enter(const Part& part) {
    for (const bool gaps : {true, false}) {
      for (Index p = 0; p < cells_.plane_count(); ++p) {
        if (part.cell[std::size_t(p)] != open_sign || cells_.is_gap(p) != gaps) continue;
        Part next = part;
        auto& sign = next.cell[std::size_t(p)];
        if (!cells_.matters(next.cell, p)) {
          sign = ContactCells<Scalar>::any;
          return enter(next);
        }
        for (const int side : {-1, 0, 1}) {
          sign = side;
          next.corners = side_of(part, p, side);
          if (next.corners.cols() > 0) enter(next);
        }
        return;
      }
    }
    waiting_.push_back(part);
  }

  /// The corners of the part of a set on one side of a plane, or in it.
  [[nodiscard]] MatrixX<Scalar> side_of(const Part& part, Index p, int side) const {
    ReachPolytope<Scalar> cut(contacts_.dimension(), part.corners, none(part), merging_);
    if (side >= 0) cut.cut(cells_.plane(p), Scalar(0));
    if (side <= 0) cut.cut(-cells_.plane(p), Scalar(0));
    return cut.corners();
  }

  /// Whether no contact of the set closes.
  [[nodiscard]] bool rests(const Part& part) const {
    if (!cells_.goes_on(part.cell)) return true;
    const auto places = part.corners.topRows(contacts_.dimension());
    for (Index i = 0; i < contacts_.count(); ++i) {
      if (cells_.gap_sign(part.cell, i) >= 0) continue;
      const Scalar fastest = (contacts_.normal(i).normalized().transpose() * places).minCoeff();
      if (fastest < -merging_) return false;
    }
    return true;
  }

  /// Whether one polytope contains another, but for the rounding of several cuts.
  [[nodiscard]] bool covers(ReachPolytope<Scalar>& outer,
                            const ReachPolytope<Scalar>& inner) const {
    const Scalar rounding = Scalar(cut_roundings) * merging_;
    return outer.distance_of(inner, rounding) <= rounding;
  }

  [[nodiscard]] bool is_known(std::vector<Known>& known,
                              const ReachPolytope<Scalar>& polytope) const {
    return std::any_of(known.begin(), known.end(),
                       [&](Known& other) { return covers(other.polytope, polytope); });
  }

  /// Adds a polytope to those of its cell, unless it lies in one of them.
  /// @return  whether it was added.
  bool keep(std::vector<Known>& known, ReachPolytope<Scalar> polytope, const Part& part) {
    if (is_known(known, polytope)) return false;
    std::erase_if(known, [&](const Known& other) { return covers(polytope, other.polytope); });
    known.push_back({std::move(polytope), part.course});
    return true;
  }

  /// Makes the polytope that is reached in a cell, and hands its faces on.
  void follow(const Part& part) {
    const Index r = contacts_.dimension(), impulses = 2 * contacts_.count();
    const Index rows = part.corners.rows();
    const ReachPolytope<Scalar> entering(r, part.corners, none(part), merging_);
    if (is_known(reached_[part.cell], entering)) return;
    ++parts_;
    auto motions = motions_.find(part.cell);
    if (motions == motions_.end()) {
      motions = motions_.emplace(part.cell, cells_.motions(part.cell)).first;
    }
    MatrixX<Scalar> corners = MatrixX<Scalar>::Zero(rows + impulses, part.corners.cols());
    corners.topRows(rows) = part.corners;
    MatrixX<Scalar> rays = MatrixX<Scalar>::Zero(rows + impulses, motions->second.cols());
    rays.topRows(r) = motions->second.topRows(r);
    rays.bottomRows(impulses) = motions->second.bottomRows(impulses);
    ReachPolytope<Scalar> reached(r, std::move(corners), std::move(rays), merging_);
    for (Index p = 0; p < cells_.plane_count(); ++p) {
      const int sign = part.cell[std::size_t(p)];
      if (sign == 1 || sign == -1) reached.cut(Scalar(sign) * cells_.plane(p), Scalar(0));
    }
    if (reached.is_empty()) return;
    reached.reduce();
    Part next{part.cell, reached.corners(), part.course};
    next.course.push_back(part.cell);
    if (!keep(reached_[part.cell], std::move(reached), next)) return;
    for (Index p = 0; p < cells_.plane_count(); ++p) {
      const int sign = part.cell[std::size_t(p)];
      if (sign == ContactCells<Scalar>::any) continue;
      for (const int side : {-1, 0, 1}) {
        if (side != sign) hand_on(next, p, side);
      }
    }
  }

  /// Hands the part of a set in a plane to the cell on another side of it.
  void hand_on(const Part& part, Index p, int side) {
    Part next = part;
    if (part.cell[std::size_t(p)] != 0) next.corners = side_of(part, p, 0);
    if (next.corners.cols() == 0) return;
    next.cell[std::size_t(p)] = side;
    if (cells_.is_gap(p)) {  // other slips may matter now
      for (Index q = 0; q < cells_.plane_count(); ++q) {
        auto& sign = next.cell[std::size_t(q)];
        const bool matters = cells_.matters(next.cell, q);
        if (!matters) sign = ContactCells<Scalar>::any;
        if (matters && sign == ContactCells<Scalar>::any) sign = open_sign;
      }
    }
    enter(next);
  }

  const KineticContacts<Scalar>& contacts_;
  ContactCells<Scalar> cells_;
  Scalar merging_;
  std::deque<Part> waiting_;
  std::map<Cell, std::vector<Known>> reached_;
  std::vector<Known> ends_;
  std::map<Cell, MatrixX<Scalar>> motions_;
  Index parts_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
