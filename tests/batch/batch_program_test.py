# SPDX-License-Identifier: BSD-3-Clause
"""carom_batch: its fields, the same answers on any number of threads, and what it refuses."""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
DATA = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data"
ROBOT = str(DATA / "robot_30x16.txt")


def call(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def solve(*arguments):
    done = call(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_answers(folder):
    rigid_file = folder / "rigid.txt"
    rigid_file.write_text((DATA / "constraints" / "arm_and_boxes.txt").read_text().replace("contact weighted", "contact rigid"))
    for law in ["convex", "coulomb"]:
        answer = solve("--problem", ROBOT, "--count", 40, "--vary", 0.05, "--law", law, "--tolerance", 1e-8)
        assert list(answer) == ["count", "seconds", "problems_per_second", "converged", "residual_max", "checksum", "lanes", "device"]
        assert answer["count"] == answer["converged"] == 40 and answer["device"] == "cpu"
        assert 0 < answer["residual_max"] < 2e-8 and answer["lanes"] in [1, 2, 4, 8]
        threads = solve("--problem", ROBOT, "--count", 40, "--vary", 0.05, "--law", law, "--tolerance", 1e-8, "--threads", 3)
        assert threads["checksum"] == answer["checksum"]
        other = solve("--problem", ROBOT, "--count", 40, "--vary", 0.06, "--law", law, "--tolerance", 1e-8)
        assert other["checksum"] != answer["checksum"]
        arm = DATA / "constraints" / "arm_and_boxes.txt"  # limits, motors, a joint, rolling friction
        blocks = solve("--problem", str(arm), "--count", 40, "--vary", 0.05, "--law", law, "--tolerance", 1e-9)
        assert blocks["converged"] == 40 and 0 < blocks["residual_max"] < 1e-7, blocks
        rigid = solve("--problem", str(rigid_file), "--count", 20, "--vary", 0.05, "--law", law, "--tolerance", 1e-9)
        assert rigid["converged"] == 20 and 0 < rigid["residual_max"] < 1e-6, rigid
    none = solve("--problem", ROBOT, "--count", 0)
    assert none["converged"] == none["residual_max"] == 0
    text = call("--problem", ROBOT, "--count", 3)
    assert text.returncode == 0 and "3 problems in" in text.stdout and "converged 3" in text.stdout


def check_cuda():
    """Where the program has kernels: the bits of the processor, or a refusal in CUDA's words."""
    arguments = ["--problem", ROBOT, "--count", 40, "--vary", 0.05, "--device", "cuda"]
    done = call(*arguments, "--json")
    if done.returncode == 0:
        answer = json.loads(done.stdout)
        assert answer["device"] == "cuda" and answer["converged"] == 40
        assert answer["checksum"] == solve(*arguments[:-2])["checksum"]
        return
    assert done.returncode == 2 and "--device" in done.stderr and done.stderr.count("\n") == 1, done.stderr


def check_refusals():
    refused = [
        ([], "--problem"),
        (["--problem", ROBOT], "--count"),
        (["--problem", "missing.txt", "--count", 1], "missing.txt"),
        (["--problem", ROBOT, "--count", -1], "--count"),
        (["--problem", ROBOT, "--count", 1, "--vary", 1.5], "--vary"),
        (["--problem", ROBOT, "--count", 1, "--threads", 0], "--threads"),
        (["--problem", ROBOT, "--count", 1, "--law", "newton"], "--law"),
        (["--problem", ROBOT, "--count", 1, "--tolerance", 0], "--tolerance"),
        (["--problem", ROBOT, "--count", 1, "--device", "abacus"], "--device"),
    ]
    for arguments, word in refused:
        done = call(*arguments)
        assert done.returncode == 2, (arguments, done)
        assert done.stdout == "" and word in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        check_answers(pathlib.Path(made))
    check_cuda()
    check_refusals()
