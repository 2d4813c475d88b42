# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo's own values, where its package is installed: models of a line or two, and what they do in time."""

from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import mujoco

    NAME = f"MuJoCo {mujoco.__version__}"
except ImportError:
    mujoco, NAME = None, ""


def model(world: str, time_step: float, options: str = "", friction: float = 0.5, more: str = "") -> Any:
    """A model with one coefficient of friction [-].

    world: what <worldbody> holds. options: attributes of <option>. more: what follows <worldbody>.
    """
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{time_step}" {options}/><default><geom friction="{friction} 0 0"/></default>'
        f"<worldbody>{world}</worldbody>{more}</mujoco>"
    )


def box(mass: float, size: np.ndarray, position: tuple[float, ...], yaw: float = 0.0) -> str:
    """A free box of mass [kg] and edges size (3,) [m]."""
    half, where = " ".join(map(str, np.array(size) / 2)), " ".join(map(str, position))
    return (
        f'<body pos="{where}" quat="{np.cos(yaw / 2)} 0 0 {np.sin(yaw / 2)}"><freejoint/>'
        f'<geom type="box" size="{half}" mass="{mass}"/></body>'
    )


GROUND = '<geom type="plane" size="50 50 1"/>'


def run(
    of: Any,
    seconds: float,
    watch: Callable[[Any], float],
    velocity: np.ndarray | None = None,
    step: Callable[[Any, Any], object] | None = None,
    prepare: Callable[[Any], None] | None = None,
) -> np.ndarray:
    """What watch(data) sees at the start and after every step of a simulation, (steps + 1,).

    velocity: the first qvel. step: in the place of mujoco.mj_step. prepare: changes the data before the first step.
    """
    data = mujoco.MjData(of)
    if velocity is not None:
        data.qvel[:] = velocity
    if prepare is not None:
        prepare(data)
    seen = [watch(data)]
    for _ in range(round(seconds / of.opt.timestep)):
        (step or mujoco.mj_step)(of, data)
        seen.append(watch(data))
    return np.array(seen)
