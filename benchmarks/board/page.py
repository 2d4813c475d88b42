# SPDX-License-Identifier: BSD-3-Clause
"""The board as one page out of board.json: nothing on it comes from elsewhere, and it needs no program to be read."""

import html
import math
import pathlib
import statistics

import costs
import curve_page
import judge
import plots
import problem_page
import scene_list
from adapters import settings_text

STYLE = pathlib.Path(__file__).resolve().parent / "board.css"
FIRST = "carom"  #: the engine of the first column
SIGNS = {"right": "✓", "near": "~", "wrong": "✗", "no answer": "–", "not expressible": "n/a"}
CLASSES = {"right": "right", "near": "near", "wrong": "wrong", "no answer": "none", "not expressible": "none"}
CLOCK = 0.05  #: [s]; shorter times are a few ticks of it
e = html.escape


def judged(board):
    """scene name -> engine -> {default, best, all}: rows with their verdicts, of scenes and engines that were run."""
    found = {}
    for scene in scene_list.all_scenes():
        by_engine = {}
        for row in board["rows"]:
            if row["scene"] == scene.name:
                verdict = judge.judge(scene, row["answer"], row["fault"])
                by_engine.setdefault(row["engine"], []).append(row | verdict)
        pairs = {}
        for name in sorted(by_engine, key=lambda n: (n != FIRST, n)):
            rows = by_engine[name]
            default = next((row for row in rows if not row["settings"]), None)
            if default:
                pairs[name] = {"default": default, "best": judge.best(rows), "all": rows}
        if pairs:
            found[scene.name] = pairs
    return found


def names_of(found):
    names = {name for pairs in found.values() for name in pairs}
    return sorted(names, key=lambda n: (n != FIRST, n))


def cell(row):
    word = row["verdict"]
    return f'<span class="{CLASSES[word]}" title="{word}">&nbsp;{SIGNS[word]}&nbsp;</span>'


def td(text, label, kind=""):
    """A cell; a phone shows the label beside it, in the place of the head of the table."""
    marked = f' class="{kind}"' if kind else ""
    return f'<td{marked} data-label="{e(label)}">{text}</td>'


def table(heads, lines, name=""):
    head = "".join(f"<th>{e(text)}</th>" for text in heads)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    named = f' id="{name}"' if name else ""
    return f'<div class="wide"><table class="cards"{named}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def overview(found, names):
    lines = []
    for scene in scene_list.all_scenes():
        if scene.name not in found:
            continue
        pairs = [(name, found[scene.name].get(name)) for name in names]
        lines.append(td(f'<a href="#{scene.name}">{e(scene.title)}</a>', "") +
                     "".join(td(f'{cell(pair["default"])} {cell(pair["best"])}' if pair else "", name) for name, pair in pairs))
    lines.append(td(f"right, of {len(found)} scenes", "") +
                 "".join(td(f"{count(found, name, 'default')}, {count(found, name, 'best')}", name) for name in names))
    return table(["scene", *names], lines, "overview")


def count(found, name, which):
    return sum(pairs[name][which]["verdict"] == "right" for pairs in found.values() if name in pairs)


def told(scene, row):
    """An answer in a table: the error, or what happened."""
    if "reason" in row:
        return e(f"{row['verdict']}: {row['reason']}")
    unit = f"\u00a0{scene.unit}" if scene.unit else ""
    return f"<span>{row['verdict']}, {judge.number_text(row['error'])}{e(unit)}</span>"  # on one line


def step_ms(row):
    """ms per step, of runs that took long enough for the processor's clock; else None."""
    if not row.get("steps") or "error" not in row or row["seconds"] < CLOCK:
        return None
    return 1e3 * row["seconds"] / row["steps"]


def step_time(row):
    time = step_ms(row)
    return "" if time is None else f"{judge.number_text(time)}\u00a0ms"


def scene_table(scene, pairs):
    heads = ["engine", "largest error at the defaults", "at the best settings", "best settings", "time per step at the defaults",
             "at the best settings"]
    lines = []
    for name, pair in pairs.items():
        default, best = pair["default"], pair["best"]
        cells = [(told(scene, default), CLASSES[default["verdict"]]), (told(scene, best), CLASSES[best["verdict"]]),
                 (e(settings_text(best["settings"])), ""), (step_time(default), "number"), (step_time(best), "number")]
        labels = ["error at the defaults", "error " + heads[2], heads[3], heads[4], "time per step " + heads[5]]
        lines.append(td(e(name), "") + "".join(td(text, label, kind) for (text, kind), label in zip(cells, labels)))
    return table(heads, lines)


def scene_plot(scene, pairs, number_of):
    default = [(name, pair["default"]) for name, pair in pairs.items() if "error" in pair["default"]]
    picture = ""
    if scene.axis and default and all(isinstance(case, (int, float)) for case in scene.cases):
        lines = [(name, row["answers"]) for name, row in default]
        picture = plots.by_case(scene.cases, [scene.truth(case) for case in scene.cases], lines, scene.axis, scene.unit, number_of)
    if scene.tolerance == 0:
        return picture
    rows = [(name, pair["default"].get("error"), pair["best"].get("error")) for name, pair in pairs.items()
            if "error" in pair["best"]]
    return picture + (plots.error_dots(rows, scene.tolerance, scene.unit, number_of) if rows else "")


def scene_section(scene, pairs, number_of):
    limit = f" Right: within {f'{judge.number_text(scene.tolerance)} {scene.unit}'.strip()}." if scene.tolerance else ""
    line, more = judge.verdict_line(scene, pairs), ""
    if scene.costs:
        line, more = f"{line} {costs.words(scene, pairs)}", costs.picture(scene, pairs, number_of)
    return (f'<section id="{scene.name}"><h2>{e(scene.title)}</h2><p class="about">{e(scene.about)} Exact: {e(scene.formula)}.{e(limit)}</p>'
            f'<p class="verdict">{e(line)}</p><details><summary>Errors, settings and times</summary>'
            f'{scene_table(scene, pairs)}{scene_plot(scene, pairs, number_of)}{more}</details></section>')


def when(rows):
    dates = sorted({row["date"] for row in rows})
    return " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else "never"


def machines(rows):
    """The machines that measured the rows, as the rows say."""
    known = sorted({row["machine"] for row in rows if row.get("machine")})
    bare = sum(not row.get("machine") for row in rows)
    if bare:
        known.append("a machine that these rows do not name" if not known else f"one that {bare} of {len(rows)} rows do not name")
    return "; ".join(known)


def settings_table(board, names):
    """Engines with their versions, when each was measured and what was tried."""
    lines = []
    for engine in board["engines"]:
        if engine["name"] not in names:
            continue
        rows = [row for row in board["rows"] if row["engine"] == engine["name"]]
        versions = ", ".join(sorted({row["version"] for row in rows}))
        grid = "".join(f"<li>{e(settings_text(settings))}</li>" for settings in engine["search"])
        tried = f'<details><summary>the defaults and {len(engine["search"])} more</summary><ul>{grid}</ul></details>' if grid else "the defaults"
        lines.append(td(e(engine["name"]), "") + td(f'{e(engine["package"])} {e(versions)}', "package and version") +
                     td(e(when(rows)), "measured") + td(tried, "settings tried"))
    return table(["engine", "package and version", "measured", "settings tried"], lines, "engines")


def right_counts(found, names, which):
    """How many scenes each engine has right, of those that it can express, best first."""
    parts = []
    for name in names:
        words = [pairs[name][which]["verdict"] for pairs in found.values() if name in pairs]
        able = sum(word != "not expressible" for word in words)
        parts.append((words.count("right"), f"{name} {words.count('right')} of {able}"))
    return ", ".join(text for _, text in sorted(parts, key=lambda part: -part[0]))


def link_list(found, scenes):
    return ", ".join(f'<a href="#{scene.name}">{e(scene.title)}</a>' for scene in scenes)


def losses(found):
    """The scenes in which another engine's best settings earn a better word than carom's, and those in which its error is less."""
    lost, less = [], []
    for scene in scene_list.all_scenes():
        pairs = {name: pair for name, pair in found.get(scene.name, {}).items() if pair["best"]["verdict"] != "not expressible"}
        place = judge.carom_place(scene, pairs) if FIRST in pairs else ""
        if place:
            (lost if "loses" in place else less if "smallest error" in place else []).append(scene)
    parts = [f"carom loses in {link_list(found, lost)}." if lost else "With the best settings carom loses in no scene.",
             f"Another engine’s error is smaller by more than half, and both are right, in {link_list(found, less)}." if less else ""]
    return " ".join(parts).strip()


def speeds(found, names):
    """How long carom's calls take by the steps of other engines, over the scenes that both have right at their best settings."""
    parts = []
    for name in names:
        times = [(step_ms(pairs[FIRST]["best"]), step_ms(pairs[name]["best"])) for pairs in found.values()
                 if name != FIRST and name in pairs and FIRST in pairs and
                 all(pairs[n]["best"]["verdict"] == "right" for n in (name, FIRST))]
        ratios = [own / theirs for own, theirs in times if own and theirs]
        if ratios:
            number = judge.number_text
            parts.append(f"{number(statistics.median(ratios))} times that of a step of {name} ({number(min(ratios))} to "
                         f"{number(max(ratios))} in {len(ratios)} scene{'s'[:len(ratios) != 1]})")
    return ("Where both are right at their best settings, the time of carom’s calls in a step is, in the median, "
            f"{e(judge.listed(parts))}.") if parts else ""


def verdicts(board, curve_rows, found, names):
    """What came out, in sentences."""
    lines = [f"Right at the defaults, of the scenes that the engine can express: {e(right_counts(found, names, 'default'))}.",
             f"Right with the best settings of the search: {e(right_counts(found, names, 'best'))}."]
    lines += [losses(found) if FIRST in names else "", speeds(found, names)]
    lines += [f'<a href="#curves">Heaps and walls</a>: {e(curve_page.verdict(curve_rows))}' if curve_rows else ""]
    lines += [f'<a href="#{name}">{title}</a>: {e(line)}' for name, title, line in problem_page.verdicts(board["problems"])]
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines if line) + "</ul>"


def ratios(found, name, which):
    """Errors by their tolerance, of the scenes that have one."""
    rows = [(scene, found[scene.name].get(name)) for scene in scene_list.all_scenes() if scene.name in found and scene.tolerance]
    return [pair[which]["error"] / scene.tolerance if pair and "error" in pair[which] else math.inf for scene, pair in rows]


def write(board, curve_rows=(), docs=".."):
    """The page of a board and of the rows of its curves. docs: the folder docs of the repository as the page sees it."""
    found = judged(board)
    names = names_of(found)
    number = {name: min(k, 5) for k, name in enumerate(names)}
    sections = "".join(scene_section(scene, found[scene.name], number.get) for scene in scene_list.all_scenes() if scene.name in found)
    curves = [(name, ratios(found, name, "best")) for name in names]
    picture = plots.profile(curves, len(curves[0][1]) or 1, number.get,
                            "largest error by the scene's tolerance; up: share of scenes, best settings") if curves else ""
    places = [("verdicts", "Verdicts"), ("scenes", "Scenes"), *([("curves", "Heaps")] if curve_rows else []),
              *([("problems", "Problems")] if any(row.get("origin") != "class" for row in board["problems"]) else [])]
    menu = "".join(f'<a href="#{name}">{title}</a>' for name, title in places)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The board: engines and exact answers</title><style>{STYLE.read_text(encoding="utf-8")}</style></head><body>
<nav aria-label="This page and others">{menu}<a class="away" href="{docs}/demo/index.html">Demo</a><a href="{docs}/README.md">Docs</a></nav>
<h1>The board: engines and exact answers</h1>
<p>Each scene has an answer that is known. Every engine gets the same bodies, time step and friction, in a process of its own, at
its defaults and at each settings of a small search, of which the best for the scene counts. An error is the largest over the
scene's cases. An engine joins with one file, as benchmarks/README.md says.</p>
<h2 id="settings">Versions and settings</h2>
{settings_table(board, names)}
<p class="small">Measured {e(when(board["rows"]))}, one process at a time with one thread, on {e(machines(board["rows"]))}. Engines are
the packages of PyPI, carom is its Python package, compiled there. It is no engine: its touches are found and its bodies moved by a few hundred
lines of the board, and its times are those of carom's calls alone, where engines' are of whole steps. Times are of a busy machine;
compare them within a scene; those of less than 50 ms in all are left out. “finer 4” takes four steps in the place of one.</p>
<h2 id="verdicts">Who is right, and how fast</h2>
{verdicts(board, curve_rows, found, names)}
<h2 id="scenes">Scenes</h2>
<p class="small">Marks, at the defaults and at the best settings: ✓ right, ~ within ten tolerances, ✗ wrong, – no answer, n/a not expressible.</p>
{overview(found, names)}
<div class="wide">{picture}</div>
{sections}
{curve_page.write(curve_rows)}
{problem_page.write(board["problems"])}
</body></html>
"""
