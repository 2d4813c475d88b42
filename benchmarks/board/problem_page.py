# SPDX-License-Identifier: BSD-3-Clause
"""The part of the page on problems, bundled ones and classes: times, and for each residual a performance profile."""

import html

import judge
import plots

e = html.escape


def solved(rows, problem, solver, target):
    row = next((r for r in rows if (r["problem"], r["solver"], r["target"]) == (problem, solver, target)), None)
    return row if row and "seconds" in row else None


def verdict(rows, problems, solvers, targets):
    """Who solves how many, and who is the fastest on how many."""
    parts = []
    for target in targets:
        counts = ", ".join(f"{solver} {sum(bool(solved(rows, p, solver, target)) for p in problems)}" for solver in solvers)
        parts.append(f"to {target}: {counts}")
    line = f"Solved of {len(problems)}, " + "; ".join(parts) + "."
    wins = dict.fromkeys(solvers, 0)
    for problem in problems:
        for target in targets:
            found = {s: solved(rows, problem, s, target) for s in solvers}
            times = {s: row["seconds"] for s, row in found.items() if row}
            if len(times) > 1:
                wins[min(times, key=times.get)] += 1
    if sum(wins.values()):
        line += " Where both solve it, the faster is " + ", ".join(f"{s} {n} times" for s, n in wins.items()) + "."
    return line


def cell(rows, problem, solver, target):
    row = next((r for r in rows if (r["problem"], r["solver"], r["target"]) == (problem, solver, target)), None)
    label = f"{e(solver)}, to {target}"
    if row is None:
        return f'<td data-label="{label}"></td>'
    if "seconds" in row:
        return f'<td class="number" data-label="{label}">{judge.number_text(1e3 * row["seconds"])} ms ({row["iterations"]})</td>'
    return f'<td class="none" data-label="{label}">{e(row["reason"])}</td>'


def table(rows, problems, solvers, targets):
    head = "".join(f"<th>{e(solver)}, to {target}</th>" for target in targets for solver in solvers)
    lines = "".join(f'<tr><td data-label="">{e(problem)}</td>' + "".join(cell(rows, problem, s, t) for t in targets for s in solvers) + "</tr>"
                    for problem in problems)
    return f'<div class="wide"><table class="cards"><thead><tr><th>problem</th>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def profile(rows, problems, solvers, target):
    """Time by the shortest of all solvers on a problem."""
    curves = []
    shortest = {p: min((row["seconds"] for s in solvers if (row := solved(rows, p, s, target))), default=None) for p in problems}
    for number, solver in enumerate(solvers):
        found = {p: solved(rows, p, solver, target) for p in problems}
        curves.append((solver, [row["seconds"] / shortest[p] for p, row in found.items() if row], number))
    numbers = {solver: number for solver, _, number in curves}
    return plots.profile([(solver, ratios) for solver, ratios, _ in curves], len(problems), numbers.get,
                         f"time by the shortest, to {target}; up: share of problems", low=0)


def kinds_of(rows):
    return (sorted({row["problem"] for row in rows}), sorted({row["solver"] for row in rows}, key=lambda solver: (solver != "carom", solver)),
            sorted({row["target"] for row in rows}, key=lambda text: -float(text)))


def versions(rows):
    """Solvers with their versions, and when they were measured."""
    dates = sorted({row["date"] for row in rows if "date" in row})
    named = sorted({f"{row['solver']} {row['version']}" for row in rows if "version" in row})
    return f"Measured {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}: {judge.listed(named)}." if dates and named else ""


def sections(rows, name, title, about):
    if not rows:
        return ""
    kinds = kinds_of(rows)
    pictures = "".join(profile(rows, kinds[0], kinds[1], target) for target in kinds[2])
    return f"""<section id="{name}"><h2>{title}</h2>
<p class="about">{about} {e(versions(rows))}</p>
<p class="verdict">{e(verdict(rows, *kinds))}</p>
<details><summary>Times</summary>{table(rows, *kinds)}{pictures}</details></section>"""


BUNDLED = """The files of examples/data under the convex law, from zero: time of the solve alone (iterations). The residual is
the relative distance of the impulses to a fixed point of the law, computed by the board for every solver. Pinocchio's ADMM gets
the dense matrix made, which its time leaves out; carom gets masses and Jacobians. All tries and repeats of a row have 120 s."""
MADE = """Stacks of cubes, chains of links, pyramids of balls and piles of logs, by their number of bodies or layers, made by
problem_classes.py out of nothing but its code; measured as above. Contacts are nearly rigid."""


KINDS = [("problems", "Bundled problems: time to a residual", BUNDLED), ("classes", "Classes of problems: time to a residual", MADE)]


def parts(rows):
    """(name, title, about, rows) of the two kinds of problems."""
    made = [row for row in rows if row.get("origin") == "class"]
    bundled = [row for row in rows if row.get("origin") != "class"]
    return [(*kind, mine) for kind, mine in zip(KINDS, (bundled, made))]


def verdicts(rows):
    """(name, title, verdict) of the kinds of problems that were measured."""
    return [(name, title.partition(":")[0], verdict(mine, *kinds_of(mine))) for name, title, _, mine in parts(rows) if mine]


def write(rows):
    return "".join(sections(mine, name, title, about) for name, title, about, mine in parts(rows))
