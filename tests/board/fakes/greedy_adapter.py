# SPDX-License-Identifier: BSD-3-Clause
"""Wants more memory than there is."""
PACKAGE = ""
SEARCH = []


class Simulation:
    def __init__(self, world, settings):
        kept = []
        while True:
            kept.append(bytearray(1 << 26))
