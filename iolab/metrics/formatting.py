"""Numbers as text: as many digits as their bounds support.

Every sentence, table and page formats figures here, so that one figure reads the same wherever it stands.
"""

import math

from logframe.interval import decimals_of


def format_figure(value: float | None, lo: float | None, hi: float | None, unit: str = "") -> tuple[str, str, str]:
    """The value and its bounds as texts, with as many digits as the bounds allow.

    >>> format_figure(0.39739, 0.39467, 0.40283)
    ('0.397', '0.395', '0.403')
    >>> format_figure(31.45698, None, None), format_figure(99.783, None, None, "%")
    (('31.46', '', ''), ('99.8', '', ''))
    >>> [format_figure(value, None, None)[0] for value in (9.0047e-05, 0.5, 0.99999)]
    ['0.00009005', '0.5', '1']
    """
    decimals = decimals_of(lo, hi)

    def shown(number: float | None) -> str:
        if number is None:
            return ""
        # "z": a limit that rounds to zero has no sign.
        return format_number(number, unit) if decimals is None else f"{number:z,.{decimals}f}"

    return shown(value), shown(lo), shown(hi)


def format_number(number: float, unit: str = "") -> str:
    """A number without bounds: two decimals, one of a percentage, none of 10,000 and more, four digits of small ones.

    >>> format_number(6.91), format_number(12345.6), format_number(0.000123), format_number(1.2e-12)
    ('6.91', '12,346', '0.000123', '0.0000000000012')
    """
    if not math.isfinite(number):
        return str(number)
    if float(number).is_integer() or abs(number) >= 10_000:
        return f"{number:,.0f}"
    if abs(number) < 1:  # four significant digits, never an exponent
        return f"{number:.{3 - math.floor(math.log10(abs(number)))}f}".rstrip("0").rstrip(".")
    return f"{number:,.{1 if unit == '%' else 2}f}"


def with_unit(text: str, unit: str) -> str:
    """A number's text with its unit after it.

    >>> with_unit("1.2", "x"), with_unit("1.2", "ms"), with_unit("1.2", "")
    ('1.2x', '1.2 ms', '1.2')
    """
    return f"{text}{'' if unit in ('', 'x') else ' '}{unit}"
