#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is kept built is made from the tree as it is: the library as WebAssembly, and docs/demo.

Each has a list beside it, made_from.txt: the hash of every file it was made from, and its own.
Runs from the repository root. With a name, `program` or `page`, looks at that one only; with
`--write NAME` writes its list, which scripts/page.sh does after making it.
"""
import hashlib
import pathlib
import re
import subprocess
import sys

PROGRAM = pathlib.Path("apps/page/page_program.wasm.base64")
PAGE = pathlib.Path("docs/demo/index.html")
COMPILE = pathlib.Path("scripts/compile_page_program.sh")
DEPENDENCIES = pathlib.Path("build/page/page_program.d")  # of the last compilation
#: What shapes the page. Its numbers come from all of carom and are those of the day it was made.
PAGE_SOURCES = ["apps/cli/*_experiment.cpp", "apps/cli/page*.*pp", "apps/cli/svg_plot.*",
                "apps/cli/animation.*", "apps/cli/axis_ticks.hpp", "apps/cli/experiment.hpp",
                "apps/cli/demo_command.cpp", "apps/page/*.js", "apps/page/*.css",
                PROGRAM.as_posix()]


def list_of(made):
    return made.parent / "made_from.txt"


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def page_sources():
    return sorted({path for pattern in PAGE_SOURCES for path in pathlib.Path(".").glob(pattern)})


def program_sources():
    """By the compiler's own word; files outside the tree, Eigen and the standard library, left out."""
    rule = DEPENDENCIES.read_text(encoding="utf-8").replace("\\\n", " ")
    names = {pathlib.Path(name) for name in rule.partition(":")[2].split()}
    return sorted({name for name in names if not name.is_absolute()} | {COMPILE})


def tools():
    version = subprocess.run(["em++", "--version"], capture_output=True, text=True, check=True)
    macros = pathlib.Path("/usr/include/eigen3/Eigen/src/Core/util/Macros.h").read_text(encoding="utf-8")
    eigen = re.findall(r"#define EIGEN_(?:WORLD|MAJOR|MINOR)_VERSION (\d+)", macros)
    return f"em++ {re.search(r'[0-9.]+', version.stdout).group()} and Eigen {'.'.join(eigen)}"


def write(made, sources, by):
    lines = ["# SPDX-License-Identifier: BSD-3-Clause",
             f"# What {made.name} was made from by {by}: sha256 and file, itself last.",
             "# Written by scripts/page.sh, compared by the test page.current."]
    lines += [f"{hash_of(path)}  {path.as_posix()}" for path in [*sources, made]]
    list_of(made).write_text("\n".join(lines) + "\n", encoding="utf-8")


def faults(made, expected=None):
    """Sentences that say why what was made is not what the tree would make."""
    try:
        lines = list_of(made).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        yield f"{made} is stale: no {list_of(made)}"
        return
    listed = dict(reversed(line.split("  ", 1)) for line in lines if not line.startswith("#"))
    if made.as_posix() not in listed:
        yield f"{made} is stale: {list_of(made)} does not name it"
    for name, wanted in listed.items():
        if not pathlib.Path(name).exists():
            yield f"{made} is stale: {name} is gone"
        elif hash_of(pathlib.Path(name)) != wanted:
            own = name == made.as_posix()
            yield f"{made} is stale: {'it' if own else name} has changed since it was made"
    for path in expected or []:
        if path.as_posix() not in listed:
            yield f"{made} is stale: {path} is new"


def main(arguments):
    if arguments[:1] == ["--write"]:
        if arguments[1] == "program":
            write(PROGRAM, program_sources(), tools())
        else:
            write(PAGE, page_sources(), "carom demo")
        return 0
    found = []
    if arguments[:1] != ["page"]:
        found += faults(PROGRAM)
    if arguments[:1] != ["program"]:
        found += faults(PAGE, page_sources())
    print("\n".join(found) or "what is kept built is current")
    if found:
        print("scripts/page.sh makes it anew")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
