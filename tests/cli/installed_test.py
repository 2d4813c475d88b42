# SPDX-License-Identifier: BSD-3-Clause
"""The program as `cmake --install` brings it: it finds its data beside itself, wherever it was moved.
usage: installed_test.py PATH_OF_THE_PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def main(program):
    build = pathlib.Path(program).resolve().parent.parent
    with tempfile.TemporaryDirectory() as place:
        first, moved = pathlib.Path(place) / "first", pathlib.Path(place) / "moved"
        done = run("cmake", "--install", build, "--prefix", first)
        assert done.returncode == 0, done.stderr
        first.rename(moved)
        carom, shared = moved / "bin" / pathlib.Path(program).name, moved / "share" / "carom"
        assert b"examples/data" not in carom.read_bytes(), "the program knows the folder of its sources"
        done = run(carom, "solve", shared / "data" / "pile_n10_s60.txt")
        assert done.returncode == 0, done.stderr
        assert {file.suffix for file in (shared / "page").iterdir()} == {".js", ".css", ".base64"}
        # What the page needs is read first, and then the problems, before any of the long experiments.
        for folder, missing in (("data", "pile_n1_s30.txt"), ("page", "play.css")):
            (shared / folder).rename(shared / "elsewhere")
            done = run(carom, "demo", "--brief", "--output", pathlib.Path(place) / "page")
            (shared / "elsewhere").rename(shared / folder)
            assert done.returncode == 2, (done.returncode, done.stdout)
            assert str(shared / folder / missing) in done.stderr, done.stderr


main(sys.argv[1])
