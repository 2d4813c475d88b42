# SPDX-License-Identifier: BSD-3-Clause
"""The part of the page on heaps and walls: errors of every engine over its time per contact, and where carom's is least."""

import html
import itertools
import math

import costs
import curve_list
import curve_scenes
import judge
import plots

e = html.escape
OWN = "carom"  #: the curve that is compared with those of other engines
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 440, 62, 14, 26, 226

#: name -> (title, unit, error below which two are equal). Positions of engines of single precision have steps of 1e-6 m.
MEASURES = {
    "penetration": ("deepest overlap", "m", 2e-5),
    "drift": ("drift of what should rest", "m", 2e-5),
    "kinetic": ("kinetic energy", "J", 1e-6),
    "gain": ("energy gained between two samples", "J", 1e-3),
    "natural_map": ("natural map of the first step", "-", 1e-6),
}
ABOUT = """Each disc is a run of the whole scene: the error over the mean processor time of the engine's solver in a step, by the
number of contact points. Settings differ in what buys accuracy by time. The line is the least error for at most that time. All
engines get the same bodies, start and time step; the board computes all errors but the natural map from the places and speeds of
the bodies, by the same code for all."""
TIMES = """How times are taken: Bullet's and carom's are those of Bullet's call of its solver, in the same world after the same
collision detection; carom's contain reading the manifolds, posing the problem, writing back and moving bodies out of overlap.
MuJoCo's are its own timers for making, projecting and solving constraints; Box3D's its own profile of the solver's stages. PhysX
gives no such time: its line is of the time that its iterations add, from the difference between 16 and 64 of them, without any
preparation, so it is drawn too far to the left. Contact points are those that the board finds: at the start where bodies rest,
else at the end. Bullet, PhysX and Box3D are of single precision; so are impulses that Bullet keeps, which ends its natural map
and carom's at 1e-6. The natural map is of these two alone, in the first step, which starts without the impulses of a step before: for
carom it takes several times the mean of a step. More iterations of MuJoCo's solvers end at the error of its softer law. Overlaps that
engines keep on purpose count as errors; in Bullet carom moves bodies apart that overlap by more
than 1 mm. carom and Box3D are compiled for the machine that ran them, the others as Debian and PyPI have them, in Bullet's disfavour."""


def iteration_time(rows, row):
    """The time that the iterations of PhysX take in a row, by the difference of two rows of its curve, or None."""
    near = {r["settings"]["iterations"]: r["times"].get("step") for r in rows
            if (r["scene"], r["curve"]) == (row["scene"], row["curve"]) and "times" in r}
    if near.get(16) is None or near.get(64) is None or not near[64] > near[16]:
        return None
    return row["settings"]["iterations"] * (near[64] - near[16]) / (64 - 16)


def time_of(rows, row, measure):
    """us per contact that a row's error cost, or None."""
    if "times" not in row:
        return None
    if measure == "natural_map":
        return row["times"].get("first")
    return row["times"]["solve"] if "solve" in row["times"] else iteration_time(rows, row) if "iterations" in row["settings"] else None


def points_of(rows, scene, measure):
    """curve name -> (time, error) of its rows, in the order of curve_list. Of bodies that fell, nobody knows how much energy is
    left at a time, so that none is an error."""
    found = {}
    if measure == "kinetic" and not next(known.standing for known in curve_scenes.SCENES if known.name == scene):
        return found
    for curve in curve_list.CURVES:
        points = [(time_of(rows, row, measure), row["errors"][measure]) for row in rows
                  if row["scene"] == scene and row["curve"] == curve.name and measure in row.get("errors", {})]
        points = sorted(point for point in points if point[0] is not None and point[0] > 0)
        if points:
            found[curve.name] = points
    return found


def at(line, time):
    """The least error for at most a time; infinite before the line begins."""
    error = costs.at(line, time)
    return math.inf if error is None else error


def rivals(fronts):
    engines = {curve.name: curve.engine for curve in curve_list.CURVES}
    return {name: line for name, line in fronts.items() if engines[name] != "carom"}


def ranges(fronts):
    """(begin, end or None, names): stretches of time. Names are of the curves that lie under carom's, none if carom's is the
    least or as low as any."""
    own, others = fronts.get(OWN, []), rivals(fronts)
    starts = sorted({time for line in [own, *others.values()] for time, _ in line})
    found = []
    for begin, end in zip(starts, [*starts[1:], None]):
        limit = at(own, begin)
        names = {name for name, line in others.items() if at(line, begin) < limit}
        if found and bool(found[-1][2]) == bool(names):
            found[-1] = (found[-1][0], end, found[-1][2] | names)
        else:
            found.append((begin, end, names))
    return found


def stretch(begin, end):
    number = judge.number_text
    return f"from {number(begin)} µs per contact up" if end is None else f"from {number(begin)} to {number(end)} µs"


def words(fronts):
    """Where carom's curve lies under all others, and where not."""
    if OWN not in fronts or not rivals(fronts):
        return "There is nothing to compare."
    parts = ranges(fronts)
    good = [stretch(begin, end) for begin, end, names in parts if not names]
    bad = [f"{stretch(begin, end)} {judge.listed([c.name for c in curve_list.CURVES if c.name in names])}"
           for begin, end, names in parts if names]
    if not bad:
        return "carom's curve lies under all others, or level with them, at every time."
    where = judge.listed(good) if good else "at no time"
    return f"carom's curve lies under all others, or level with them, {where}. Under it: {'; '.join(bad)}."


def tally(all_fronts):
    """One sentence over all scenes and measures."""
    kinds = {"every": 0, "late": 0, "never": 0}
    for fronts in all_fronts:
        if OWN in fronts and rivals(fronts):
            parts = ranges(fronts)
            kinds["every" if not any(p[2] for p in parts) else "late" if not parts[-1][2] else "never"] += 1
    return (f"Of {sum(kinds.values())} comparisons, carom's curve lies under all others, or level with them, at every time in "
            f"{kinds['every']}, from some time up in {kinds['late']}, and at the longest times not in {kinds['never']}.")


def line_class(curve):
    return f"e{curve.colour} d{curve.dash}"


def picture(points, measure, label):
    """Error over time, both by decades."""
    title, unit, floor = MEASURES[measure]
    fronts = {name: costs.front(found, floor) for name, found in points.items()}
    every = [point for found in points.values() for point in found]
    (left, right), (low, high) = plots.decades([time for time, _ in every]), plots.decades([max(error, floor) for _, error in every], floor)
    span = WIDTH - LEFT - RIGHT

    def place(time, error):
        return (LEFT + span * (math.log10(time) - left) / (right - left),
                BOTTOM - (BOTTOM - TOP) * (math.log10(max(error, floor)) - low) / (high - low))
    parts = [plots.text(LEFT, 14, f"{title} [{unit}]", "start")]
    stride = max(1, (high - low) // 6)
    for exponent in range(low, high + 1, stride):
        y = place(10.0**left, 10.0**exponent)[1] if 10.0**exponent >= floor else BOTTOM
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>' + plots.text(LEFT - 6, y + 4, plots.power_text(exponent), "end"))
    for exponent in range(left, right + 1):
        x = place(10.0**exponent, 1.0)[0]
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>' + plots.text(x, BOTTOM + 18, plots.power_text(exponent)))
    for curve in curve_list.CURVES:
        if curve.name in points:
            corners = [place(*pair) for pair in fronts[curve.name]]
            path = f"M{corners[0][0]:.1f} {corners[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in corners[1:]) + f"H{WIDTH - RIGHT}"
            parts.append(f'<path class="curve {line_class(curve)}" d="{path}"/>')
            parts += ['<circle class="disc e{}" cx="{:.1f}" cy="{:.1f}" r="2.5"/>'.format(curve.colour, *place(*pair))
                      for pair in points[curve.name]]
    parts.append(plots.text(LEFT + span / 2, BOTTOM + 36, "µs per contact and step"))
    return plots.svg(BOTTOM + 46, parts, f"{label}: {title} by time per contact", WIDTH)


def legend(names):
    parts, x, y = [], 8, 16
    for curve in curve_list.CURVES:
        if curve.name in names:
            width = 40 + 8 * len(curve.name)
            if x + width > plots.WIDTH:
                x, y = 8, y + 22
            parts.append(f'<path class="curve {line_class(curve)}" d="M{x} {y - 4}h22"/>' + plots.text(x + 26, y, curve.name, "start"))
            x += width
    return plots.svg(y + 8, parts, "Which line is whose")


def told(row, rows):
    numbers = {name: judge.number_text(value) for name, value in row.get("errors", {}).items()}
    time = time_of(rows, row, "penetration")
    times = {name: judge.number_text(row.get("times", {})[name]) if name in row.get("times", {}) else "" for name in ("pose", "step", "first")}
    hidden = ("solver", "first", "law", "rigid", "tgs")
    setting = ", ".join(f"{name} {value}" for name, value in row["settings"].items() if name not in hidden)
    cells = [row["curve"], row["version"], setting]
    if "fault" in row:
        return "".join(f"<td>{e(cell)}</td>" for cell in cells) + f'<td colspan="{5 + len(MEASURES)}">{e(row["fault"])}</td>'
    cells += ["" if time is None else judge.number_text(time), times["pose"], times["step"], times["first"], str(row["contacts"])]
    return "".join(f"<td>{e(cell)}</td>" for cell in [*cells, *(numbers.get(name, "") for name in MEASURES)])


def verdict(rows):
    """One sentence over all scenes and measures of some rows."""
    return tally([front for scene in curve_scenes.SCENES for front in scene_section(scene, rows)[1]])


def table(rows, scene):
    mine = sorted((row for row in rows if row["scene"] == scene), key=curve_list.place)
    head = "".join(f"<th>{e(name)}</th>" for name in ["curve", "version", "setting", "solve [µs]", "of it posing [µs]", "whole step [µs]", "first step [µs]", "contacts"])
    head += "".join(f"<th>{e(title)} [{unit}]</th>" for title, unit, _ in MEASURES.values())
    lines = "".join(f"<tr>{told(row, rows)}</tr>" for row in mine)
    return (f'<details><summary>All rows, times per contact</summary><div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{lines}</tbody></table></div></details>")


def scene_section(scene, rows):
    found = {measure: points_of(rows, scene.name, measure) for measure in MEASURES}
    found = {measure: points for measure, points in found.items() if points}
    if not found:
        return "", []
    fronts = {measure: {name: costs.front(line, MEASURES[measure][2]) for name, line in points.items()} for measure, points in found.items()}
    lines = "".join(f'<p class="verdict">{e(MEASURES[measure][0].capitalize())}: {e(words(fronts[measure]))}</p>' for measure in found)
    plotted = "".join(picture(points, measure, scene.title) for measure, points in found.items())
    names = set(itertools.chain(*found.values()))
    text = (f'<section id="{scene.name}"><h2>{e(scene.title)}: error over time per contact</h2><p class="about">{e(scene.about)}</p>{lines}'
            f'<details><summary>Curves</summary>{legend(names)}<div class="many">{plotted}</div></details>{table(rows, scene.name)}</section>')
    return text, list(fronts.values())


def write(rows):
    if not rows:
        return ""
    sections = [scene_section(scene, rows)[0] for scene in curve_scenes.SCENES]
    return (f'<h2 id="curves">Heaps and walls: error over time per contact</h2><p class="about">{ABOUT}</p><p class="verdict">{e(verdict(rows))}</p>'
            f'<p class="small">{TIMES}</p>{"".join(sections)}')
