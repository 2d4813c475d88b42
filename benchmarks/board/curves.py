#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the curves of error over time per contact on scenes of hundreds of bodies, for the board's page.

    benchmarks/board/curves.py                          what is missing, into build/board/curves.jsonl
    benchmarks/board/curves.py --scenes wall_500 --curves carom,Bullet
    benchmarks/board/curves.py --program box3d=PATH     rows of an engine whose program is elsewhere
    benchmarks/board/curves.py --publish                runs nothing; the rows into docs/board, and its page again

Runs in the environment of install_peers.py, for numpy. carom and Bullet are rows of carom_bullet_curve, which CMake builds
in its preset release where Bullet is installed. A program of another engine reads the same scene and settings,
and writes the same answer (benchmarks/peers/board_scene.hpp). What is not there is told and passed over. Rows that are
there are not run again; rows of an engine that was not run stay in docs/board as they are."""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE / "engines")]

import child  # noqa: E402
import curve_list  # noqa: E402
import curve_scenes  # noqa: E402
from store import Store, key_of  # noqa: E402

PUBLISHED = ROOT / "docs" / "board"
PROGRAM = ROOT / "build" / "release" / "bin" / "carom_bullet_curve"


def settings_words(settings):
    """Settings as programs read them."""
    return ",".join(f"{name}={value}" for name, value in settings.items())


def command_of(options, curve, scene, settings, folder):
    """How a row is run, or None and why not."""
    if curve.program is None:
        text = json.dumps(settings)
        return [sys.executable, str(HERE / "curve_child.py"), str(HERE / "engines"), scene.name, curve.engine, text], None
    path = options.programs.get(curve.program)
    if path is None or not path.exists():
        return None, f"no program {curve.program}: {path or 'not given'}"
    file = pathlib.Path(folder) / "scene.txt"
    file.write_text(curve_scenes.text_of(scene.make()), encoding="utf-8")
    return [str(path), str(file), settings_words(settings)], None


def version_of(curve):
    """Of a Python package; programs tell theirs in the answer."""
    import importlib.metadata as metadata
    try:
        return metadata.version(curve.package) if curve.package else None
    except metadata.PackageNotFoundError:
        return ""


def microseconds(answer, name, contacts):
    """A time of the answer [s] per contact, or None."""
    return 1e6 * answer[name] / contacts if isinstance(answer.get(name), int | float) and contacts else None


def numbers_of(scene, world, answer):
    """What a row keeps of an answer. Contacts are those of the start where bodies should rest, else those of the end."""
    import curve_measures
    samples = answer["samples"]
    contacts = curve_measures.contact_count(world, samples[0 if scene.standing else -1])
    errors = curve_measures.errors(scene, world, samples)
    if scene.standing and isinstance(answer.get("natural_map"), int | float):  # else the first step has few contacts
        errors["natural_map"] = answer["natural_map"]
    if not all(abs(value) < 1e300 for value in errors.values()):
        raise ValueError("an error is no finite number")
    times = {"solve": microseconds(answer, "solve", contacts), "pose": microseconds(answer, "pose", contacts),
             "step": microseconds(answer, "step", contacts),
             "first": microseconds(answer, "first", answer.get("first_contacts"))}
    return {"bodies": len(world.bodies), "contacts": contacts, "errors": errors,
            "times": {name: value for name, value in times.items() if value is not None}}


def run_row(options, curve, scene, settings):
    """A row without its key: numbers or a fault."""
    row = {"scene": scene.name, "curve": curve.name, "engine": curve.engine, "settings": settings,
           "date": datetime.date.today().isoformat()}
    with tempfile.TemporaryDirectory(prefix="carom-curves-") as folder:
        command, fault = command_of(options, curve, scene, settings, folder)
        if command is None:
            return None, fault
        answer, fault, _ = child.run(command, options.seconds, options.megabytes, options.environment)
    row["version"] = version_of(curve) or (answer or {}).get("version", "")
    if fault is None:
        try:
            row |= numbers_of(scene, scene.make(), answer)
        except (ValueError, KeyError, TypeError, IndexError) as reason:
            fault = f"{type(reason).__name__}: {reason}"[:200]
    if fault is not None:
        row["fault"] = fault
    return row, None


def run(options):
    if importlib.util.find_spec("numpy") is None:
        raise SystemExit("the measures need numpy: run this with the python of install_peers.py's environment")
    store = Store(options.output / "curves.jsonl")
    for scene in curve_scenes.SCENES:
        text = curve_scenes.text_of(scene.make())
        for curve in curve_list.CURVES:
            if scene.name not in options.scenes or curve.name not in options.curves:
                continue
            for settings in curve.settings:
                key = key_of("curve", scene.name, text, curve.name, settings, version_of(curve))
                if key in store.rows:
                    continue
                row, missing = run_row(options, curve, scene, settings)
                if row is None:
                    print(f"{curve.name}: {missing}", flush=True)
                    break
                store.add({"key": key} | row)
                told = row.get("fault") or {**row["errors"], **row["times"]}
                print(f"{scene.name:13} {curve.name:18} {settings_words(settings):45} {told}", flush=True)


def collect(output, kept):
    """The newest row of each scene, curve and settings; a row that was kept stays where there is none."""
    newest = {}
    for row in [*kept, *Store(output / "curves.jsonl").rows.values()]:
        if curve_list.expects(row["scene"], row["curve"], row["settings"]):
            newest[row["scene"], row["curve"], json.dumps(row["settings"], sort_keys=True)] = row
    return [newest[key] for key in sorted(newest)]


def publish(options):
    """Writes docs/board/curves.json and the page."""
    import page
    path = PUBLISHED / "curves.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    rows = collect(options.output, kept)
    path.write_text(json.dumps(rows, indent=0, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    board = json.loads((PUBLISHED / "board.json").read_text(encoding="utf-8"))
    (PUBLISHED / "index.html").write_text(page.write(board, rows), encoding="utf-8")
    print(f"{path}: {len(rows)} rows")


def chosen(text, names, what, parser):
    found = text.split(",") if text else names
    unknown = [name for name in found if name not in names]
    if unknown:
        parser.error(f"no {what} is called {unknown[0]}; there are {'; '.join(names)}")
    return found


def read_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", help="names with commas; all if none is named")
    parser.add_argument("--curves", help="names with commas; all if none is named")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH", help="program of an engine")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "board")
    parser.add_argument("--seconds", type=int, default=100, help="processor time of a row at most")
    parser.add_argument("--megabytes", type=int, default=8192, help="address space of a row at most")
    parser.add_argument("--publish", action="store_true", help="runs nothing and writes into docs/board")
    options = parser.parse_args(arguments)
    options.scenes = chosen(options.scenes, [scene.name for scene in curve_scenes.SCENES], "scene", parser)
    options.curves = chosen(options.curves, [curve.name for curve in curve_list.CURVES], "curve", parser)
    options.programs = {"bullet": PROGRAM}
    for text in options.program:
        name, _, path = text.partition("=")
        if not path:
            parser.error(f"--program: expected NAME=PATH, got {text}")
        options.programs[name] = pathlib.Path(path).resolve()
    options.output = options.output.resolve()
    options.environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    return options


def main():
    options = read_arguments()
    publish(options) if options.publish else run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
