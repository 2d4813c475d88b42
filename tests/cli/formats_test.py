#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files of earlier versions are read for ever (docs/promises.md): tests/golden/formats/<version>.

A file is named after the command that reads it, and beside it is the answer that the version gave. `--write` as the
second argument writes the answers of files that have none.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
from carom_program import Checks  # noqa: E402

FORMATS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "formats"
# What an answer is compared by; other fields of the output may come and go.
FIELDS = {"solve": ("contacts", "velocity", "impulse"), "impact": ("outcomes", "unique"), "project": ("results",),
          "simulate": ("final", "reflections"), "viscoelastic": ("average_force", "force"), "replay": ("steps", "replayed")}
DIGITS = 1e-5  # relative: solvers end at a tolerance


def answer_of(checks, file):
    command = file.name.split("_")[0]
    # Another build may give other last bits, which replay reports by its exit code.
    code = checks.run(command, file).returncode if command == "replay" else 0
    checks.expect(code in (0, 3), file.name, "exit code", code)
    found = checks.json_of(command, file, code=code)
    return {field: found[field] for field in FIELDS[command] if field in found}


def numbers_of(value):
    if isinstance(value, dict):
        return [number for key in sorted(value) for number in numbers_of(value[key])]
    if isinstance(value, list):
        return [number for item in value for number in numbers_of(item)]
    return [value]


def agree(found, known):
    """Whether two answers have the same words and, to DIGITS of the largest, the same numbers."""
    pairs = list(zip(numbers_of(found), numbers_of(known)))
    largest = max([abs(number) for _, number in pairs if isinstance(number, float)], default=0)
    same = all(abs(a - b) <= DIGITS * largest if isinstance(b, float) else a == b for a, b in pairs)
    return same and len(numbers_of(found)) == len(numbers_of(known))


def main():
    checks = Checks()
    files = [file for file in sorted(FORMATS.glob("*/*")) if file.suffix != ".answer"]
    checks.expect(len(files) > 8, "files", len(files))
    for file in files:
        known = file.with_name(file.name + ".answer")
        found = answer_of(checks, file)
        checks.expect(found, file.name, "has no answer")
        if "--write" in sys.argv and not known.exists():
            known.write_text(json.dumps(found) + "\n", encoding="utf-8")
        checks.expect(agree(found, json.loads(known.read_text(encoding="utf-8"))), file.parent.name, file.name, found)
    checks.end()


if __name__ == "__main__":
    main()
