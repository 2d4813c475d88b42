# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the bundled problems, and of classes that the board makes: the time to a residual that the board measures."""

import datetime
import hashlib
import pathlib

import child
import judge
import machine
import problem_classes
from store import Store, key_of

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[1] / "examples" / "data"
TARGETS = ["1e-4", "1e-8", "1e-12"]
SOLVERS = {"carom": ("carom", "carom"), "pinocchio": ("pinocchio", "pin")}  #: engine, package


def files():
    return sorted(DATA.glob("*.txt"))


def source():
    paths = [HERE / "problem_child.py", HERE / "problem_data.py"]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def row_of(answer, fault):
    """Seconds and residual, or a reason; nothing is believed unseen."""
    if fault is None and "missed" in answer:
        best = answer["missed"]
        fault = f"gets to {judge.number_text(best)}" if judge.is_number(best) else "gives no finite impulses"
    elif fault is None and not all(judge.is_number(answer.get(name)) for name in ("seconds", "residual", "iterations")):
        fault = "gave no time"
    if fault is not None:
        return {"reason": fault}
    return {name: answer[name] for name in ("seconds", "residual", "iterations")}


def run(options, pythons, version_of):
    """Runs what is missing: every file, solver and residual."""
    sources = [(path, "bundled") for path in files()]
    sources += [(path, "class") for path in problem_classes.write(options.output / "classes")]
    store, made = Store(options.output / "problems.jsonl"), source()
    for solver, (_, package) in SOLVERS.items():
        version, fault = version_of(pythons[solver], package)
        if version is None:
            print(f"problems: {package} is not there: {fault}", flush=True)
            continue
        for path, origin in sources:
            hashed = hashlib.sha256(path.read_bytes()).hexdigest()
            for target in TARGETS:
                key = key_of("problem", path.stem, hashed, made, solver, version, target)
                if key in store.rows:
                    continue
                command = [str(pythons[solver]), str(HERE / "problem_child.py"), str(path), solver, target]
                answer, fault, wall = child.run(command, options.seconds, options.megabytes, options.environment)
                row = {"key": key, "problem": path.stem, "solver": solver, "version": version, "target": target,
                       "origin": origin, "wall": round(wall, 2), "date": datetime.date.today().isoformat(),
                       "machine": machine.words()}
                store.add(row | row_of(answer, fault))
                print(f"{solver:10} {path.stem:20} {target:6} {row_of(answer, fault)}", flush=True)


def collect(folder):
    """The newest row of each file, solver and residual."""
    newest = {}
    for row in Store(folder / "problems.jsonl").rows.values():
        newest[row["problem"], row["solver"], row["target"]] = row
    return [newest[key] for key in sorted(newest)]
