"""Numbers as text: as many digits as their bounds support.  Every sentence, table and page formats figures here."""

import math


def format_figure(value: float | None, lo: float | None, hi: float | None, unit: str = "") -> tuple[str, str, str]:
    """The value and its bounds as texts, with as many digits as the bounds allow.

    >>> format_figure(0.39739, 0.39467, 0.40283)
    ('0.397', '0.395', '0.403')
    >>> format_figure(31.45698, None, None), format_figure(99.783, None, None, "%")
    (('31.46', '', ''), ('99.8', '', ''))
    >>> [format_figure(value, None, None)[0] for value in (9.0047e-05, 0.5, 0.99999)]
    ['0.00009005', '0.5', '1']
    """
    decimals = None
    if lo is not None and hi is not None and 0 < (half := (hi - lo) / 2) < math.inf:
        exponent = math.floor(math.log10(half))
        decimals = max(0, -exponent + (half < 3 * 10.0**exponent))

    def shown(number: float | None) -> str:
        if number is None:
            return ""
        if decimals is not None:
            return f"{number:,.{decimals}f}"
        if float(number).is_integer() or abs(number) >= 10_000:
            return f"{number:,.0f}"
        if abs(number) < 1:  # four significant digits, never an exponent
            return f"{number:.{3 - math.floor(math.log10(abs(number)))}f}".rstrip("0").rstrip(".")
        return f"{number:,.{1 if unit == '%' else 2}f}"

    return shown(value), shown(lo), shown(hi)
