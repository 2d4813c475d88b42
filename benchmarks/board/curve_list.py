# SPDX-License-Identifier: BSD-3-Clause
"""The curves: of each engine, the setting that buys accuracy by time. Needs nothing but Python."""

import dataclasses


@dataclasses.dataclass
class Curve:
    name: str
    engine: str
    settings: list
    colour: int  #: of the page's style, as the engine has elsewhere on the page
    dash: int = 0  #: of the line: whole, long or short dashes
    program: str = None  #: which program runs it; None: the engine's Python package
    package: str = None


def each(name, values, **others):
    return [{**others, name: value} for value in values]


DEADLINES = [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]  #: [us per contact]
TOLERANCES = ["1e-2", "1e-4", "1e-6", "1e-8"]
PHYSX = [1, 2, 4, 16, 64, 255]
EXACT = {"solver": "carom", "law": "coulomb", "rigid": 1, "first": 1}
SOFT = {"solver": "carom", "law": "coulomb", "rigid": 0}
CONVEX = {"solver": "carom", "law": "convex", "rigid": 0}

CURVES = [
    Curve("carom", "carom", each("deadline", DEADLINES, **EXACT) + each("tolerance", TOLERANCES, **EXACT), 0, 0, "bullet"),
    Curve("carom, compliant", "carom", each("tolerance", TOLERANCES, **SOFT), 0, 1, "bullet"),
    Curve("carom, convex law", "carom", each("tolerance", TOLERANCES, **CONVEX), 0, 2, "bullet"),
    Curve("Bullet", "bullet", each("iterations", [1, 2, 5, 10, 20, 50, 100, 200, 500], solver="bullet", first=1), 1, 0, "bullet"),
    Curve("MuJoCo CG", "mujoco", each("iterations", [1, 2, 5, 10, 20, 50, 100], solver="cg"), 2, 0, None, "mujoco"),
    Curve("MuJoCo Newton", "mujoco", each("iterations", [1, 2, 5, 10, 20], solver="newton"), 2, 1, None, "mujoco"),
    Curve("PhysX TGS", "sapien", each("iterations", PHYSX, tgs=True), 4, 0, None, "sapien"),
    Curve("PhysX PGS", "sapien", each("iterations", PHYSX, tgs=False), 4, 1, None, "sapien"),
    Curve("Box3D", "box3d", each("substeps", [1, 2, 4, 8, 16, 32, 64]), 5, 0, "box3d"),
]


def place(row):
    """Where a row stands in the list."""
    number = next(k for k, curve in enumerate(CURVES) if curve.name == row["curve"])
    return number, CURVES[number].settings.index(row["settings"])


def expects(scene, name, settings):
    """Whether a row is of a scene and of settings that are measured now."""
    import curve_scenes
    curve = next((curve for curve in CURVES if curve.name == name), None)
    return curve is not None and settings in curve.settings and any(scene == known.name for known in curve_scenes.SCENES)
