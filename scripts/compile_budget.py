#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what carom costs a user's compiler, in seconds of processor time, and prints a table.

Usage: scripts/compile_budget.py [--runs N] [--all] [--enforce] [COMPILER]
Each row is a small program, compiled N times (3 unless told) by COMPILER (g++ unless told); the least of
user and system time counts, since other work on a machine can only add to it. Rows that have no budget
take minutes and are measured with --all. With --enforce a row above its budget ends the program with
status 1: budgets hold for g++ 12 on a machine that compiles a bare <Eigen/Core> in 0.8 s, and the table
says what this one takes.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EIGEN = "/usr/include/eigen3"

# Tells how fast this machine is, beside every table.
BARE = "bare <Eigen/Core>"
SOLVE = """
int main() {
  carom::ContactProblem<double> problem(0.01);
  Eigen::VectorXd velocity = Eigen::Vector3d(0.02, 0, -0.0981);
  const auto block = problem.add_body(2 * Eigen::Matrix3d::Identity(), velocity);
  problem.add_contact(block, Eigen::Matrix3d::Identity(),
                      carom::CompliantContact<double>{.gap = 0, .stiffness = 1e6, .friction = 0.5});
  carom::SapSolver<double> solver;
  return solver.solve(problem, velocity).converged() ? 0 : 1;
}
"""
PROJECT = """
int main() {
  const carom::FrictionCone<double> cone{0.5};
  const carom::ContactWeights<double> weights{1.0, 1.0};
  const auto answer = project(cone, weights, carom::Vector3<double>(0.0, 0.0, 1.0));
  return answer.region == carom::ConeRegion::stick ? 0 : 1;
}
"""
IMPACT = """
int main() {
  const auto mass = carom::MassMatrix<double>::make_diagonal(Eigen::Vector2d(1, 1));
  carom::ImpactProblem<double> problem(2);
  problem.add_contact(mass, Eigen::Vector2d(-1, 1));
  problem.prepare();
  const Eigen::VectorXd momentum = mass.momentum(Eigen::Vector2d(1, 0));
  return carom::resolve_impact(problem, mass, momentum).velocity(1) > 0.5 ? 0 : 1;
}
"""
# The program that a new user compiles first.
FIRST = re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]

# name, headers, program, flags, budget [s] or None where the number is for information only
ROWS = [
    (BARE, ["Eigen/Core"], "", ["-O2"], None),
    ("carom.hpp, unused", ["carom/carom.hpp"], "", ["-O2"], 2.0),
    ("one projection", ["carom/carom.hpp"], PROJECT, ["-O2"], None),
    ("impacts", ["carom/carom.hpp"], IMPACT, ["-O2"], None),
    ("SapSolver of carom::compiled", ["carom/carom.hpp"], SOLVE, ["-O2", "-DCAROM_COMPILED"], 4.0),
    ("README's first, carom::compiled", [], FIRST, ["-O2", "-DCAROM_COMPILED"], 8.0),
    ("README's first, headers only", [], FIRST, ["-O2"], None),
    ("SapSolver, headers only, -O0", ["carom/carom.hpp"], SOLVE, ["-O0"], None),
    ("SapSolver, headers only, -O2", ["carom/carom.hpp"], SOLVE, ["-O2"], None),
    ("SapSolver, solvers/sap.hpp", ["carom/solvers/sap.hpp"], SOLVE, ["-O2"], None),
]


def seconds_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(compiler, row, runs, folder):
    _, headers, program, flags, _ = row
    unit = folder / "unit.cpp"
    unit.write_text("".join(f"#include <{name}>\n" for name in headers) + program, encoding="utf-8")
    command = [compiler, "-std=c++20", *flags, f"-I{ROOT}/include", "-isystem", EIGEN, "-c", str(unit),
               "-o", str(folder / "unit.o")]
    return min(seconds_of(command) for _ in range(runs))


def main():
    parser = argparse.ArgumentParser(description="Processor time of compiling with carom.")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--enforce", action="store_true")
    parser.add_argument("compiler", nargs="?", default="g++")
    options = parser.parse_args()
    version = subprocess.run([options.compiler, "--version"], check=True, capture_output=True, text=True)
    print(version.stdout.splitlines()[0])
    print(f"{'unit':32}{'CPU [s]':>9}{'budget':>9}")
    beyond = 0
    with tempfile.TemporaryDirectory() as name:
        for row in ROWS:
            if row[4] is None and row[0] != BARE and not options.all:
                continue
            seconds = measure(options.compiler, row, options.runs, pathlib.Path(name))
            budget = row[4]
            over = budget is not None and seconds > budget
            beyond += over
            print(f"{row[0]:32}{seconds:9.2f}{budget if budget else '':>9}{'  OVER' if over else ''}", flush=True)
    return 1 if options.enforce and beyond else 0


if __name__ == "__main__":
    sys.exit(main())
