// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/impact_batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"

#include "support/catch.hpp"
#include "support/cradle_cases.hpp"
#include "support/impact_batches.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impact_batch_test {

using namespace carom::testing;
using carom::ImpactBatchLaw, carom::ImpactBatchOptions, carom::ImpactBatchReport;
using carom::ImpactBatchView, carom::ImpactBatchWorkspace, carom::ImpactFault, carom::ImpactMass;
using carom::ImpactOrder, carom::ImpactPattern, carom::ImpactProblem, carom::ImpactStatus;
using carom::Index, carom::MassMatrix, carom::MatrixX, carom::VectorX;

namespace {

template <typename Scalar>
using Batch = ImpactBatch<Scalar>;

/// The answers of a batch against those of a law that resolves them one at a time.
template <typename Law>
void check_against(const std::vector<Impact>& impacts, const Batch<double>& batch,
                   const Law& law_of, bool same_counts = true) {
  WorstCase momentum("momentum"), velocity("velocity"), impulse("impulses"), gain("energy gain");
  WorstCase count("reflections"), status("status");
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const ImpactProblem<double> problem = impacts[i].problem();
    auto law = law_of(impacts[i]);
    law.prepare(problem);
    VectorX<double> p = impacts[i].momentum;
    const auto report = law.resolve(problem, p);
    const auto& own = batch.reports[i];
    const double size = impacts[i].momentum.norm();
    const double loose = 1e-12 * (1 + double(report.reflections));
    status.see_holds(own.status == report.status, i);
    if (same_counts) count.see_holds(own.reflections == report.reflections, i);
    momentum.see((batch.momentum_of(i) - p).norm(), loose * size, i);
    const VectorX<double> v = impacts[i].velocity(p);
    const double speed = impacts[i].velocity(impacts[i].momentum).norm();
    velocity.see((batch.velocity_of(i) - v).norm(), 10 * loose * speed, i);
    gain.see(std::abs(own.energy_gain - report.energy_gain), 10 * loose * size * speed, i);
    // Impulses of normals that depend on each other are not unique: what they do together is.
    VectorX<double> moved = impacts[i].momentum;
    const VectorX<double> lambda = batch.impulse_of(i);
    for (Index k = 0; k < lambda.size(); ++k) {
      impulse.see_holds(lambda(k) >= 0, i);
      problem.add_impulse(k, lambda(k), moved);
    }
    impulse.see((moved - p).norm(), 10 * loose * (size + lambda.sum()), i);
  }
  const long least = long(impacts.size());
  for (const WorstCase* law : {&momentum, &velocity, &gain, &status}) law->check(least);
  impulse.check(least);
  if (same_counts) count.check(least);
}

template <typename Scalar>
void check_same(const Batch<Scalar>& a, const Batch<Scalar>& b) {
  WorstCase law("the answers have the same bits");
  for (std::size_t i = 0; i < a.reports.size(); ++i) law.see_holds(same_answer(a, i, b, i), i);
  law.check(long(a.reports.size()));
}

}  // namespace

TEST_CASE("impact_batch: each impact ends as ImpactResolver ends it, in every order",
          "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(160, 22001u, true);
  Batch<double> batch(impacts);
  CHECK(batch.resolve().wedged > 10);
  check_against(impacts, batch, [](const Impact&) { return carom::ImpactResolver<double>(); });
  batch.resolve({.order = ImpactOrder::least_infeasible});
  check_against(impacts, batch, [](const Impact&) {
    return carom::ImpactResolver<double, carom::LeastInfeasibleFirst<double>>();
  });
  using Sweep = carom::ImpactResolver<double, carom::SweepOrder<double>>;
  batch.resolve({.order = ImpactOrder::sweep});
  check_against(impacts, batch, [](const Impact& impact) {
    return Sweep({}, carom::SweepOrder<double>({impact.sequence.begin(), impact.sequence.end()}));
  });
  std::fill(batch.sequence_counts.begin(), batch.sequence_counts.end(), 0);
  batch.resolve({.order = ImpactOrder::sweep});
  check_against(impacts, batch, [](const Impact&) { return Sweep(); });
}

TEST_CASE("impact_batch: energy is kept, contacts open, impulses push", "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(200, 22002u);
  for (const auto order :
       {ImpactOrder::most_infeasible, ImpactOrder::least_infeasible, ImpactOrder::sweep}) {
    Batch<double> batch(impacts);
    const ImpactBatchReport report = batch.resolve({.order = order});
    CHECK((report.resolved == 200 && report.first_bad == -1 && report.faults == 0));
    WorstCase energy("energy"), feasible("rates"), pushes("impulses");
    for (std::size_t i = 0; i < impacts.size(); ++i) {
      const VectorX<double> before = impacts[i].velocity(impacts[i].momentum);
      const double size = impacts[i].momentum.dot(before);
      const int steps = 200 + 20 * int(batch.reports[i].reflections);
      energy.see(std::abs(batch.momentum_of(i).dot(batch.velocity_of(i)) - size),
                 rounding(20 * steps, size), i);
      const auto problem = impacts[i].problem();
      for (Index k = 0; k < problem.contact_count(); ++k) {
        feasible.see(-problem.rate(k, batch.momentum_of(i)),
                     rounding(100, problem.rate_scale(batch.momentum_of(i))), i);
        pushes.see_holds(batch.impulse_of(i)(k) >= 0, i);
      }
    }
    energy.check(200);
    feasible.check(300);
    pushes.check(300);
  }
}

TEST_CASE("impact_batch: collisions of Galperin's billiard spell pi", "[impact_batch]") {
  std::vector<Impact> impacts;
  for (int round = 0; round < 9; ++round) {
    for (const double ratio : {1e0, 1e6, 1e2, 1e4}) impacts.push_back(galperin(ratio));
  }
  Batch<double> batch(impacts);
  CHECK(batch.resolve().resolved == Index(impacts.size()));
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const double root = std::sqrt(impacts[i].mass(1, 1));
    const Index count = Index(std::numbers::pi * root);  // 3, 31, 314, 3141
    CHECK(batch.reports[i].reflections == count);
    // Each collision turns (√M V, v) by 2 atan(1/√M) and reflects it.
    const double turned = 2 * double((count + 1) / 2) * std::atan(1 / root);
    CHECK(std::abs(std::abs(batch.velocity_of(i)(1)) - std::abs(std::cos(turned))) <=
          rounding(100 + 20 * int(count), 1.0));
  }
}

TEST_CASE("impact_batch: the cradles of the table", "[impact_batch]") {
  std::vector<Impact> impacts;
  for (const CradleCase& c : cradle_cases()) {
    impacts.push_back(line_impact(
        c.masses, Eigen::Map<const Eigen::VectorXd>(c.velocity.data(), Index(c.masses.size()))));
  }
  const auto check = [&](ImpactOrder order, auto expected, auto sequence) {
    Batch<double> batch(impacts, ImpactMass::diagonal);
    batch.resolve({.order = order});
    for (std::size_t i = 0; i < impacts.size(); ++i) {
      const auto& c = cradle_cases()[i];
      const VectorX<double> velocity =
          Eigen::Map<const VectorX<double>>((c.*expected).data(), Index(c.masses.size()));
      CAPTURE(i);
      CHECK((batch.velocity_of(i) - velocity).norm() <= rounding(200, velocity.norm()));
      CHECK(batch.reports[i].reflections == Index((c.*sequence).size()));
    }
  };
  check(ImpactOrder::most_infeasible, &CradleCase::most_infeasible, &CradleCase::most_sequence);
  check(ImpactOrder::least_infeasible, &CradleCase::least_infeasible, &CradleCase::least_sequence);
}

TEST_CASE("impact_batch: a plastic impact is that of PlasticImpact", "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(160, 22003u, true);
  Batch<double> batch(impacts);
  CHECK(batch.resolve({.law = ImpactBatchLaw::plastic}).resolved == 160);
  check_against(impacts, batch, [](const Impact&) { return carom::PlasticImpact<double>(); });
}

TEST_CASE("impact_batch: restitution is that of RestitutionImpact", "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(160, 22004u, true);
  Batch<double> batch(impacts);
  batch.resolve({.law = ImpactBatchLaw::restitution});
  check_against(impacts, batch, [](const Impact& impact) {
    return carom::RestitutionImpact<double>(impact.restitution);
  });
}

TEST_CASE("impact_batch: masses and velocities in every form", "[impact_batch]") {
  std::vector<Impact> impacts = draw_impacts(60, 22005u);
  Batch<double> reference(impacts);
  reference.resolve();
  const auto compare = [&](const Batch<double>& batch, const Batch<double>& with) {
    WorstCase law("the same outcome");
    for (std::size_t i = 0; i < impacts.size(); ++i) {
      const double loose = 1e-11 * (1 + double(with.reports[i].reflections));
      law.see((batch.momentum_of(i) - with.momentum_of(i)).norm(),
              loose * impacts[i].momentum.norm(), i);
      law.see((batch.velocity_of(i) - with.velocity_of(i)).norm(),
              10 * loose * impacts[i].velocity(impacts[i].momentum).norm(), i);
    }
    law.check(120);
  };
  for (const bool by_velocity : {false, true}) {
    for (const ImpactMass form : {ImpactMass::dense, ImpactMass::inverse_dense}) {
      Batch<double> batch(impacts, form, by_velocity);
      CHECK(batch.resolve().resolved == 60);
      compare(batch, reference);
    }
  }
  for (Impact& impact : impacts) impact.mass = impact.mass.diagonal().asDiagonal().toDenseMatrix();
  Batch<double> dense(impacts);
  dense.resolve();
  for (const bool by_velocity : {false, true}) {
    for (const ImpactMass form : {ImpactMass::diagonal, ImpactMass::inverse_diagonal}) {
      Batch<double> batch(impacts, form, by_velocity);
      CHECK(batch.resolve().resolved == 60);
      compare(batch, dense);
    }
  }
}

TEST_CASE("impact_batch: the bits do not depend on lanes, order, company or workers",
          "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(150, 22006u, true);
  std::vector<std::size_t> order(impacts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 engine(22006u);
  std::shuffle(order.begin(), order.end(), engine);
  std::vector<Impact> shuffled;
  for (const std::size_t i : order) shuffled.push_back(impacts[i]);
  const auto see = [&](auto scalar, ImpactBatchLaw law, ImpactOrder by) {
    using Scalar = decltype(scalar);
    const ImpactBatchOptions<Scalar> options{.law = law, .order = by};
    Batch<Scalar> one(impacts), other(impacts), mixed(shuffled);
    one.template resolve<1>(options);
    other.template resolve<2>(options);
    check_same(one, other);
    other.template resolve<4>(options);
    check_same(one, other);
    other.template resolve<8>(options);
    check_same(one, other);
    other.template resolve<16>(options);
    check_same(one, other);
    mixed.template resolve<8>(options);
    WorstCase law_of_order("an impact in another order, and alone");
    for (std::size_t i = 0; i < order.size(); ++i) {
      law_of_order.see_holds(same_answer(one, order[i], mixed, i), i);
      if (i % 10 != 0) continue;
      Batch<Scalar> alone({shuffled[i]});
      alone.resolve(options);
      law_of_order.see_holds(same_answer(alone, 0, mixed, i), i);
    }
    law_of_order.check(150);
  };
  for (const ImpactOrder by :
       {ImpactOrder::most_infeasible, ImpactOrder::least_infeasible, ImpactOrder::sweep}) {
    see(1.0, ImpactBatchLaw::elastic, by);
    see(1.0F, ImpactBatchLaw::elastic, by);
  }
  for (const ImpactBatchLaw law : {ImpactBatchLaw::plastic, ImpactBatchLaw::restitution}) {
    see(1.0, law, ImpactOrder::most_infeasible);
    see(1.0F, law, ImpactOrder::most_infeasible);
  }
}

TEST_CASE("impact_batch: the bits do not depend on threads", "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(3000, 22007u);
  Batch<double> one(impacts), other(impacts);
  one.resolve();
  for (const int workers : {2, 3}) {
    ImpactBatchWorkspace<double> workspace;
    workspace.prepare(other.view(), workers);
    resolve_batch(other.view(), other.answers(), ImpactBatchOptions<double>{}, workspace,
                  [](Index count, const auto& task) {
                    std::vector<std::thread> threads;
                    for (Index i = count - 1; i >= 0; --i)
                      threads.emplace_back([&, i] { task(i); });
                    for (std::thread& thread : threads) thread.join();
                  });
    check_same(one, other);
  }
}

TEST_CASE("impact_batch: an impact with bad numbers is named and changes no other",
          "[impact_batch]") {
  VectorSource<double> source(22008u);
  Impact impact;
  impact.mass = draw_definite(source, 3);
  for (int i = 0; i < 2; ++i) {
    impact.normals.push_back(draw_vector(source, 3));
  }
  impact.momentum = -impact.normals[0] - impact.normals[1];
  impact.sequence = {0, 1};
  const std::vector<Impact> impacts(40, impact);
  const ImpactBatchOptions<double> options{.law = ImpactBatchLaw::restitution,
                                           .order = ImpactOrder::sweep};
  Batch<double> good(impacts);
  good.resolve(options);
  constexpr std::size_t hurt = 21;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto check = [&](ImpactFault fault, int item, const auto& damage) {
    Batch<double> batch(impacts);
    damage(batch);
    const ImpactBatchReport report = batch.resolve(options);
    batch.pattern_numbers = good.pattern_numbers;
    CAPTURE(to_string(fault), item);
    CHECK((report.faults == 1 && report.first_bad == Index(hurt) && report.resolved == 39));
    CHECK(batch.reports[hurt].status == ImpactStatus::not_finite);
    CHECK(batch.reports[hurt].fault == fault);
    CHECK(batch.reports[hurt].item == item);
    CHECK(batch.impulse_of(hurt).isZero(0));
    int changed = 0;
    for (std::size_t i = 0; i < impacts.size(); ++i) {
      changed += int(i != hurt && !same_answer(batch, i, good, i));
    }
    CHECK(changed == 0);
  };
  const auto set = [](auto Batch<double>::*field, std::size_t size, std::size_t place, auto to) {
    return [=](Batch<double>& batch) { (batch.*field)[hurt * size + place] = to; };
  };
  check(ImpactFault::mass, 0, set(&Batch<double>::mass, 9, 0, -1.0));
  check(ImpactFault::mass, 2, set(&Batch<double>::mass, 9, 8, 0.0));
  check(ImpactFault::mass, 1, set(&Batch<double>::mass, 9, 3, nan));
  check(ImpactFault::normal, 1, set(&Batch<double>::normals, 6, 4, nan));
  check(ImpactFault::normal, 0, set(&Batch<double>::normals, 6, 1, infinity));
  check(ImpactFault::normal, 1, [&](Batch<double>& batch) {
    for (std::size_t k = 3; k < 6; ++k) batch.normals[hurt * 6 + k] = 0;
  });
  check(ImpactFault::momentum, 2, set(&Batch<double>::before, 3, 2, nan));
  check(ImpactFault::momentum, 0, set(&Batch<double>::before, 3, 0, infinity));
  check(ImpactFault::restitution, 0, set(&Batch<double>::restitution, 1, 0, 1.5));
  check(ImpactFault::restitution, 0, set(&Batch<double>::restitution, 1, 0, nan));
  check(ImpactFault::sequence, 1, set(&Batch<double>::sequence, 2, 1, 2));
  check(ImpactFault::sequence, 0, set(&Batch<double>::sequence, 2, 0, -1));
  constexpr int most = std::numeric_limits<int>::max();
  for (const int number : {1, -1, most, -most}) {
    check(ImpactFault::pattern, -1, set(&Batch<double>::pattern_numbers, 1, 0, number));
  }
}

TEST_CASE("impact_batch: limits, no impacts, no contacts, no coordinates", "[impact_batch]") {
  Batch<double> none(std::vector<Impact>{});
  CHECK(none.resolve().resolved == 0);
  Impact free;
  free.mass = Eigen::MatrixXd::Identity(2, 2);
  free.momentum = vector_of({3, -4});
  Impact nothing;
  nothing.momentum.resize(0);
  nothing.mass.resize(0, 0);
  Batch<double> idle({free, nothing, free});
  CHECK(idle.resolve().resolved == 3);
  CHECK((idle.momentum_of(2) == free.momentum && idle.velocity_of(0) == free.momentum));

  Impact skipping = galperin(100);
  skipping.sequence = {1};  // the wall never acts
  Batch<double> stopped({galperin(1e4), galperin(1), galperin(100)});
  auto report = stopped.resolve({.resolver = {.reflection_limit = 31}});
  CHECK((report.resolved == 2 && report.first_bad == 0 && report.faults == 0));
  CHECK(stopped.reports[0].status == ImpactStatus::reflection_limit);
  CHECK(stopped.reports[0].reflections == 31);
  Batch<double> skipped({galperin(1), skipping});
  report = skipped.resolve({.order = ImpactOrder::sweep});
  CHECK((report.first_bad == 1 && skipped.reports[1].reflections == 1));
  CHECK(skipped.reports[1].status == ImpactStatus::reflection_limit);
}

TEST_CASE("impact_batch: the tolerance tells approach from round-off", "[impact_batch]") {
  // The pair of balls moves fast, and the balls close at a small fraction of that speed.
  const auto closing = [](double fraction) {
    return line_impact({1, 1}, vector_of({1, 1 - fraction}));
  };
  const double rounding_of_speed = rounding(1, 1.0);
  Batch<double> batch({closing(rounding_of_speed), closing(1e6 * rounding_of_speed),
                       closing(-rounding_of_speed), closing(0.05)});
  CHECK(batch.resolve().resolved == 4);
  CHECK((batch.reports[0].reflections == 0 && batch.reports[1].reflections == 1));
  CHECK((batch.reports[2].reflections == 0 && batch.reports[3].reflections == 1));
  CHECK(batch.resolve({.resolver = {.tolerance = 0.1}}).reflections == 0);
  CHECK(batch.resolve({.resolver = {.tolerance = 0}}).reflections == 3);
}

TEST_CASE("impact_batch: answers may take the place of what is given", "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(60, 22009u);
  Batch<double> apart(impacts), in_place(impacts);
  apart.resolve();
  ImpactBatchWorkspace<double> workspace;
  workspace.prepare(in_place.view(), 1);
  auto answers = in_place.answers();
  answers.momentum.data = in_place.before.data();
  resolve_batch(in_place.view(), answers, ImpactBatchOptions<double>{}, workspace);
  CHECK(in_place.before == apart.momentum);
}

TEST_CASE("impact_batch: memory is told before it is taken", "[impact_batch]") {
  const std::vector<Impact> impacts = draw_impacts(3000, 22010u);
  const Batch<double> batch(impacts);
  const std::size_t numbers = batch.mass.size() + batch.normals.size() + batch.before.size();
  using Workspace = ImpactBatchWorkspace<double, 4>;
  CHECK(Workspace::bytes(batch.view(), 1) < numbers * sizeof(double));
  CHECK(Workspace::bytes(batch.view(), 3) > Workspace::bytes(batch.view(), 1));
}

TEST_CASE("impact_batch: a workspace of another batch is refused, and nothing is written",
          "[impact_batch]") {
  Batch<double> batch(draw_impacts(40, 22011u)), fewer(draw_impacts(30, 22011u));
  ImpactBatchWorkspace<double> workspace;
  for (const bool prepared : {false, true}) {
    if (prepared) workspace.prepare(fewer.view(), 1);
    const std::vector<double> before = batch.momentum;
    const ImpactBatchReport report =
        resolve_batch(batch.view(), batch.answers(), ImpactBatchOptions<double>{}, workspace);
    CHECK((!report.prepared && report.resolved == 0 && report.first_bad == 0));
    CHECK(batch.momentum == before);
  }
}

TEST_CASE("impact_batch: one bad impact among a hundred thousand", "[impact_batch]") {
  // Two balls of 1 kg that touch, each pair at its own speed; mass and normal are shared.
  constexpr Index count = 100'000, bad = 87'654;
  const ImpactPattern pattern(2, 1, ImpactMass::diagonal);
  const std::vector<double> mass{1, 1}, normal{-1, 1};
  std::vector<double> before(2 * count), good(2 * count), found(2 * count);
  for (Index i = 0; i < count; ++i) before[std::size_t(2 * i)] = 1 + 1e-5 * double(i);
  ImpactBatchView<double> view;
  view.count = count;
  view.patterns = &pattern;
  view.mass = {mass.data()};
  view.normals = {normal.data()};
  view.momentum = {before.data(), 2};
  std::vector<carom::ImpactProblemReport<double>> reports(count);
  ImpactBatchWorkspace<double> workspace;
  workspace.prepare(view, 1);
  const auto resolve_into = [&](std::vector<double>& momentum) {
    return resolve_batch(view, {{momentum.data(), 2}, {}, {}, reports.data()},
                         ImpactBatchOptions<double>{}, workspace);
  };
  CHECK(resolve_into(good).resolved == count);
  CHECK(std::abs(good[1] - before[0]) <= rounding(10, before[0]));  // they swap their momenta
  before[std::size_t(2 * bad + 1)] = std::numeric_limits<double>::quiet_NaN();
  const ImpactBatchReport report = resolve_into(found);
  CHECK((report.resolved == count - 1 && report.faults == 1 && report.first_bad == bad));
  CHECK(reports[bad].fault == ImpactFault::momentum);
  CHECK((reports[bad].item == 1 && reports[bad].status == ImpactStatus::not_finite));
  std::fill_n(good.begin() + 2 * bad, 2, 0.0);
  std::fill_n(found.begin() + 2 * bad, 2, 0.0);
  CHECK(good == found);
}

}  // namespace impact_batch_test
