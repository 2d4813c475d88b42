// SPDX-License-Identifier: BSD-3-Clause
// A heap of balls in a bin comes to rest, by carom and by LAMMPS's granular contact (a program of
// its own, `lmp`): processor time until it rests, and what is left of motion and overlap.
//   carom_lammps_heap [balls] [stiffness in N/m] [seconds]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"

#include "scenes/falling_solids.hpp"
#include "scenes/pile.hpp"

namespace {

using carom::Index, carom::Vector3;
using carom::examples::FallingSolids, carom::examples::PileShape, carom::examples::Solid;
using carom::examples::SolidContact;
namespace fs = std::filesystem;

constexpr double radius = 0.05;           // [m]
constexpr double restless = 1e-6;         // kinetic energy of a body at which the heap rests [J]
constexpr double frames_per_second = 60;  // at which both are looked at

/// Takes the balls of a heap, and no contact: these are found anew in every step.
struct Balls {
  std::vector<Solid> solids;
  void add_body(const Vector3<double>& place, const carom::SquareMatrix<double, 6>& momentum,
                const carom::Vector<double, 6>& velocity, const carom::Vector<double, 6>&) {
    Solid ball = carom::examples::make_ball(radius, 1);
    ball.body.mass = momentum(5, 5);
    ball.body.inertia.setConstant(momentum(0, 0));
    ball.body.position = place;
    ball.body.velocity = velocity;
    solids.push_back(ball);
  }
  [[nodiscard]] static bool wants(Index, Index) { return false; }
  template <typename... Arguments>
  void add_contact(const Arguments&...) {}
};

/// The heap in the middle of a bin that is as wide as its lowest layer.
FallingSolids make_heap(Index balls, double stiffness) {
  const PileShape shape{.body_count = balls, .bodies = carom::examples::PileBodies::spheres};
  Balls heap;
  carom::examples::detail::PileWalk<Balls>(shape, heap).make(1, [](Index) {});
  FallingSolids scene;
  scene.half_width = radius * double(shape.side());
  scene.stiffness = stiffness;
  for (Solid& ball : heap.solids) {
    ball.body.position.head<2>().array() -= scene.half_width - radius;
  }
  scene.solids = heap.solids;
  return scene;
}

/// What is seen of a run.
struct Course {
  double rest = std::numeric_limits<double>::infinity();  ///< since when the heap rests [s]
  double work_to_rest = rest;                             ///< processor time until then [s]
  double work = 0, energy = 0, deepest = 0, drift = 0;    ///< at the end [s], [J], [m], [m]
  std::vector<Solid> half_way;                            ///< drift is counted from here

  void look(FallingSolids& scene, double time, double length) {
    energy = scene.kinetic_energy();
    if (energy > restless * double(scene.solids.size())) {
      rest = work_to_rest = std::numeric_limits<double>::infinity();
    } else if (!(rest <= time)) {
      rest = time;
      work_to_rest = work;
    }
    if (half_way.empty() && time >= length / 2) half_way = scene.solids;
    for (std::size_t i = 0; i < half_way.size(); ++i) {
      const Vector3<double> move = scene.solids[i].body.position - half_way[i].body.position;
      drift = i == 0 ? move.norm() : std::max(drift, move.norm());
    }
  }
  void print(const char* name) const {
    std::printf("%-22s %8.2f %10.2f %8.2f %11.1e %10.3f %11.2f\n", name, rest, work_to_rest, work,
                energy, 1e3 * deepest, 1e6 * drift);
    std::fflush(stdout);
  }
};

/// @param solve  solves a prepared scene and leaves velocity and impulse in it.
template <typename Solve>
Course run_carom(FallingSolids scene, double length, const Solve& solve) {
  scene.time_step = 1 / frames_per_second;
  Course course;
  for (int k = 0; k < int(length * frames_per_second); ++k) {
    const auto start = std::clock();
    scene.prepare();  // finding the contacts is LAMMPS's work too
    if (!solve(scene).converged()) {
      throw std::runtime_error("step " + std::to_string(k) + " did not converge");
    }
    scene.advance();
    course.work += double(std::clock() - start) / CLOCKS_PER_SEC;
    course.look(scene, (k + 1) / frames_per_second, length);
  }
  scene.prepare();
  course.deepest = scene.deepest();
  return course;
}

Course run_convex(const FallingSolids& heap, double length) {
  carom::SapSolver<double> solver;
  return run_carom(heap, length, [&](FallingSolids& scene) {
    const auto report = solver.solve(scene.problem(), scene.velocity);
    scene.impulse = solver.impulse();
    return report;
  });
}
Course run_coulomb(FallingSolids heap, SolidContact kind, double length) {
  heap.kind = kind;
  carom::ContactSolver<double> solver;
  return run_carom(heap, length, [&](FallingSolids& scene) {
    const auto report = solver.solve_from(scene.problem(), scene.impulse, scene.velocity);
    scene.impulse = solver.impulse();
    return report;
  });
}

/// Writes what LAMMPS reads: the balls, and a script with springs as stiff as carom's, half of
/// critical damping, and 60 steps to half a swing of the lightest pair.
void write_input(const FallingSolids& scene, double length, const fs::path& folder) {
  std::ofstream data(folder / "balls.data");
  data.precision(17);
  double least = std::numeric_limits<double>::infinity();
  data << "balls\n\n" << scene.solids.size() << " atoms\n1 atom types\n\n";
  const double wide = scene.half_width + 4 * radius;
  for (const char* axis : {"x", "y"}) {
    data << -wide << ' ' << wide << ' ' << axis << "lo " << axis << "hi\n";
  }
  data << -4 * radius << ' ' << 100 * radius << " zlo zhi\n\nAtoms\n\n";
  for (std::size_t i = 0; i < scene.solids.size(); ++i) {
    const auto& body = scene.solids[i].body;
    const double volume = 4.18879020478639 * radius * radius * radius;
    least = std::min(least, body.mass);
    data << i + 1 << " 1 " << 2 * radius << ' ' << body.mass / volume << ' '
         << body.position.transpose() << '\n';
  }
  data << "\nVelocities\n\n";
  for (std::size_t i = 0; i < scene.solids.size(); ++i) {
    const auto& velocity = scene.solids[i].body.velocity;
    data << i + 1 << ' ' << velocity.tail<3>().transpose() << ' ' << velocity.head<3>().transpose()
         << '\n';
  }
  const double rate = std::sqrt(scene.stiffness / (least / 2));
  const int steps = int(std::ceil(60 / (3.141592653589793 / rate) / frames_per_second));
  std::ofstream script(folder / "heap.in");
  script.precision(17);
  const auto springs = [&](std::ofstream& out) {
    out << scene.stiffness << ' ' << 2.0 / 7 * scene.stiffness << ' ' << rate << ' ' << rate / 2
        << ' ' << scene.friction << " 1";
  };
  script << "units si\natom_style sphere\nboundary f f f\nnewton off\ncomm_modify vel yes\n"
            "read_data balls.data\nneighbor 0.01 bin\nneigh_modify delay 0\n"
            "pair_style gran/hooke/history ";
  springs(script);
  script
      << "\npair_coeff * *\nfix move all nve/sphere\nfix weight all gravity 9.81 vector 0 0 -1\n";
  const double half = scene.half_width;
  script << "fix floor all wall/gran hooke/history ";
  springs(script);
  script << " zplane 0 NULL\n";
  for (const char* axis : {"x", "y"}) {
    script << "fix wall_" << axis << " all wall/gran hooke/history ";
    springs(script);
    script << ' ' << axis << "plane " << -half << ' ' << half << '\n';
  }
  script << "timestep " << 1 / (frames_per_second * steps) << "\nthermo 100000\n"
         << "dump places all custom " << steps
         << " places.txt id x y z vx vy vz omegax omegay omegaz\n"
         << "dump_modify places sort id format float %.17g\n"
         << "run " << steps * int(length * frames_per_second) << '\n';
}

/// Reads a frame of LAMMPS's file into the balls.
bool read_frame(std::ifstream& file, std::vector<Solid>& solids) {
  std::string line;
  for (int k = 0; k < 9; ++k) {
    if (!std::getline(file, line)) return false;
  }
  for (Solid& solid : solids) {
    std::size_t id = 0;
    std::array<double, 9> numbers{};
    if (!(file >> id)) return false;
    for (double& number : numbers) file >> number;
    solid.body.position << numbers[0], numbers[1], numbers[2];
    solid.body.velocity << numbers[6], numbers[7], numbers[8], numbers[3], numbers[4], numbers[5];
  }
  return bool(std::getline(file, line));
}

Course run_lammps(FallingSolids scene, double length) {
  const fs::path folder = fs::temp_directory_path() / "carom_lammps_heap";
  fs::create_directories(folder);
  write_input(scene, length, folder);
  rusage before{}, after{};
  getrusage(RUSAGE_CHILDREN, &before);
  const std::string command =
      "cd '" + folder.string() + "' && OMP_NUM_THREADS=1 lmp -in heap.in " + "> lammps.log 2>&1";
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("lmp failed, see " + (folder / "lammps.log").string());
  }
  getrusage(RUSAGE_CHILDREN, &after);
  const double work = double(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                      1e-6 * double(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
  Course course;
  std::ifstream file(folder / "places.txt");
  for (int k = 0; read_frame(file, scene.solids); ++k) {
    const double time = k / frames_per_second;
    course.work = work * time / length;  // its steps are alike
    course.look(scene, time, length);
  }
  scene.prepare();
  course.deepest = scene.deepest();
  fs::remove_all(folder);
  return course;
}

int run(int count, char** arguments) {
  const Index balls = count > 1 ? std::atol(arguments[1]) : 500;
  const double stiffness = count > 2 ? std::atof(arguments[2]) : 1e5;
  const double length = count > 3 ? std::atof(arguments[3]) : 4;
  const FallingSolids heap = make_heap(balls, stiffness);
  std::printf("%td balls, %g N/m, %g s\n", balls, stiffness, length);
  std::printf("%-22s %8s %10s %8s %11s %10s %11s\n", "", "rests", "after CPU", "CPU", "energy",
              "overlap", "drift");
  std::printf("%-22s %8s %10s %8s %11s %10s %11s\n", "", "[s]", "[s]", "[s]", "[J]", "[mm]",
              "[um]");
  run_convex(heap, length).print("carom, convex law");
  run_coulomb(heap, SolidContact::compliant, length).print("carom, Coulomb's law");
  run_coulomb(heap, SolidContact::rigid, length).print("carom, rigid, Coulomb");
  if (std::system("lmp -h > /dev/null 2>&1") != 0) {
    std::puts("lmp is not installed: no comparison with LAMMPS");
    return 0;
  }
  run_lammps(heap, length).print("LAMMPS, gran/hooke");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
