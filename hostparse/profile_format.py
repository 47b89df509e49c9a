"""The format of CPU profiles for the registry (`logframe.formats`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe.formats import Format, Sniff

if TYPE_CHECKING:
    from hostparse.cpu_profile import CpuProfile
    from logframe import Source
    from logframe.formats import Head

_SCORE: Final = 0.8
#: Folded stacks are any text that ends in a number: the reader has to try.
_POSSIBLE: Final = 0.02


def sniff(head: Head) -> Sniff | None:
    """Whether a log is a CPU profile: by a line of dtrace or perf script."""
    if "`" not in head.text and "(" not in head.text and ";" not in head.text:
        return None
    from hostparse.cpu_profile import kind_of, unmarked  # noqa: PLC0415 - readers are imported on use

    lines = head.text.split("\n")
    kind = kind_of(lines)
    if kind == "folded" and "`" in head.text:
        kind = kind_of(unmarked(lines))
    if kind == "folded":
        return Sniff(_POSSIBLE, "perhaps folded stacks") if ";" in head.text else None
    return Sniff(_SCORE, f"a CPU profile ({kind})")


def read(source: Source) -> CpuProfile:
    """The profile as `hostparse.CpuProfile`."""
    from hostparse.cpu_profile import read_profile  # noqa: PLC0415 - readers are imported on use

    return read_profile(source)


FORMAT: Final = Format(name="cpu_profile", title="a CPU profile", sniff=sniff, read=read)
