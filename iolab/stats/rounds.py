"""Rounds: runs of two samples that were made in turns, in blocks or A-B-B-A, compared within the rounds.

What changes slowly (a cache that fills, a neighbour on the storage, a clock) is nearly the same within a round, so it
is not in the difference; and what it still adds within a round, because one run comes after the other, is removed by
the slope of each sample over the order of the rounds around it.

Sources: Box, Hunter and Hunter, Statistics for Experimenters (1978), on blocks; Theil (1950) and Sen (1968) for the
slope: the median of the slopes of all pairs of runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from iolab.stats.intervals import MIN_RUNS
from iolab.stats.samples import Sample
from logframe.extras import require

LEAST_SHARE: Final = 0.5
"""With fewer rounds than this share of the runs, rounds are taken only where the runs depend on their neighbours."""


AROUND: Final = 3
"""This many rounds before and after a round show the drift within it."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """Runs put together in rounds.

    Attributes:
        sizes: How many runs of A and of B each round has.
        pairs: The times of A and B in each round: the geometric mean, of three runs and more the median.
        places: The mean place of A and of B in each round, in the order of all runs.
        slopes: The drift of the logarithms of the times from one run to the next, around each round.
        pattern: How the order is called: ``in turns``, ``A-B-B-A`` or ``in blocks``.
    """

    sizes: tuple[tuple[int, int], ...]
    pairs: tuple[tuple[float, float], ...]
    places: tuple[tuple[float, float], ...]
    slopes: tuple[float, ...]
    pattern: str

    def log_ratios(self) -> list[float]:
        """The logarithm of B / A in each round, the drift within the round removed."""
        return [
            math.log(time_b / time_a) - slope * (place_b - place_a)
            for (time_a, time_b), (place_a, place_b), slope in zip(self.pairs, self.places, self.slopes, strict=True)
        ]

    def shifts(self) -> list[float]:
        """A - B in each round, the drift within the round removed from B."""
        return [time_a - time_a * math.exp(log) for (time_a, _), log in zip(self.pairs, self.log_ratios(), strict=True)]


def find_rounds(a: Sample, b: Sample) -> Rounds | None:
    """The rounds of two samples with a common order; None where the order shows fewer than 6.

    A round ends where as many runs of A as of B were made; where the samples are not of one size, it is a block of
    the one and the block of the other that follows it.

    Examples:
        >>> times = (2.0, 2.1, 2.0, 2.2, 2.1, 2.0)
        >>> slow = Sample("slow", times, order=(0, 3, 4, 7, 8, 11))
        >>> fast = Sample("fast", tuple(time / 2 for time in times), order=(1, 2, 5, 6, 9, 10))
        >>> found = find_rounds(slow, fast)
        >>> found.pattern, len(found.pairs), round(math.exp(found.log_ratios()[0]), 2)
        ('A-B-B-A', 6, 0.49)
    """
    if a.order is None or b.order is None:
        return None
    runs = sorted(
        [(place, 0, value) for place, value in zip(a.order, a.values, strict=True)]
        + [(place, 1, value) for place, value in zip(b.order, b.values, strict=True)]
    )
    letters = [letter for _, letter, _ in runs]
    cuts = _balanced(letters) if len(a.values) == len(b.values) else []
    if len(cuts) < MIN_RUNS:
        cuts = _blocks(letters)
    if len(cuts) < MIN_RUNS:
        return None
    logs = [math.log(value) for _, _, value in runs]
    sizes, pairs, places = [], [], []
    begins, slopes = [0, *cuts[:-1]], []
    for number, (begin, end) in enumerate(zip(begins, cuts, strict=True)):
        first, last = begins[max(number - AROUND, 0)], cuts[min(number + AROUND, len(cuts) - 1)]
        slopes.append(_slope(letters[first:last], logs[first:last]))
        sides = [[place for place in range(begin, end) if letters[place] == letter] for letter in (0, 1)]
        sizes.append((len(sides[0]), len(sides[1])))
        pairs.append((_centre([logs[place] for place in sides[0]]), _centre([logs[place] for place in sides[1]])))
        places.append((sum(sides[0]) / len(sides[0]), sum(sides[1]) / len(sides[1])))
    return Rounds(tuple(sizes), tuple(pairs), tuple(places), tuple(slopes), _pattern(letters))


def _balanced(letters: Sequence[int]) -> list[int]:
    """The ends of the shortest stretches with as many runs of A as of B."""
    ends, ahead = [], 0
    for place, letter in enumerate(letters, 1):
        ahead += 1 if letter else -1
        if ahead == 0:
            ends.append(place)
    return ends


def _blocks(letters: Sequence[int]) -> list[int]:
    """The ends of every second block; what is left at the end belongs to the last round."""
    ends, place = [], 0
    for number, (_, block) in enumerate(groupby(letters), 1):
        place += sum(1 for _ in block)
        if number % 2 == 0:
            ends.append(place)
    return [*ends[:-1], len(letters)] if ends else []


def _centre(logs: Sequence[float]) -> float:
    return math.exp(float(require("numpy").median(logs)))


def _slope(letters: Sequence[int], logs: Sequence[float]) -> float:
    """The median slope of all pairs of runs of one sample."""
    np = require("numpy")
    slopes = []
    for letter in (0, 1):
        places = np.array([place for place, one in enumerate(letters) if one == letter])
        values = np.array([log for log, one in zip(logs, letters, strict=True) if one == letter])
        first, second = np.triu_indices(len(places), 1)
        slopes.append((values[second] - values[first]) / (places[second] - places[first]))
    return float(np.median(np.concatenate(slopes)))


def _pattern(letters: Sequence[int]) -> str:
    lengths = [sum(1 for _ in block) for _, block in groupby(letters)]
    if max(lengths) == 1:
        return "in turns"
    if max(lengths) == 2 and set(lengths[1:-1]) == {2} and lengths[0] == lengths[-1] == 1:
        return "A-B-B-A"
    return "in blocks" if len(set(lengths)) == 1 else "in mixed order"


def takes_rounds(rounds: Rounds | None, runs: int, *, is_dependent: bool) -> bool:
    """Whether the rounds are the design to compare by: there are enough, or the runs depend on their neighbours."""
    return rounds is not None and (len(rounds.pairs) >= LEAST_SHARE * runs or is_dependent)
