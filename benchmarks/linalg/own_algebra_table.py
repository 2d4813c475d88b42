#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table of include/carom/linalg/README.md: carom's own algebra beside Eigen's.

Usage: benchmarks/linalg/own_algebra_table.py PROGRAM [--runs N] [--compiler COMPILER]
PROGRAM is carom_linalg_bench, built for this machine with -O3 -march=native. Times of calls are the least of
seven repetitions, in nanoseconds of processor time; times to compile are the least of N (1 unless told), in
seconds of processor time at -O2, above those of a bare <Eigen/Core>. Other work on a machine can only add
to either, so the least counts; ratios mean more than numbers.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from compile_budget import EIGEN, seconds_of  # noqa: E402

OWN = "carom/linalg/detail/{}.hpp"
# Algorithms that share a header with another
SHARED = {"exponential_action": "matrix_exponential", "block_symmetric": "block_incomplete_cholesky"}
VECTORS = "Eigen::VectorXd x, b;"
MATRICES = "Eigen::MatrixXd a; " + VECTORS
SPARSE = "Eigen::SparseMatrix<double> a; " + VECTORS
# header, its use, Eigen's header, Eigen's use
UNITS = [
    ("cholesky", MATRICES + "int main() { static_cast<void>(carom::factor_cholesky(a.data(), a.rows(), a.rows()));"
     " carom::solve_lower(a.data(), a.rows(), a.rows(), x.data());"
     " carom::solve_lower_transposed(a.data(), a.rows(), a.rows(), x.data()); }",
     "Eigen/Cholesky", MATRICES + "int main() { x = Eigen::LLT<Eigen::MatrixXd>(a).solve(b); }"),
    ("lu", MATRICES + "int main() { carom::LuFactor<double> f; f.prepare(6); if (f.factor(a)) f.solve(x); }",
     "Eigen/LU", MATRICES + "int main() { x = Eigen::PartialPivLU<Eigen::MatrixXd>(a).solve(b); }"),
    ("symmetric_eigen", MATRICES + "int main() { carom::SymmetricEigen<double> e; e.prepare(6); e.matrix() = a;"
     " return e.solve(); }",
     "Eigen/Eigenvalues", MATRICES + "int main() { x = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a)"
     ".eigenvalues(); }"),
    ("matrix_exponential", MATRICES + "int main() { carom::MatrixExponential<double> e; e.prepare(6);"
     " return e.evaluate(a); }",
     "unsupported/Eigen/MatrixFunctions", MATRICES + "int main() { a = a.exp(); }"),
    ("exponential_action", MATRICES + "int main() { carom::ExponentialAction<double> e; e.prepare(6);"
     " return e.apply([&](const auto& v, auto& out) { out.noalias() = a * v; }, 1.0, x); }",
     "unsupported/Eigen/MatrixFunctions", MATRICES + "int main() { x = a.exp() * b; }"),
    ("second_order", "carom::SecondOrder<double> x; int main() { x = x * sin(x) + cos(x); }",
     "unsupported/Eigen/AutoDiff", "using I = Eigen::AutoDiffScalar<Eigen::Vector4d>;"
     "Eigen::AutoDiffScalar<Eigen::Matrix<I, 4, 1>> x; int main() { x = x * sin(x) + cos(x); }"),
    ("front_forest", "int main() { carom::MinimumDegree o; carom::FrontForest f; carom::WeightedGraph g{};"
     " int s; return o.compute(g, 1) && f.append(g, o, &s).end; }",
     "Eigen/SparseCholesky", SPARSE + "Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> f;"
     "int main() { f.analyzePattern(a); }"),
    ("block_cholesky", VECTORS + "template class carom::BlockCholesky<double>; int main() {}",
     "Eigen/SparseCholesky", SPARSE + "Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> f;"
     "int main() { f.compute(a); x = f.solve(b); }"),
    ("block_lu", VECTORS + "template class carom::BlockLu<double>; int main() {}",
     "Eigen/SparseLU", SPARSE + "Eigen::SparseLU<Eigen::SparseMatrix<double>> f;"
     "int main() { f.compute(a); x = f.solve(b); }"),
    ("block_symmetric", VECTORS + "template class carom::BlockSymmetric<double>; int main() {}",
     "Eigen/SparseCore", SPARSE + "int main() { x = a.selfadjointView<Eigen::Lower>() * b; }"),
    ("block_incomplete_cholesky", VECTORS + "template class carom::BlockIncompleteCholesky<double>;"
     " int main() {}",
     "Eigen/IterativeLinearSolvers", SPARSE + "Eigen::IncompleteCholesky<double> f;"
     "int main() { f.compute(a); x = f.solve(b); }"),
    ("conjugate_gradient", "double v[4]; int main() { return carom::conjugate_gradient<double>({v, v, v, v, 4},"
     " 0.0, 9, [](const double*, double*) {}, [](const double*, double*) {}).usable; }",
     "Eigen/IterativeLinearSolvers", SPARSE + "Eigen::ConjugateGradient<Eigen::SparseMatrix<double>> f;"
     "int main() { f.compute(a); x = f.solve(b); }"),
]


def measured(program):
    """header -> size -> who -> (least time [ns], allocations)"""
    text = subprocess.run([program, "--benchmark_repetitions=7", "--benchmark_min_time=0.05",
                           "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
    rows = {}
    for run in json.loads(text)["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        header, who, size = run["run_name"].split("/")
        cell = rows.setdefault(header, {}).setdefault(int(size), {})
        time = min(run["cpu_time"], cell.get(who, (float("inf"), 0))[0])
        cell[who] = (time, int(run["allocations"]))
    return rows


def compile_seconds(compiler, runs, header, program, folder):
    unit = folder / "unit.cpp"
    unit.write_text(f"#include <Eigen/Core>\n#include <{header}>\n{program}\n", encoding="utf-8")
    command = [compiler, "-std=c++20", "-O2", f"-I{ROOT}/include", "-isystem", EIGEN, "-c", str(unit), "-o",
               str(folder / "unit.o")]
    return min(seconds_of(command) for _ in range(runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    print("| header | size | ns: ours | ns: Eigen's | allocations: ours, Eigen's |\n|---|---|---|---|---|")
    for header, sizes in measured(options.program).items():
        for size, cell in sizes.items():
            ours, eigen = cell["ours"], cell["eigen"]
            print(f"| {header} | {size} | {ours[0]:.3g} | {eigen[0]:.3g} | {ours[1]}, {eigen[1]} |")
    print("\n| header | s to compile: ours | s: Eigen's |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def seconds(header, program):
            return compile_seconds(options.compiler, options.runs, header, program, folder)

        bare = seconds("Eigen/Core", "int main() {}")
        for header, use, eigen_header, eigen_use in UNITS:
            ours = seconds(OWN.format(SHARED.get(header, header)), use) - bare
            print(f"| {header} | {ours:.2f} | {seconds(eigen_header, eigen_use) - bare:.2f} |", flush=True)


if __name__ == "__main__":
    main()
