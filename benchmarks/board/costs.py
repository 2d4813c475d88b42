# SPDX-License-Identifier: BSD-3-Clause
"""Scenes where accuracy is bought by time: errors of all settings over their cost, and who is best at equal cost."""

import math

import judge
import plots

BUDGETS = [0.3, 3.0, 30.0]  #: [ms]
TOP, BOTTOM = 12, 232


def cost_of(scene, row):
    """ms for each step of the scene, however many steps the settings take for it."""
    return 1e3 * row["seconds"] / sum(scene.world(case).step_count for case in scene.cases)


def front(points, floor=-math.inf):
    """(time, error) of the points, in the order of time, that no quicker one matches; errors below the floor are the floor."""
    kept = []
    for time, error in points:
        if not kept or max(error, floor) < kept[-1][1]:
            kept.append((time, max(error, floor)))
    return kept


def fronts(scene, pairs):
    """engine -> (cost, error) of the settings that no cheaper ones of the engine match, by cost."""
    found = {}
    for name, pair in pairs.items():
        points = sorted((cost_of(scene, row), row["error"]) for row in pair["all"] if "error" in row and row["seconds"] > 0)
        if points:
            found[name] = front(points)
    return found


def at(front, budget):
    """The least error for a budget, or None."""
    return min((error for cost, error in front if cost <= budget), default=None)


def words(scene, pairs):
    """Who has the least error at each budget."""
    parts = []
    for budget in BUDGETS:
        errors = {name: at(front, budget) for name, front in fronts(scene, pairs).items()}
        able = {name: error for name, error in errors.items() if error is not None}
        if able:
            best = min(able, key=able.get)
            parts.append(f"{budget:g} ms {best}'s, {judge.number_text(able[best])} {scene.unit}")
        else:
            parts.append(f"{budget:g} ms nobody's")
    return "The least error for at most " + ", for ".join(parts) + " per step."


def picture(scene, pairs, number_of):
    """Errors by cost, both by decades; an error of 0 sits on the lower edge. A disc is a settings."""
    lines = fronts(scene, pairs)
    if not lines:
        return ""
    least = scene.tolerance * 1e-3
    costs = [cost for front in lines.values() for cost, _ in front]
    errors = [max(error, least) for front in lines.values() for _, error in front]
    (left, right), (low, high) = plots.decades(costs), plots.decades([*errors, scene.tolerance], least)
    span = plots.WIDTH - plots.LEFT - plots.RIGHT

    def point(cost, error):
        return (plots.LEFT + span * (math.log10(cost) - left) / (right - left),
                BOTTOM - (BOTTOM - TOP) * (math.log10(max(error, least)) - low) / (high - low))
    limit = point(10.0**left, scene.tolerance)[1]
    parts = [f'<rect class="good" x="{plots.LEFT}" y="{limit:.1f}" width="{span}" height="{BOTTOM - limit:.1f}"/>']
    for exponent in range(low, high + 1):
        y = point(1.0, 10.0**exponent)[1]
        parts.append(f'<path class="grid" d="M{plots.LEFT} {y:.1f}H{plots.WIDTH - plots.RIGHT}"/>')
        parts.append(plots.text(plots.LEFT - 8, y + 4, plots.power_text(exponent), "end"))
    for exponent in range(left, right + 1):
        parts.append(plots.text(point(10.0**exponent, 1.0)[0], BOTTOM + 18, plots.power_text(exponent)))
    x = plots.LEFT
    for name, front in lines.items():
        places = [point(*pair) for pair in front]
        path = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(f"H{a:.1f}V{b:.1f}" for a, b in places[1:])
        number = number_of(name)
        parts.append(f'<path class="curve e{number}" d="{path}"/>')
        parts += [f'<circle class="disc e{number}" cx="{a:.1f}" cy="{b:.1f}" r="4"/>' for a, b in places]
        parts.append(f'<path class="curve e{number}" d="M{x} {BOTTOM + 58}h18"/>' + plots.text(x + 22, BOTTOM + 62, name, "start"))
        x += 34 + 8 * len(name)
    parts.append(plots.text(plots.LEFT + span / 2, BOTTOM + 38, f"ms per step of the scene; up: error, {scene.unit}; shaded: right"))
    return plots.svg(BOTTOM + 72, parts, f"Errors by cost: {scene.title}")
