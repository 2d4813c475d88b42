#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of docs/answers.md: `pictures.py [name ...]`, all unless told otherwise.

Each picture holds the numbers of its lines in its description, so that a test can compare them with those of today.
MuJoCo's lines need its package.
"""

import io
import json
import pathlib
import sys
from collections.abc import Callable

import brax_317
import gazebo_classic_1155
import gz_physics_15
import isaaclab_2193
import jolt_983
import matplotlib
import mujoco_2237
import mujoco_2841
import mujoco_3328
import mujoco_3349
import mujoco_warp_87
import newton_1131
import newton_1137
import newton_3943
import numpy as np
import pinocchio_1556
from in_mujoco import NAME, mujoco

import carom

matplotlib.use("svg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "figures" / "answers"
OURS, RIGHT, THEIRS, OTHER = "#c0392b", "#888888", "#1f5fa8", "#7fb2e5"
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "carom",
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "figure.facecolor": "white",
}


def thin(numbers: np.ndarray, count: int = 60) -> np.ndarray:
    """About `count` of many numbers, the last among them."""
    return numbers[np.unique(np.linspace(0, len(numbers) - 1, count).round().astype(int))]


def grip(axes: Axes) -> None:
    """mujoco 3328: the height of a held capsule."""
    times = np.linspace(0, 0.6, 30)
    lines = [("pyramidal, impratio 1", OTHER), ("elliptic, impratio 1", THEIRS), ("elliptic, impratio 10", "#0b2d55")]
    for options, colour in lines:
        height = mujoco_3328.heights(12.0, options, 0.6, by_carom=False)
        axes.plot(times, thin(1e3 * (height - 0.1), 30), color=colour, label=f"{NAME}, {options}")
    height = mujoco_3328.heights(12.0, "elliptic, impratio 1", 0.6, by_carom=True)
    axes.plot(times, thin(1e3 * (height - 0.1), 30), color=OURS, label="carom")
    axes.set(xlabel="time [s]", ylabel="height of the capsule [mm]")


def ramp(axes: Axes) -> None:
    """mujoco 3349: how far a cube slips that friction could hold."""
    for degrees, style in ((5, ":"), (20, "--"), (26, "-")):
        way = next(iter(mujoco_3349.slide_in_mujoco(np.radians(degrees), 0.0, 5.0).values()))
        axes.plot(np.linspace(0, 5, 20), thin(1e3 * way, 20), style, color=THEIRS, label=f"{NAME}, {degrees}°")
    ours = [1e3 * mujoco_3349.slide(np.radians(26), 0.0, time)[0] for time in (0.0, 2.5, 5.0)]
    axes.plot([0, 2.5, 5], ours, color=OURS, label="carom, 26°")
    axes.set(xlabel="time [s]", ylabel="way downhill [mm]")


def pinch(axes: Axes) -> None:
    """newton 3943: how far a pinched patch sinks, by friction."""
    down = np.array([0, 0, -1.0])
    held = np.geomspace(0.05, 64, 9)
    axes.loglog(
        held,
        5 * newton_3943.WEIGHT * newton_3943.FADE / (2 * held * newton_3943.LOAD),
        "--",
        color=THEIRS,
        label="friction that fades out below 1 cm/s",
    )
    low = np.array([0.01, 0.02, 0.03, 0.04, 0.045, 0.048, 0.049])
    right = 12.5 * (9.81 - 2 * low * newton_3943.LOAD / newton_3943.MASS)
    axes.loglog(low, right, color=RIGHT, label="right: nothing from 0.049 on")
    ours = [newton_3943.fall(mu, 5.0, down)[0] for mu in low[:-1]]
    axes.loglog(low[:-1], ours, "o", color=OURS, label="carom")
    most = max(abs(newton_3943.fall(mu, 5.0, down)[0]) for mu in held[::2])
    axes.loglog(held[::2], np.full(5, 1e-6), "v", color=OURS, label=f"carom: at most {most:.0e} m")
    axes.set(xlabel="friction coefficient", ylabel="sinks in 5 s [m]", ylim=(5e-7, 200))
    axes.minorticks_off()


def sliding_box(axes: Axes) -> None:
    """jolt 983: the yaw of a box that slides without spin, by heading."""
    headings = np.arange(0, 91, 5)
    for cone, colour in (("elliptic", THEIRS), ("pyramidal", OTHER)):
        yaws = [np.degrees(jolt_983.yaw_in_mujoco(np.radians(a), 0.0, cone)) for a in headings]
        axes.plot(headings, yaws, color=colour, label=f"{NAME}, {cone}")
    axes.plot(
        headings[::2],
        [np.degrees(jolt_983.slide(np.radians(a), 0.0)[0]) for a in headings[::2]],
        "o-",
        color=OURS,
        label="carom",
    )
    axes.set(xlabel="heading [°]", ylabel="yaw gained [°]")


def dropped_box(axes: Axes) -> None:
    """newton 1137: the height of a box that falls on a box."""
    theirs = next(iter(newton_1137.drop_in_mujoco(0.0).values()))
    axes.plot(np.linspace(0, 300, 60), thin(100 * theirs), color=THEIRS, label=NAME)
    axes.plot(np.linspace(0, 300, 60), thin(100 * newton_1137.drop(0.0)), color=OURS, label="carom, restitution 0")
    axes.set(xlabel="time [ms]", ylabel="height over the lower box [cm]")


def bounces(axes: Axes) -> None:
    """newton 1131: heights of a box that lands on four corners."""
    for e, colour in ((0.0, "#e8a79f"), (0.5, "#d4695d"), (0.75, OURS), (1.0, "#6e1f16")):
        heights = newton_1131.bounce(e, "box", seconds=1.0)[2]
        axes.plot(np.linspace(0, 1, 80), thin(heights, 80), color=colour, label=f"e = {e:g}")
        axes.plot([0.22, 0.95], [e**2 * newton_1131.FALL] * 2, ":", color=RIGHT, linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="height [m]; dotted: e² times the fall")


def sensor(axes: Axes) -> None:
    """isaaclab 2193: what the ground reads while balls fall on it."""
    read, right = isaaclab_2193.pour(40, 1)
    times = isaaclab_2193.STEP * np.arange(1, len(read) + 1)
    axes.plot(times, right[:, 2], color=RIGHT, linewidth=3, alpha=0.6, label="from the momentum of all balls")
    axes.plot(times, read[:, 2], color=OURS, linewidth=0.9, label="carom: sum of the contact forces")
    axes.set(xlabel="time [s]", ylabel="force on the ground [N]")


def ellipse(axes: Axes) -> None:
    """gz-physics 15: the pull from which a block slides, by direction."""
    angles = np.linspace(0, 2 * np.pi, 73)
    limits = np.array([gz_physics_15.limit(a) for a in angles])
    axes.plot(limits * np.sin(angles), limits * np.cos(angles), color=RIGHT, label="right")
    some = angles[:-1:6]
    found = np.array([gz_physics_15.least_pull(a, 0.0) for a in some])
    axes.plot(found * np.sin(some), found * np.cos(some), "o", color=OURS, label="carom")
    axes.set(xlabel="pull across the block's axis [N]", ylabel="pull along it [N]", aspect="equal", xlim=(-18, 32))


def convergence(axes: Axes) -> None:
    """gazebo-classic 1155: the residual that every answer carries, by how many systems were allowed."""
    world, touches = gazebo_classic_1155.tower(6, 1e4)
    problem = world.pose(touches, friction=gazebo_classic_1155.FRICTION)
    limits = np.arange(1, 25)
    residuals = [max(carom.solve(problem, iteration_limit=int(limit)).residual, 1e-16) for limit in limits]
    axes.semilogy(limits, residuals, "o-", color=OURS, markersize=3, label="carom: residual")
    axes.axhline(1e-8, color=RIGHT, linestyle=":", linewidth=0.8)
    axes.annotate("tolerance", (1, 1.5e-8), color=RIGHT)
    axes.set(xlabel="linear systems allowed", ylabel="residual")


def hopper(axes: Axes) -> None:
    """pinocchio 1556: a hopper that crouches, jumps, slides and stands."""
    path, _ = pinocchio_1556.hop(pinocchio_1556.by_carom, 0.4)
    exact, _ = pinocchio_1556.hop(pinocchio_1556.by_modes, 0.4)
    shift = np.linspace(0, 1.6, len(path))  # time runs to the right
    for k in range(0, len(path), 50):
        x, z, thigh, shank = path[k]
        xs = x + np.cumsum([0, 0.3 * np.sin(thigh), 0.3 * np.sin(shank)]) + shift[k]
        zs = z - np.cumsum([0, 0.3 * np.cos(thigh), 0.3 * np.cos(shank)])
        axes.plot(xs, zs, "-", color="#bbbbbb", linewidth=2, solid_capstyle="round")
    axes.plot(
        thin(exact[:, 0] + shift),
        thin(exact[:, 1]),
        color=RIGHT,
        linewidth=3,
        alpha=0.6,
        label="hip, every mode tried",
    )
    axes.plot(thin(path[:, 0] + shift, 40), thin(path[:, 1], 40), "o", color=OURS, markersize=2.5, label="hip, carom")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="x [m], with 1.6 m for each second", ylabel="z [m]", aspect="equal", ylim=(-0.05, 1.15))


def push(axes: Axes) -> None:
    """mujoco 2237: where the sphere comes to be, by the push on the capsule, with carom's gradients as lines."""
    for e, colour in ((0.0, "#e8a79f"), (0.6, "#d4695d"), (1.0, OURS)):
        gain = mujoco_2237.CAPSULE * (1 + e) / (mujoco_2237.CAPSULE + mujoco_2237.SPHERE)
        pushes = np.array([0.2, 0.5, 2.5])
        axes.plot(pushes, np.maximum(0, gain * (pushes - 0.5)) - 1, color=RIGHT, linewidth=0.8)
        for at in (0.3, 0.8, 1.4, 2.0):
            where, slope = mujoco_2237.sphere_after(at, e)
            axes.plot(
                [at - 0.12, at + 0.12],
                [where - 0.12 * slope, where + 0.12 * slope],
                color=colour,
                linewidth=3,
                label=f"carom, e = {e:g}" if at == 0.8 else None,
            )
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="push [N s]", ylabel="sphere after 1 s [m]; target 0")


def bounce_gradient(axes: Axes) -> None:
    """brax 317: the last height by the first, through the time of impact and by steps."""
    starts = np.linspace(2.9012, 2.9988, 40)  # none that just reaches the ground at the end of a step
    axes.plot(starts, 5 - starts, color=RIGHT, linewidth=3, alpha=0.6, label="right")
    axes.plot(
        starts[::4],
        [brax_317.through_impacts(s, 1.0)[0] for s in starts[::4]],
        "o",
        color=OURS,
        label="carom, ImpactStepDerivative",
    )
    axes.plot(
        starts,
        [brax_317.by_steps(s, 1.0) for s in starts],
        ".-",
        color="#e8a79f",
        markersize=3,
        linewidth=0.8,
        label="carom, steps of solve",
    )
    axes.set(xlabel="height at the start [m]", ylabel="height after 1 s [m]")


def damping(axes: Axes) -> None:
    """mujoco 2841: the speed after an impact by the damping ratio, with carom's gradients as short lines."""
    ratios = np.linspace(0, 0.9, 40)
    axes.plot(ratios, mujoco_2841.restitution_of(ratios), color=RIGHT, linewidth=3, alpha=0.6, label="right")
    for ratio in (0.05, 0.2, 0.4, 0.6, 0.8):
        e, slope, _ = mujoco_2841.damped(ratio, 500)
        axes.plot(
            [ratio - 0.06, ratio + 0.06],
            [e - 0.06 * slope, e + 0.06 * slope],
            color=OURS,
            label="carom" if ratio == 0.2 else None,
        )
    axes.set(xlabel="damping ratio", ylabel="speed after/before")


def worlds(axes: Axes) -> None:
    """mujoco_warp 87: the speed of a cube in each of 60 worlds."""
    slope, heading, friction = mujoco_warp_87.draw(60, 1)
    share = friction / np.tan(slope)
    order = np.argsort(share)
    right = np.maximum(0, np.sin(slope) - friction * np.cos(slope)) * 9.81
    axes.plot(share[order], right[order], "o", color=RIGHT, markersize=5, alpha=0.6, label="right")
    axes.plot(
        share[order],
        mujoco_warp_87.speeds(slope, heading, friction)[order],
        ".",
        color=OURS,
        markersize=3,
        label="carom, one call per step",
    )
    axes.set(xlabel="friction / tangent of the slope", ylabel="speed after 1 s [m/s]")


PICTURES = {
    make.__name__: make
    for make in (
        grip,
        ramp,
        pinch,
        worlds,
        sliding_box,
        dropped_box,
        bounces,
        sensor,
        ellipse,
        convergence,
        hopper,
        push,
        bounce_gradient,
        damping,
    )
}


def draw(make: Callable[[Axes], None]) -> Figure:
    """A picture as a figure."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5.2, 2.9), layout="constrained")
        make(axes)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    return figure


def numbers_of(figure: Figure) -> list[tuple[str, list[float], list[float]]]:
    """(label, x, y) of every line of a figure, to six digits."""
    return [
        (
            line.get_label(),
            *([float(f"{number:.6g}") for number in np.asarray(axis, float)] for axis in line.get_data()),
        )
        for line in figure.axes[0].lines
    ]


def main() -> None:
    if mujoco is None:
        sys.exit("the pictures need the package mujoco")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        figure = draw(PICTURES[name])
        with plt.rc_context(STYLE):
            about = json.dumps(numbers_of(figure), ensure_ascii=False)
            written = io.StringIO()
            figure.savefig(
                written, format="svg", metadata={"Date": None, "Title": PICTURES[name].__doc__, "Description": about}
            )
        plt.close(figure)
        text = written.getvalue().replace(
            "<svg ", "<!-- SPDX-License-Identifier: BSD-3-Clause; by examples/answers/pictures.py -->\n<svg ", 1
        )
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"{name}.svg: {len(text) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
