# SPDX-License-Identifier: BSD-3-Clause
"""carom finds the outcomes and the gradients that 24 scenes have in closed form."""

import subprocess
import sys

import pytest

import truth_table
from conftest import ROOT

TOLERANCE = 1e-10
SCENES = truth_table.all_scenes()


def test_there_are_24_scenes():
    assert len(SCENES) == 24
    assert len({scene.name for scene in SCENES}) == 24


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_the_formulas_of_gradients_are_derivatives_of_those_of_outcomes(scene):
    values, gradients = truth_table.exact(scene)
    assert len(values) == len(gradients)
    for name in scene.data:
        slopes = truth_table.complex_step(scene.outcomes, scene.data, name)
        for k, slope in enumerate(slopes):
            given = gradients[k][name]
            size = truth_table.natural_size(scene, values, name, given)
            assert abs(given - slope) < 1e-12 * size, (k, name)
    for by in scene.gradients(truth_table.Data(**scene.data)):
        assert set(by) <= set(scene.data)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_carom_agrees(scene):
    values, gradients = truth_table.exact(scene)
    found_values, found_gradients = truth_table.solve_with_carom(scene)
    size = max(abs(value) for value in values)
    for k, value in enumerate(values):
        assert abs(found_values[k] - value) < TOLERANCE * size, k
        for name, exact in gradients[k].items():
            error = abs(found_gradients[k][name] - exact)
            bound = TOLERANCE * truth_table.natural_size(scene, values, name, exact)
            assert error < bound, (k, name, found_gradients[k][name], exact)


def test_the_page_is_that_of_its_numbers():
    script = ROOT / "scripts" / "gradient_peers.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_every_scene_is_derived():
    text = (ROOT / "docs" / "derivations" / "gradients.md").read_text(encoding="utf-8").lower()
    for scene in SCENES:
        assert f"### {scene.name.lower()}" in text, scene.name
