// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/infeasible.hpp"

#include <cmath>
#include <limits>

#include "carom/solvers/infeasibility_ray.hpp"

#include "support/catch.hpp"
#include "support/certificate_noise.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/world_solver.hpp"

#include "scenes/painleve_rod.hpp"

namespace infeasible_test {

using carom::testing::by_solver, carom::testing::natural_map_noise;

using carom::certify_infeasible, carom::ContactProblem, carom::DelassusForm;
using carom::DelassusProblem, carom::FrictionLaw, carom::Index, carom::InfeasibilityCertificate;
using carom::InfeasibilityOptions, carom::Vector, carom::Vector3, carom::VectorX;
using carom::examples::ClosingSlot, carom::examples::NarrowWell, carom::examples::KleinBrake;
using carom::examples::RunningChannel;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorldSolver;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::convex, FrictionLaw::coulomb};

template <typename Scalar>
Vector3<Scalar> unit_vector(VectorSource<Scalar>& source) {
  return source.template vector<3>(1, 0).normalized();
}

template <typename Scalar>
DelassusProblem<Scalar> dual_of(const ContactProblem<Scalar>& problem) {
  DelassusProblem<Scalar> dual;
  DelassusForm<Scalar>().write(problem, dual);
  return dual;
}

/// Whether a ray is accepted: by bodies and in impulses alike.
template <typename Scalar>
bool accepted(const ContactProblem<Scalar>& problem, FrictionLaw law, const VectorX<Scalar>& ray,
              const InfeasibilityOptions<Scalar>& options = {}) {
  const auto by_bodies = certify_infeasible(problem, law, ray, options);
  const auto by_impulses = certify_infeasible(dual_of(problem), law, ray, options);
  CAPTURE(by_bodies.cancellation, by_bodies.drive, by_bodies.velocity_needed,
          by_bodies.impulse_needed, by_bodies.velocity_bound, by_impulses.cancellation,
          by_impulses.drive);
  CHECK(by_bodies.infeasible == by_impulses.infeasible);
  return by_bodies.infeasible && by_impulses.infeasible;
}

/// The same with the ray that is found without a guess.
template <typename Scalar>
bool found(const ContactProblem<Scalar>& problem, FrictionLaw law) {
  const VectorX<Scalar> ray = carom::refine_ray(problem, law);
  return accepted(problem, law, ray);
}

}  // namespace

TEMPLATE_TEST_CASE("infeasible: a block is wedged once walls close faster than its room allows",
                   "[scenes][scene]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(1u);
  const VectorX<Scalar> ray = carom::examples::closing_slot_ray<Scalar>();
  for (int sample = 0; sample < 30; ++sample) {
    ClosingSlot<Scalar> slot;
    slot.mass = source.positive(12);
    slot.half = source.positive(2);
    slot.time_step = source.positive(4);
    slot.gap = sample % 3 == 0 ? Scalar(0) : source.positive(6);
    slot.friction = sample % 2 == 0 ? Scalar(0) : source.positive(2);
    slot.across = unit_vector(source);
    const Scalar limit = carom::examples::closing_limit(slot);
    const Scalar speed = limit > Scalar(0) ? limit : source.positive(12);
    slot.free_velocity = speed * unit_vector(source);
    for (const FrictionLaw law : laws) {
      CAPTURE(sample, int(law), slot.mass, slot.half, slot.time_step, slot.gap, slot.friction);
      slot.closing = limit + speed / 10;
      CHECK(accepted(carom::examples::make_closing_slot(slot), law, ray));
      CHECK(found(carom::examples::make_closing_slot(slot), law));
      slot.closing = limit - speed / 10;
      CHECK(!accepted(carom::examples::make_closing_slot(slot), law, ray));
      CHECK(!found(carom::examples::make_closing_slot(slot), law));
    }
  }
}

TEMPLATE_TEST_CASE("infeasible: balls do not leave a well that is too narrow by its walls",
                   "[scenes][scene]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(2u);
  for (int sample = 0; sample < 20; ++sample) {
    NarrowWell<Scalar> well;
    well.count = 1 + sample % 7;
    well.missing = source.positive(6);
    well.mass = source.positive(12);
    well.mass_ratio = sample % 2 == 0 ? Scalar(1) : source.positive(2);
    well.radius = source.positive(4);
    well.time_step = source.positive(4);
    well.friction = source.non_negative(2);
    well.along = unit_vector(source);
    const VectorX<Scalar> ray = carom::examples::narrow_well_ray(well);
    for (const FrictionLaw law : laws) {
      CAPTURE(sample, int(law), well.count, well.missing, well.mass, well.mass_ratio, well.radius);
      CHECK(accepted(carom::examples::make_narrow_well(well), law, ray));
      CHECK(found(carom::examples::make_narrow_well(well), law));
      NarrowWell<Scalar> twin = well;
      twin.missing = -well.missing;  // wide enough
      CHECK(!accepted(carom::examples::make_narrow_well(twin), law, ray));
      CHECK(!found(carom::examples::make_narrow_well(twin), law));
      twin = well;
      twin.correction = 0;  // an overlap that may stay
      CHECK(!accepted(carom::examples::make_narrow_well(twin), law, ray));
      CHECK(!found(carom::examples::make_narrow_well(twin), law));
    }
  }
}

TEMPLATE_TEST_CASE("infeasible: a ray that misses one contact of the row proves nothing",
                   "[scenes][scene]", float, double) {
  using Scalar = TestType;
  const NarrowWell<Scalar> well;
  const auto problem = carom::examples::make_narrow_well(well);
  for (Index i = 0; i <= well.count; ++i) {
    VectorX<Scalar> ray = carom::examples::narrow_well_ray(well);
    ray(3 * i + 2) = 0;
    CHECK(!accepted(problem, FrictionLaw::coulomb, ray));
    ray(3 * i + 2) = -1;  // pulls
    const auto judged = certify_infeasible(problem, FrictionLaw::coulomb, ray);
    CHECK(!judged.infeasible);
    CHECK(judged.cone_violation_block == i);
    CHECK(judged.cone_violation > 0);
  }
}

TEMPLATE_TEST_CASE("infeasible: a brake jams from mu = a/b on, though velocities satisfy the gap",
                   "[scenes][scene]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(3u);
  VectorX<Scalar> ray(3);
  ray << 0, 0, 1;
  for (int sample = 0; sample < 40; ++sample) {
    KleinBrake<Scalar> brake;
    brake.offset = source.positive(4);
    brake.height = source.positive(4);
    brake.inertia = source.positive(12);
    brake.press = source.positive(8);
    brake.belt = brake.press * brake.height * source.positive(2);
    const Scalar limit = carom::examples::jamming_friction(brake);
    brake.friction = limit * Scalar(1.05);
    CAPTURE(sample, brake.offset, brake.height, brake.inertia, brake.press, brake.belt);
    const auto jammed = carom::examples::make_klein_brake(brake);
    InfeasibilityOptions<Scalar> options;
    CHECK(!accepted(jammed, FrictionLaw::coulomb, ray, options));  // without the slide
    carom::KnownSlide<Scalar> slide{0, {1, 0}, VectorX<Scalar>::Zero(3)};
    slide.multipliers(2) = brake.height / brake.offset;
    options.slides = {slide};
    CHECK(accepted(jammed, FrictionLaw::coulomb, ray, options));
    CHECK(certify_infeasible(jammed, FrictionLaw::coulomb, ray, options).slides_proven == 1);
    options.slides = {carom::find_slide(jammed, 0, Vector<Scalar, 2>(1, 0))};
    CHECK(accepted(jammed, FrictionLaw::coulomb, ray, options));

    options.slides[0].direction = -options.slides[0].direction;  // that it never takes
    CHECK(!accepted(jammed, FrictionLaw::coulomb, ray, options));
    CHECK(certify_infeasible(jammed, FrictionLaw::coulomb, ray, options).slides_proven == 0);
    options.slides[0].direction = {0, 1};
    CHECK(!accepted(jammed, FrictionLaw::coulomb, ray, options));

    options.slides = {slide};
    KleinBrake<Scalar> twin = brake;
    twin.friction = limit * Scalar(0.95);
    const auto stops = carom::examples::make_klein_brake(twin);
    CHECK(!accepted(stops, FrictionLaw::coulomb, ray, options));
    const VectorX<Scalar> impulse = carom::examples::stopping_impulse(twin);
    CHECK(carom::certify(dual_of(stops), impulse, FrictionLaw::coulomb).natural_map_error <=
          rounding(2000, Scalar(1)));
    twin = brake;
    twin.belt = -brake.belt;  // friction pushes the shoe off
    CHECK(!accepted(carom::examples::make_klein_brake(twin), FrictionLaw::coulomb, ray, options));
  }
}

TEST_CASE("infeasible: the solver finds an answer short of each threshold, and none beyond",
          "[scenes][scene]") {
  WorldSolver solver(1e-10);
  VectorX<double> velocity, impulse;
  const auto solved = [&](const ContactProblem<double>& problem) {
    velocity = problem.free_velocity();
    solver(problem, velocity, impulse);
    return solver.report.converged();
  };
  for (const double friction : {0.0, 0.4}) {
    ClosingSlot<double> slot{.gap = 0.01, .friction = friction};
    slot.closing = 0.99;
    CHECK(solved(carom::examples::make_closing_slot(slot)));
    slot.closing = 1.01;
    CHECK(!solved(carom::examples::make_closing_slot(slot)));
    CHECK(solved(
        carom::examples::make_narrow_well<double>({.missing = -1e-3, .friction = friction})));
    CHECK(!solved(
        carom::examples::make_narrow_well<double>({.missing = 1e-3, .friction = friction})));
  }
  const KleinBrake<double> stops{.friction = 0.49}, jams{.friction = 0.51};
  CHECK(solved(carom::examples::make_klein_brake(stops)));
  CHECK((impulse - carom::examples::stopping_impulse(stops)).norm() <=
        by_solver(1e-8) * impulse.norm());
  // Beyond, impulses grow until what is left is little of them; it is not little of the load.
  const auto jammed = carom::examples::make_klein_brake(jams);
  (void)solved(jammed);
  const auto grown = carom::certify(dual_of(jammed), impulse, FrictionLaw::coulomb);
  CHECK(grown.absolute_error > 0.1);
  InfeasibilityOptions<double> options;
  options.slides = {carom::find_slide(jammed, 0, Vector<double, 2>(1, 0))};
  const VectorX<double> ray = carom::refine_ray(jammed, FrictionLaw::coulomb, impulse);
  CHECK(accepted(jammed, FrictionLaw::coulomb, ray, options));
  CHECK(solved(carom::examples::make_running_channel(RunningChannel<double>{})));
}

TEMPLATE_TEST_CASE("infeasible: a ray of the convex law proves nothing of Coulomb's",
                   "[scenes][scene]", float, double) {
  using Scalar = TestType;
  const RunningChannel<Scalar> channel;
  const auto problem = carom::examples::make_running_channel(channel);
  const VectorX<Scalar> ray = carom::examples::running_channel_ray(channel);
  CHECK(accepted(problem, FrictionLaw::convex, ray));
  CHECK(found(problem, FrictionLaw::convex));
  CHECK(!accepted(problem, FrictionLaw::coulomb, ray));
  CHECK(!found(problem, FrictionLaw::coulomb));
  // It slides along both walls, which takes nothing from the normals.
  InfeasibilityOptions<Scalar> options;
  options.slides = {{0, {1, 0}, {}}, {1, {1, 0}, {}}};
  CHECK(!accepted(problem, FrictionLaw::coulomb, ray, options));
  const auto judged = certify_infeasible(problem, FrictionLaw::coulomb, ray, options);
  CHECK(judged.slides_proven == 2);
  CHECK(judged.cone_violation > 0);
  // The block is stopped by the second wall.
  VectorX<Scalar> impulse = VectorX<Scalar>::Zero(6);
  impulse(5) = channel.mass * channel.free_velocity;
  impulse(3) = -channel.friction * impulse(5);
  const auto dual = dual_of(problem);
  CHECK(carom::certify(dual, impulse, FrictionLaw::coulomb).natural_map_error <=
        natural_map_noise(dual, FrictionLaw::coulomb, impulse).relative);
}

TEST_CASE("infeasible: nothing proves that Painleve's rod has no answer, which it has",
          "[scenes][scene]") {
  const carom::examples::PainleveRod rod{
      .angle = std::atan(2.0), .friction = 2, .slip = -1, .rise = 0};
  const auto problem = carom::examples::make_painleve_rod(rod).problem();
  for (const FrictionLaw law : laws) {
    CHECK(!found(problem, law));
    VectorX<double> ray(3);
    ray << 0, 0, 1;
    InfeasibilityOptions<double> options;
    for (const double angle : {0.0, 0.5, 1.0, 1.5}) {  // its end can stop: no slide is known
      const double turn = angle * 3.14159265358979;
      options.slides.push_back(
          carom::find_slide(problem, 0, Vector<double, 2>(std::cos(turn), std::sin(turn))));
    }
    CHECK(!accepted(problem, law, ray, options));
    CHECK(certify_infeasible(problem, law, ray, options).slides_proven == 0);
  }
}

}  // namespace infeasible_test
