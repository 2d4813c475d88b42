// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
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
  /// tangential of each contact): a mixture of corners is an outcome with the mixed impulses. An
  /// enclosing search has no impulses.
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
///
/// With a width w > 0 the search encloses all outcomes: a sign ± means that the velocity is at
/// least w away from the plane, the sign 0 that it is at most 2w away, and then all directions that
/// are allowed on either side or in the plane are allowed together. A course changes such signs
/// only finitely often, since it must move by a share of w between two changes.
/// @cite halm2021setvalued; docs/derivations/impact_sets.md proves it, and says which courses a
/// search of width zero may miss
template <RealScalar Scalar>
class CourseSearch {
 public:
  using Cell = typename ContactCells<Scalar>::Cell;

  /// @param merging  velocities nearer to each other count as equal, in the unit of x, > 0.
  /// @param width    w, in the unit of x: 0 for true outcomes only, or ≥ 64 merging.
  CourseSearch(const KineticContacts<Scalar>& contacts, const Scalar& merging,
               const Scalar& width = Scalar(0))
      : contacts_(contacts),
        cells_(contacts),
        merging_(merging),
        width_(width),
        largest_speed_(contacts.start().norm() + width) {}

  /// @param goes_on  is asked before each polytope; false ends the search.
  /// @return  whether every course was followed to its end.
  template <typename GoesOn>
  bool run(const GoesOn& goes_on) {
    enter({Cell(std::size_t(cells_.plane_count()), open_sign), contacts_.start(), {}, Scalar(0)});
    while (!waiting_.empty() && goes_on()) {
      const Part part = take_fastest();
      if (rests(part)) {
        ++parts_;
        keep_end(part);
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

  /// The share of its length by which every course in the cells found moves along one direction, at
  /// least [-]: 0 if there is none. A share > 0 bounds lengths: both ends have |x| ≤ |x₀|.
  [[nodiscard]] Scalar advance() const {
    std::vector<VectorX<Scalar>> all;
    for (const auto& [cell, motions] : motions_) {
      for (const auto& motion : motions.colwise())
        all.push_back(motion.head(contacts_.dimension()));
    }
    return distance_of_zero(all);
  }
  /// Whether impulses can cancel in a cell that was found, so that contacts may push for ever.
  [[nodiscard]] bool may_jam() const {
    for (const auto& [cell, motions] : motions_) {
      std::vector<VectorX<Scalar>> own;
      for (const auto& motion : motions.colwise())
        own.push_back(motion.head(contacts_.dimension()));
      if (!own.empty() && !(distance_of_zero(own) > jam_rounding)) return true;
    }
    return false;
  }
  /// The longest path [√J] for which an enclosing search has proved that no course was lost to
  /// roundings and mergings.
  [[nodiscard]] Scalar proved_length() const {
    // Losses add up to a sixteenth of w at most, as the theorem asks.
    const Scalar changes = width_ / (Scalar(16) * largest_loss_);
    return (std::max)(Scalar(0),
                      width_ / Scalar(2) * (changes / Scalar(cells_.plane_count()) - Scalar(1)));
  }

 private:
  /// Corners of equal polytopes that were cut in different orders differ by so many mergings [-].
  static constexpr int cut_roundings = 16;
  /// Directions of length one whose hull is so near to zero cancel, to rounding [-].
  static constexpr Scalar jam_rounding = 4096 * std::numeric_limits<Scalar>::epsilon();
  /// A plane's sign that is still to be found.
  static constexpr int open_sign = 3;
  // Distances from a plane where its signs ± begin, and where the sign 0 ends, in widths [-].
  static constexpr double side_begins = 1, strip_ends = 2;

  /// A set of velocities that enters a cell, and the cells before.
  struct Part {
    Cell cell;
    MatrixX<Scalar> corners;
    std::vector<Cell> course;
    Scalar loss;  ///< of its cuts, in the unit of x
  };
  struct Known {
    ReachPolytope<Scalar> polytope;
    std::vector<Cell> course;
  };

  [[nodiscard]] bool encloses() const noexcept { return width_ > Scalar(0); }
  [[nodiscard]] Scalar widths(double count) const { return Scalar(count) * width_; }

  [[nodiscard]] static Scalar distance_of_zero(const std::vector<VectorX<Scalar>>& points) {
    if (points.empty()) return Scalar(1);
    MatrixX<Scalar> all(points[0].size(), Index(points.size()));
    for (std::size_t k = 0; k < points.size(); ++k) all.col(Index(k)) = points[k];
    return HullDistance<Scalar>().find(all, VectorX<Scalar>::Zero(all.rows()));
  }

  /// Takes the part with the largest energy, which decreases along courses: so sets come before
  /// those that they contain.
  [[nodiscard]] Part take_fastest() {
    auto fastest = waiting_.begin();
    Scalar most = -1;
    for (auto part = waiting_.begin(); part != waiting_.end(); ++part) {
      const Scalar speed =
          part->corners.topRows(contacts_.dimension()).colwise().squaredNorm().maxCoeff();
      if (!(speed > most)) continue;
      most = speed;
      fastest = part;
    }
    Part part = std::move(*fastest);
    waiting_.erase(fastest);
    return part;
  }

  [[nodiscard]] ReachPolytope<Scalar> polytope_of(const Part& part) const {
    return {contacts_.dimension(), part.corners, MatrixX<Scalar>(part.corners.rows(), 0), merging_};
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
          cut_out(part, p, side, next);
          if (next.corners.cols() > 0) enter(next);
        }
        return;
      }
    }
    waiting_.push_back(part);
  }

  /// Cuts from a set what has one sign.
  void cut_out(const Part& part, Index p, int sign, Part& result) const {
    ReachPolytope<Scalar> cut = polytope_of(part);
    cut_to_sign(cut, p, sign);
    result.corners = cut.corners();
    result.loss = part.loss + cut.loss();
  }
  void cut_to_sign(ReachPolytope<Scalar>& polytope, Index p, int sign) const {
    if (sign != 0) {
      polytope.cut(Scalar(sign) * cells_.plane(p), widths(side_begins));
    } else {
      polytope.cut(cells_.plane(p), -widths(strip_ends));
      polytope.cut(-cells_.plane(p), -widths(strip_ends));
    }
  }

  /// Whether a set moves no more: where no contact acts, and in a search for true outcomes where
  /// none of the set closes.
  [[nodiscard]] bool rests(const Part& part) const {
    if (encloses()) return !cells_.has_motions(part.cell);
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

  /// Keeps the part of a set in which no contact closes.
  void keep_end(const Part& part) {
    ReachPolytope<Scalar> end = polytope_of(part);
    for (Index i = 0; encloses() && i < contacts_.count() && !end.is_empty(); ++i) {
      end.cut(contacts_.normal(i).normalized(), -widths(0.125));
    }
    if (!end.is_empty()) keep(ends_, std::move(end), part);
  }

  /// Makes the polytope that is reached in a cell, and hands its faces on.
  void follow(const Part& part) {
    const Index r = contacts_.dimension(), rows = part.corners.rows();
    const Index impulses = encloses() ? 0 : 2 * contacts_.count();
    if (is_known(reached_[part.cell], polytope_of(part))) return;
    ++parts_;
    auto motions = motions_.find(part.cell);
    if (motions == motions_.end()) {
      motions = motions_.emplace(part.cell, cells_.motions(part.cell, !encloses())).first;
    }
    MatrixX<Scalar> corners = MatrixX<Scalar>::Zero(rows + impulses, part.corners.cols());
    corners.topRows(rows) = part.corners;
    MatrixX<Scalar> rays = MatrixX<Scalar>::Zero(rows + impulses, motions->second.cols());
    rays.topRows(r) = motions->second.topRows(r);
    rays.bottomRows(impulses) = motions->second.middleRows(r, impulses);
    ReachPolytope<Scalar> reached(r, std::move(corners), std::move(rays), merging_);
    for (Index p = 0; p < cells_.plane_count(); ++p) {
      const int sign = part.cell[std::size_t(p)];
      if (sign == ContactCells<Scalar>::any || (sign == 0 && !encloses())) continue;
      cut_to_sign(reached, p, sign);
    }
    // Energy never grows, so that no velocity lies beyond a plane that touches its ball.
    while (reached.rays().cols() > 0) {
      reached.cut(-reached.rays().col(0).head(r), -largest_speed_);
    }
    if (reached.is_empty()) return;
    reached.reduce();
    largest_loss_ = (std::max)(largest_loss_,
                               part.loss + reached.loss() + Scalar(2 * cut_roundings) * merging_);
    Part next{part.cell, reached.corners(), part.course, Scalar(0)};
    next.course.push_back(part.cell);
    if (!keep(reached_[part.cell], std::move(reached), next)) return;
    if (!cells_.goes_on(part.cell)) keep_end(next);
    for (Index p = 0; p < cells_.plane_count(); ++p) {
      const int sign = part.cell[std::size_t(p)];
      if (sign == ContactCells<Scalar>::any) continue;
      for (const int side : {-1, 0, 1}) {
        if (side != sign && !(encloses() && side * sign != 0)) hand_on(next, p, side);
      }
    }
  }

  /// Hands the part of a set in a plane to the cell on another side of it.
  void hand_on(const Part& part, Index p, int side) {
    Part next = part;
    if (encloses()) {
      cut_out(part, p, side, next);
    } else if (part.cell[std::size_t(p)] != 0) {
      cut_out(part, p, 0, next);
    }
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
  Scalar merging_, width_, largest_speed_;
  Scalar largest_loss_ = 0;
  std::deque<Part> waiting_;
  std::map<Cell, std::vector<Known>> reached_;
  std::vector<Known> ends_;
  std::map<Cell, MatrixX<Scalar>> motions_;
  Index parts_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
