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

#include "support/random.hpp"

#include "scenes/touching_balls.hpp"

namespace carom::testing {

using examples::ImpactScene, examples::ball_line, examples::billiards;

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

/// A momentum along all contacts: its rates are nothing but round-off. For independent normals.
[[nodiscard]] inline VectorX<double> draw_sliding(VectorSource<double>& source,
                                                  const ImpactScene& scene) {
  VectorX<double> p = draw_vector(source, scene.problem.size());
  for (int again = 0; again < 2; ++again) p -= momentum_with(scene, scene.rates(p));
  return p;
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
