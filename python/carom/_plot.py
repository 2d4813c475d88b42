# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of problems and solutions by matplotlib: ContactProblem.draw and Solution.plot."""
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from carom import ContactProblem, Solution

COLOURS = {"stick": "tab:blue", "slide": "tab:orange", "open": "tab:gray"}
MOST_LABELS = 40
"""Lines of a drawing that are labelled; more would hide each other."""


def new_axes(axes: Any) -> Any:
    """The axes, or new ones for None."""
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("carom draws by matplotlib, which is not installed: pip install matplotlib") from None
    if axes is not None:
        return axes
    return pyplot.subplots()[1]


def regions(solution: "Solution") -> list[str]:
    """'open', 'stick' or 'slide' of each contact: without impulse, inside of its cone, on its surface.

    An impulse below 1e-9 of the largest counts as none; one within 1e-6 of the surface is on it.
    """
    impulse, friction = solution.impulse, solution.problem.friction
    tangent, normal = np.hypot(impulse[:, 0], impulse[:, 1]), impulse[:, 2]
    is_open = normal <= 1e-9 * np.abs(impulse).max(initial=0)
    slides = tangent >= (1 - 1e-6) * friction * normal
    return ["open" if o else "slide" if s else "stick" for o, s in zip(is_open, slides)]


def plot(solution: "Solution", axes: Any = None) -> Any:
    """Solution.plot()."""
    axes = new_axes(axes)
    impulse, friction = solution.impulse, solution.problem.friction
    tangent = np.hypot(impulse[:, 0], impulse[:, 1])
    across = np.divide(tangent, friction, out=np.zeros_like(tangent), where=friction > 0)
    normal = impulse[:, 2]
    named = np.array(regions(solution), dtype=object)
    for region, colour in COLOURS.items():
        of_region = named == region
        if of_region.any():
            axes.scatter(across[of_region], normal[of_region], color=colour, label=f"{region}: {of_region.sum()}", zorder=3)
    top = 1.1 * max(across.max(initial=0), normal.max(initial=0)) or 1.0
    axes.plot([0, top], [0, top], color="black", linewidth=1, label="friction cone")
    axes.fill_between([0, top], [0, top], [top, top], color="tab:green", alpha=0.08)
    axes.set_xlim(-0.02 * top, top)
    axes.set_ylim(-0.02 * top, top)
    axes.set_xlabel("tangential impulse / µ [N s]")
    axes.set_ylabel("normal impulse [N s]")
    axes.set_title(f"{solution.law}: {solution.status}, residual {solution.residual:.1e}")
    axes.legend(loc="lower right")
    return axes


Edge = tuple[int, int | None]


def islands(count: int, edges: list[Edge]) -> list[int]:
    """The island of each body: bodies that blocks join, directly or by others, are one."""
    parent = list(range(count))

    def root(body: int) -> int:
        while parent[body] != body:
            parent[body] = parent[parent[body]]
            body = parent[body]
        return body

    for first, second in edges:
        if second is not None:
            parent[root(first)] = root(second)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(body), len(numbers)) for body in range(count)]


def levels(count: int, edges: list[Edge], island: list[int]) -> list[int]:
    """How many blocks away from the world each body is, 1 or more; of an island that nothing ties
    to the world, from its first body."""
    neighbours = defaultdict(set)
    for first, second in edges:
        if second is not None:
            neighbours[first].add(second)
            neighbours[second].add(first)
    grounded = {first for first, second in edges if second is None}
    tied = {island[body] for body in grounded}
    level = [0] * count
    front = sorted(grounded)
    for body in range(count):
        if island[body] not in tied:
            front.append(body)
            tied.add(island[body])
    for body in front:
        level[body] = 1
    while front:
        reached = []
        for body in front:
            for other in sorted(neighbours[body]):
                if level[other] == 0:
                    level[other] = level[body] + 1
                    reached.append(other)
        front = reached
    return level


def places(island: list[int], level: list[int]) -> np.ndarray:
    """(bodies, 2), where each body stands: islands side by side, bodies at the height of their level."""
    place = np.zeros((len(island), 2))
    right = 0.0
    for number in range(max(island, default=-1) + 1):
        rows = defaultdict(list)
        for body, own in enumerate(island):
            if own == number:
                rows[level[body]].append(body)
        width = max(len(row) for row in rows.values())
        for height, row in rows.items():
            for k, body in enumerate(row):
                place[body] = right + (width - len(row)) / 2 + k, height
        right += width + 0.5
    return place


def span(values: list[float], unit: str = "") -> str:
    """'0.5', or '0.2…0.5' where values differ."""
    low, high = f"{min(values) + 0.0:.3g}", f"{max(values) + 0.0:.3g}"  # + 0.0: no -0
    return (low if low == high else f"{low}…{high}") + unit


def by_pair(edges: list[Edge]) -> dict[Edge, list[int]]:
    """The numbers of the blocks between each pair of bodies, whichever is the first."""
    pairs: defaultdict[Edge, list[int]] = defaultdict(list)
    for number, (first, second) in enumerate(edges):
        pairs[(first, None) if second is None else (min(first, second), max(first, second))].append(number)
    return pairs


def labels(problem: "ContactProblem") -> dict[tuple[Edge, bool], str]:
    """What is written at each line: (pair of bodies, whether its blocks are contacts) to text."""
    friction, gap = problem.friction, problem.gap
    texts = {}
    for pair, numbers in by_pair(problem.contact_bodies).items():
        text = f"{len(numbers)} × " if len(numbers) > 1 else ""
        text += "µ " + span([float(friction[c]) for c in numbers])
        gaps = [float(gap[c]) for c in numbers]
        if any(gaps):
            text += "\ngap " + span(gaps, " m")
        texts[pair, True] = text
    kinds = problem.constraint_kinds
    for pair, numbers in by_pair(problem.constraint_bodies).items():
        texts[pair, False] = "\n".join(sorted({kinds[c] for c in numbers}))
    return texts


def draw(problem: "ContactProblem", axes: Any = None) -> Any:
    """ContactProblem.draw()."""
    axes = new_axes(axes)
    count = problem.body_count
    edges = problem.contact_bodies + problem.constraint_bodies
    island = islands(count, edges)
    place = places(island, levels(count, edges, island))
    texts = labels(problem)
    for ((first, second), is_contact), text in texts.items():
        start = place[first]
        end = np.array([start[0], 0.0]) if second is None else place[second]
        shift = 0.0 if is_contact or ((first, second), True) not in texts else 0.12  # beside contacts
        axes.plot(
            [start[0] + shift, end[0] + shift],
            [start[1], end[1]],
            color="black" if is_contact else "tab:red",
            linestyle="-" if is_contact else "--",
            linewidth=1.5,
            zorder=1,
        )
        if len(texts) <= MOST_LABELS:
            middle = (start + end) / 2 if shift == 0 else 0.75 * start + 0.25 * end
            axes.annotate(
                text, (middle[0] + shift, middle[1]), fontsize=8, ha="left" if shift else "center", va="center",
                bbox={"boxstyle": "round", "facecolor": "white", "alpha": 0.8, "linewidth": 0}, zorder=2,
            )  # fmt: skip
    if count > 0:
        axes.scatter(*place.T, s=400, c=[f"C{number % 10}" for number in island], zorder=3)
        for body in range(count if count <= 10 * MOST_LABELS else 0):
            axes.annotate(str(body), tuple(place[body]), color="white", ha="center", va="center", zorder=4)
        axes.set_xlim(place[:, 0].min() - 0.8, place[:, 0].max() + 0.8)
        axes.set_ylim(-0.3, place[:, 1].max() + 0.5)
    if any(second is None for _, second in edges):
        axes.axhline(0.0, color="tab:brown", linewidth=4, zorder=2)
    axes.set_xticks([])
    axes.set_yticks([])
    joined = len(set(island)) if count else 0
    axes.set_title(
        f"{count} bodies in {joined} islands, {problem.contact_count} contacts"
        + (f", {problem.constraint_count} constraints" if problem.constraint_count else "")
    )
    return axes
