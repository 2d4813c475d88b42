// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "carom/linalg/detail/minimum_degree.hpp"

#include "support/sweep.hpp"

/// @file
/// Graphs of blocks for the sparse factorisations: chains, stars, grids, cliques, random ones.
namespace carom::testing {

using Edges = std::set<std::pair<int, int>>;  ///< lower node first

[[nodiscard]] inline Edges chain_edges(int count) {
  Edges edges;
  for (int i = 0; i + 1 < count; ++i) edges.insert({i, i + 1});
  return edges;
}
[[nodiscard]] inline Edges full_edges(int count) {
  Edges edges;
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) edges.insert({i, j});
  }
  return edges;
}
[[nodiscard]] inline Edges star_edges(int count) {
  Edges edges;
  for (int i = 1; i < count; ++i) edges.insert({0, i});
  return edges;
}
[[nodiscard]] inline Edges grid_edges(int rows, int columns) {
  Edges edges;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (c + 1 < columns) edges.insert({r * columns + c, r * columns + c + 1});
      if (r + 1 < rows) edges.insert({r * columns + c, (r + 1) * columns + c});
    }
  }
  return edges;
}
/// About least/modulus of all pairs.
[[nodiscard]] inline Edges scattered_edges(int count, int modulus, int least) {
  Edges edges;
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < a; ++b) {
      if ((3 * a * a + 5 * b * b + 7 * a * b) % modulus < least) edges.insert({b, a});
    }
  }
  return edges;
}
/// A random tree with some more edges: always connected.
[[nodiscard]] inline Edges random_edges(int count, int extra, std::mt19937& engine) {
  Edges edges;
  for (int i = 1; i < count; ++i) edges.insert({int(engine() % std::uint32_t(i)), i});
  for (int k = 0; k < extra; ++k) {
    const int a = int(engine() % std::uint32_t(count)), b = int(engine() % std::uint32_t(count));
    if (a != b) edges.insert({std::min(a, b), std::max(a, b)});
  }
  return edges;
}

/// A connected graph with a size for every node, in the form the library takes.
struct BlockGraph {
  std::vector<int> sizes, list_starts, lists;
  Edges edges;

  BlockGraph(std::vector<int> block_sizes, Edges links)
      : sizes(std::move(block_sizes)), edges(std::move(links)) {
    list_starts.push_back(0);
    for (int i = 0; i < count(); ++i) {
      for (int j = 0; j < count(); ++j) {
        if (i != j && edges.count({std::min(i, j), std::max(i, j)}) != 0) lists.push_back(j);
      }
      list_starts.push_back(int(lists.size()));
    }
  }
  [[nodiscard]] int count() const { return int(sizes.size()); }
  [[nodiscard]] WeightedGraph view() const {
    return {Index(sizes.size()), list_starts.data(), lists.data(), sizes.data()};
  }
};

/// Every graph the tests look at: sizes 6 alone, and mixed.
template <typename Visit>
void for_each_block_graph(const Visit& visit) {
  std::mt19937 engine(4711);
  const auto mixed = [&](int count) {
    const int choices[] = {6, 6, 6, 3, 1, 2, 7, 13, 30};
    std::vector<int> sizes;
    for (int i = 0; i < count; ++i) sizes.push_back(choices[engine() % 9]);
    return sizes;
  };
  const auto sixes = [](int count) { return std::vector<int>(std::size_t(count), 6); };
  for (int size : {1, 2, 3, 5, 6, 7, 8, 9, 16, 17, 30, 61}) visit(BlockGraph({size}, {}));
  for (int count : {2, 3, 9, sweep(20, 40)}) {
    visit(BlockGraph(sixes(count), chain_edges(count)));
    visit(BlockGraph(mixed(count), chain_edges(count)));
    visit(BlockGraph(sixes(count), star_edges(count)));
    visit(BlockGraph(mixed(count), star_edges(count)));
  }
  for (int count : {3, 6, 13}) visit(BlockGraph(mixed(count), full_edges(count)));
  const int rows = sweep(4, 6), columns = sweep(5, 7);
  visit(BlockGraph(sixes(rows * columns), grid_edges(rows, columns)));
  visit(BlockGraph(mixed(rows * columns), grid_edges(rows, columns)));
  // Here a bound on the degrees that counts overlapping sets twice would pass the size.
  visit(BlockGraph(sixes(32), scattered_edges(32, 11, 4)));
  visit(BlockGraph(sixes(18), scattered_edges(18, 19, 10)));
  for (int sample = 0; sample < sweep(8, 25); ++sample) {
    const int count = 2 + int(engine() % sweep(15u, 35u));
    visit(BlockGraph(sample % 2 == 0 ? sixes(count) : mixed(count),
                     random_edges(count, sample * 2, engine)));
  }
}

}  // namespace carom::testing
