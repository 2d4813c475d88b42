# SPDX-License-Identifier: BSD-3-Clause
"""Knows every answer, and adds `off` tolerances to it. Counts its runs in the file that COUNTED names."""
import os

PACKAGE = ""
SEARCH = [{"off": 0.5}, {"off": 5}, {"off": 50}]


def answer(scene, case, settings):
    if "COUNTED" in os.environ:
        with open(os.environ["COUNTED"], "a", encoding="utf-8") as file:
            file.write("x")
    return scene.truth(case) + settings.get("off", 0) * scene.tolerance
