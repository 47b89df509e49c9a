"""Interval arithmetic: bounds hold the value and every result, and never narrow when the inputs widen."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from iolab.metrics import Bounded, RefusedError, intersect
from iolab.metrics.bounds import show, tick_of

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
OPERATIONS = st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv])
UNIT = st.floats(0, 1)


@st.composite
def figures(draw: st.DrawFn) -> Bounded:
    """Any figure."""
    lo, value, hi = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return Bounded(value, lo, hi)


def inside(figure: Bounded, share: float) -> float:
    """A number within the bounds."""
    return min(max(figure.lo + (figure.hi - figure.lo) * share, figure.lo), figure.hi)


def result(operation: Callable[[Bounded, Bounded], Bounded], a: Bounded, b: Bounded) -> Bounded:
    """The operation's result; the example is dropped where it is refused or leaves the range of floats."""
    try:
        return operation(a, b)
    except RefusedError:
        assume(condition=False)
    raise AssertionError


@given(figures(), figures(), OPERATIONS, UNIT, UNIT)
def test_bounds_hold_every_result(
    a: Bounded, b: Bounded, operation: Callable[[Bounded, Bounded], Bounded], one: float, two: float
) -> None:
    """Whatever numbers within the bounds of the inputs are taken, the result lies within the bounds of the result."""
    found = result(operation, a, b)

    assert found.lo <= operation(inside(a, one), inside(b, two)) <= found.hi


@given(figures(), figures(), OPERATIONS, st.floats(0, 1e6), st.floats(0, 1e6))
def test_wider_inputs_never_narrow_bounds(
    a: Bounded, b: Bounded, operation: Callable[[Bounded, Bounded], Bounded], more: float, less: float
) -> None:
    """Less precise inputs give bounds that hold those of more precise ones."""
    wide = Bounded(a.value, a.lo - less, a.hi + more)
    narrow, found = result(operation, a, b), result(operation, wide, b)

    assert found.lo <= narrow.lo
    assert narrow.hi <= found.hi


@given(figures(), figures(), st.floats(1e-3, 1e3))
def test_scaling_units_scales_results(a: Bounded, b: Bounded, factor: float) -> None:
    """A sum in other units is the sum, in other units."""
    assert (a * factor + b * factor).hi == pytest.approx(((a + b) * factor).hi, rel=1e-9, abs=1e-6)


@given(st.lists(figures(), min_size=1, max_size=5))
def test_intersection_is_within_all(several: list[Bounded]) -> None:
    """What several figures allow together, each of them allows; figures without a common value are refused."""
    has_common = max(one.lo for one in several) <= min(one.hi for one in several)
    if not has_common:
        with pytest.raises(RefusedError, match="contradict"):
            intersect(several)
        return
    found = intersect(several)

    assert all(one.lo <= found.lo <= found.value <= found.hi <= one.hi for one in several)


def test_a_divisor_that_may_be_zero_is_refused() -> None:
    """No bound of the quotient exists."""
    with pytest.raises(RefusedError, match=r"the divisor, 0 \[0, 0.05\], cannot be told from zero"):
        Bounded.exact(1) / Bounded(0, 0, 0.05)


@pytest.mark.parametrize(("value", "lo", "hi"), [(1, 2, 3), (4, 2, 3)])
def test_bounds_must_hold_the_value(value: float, lo: float, hi: float) -> None:
    """A figure outside of its bounds cannot be made."""
    with pytest.raises(ValueError, match="no bounds of a value"):
        Bounded(value, lo, hi)


@pytest.mark.parametrize("figures", [(float("nan"), 0, 1), (1, 0, float("inf")), (10**400, 0, 10**401)])
def test_figures_are_finite(figures: tuple[float, float, float]) -> None:
    """What is no finite number, or does not fit into one, is refused as a metric that its inputs do not support."""
    with pytest.raises(RefusedError, match="a figure is not a finite number"):
        Bounded(*figures)


def test_numbers_on_the_left() -> None:
    """A plain number may stand on either side."""
    half = Bounded(0.5, 0.25, 0.5)

    assert (1 - half, 1 + half, 2 * half, 1 / half) == (
        Bounded(0.5, 0.5, 0.75),
        Bounded(1.5, 1.25, 1.5),
        Bounded(1.0, 0.5, 1.0),
        Bounded(2.0, 2.0, 4.0),
    )


def test_whole_numbers() -> None:
    """Bounds of a whole number move to whole numbers; where none lies between them the figure is refused."""
    assert Bounded(59_301_888.04, 59_301_887.99, 59_301_888.1).whole() == Bounded.exact(59_301_888)

    with pytest.raises(RefusedError, match=r"no whole number lies between 7.2 and 7.4"):
        Bounded(7.3, 7.2, 7.4).whole()


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (5, Bounded(5, 5, 5)),
        ((5.0, 4.0, 6.0), Bounded(5, 4, 6)),
        ((5.0, None, None), Bounded(5, 5, 5)),
        ((11100.0, 11050.0, 11150.0, "K", None), Bounded(11100, 11050, 11150)),
        (np.int64(2**60 + 1), Bounded(2**60 + 1, 2**60 + 1, 2**60 + 1)),
        (np.float32(0.5), Bounded(0.5, 0.5, 0.5)),
    ],
)
def test_figures_are_taken_in_any_form(figure: object, expected: Bounded) -> None:
    """Numbers, those of NumPy, too, triples, and what `read_printed` gives."""
    assert Bounded.of(figure) == expected  # type: ignore[arg-type]  # of any form, on purpose


@pytest.mark.parametrize("figure", [None, (None, None, None)])
def test_no_figure_is_refused(figure: object) -> None:
    """Null is not zero."""
    with pytest.raises(RefusedError, match="there is no figure"):
        Bounded.of(figure)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("times", "tick"),
    [([2_132_000, 2_214_000, 2_334_000], 1_000), ([5 * 10**9, 10**9, 7 * 10**9], 10**9), ([7, 14, 21], 1), ([0], 1)],
)
def test_the_last_printed_decimal(times: list[int], tick: int) -> None:
    """What all times are multiples of says how many decimals were printed."""
    assert tick_of(times) == tick


def test_figures_as_text() -> None:
    """An exact figure shows no bounds."""
    assert (show(Bounded.exact(1837)), str(Bounded(0.73, 0.725, 0.74))) == ("1837", "0.73 [0.725, 0.74]")
