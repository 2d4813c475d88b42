# SPDX-License-Identifier: BSD-3-Clause
"""Dies of a signal."""
import os
import signal

PACKAGE = ""
SEARCH = [{"how": "status"}, {"how": "raises"}]


class Simulation:
    def __init__(self, world, settings):
        if settings.get("how") == "status":
            os._exit(7)
        if settings.get("how") == "raises":
            raise RuntimeError("the engine says no")
        os.kill(os.getpid(), signal.SIGSEGV)
