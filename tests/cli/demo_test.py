#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom demo`: the page is whole, self-contained and well-formed; wrong physics is an error."""
import html.parser
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
from carom_program import DATA, Checks  # noqa: E402

LARGE = ["pile_n100_s60", "rigid_n100_s60"]
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(html.parser.HTMLParser):
    """Finds tags that do not match, and collects what the page is made of."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.tags, self.links = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> out of place at line {self.getpos()[0]}")


def check_page(checks, text):
    page = Page(text)
    checks.expect(not page.faults, "tags", page.faults[:3])
    checks.expect(all(link.startswith("#") for link in page.links), "links", page.links)
    checks.expect("://" not in text and "@import" not in text and "url(#tip)" in text, "network")
    checks.expect("script" not in page.tags, "scripts")
    for part in ("prefers-color-scheme: dark", "max-width: 720px", 'name="viewport"', "<title>"):
        checks.expect(part in text, "page lacks", part)
    checks.expect(page.tags.count("figure") >= 10, "figures", page.tags.count("figure"))
    drawings = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    for drawing in drawings:
        try:
            xml.etree.ElementTree.fromstring(drawing)
        except xml.etree.ElementTree.ParseError as fault:
            checks.expect(False, "SVG", fault, drawing[:100])
        checks.expect("nan" not in drawing and "inf" not in drawing, "number in", drawing[:100])
    checks.expect(len(drawings) > 20, "drawings", len(drawings))
    plots = [d for d in drawings if "<polyline" in d or "<rect" in d]
    checks.expect(all("aria-label" in d for d in plots), "pictures without a description")


def copy_data(checks, name, replaced):
    """The bundled problems, with the smallest in place of some."""
    data = pathlib.Path(checks.folder.name, name)
    shutil.copytree(DATA, data)
    small = (data / "pile_n1_s30.txt").read_text(encoding="utf-8")
    for problem in replaced:
        (data / f"{problem}.txt").write_text(small, encoding="utf-8")
    return data, small


def bundled_data(checks):
    """The bundled problems; a build with sanitizers, known by its pace, goes without the large."""
    pace = checks.json_of("solve", DATA / "pile_n10_s60.txt", "--repeat", 9)["seconds"]
    return DATA if pace < 1e-3 else copy_data(checks, "small", LARGE)[0]


def check_wrong(checks):
    """A problem that overflows leaves an answer out of tolerance: exit code 1, and it says which."""
    data, small = copy_data(checks, "wrong", [*LARGE, "pile_n10_s60"])
    wrong = small.replace("-0.09809093078399499", "-1e300")
    checks.expect(wrong != small, "the free velocity of pile_n1_s30")
    (data / "robot_30x16.txt").write_text(wrong, encoding="utf-8")
    result = checks.run("demo", "--output", data / "page", "--data", data)
    checks.expect(result.returncode == 1 and result.stderr == "", "exit code", result.returncode,
                  result.stderr)
    lines = [line for line in result.stdout.splitlines() if line.endswith("WRONG")]
    checks.expect(len(lines) == 1 and "robot" in lines[0], "wrong lines", lines)
    (data / "wall_n10.txt").unlink()
    checks.refused("missing data", checks.run("demo", "--output", data / "page", "--data", data),
                   "wall_n10.txt")


if __name__ == "__main__":
    every = Checks()
    folder = pathlib.Path(every.folder.name, "new", "folder")
    problems = bundled_data(every)
    outcome = every.run("demo", "--output", folder, "--data", problems)
    every.expect(outcome.returncode == 0 and outcome.stderr == "", outcome)
    every.expect("WRONG" not in outcome.stdout and str(folder / "index.html") in outcome.stdout,
                 "summary", outcome.stdout)
    check_page(every, (folder / "index.html").read_text(encoding="utf-8"))
    check_wrong(every)
    blocked = every.file("not a folder")
    every.refused("a file in the way", every.run("demo", "--output", blocked, "--data", problems),
                  "--output")
    every.end()
