#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a virtual environment with the engines of peers.txt, each by itself: what does not install or
import is left out, with the reason. Nothing else of carom needs it.

    benchmarks/board/install_peers.py [--environment build/peers] [--minutes 10] [NAME...]

peers.json in the environment says for each engine which version is there, or why it is not. Engines that
are there are not installed again. Ends with 1 if no engine is there."""

import argparse
import json
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LONGEST = 300  # of a reason that is kept, in characters


def read_list(path):
    """Rows (requirement, module) of a list, comments left out."""
    rows = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    for row in rows:
        if len(row) != 2:
            raise SystemExit(f"{path}: expected a requirement and a module, got {' '.join(row)}")
    return rows


def name_of(requirement):
    return requirement.split("==")[0]


def run(command, seconds):
    """What a command prints, and why it failed: None if it did not."""
    try:
        done = subprocess.run(command, timeout=seconds, capture_output=True, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return "", f"not done after {seconds:g} s"
    if done.returncode == 0:
        return done.stdout, None
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return done.stdout, lines[-1][:LONGEST] if lines else f"exit status {done.returncode}"


def version_of(python, requirement, module, seconds=120):
    """(version, None) of an engine that imports, else (None, reason). A child imports it, which may crash."""
    text = f"import importlib.metadata as m, {module}; print('version', m.version('{name_of(requirement)}'))"
    output, fault = run([python, "-c", text], seconds)
    if fault:
        return None, f"does not import: {fault}"
    return [line.split()[1] for line in output.splitlines() if line.startswith("version ")][-1], None


def install(python, requirement, module, minutes):
    version, _ = version_of(python, requirement, module)
    if version and requirement in (name_of(requirement), f"{name_of(requirement)}=={version}"):
        return {"version": version}
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    _, fault = run([*pip, "--prefer-binary", requirement], 60 * minutes)
    if fault:
        return {"reason": f"does not install: {fault}"}
    version, fault = version_of(python, requirement, module)
    return {"version": version} if version else {"reason": fault}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--environment", type=pathlib.Path, default=ROOT / "build" / "peers")
    parser.add_argument("--minutes", type=float, default=10, help="most for one engine")
    parser.add_argument("names", nargs="*", metavar="NAME", help="engines; all of peers.txt if none is named")
    arguments = parser.parse_args()
    rows = read_list(HERE / "peers.txt")
    unknown = set(arguments.names) - {name_of(requirement) for requirement, _ in rows}
    if unknown:
        parser.error(f"not in peers.txt: {', '.join(sorted(unknown))}")
    python = arguments.environment / "bin" / "python"
    if not python.exists():
        venv.create(arguments.environment, with_pip=True)
    report_file = arguments.environment / "peers.json"
    report = json.loads(report_file.read_text()) if report_file.exists() else {}
    for requirement, module in rows:
        name = name_of(requirement)
        if arguments.names and name not in arguments.names:
            continue
        report[name] = install(str(python), requirement, module, arguments.minutes)
        report_file.write_text(json.dumps(report, indent=1) + "\n")
        print(f"{name:16} {report[name].get('version') or report[name]['reason']}", flush=True)
    # A later engine may have changed what an earlier one needs.
    for requirement, module in rows:
        name = name_of(requirement)
        if "version" in report.get(name, {}):
            version, fault = version_of(str(python), requirement, module)
            if fault:
                report[name] = {"reason": fault}
                print(f"{name:16} no longer imports: {fault}")
    report_file.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if any("version" in entry for entry in report.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
