// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "carom/impact/impact_problem.hpp"

#include "support/random.hpp"

namespace carom::testing {

/// A mass matrix and the closed contacts of one instant.
struct ImpactScene {
  MassMatrix<double> mass;
  ImpactProblem<double> problem;

  ImpactScene(MassMatrix<double> given, const std::vector<VectorX<double>>& gradients)
      : mass(std::move(given)), problem(mass.size()) {
    for (const auto& gradient : gradients) problem.add_contact(mass, gradient);
    problem.prepare();
  }

  [[nodiscard]] VectorX<double> momentum(const VectorX<double>& velocity) const {
    return mass.momentum(velocity);
  }
  [[nodiscard]] VectorX<double> velocity(VectorX<double> momentum) const {
    mass.apply_inverse(momentum);
    return momentum;
  }
  /// ⟨a, b⟩ = a M⁻¹ bᵀ.
  [[nodiscard]] double inner(const VectorX<double>& a, const VectorX<double>& b) const {
    return a.dot(velocity(b));
  }
  [[nodiscard]] double norm(const VectorX<double>& p) const { return std::sqrt(inner(p, p)); }
  [[nodiscard]] VectorX<double> rates(const VectorX<double>& p) const {
    VectorX<double> s(problem.contact_count());
    for (Index i = 0; i < s.size(); ++i) s(i) = problem.rate(i, p);
    return s;
  }
  /// u_i, dense.
  [[nodiscard]] VectorX<double> normal(Index i) const {
    VectorX<double> u = VectorX<double>::Zero(problem.size());
    problem.add_impulse(i, 1, u);
    return u;
  }
  /// p + Σ λ_i u_i.
  template <typename Impulses>
  [[nodiscard]] VectorX<double> moved(VectorX<double> p, const Impulses& impulses) const {
    for (Index i = 0; i < problem.contact_count(); ++i) {
      problem.add_impulse(i, *(impulses.data() + i), p);
    }
    return p;
  }
};

[[nodiscard]] inline VectorX<double> vector_of(std::initializer_list<double> entries) {
  VectorX<double> result(static_cast<Index>(entries.size()));
  std::copy(entries.begin(), entries.end(), result.data());
  return result;
}

/// Entries in [−1, 1].
[[nodiscard]] inline VectorX<double> draw_vector(VectorSource<double>& source, Index size) {
  VectorX<double> result(size);
  for (Index i = 0; i < size; ++i) result(i) = 2 * source.unit() - 1;
  return result;
}

/// Symmetric positive definite, condition number up to some hundreds.
[[nodiscard]] inline MatrixX<double> draw_definite(VectorSource<double>& source, Index size) {
  MatrixX<double> spread(size, size);
  for (Index i = 0; i < spread.size(); ++i) spread(i) = 2 * source.unit() - 1;
  MatrixX<double> a = spread * spread.transpose();
  a.diagonal().array() += 0.1;
  return a;
}

/// Random metric and random contacts that some motion opens all at once.
[[nodiscard]] inline ImpactScene draw_scene(VectorSource<double>& source, Index size,
                                            Index contacts) {
  MassMatrix<double> mass = MassMatrix<double>::make_dense(draw_definite(source, size));
  const VectorX<double> opening = draw_vector(source, size);  // a velocity
  std::vector<VectorX<double>> gradients;
  while (Index(gradients.size()) < contacts) {
    VectorX<double> gradient = draw_vector(source, size);
    const double opens = gradient.dot(opening);
    if (std::abs(opens) < 0.1 * opening.norm() * gradient.norm()) continue;
    gradients.push_back(opens > 0 ? gradient : VectorX<double>(-gradient));
  }
  return {std::move(mass), gradients};
}

/// Balls in line that touch their neighbours; then a wall on the left, then one on the right.
[[nodiscard]] inline ImpactScene ball_line(const std::vector<double>& masses,
                                           bool left_wall = false, bool right_wall = false) {
  const auto n = static_cast<Index>(masses.size());
  std::vector<VectorX<double>> gradients;
  for (Index i = 0; i + 1 < n; ++i) {
    gradients.push_back(VectorX<double>::Unit(n, i + 1) - VectorX<double>::Unit(n, i));
  }
  if (left_wall) gradients.push_back(VectorX<double>::Unit(n, 0));
  if (right_wall) gradients.push_back(-VectorX<double>::Unit(n, n - 1));
  return {MassMatrix<double>::make_diagonal(Eigen::Map<const VectorX<double>>(masses.data(), n)),
          gradients};
}

/// Unit mass and as many coordinates as contacts, with a given Gram matrix of normals, positive
/// definite.
[[nodiscard]] inline ImpactScene gram_scene(const MatrixX<double>& gram) {
  const MatrixX<double> lower = gram.llt().matrixL();
  std::vector<VectorX<double>> gradients;
  for (Index i = 0; i < gram.rows(); ++i) gradients.push_back(lower.row(i).transpose());
  return {MassMatrix<double>::make_diagonal(VectorX<double>::Ones(gram.rows())), gradients};
}

/// A momentum with given rates, for independent normals.
[[nodiscard]] inline VectorX<double> momentum_with(const ImpactScene& scene,
                                                   const VectorX<double>& rates) {
  const VectorX<double> impulses = scene.problem.gram().llt().solve(rates);
  return scene.moved(VectorX<double>::Zero(scene.problem.size()), impulses);
}

[[nodiscard]] inline ImpactScene pair_scene(double product) {
  MatrixX<double> gram(2, 2);
  gram << 1, product, product, 1;
  return gram_scene(gram);
}

/// An edge of a Coxeter diagram.
struct CoxeterEdge {
  Index first, second;
  int label = 3;
};

/// G_ij = −cos(π/m_ij).
[[nodiscard]] inline MatrixX<double> coxeter_gram(Index nodes,
                                                  const std::vector<CoxeterEdge>& edges) {
  MatrixX<double> gram = MatrixX<double>::Identity(nodes, nodes);
  for (const auto& e : edges) {
    gram(e.first, e.second) = gram(e.second, e.first) = -std::cos(std::numbers::pi / e.label);
  }
  return gram;
}

/// A path with the given labels.
[[nodiscard]] inline std::vector<CoxeterEdge> path_edges(std::initializer_list<int> labels) {
  std::vector<CoxeterEdge> edges;
  Index at = 0;
  for (const int label : labels) {
    edges.push_back({at, at + 1, label});
    ++at;
  }
  return edges;
}

/// A ball c between balls a and b that it touches under the angle theta, in the plane; coordinates
/// (c, a, b). The radii do not matter beyond the angle.
[[nodiscard]] inline ImpactScene billiards(double theta, double mass_c = 1, double mass_a = 1,
                                           double mass_b = 1) {
  const auto contact = [&](double angle, Index ball) {
    VectorX<double> gradient = VectorX<double>::Zero(6);
    const Eigen::Vector2d direction(std::cos(angle), std::sin(angle));
    gradient.head<2>() = -direction;
    gradient.segment<2>(ball) = direction;
    return gradient;
  };
  return {MassMatrix<double>::make_diagonal(
              vector_of({mass_c, mass_c, mass_a, mass_a, mass_b, mass_b})),
          {contact(theta / 2, 2), contact(-theta / 2, 4)}};
}

/// The sentence of the std::invalid_argument that an action throws, or "accepted".
template <typename Action>
[[nodiscard]] std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "accepted";
}

}  // namespace carom::testing
