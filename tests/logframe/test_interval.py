"""Interval arithmetic: bounds hold the value and every result, and never narrow when the inputs widen."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from logframe import Interval, RefusedError, intersect
from logframe.interval import show

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
OPERATIONS = st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv])
UNIT = st.floats(0, 1)


@st.composite
def figures(draw: st.DrawFn) -> Interval:
    """Any figure."""
    lo, value, hi = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return Interval(value, lo, hi)


def inside(figure: Interval, share: float) -> float:
    """A number within the bounds."""
    return min(max(figure.lo + (figure.hi - figure.lo) * share, figure.lo), figure.hi)


def result(operation: Callable[[Interval, Interval], Interval], a: Interval, b: Interval) -> Interval:
    """The operation's result; the example is dropped where it is refused or leaves the range of floats."""
    try:
        return operation(a, b)
    except RefusedError:
        assume(condition=False)
    raise AssertionError


@given(figures(), figures(), OPERATIONS, UNIT, UNIT)
def test_bounds_hold_every_result(
    a: Interval, b: Interval, operation: Callable[[Interval, Interval], Interval], one: float, two: float
) -> None:
    """Whatever numbers within the bounds of the inputs are taken, the result lies within the bounds of the result."""
    found = result(operation, a, b)

    assert found.lo <= operation(inside(a, one), inside(b, two)) <= found.hi


@given(figures(), figures(), OPERATIONS, st.floats(0, 1e6), st.floats(0, 1e6))
def test_wider_inputs_never_narrow_bounds(
    a: Interval, b: Interval, operation: Callable[[Interval, Interval], Interval], more: float, less: float
) -> None:
    """Less precise inputs give bounds that hold those of more precise ones."""
    wide = Interval(a.value, a.lo - less, a.hi + more)
    narrow, found = result(operation, a, b), result(operation, wide, b)

    assert found.lo <= narrow.lo
    assert narrow.hi <= found.hi


@given(figures(), figures(), st.floats(1e-3, 1e3))
def test_scaling_units_scales_results(a: Interval, b: Interval, factor: float) -> None:
    """A sum in other units is the sum, in other units."""
    assert (a * factor + b * factor).hi == pytest.approx(((a + b) * factor).hi, rel=1e-9, abs=1e-6)


@given(st.lists(figures(), min_size=1, max_size=5))
def test_intersection_is_within_all(several: list[Interval]) -> None:
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
    with pytest.raises(RefusedError, match=r"the divisor, 0 \[0, 0.05\], may be zero"):
        Interval.exact(1) / Interval(0, 0, 0.05)


@pytest.mark.parametrize(("value", "lo", "hi"), [(1, 2, 3), (4, 2, 3)])
def test_bounds_must_hold_the_value(value: float, lo: float, hi: float) -> None:
    """A figure outside of its bounds cannot be made."""
    with pytest.raises(ValueError, match="no bounds of a value"):
        Interval(value, lo, hi)


@pytest.mark.parametrize("figures", [(float("nan"), 0, 1), (1, 0, float("inf")), (10**400, 0, 10**401)])
def test_figures_are_finite(figures: tuple[float, float, float]) -> None:
    """What is no finite number, or does not fit into one, is refused as a metric that its inputs do not support."""
    with pytest.raises(RefusedError, match="a figure is not a finite number"):
        Interval(*figures)


def test_numbers_on_the_left() -> None:
    """A plain number may stand on either side."""
    half = Interval(0.5, 0.25, 0.5)

    assert (1 - half, 1 + half, 2 * half, 1 / half) == (
        Interval(0.5, 0.5, 0.75),
        Interval(1.5, 1.25, 1.5),
        Interval(1.0, 0.5, 1.0),
        Interval(2.0, 2.0, 4.0),
    )


def test_whole_numbers() -> None:
    """Bounds of a whole number move to whole numbers; where none lies between them the figure is refused."""
    assert Interval(59_301_888.04, 59_301_887.99, 59_301_888.1).whole() == Interval.exact(59_301_888)

    with pytest.raises(RefusedError, match=r"no whole number lies between 7.2 and 7.4"):
        Interval(7.3, 7.2, 7.4).whole()


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (5, Interval(5, 5, 5)),
        ((5.0, 4.0, 6.0), Interval(5, 4, 6)),
        ((5.0, None, None), Interval(5, 5, 5)),
        ((11100.0, 11050.0, 11150.0, "K", None), Interval(11100, 11050, 11150)),
        (np.int64(2**60 + 1), Interval(2**60 + 1, 2**60 + 1, 2**60 + 1)),
        (np.float32(0.5), Interval(0.5, 0.5, 0.5)),
    ],
)
def test_figures_are_taken_in_any_form(figure: object, expected: Interval) -> None:
    """Numbers, those of NumPy, too, triples, and what `read_printed` gives."""
    assert Interval.of(figure) == expected  # type: ignore[arg-type]  # of any form, on purpose


@pytest.mark.parametrize("figure", [None, (None, None, None)])
def test_no_figure_is_refused(figure: object) -> None:
    """Null is not zero."""
    with pytest.raises(RefusedError, match="there is no figure"):
        Interval.of(figure)  # type: ignore[arg-type]  # on purpose


def test_figures_as_text() -> None:
    """An exact figure shows no bounds."""
    assert (show(Interval.exact(1837)), str(Interval(0.73, 0.725, 0.74))) == ("1837", "0.73 [0.725, 0.74]")
