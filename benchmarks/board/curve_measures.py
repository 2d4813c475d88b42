# SPDX-License-Identifier: BSD-3-Clause
"""Errors of a run, from the places and speeds of its bodies alone, by the same code for every engine."""

import itertools
import math

import numpy as np
import touches

NEAR = 0.01  #: surfaces nearer than this touch, where contacts are counted [m]


def rotations(q):
    """Rotation matrices of rows (w, x, y, z)."""
    return np.array([touches.rotation(row / np.linalg.norm(row)) for row in q])


def near_pairs(bodies, places, margin):
    """Pairs of bodies whose balls about them are nearer than a margin."""
    reach = np.array([np.linalg.norm(b.size) if b.shape == "box" else b.size[0] for b in bodies])
    first, second = np.triu_indices(len(bodies), 1)
    line = places[first] - places[second]
    near = np.einsum("ij,ij->i", line, line) < (reach[first] + reach[second] + margin) ** 2
    return first[near], second[near]


def box_depths(sizes, places, turns):
    """Depths of pairs of boxes [m], negative if they are apart: the least over the 15 axes that can part two boxes.
    Each argument holds the first box and the second of all pairs."""
    line = places[1] - places[0]
    axes = [turns[0][:, :, k] for k in range(3)] + [turns[1][:, :, k] for k in range(3)]
    axes += [np.cross(axes[i], axes[3 + j]) for i, j in itertools.product(range(3), repeat=2)]
    least = np.full(len(line), np.inf)
    for axis in axes:
        length = np.linalg.norm(axis, axis=1)
        usable = length > 1e-6  # else the two edges are parallel, and their faces decide
        unit = axis / np.where(usable, length, 1)[:, None]
        reach = sum((np.abs(np.einsum("ni,nik->nk", unit, turn)) * size).sum(axis=1) for turn, size in zip(turns, sizes))
        depth = reach - np.abs(np.einsum("ni,ni->n", unit, line))
        least = np.where(usable, np.minimum(least, depth), least)
    return least


def ball_box_depths(radius, sizes, line, turns):
    """Depths of balls in boxes [m]; the line leads from the box to the ball."""
    local = np.einsum("nji,nj->ni", turns, line)
    outside = local - np.clip(local, -sizes, sizes)
    distance = np.linalg.norm(outside, axis=1)
    inside = (sizes - np.abs(local)).min(axis=1)  # of a middle that is in the box, to its nearest face
    return np.where(distance > 0, radius - distance, radius + inside)


def depth_of_pairs(bodies, places, turns):
    first, second = near_pairs(bodies, places, 0.0)
    box = np.array([b.shape == "box" for b in bodies])
    sizes = np.array([b.size if b.shape == "box" else b.size * 3 for b in bodies])
    depths = [0.0]
    both = box[first] & box[second]
    if both.any():
        i, j = first[both], second[both]
        depths.append(box_depths((sizes[i], sizes[j]), (places[i], places[j]), (turns[i], turns[j])).max())
    none = ~box[first] & ~box[second]
    if none.any():
        i, j = first[none], second[none]
        depths.append((sizes[i, 0] + sizes[j, 0] - np.linalg.norm(places[i] - places[j], axis=1)).max())
    mixed = box[first] != box[second]
    if mixed.any():
        i, j = first[mixed], second[mixed]
        i, j = np.where(box[i], j, i), np.where(box[i], i, j)  # the ball, the box
        depths.append(ball_box_depths(sizes[i, 0], sizes[j], places[i] - places[j], turns[j]).max())
    return float(max(depths))


def depth_of_planes(world, places, turns):
    depths = [0.0]
    for plane in world.planes:
        normal = np.array(plane.normal, float)
        height = (places - np.array(plane.point)) @ normal
        for body, turn, above in zip(world.bodies, turns, height):
            low = body.size[0] if body.shape == "sphere" else float(np.abs(normal @ turn) @ body.size)
            depths.append(low - above)
    return float(max(depths))


def penetration(world, sample):
    """The deepest overlap [m]."""
    places, turns = np.array(sample[1], float), rotations(np.array(sample[2], float))
    return max(depth_of_pairs(world.bodies, places, turns), depth_of_planes(world, places, turns))


def kinetic_energy(world, sample):
    total = 0.0
    for body, turn, velocity, spin in zip(world.bodies, rotations(np.array(sample[2], float)), sample[3], sample[4]):
        local = turn.T @ spin
        total += body.mass * float(np.dot(velocity, velocity)) / 2 + float(np.dot(body.inertia(), local * local)) / 2
    return total


def energy(world, sample):
    """Kinetic and potential [J]."""
    weight = sum(body.mass * float(np.dot(world.gravity, place)) for body, place in zip(world.bodies, sample[1]))
    return kinetic_energy(world, sample) - weight


def contact_count(world, sample):
    """Points where surfaces touch, at most four to a pair of boxes: eight where they cross."""
    places, turns = np.array(sample[1], float), rotations(np.array(sample[2], float))
    planes = [(np.array(plane.normal, float), np.array(plane.point, float)) for plane in world.planes]
    count = sum(len(touches.with_plane(body, places[i], turns[i], plane, NEAR)) for i, body in enumerate(world.bodies)
                for plane in planes)
    for i, j in zip(*near_pairs(world.bodies, places, NEAR)):
        pair = [world.bodies[i], world.bodies[j]]
        count += len(touches.find(pair, places[[i, j]], turns[[i, j]], [], NEAR))
    return count


def errors(scene, world, samples):
    """name -> error, of what the samples show. The first is the start; nothing that is not finite counts as an error."""
    later = samples[1:]
    kinetic = [kinetic_energy(world, sample) for sample in later]
    total = [energy(world, sample) for sample in samples]
    found = {"penetration": max(penetration(world, sample) for sample in later)}
    if scene.standing:
        found["drift"] = max(math.dist(a, b) for sample in later for a, b in zip(samples[0][1], sample[1]))
        found["kinetic"] = max(kinetic)
    else:
        found["kinetic"] = kinetic[-1]
        found["gain"] = max(0.0, *(after - before for before, after in zip(total, total[1:])))
    return found
