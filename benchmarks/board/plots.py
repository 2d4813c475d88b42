# SPDX-License-Identifier: BSD-3-Clause
"""Plots as SVG without anything from outside; colours are classes of the page's style."""

import html
import math

WIDTH, LEFT, RIGHT = 640, 92, 18


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{html.escape(words)}</text>'


def power_text(exponent):
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "10" + raised if exponent not in (0, 1) else str(10**exponent)


def svg(height, parts, label, width=WIDTH):
    return (f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(label, quote=True)}">'
            f'{"".join(parts)}</svg>')


def decades(values, least=1e-16):
    """Whole exponents around some positive numbers."""
    kept = [max(value, least) for value in values]
    low, high = math.floor(math.log10(min(kept))), math.ceil(math.log10(max(kept)))
    return low, max(high, low + 1)


def error_dots(rows, tolerance, unit, number_of):
    """One line per engine: a ring for the error at the defaults, a disc at the best settings, on a scale of decades;
    what is below the scale's start sits on it. rows: (engine, default error or None, best error or None)."""
    errors = [e for _, *pair in rows for e in pair if e is not None]
    low, high = decades([*errors, tolerance], tolerance * 1e-6)
    span = WIDTH - LEFT - RIGHT

    def x(value):
        return LEFT + span * (min(max(math.log10(max(value, 1e-300)), low), high) - low) / (high - low)
    height = 34 + 24 * len(rows) + 30
    parts = [f'<rect class="good" x="{LEFT}" y="8" width="{x(tolerance) - LEFT:.1f}" height="{24 * len(rows) + 8}"/>']
    stride = max(1, (high - low) // 8)
    for exponent in range(low, high + 1, stride):
        at = x(10.0**exponent)
        parts.append(f'<path class="grid" d="M{at:.1f} 8V{24 * len(rows) + 16}"/>')
        parts.append(text(at, 24 * len(rows) + 32, power_text(exponent)))
    for k, (engine, default, best) in enumerate(rows):
        y = 24 + 24 * k
        parts.append(text(LEFT - 8, y + 4, engine, "end"))
        number = number_of(engine)
        if default is not None and best is not None:
            parts.append(f'<path class="line e{number}" d="M{x(default):.1f} {y}H{x(best):.1f}"/>')
        if default is not None:
            parts.append(f'<circle class="ring e{number}" cx="{x(default):.1f}" cy="{y}" r="6"/>')
        if best is not None:
            parts.append(f'<circle class="disc e{number}" cx="{x(best):.1f}" cy="{y}" r="4"/>')
    parts.append(text(LEFT + span / 2, height - 6, f"largest error{', ' + unit if unit else ''}; shaded: right"))
    return svg(height, parts, "Largest errors by engine, at the defaults and at the best settings")


def ticks(low, high):
    step = 10 ** math.floor(math.log10((high - low) / 3))
    step *= next(f for f in (5, 2, 1) if (high - low) / (f * step) >= 3 or f == 1)
    first = math.ceil(low / step - 1e-9)
    return [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]


def by_case(cases, truths, lines, axis, unit, number_of):
    """Answers over the cases, numbers, with the truth as a broken line. lines: (engine, answers)."""
    values = [*truths, *(v for _, answers in lines for v in answers)]
    low, high = min(values), max(values)
    pad = 0.08 * (high - low) or 1.0
    low, high = low - pad, high + pad
    top, bottom, span = 12, 232, WIDTH - LEFT - RIGHT

    def point(case, value):
        return (LEFT + span * (case - cases[0]) / (cases[-1] - cases[0]),
                bottom - (bottom - top) * (value - low) / (high - low))
    parts = []
    for value in ticks(low, high):
        y = point(cases[0], value)[1]
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text(LEFT - 8, y + 4, f"{value:.4g}", "end"))
    for case in cases:
        parts.append(text(point(case, low)[0], bottom + 18, f"{case:g}"))
    for engine, answers in lines:
        path = "L".join("{:.1f} {:.1f}".format(*point(c, v)) for c, v in zip(cases, answers))
        parts.append(f'<path class="curve e{number_of(engine)}" d="M{path}"/>')
    path = "L".join("{:.1f} {:.1f}".format(*point(c, v)) for c, v in zip(cases, truths))
    parts.append(f'<path class="truth" d="M{path}"/>')
    parts.append(text(LEFT + span / 2, bottom + 38, f"{axis}; up: {unit}, at the defaults; broken: exact"))
    x = LEFT
    for engine, _ in lines:
        parts.append(f'<path class="curve e{number_of(engine)}" d="M{x} {bottom + 58}h18"/>')
        parts.append(text(x + 22, bottom + 62, engine, "start"))
        x += 34 + 8 * len(engine)
    return svg(bottom + 72, parts, f"Answers by {axis}")


def profile(curves, count, number_of, label, low=-3):
    """Share of scenes whose error is at most a multiple of the tolerance. curves: (engine, ratios); no answer: inf."""
    high, top, bottom, span = 3, 12, 222, WIDTH - LEFT - RIGHT

    def x(exponent):
        return LEFT + span * (min(max(exponent, low), high) - low) / (high - low)

    def y(share):
        return bottom - (bottom - top) * share
    parts = []
    for part in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<path class="grid" d="M{LEFT} {y(part):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text(LEFT - 8, y(part) + 4, f"{round(100 * part)} %", "end"))
    for exponent in range(low, high + 1):
        parts.append(text(x(exponent), bottom + 18, power_text(exponent)))
    for engine, ratios in curves:
        path, done = f"M{x(low):.1f} ", 0
        exponents = sorted(math.log10(r) if r > 0 else -math.inf for r in ratios if math.isfinite(r))
        done = sum(1 for e in exponents if e <= low)
        path += f"{y(done / count):.1f}"
        for exponent in (e for e in exponents if low < e <= high):
            done += 1
            path += f"H{x(exponent):.1f}V{y(done / count):.1f}"
        parts.append(f'<path class="curve e{number_of(engine)}" d="{path}H{x(high):.1f}"/>')
    parts.append(text(LEFT + span / 2, bottom + 38, label))
    at = LEFT
    for engine, _ in curves:
        parts.append(f'<path class="curve e{number_of(engine)}" d="M{at} {bottom + 58}h18"/>')
        parts.append(text(at + 22, bottom + 62, engine, "start"))
        at += 34 + 8 * len(engine)
    return svg(bottom + 72, parts, label)
