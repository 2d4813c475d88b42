#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package and the C++ program solve the same problems to the same bits.

Draws contact problems by seed, writes each to a file, and compares carom.solve with `carom solve
--json` on that file, under both laws: whether it converged or was proven to have no answer, and the
iterations and the bits of velocity and impulse where it converged. Prints what differs with its seed, and exits with 1 if anything does.
  fuzz/python_difference.py PROGRAM [--seeds FIRST COUNT] [--seconds S]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import carom


def draw(seed: int) -> "carom.ContactProblem":
    """A problem of some bodies and blocks of all kinds; one in two is tame."""
    rng = np.random.default_rng(seed)
    decades = 1 if rng.random() < 0.5 else rng.choice([4, 8])

    def positive(width: float) -> float:
        return 10 ** (width * (rng.random() - 0.5))

    problem = carom.ContactProblem(float(rng.choice([1e-4, 0.002, 0.01])))
    sizes = [int(rng.choice([1, 2, 3, 6])) for _ in range(rng.integers(1, 6))]
    for size in sizes:
        factor = np.tril(rng.normal(size=(size, size)) * (rng.random() < 0.3), -1)
        factor += np.diag(positive(1) ** 0.5 * np.ones(size))
        problem.add_body(positive(decades) * factor @ factor.T, rng.normal(size=size))

    def place(rows: int) -> dict:
        first, other = (int(x) for x in rng.integers(0, len(sizes) + 2, 2))
        first %= len(sizes)
        own = {"body": first, "jacobian": rng.normal(size=(rows, sizes[first]))}
        if other < len(sizes) and other != first:
            own.update(other=other, other_jacobian=rng.normal(size=(rows, sizes[other])))
        return own

    for _ in range(rng.integers(0, 9)):
        kind, stiff = rng.integers(0, 6), 1e4 * positive(decades)
        friction, gap = float(rng.choice([0, 0.3, 0.8])), 1e-3 * rng.normal()
        spring = {"stiffness": stiff} if rng.random() < 0.5 else {}
        try:
            if kind <= 2:
                problem.add_contact(**place(3), friction=friction, gap=gap, **spring)
            elif kind == 3:
                problem.add_constraint(**place(1), law=carom.JointLimit(gap=gap, **spring))
            elif kind == 4:
                rows = int(rng.integers(1, 4))
                problem.add_constraint(**place(rows), law=carom.Bilateral(np.zeros(rows), **spring))
            else:
                problem.add_constraint(**place(1), law=carom.DryFriction(effort_limit=positive(2)))
        except ValueError:
            pass  # a row that nothing moves is refused
    return problem


def run(program: str, *arguments: object) -> dict:
    """The JSON that a command prints."""
    result = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=120,
                            check=False)
    if result.returncode not in (0, 3):
        raise RuntimeError(f"{arguments}: exit {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def numbers(values: list) -> np.ndarray:
    return np.array([np.nan if x is None else x for x in values], dtype=float)


def compare(program: str, path: pathlib.Path, seed: int) -> list[str]:
    """What differs on one problem."""
    faults = []
    carom.write(draw(seed), path)
    problem = carom.read(path)
    # Whether each block, in the order of the file, is a friction contact: Python keeps these apart.
    lines = [line.split() for line in path.read_text().splitlines()]
    kinds = [words[0] == "contact" or "friction" in words[1:3] for words in lines
             if words and words[0] in ("contact", "constraint")]
    for law in ("coulomb", "convex"):
        expected = run(program, "solve", path, "--law", law)
        found = carom.solve(problem, law=law, progress=False)
        ended = {found.status, expected["status"]}
        if len(ended) > 1 and ended & {"converged", "infeasible"}:
            faults.append(f"seed {seed}, {law}: {found.status}, of the program {expected['status']}")
        if found.status != "converged":
            continue  # the program looks for a proof meanwhile, so that last iterates may differ
        if found.iterations != expected["iterations"]:
            faults.append(f"seed {seed}, {law}: {found.iterations} and {expected['iterations']} iterations")
        contacts, others = iter(found.impulse), iter(found.constraint_impulses)
        parts = [np.ravel(next(contacts) if is_contact else next(others)) for is_contact in kinds]
        impulse = np.concatenate([np.zeros(0), *parts])
        for name, own in (("velocity", np.ravel(found.velocity)), ("impulse", impulse)):
            other = numbers(expected[name])
            if own.tobytes() != other.tobytes():
                miss = np.abs(own - other).max() if own.size == other.size else (own.size, other.size)
                faults.append(f"seed {seed}, {law}: {name} differs by {miss}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 200), metavar=("FIRST", "COUNT"))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    first, count = options.seeds
    end, done, faults = time.monotonic() + options.seconds, 0, []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "problem.txt"
        for seed in range(first, first + count):
            if time.monotonic() > end:
                break
            faults += compare(options.program, path, seed)
            done += 1
    print("\n".join(faults), f"{done} problems, {len(faults)} differences", sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
