# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of text problems and the physics of one, in plain Python, for small problems."""
import math

from elimination import dot, solve_spd


def norm(vector):
    return math.sqrt(sum(entry * entry for entry in vector))


class Contact:
    def __init__(self, friction, tangent, normal, bias, sides):
        self.friction, self.tangent, self.normal = friction, tangent, normal
        self.bias, self.sides = bias, sides  # sides: [(body, three rows)]

    def impulse(self, velocity):
        """P(y(v)) for the contact velocity v."""
        y = [(b - v) / r for b, v, r in
             zip(self.bias, velocity, [self.tangent, self.tangent, self.normal])]
        radius, pull = math.hypot(y[0], y[1]), self.friction * self.tangent / self.normal
        if radius <= self.friction * y[2]:
            return y
        along = (y[2] + pull * radius) / (1 + self.friction * pull)
        if along <= 0:
            return [0.0, 0.0, 0.0]
        return [self.friction * along * y[0] / radius, self.friction * along * y[1] / radius, along]


class Problem:
    def __init__(self, text):
        self.words = iter(text.split())
        self.take("carom-problem", "1", "time_step")
        self.time_step = self.number()
        self.take("bodies")
        self.matrices, self.free, self.guess, self.starts = [], [], [], []
        for _ in range(self.whole()):
            self.take("body")
            size = self.whole()
            self.starts.append(len(self.free))
            self.matrices.append([self.numbers(size) for _ in range(size)])
            self.free += self.numbers(size)
            self.guess += self.numbers(size)
        self.take("contacts")
        self.contacts = [self.contact() for _ in range(self.whole())]
        assert next(self.words, None) is None

    def take(self, *expected):
        for word in expected:
            assert next(self.words) == word

    def number(self):
        return float(next(self.words))

    def whole(self):
        return int(next(self.words))

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def contact(self):
        self.take("contact")
        law = next(self.words)
        bodies = [self.whole() for _ in range(self.whole())]
        data = self.numbers(6)
        sides = [(b, [self.numbers(len(self.matrices[b])) for _ in range(3)]) for b in bodies]
        if law == "weighted":
            return Contact(data[0], data[1], data[2], data[3:], sides)
        gap, stiffness, dissipation, friction, beta, sigma = data
        block = [[sum(p * q / self.matrices[b][k][k] for b, rows in sides
                      for k, (p, q) in enumerate(zip(rows[i], rows[j]))) for j in range(3)]
                 for i in range(3)]
        weight = norm([entry for row in block for entry in row]) / 3
        relax = self.time_step + dissipation
        normal = max((beta / (2 * math.pi)) ** 2 * weight,
                     1 / (self.time_step * stiffness * relax))
        return Contact(friction, sigma * weight, normal, [0.0, 0.0, -gap / relax], sides)

    def contact_velocity(self, contact, velocity):
        return [sum(dot(rows[k], velocity[self.starts[b]:self.starts[b] + len(rows[k])])
                    for b, rows in contact.sides) for k in range(3)]

    def contact_momentum(self, impulse):
        """J' gamma."""
        momentum = [0.0] * len(self.free)
        for i, contact in enumerate(self.contacts):
            for b, rows in contact.sides:
                for k in range(3):
                    for c, entry in enumerate(rows[k]):
                        momentum[self.starts[b] + c] += entry * impulse[3 * i + k]
        return momentum

    def blocks(self, vector):
        for start, matrix in zip(self.starts, self.matrices):
            yield matrix, vector[start:start + len(matrix)]

    def norm_momentum(self, momentum):
        """Norm in A^-1."""
        return math.sqrt(sum(dot(p, solve_spd(m, p)) for m, p in self.blocks(momentum)))

    def times_mass(self, velocity):
        return [dot(row, v) for m, v in self.blocks(velocity) for row in m]

    def residual(self, velocity, impulse):
        """Momentum balance relative to the larger of its parts."""
        pushed = self.contact_momentum(impulse)
        change = self.times_mass([a - b for a, b in zip(velocity, self.free)])
        left = self.norm_momentum([a - b for a, b in zip(change, pushed)])
        scale = max(self.norm_momentum(self.times_mass(self.free)), self.norm_momentum(pushed))
        return left / scale if scale > 0 else left
