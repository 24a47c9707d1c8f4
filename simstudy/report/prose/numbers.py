"""Numbers and names as reports write them; nothing else in reports formats a measured number."""

from __future__ import annotations

import math

NONE = "–"
_ROUNDING = 1e-12  # scores this close to 0 are 0 but for rounding


def number(value: float, decimals: int = 4) -> str:
    """A number with n decimals; more digits where these would make it 0."""
    if math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) < _ROUNDING:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 0.5 * 10.0**-decimals:
        return minus(f"{value:.2g}" if abs(value) < 1 else f"{value:.4g}")
    return minus(f"{value:,.{decimals}f}")


def signed(value: float) -> str:
    """A number with its sign."""
    return f"+{number(value)}" if value >= _ROUNDING else number(value)


def fixed(value: float, decimals: int = 3) -> str:
    """A number with exactly n decimals, even where it is small."""
    if math.isnan(value):
        return NONE
    text = f"{value:.{decimals}f}"
    return minus(text.lstrip("-") if float(text) == 0 else text)


def plus(value: float, decimals: int = 3) -> str:
    """A number with n decimals and its sign; 0 has none."""
    text = fixed(value, decimals)
    if math.isnan(value) or text.startswith("−"):
        return text
    return "0" if float(text) == 0 else f"+{text}"


def digits(value: float, most: int = 4) -> str:
    """A number that is not negative, with n significant digits."""
    return f"{value:.{most}g}"


def setting(value: float) -> str:
    """A number as it is set in a study: without the rounding error of 1 − 0.95."""
    return f"{value:.10g}"


def p_value(value: float, name: str = "") -> str:
    """A p value to four decimals, after its name if one is given."""
    if value < 1e-4:
        return f"{name} < 0.0001".strip()
    text = NONE if math.isnan(value) else f"{value:.4f}"
    return f"{name} = {text}" if name else text


def estimated(value: float, low: float, high: float, p: float = math.nan, unit: str = "") -> str:
    """An estimate in its unit, with its adjusted p value if there is one, else its interval."""
    test = f"[{signed(low)}, {signed(high)}]" if math.isnan(p) else f"({p_value(p, 'adjusted p')})"
    return f"{signed(value)} {unit} {test}" if unit else f"{signed(value)} {test}"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    if math.isnan(seconds):
        return NONE
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1e3 else f"{seconds:,.0f} s"
    return f"{seconds / 1e-6:.2g} µs"


def rows(size: float) -> str:
    """A training size."""
    return f"{size:,.0f}"


def brief(label: str, letters: int = 40) -> str:
    """A label that is not too long for a title or a sentence."""
    return label if len(label) <= letters else label[: letters - 1].rstrip() + "…"


def minus(number: str) -> str:
    """A number with a true minus sign."""
    return number.replace("-", "−")


def share(value: float) -> str:
    """A number from 0 to 1 to three decimals; below these, how small it is."""
    return "< 0.001" if 0 < value < 0.0005 else number(value, 3)


def percent(value: float, decimals: int = 1) -> str:
    """A share in percent."""
    return NONE if math.isnan(value) else f"{value:.{decimals}%}"


def percentages(low: float, high: float) -> str:
    """An interval of shares in percent; empty if there is none."""
    return "" if math.isnan(low) else f"[{percent(low)}, {percent(high)}]"


def estimated_share(value: float) -> str:
    """A share of random draws to three decimals: none of them is not never, all not always."""
    if value < 0.0005:
        return "< 0.001"
    return "> 0.999" if value > 0.9995 else number(value, 3)
