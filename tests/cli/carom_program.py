# SPDX-License-Identifier: BSD-3-Clause
"""Runs the carom program for the tests beside this file; only the standard library is used.

Each test is a program with the path of carom as its argument; it prints its faults and exits
non-zero when there is any.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data"


def reject_constant(word):
    raise ValueError(f"{word} is not JSON")


def strict_json(text):
    """One JSON document and a line end; NaN and Infinity, which Python would take, are refused."""
    if not text.endswith("\n") or text.count("\n") != 1:
        raise ValueError("expected one line")
    return json.loads(text, parse_constant=reject_constant)


class Checks:
    """Collects what went wrong, so that one run shows every fault."""

    def __init__(self):
        self.program = sys.argv[1]
        self.folder = tempfile.TemporaryDirectory(prefix="carom-test-")
        self.count = 0
        self.faults = []
        self.slow = None

    def expect(self, condition, *what):
        self.count += 1
        if not condition:
            self.faults.append(" ".join(str(part) for part in what))
        return condition

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True,
                              errors="replace", timeout=900, check=False)

    def file(self, content, name="input"):
        path = pathlib.Path(self.folder.name, name)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")
        return path

    def json_of(self, *arguments, code=0):
        """The JSON a good run prints."""
        result = self.run(*arguments, "--json")
        self.expect(result.returncode == code and result.stderr == "", arguments, "exit code",
                    result.returncode, result.stderr)
        try:
            return strict_json(result.stdout)
        except ValueError as fault:
            self.expect(False, arguments, fault, result.stdout[:200])
            return None

    def runs_slowly(self):
        """Whether this is a build with sanitizers, known by its pace: sweeps are shorter there, as
        each start of the program takes long. They keep one of each kind."""
        if self.slow is None:
            path = DATA / "pile_n10_s60.txt"
            self.slow = self.json_of("solve", path, "--repeat", 9)["seconds"] >= 1e-3
        return self.slow

    def refused(self, name, result, *words):
        """Exit code 2, one line on standard error that holds the words, nothing printed."""
        self.expect(result.returncode == 2, name, "exit code", result.returncode)
        self.expect(result.stdout == "", name, "printed", result.stdout[:200])
        line = result.stderr
        self.expect(line.endswith("\n") and line.count("\n") == 1 and len(line) < 600, name,
                    "expected one line, got", line)
        self.expect(line.startswith("carom: "), name, "expected the program's name, got", line)
        for word in words:
            self.expect(word in line, name, f"expected '{word}' in", line)

    def end(self):
        self.folder.cleanup()
        print("\n".join(self.faults) or f"{self.count} checks passed")
        sys.exit(1 if self.faults else 0)
