#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom replay`: the recording of the repository, damaged ones, ones with an altered bit, steps cut out, bad input.

The checksum is computed here by the description of docs/file_formats.md, independent of the library."""
import pathlib
import struct
import sys

sys.dont_write_bytecode = True
from carom_program import Checks  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "formats" / "0.2"
MASK = 2**64 - 1
FACTOR = 0x9E3779B97F4A7C15
HEADER, FIRST_PART = 128, 240


def checksum(data):
    lanes = [1, 2, 3, 4]
    for i, (word,) in enumerate(struct.iter_unpack("<Q", data)):
        mixed = lanes[i % 4] ^ word
        lanes[i % 4] = (mixed << 29 | mixed >> 35) * FACTOR & MASK
    total = len(data)
    for lane in lanes:
        total = (total ^ lane) * FACTOR & MASK
        total ^= total >> 32
    return total


def records(data):
    """The places of the records, in a file without damage: [(begin, end)]."""
    places, at = [], HEADER
    while at < len(data):
        length = struct.unpack_from("<Q", data, at + 8)[0]
        places.append((at, at + length))
        at += length
    return places


def renewed(record):
    return record[:-8] + struct.pack("<Q", checksum(record[:-8]))


def with_record(data, place, record):
    return data[:place[0]] + record + data[place[1]:]


def check_format(checks, data, places):
    """The numbers that docs/file_formats.md names, at their places."""
    checks.expect(data[:8] == b"CAROMREC" and struct.unpack_from("<II", data, 8) == (1, HEADER), "header")
    checks.expect(struct.unpack_from("<Q", data, 120)[0] == checksum(data[:120]), "checksum of the header")
    for number, (begin, end) in enumerate(places):
        record = data[begin:end]
        checks.expect(record[:8] == b"CAROMSTP" and struct.unpack_from("<Q", record, 16)[0] == number, "record", number)
        checks.expect(struct.unpack_from("<Q", record, len(record) - 8)[0] == checksum(record[:-8]), "checksum", number)
    bodies, blocks, velocities, rows, numbers, guess, v, impulse = struct.unpack_from("<8Q", data, places[0][0] + 176)
    checks.expect((bodies, blocks, velocities, rows, guess, v, impulse) == (1, 1, 3, 3, 3, 3, 3), "counts of step 0")
    # delta t, v*, a diagonal matrix, six numbers of the law, J
    checks.expect(numbers == 1 + 3 + 3 + 6 + 9, "numbers of step 0", numbers)
    time_step = struct.unpack_from("<d", data, places[0][0] + FIRST_PART + 8 + 16)[0]
    checks.expect(time_step == 0.5, "time step", time_step)


def check_whole(checks, path):
    """The bits of steps 1 and 2 may be those of another machine; all else is known."""
    result = checks.run("replay", path, "--json")
    checks.expect(result.returncode in (0, 3), "exit code", result)
    found = checks.json_of("replay", path, code=result.returncode)
    checks.expect((found["steps"], found["first"], found["last"], found["missing"]) == (3, 0, 2, 0), found)
    checks.expect(found["replayed"] == 3 and found["equal"] + found["different"] == 3, found)
    checks.expect((result.returncode == 0) == (found["first_difference"] is None), found)
    checks.expect(found["damaged_places"] == 0 and found["unfinished_bytes"] == 0, found)
    for side in ("recorded", "replayed"):
        checks.expect(found["certified"][side]["residual"] < 1e-3, side, found)
    table = checks.run("replay", path)
    checks.expect(table.stdout.startswith("3 steps, from 0 to 2; 3 replayed") and "certificates of step" in table.stdout,
                  table.stdout)
    return found


def check_altered_bit(checks, data, places):
    """One bit of step 0, whose contact separates, so that its numbers are exact on every machine."""
    begin, end = places[0]
    record = bytearray(data[begin:end])
    answer = len(record) - 8 - 6 * 8  # three velocities, three impulses
    for at, first in ((answer + 3 * 8 + 2 * 8, {"block": 0, "row": 2}), (answer + 8, {"body": 0, "coordinate": 1})):
        altered = bytearray(record)
        altered[at + 7] ^= 0x40
        path = checks.file(with_record(data, places[0], renewed(bytes(altered))), "altered")
        found = checks.json_of("replay", path, code=3)
        difference = found["first_difference"]
        checks.expect(difference["step"] == 0 and first.items() <= difference.items(), first, found)
        told = struct.unpack_from("<d", altered, at)[0]
        right = struct.unpack_from("<d", record, at)[0]
        checks.expect((difference["recorded"], difference["replayed"]) == (told, right), difference)
        checks.expect(difference["equal_with_new_solver"] is False, difference)
        checks.expect(found["certified"]["step"] == 0 and found["certified"]["replayed"]["residual"] < 1e-8, found)
        checks.expect(found["certified"]["recorded"]["residual"] > found["certified"]["replayed"]["residual"], found)
        table = checks.run("replay", path)
        words = " of its impulse: recorded" if "block" in first else " of its velocity: recorded"
        checks.expect(table.returncode == 3 and "The first bit differs in step 0" in table.stdout and words in table.stdout,
                      table.stdout)


def check_damage(checks, data, places):
    whole = checks.json_of("replay", checks.file(data, "whole"), code=check_code(checks, data))
    cut = data[:places[2][1] - 20]
    found = checks.json_of("replay", checks.file(cut, "cut"), code=check_code(checks, cut))
    checks.expect(found["steps"] == 2 and found["unfinished_bytes"] == len(cut) - places[1][1], found)
    checks.expect(any("not written to its end" in note for note in found["notes"]), found["notes"])
    hole = data[:places[1][0] + 50] + bytes(60) + data[places[1][0] + 110:]
    found = checks.json_of("replay", checks.file(hole, "hole"), code=check_code(checks, hole))
    checks.expect((found["steps"], found["missing"], found["damaged_places"]) == (2, 1, 1), found)
    late = data[:HEADER] + data[places[1][0]:]
    found = checks.json_of("replay", checks.file(late, "late"), code=check_code(checks, late))
    checks.expect((found["first"], found["last"]) == (1, 2), found)
    checks.expect(any("begins at step 1" in note for note in found["notes"]), found["notes"])
    spoilt = data[:20] + b"x" + data[21:]
    found = checks.json_of("replay", checks.file(spoilt, "spoilt"), code=check_code(checks, spoilt))
    checks.expect(found["steps"] == 3 and any("header" in note for note in found["notes"]), found)
    # A step whose numbers are no problem is told, and the others are replayed.
    begin, end = places[0]
    record = bytearray(data[begin:end])
    struct.pack_into("<d", record, FIRST_PART + 8 + 16, -1.0)
    path = checks.file(with_record(data, places[0], renewed(bytes(record))), "no_problem")
    found = checks.json_of("replay", path, code=checks.run("replay", path).returncode)
    checks.expect(found["steps"] == 3 and found["replayed"] == 2, found)
    checks.expect("step 0: time step: expected a finite number > 0, got -1." in found["notes"], found["notes"])
    # A problem without an answer, and a solver that is not carom's.
    record = bytearray(data[begin:end])
    struct.pack_into("<I", record, 24, 2)
    path = checks.file(with_record(data, places[0], renewed(bytes(record))), "begun")
    found = checks.json_of("replay", path, code=checks.run("replay", path).returncode)
    checks.expect(found["without_answer"] == 1 and found["equal"] + found["different"] == 2, found)
    record = bytearray(data[begin:end])
    struct.pack_into("<I", record, 32, 0)
    path = checks.file(with_record(data, places[0], renewed(bytes(record))), "foreign")
    found = checks.json_of("replay", path, code=checks.run("replay", path).returncode)
    checks.expect(found["replayed"] == 3 and found["equal"] + found["different"] == 2, found)
    checks.expect(any("outside of carom" in note for note in found["notes"]), found["notes"])
    empty = checks.json_of("replay", checks.file(data[:HEADER], "empty"))
    checks.expect(empty["steps"] == 0 and empty["first"] is None and "certified" not in empty, empty)
    checks.expect(whole["steps"] == 3, whole)


def check_code(checks, data):
    return checks.run("replay", checks.file(data, "coded")).returncode


def check_cut(checks, path):
    """A step that is cut out is the text problem beside the recording, and `carom solve` solves it."""
    for step in range(3):
        out = pathlib.Path(checks.folder.name, f"step_{step}.txt")
        said = checks.run("replay", path, "--cut", step, out)
        checks.expect(said.returncode == 0 and said.stdout.startswith(f"Step {step} with "), said)
        checks.expect(out.read_text(encoding="utf-8") == (GOLDEN / f"solve_step_{step}.txt").read_text(encoding="utf-8"), out)
        told = checks.json_of("replay", path, "--cut", step, out)
        checks.expect(told["step"] == step and told["written"] == str(out) and told["law"] in ("coulomb", "convex"), told)
        solved = checks.json_of("solve", out, "--law", told["law"], "--tolerance", told["tolerance"])
        checks.expect(solved["status"] == "converged" and solved["contacts"] >= 1, solved)


def check_bad_input(checks, path):
    other = checks.file("carom-problem 1\ntime_step 0.01\nbodies 0\ncontacts 0\n", "other")
    nothing = checks.file(b"", "nothing")
    out = pathlib.Path(checks.folder.name, "out.txt")
    for sentence, *words in [
            ("expected a recording, which starts with 'CAROMREC', got something else", other),
            ("expected a recording, which starts with 'CAROMREC', got an empty file", nothing),
            ("found none", "/no/such/file"),
            ("found a directory", checks.folder.name),
            ("expected one of the file, which has steps from 0 to 2, got 7", path, "--cut", 7, out),
            ("expected a whole number >= 0, got 'x'", path, "--cut", "x", out),
            ("expected a file that can be written", path, "--cut", 1, checks.folder.name),
            ("FILE", "--json")]:
        checks.refused(words, checks.run("replay", *words), sentence)
    checks.expect(not out.exists(), "nothing is written")
    text = checks.run("replay", "--help").stdout
    for word in checks.json_of("replay", path, code=check_code(checks, path.read_bytes())):
        checks.expect(word in text, "help", word)


if __name__ == "__main__":
    every_check = Checks()
    golden = GOLDEN / "replay_three_steps.carom-record"
    content = golden.read_bytes()
    parts = records(content)
    check_format(every_check, content, parts)
    check_whole(every_check, golden)
    check_altered_bit(every_check, content, parts)
    check_damage(every_check, content, parts)
    check_cut(every_check, golden)
    check_bad_input(every_check, golden)
    every_check.end()
