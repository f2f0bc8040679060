"""What is known of a service's worths: all answers so far, and worths that are no answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.service import Service
from fairfield.evaluation.kept import unpack
from fairfield.evaluation.remote.noise import variances_of


class Known:
    """The answers of a service by packed coalition.

    ``fixed`` are worths that are no answers, and so not noisy: that of ∅ where it was given, and
    fallbacks. ``more`` counts further answers that are wanted of some coalitions, ``lost`` those that
    will not come.
    """

    def __init__(self, service: Service) -> None:
        self.repeats, self.leading = service.repeats, service.leading
        self.answers = {key: list(found) for key, found in service.answers.items()}
        self.fixed: dict[bytes, float] = {}
        self.more: Counter[bytes] = Counter()
        self.lost: Counter[bytes] = Counter()

    def add(self, key: bytes, worth: float) -> None:
        """Keep an answer."""
        self.answers.setdefault(key, []).append(worth)

    def lose(self, key: bytes, fallback: float) -> bool:
        """Do without an answer; whether the fallback is the worth, since no other came or will."""
        self.lost[key] += 1
        if self.answers.get(key) or self.missing(key):
            return False
        self.fixed[key] = fallback
        return True

    def missing(self, key: bytes) -> int:
        """How many answers a coalition still needs."""
        held = len(self.answers.get(key, ())) + self.lost[key]
        return 0 if key in self.fixed else max(0, self.repeats + self.more[key] - held)

    def ask_again(self, keys: list[bytes], times: IntArray) -> None:
        """Want so many answers more of coalitions that have some."""
        held = [len(self.answers.get(key, ())) + self.lost[key] for key in keys]
        more = (np.array(held, dtype=int) + times - self.repeats).tolist()
        self.more = Counter(dict(zip(keys, more, strict=True)))

    def complete(self) -> list[bytes]:
        """The coalitions that wait for no answers."""
        return [key for key in {**self.answers, **self.fixed} if not self.missing(key)]

    def counts(self, keys: list[bytes]) -> IntArray:
        """How many answers each coalition has; 0 for a worth that is not asked for."""
        held: Mapping[bytes, list[float]] = self.answers
        return np.array([0 if k in self.fixed else len(held.get(k, ())) for k in keys], dtype=int)

    @property
    def total(self) -> int:
        """How many answers there are."""
        return sum(map(len, self.answers.values()))

    def worths(self, keys: list[bytes], *, leading: bool) -> FloatArray:
        """The worths of the first coalitions, up to the first that waits for answers.

        A worth is the mean of all its answers. The ``leading`` ones, by which further coalitions
        are chosen, are those of the first answers alone, whatever came later, and in a rescored
        game those of the first judge: so a run that is repeated chooses the same coalitions.
        """
        found: list[float] = []
        for key in keys:
            if self.missing(key):
                break
            given = [self.fixed[key]] if key in self.fixed else self.answers[key]
            if leading and key in self.leading:
                found.append(self.leading[key])
            else:
                found.append(float(np.mean(given[: self.repeats] if leading else given)))
        return np.array(found)

    def variances(self, keys: list[bytes], *, leading: bool) -> FloatArray:
        """The variances of the worths of coalitions, 0 of those that are fixed.

        Those of ``leading`` worths are 0 too: by what later answers say no coalitions are chosen.
        """
        if leading:
            return np.zeros(len(keys))
        noisy = [key for key in self.answers if key not in self.fixed]
        single = dict(zip(noisy, variances_of([self.answers[key] for key in noisy]), strict=True))
        return np.array([single[k] / len(self.answers[k]) if k in single else 0.0 for k in keys])


def packed(coalitions: BoolArray) -> list[bytes]:
    """One string of n/8 bytes per coalition, all of the same length."""
    return [row.tobytes() for row in np.packbits(coalitions, axis=1, bitorder="little")]


def unpacked(keys: list[bytes], players: int) -> BoolArray:
    """The coalitions (m, n) of such strings."""
    return unpack(np.array(keys, dtype=f"S{(players + 7) // 8}"), players)
