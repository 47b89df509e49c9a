"""Printed numbers: every form the reports print, and bounds that always hold the number that was printed."""

import re
from decimal import ROUND_HALF_UP, Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark.exceptions import UnexpectedInput

from logframe.printed import GRAMMAR, NANOSECONDS, Printed, printed_columns, read_printed
from logframe.printed import _forms as forms


@pytest.mark.parametrize(
    ("text", "value", "lo", "hi"),
    [
        # counts are exact
        ("0", 0, 0, 0),
        ("1,234", 1234, 1234, 1234),
        ("15,388,162", 15_388_162, 15_388_162, 15_388_162),
        ("-1,116", -1116, -1116, -1116),
        ("+7", 7, 7, 7),
        ("0012", 12, 12, 12),
        # fractions
        ("1,234.5", 1234.5, 1234.45, 1234.55),
        (".2", 0.2, 0.15, 0.25),
        (".0", 0, 0, 0.05),
        ("0.00", 0, 0, 0.005),
        ("-10.51", -10.51, -10.515, -10.505),
        ("56.5546875", 56.5546875, 56.55468745, 56.55468755),
        ("7.", 7, 7, 7),
        # exponents: what did not fit in its column
        ("1.E+03", 1000, 500, 1500),
        ("1.4E+04", 14_000, 13_500, 14_500),
        ("3.51655E+08", 351_655_000, 351_654_500, 351_655_500),
        ("3.1907E+10", 31_907_000_000, 31_906_500_000, 31_907_500_000),
        ("2.5E-03", 0.0025, 0.00245, 0.00255),
        ("2e2", 200, 150, 250),
        # percentages
        ("12.5%", 12.5, 12.45, 12.55),
        ("3.0E+03%", 3000, 2950, 3050),
        ("69%", 69, 68.5, 69.5),
        # sizes and abbreviated counts
        ("8K", 8000, 7500, 8500),
        ("11.1K", 11_100, 11_050, 11_150),
        ("16.5G", 16.5e9, 16.45e9, 16.55e9),
        ("2.2T", 2.2e12, 2.15e12, 2.25e12),
        (".031M", 31_000, 30_500, 31_500),
        ("128m", 128e6, 127.5e6, 128.5e6),
        ("1P", 1e15, 0.5e15, 1.5e15),
        # times, in seconds
        ("858.01ns", 858.01e-9, 858.005e-9, 858.015e-9),
        (".00ns", 0, 0, 0.005e-9),
        ("718.91us", 718.91e-6, 718.905e-6, 718.915e-6),
        ("718.91µs", 718.91e-6, 718.905e-6, 718.915e-6),
        ("4.82ms", 4.82e-3, 4.815e-3, 4.825e-3),
        ("1283.77ms", 1.28377, 1.283765, 1.283775),
        ("871.90 s", 871.9, 871.895, 871.905),
        ("60.22 (mins)", 3613.2, 3612.9, 3613.5),
        ("21,229.53 (mins)", 1_273_771.8, 1_273_771.5, 1_273_772.1),
    ],
)
def test_numbers(text: str, value: float, lo: float, hi: float) -> None:
    """Value and bounds of each printed form, blanks around it or not."""
    found = read_printed(text)

    assert found[:3] == pytest.approx((value, lo, hi), rel=1e-12, abs=0)
    assert read_printed(f"  {text}\N{NO-BREAK SPACE}\r\n") == found
    assert (found.flag, found.unit) == (None, next(iter(re.findall(r"[^\d.,+\- E][^\d]*$|(?<=\d)[PE]$", text)), None))


def test_a_measure_that_ends_with_its_mark_may_have_been_cut() -> None:
    """A copy that is cut at 79 columns ends a line within a figure; a count, which has no decimals, is exact."""
    for options in ({"rounded": True}, {"rounded": True, "decimals": 1}):
        assert read_printed("79.", **options)[:3] == (79, 78.5, 80)
        assert read_printed("-79.", **options)[:3] == (-79, -80, -78.5)
    assert read_printed("0.", rounded=True)[:3] == (0, 0, 1)
    assert read_printed("79.K", base=1000)[:3] == (79_000, 78_500, 80_000)
    assert read_printed("96392.")[:3] == (96_392, 96_392, 96_392)


@pytest.mark.parametrize("text", ["####", "##########", "#"])
def test_overflow(text: str) -> None:
    """A value that did not fit is null and flagged; it is not zero."""
    assert read_printed(text) == Printed(flag="overflow")


@pytest.mark.parametrize("text", ["N/A", "n/a", "*", "-", "--", "UNLIMITED", "NULL"])
def test_absent(text: str) -> None:
    """Words and signs that stand for no number."""
    assert read_printed(text) == Printed(flag="absent")


@pytest.mark.parametrize("text", [None, "", "   ", "\t", "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}", "\r\n"])
def test_blank(text: str | None) -> None:
    """A blank cell, and what HTML prints for one, is null without a flag."""
    assert read_printed(text) == Printed()


@pytest.mark.parametrize(
    "text",
    [
        *(
            "360M (16.1%)",
            "125/180",
            "0/0/0/0/0/0",
            "19.6/29.6",
            "5018,29691(     1)",
            "23-Apr-14 19:30:10",
            "05-Feb-24",
        ),
        *(
            "off",
            "TRUE",
            "+DATA/DB12C",
            ".",
            "+",
            ",",
            "1.2.3",
            "1 2",
            "12.5 % of",
            "0x1F",
            "1e999",
            "12.5K @jls",
            "--5",
        ),
        *("٣", "1٬000", "½", "NaN", "inf", "1_000", "#1", "1#"),
        *("1E201", "1E-201", "9" * 61, "." + "9" * 61, "9" * 30 + "." + "9" * 31, "1" * 400),
        *("1E" + "0" * 5000, "1" * 5000, "1." + "0" * 5000, "-" + "1,000" * 1000),
    ],
)
def test_no_number(text: str) -> None:
    """Everything else is text: compound values are cut by who knows the table, and nothing is guessed."""
    assert read_printed(text) == Printed(flag="text")


def test_base() -> None:
    """K is 1000 for counts and 1024 for bytes."""
    assert read_printed("8K", base=1024)[:3] == (8192, 7680, 8704)
    assert read_printed("1.5G", base=1024).value == 1.5 * 2**30


@pytest.mark.parametrize(("unit", "value"), [("ns", 4.82e6), ("us", 4820), ("ms", 4.82), ("s", 0.00482)])
def test_time_unit(unit: str, value: float) -> None:
    """Times come in the unit asked for; a number without unit stays as it is."""
    assert read_printed("4.82ms", time_unit=unit).value == pytest.approx(value, rel=1e-15)  # type: ignore[arg-type]
    assert read_printed("4.82", time_unit=unit).value == 4.82  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("0", {"rounded": True}, (0, 0, 0.5)),
        ("2", {"rounded": True}, (2, 1.5, 2.5)),
        ("-2", {"rounded": True}, (-2, -2.5, -1.5)),
        ("2", {"decimals": 2}, (2, 1.995, 2.005)),
        ("2.5", {"decimals": 2}, (2.5, 2.495, 2.505)),
        ("2.555", {"decimals": 2}, (2.555, 2.5545, 2.5555)),
        ("1,234", {"decimals": 0}, (1234, 1234, 1234)),
        ("1.E+03", {"decimals": 2}, (1000, 500, 1500)),
    ],
)
def test_rounding_of_the_column(text: str, options: dict[str, object], expected: tuple[float, float, float]) -> None:
    """What a column is known to round to beats what one cell shows."""
    assert read_printed(text, **options)[:3] == pytest.approx(expected, rel=1e-15)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1234,5", 1234.5), ("1.234,5", 1234.5), ("1.234", 1234), (",5", 0.5), ("3,1907E+10", 3.1907e10)],
)
def test_decimal_comma(text: str, value: float) -> None:
    """The decimal mark of the session's language."""
    assert read_printed(text, decimal=",").value == value


def rounded_to(value: Decimal, decimals: int) -> Decimal:
    """The value as a report rounds it."""
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)


def oracle_style(number: Decimal) -> str:
    """A number as Oracle prints it: grouped, without a zero before the decimal mark."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{number:,f}")


values = st.decimals(min_value=0, max_value=10**9, places=9, allow_nan=False, allow_infinity=False)
units = st.sampled_from(["", "K", "M", "G", "T", "%", "ns", "us", "ms", " s", " (mins)"])


@given(values, st.integers(1, 6), units, st.booleans())
def test_bounds_hold_the_value(value: Decimal, decimals: int, unit: str, is_negative: bool) -> None:  # noqa: FBT001 - drawn
    """Whatever was rounded and printed lies between the bounds, and so does what was printed."""
    value = -value if is_negative and rounded_to(value, decimals) else value
    found = read_printed(oracle_style(rounded_to(value, decimals)) + unit)
    name = unit.strip()
    scale = Decimal(NANOSECONDS.get(name, 1)) / (10**9 if name in NANOSECONDS else 1)
    scale *= 1000 ** ("KMGT".index(name) + 1) if name in {"K", "M", "G", "T"} else 1

    assert found.lo is not None
    assert found.value is not None
    assert found.hi is not None
    assert found.lo <= float(value * scale) <= found.hi
    assert found.lo <= found.value <= found.hi


@pytest.mark.parametrize(
    "text", ["1E200", "1E-200", "7.E+22", "3.E-23", "3.51655E+08", "9" * 60, "." + "9" * 60, "9" * 30 + "." + "9" * 30]
)
def test_the_value_is_the_nearest_float(text: str) -> None:
    """However large, small or long: the same number that Python reads."""
    assert read_printed(text).value == float(text)


@given(st.decimals(min_value=1, max_value=10**12, places=3, allow_nan=False, allow_infinity=False), st.integers(0, 5))
def test_bounds_hold_the_value_with_an_exponent(value: Decimal, digits: int) -> None:
    """The same for numbers that overflowed to an exponent."""
    mantissa = rounded_to(value.scaleb(-value.adjusted()), digits)
    found = read_printed(f"{mantissa}{'' if digits else '.'}E+{value.adjusted():02d}")

    assert found.lo is not None
    assert found.hi is not None
    assert found.lo <= float(value) <= found.hi


def lark_kind(text: str) -> str | None:
    """The rule by which Lark accepts a text."""
    try:
        return str(GRAMMAR.parse(text).data)
    except UnexpectedInput:
        return None


def pattern_kind(text: str) -> str | None:
    """The compiled pattern that accepts a text."""
    return next((kind for kind, pattern in forms()._asdict().items() if pattern.fullmatch(text)), None)


pieces = st.sampled_from(
    [
        *"0123456789,.+-#% *eEkKmMGTPs",
        "ns",
        "us",
        "µs",
        "ms",
        "(mins)",
        "E+03",
        "N/A",
        "n/a",
        "NULL",
        "UNLIMITED",
        "##",
        "--",
    ]
)


@given(st.lists(pieces, max_size=7).map("".join))
def test_both_engines_accept_the_same(text: str) -> None:
    """Lark and the pattern built of its terminals agree on every text, made of parts of numbers in any order."""
    assert lark_kind(text) == pattern_kind(text)


@given(st.lists(st.one_of(st.none(), st.lists(pieces, max_size=4).map("".join)), max_size=6))
def test_columns_agree_with_cells(cells: list[str | None]) -> None:
    """A column is read as its cells are."""
    frame = pl.DataFrame({"cell": cells}, schema={"cell": pl.String})
    expected = [tuple(read_printed(cell, base=1024, time_unit="ms")[:3]) for cell in cells]

    assert frame.select(printed_columns("cell", bounds=True, base=1024, time_unit="ms")).rows() == expected
    assert frame.select(printed_columns("cell", base=1024, time_unit="ms")).rows() == [row[:1] for row in expected]


def test_columns_of_nothing() -> None:
    """An empty frame keeps its schema, and a lazy one is read lazily."""
    frame = pl.LazyFrame({"cell": []}, schema={"cell": pl.String}).select(
        printed_columns("cell", name="x", bounds=True)
    )

    assert frame.collect_schema() == {"x": pl.Float64, "x_lo": pl.Float64, "x_hi": pl.Float64}
    assert frame.collect().height == 0
