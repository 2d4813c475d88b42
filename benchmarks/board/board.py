#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every scene in every engine, at its defaults and at each settings of its search, and writes the board.

    benchmarks/board/board.py                          what is missing, then build/board/index.html
    benchmarks/board/board.py --engines carom,bullet --scenes stack
    benchmarks/board/board.py --problems               also the bundled problems
    benchmarks/board/board.py --page                   the page again, out of the rows that are there
    benchmarks/board/board.py --publish                the same into docs/board, which is kept

Each row runs in a process of its own with limits of time and memory. A row that is there for the same scene, adapter,
settings and version of the engine is not run again. install_peers.py makes the environment of the engines,
scripts/python.sh that of carom."""

import argparse
import dataclasses
import datetime
import inspect
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import adapters  # noqa: E402
import child  # noqa: E402
import judge  # noqa: E402
import machine  # noqa: E402
import page  # noqa: E402
import problem_rows  # noqa: E402
import scene_list  # noqa: E402
from store import Store, key_of  # noqa: E402

PEERS = ROOT / "build" / "peers" / "bin" / "python"
OWN = ROOT / "build" / "python-tests" / "bin" / "python"
PUBLISHED = ROOT / "docs" / "board"


def version_of(python, package):
    """The version of a package in an environment, or None and why there is none; without a package Python's own."""
    version = f"m.version({package!r})" if package else "platform.python_version()"
    text = ("import importlib.metadata as m, json, platform, sys; "
            f"json.dump({{'version': {version}}}, open(sys.argv[1], 'w'))")
    answer, fault, _ = child.run([str(python), "-c", text], 60)
    return (answer["version"], None) if answer else (None, fault)


def key_of_row(scene, adapter, version, settings):
    worlds = [dataclasses.asdict(scene.world(case)) for case in scene.cases]
    more = []
    if scene.change:
        changed = [dataclasses.asdict(scene.world(case, scene.change)) for case in scene.cases]
        more = [scene.change, changed, adapter.gradients]
    return key_of(scene.name, worlds, inspect.getsource(scene.answer), adapter.name, adapter.source, version, settings, *more)


def run_row(options, scene, adapter, python, settings):
    """A row without its verdict, which the page gives: answers or a fault."""
    command = [str(python), str(HERE / "run_row.py"), str(options.adapters), scene.name, adapter.name, json.dumps(settings)]
    answer, fault, wall = child.run(command, options.seconds, options.megabytes, options.environment)
    return {"answer": answer, "fault": fault, "wall": round(wall, 2)}


def wanted(names, all_names, what, parser):
    if not names:
        return all_names
    chosen = names.split(",")
    unknown = [name for name in chosen if name not in all_names]
    if unknown:
        parser.error(f"no {what} is called {', '.join(unknown)}; there are {', '.join(all_names)}")
    return chosen


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", help="names with commas; all if none is named")
    parser.add_argument("--scenes", help="names with commas; all if none is named")
    parser.add_argument("--python", action="append", default=[], metavar="[ENGINE=]PATH",
                        help="interpreter of an engine, or of all that are not named")
    parser.add_argument("--adapters", type=pathlib.Path, default=HERE / "engines", help="folder of *_adapter.py")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "board")
    parser.add_argument("--seconds", type=int, default=120, help="processor time of a row at most")
    parser.add_argument("--megabytes", type=int, default=8192, help="address space of a row at most")
    parser.add_argument("--problems", action="store_true", help="also the bundled problems, by carom and by Pinocchio")
    parser.add_argument("--page", action="store_true", help="runs nothing")
    parser.add_argument("--publish", action="store_true", help="runs nothing and writes into docs/board")
    options = parser.parse_args()
    options.adapters, options.output = options.adapters.resolve(), options.output.resolve()
    options.engine_list = adapters.all_of(options.adapters)
    names = [adapter.name for adapter in options.engine_list]
    options.chosen = wanted(options.engines, names, "engine", parser)
    options.scene_names = wanted(options.scenes, [s.name for s in scene_list.all_scenes()], "scene", parser)
    options.environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    options.pythons = dict.fromkeys([*names, *problem_rows.SOLVERS], PEERS) | {"carom": OWN}
    for text in options.python:
        name, _, path = text.rpartition("=")
        if name and name not in options.pythons:
            parser.error(f"--python: no engine is called {name}")
        options.pythons.update({name: path} if name else dict.fromkeys(options.pythons, path))
    return options


def run_engine(options, adapter):
    """Runs what is missing of an engine. Prints a line for each row."""
    python = options.pythons[adapter.name]
    store = Store(options.output / f"{adapter.name}.jsonl")
    version, fault = version_of(python, adapter.package)
    if version is None:
        print(f"{adapter.name}: {adapter.package} is not there: {fault}", flush=True)
        return
    for scene in scene_list.all_scenes():
        if scene.name not in options.scene_names:
            continue
        for settings in adapter.settings():
            key = key_of_row(scene, adapter, version, settings)
            if key in store.rows:
                continue
            row = {"key": key, "scene": scene.name, "engine": adapter.name, "version": version, "settings": settings}
            row |= run_row(options, scene, adapter, python, settings)
            row |= {"date": datetime.date.today().isoformat(), "machine": machine.words()}
            store.add(judge.clean(row))
            told = row["fault"] or json.dumps(row["answer"])[:80]
            print(f"{adapter.name:8} {scene.name:18} {adapters.settings_text(settings):40} {told}", flush=True)


def collect(options):
    """The newest row of each (scene, engine, settings) whose scene is as it is now."""
    rows = []
    for adapter in options.engine_list:
        found = Store(options.output / f"{adapter.name}.jsonl").rows.values()
        for scene in scene_list.all_scenes():
            for settings in adapter.settings():
                fitting = [row for row in found if row["scene"] == scene.name and row["settings"] == settings and
                           key_of_row(scene, adapter, row["version"], settings) == row["key"]]
                rows += fitting[-1:]
    return {"engines": [dataclasses.asdict(adapter) | {"source": "", "gradients": ""} for adapter in options.engine_list],
            "rows": rows, "problems": problem_rows.collect(options.output)}


def main():
    options = read_arguments()
    if not (options.page or options.publish):
        for adapter in options.engine_list:
            if adapter.name in options.chosen:
                run_engine(options, adapter)
        if options.problems:
            problem_rows.run(options, options.pythons, version_of)
    board = collect(options)
    folder = PUBLISHED if options.publish else options.output
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(board, indent=0, sort_keys=True, allow_nan=False)
    (folder / "board.json").write_text(text + "\n", encoding="utf-8")
    curves = PUBLISHED / "curves.json"  # which curves.py writes
    rows = json.loads(curves.read_text(encoding="utf-8")) if curves.exists() else []
    docs = pathlib.Path(os.path.relpath(PUBLISHED.parent, folder)).as_posix()
    (folder / "index.html").write_text(page.write(json.loads(text), rows, docs), encoding="utf-8")
    print(f"{folder / 'index.html'}: {len(board['rows'])} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
