#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""carom_fclib on bundled files: columns, and errors recomputed from files and answers alone."""
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "fclib"
COLUMNS = ["name", "nc", "solver", "tol", "status", "info", "iters", "cpu_s", "err", "err_abh",
           "cvx_err", "residual"]
SOLVERS = ["carom:newton", "carom:gauss_seidel", "carom:projected_gradient", "carom:admm"]
FILES = ["FC2D_SliderCrankLagrangian00000", "Rover1040"]
TOLERANCES = [1e-4, 1e-8, 1e-12]
faults = []


def expect(condition, *what):
    if not condition:
        faults.append(" ".join(str(part) for part in what))
    return condition


def read_cpf(path):
    """The header's fields and the arrays of a CPF1 container."""
    header, _, data = path.read_bytes().partition(b"\ndata\n")
    fields, arrays = {}, {}
    for line in header.decode().split("\n")[1:]:
        key, _, value = line.partition(" ")
        if key != "array":
            fields[key] = value
            continue
        name, kind, count = value.split()
        code, width = ("d", 8) if kind == "f64" else ("i", 4)
        arrays[name] = struct.unpack(f"<{count}{code}", data[:width * int(count)])
        data = data[width * int(count):]
    return fields, arrays


def norm(numbers):
    return math.sqrt(sum(x * x for x in numbers))


def project(mu, z):
    """The point of the cone nearest to z, normal first."""
    normal, tangent = z[0], norm(z[1:])
    if tangent <= mu * normal:
        return z
    if normal + mu * tangent <= 0:
        return [0.0] * len(z)
    n = (normal + mu * tangent) / (1 + mu * mu)
    return [n] + [mu * n * x / tangent for x in z[1:]]


def errors(fields, problem, r):
    """err and err_abh as docs/file_formats.md has them."""
    d, q = int(fields["dim"]), problem["q"]
    u, trace = list(q), 0.0
    for column in range(len(q)):
        for k in range(problem["W.ptr"][column], problem["W.ptr"][column + 1]):
            row = problem["W.idx"][k]
            u[row] += problem["W.val"][k] * r[column]
            trace += problem["W.val"][k] if row == column else 0
    load = norm(q)
    u = [x / load for x in u]
    r = [x * trace / len(q) / load for x in r]
    gap = []
    for i in range(0, len(q), d):
        mu = problem["mu"][i // d]
        z = [r[i + k] - u[i + k] for k in range(d)]
        z[0] -= mu * norm(u[i + 1:i + d])
        gap += [a - b for a, b in zip(r[i:i + d], project(mu, z))]
    return norm(gap) / max(1, norm(r), norm(u)), norm(gap)


def check_row(row, folder):
    name, solver, tolerance = row["name"], row["solver"], float(row["tol"])
    if not expect((row["status"], row["info"]) == ("ok", "0"), row):
        return
    fields, problem = read_cpf(DATA / f"{name}.cpf")
    expect(row["nc"] == fields["nc"], row)
    expect(int(row["iters"]) >= 0 and float(row["cpu_s"]) > 0, row)
    answer = folder / f"{name}.{solver.replace(':', '-')}.{row['tol']}.cpf"
    relative, absolute = errors(fields, problem, read_cpf(answer)[1]["r"])
    expect(relative <= tolerance, row, "recomputed", relative)
    for told, recomputed in ((row["err"], relative), (row["err_abh"], absolute)):
        expect(abs(float(told) - recomputed) <= 1e-3 * recomputed + 1e-15, row, "recomputed",
               recomputed)


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          timeout=900, check=False)


def check_table(program, folder):
    result = run(program, *(DATA / f"{name}.cpf" for name in FILES), "--solvers", ",".join(SOLVERS),
                 "--time-limit", 20, "--output", folder, "--answers")
    if not expect(result.returncode == 0, result.stderr):
        return
    lines = (folder / "table.tsv").read_text(encoding="utf-8").splitlines()
    expect(lines[0].split("\t") == COLUMNS, lines[0])
    rows = [dict(zip(COLUMNS, line.split("\t"))) for line in lines[1:]]
    expect([(row["name"], row["solver"], float(row["tol"])) for row in rows] ==
           [(name, solver, tol) for name in FILES for solver in SOLVERS for tol in TOLERANCES],
           lines)
    for row in rows:
        check_row(row, folder / "answers")
    for tolerance in ("1e-04", "1e-08", "1e-12"):
        svg = (folder / f"profile_{tolerance}.svg").read_text(encoding="utf-8")
        expect(svg.count("<polyline") >= len(SOLVERS), tolerance, svg.count("<polyline"))


def check_time_limit(program, folder):
    """What takes too long is ended, and not asked for a tighter tolerance."""
    result = run(program, DATA / "cards-n3-s00056-nc00081.cpf", "--solvers", "carom:gauss_seidel",
                 "--tolerances", "1e-13,1e-14", "--time-limit", 0.2, "--output", folder)
    expect(result.returncode == 0, result.stderr)
    rows = (folder / "table.tsv").read_text(encoding="utf-8").splitlines()[1:]
    expect(len(rows) == 1 and rows[0].split("\t")[4:6] == ["timeout", "-1"], rows)


def check_refusals(program, folder):
    for arguments, word in ((["nowhere.cpf"], "nowhere.cpf"), (["--solvers", "simplex"], "simplex"),
                            ([DATA / "LICENSE-Apache-2.0.txt"], "CPF1")):
        result = run(program, *arguments, "--output", folder)
        expect(result.returncode == 2 and word in result.stderr, arguments, result.stderr)


with tempfile.TemporaryDirectory(prefix="carom-fclib-") as base:
    for check in (check_table, check_time_limit, check_refusals):
        check(sys.argv[1], pathlib.Path(base, check.__name__))
print("\n".join(faults) or "all checks passed")
sys.exit(1 if faults else 0)
