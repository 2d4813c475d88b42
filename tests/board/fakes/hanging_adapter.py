# SPDX-License-Identifier: BSD-3-Clause
"""Never comes to an end, working or asleep."""
import time

PACKAGE = ""
SEARCH = [{"how": "asleep"}]


class Simulation:
    def __init__(self, world, settings):
        while True:
            if settings:
                time.sleep(1)
