#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page kept in docs/board is that of the rows kept beside it, and each row is of a scene and an engine of the tree, with
the answers that the scene asks for. Needs nothing but Python."""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARD = ROOT / "benchmarks" / "board"
KEPT = ROOT / "docs" / "board"
sys.path.insert(0, str(BOARD))

import adapters  # noqa: E402
import page  # noqa: E402
import scene_list  # noqa: E402


def faults():
    """Sentences that say why the page is stale."""
    board = json.loads((KEPT / "board.json").read_text(encoding="utf-8"))
    curves = json.loads((KEPT / "curves.json").read_text(encoding="utf-8"))
    if page.write(board, curves) != (KEPT / "index.html").read_text(encoding="utf-8"):
        yield "docs/board/index.html is not the page of docs/board/board.json and curves.json"
    scenes = {scene.name: scene for scene in scene_list.all_scenes()}
    settings = {adapter.name: adapter.settings() for adapter in adapters.all_of(BOARD / "engines")}
    for row in board["rows"]:
        name = f"{row['scene']} in {row['engine']}"
        if row["scene"] not in scenes:
            yield f"{name}: no such scene"
        elif row["settings"] not in settings.get(row["engine"], []):
            yield f"{name}: the search has no settings {row['settings']}"
        elif row["answer"] and "answers" in row["answer"] and all(isinstance(v, float | int) for v in row["answer"]["answers"]):
            if len(row["answer"]["answers"]) != len(scenes[row["scene"]].cases):
                yield f"{name}: the scene has {len(scenes[row['scene']].cases)} cases"
    if not any(row["engine"] == "carom" for row in board["rows"]):
        yield "docs/board/board.json has no row of carom"


def main():
    found = sorted(set(faults()))
    print("\n".join(found) or "the board that is kept is current")
    if found:
        print("benchmarks/board/board.py runs what is missing, and with --publish writes docs/board")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
