#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes every C++ snippet of the given Markdown files to a folder, one file each.

Usage: extract_snippets.py OUTPUT_FOLDER FILE...
A snippet is a block fenced by ```cpp. It is a whole program or a run of statements, with #include
lines before them or not; statements get an #include of the umbrella header and a main around them. A file that holds the same text already
is left alone, so that builds stay incremental; the names written are printed, one per line.
"""
import pathlib
import re
import sys


def program(code):
    if re.search(r"\bint main\(", code):
        return code
    includes = re.match(r"(?:#include .*\n|\n)*", code).group()
    return includes + "#include <carom/carom.hpp>\n\nint main() {\n" + code[len(includes):] + "}\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        path = pathlib.Path(name)
        text = path.read_text(encoding="utf-8")
        for number, match in enumerate(re.finditer(r"^```cpp\n(.*?)^```$", text, re.M | re.S), 1):
            target = folder / f"{path.stem.lower()}_{number}.cpp"
            code = program(match.group(1))
            if not target.exists() or target.read_text(encoding="utf-8") != code:
                target.write_text(code, encoding="utf-8")
            print(target.name)


main()
