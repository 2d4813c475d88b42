# SPDX-License-Identifier: BSD-3-Clause
"""The answers to requests of other projects are right: each script's rows, in several settings."""

import html
import importlib
import json
import re
import sys

import numpy as np
import pytest

from conftest import ROOT

FOLDER = ROOT / "examples" / "answers"
PAGE = ROOT / "docs" / "answers.md"
FIGURES = ROOT / "docs" / "figures" / "answers"
NOT_ANSWERS = {"boxes", "rows", "in_mujoco", "pictures"}
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in NOT_ANSWERS)


@pytest.fixture
def load(monkeypatch):
    """A script as a module; scripts import what stands beside them."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in [*NAMES, *NOT_ANSWERS]:
        sys.modules.pop(name, None)


# Script, settings, and how far carom's value may be from the right one: of all rows, and of those that a key names.
CASES = [
    ("brax_317", {}, 1e-12, {}),
    ("brax_317", {"starts": (2.9511, 4.2), "restitutions": (0.0, 0.35)}, 1e-12, {}),
    ("gazebo_classic_1155", {}, 1e-9, {}),
    ("gazebo_classic_1155", {"cubes": 3, "top": 50.0, "limits": (1, 2, 50)}, 1e-9, {}),
    ("gz_physics_15", {}, 1e-9, {"where it goes": 1e-5, "least pull": 1e-6}),
    (
        "gz_physics_15",
        {"angles": (10.0, 45.0, 135.0), "yaw": -70.0, "slip": 0.02},
        1e-9,
        {"where it goes": 1e-5, "least pull": 1e-6},
    ),
    ("isaaclab_2193", {}, 1e-5, {}),
    ("isaaclab_2193", {"masses": (0.3, 90.0), "count": 20, "seed": 5}, 1e-5, {}),
    ("jolt_983", {"headings": (0.0, 17.0, 45.0), "yaws": (0.0, 25.0)}, 1e-7, {"until it stops": 0.0051}),
    ("jolt_983", {"headings": (120.0, 200.0), "yaws": (-40.0,), "order": 3}, 1e-7, {"until it stops": 0.0051}),
    ("mujoco_2237", {}, 1e-9, {}),
    ("mujoco_2237", {"restitutions": (0.3, 0.9), "guess": 2.2}, 1e-9, {}),
    ("mujoco_2841", {}, 1e-10, {"zeta": 0.012}),
    (
        "mujoco_2841",
        {"restitutions": (0.3,), "direction": (-0.4, 1.0, 2.0), "ratios": (0.6,)},
        1e-10,
        {"zeta": 0.012},
    ),
    ("mujoco_3328", {"loads": (12.0,)}, 1e-4, {}),
    ("mujoco_3328", {"loads": (9.0,)}, 1e-4, {}),
    ("mujoco_3349", {"headings": (45.0,)}, 1e-7, {}),
    ("mujoco_3349", {"headings": (-160.0,)}, 1e-7, {}),
    ("mujoco_warp_500", {}, 1e-10, {}),
    ("mujoco_warp_500", {"worlds": 10, "steps": 60, "seed": 4}, 1e-10, {}),
    ("mujoco_warp_562", {}, 0, {}),
    ("mujoco_warp_562", {"count": 15, "seed": 8}, 0, {}),
    ("mujoco_warp_87", {}, 1e-4, {}),
    ("mujoco_warp_87", {"count": 40, "seed": 6}, 1e-4, {}),
    ("newton_1131", {"restitutions": (0.0, 0.5, 1.0)}, 1e-9, {"rise": 2.5e-3}),
    ("newton_1131", {"restitutions": (0.4,), "step": 5e-4, "yaw": 0.7}, 1e-9, {"rise": 1.3e-3}),
    ("newton_1137", {"yaws": (20.0,), "scales": (100.0,)}, 1e-9, {}),
    ("newton_1137", {"yaws": (45.0,), "scales": (0.01,)}, 1e-9, {}),
    ("newton_2479", {}, 0, {}),
    ("newton_2479", {"seed": 7}, 0, {}),
    ("newton_3943", {}, 1e-8, {}),
    ("newton_3943", {"directions": (160.0,)}, 1e-8, {}),
    ("pinocchio_1556", {}, 1e-6, {}),
    ("pinocchio_1556", {"leans": (-1.5, 1.0)}, 1e-6, {}),
]


@pytest.mark.parametrize(
    ("name", "settings", "tolerance", "looser"), CASES, ids=[f"{case[0]}-{i % 2}" for i, case in enumerate(CASES)]
)
def test_the_answer_is_right(load, name, settings, tolerance, looser):
    if name == "mujoco_3328":
        pytest.importorskip("mujoco")
    rows = load(name).main(**settings)
    assert rows
    for row in rows:
        allowed = next((value for key, value in looser.items() if key in row.what), tolerance)
        assert abs(row.carom - row.right) <= allowed, row  # a NaN is larger than everything


def test_every_answer_is_tested_and_on_the_page():
    assert {case[0] for case in CASES} == set(NAMES)
    page = PAGE.read_text(encoding="utf-8")
    for name in NAMES:
        link = re.search(
            r"https://github\.com/\S+/(?:issues|pull)/\d+", (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        )[0]
        assert f"../examples/answers/{name}.py" in page and link in page
    assert set(re.findall(r"figures/answers/(\w+\.svg)", page)) == {path.name for path in FIGURES.glob("*.svg")}


def test_the_spring_of_2841_tends_to_its_formula(load):
    collision = load("mujoco_2841")
    for ratio in (0.1, 0.4):
        right = float(collision.restitution_of(ratio)), collision.slope(collision.restitution_of, ratio)
        coarse, fine = (np.abs(np.array(collision.damped(ratio, steps)[:2]) - right) for steps in (500, 2000))
        assert (fine < 0.35 * coarse).all()  # of first order: a quarter


def test_the_hopper_sticks_slides_and_flies(load):
    hopper = load("pinocchio_1556")
    seen = set()

    def watch(_, mass, free, jacobian, height):
        velocity = hopper.by_modes(_, mass, free, jacobian, height)
        touches = jacobian[1] @ velocity < -max(height, 0) / hopper.STEP + 1e-9
        seen.add(("stick" if abs(jacobian[0] @ velocity) < 1e-9 else "slide") if touches else "open")
        return velocity

    hopper.hop(watch, 0.4)
    assert seen == {"stick", "slide", "open"}


def test_mujoco_creeps_where_the_page_says_so(load):
    pytest.importorskip("mujoco")
    grasp = load("mujoco_3328")
    soft, stiff = (grasp.creep(12.0, f"elliptic, impratio {ratio}", by_carom=False) for ratio in (1, 10))
    assert soft > 5 * stiff > 50  # [um/s]


WITH_MUJOCO = {"grip", "ramp", "sliding_box", "dropped_box"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FIGURES.glob("*.svg")))
def test_the_picture_is_that_of_its_script(load, name):
    plt = pytest.importorskip("matplotlib.pyplot")
    if name in WITH_MUJOCO:
        pytest.importorskip("mujoco")
    pictures = load("pictures")
    figure = pictures.draw(pictures.PICTURES[name])
    drawn = pictures.numbers_of(figure)
    plt.close(figure)
    text = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
    assert len(text.encode()) <= 40_000
    kept = json.loads(html.unescape(re.search(r"<dc:description>(.*?)</dc:description>", text, re.S)[1]))
    assert len(kept) == len(drawn)
    for (label, *before), (_, *now) in zip(kept, drawn):
        if label.startswith("MuJoCo") or name == "convergence":  # versions and compilers differ in these
            continue
        for a, b in zip(before, now):
            assert np.allclose(a, b, rtol=0, atol=1e-4 * max(np.ptp(b), 1.0)), (name, label)
