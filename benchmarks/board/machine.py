# SPDX-License-Identifier: BSD-3-Clause
"""The machine that measures, in words."""

import os
import pathlib
import platform


def processor():
    """The model as Linux names it; elsewhere what Python knows of it."""
    path = pathlib.Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def system():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def words():
    """Processor, how many cores of it there are, and the system."""
    count = os.cpu_count()
    return f"{count} core{'s'[:count != 1]} of {processor()}, {system()}"
