"""The register of rules: each says what it is of, what it needs, and where its thresholds are from.

A rule is a function that takes what its format offers (`ReportFacts` of a report, the log itself, ...) and yields
`Finding`.  `@rule` registers it; a finding whose name no rule registered is refused, so that docs/findings.md, which is
made from the register, has them all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from iolab.rules.finding import Finding

_Function = TypeVar("_Function", bound="Callable[..., Iterator[Finding]]")


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        name: The name of its findings.
        of: What it takes: ``report``, ``ash``, ``strace``, ``sqltrace``, ``tkprof``, ``sqlplus``, ``host``, ...
        find: The function.
        says: Other names of findings that it yields.
        needs: What a log must contain for it, in words.
        thresholds: What it compares with: a name to the value and its source.
        explains: Beginnings of the names or classes of parts of the time whose place or cause it says; it stands
            beside a large one.
    """

    name: str
    of: str
    find: Callable[..., Iterator[Finding]]
    says: tuple[str, ...] = ()
    needs: str = ""
    thresholds: Mapping[str, str] = field(default_factory=dict)
    explains: tuple[str, ...] = ()


#: Every rule that is loaded, in the order of registration.
RULES: Final[list[Rule]] = []


def rule(
    name: str,
    *says: str,
    of: str,
    needs: str = "",
    thresholds: Mapping[str, str] | None = None,
    explains: tuple[str, ...] = (),
) -> Callable[[_Function], _Function]:
    """Register a rule.

    Args:
        name: The name of its findings.
        says: Other names of findings that it yields.
        of: What it takes; `rules_of` gives all rules of one kind of log.
        needs: What a log must contain for it, in words.
        thresholds: What it compares with, and the source of each: ``{"0.2 of DB time": "FINDINGS F12"}``.
        explains: Beginnings of the names or classes of parts whose place or cause it says: ``("cell ",)``.

    Examples:
        >>> @rule("example_finding", of="doctest", thresholds={"10 % of the time": "a convention"})
        ... def example(log): yield from ()
        >>> [one.name for one in rules_of("doctest")], RULES.pop().thresholds
        (['example_finding'], {'10 % of the time': 'a convention'})
    """

    def register(find: _Function) -> _Function:
        RULES.append(Rule(name, of, find, says, needs, dict(thresholds or {}), explains))
        return find

    return register


def rules_of(kind: str) -> list[Rule]:
    """The rules of one kind of log, in the order of registration."""
    return [one for one in RULES if one.of == kind]


def apply_rules(kind: str, subject: Any) -> Iterator[Finding]:  # noqa: ANN401 - what the rules of the kind take
    """What the rules of one kind of log find.

    Raises:
        LogError: A rule yields a finding of a name that it did not register.
    """
    for one in rules_of(kind):
        for found in one.find(subject):
            if found.name != one.name and found.name not in one.says:
                raise LogError(f"the rule {one.name} of {kind} does not register the finding {found.name}")
            yield replace(found, explains=one.explains) if one.explains and not found.explains else found
