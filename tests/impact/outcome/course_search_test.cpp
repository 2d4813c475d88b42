// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/outcome/course_search.hpp"

#include <cmath>
#include <numbers>

#include "carom/impact/planar_friction.hpp"

#include "support/catch.hpp"
#include "support/planar_touches.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::HullDistance, carom::detail::KineticContacts, carom::detail::OutcomePart,
    carom::detail::CourseSearch;
using carom::testing::by_solver, carom::testing::draw_touched_body, carom::testing::rounding,
    carom::testing::TouchedBody, carom::testing::VectorSource, carom::testing::WorstCase;

constexpr double merging = by_solver(1e-11);

/// Ends a search after so many polytopes.
auto at_most(const CourseSearch<double>& search, Index count) {
  return [&search, count] { return search.part_count() < count; };
}

/// The largest distance of x from the nearest of the parts.
double distance_from(const std::vector<OutcomePart<double>>& parts, const VectorX<double>& x) {
  HullDistance<double> hull;
  double least = HUGE_VAL;
  for (const auto& part : parts) {
    least = std::min(least, hull.find(part.corners.topRows(part.dimension), x));
  }
  return least;
}

TEST_CASE("course_search: one contact has Routh's outcome", "[impact][oracle]") {
  VectorSource<double> source(101u);
  WorstCase single("one outcome"), routh("Routh's impulse");
  const int count = carom::testing::sweep(200, 5000);
  for (int sample = 0; sample < count; ++sample) {
    const TouchedBody body = draw_touched_body(source, 1);
    const KineticContacts<double> contacts(body.mass, body.contacts, body.velocity);
    const double size = contacts.start().norm();
    CourseSearch<double> search(contacts, merging * size);
    REQUIRE(search.run(at_most(search, 200)));
    const auto parts = search.outcomes();
    REQUIRE(parts.size() == 1);
    const VectorX<double> found = parts[0].corners.col(0).head(parts[0].dimension);
    for (Index i = 0; i < parts[0].corners.cols(); ++i) {
      single.see((parts[0].corners.col(i).head(parts[0].dimension) - found).norm(),
                 4 * merging * size, sample);
    }
    MatrixX<double> rows(2, contacts.dimension());
    rows << contacts.tangent(0).transpose(), contacts.normal(0).transpose();
    const Eigen::Vector2d impulse = carom::routh_impulse(carom::PlanarImpact<double>{
        rows * rows.transpose(), rows * contacts.start(), body.contacts[0].friction, 0});
    const VectorX<double> expected = contacts.start() + rows.transpose() * impulse;
    routh.see((found - expected).norm(), 40 * merging * size, sample);
  }
  single.check(count);
  routh.check(count);
}

/// An outcome by contacts that close one after the other, in any order and for any part of their
/// way: impulses of one contact at a time, in steps so small that slip keeps its sign in each.
VectorX<double> sampled_outcome(VectorSource<double>& source,
                                const KineticContacts<double>& contacts, double resting) {
  VectorX<double> x = contacts.start();
  for (int step = 0; step < 4000; ++step) {
    std::vector<Index> closing;
    for (Index i = 0; i < contacts.count(); ++i) {
      if (contacts.normal(i).normalized().dot(x) < -resting) closing.push_back(i);
    }
    if (closing.empty()) return x;
    const Index i = closing[std::size_t(source.unit() * double(closing.size()))];
    const VectorX<double> a = contacts.normal(i), b = contacts.tangent(i);
    const double mu = contacts.friction(i), speed = a.dot(x), slip = b.dot(x);
    const double rounding_of_slip = rounding(64, b.norm() * contacts.start().norm());
    double ratio = -std::clamp(a.dot(b) / b.squaredNorm(), -mu, mu);  // by which slip stays zero
    bool slides = std::abs(slip) > rounding_of_slip;
    if (slides) ratio = slip > 0 ? -mu : mu;
    const VectorX<double> motion = a + ratio * b;
    double share = source.unit() < 0.5 ? HUGE_VAL : 2 * source.unit() * -speed / a.squaredNorm();
    if (motion.dot(a) > 0) share = std::min(share, -speed / motion.dot(a));
    const bool stops = slides && motion.dot(b) * slip < 0 && -slip / motion.dot(b) <= share;
    if (stops) share = -slip / motion.dot(b);
    if (!(share < HUGE_VAL)) share = -speed / a.squaredNorm();
    x += share * motion;
    if (stops) x -= b.dot(x) / b.squaredNorm() * b;  // the rounding of a slip that has stopped
  }
  return {};
}

TEST_CASE("course_search: no outcome of a drawn order is left out", "[impact][law]") {
  VectorSource<double> source(102u);
  WorstCase outside("distance of a sampled outcome from the set");
  long sampled = 0, complete = 0;
  const int count = carom::testing::sweep(40, 1000);
  for (int sample = 0; sample < count; ++sample) {
    const TouchedBody body = draw_touched_body(source, 2 + sample % 3);
    const KineticContacts<double> contacts(body.mass, body.contacts, body.velocity);
    const double size = contacts.start().norm();
    CourseSearch<double> search(contacts, merging * size);
    if (!search.run(at_most(search, 400))) continue;
    ++complete;
    const auto parts = search.outcomes();
    for (int trial = 0; trial < 60; ++trial) {
      const VectorX<double> x = sampled_outcome(source, contacts, merging * size);
      if (x.size() == 0) continue;
      ++sampled;
      outside.see(distance_from(parts, x), by_solver(1e-7) * size, sample, trial);
    }
  }
  CHECK(complete > count / 2);
  outside.check(20 * complete);
}

TEST_CASE("course_search: with a width it encloses true outcomes, and nothing remote",
          "[impact][law]") {
  VectorSource<double> source(104u);
  WorstCase lost("distance of an outcome from the enclosure"),
      remote("distance of the enclosure from the outcomes of one contact"),
      bounded("the length for which it is proved");
  const double width = 1e-4, share = by_solver(1e-12);
  long enclosed = 0;
  const int count = carom::testing::sweep(30, 1000);
  for (int sample = 0; sample < count; ++sample) {
    const TouchedBody body = draw_touched_body(source, 1 + sample % 2);
    const KineticContacts<double> contacts(body.mass, body.contacts, body.velocity);
    const double size = contacts.start().norm();
    CourseSearch<double> inner(contacts, merging * size),
        outer(contacts, share * size, width * size);
    static_cast<void>(inner.run(at_most(inner, 200)));
    if (!outer.run(at_most(outer, 120))) continue;
    ++enclosed;
    bounded.see_holds(outer.proved_length() > 0 && outer.advance() > 0, sample);
    const auto parts = inner.outcomes(), enclosure = outer.outcomes();
    for (const auto& part : parts) {
      for (const auto& corner : part.corners.colwise()) {
        lost.see(distance_from(enclosure, corner.head(part.dimension)), width / 16 * size, sample);
      }
    }
    for (int trial = 0; trial < 60; ++trial) {
      const VectorX<double> x = sampled_outcome(source, contacts, merging * size);
      if (x.size() == 0) continue;
      lost.see(distance_from(enclosure, x), width / 16 * size, sample, trial);
    }
    // One contact has one outcome; what is allowed near its planes moves it by some widths.
    if (contacts.count() > 1) continue;
    for (const auto& part : enclosure) {
      for (const auto& corner : part.corners.colwise()) {
        remote.see(distance_from(parts, corner), 50 * width * size, sample);
      }
    }
  }
  CHECK(enclosed > count / 2);
  lost.check(60 * enclosed / 2);
  remote.check(count / 4);
  bounded.check(enclosed);
}

TEST_CASE("course_search: schedules lead to their outcomes by the law, without energy gained",
          "[impact][law]") {
  VectorSource<double> source(103u);
  WorstCase arrives("the impulses give the velocity"),
      cone("friction is at most mu times the normal"), against("friction opposes slip"),
      acts("only contacts that do not open act"), energy("energy"),
      ends("no contact closes at the end");
  for (int sample = 0; sample < carom::testing::sweep(40, 1000); ++sample) {
    const TouchedBody body = draw_touched_body(source, 1 + sample % 4);
    const KineticContacts<double> contacts(body.mass, body.contacts, body.velocity);
    const double size = contacts.start().norm(), few = by_solver(1e-9);
    CourseSearch<double> search(contacts, merging * size);
    static_cast<void>(search.run(at_most(search, 200)));
    for (const auto& part : search.outcomes()) {
      // A mixture of corners is an outcome, too.
      VectorX<double> weights = VectorX<double>::NullaryExpr(
          part.corners.cols(), [&] { return source.unit() * source.unit() + 1e-3; });
      const VectorX<double> mixed = part.corners * (weights / weights.sum());
      VectorX<double> x = contacts.start();
      for (std::size_t stage = 0; stage < part.course.size(); ++stage) {
        const double before = x.squaredNorm();
        const VectorX<double> from = x;
        const auto impulses = mixed.segment(part.dimension + Index(stage) * 2 * contacts.count(),
                                            2 * contacts.count());
        for (Index i = 0; i < contacts.count(); ++i) {
          x += impulses(2 * i) * contacts.normal(i) + impulses(2 * i + 1) * contacts.tangent(i);
        }
        energy.see(std::max(x.squaredNorm() - before, 0.0), few * size * size, sample);
        for (Index i = 0; i < contacts.count(); ++i) {
          const double normal = impulses(2 * i), friction = impulses(2 * i + 1);
          const double mu = contacts.friction(i), unit = size / contacts.normal(i).norm();
          cone.see(std::max(std::abs(friction) - mu * normal, 0.0), few * unit, sample);
          if (!(normal > few * unit)) continue;
          for (const VectorX<double>& at : {from, x}) {
            acts.see(std::max(contacts.normal(i).normalized().dot(at), 0.0), few * size, sample);
            const double slip = contacts.tangent(i).normalized().dot(at);
            if (std::abs(slip) <= few * size || mu == 0) continue;
            against.see(std::abs(friction + (slip > 0 ? mu : -mu) * normal), few * unit * (1 + mu),
                        sample);
          }
        }
      }
      arrives.see((x - mixed.head(part.dimension)).norm(), few * size, sample);
      for (Index i = 0; i < contacts.count(); ++i) {
        ends.see(std::max(-contacts.normal(i).normalized().dot(x), 0.0), few * size, sample);
      }
    }
  }
  for (const auto* law : {&arrives, &cone, &against, &acts, &energy, &ends}) law->check(20);
}

}  // namespace
