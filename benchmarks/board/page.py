# SPDX-License-Identifier: BSD-3-Clause
"""The board as one page out of board.json: nothing on it comes from elsewhere, and it needs no program to be read."""

import html
import math
import pathlib

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


def overview(found, names):
    head = "".join(f"<th>{e(name)}</th>" for name in names)
    lines = []
    for scene in scene_list.all_scenes():
        if scene.name not in found:
            continue
        cells = "".join(f'<td>{cell(pair["default"])} {cell(pair["best"])}</td>' if pair else "<td></td>"
                        for pair in (found[scene.name].get(name) for name in names))
        lines.append(f'<tr><td><a href="#{scene.name}">{e(scene.title)}</a></td>{cells}</tr>')
    sums = "".join(f"<td>{count(found, name, 'default')}, {count(found, name, 'best')}</td>" for name in names)
    lines.append(f"<tr><th>right, of {len(found)}</th>{sums}</tr>")
    return f'<div class="wide"><table id="overview"><thead><tr><th>scene</th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def count(found, name, which):
    return sum(pairs[name][which]["verdict"] == "right" for pairs in found.values() if name in pairs)


def told(scene, row):
    """An answer in a table: the error, or what happened."""
    if "reason" in row:
        return e(f"{row['verdict']}: {row['reason']}")
    unit = f" {scene.unit}" if scene.unit else ""
    return f"{row['verdict']}, {judge.number_text(row['error'])}{e(unit)}"


def step_time(row):
    """ms per step, of runs that took long enough for the processor's clock."""
    if not row.get("steps") or "error" not in row or row["seconds"] < CLOCK:
        return ""
    return judge.number_text(1e3 * row["seconds"] / row["steps"])


def scene_table(scene, pairs):
    lines = []
    for name, pair in pairs.items():
        default, best = pair["default"], pair["best"]
        lines.append(f'<tr><td>{e(name)}</td><td class="{CLASSES[default["verdict"]]}">{told(scene, default)}</td>'
                     f'<td class="{CLASSES[best["verdict"]]}">{told(scene, best)}</td><td>{e(settings_text(best["settings"]))}</td>'
                     f'<td class="number">{step_time(default)}</td><td class="number">{step_time(best)}</td></tr>')
    return ('<div class="wide"><table><thead><tr><th>engine</th><th>defaults: largest error</th><th>best</th><th>best settings</th>'
            f'<th>ms per step</th><th>best</th></tr></thead><tbody>{"".join(lines)}</tbody></table></div>')


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
    limit = f" Right: within {judge.number_text(scene.tolerance)} {scene.unit}." if scene.tolerance else ""
    line, more = judge.verdict_line(scene, pairs), ""
    if scene.costs:
        line, more = f"{line} {costs.words(scene, pairs)}", costs.picture(scene, pairs, number_of)
    return (f'<section id="{scene.name}"><h2>{e(scene.title)}</h2><p class="about">{e(scene.about)} Exact: {e(scene.formula)}.{e(limit)}</p>'
            f'<p class="verdict">{e(line)}</p>'
            f'{scene_plot(scene, pairs, number_of)}{more}{scene_table(scene, pairs)}</section>')


def search_table(board, found, names):
    lines = []
    for engine in board["engines"]:
        if engine["name"] not in names:
            continue
        versions = sorted({row["version"] for row in board["rows"] if row["engine"] == engine["name"]})
        grid = "".join(f"<li>{e(settings_text(settings))}</li>" for settings in engine["search"])
        lines.append(f'<tr><td>{e(engine["name"])}</td><td>{e(engine["package"])} {e(", ".join(versions))}</td><td><ul>{grid}</ul></td></tr>')
    return ('<div class="wide"><table><thead><tr><th>engine</th><th>package</th><th>settings tried beside the defaults</th></tr></thead>'
            f'<tbody>{"".join(lines)}</tbody></table></div>')


def ratios(found, name, which):
    """Errors by their tolerance, of the scenes that have one."""
    rows = [(scene, found[scene.name].get(name)) for scene in scene_list.all_scenes() if scene.name in found and scene.tolerance]
    return [pair[which]["error"] / scene.tolerance if pair and "error" in pair[which] else math.inf for scene, pair in rows]


def write(board, curve_rows=()):
    """The page of a board and of the rows of its curves."""
    found = judged(board)
    names = names_of(found)
    number = {name: min(k, 5) for k, name in enumerate(names)}
    sections = "".join(scene_section(scene, found[scene.name], number.get) for scene in scene_list.all_scenes() if scene.name in found)
    curves = [(name, ratios(found, name, "best")) for name in names]
    dates = sorted({row["date"] for row in board["rows"]})
    when = " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else "never"
    picture = plots.profile(curves, len(curves[0][1]) or 1, number.get,
                            "largest error by the scene's tolerance; up: share of scenes, best settings") if curves else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The board: engines and exact answers</title><style>{STYLE.read_text(encoding="utf-8")}</style></head><body>
<h1>The board: engines and exact answers</h1>
<p>Each scene has an answer that is known. Every engine gets the same bodies, time step and friction, in a process of its own, at
its defaults and at each settings of a small search, of which the best for the scene counts. An error is the largest over the
scene's cases. Measured {e(when)}; an engine joins with one file, as benchmarks/README.md says.</p>
<p class="small">carom is no engine: its touches are found and its bodies moved by a few hundred lines of the board, and its ms per step are those of
carom's calls alone, where engines' are of whole steps. Times are of a busy machine; compare them within a scene; those of less than 50 ms in all are left out. “finer 4” takes
four steps in the place of one.</p>
<p class="small">Marks, at the defaults and at the best settings: ✓ right, ~ within ten tolerances, ✗ wrong, – no answer, n/a not expressible.</p>
{overview(found, names)}
{picture}
{sections}
{curve_page.write(curve_rows)}
{problem_page.write(board["problems"])}
<h2>Engines and their search</h2>
{search_table(board, found, names)}
</body></html>
"""
