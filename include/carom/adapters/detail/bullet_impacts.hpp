// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include <Eigen/QR>

#include "carom/adapters/detail/bullet_bodies.hpp"
#include "carom/adapters/detail/bullet_contacts.hpp"
#include "carom/adapters/detail/bullet_joints.hpp"
#include "carom/solvers/contact_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Bodies that are connected by joints, in coordinates z in which their kinetic energy is ½ ‖z‖²
/// and no joint moves: y = held + basis z, where y are the coordinates of the bodies, one after
/// another.
struct ImpactCluster {
  std::vector<int> body_slots;
  MatrixX<double> basis;
  VectorX<double> held, velocity;
};

/// The clusters of a group of bodies, and the place of each body in its cluster.
class ImpactClusters {
 public:
  /// Divides the bodies into clusters and reads their velocities.
  /// @note  Cold: allocates.
  void make(const BulletBodies& bodies, const BulletJoints& joints) {
    std::vector<int> root(std::size_t(bodies.count()));
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](int slot) {
      while (root[std::size_t(slot)] != slot) slot = root[std::size_t(slot)];
      return slot;
    };
    for (const JointBlock& block : joints.blocks()) {
      const bool both = block.sides[0].cols() > 0 && block.sides[1].cols() > 0;
      if (both) root[std::size_t(find(block.body_slots[1]))] = find(block.body_slots[0]);
    }
    clusters_.clear();
    cluster_of_.assign(std::size_t(bodies.count()), -1);
    start_of_.assign(std::size_t(bodies.count()), 0);
    std::vector<int> of_root(std::size_t(bodies.count()), -1);
    std::vector<Index> sizes;
    for (int slot = 0; slot < bodies.count(); ++slot) {
      if (bodies[slot].velocity.size() == 0) continue;
      int& cluster = of_root[std::size_t(find(slot))];
      if (cluster < 0) {
        cluster = int(clusters_.size());
        clusters_.emplace_back();
        sizes.push_back(0);
      }
      cluster_of_[std::size_t(slot)] = cluster;
      start_of_[std::size_t(slot)] = sizes[std::size_t(cluster)];
      sizes[std::size_t(cluster)] += bodies[slot].velocity.size();
      clusters_[std::size_t(cluster)].body_slots.push_back(slot);
    }
    for (ImpactCluster& cluster : clusters_) write_basis(bodies, joints, cluster);
  }
  /// Sets the bodies' velocities to those of their clusters.
  void write_back(BulletBodies& bodies) const {
    for (const ImpactCluster& cluster : clusters_) {
      const VectorX<double> y = cluster.held + cluster.basis * cluster.velocity;
      Index start = 0;
      for (const int slot : cluster.body_slots) {
        bodies[slot].velocity = y.segment(start, bodies[slot].velocity.size());
        start += bodies[slot].velocity.size();
      }
    }
  }
  [[nodiscard]] ImpactCluster& operator[](int cluster) noexcept {
    return clusters_[std::size_t(cluster)];
  }
  [[nodiscard]] const ImpactCluster& operator[](int cluster) const noexcept {
    return clusters_[std::size_t(cluster)];
  }
  /// Cluster of a body, −1 if it does not move.
  [[nodiscard]] int of(int slot) const noexcept { return cluster_of_[std::size_t(slot)]; }
  /// Start of the coordinates of a body in its cluster.
  [[nodiscard]] Index start_of(int slot) const noexcept { return start_of_[std::size_t(slot)]; }

 private:
  /// Writes the basis of the motions that the bilateral rows of joints permit.
  void write_basis(const BulletBodies& bodies, const BulletJoints& joints,
                   ImpactCluster& cluster) const {
    std::vector<double> numbers, speeds;
    for (const int slot : cluster.body_slots) {
      const BulletBody& body = bodies[slot];
      numbers.insert(numbers.end(), body.inertia.begin(), body.inertia.end());
      speeds.insert(speeds.end(), body.velocity.begin(), body.velocity.end());
    }
    const Index size = Index(numbers.size());
    const VectorX<double> root =
        Eigen::Map<const VectorX<double>>(numbers.data(), size).cwiseSqrt();
    const Eigen::Map<const VectorX<double>> y(speeds.data(), size);
    const MatrixX<double> rows = joint_columns(bodies, joints, cluster, root);
    if (rows.cols() == 0) {
      cluster.basis = root.cwiseInverse().asDiagonal();
    } else {
      const Eigen::ColPivHouseholderQR<MatrixX<double>> factor(rows);
      const MatrixX<double> directions = factor.householderQ();
      cluster.basis = root.cwiseInverse().asDiagonal() * directions.rightCols(size - factor.rank());
    }
    cluster.velocity = cluster.basis.transpose() * (root.cwiseAbs2().asDiagonal() * y);
    cluster.held = y - cluster.basis * cluster.velocity;
  }
  /// L⁻¹ Gᵀ of the cluster's bilateral rows.
  [[nodiscard]] MatrixX<double> joint_columns(const BulletBodies& bodies,
                                              const BulletJoints& joints,
                                              const ImpactCluster& cluster,
                                              const VectorX<double>& root) const {
    std::vector<VectorX<double>> columns;
    for (const JointBlock& block : joints.blocks()) {
      for (int i = 0; i < block.rows; ++i) {
        if (!joints.row(block, i).bilateral()) continue;
        VectorX<double> column = VectorX<double>::Zero(root.size());
        bool here = false;
        for (std::size_t s = 0; s < 2; ++s) {
          const std::size_t slot = std::size_t(block.body_slots[s]);
          if (block.sides[s].cols() == 0 || cluster_of_[slot] < 0) continue;
          if (&clusters_[std::size_t(cluster_of_[slot])] != &cluster) continue;
          column.segment(start_of_[slot], bodies[block.body_slots[s]].velocity.size()) +=
              block.sides[s].row(i).transpose();
          here = true;
        }
        if (here) columns.push_back(column.cwiseQuotient(root));
      }
    }
    MatrixX<double> all(root.size(), Index(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k) all.col(Index(k)) = columns[k];
    return all;
  }

  std::vector<ImpactCluster> clusters_;
  std::vector<int> cluster_of_;
  std::vector<Index> start_of_;
};

/// The points of one manifold. They act together.
struct ImpactPair {
  std::size_t first, last;      ///< points
  std::array<int, 2> clusters;  ///< −1: immobile
  bool stirred = false;         ///< whether an impact changed the velocity of one of its bodies
  double speed = 0;             ///< its largest closing velocity [m/s]
};

/// Impacts of one group, one pair of bodies after another; the pair with the largest closing
/// velocity is first.
///
/// A pair is active if one of its points closes within the step faster than the threshold and has a
/// restitution. Its impulse changes the velocities at other pairs, which then act in turn, until no
/// velocity is larger than a billionth of the first. The points of a pair act at once: uₙ⁺ ≥ −e uₙ⁻
/// under Coulomb's law. With friction this can gain energy. In this case the impulse is instead
/// 1 + e times the plastic impulse of the convex law, which cannot gain energy. Elliptic friction
/// is circular in an impact, with the smaller coefficient. Rolling friction acts only in the step.
/// @cite  seghete2014propagative; moreau1988unilateral, for the impulse without a gain of energy.
class BulletImpacts {
 public:
  /// Changes the bodies' velocities and writes the impact impulses of the points.
  /// @note  Cold: allocates.
  void resolve(BulletBodies& bodies, std::vector<BulletPoint>& points, const BulletJoints& joints,
               double time_step, double threshold, int limit) {
    count_ = 0;
    energy_ = 0;
    cut_ = false;
    time_step_ = time_step;
    const bool starts = std::any_of(points.begin(), points.end(), [&](const BulletPoint& p) {
      return p.restitution > 0 && p.approach > threshold && p.gap <= time_step * p.approach;
    });
    if (!starts) return;
    clusters_.make(bodies, joints);
    make_pairs(points);
    propagate(points, threshold, limit);
    clusters_.write_back(bodies);
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  /// Increase of the kinetic energy [J].
  [[nodiscard]] double energy() const noexcept { return energy_; }
  [[nodiscard]] bool cut() const noexcept { return cut_; }

 private:
  /// Impacts end when all closing velocities are below this share of the largest one [-]. Pairs may
  /// act on each other in an infinite series of decreasing impacts. With a smaller share, there are
  /// more of them.
  static constexpr double collapse = 1e-9;
  /// A gain of energy up to this share of |u|², in the mass metric, is rounding [-]. It is larger
  /// than the error that the tolerance permits.
  static constexpr double energy_rounding = 1e-12;
  /// Natural map error of an impact [-]. The impacts of a chain depend on each other, so each is
  /// solved nearly to rounding.
  static constexpr double tolerance = 1e-13;
  /// Least inverse mass from which R is computed [1/kg], so that R is positive.
  static constexpr double least_inverse_mass = 1e-12;

  void make_pairs(const std::vector<BulletPoint>& points) {
    pairs_.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (pairs_.empty() || points[i].manifold != points[i - 1].manifold) {
        pairs_.push_back(
            {i, i, {clusters_.of(points[i].body_slots[0]), clusters_.of(points[i].body_slots[1])}});
      }
      pairs_.back().last = i + 1;
    }
  }
  /// J of a point on the clusters of its pair; a second side in the same cluster joins the first.
  [[nodiscard]] std::array<MatrixX<double>, 2> sides(const BulletPoint& p,
                                                     const std::array<int, 2>& clusters) const {
    std::array<MatrixX<double>, 2> rows;
    for (std::size_t s = 0; s < 2; ++s) {
      if (clusters[s] < 0) continue;
      const ImpactCluster& cluster = clusters_[clusters[s]];
      const MatrixX<double> own =
          p.sides[s] *
          cluster.basis.middleRows(clusters_.start_of(p.body_slots[s]), p.sides[s].cols());
      if (s == 1 && clusters[0] == clusters[1]) {
        rows[0] += own;
      } else {
        rows[s] = own;
      }
    }
    return rows;
  }
  /// Velocity (t₁, t₂, n) of a point, including that of kinematic bodies.
  [[nodiscard]] Vector3<double> velocity_of(const BulletPoint& p) const {
    Vector3<double> u = p.held.head<3>();
    for (std::size_t s = 0; s < 2; ++s) {
      const int slot = p.body_slots[s];
      if (clusters_.of(slot) < 0) continue;
      const ImpactCluster& cluster = clusters_[clusters_.of(slot)];
      const Index start = clusters_.start_of(slot), size = p.sides[s].cols();
      const Coordinates y = cluster.held.segment(start, size) +
                            cluster.basis.middleRows(start, size) * cluster.velocity;
      u += p.sides[s] * y;
    }
    return u;
  }
  void measure(const std::vector<BulletPoint>& points, double threshold, ImpactPair& pair) const {
    pair.speed = 0;
    const bool moves = std::any_of(pair.clusters.begin(), pair.clusters.end(), [&](int c) {
      return c >= 0 && clusters_[c].velocity.size() > 0;
    });
    if (!moves) return;
    bool bounces = pair.stirred;
    for (std::size_t i = pair.first; i < pair.last; ++i) {
      const double closing = -velocity_of(points[i]).z();
      if (closing <= 0 || points[i].gap > time_step_ * closing) continue;
      bounces = bounces || (points[i].restitution > 0 && closing > threshold);
      pair.speed = std::max(pair.speed, closing);
    }
    if (!bounces) pair.speed = 0;
  }

  void propagate(std::vector<BulletPoint>& points, double threshold, int limit) {
    double fastest = 0;
    for (ImpactPair& pair : pairs_) {
      measure(points, threshold, pair);
      fastest = std::max(fastest, pair.speed);
    }
    for (;;) {
      const auto next =
          std::max_element(pairs_.begin(), pairs_.end(),
                           [](const auto& a, const auto& b) { return a.speed < b.speed; });
      if (next == pairs_.end() || next->speed <= collapse * fastest) return;
      cut_ = count_ == limit;
      if (cut_) return;
      act(*next, points);
      for (ImpactPair& other : pairs_) {
        const bool near = std::any_of(other.clusters.begin(), other.clusters.end(), [&](int c) {
          return c >= 0 && (c == next->clusters[0] || c == next->clusters[1]);
        });
        if (!near) continue;
        other.stirred = true;
        measure(points, threshold, other);
      }
      ++count_;
    }
  }

  void act(const ImpactPair& pair, std::vector<BulletPoint>& points) {
    local_.reset(1.0);
    std::array<Index, 2> body = {-1, -1};
    for (std::size_t s = 0; s < 2; ++s) {
      const int c = pair.clusters[s];
      if (c < 0 || (s == 1 && c == pair.clusters[0])) continue;
      const VectorX<double>& z = clusters_[c].velocity;
      if (z.size() > 0) body[s] = local_.add_body(MatrixX<double>::Identity(z.size(), z.size()), z);
    }
    acting_.clear();
    loads_.clear();
    double restitution = 0;
    for (std::size_t i = pair.first; i < pair.last; ++i) {
      const Vector3<double> u = velocity_of(points[i]);
      if (points[i].gap > time_step_ * pair.speed) continue;
      add_local(points[i], pair, body, u);
      acting_.push_back(i);
      loads_.push_back(u);
      restitution = std::max(restitution, points[i].restitution);
    }
    VectorX<double> velocity = local_.free_velocity();
    static_cast<void>(exact_.solve(local_, velocity));
    VectorX<double> impulse = exact_.impulse();
    double gain = energy_gain(impulse);
    const double scale = energy_rounding * local_.free_velocity().squaredNorm();
    if (!(gain <= scale)) {
      plastic(points);
      velocity = local_.free_velocity();
      static_cast<void>(convex_.solve(local_, velocity));
      impulse = (1 + restitution) * convex_.impulse();
      gain = energy_gain(impulse);
    }
    energy_ += gain;
    for (std::size_t k = 0; k < acting_.size(); ++k) {
      const Vector3<double> own = impulse.segment<3>(3 * Index(k));
      points[acting_[k]].struck += own;
      for (int s = 0; s < local_.side_count(Index(k)); ++s) {
        const bool second = local_.side_body(Index(k), s) != body[0];
        clusters_[pair.clusters[second ? 1 : 0]].velocity +=
            local_.jacobian(Index(k), s).transpose() * own;
      }
    }
  }
  void add_local(const BulletPoint& p, const ImpactPair& pair, const std::array<Index, 2>& body,
                 const Vector3<double>& u) {
    const std::array<MatrixX<double>, 2> rows = sides(p, pair.clusters);
    Vector3<double> moving = u;  // the part of u that is not in the clusters' z
    double weight = 0;
    for (std::size_t s = 0; s < 2; ++s) {
      if (body[s] < 0) continue;
      moving -= rows[s] * clusters_[pair.clusters[s]].velocity;
      weight += (rows[s] * rows[s].transpose()).norm() / 3;
    }
    const double soft = BulletContacts::point_softness * std::max(weight, least_inverse_mass);
    WeightedContact<double> law{p.friction(0), {soft, soft}, -moving, true};
    if (p.shape == ImpulseShape::elliptic) law.friction = p.friction.head<2>().minCoeff();
    law.bias_velocity.z() -= p.restitution * u.z();
    if (body[0] < 0) {
      local_.add_contact(body[1], rows[1], law);
    } else if (body[1] < 0) {
      local_.add_contact(body[0], rows[0], law);
    } else {
      local_.add_contact(body[0], rows[0], body[1], rows[1], law);
    }
  }
  /// Sets the restitution of the local contacts to zero.
  void plastic(const std::vector<BulletPoint>& points) {
    for (std::size_t k = 0; k < acting_.size(); ++k) {
      const Index i = Index(k);
      WeightedContact<double> law = local_.friction_contact_law(i);
      law.bias_velocity.z() += points[acting_[k]].restitution * loads_[k].z();
      local_.set_law(i, law);
    }
  }
  /// Σ γ · (u⁻ + u⁺)/2 over the points of the pair.
  [[nodiscard]] double energy_gain(const VectorX<double>& impulse) const {
    if (!impulse.allFinite()) return std::numeric_limits<double>::infinity();
    VectorX<double> change = VectorX<double>::Zero(local_.velocity_count());
    double gain = 0;
    for (std::size_t k = 0; k < acting_.size(); ++k) {
      const Vector3<double> own = impulse.segment<3>(3 * Index(k));
      gain += own.dot(loads_[k]);
      local_.friction_contact(Index(k)).add_momentum(own, change);
    }
    return gain + change.squaredNorm() / 2;
  }

  double time_step_ = 0;
  ImpactClusters clusters_;
  std::vector<ImpactPair> pairs_;
  std::vector<std::size_t> acting_;
  std::vector<Vector3<double>> loads_;
  ContactProblem<double> local_{1.0};
  ContactSolver<double> exact_{{.tolerance = tolerance}};
  ContactSolver<double> convex_{{.law = FrictionLaw::convex, .tolerance = tolerance}};
  int count_ = 0;
  double energy_ = 0;
  bool cut_ = false;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
