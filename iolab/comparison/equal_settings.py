"""What the heads and parameters of reports have, and what is equal in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awrparse import AwrReport

#: What of the heads is compared, and its phrase.
_HEAD: Final = {
    "db_name": "database {}",
    "instance": "instance {}",
    "release": "release {}",
    "host": "host {}",
    "platform": "{}",
    "cpus": "{} CPUs",
    "cores": "{} cores",
    "memory_gb": "{} GB",
}


def settings_of(report: AwrReport) -> dict[str, str]:
    """Facts of the head of a report by name, and its parameters, whose names begin with ``parameter``."""
    facts = {name: str(value) for name in _HEAD if (value := getattr(report.info, name, None)) is not None}
    if "parameters" in report:
        for name, begin, end in report["parameters"].select("parameter", "begin", "end").iter_rows():
            facts[f"parameter {name}"] = str(end or begin or "")
    return facts


def equal_settings(reports: Sequence[AwrReport]) -> list[str]:
    """What the heads and parameters of all reports agree on, each as a phrase."""
    facts = [settings_of(report) for report in reports]
    same = [name for name, value in facts[0].items() if all(one.get(name) == value for one in facts)] if facts else []
    said = [_HEAD[name].format(facts[0][name]) for name in same if name in _HEAD]
    return [*said, *([count_text(len(same) - len(said), "parameter")] if len(same) > len(said) else [])]
