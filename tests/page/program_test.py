#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The WebAssembly kept in apps/page is what its source gives, to the last byte.

Skipped, by exit code 77, without the em++ and the Eigen that made it. Runs from the repository root.
    tests/page/program_test.py FOLDER
"""
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from current_test import COMPILE, PROGRAM, list_of, tools  # noqa: E402


def main(folder):
    if not shutil.which("em++"):
        print("skipped: em++ is not installed")
        return 77
    made_by = list_of(PROGRAM).read_text(encoding="utf-8").splitlines()[1]
    if f"by {tools()}:" not in made_by:
        print(f"skipped: here is {tools()}; {made_by}")
        return 77
    subprocess.run([COMPILE, folder, "--try"], check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/{PROGRAM.name}", encoding="ascii") as file:
        same = file.read() == PROGRAM.read_text(encoding="ascii")
    print(f"{PROGRAM} is what its source gives" if same else
          f"{PROGRAM} is not what its source gives; scripts/page.sh makes it anew")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
