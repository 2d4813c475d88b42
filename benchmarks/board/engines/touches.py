# SPDX-License-Identifier: BSD-3-Clause
"""Where spheres, boxes and planes touch, for engines that leave that to their simulator.

A touch is (first, second, point, normal, gap): bodies by number, second is None for a plane; the normal points to
the first, the point lies between the surfaces, and the gap is negative in overlap. Boxes meet face to face, edges
of two boxes do not."""

import itertools

import numpy as np


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


SIGNS = np.array(list(itertools.product((-1, 1), repeat=3)), float)


def with_plane(body, place, turn, plane, margin):
    """(point, normal, gap) of a body's lowest points over a plane."""
    normal, base = plane
    if body.shape == "sphere":
        gap = float(normal @ (place - base)) - body.size[0]
        return [(place - normal * (body.size[0] + gap / 2), normal, gap)] if gap < margin else []
    corners = place + SIGNS * body.size @ turn.T
    gaps = (corners - base) @ normal
    return [(corner - normal * gap / 2, normal, float(gap)) for corner, gap in zip(corners, gaps) if gap < margin]


def sphere_sphere(a, b, places, margin):
    line = places[0] - places[1]
    distance = float(np.sqrt(line @ line))
    gap = distance - a.size[0] - b.size[0]
    if gap >= margin:
        return []
    normal = line / distance
    return [(places[1] + normal * (b.size[0] + gap / 2), normal, gap)]


def sphere_box(ball, box, places, turn, margin):
    """The middle of the ball is outside of the box."""
    local = turn.T @ (places[0] - places[1])
    nearest = np.clip(local, -np.array(box.size), box.size)
    line = local - nearest
    distance = float(np.sqrt(line @ line))
    gap = distance - ball.size[0]
    if gap >= margin or distance == 0:
        return []
    normal = turn @ line / distance
    return [(places[1] + turn @ nearest + normal * gap / 2, normal, gap)]


def clipped(polygon, axis, bound):
    """The part of a polygon where a coordinate is at most a bound (Sutherland and Hodgman)."""
    kept = []
    for p, q in zip(polygon, polygon[1:] + polygon[:1]):
        inside = p[axis] * bound[0] <= bound[1]
        if inside:
            kept.append(p)
        if inside != (q[axis] * bound[0] <= bound[1]):
            share = (bound[1] * bound[0] - p[axis]) / (q[axis] - p[axis])
            kept.append(p + share * (q - p))
    return kept


def widest_face(sizes, places, turns):
    """(separation, which box, axis, sign) of the face with the other box farthest above it."""
    best = (-np.inf, 0, 0, 1)
    for k in (0, 1):
        local = turns[k].T @ (places[1 - k] - places[k])
        reach = np.abs(turns[k].T @ turns[1 - k]) @ sizes[1 - k]
        for axis in range(3):
            separation = abs(local[axis]) - sizes[k][axis] - reach[axis]
            if separation > best[0] + 1e-9:
                best = (separation, k, axis, 1 if local[axis] > 0 else -1)
    return best


def box_box(a, b, places, turns, margin):
    sizes = [np.array(a.size), np.array(b.size)]
    separation, k, axis, sign = widest_face(sizes, places, turns)
    if separation >= margin:
        return []
    other = 1 - k
    toward = turns[other].T @ (turns[k][:, axis] * -sign)
    face = int(np.argmax(np.abs(toward)))
    u, v = (face + 1) % 3, (face + 2) % 3
    polygon = []
    for su, sv in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        corner = np.zeros(3)
        corner[face] = np.sign(toward[face]) * sizes[other][face]
        corner[u], corner[v] = su * sizes[other][u], sv * sizes[other][v]
        polygon.append(turns[k].T @ (places[other] + turns[other] @ corner - places[k]))
    for side in ((axis + 1) % 3, (axis + 2) % 3):
        for way in (1, -1):
            polygon = clipped(polygon, side, (way, sizes[k][side])) if polygon else []
    found = []
    outward = turns[k][:, axis] * sign
    normal = outward if k == 1 else -outward  # to the first body
    for p in polygon:
        gap = float(p[axis] * sign - sizes[k][axis])
        if gap < margin:
            found.append((places[k] + turns[k] @ p - outward * gap / 2, normal, gap))
    return found


def find(bodies, places, turns, planes, margin):
    """All touches nearer than a margin; planes are (normal, point)."""
    found = []
    for i, body in enumerate(bodies):
        for plane in planes:
            if not body.slides_along:
                found += [(i, None, *touch) for touch in with_plane(body, places[i], turns[i], plane, margin)]
    reach = [float(np.linalg.norm(b.size)) if b.shape == "box" else b.size[0] for b in bodies]
    for i, j in itertools.combinations(range(len(bodies)), 2):
        line = places[i] - places[j]
        if line @ line > (reach[i] + reach[j] + margin) ** 2:
            continue
        a, b, both = bodies[i], bodies[j], (places[i], places[j])
        if a.shape == b.shape == "sphere":
            met = sphere_sphere(a, b, both, margin)
        elif a.shape == b.shape == "box":
            met = box_box(a, b, both, (turns[i], turns[j]), margin)
        elif a.shape == "sphere":
            met = sphere_box(a, b, both, turns[j], margin)
        else:
            met = [(p, -n, gap) for p, n, gap in sphere_box(b, a, both[::-1], turns[i], margin)]
        found += [(i, j, *touch) for touch in met]
    return found
