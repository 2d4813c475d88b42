#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom demo`: the page is whole, self-contained and well-formed; wrong physics is an error."""
import base64
import html.parser
import json
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


#: Where the menu leads beside sections, if the page is told where docs lies.
AWAY = ["board/index.html", "README.md", "../README.md", "../README.md#install"]


def check_page(checks, text, docs):
    page = Page(text)
    checks.expect(not page.faults, "tags", page.faults[:3])
    away = [link for link in page.links if not link.startswith("#")]
    checks.expect(away == [f"{docs}/{name}" for name in AWAY if docs], "links", away)
    places = set(re.findall(r' id="([^"]+)"', text))
    checks.expect(all(link[1:] in places for link in page.links if link.startswith("#")), "links without a place", page.links)
    checks.expect("://" not in text and "@import" not in text and "url(#tip)" in text, "network")
    for part in ("prefers-color-scheme: dark", "max-width: 720px", 'name="viewport"', "<title>"):
        checks.expect(part in text, "page lacks", part)
    checks.expect(page.tags.count("figure") >= 10, "figures", page.tags.count("figure"))
    drawings = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    for drawing in drawings:
        try:
            xml.etree.ElementTree.fromstring(drawing)
        except xml.etree.ElementTree.ParseError as fault:
            checks.expect(False, "SVG", fault, drawing[:100])
        finite = "nan" not in drawing and "inf" not in drawing
        checks.expect(finite, "number in", drawing[:100])
    checks.expect(len(drawings) > 20, "drawings", len(drawings))
    plots = [d for d in drawings if "<polyline" in d or "<rect" in d]
    checks.expect(all("aria-label" in d for d in plots), "pictures without a description")


#: Points that move and seconds that pass in each animation, by its title.
ANIMATIONS = {"A column of discs falls over": (170, 2.5), "Equal balls": (5, 11.9), "Masses 1, 2, 1, 2, 1": (5, 11.9),
              "The break shot to rest": (16, 20), "Optimised stance": (14, 0.44),
              "Straight legs": (14, 0.44)}
#: What a brief run shows instead: fewer discs, a shorter drop.
BRIEF = {"A column of discs falls over": (92, 2.5), "Optimised stance": (14, 0.2), "Straight legs": (14, 0.2)}


def summed(rows):
    """Rows from the differences between them."""
    values = []
    for row in rows:
        values.append([a + b for a, b in zip(row, values[-1])] if values else row)
    return values


def check_animation(checks, title, drawing, data, controls, brief):
    points, duration = (BRIEF if brief and title in BRIEF else ANIMATIONS).get(title, (0, 0))
    frames = summed(data["frames"])
    times = summed([[t] for t in data["times"]])
    checks.expect(len(frames) == len(times) > 50, title, "frames", len(frames), len(times))
    checks.expect(all(len(row) == 2 * points for row in data["frames"]), title, "points")
    checks.expect(all(a < b for a, b in zip(times, times[1:])), title, "times increase")
    checks.expect(times[-1][0] >= 1000 * duration, title, "ends at", times[-1])
    view = [10 * float(x) for x in drawing.get("viewBox").split()]
    room = 40 + 0.2 * view[3]
    checks.expect(all(-room < x < view[2] + room for row in frames for x in row[::2]) and
                  all(-room < y < view[3] + room for row in frames for y in row[1::2]),
                  title, "leaves the picture")
    ways = [max(row[i] for row in frames) - min(row[i] for row in frames)
            for i in range(2 * points)]
    checks.expect(all(max(ways[i:i + 2]) > 20 for i in range(0, 2 * points, 2)), title,
                  "a point stays", ways)
    shapes = [s for s in drawing.iter() if "data-points" in s.attrib]
    hung = {int(p) for s in shapes for p in s.get("data-points").split()}
    checks.expect(hung == set(range(points)), title, "shapes use", hung)
    for shape in shapes:  # the picture without a script is the first frame
        for k, point in enumerate(shape.get("data-points").split()):
            place = [shape.get("cx"), shape.get("cy")] if shape.tag == "circle" else \
                shape.get("points").split()[k].split(",")
            expected = frames[0][2 * int(point):2 * int(point) + 2]
            checks.expect([round(10 * float(x)) for x in place] == expected, title, "start", place)
    for part in ("hidden", '<button type="button"', 'type="range"', "aria-label=", "<output>",
                 f'max="{len(frames) - 1}"'):
        checks.expect(part in controls, title, "controls lack", part)


def check_animations(checks, text, brief):
    players = re.findall(r'<div class="player">\n(<svg.*?</svg>)\n(<div class="controls".*?</div>)\n'
                         r'<script type="application/json">(.*?)</script>', text, flags=re.DOTALL)
    titles = []
    for picture, controls, data in players:
        drawing = xml.etree.ElementTree.fromstring(picture)
        titles.append(drawing.get("aria-label"))
        check_animation(checks, titles[-1], drawing, json.loads(data), controls, brief)
    checks.expect(sorted(titles) == sorted(ANIMATIONS), "animations", titles)
    scripts = re.findall(r"<script([^>]*)>", text)
    known = ["", ""] + [' type="application/json"'] * len(titles) + \
        [' type="text/plain" id="carom-program"']
    checks.expect(sorted(scripts) == known, "scripts", scripts)
    for script in re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL):
        for part in ("prefers-reduced-motion: reduce", "requestAnimationFrame", '"click"', '"input"'):
            checks.expect(part in script, "a script lacks", part)
        for word in ("fetch", "import", "XMLHttp", "eval", "innerHTML", "http"):
            checks.expect(word not in script, "a script has", word)
    checks.expect(len(text.encode()) < 1.5e6, "size", len(text.encode()))


def check_plays(checks, text):
    """The interactive figures: each says what it is before it runs, the program is WebAssembly."""
    plays = re.findall(r'<figure class="try" id="try-(\w+)" data-play="(\w+)">\n<h3>(.*?)</h3>\n'
                       r'<p class="hint">(.*?)</p>\n<p class="waiting">(.*?)</p>\n</figure>', text)
    checks.expect([play[0] for play in plays] == ["billiards", "cradle", "cone"] and
                  all(play[0] == play[1] and all(play) for play in plays), "plays", plays)
    for kind, *_ in plays:
        checks.expect(f'href="#try-{kind}"' in text, "no link to", kind)
    code = re.search(r'<script type="text/plain" id="carom-program">(.*?)</script>', text, re.DOTALL)
    program = base64.b64decode("".join(code.group(1).split()), validate=True)
    checks.expect(program[:8] == b"\0asm\1\0\0\0", "the program starts", program[:8])


def check_sections(checks, text):
    """Each section is folded under its title and one sentence of it, and stands once in the menu; the page opens with motion."""
    sections = re.findall(r'<details class="section">\n<summary><h2>(.*?)</h2><span class="teaser">(.*?)</span>.*?</summary>\n'
                          r'<section id="([a-z0-9-]+)">\n<p>(.*?)</p>', text, flags=re.DOTALL)
    checks.expect(len(sections) == text.count("<details") - 1 == text.count("</details>") - 1, "sections", len(sections))
    menu = re.search(r"<nav.*?</nav>", text, re.DOTALL).group()
    for title, teaser, place, told in sections:
        checks.expect(menu.count(f'<a href="#{place}">{title}</a>') == 1, "the menu lacks", title)
        whole = told.startswith(teaser) and teaser.endswith((".", "?"))
        checks.expect(whole or place == "numbers", "the sentence of", title, teaser)
    checks.expect(text.index('class="player"') < text.index("<details class=\"section\">"), "the page does not open with motion")


def check_facts(checks, text):
    """The numbers at the top say of what they are, and are those of the table."""
    facts = re.search(r'<div class="facts">(.*?)\n</div>\n', text, re.DOTALL).group(1)
    rows = re.findall(r'<tr><td>(.*?)</td><td data-label="closed form"><span>(.*?)</span></td>.*?<td class="(good|bad)" '
                      r'data-label="error"><span>(.*?)</span>', text)

    def value(html_text):
        plain = re.sub(r"(?:(.*) × )?10<sup>(.*?)</sup>", lambda m: f"{m[1] or 1}e{m[2]}", html_text).replace("−", "-")
        return float(re.sub(r" <.*", "", plain))
    passed = sum(row[2] == "good" for row in rows)
    checks.expect(f">{passed} of {len(rows)}</b>quantities of known value" in facts, "facts", passed, len(rows), facts)
    relative = [(value(error), quantity) for quantity, known, _, error in rows if value(known) != 0 and "inf" not in error]
    largest, quantity = max(relative)
    checks.expect("inf" in facts or (f"of “{quantity}”" in facts and any(
        abs(value(b) - largest) <= 1e-12 * largest for b in re.findall(r'<b class="">(.*?)</b>', facts) if " of " not in b)),
        "the largest relative error is", largest, "of", quantity, facts)


def check_kept(checks, text):
    """The page kept in docs/demo has the same sections and quantities."""
    kept = (DATA.parents[1] / "docs" / "demo" / "index.html").read_text(encoding="utf-8")
    for pattern in ("<h2>(.*?)</h2>", r"<h3>(.*?)</h3>", r'<tr><td>(.*?)</td><td data-label="closed form"'):
        have, want = (re.findall(pattern, page) for page in (kept, text))
        checks.expect(have == want, "docs/demo/index.html is stale, scripts/page.sh makes it anew:",
                      sorted(set(have) ^ set(want))[:5])


#: What every run has to show beside its closed form, by words of the quantity; how many rows.
QUANTITIES = {"largest energy error in": 2, "lowest energy error": 1, "period": 1,
              "angle after 10 s": 1, "Order of the midpoint": 1, "Order with Yoshida": 1,
              "Order with Suzuki": 1, "Oscillator after": 1, "Bouncing ball, impact": 4,
              "end of all bounces": 2, "Kepler": 1, "Rocking block": 3, "Knocking pendula: largest": 1,
              "Galperin in time: impacts": 4, "Galperin in time: relative": 1,
              "Five equal balls": 1, "Five unequal balls": 1, "Break without": 2,
              "Break to rest": 3, "⟨u, v⟩": 1, "Straight legs": 2, "Optimised stance: ξ": 1,
              "optimised over straight": 1, "Stiff contact in stick": 4, "Mass pulled off": 1,
              "Mass that": 2, "Heap at rest": 2, "Heap of spheres and boxes": 2, "Three discs": 1, "Brick wall": 4,
              "on Coulomb’s path": 2, "on the convex path": 2,
              "where Coulomb’s path ends": 1, "The same where it sticks": 1, "Pushed box": 4, "Dropped box": 1, "Pulled mass": 5}
#: Pictures by their titles.
FIGURES = ["What floor and walls carry", "Three discs, one on top: how far it falls",
           "Energy error over many swings, step 0.1 s",
           "Error of the angle after 10 s, by the step",
           "A ball bounces without end in a finite time", "Energy error of two pendula that knock",
           "A heavy ball and a light one before a wall: 31 impacts",
           "How far apart the velocities are", "How far apart the places are",
           "A mass that sticks and slips, pulled to and fro",
           "Paths of a mass pulled along the ground for 0.2 s",
           "Rate of turn of a pushed box after 0.1 s",
           "Central paths of a ball that slides", "Central paths of a ball that sticks",
           "What lies on each body of the heap", "Time of one step by the size of the heap, logarithmic",
           "What lies on each brick", "Time of a step’s solve, logarithmic"]
#: Errors by the step; in each, ours are the least of all slip laws', and the rest are at least so
#: many decades above somewhere.
STIFF = {"Stick: a jolted box that friction holds": 0,
         "Push: a box that slides and turns": 0.8, "Drop: a box falls askew and rocks": 0.8}


def log_values(text, title):
    """Heights of the curves in a picture, each as a list, from the bottom up."""
    picture = re.search(rf'<svg [^>]*aria-label="{re.escape(title)}">.*?</svg>', text, re.DOTALL)
    curves = re.findall(r'<polyline class="line (\S+)[^"]*" points="([^"]*)"', picture.group())
    return {style: [-float(p.split(",")[1]) for p in points.split()] for style, points in curves}


def check_motion(checks, text, summary):
    lines = summary.splitlines()
    for words, count in QUANTITIES.items():
        rows = [line for line in lines if words in line]
        checks.expect(len(rows) == count and all(row.endswith(" ok") for row in rows), "quantity",
                      words, rows)
    for title in FIGURES:
        checks.expect(f'aria-label="{title}"' in text, "no picture of", title)
    energy = log_values(text, FIGURES[2])
    ours, kutta = energy["s1"], energy["s2"]
    checks.expect(max(ours) - min(ours) < 10 and kutta[0] < ours[0] and kutta[-1] > ours[-1],
                  "energy curves", ours[0], ours[-1], kutta[0], kutta[-1])
    apart = log_values(text, FIGURES[7])
    # 330 − 56 units for 17.5 decades; the first point only leads up from the axis.
    decades = (apart["s2"][1] - apart["s1"][1]) / (330 - 56) * 17.5
    checks.expect(decades >= 5, "Fig. 8: decades apart at the first impact", decades)


def check_stiff(checks, text):
    for title, decades in STIFF.items():
        curves = log_values(text, title)
        ours, program, radial = curves["s1"], curves["s3"], curves["s4"]
        checks.expect(len(ours) == len(program) == len(radial) >= 4, title, "points", curves)
        checks.expect(all(a <= min(b, c) for a, b, c in zip(ours, program, radial)), title, curves)
        # 340 − 56 units for 6 decades.
        apart = max(b - a for a, b in zip(ours, radial)) / (340 - 56) * 6
        checks.expect(apart >= decades, title, "decades apart", apart)
    paths = log_values(text, "Paths of a mass pulled along the ground for 0.2 s")
    checks.expect(max(paths["s1"]) - min(paths["s1"]) < 1, "Coulomb's law climbs", paths["s1"])
    for law in ("s3", "s4"):
        checks.expect(paths[law][-1] - paths[law][0] > 150, "does not climb", law, paths[law])


def copy_data(checks, name, replaced):
    """The bundled problems, with the smallest in place of some."""
    data = pathlib.Path(checks.folder.name, name)
    shutil.copytree(DATA, data)
    small = (data / "pile_n1_s30.txt").read_text(encoding="utf-8")
    for problem in replaced:
        (data / f"{problem}.txt").write_text(small, encoding="utf-8")
    return data, small


def check_missing(checks):
    data, _ = copy_data(checks, "missing", LARGE)
    (data / "wall_n10.txt").unlink()
    checks.refused("missing data", checks.run("demo", "--output", data / "page", "--data", data),
                   "wall_n10.txt")


def check_run(checks, data, brief, wrong):
    """A run and its page. A problem that overflows leaves an answer out of tolerance: exit code 1,
    and one line says which; the page is as good, without the numbers that are not finite."""
    folder = pathlib.Path(checks.folder.name, "new", "folder")
    docs = "../docs" if brief else ""
    outcome = checks.run("demo", "--output", folder, "--data", data, *["--brief", "--docs", docs][:3 * brief])
    checks.expect(outcome.returncode == wrong and outcome.stderr == "", outcome)
    lines = [line for line in outcome.stdout.splitlines() if "WRONG" in line]
    checks.expect(len(lines) == wrong and all("robot" in line and line.endswith("WRONG")
                                              for line in lines), "wrong lines", lines)
    checks.expect(str(folder / "index.html") in outcome.stdout, "summary", outcome.stdout)
    whole = (folder / "index.html").read_text(encoding="utf-8")
    check_page(checks, whole, docs)
    check_sections(checks, whole)
    check_facts(checks, whole)
    check_animations(checks, whole, brief)
    check_motion(checks, whole, outcome.stdout)
    check_stiff(checks, whole)
    check_plays(checks, whole)
    if not brief:
        check_kept(checks, whole)


if __name__ == "__main__":
    every = Checks()
    problems, small = copy_data(every, "wrong", LARGE)
    wrong = small.replace("-0.09809093078399499", "-1e300")
    every.expect(wrong != small, "the free velocity of pile_n1_s30")
    (problems / "robot_30x16.txt").write_text(wrong, encoding="utf-8")
    check_run(every, problems, brief=True, wrong=True)
    if not every.runs_slowly():  # the large problems and the long times
        check_run(every, DATA, brief=False, wrong=False)
    check_missing(every)
    blocked = every.file("not a folder")
    every.refused("a file in the way", every.run("demo", "--output", blocked, "--data", DATA),
                  "--output")
    every.end()
