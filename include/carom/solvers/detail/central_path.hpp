// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "carom/core/solve_report.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/detail/body_system.hpp"
#include "carom/solvers/detail/active_block.hpp"
#include "carom/solvers/detail/path_block.hpp"

namespace carom::inline CAROM_ABI::detail {

/// Blocks of all kinds on the central path, each kind in an array of its own.
template <RealScalar Scalar>
class PathBlocks {
 public:
  template <typename Blocks>
  void lay_out(const Blocks& blocks) {
    triples_.clear();
    cones_.clear();
    intervals_.clear();
    index_.resize(blocks.size());
    for (Index i = 0; i < blocks.size(); ++i) {
      if (blocks[i].triple) {
        index_[i] = int(triples_.size());
        triples_.push_back({});
      } else if (blocks[i].is_cone()) {
        index_[i] = int(cones_.size());
        cones_.push_back({});
      } else {
        index_[i] = int(intervals_.size());
        intervals_.push_back({});
      }
    }
  }
  template <typename Block, typename Visit>
  decltype(auto) visit(Index i, const Block& block, Visit&& visit) noexcept {
    if (block.triple) return visit(triples_[index_[i]]);
    if (block.is_cone()) return visit(cones_[index_[i]]);
    return visit(intervals_[index_[i]]);
  }

 private:
  Sequence<ConePath<Scalar, 2, 1>> triples_;
  Sequence<ConePath<Scalar, 5, 3>> cones_;
  Sequence<IntervalPath<Scalar>> intervals_;
  Sequence<int> index_;
};

/// What the norms of errors are compared with.
template <RealScalar Scalar>
struct Yardstick {
  Scalar load;          ///< ‖q‖ of the whole problem [m/s]
  Scalar inverse_mass;  ///< w, the mean diagonal of W + R of the whole problem [1/kg]
};

/// The central path of one island of a system, followed by predictor and corrector.
template <typename System, RealScalar Scalar>
class CentralPath {
 public:
  void lay_out(const System& system) {
    paths_.lay_out(system.blocks());
    gains_.lay_out(system.blocks());
    for (Sequence<Scalar>* numbers :
         {&impulse_, &exact_, &gap_, &offset_, &step_, &moved_, &kept_, &start_}) {
      numbers->assign(3 * system.part_count(), Scalar(0));
    }
  }

  [[nodiscard]] Scalar* impulse() noexcept { return impulse_.data(); }
  [[nodiscard]] const Scalar* exact() const noexcept { return exact_.data(); }

  /// exact_ = u of the impulses.
  void write_exact(System& system, Index island) noexcept {
    system.multiply(island, impulse_.data(), exact_.data());
    const auto& own = system.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      const auto& block = system.blocks()[i];
      for (int k = 0; k < block.size(); ++k) {
        const Index p = 3 * block.first_part + k;
        exact_[p] += system.load()[p] + block.regularization(k) * impulse_[p];
      }
    }
  }

  /// Natural map error of impulse_, whose u is exact_.
  [[nodiscard]] Scalar error(const System& system, Index island, FrictionLaw law,
                             const Yardstick<Scalar>& yard) const noexcept {
    using std::sqrt;
    Scalar map(0), impulses(0), velocities(0);
    const auto& own = system.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      const auto& block = system.blocks()[i];
      RowNumbers<Scalar> gamma = RowNumbers<Scalar>::Zero(), u = gamma;
      const bool planar = block.set.shape == ImpulseShape::planar;
      for (int r = 0; r < block.set.rows; ++r) {
        const Index p = 3 * block.first_part + (planar ? 2 * r : r);
        gamma(r) = impulse_[p];
        u(r) = exact_[p];
      }
      map += natural_map_squared(law, block.set, gamma, u, yard.inverse_mass);
      impulses += gamma.squaredNorm();
      velocities += u.squaredNorm();
    }
    const Scalar scale = (std::max)(
        {yard.load, Scalar(yard.inverse_mass * sqrt(impulses)), Scalar(sqrt(velocities))});
    return relative_error(Scalar(sqrt(map)), scale);
  }

  /// Follows the path from nothing. Leaves the impulses of the last iterate.
  SolveStatus follow(System& system, Index island, FrictionLaw law, const Yardstick<Scalar>& yard,
                     const Scalar& tolerance, int limit, int& systems);

  /// Newton's method on the law itself from impulse_, as long as the error falls.
  bool finish(System& system, Index island, FrictionLaw law, const Yardstick<Scalar>& yard,
              const Scalar& tolerance, int limit, int& systems);

  int verbose = 0;

 private:
  template <typename Visit>
  void for_each_block(const System& system, Index island, Visit&& visit) noexcept {
    const auto& own = system.islands()[island];
    for (Index i = own.first_block; i < own.block_end; ++i) {
      const auto& block = system.blocks()[i];
      paths_.visit(i, block, [&](auto& path) { visit(i, block, path); });
    }
  }
  static PartNumbers<Scalar> read(const Scalar* numbers,
                                  const BlockRows<Scalar>& block) noexcept {
    PartNumbers<Scalar> result = PartNumbers<Scalar>::Zero();
    for (int k = 0; k < block.size(); ++k) result(k) = numbers[3 * block.first_part + k];
    return result;
  }
  static void write(const PartNumbers<Scalar>& numbers, const BlockRows<Scalar>& block,
                    Scalar* target) noexcept {
    for (int k = 0; k < block.size(); ++k) target[3 * block.first_part + k] = numbers(k);
  }
  [[nodiscard]] bool start(System& system, Index island, FrictionLaw law,
                           const Yardstick<Scalar>& yard);
  /// Reads impulses off the paths and measures where they lead.
  void read_impulses(System& system, Index island) noexcept;
  bool find_step(System& system, Index island, FrictionLaw law, const PathTarget<Scalar>& target);
  [[nodiscard]] Scalar longest(System& system, Index island) noexcept;
  [[nodiscard]] Scalar product(System& system, Index island, FrictionLaw law,
                               const Scalar& share) noexcept;

  PathBlocks<Scalar> paths_;
  BlockGains<Scalar> gains_;
  Sequence<Scalar> impulse_, exact_, gap_, offset_, step_, moved_, kept_, start_;
};

// --- implementation ---

template <typename System, RealScalar Scalar>
bool CentralPath<System, Scalar>::start(System& system, Index island, FrictionLaw law,
                                        const Yardstick<Scalar>& yard) {
  for_each_block(system, island, [&](Index i, const auto& block, auto&) {
    SquareMatrix<Scalar, 6> gain = SquareMatrix<Scalar, 6>::Zero();
    for (int k = 0; k < block.size(); ++k) {
      if (block.present[std::size_t(k)]) {
        gain(k, k) = 1 / (block.regularization(k) + block.inverse_mass);
      }
    }
    for (int b = 0; b < block.disc_count; ++b) {
      const auto& disc = block.discs[std::size_t(b)];
      for (int k = 0; k < disc.size; ++k) {
        const int p = disc.places[std::size_t(k)];
        const Scalar mu = disc.friction[std::size_t(k)];
        gain(p, p) = 1 / (block.regularization(p) + block.inverse_mass / (mu * mu));
      }
    }
    gains_.write(i, block.parts, gain);
    PartNumbers<Scalar> offset = PartNumbers<Scalar>::Zero();
    for (int k = 0; k < block.size(); ++k) {
      offset(k) = -gain(k, k) * system.load()[3 * block.first_part + k];
    }
    write(offset, block, offset_.data());
  });
  if (!system.factor(island, gains_)) return false;
  system.solve(island, gains_, offset_.data(), step_.data(), moved_.data());
  const auto& own = system.islands()[island];
  std::copy(step_.begin() + 3 * own.first_part, step_.begin() + 3 * own.part_end,
            impulse_.begin() + 3 * own.first_part);
  write_exact(system, island);
  Scalar missing[2] = {};
  static const double globally = getenv("GLOB") ? atof(getenv("GLOB")) : 1.0;
  static const double margin = getenv("MARG") ? atof(getenv("MARG")) : 1.3;
  Scalar sum(0); int count = 0;
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    PartNumbers<Scalar> u = PartNumbers<Scalar>::Zero();
    const PartNumbers<Scalar> g = read(impulse_.data(), block);
    for (int k = 0; k < block.size(); ++k) u(k) = -block.inverse_mass * g(k);
    if (globally > 1.5) u = read(exact_.data(), block);
    path.start(block, g, u);
    Scalar own_missing[2];
    path.find_missing(block, own_missing[0], own_missing[1]);
    for (int k = 0; k < 2; ++k) missing[k] = (std::max)(missing[k], own_missing[k]);
    for (int k = 0; k < block.size(); ++k) sum += std::abs(g(k));
    ++count;
  });
  const Scalar mean = sum / count;
  missing[0] = std::max(missing[0], Scalar(0.1) * mean);
  missing[1] = std::max(missing[1], Scalar(0.1) * mean * yard.inverse_mass);
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    path.raise(block, law, Scalar(margin) * missing[0], Scalar(margin) * missing[1]);
  });
  return true;
}

template <typename System, RealScalar Scalar>
void CentralPath<System, Scalar>::read_impulses(System& system, Index island) noexcept {
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    write(path.impulse(block), block, impulse_.data());
  });
  write_exact(system, island);
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    const PartNumbers<Scalar> exact = read(exact_.data(), block);
    write(path.velocity(block, exact) - exact, block, gap_.data());
  });
}

template <typename System, RealScalar Scalar>
bool CentralPath<System, Scalar>::find_step(System& system, Index island, FrictionLaw law,
                                            const PathTarget<Scalar>& target) {
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    PartNumbers<Scalar> offset;
    path.write_offset(block, law, target, read(gap_.data(), block), offset);
    write(offset, block, offset_.data());
  });
  system.solve(island, gains_, offset_.data(), step_.data(), moved_.data());
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    path.take_step(block, law, read(step_.data(), block), read(moved_.data(), block),
                   read(gap_.data(), block));
  });
  return true;
}

template <typename System, RealScalar Scalar>
Scalar CentralPath<System, Scalar>::longest(System& system, Index island) noexcept {
  Scalar inverse(0);
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    inverse = path.inverse_step(block, inverse);
  });
  return inverse > Scalar(0) ? Scalar(1) / inverse : Scalar(1e30);
}

template <typename System, RealScalar Scalar>
Scalar CentralPath<System, Scalar>::product(System& system, Index island, FrictionLaw law,
                                            const Scalar& share) noexcept {
  Scalar sum(0);
  int count = 0;
  for_each_block(system, island, [&](Index, const auto& block, auto& path) {
    sum += path.product(block, law, share);
    count += path.count(block, law);
  });
  return count > 0 ? sum / Scalar(count) : Scalar(0);
}

template <typename System, RealScalar Scalar>
SolveStatus CentralPath<System, Scalar>::follow(System& system, Index island, FrictionLaw law,
                                                const Yardstick<Scalar>& yard,
                                                const Scalar& tolerance, int limit, int& systems) {
  if (!start(system, island, law, yard)) return SolveStatus::not_finite;
  ++systems;
  Scalar blocked(0), next_try(1);
  for (int it = 0; it < limit; ++it) {
    read_impulses(system, island);
    const Scalar now = error(system, island, law, yard);
    // no step yet: products at share 0
    Scalar kappa(0);
    for_each_block(system, island, [&](Index, const auto& block, auto& path) {
      kappa += path.product(block, law, Scalar(0));
    });
    int count = 0;
    for_each_block(system, island,
                   [&](Index, const auto& block, auto& path) { count += path.count(block, law); });
    kappa /= Scalar((std::max)(count, 1));
    if (verbose) {
      Scalar gap(0);
      const auto& own = system.islands()[island];
      for (Index p = 3 * own.first_part; p < 3 * own.part_end; ++p) gap += gap_[p] * gap_[p];
      std::printf("  it %2d err %9.2e kappa %9.2e gap %9.2e", it, double(now), double(kappa),
                  double(std::sqrt(gap)));
    }
    if (now <= tolerance) {
      if (verbose) std::printf("\n");
      return SolveStatus::converged;
    }
    if (now < next_try && now < Scalar(1e-3)) {
      next_try = now / 10;
      std::copy(impulse_.begin(), impulse_.end(), start_.begin());
      if (finish(system, island, law, yard, tolerance, 10, systems)) return SolveStatus::converged;
      std::copy(start_.begin(), start_.end(), impulse_.begin());
    }
    bool inside = true;
    for_each_block(system, island, [&](Index i, const auto& block, auto& path) {
      inside = path.scale(block) && inside;
      SquareMatrix<Scalar, 6> gain;
      path.write_gain(block, law, gain);
      gains_.write(i, block.parts, gain);
    });
    if (verbose) {
      Scalar low(1e300), high(0);
      for_each_block(system, island, [&](Index, const auto& block, auto& path) { path.spread(block, low, high, law); });
      std::printf(" spread %.1e %.1e ", double(low / kappa), double(high / kappa));
    }
    if (!inside || !system.factor(island, gains_)) {
      if (verbose) std::printf(" inside %d\n", inside);
      return SolveStatus::no_progress;
    }
    ++systems;
    find_step(system, island, law, {Scalar(0), false});
    if (verbose > 1 && kappa < 1e-8) for_each_block(system, island, [&](Index i, const auto&, auto& path) { path.dump(i); });
    const Scalar affine = (std::min)(Scalar(1), longest(system, island));
    const Scalar predicted = product(system, island, law, affine);
    Scalar ratio = (std::max)(Scalar(0), predicted) / kappa;
    Scalar sigma = (std::min)(Scalar(1), ratio * ratio * ratio);
    find_step(system, island, law, {sigma * kappa, true});
    Scalar share = (std::min)(Scalar(1), Scalar(0.995) * longest(system, island));
    if (share < Scalar(0.1)) {
      sigma = (std::max)(sigma, Scalar(0.5));
      find_step(system, island, law, {sigma * kappa, false});
      share = (std::min)(Scalar(1), Scalar(0.995) * longest(system, island));
    }
    if (verbose) {
      std::printf(" affine %.3f sigma %.1e share %.3f\n", double(affine), double(sigma),
                  double(share));
    }
    blocked += share < Scalar(0.1)    ? Scalar(1)
               : share < Scalar(0.25) ? Scalar(0.5)
               : blocked > Scalar(0.5) ? Scalar(-0.5)
                                       : -blocked;
    if (blocked >= Scalar(law == FrictionLaw::convex ? 40 : 4)) return SolveStatus::no_progress;
    for_each_block(system, island,
                   [&](Index, const auto& block, auto& path) { path.advance(block, share); });
  }
  return SolveStatus::iteration_limit;
}

template <typename System, RealScalar Scalar>
bool CentralPath<System, Scalar>::finish(System& system, Index island, FrictionLaw law,
                                         const Yardstick<Scalar>& yard, const Scalar& tolerance,
                                         int limit, int& systems) {
  const auto& own = system.islands()[island];
  const auto clip = [&](const Scalar* source, const Scalar& share) {
    for (Index i = own.first_block; i < own.block_end; ++i) {
      const auto& block = system.blocks()[i];
      PartNumbers<Scalar> x = read(source, block);
      if (share > Scalar(0)) x += share * read(step_.data(), block);
      write(ActiveBlock<Scalar>::clip(block, x), block, impulse_.data());
    }
  };
  clip(impulse_.data(), Scalar(0));
  write_exact(system, island);
  Scalar now = error(system, island, law, yard);
  for (int it = 0; it < limit; ++it) {
    if (verbose > 0) std::printf(" <%.1e>", double(now));
    if (now <= tolerance) return true;
    BlockResponse<Scalar> response;
    for (Index i = own.first_block; i < own.block_end; ++i) {
      const auto& block = system.blocks()[i];
      ActiveBlock<Scalar>::write(block, law, read(impulse_.data(), block),
                                 read(exact_.data(), block), response);
      gains_.write(i, block.parts, response.gain);
      write(response.offset, block, offset_.data());
    }
    if (!system.factor(island, gains_)) return false;
    ++systems;
    system.solve(island, gains_, offset_.data(), step_.data(), moved_.data());
    std::copy(impulse_.begin(), impulse_.end(), kept_.begin());
    Scalar share(1), best = std::numeric_limits<Scalar>::infinity(), best_share(0);
    for (int k = 0; k < 6; ++k, share /= 2) {
      clip(kept_.data(), share);
      write_exact(system, island);
      const Scalar trial = error(system, island, law, yard);
      if (trial < best) { best = trial; best_share = share; }
      if (trial < now * (1 - share / 10)) break;
    }
    if (!(best < now)) { std::copy(kept_.begin(), kept_.end(), impulse_.begin()); write_exact(system, island); return now <= tolerance; }
    if (best_share != share) { clip(kept_.data(), best_share); write_exact(system, island); }
    if (best > now / 2 && it > 2) return best <= tolerance;
    now = best;
  }
  return now <= tolerance;
}

}  // namespace carom::inline CAROM_ABI::detail
