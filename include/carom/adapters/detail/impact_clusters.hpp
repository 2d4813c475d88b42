// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <numeric>
#include <vector>

#include <Eigen/QR>

#include "carom/adapters/detail/bullet_bodies.hpp"
#include "carom/adapters/detail/bullet_joints.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Bodies that joints tie together, in coordinates z in which their kinetic energy is ½ ‖z‖² and
/// no joint moves: y = held + basis z, y the bodies' coordinates one after another.
struct ImpactCluster {
  std::vector<int> slots;
  MatrixX<double> basis;
  VectorX<double> held, velocity;
};

/// The clusters of a group of bodies, and where each body is in its own.
class ImpactClusters {
 public:
  /// Sorts the bodies into clusters and reads their velocities.
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
      if (both) root[std::size_t(find(block.slots[1]))] = find(block.slots[0]);
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
      clusters_[std::size_t(cluster)].slots.push_back(slot);
    }
    for (ImpactCluster& cluster : clusters_) write_basis(bodies, joints, cluster);
  }
  /// Gives the bodies the velocities of their clusters.
  void write_back(BulletBodies& bodies) const {
    for (const ImpactCluster& cluster : clusters_) {
      const VectorX<double> y = cluster.held + cluster.basis * cluster.velocity;
      Index start = 0;
      for (const int slot : cluster.slots) {
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
  /// Where the coordinates of a body begin in its cluster.
  [[nodiscard]] Index start_of(int slot) const noexcept { return start_of_[std::size_t(slot)]; }

 private:
  /// What bilateral rows of joints leave free.
  void write_basis(const BulletBodies& bodies, const BulletJoints& joints,
                   ImpactCluster& cluster) const {
    std::vector<double> numbers, speeds;
    for (const int slot : cluster.slots) {
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
          const std::size_t slot = std::size_t(block.slots[s]);
          if (block.sides[s].cols() == 0 || cluster_of_[slot] < 0) continue;
          if (&clusters_[std::size_t(cluster_of_[slot])] != &cluster) continue;
          column.segment(start_of_[slot], bodies[block.slots[s]].velocity.size()) +=
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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
