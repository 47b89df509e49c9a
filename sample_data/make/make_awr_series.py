"""Writes twelve AWR reports of one instance, hour by hour through a night: made up, and the same bytes each time.

A batch runs at night.  At 00:24 the instance is restarted with another value of ``filesystemio_options``, so that the
page cache no longer answers its reads.  In the morning the buffer cache is made larger.  One hour is quiet, one report
was not kept, one is HTML, and one file is what a report across a restart gives: an error.

    python3 sample_data/make/make_awr_series.py [FOLDER]

FOLDER is ``sample_data/awr_series`` unless given.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from awr_forms import Block, Head, write_html, write_text
from awr_model import Hour, make_activity
from awr_sections import make_sections
from awr_summary import make_summary

SERIES = Path(__file__).resolve().parent.parent / "awr_series"
#: Full hours from this one on are snapshots; the first has this number.
FIRST, FIRST_SNAP = datetime(2026, 9, 14, 18), 4102  # noqa: DTZ001 - a report has no time zone
STARTED, RESTARTED = datetime(2026, 8, 30, 6, 41), datetime(2026, 9, 15, 0, 24)  # noqa: DTZ001 - see above
#: Hours after the first: kind of work, its level; None where there is no report.
PLAN: Final = (
    ("evening", 1.0),
    ("evening", 0.7),
    ("quiet", 1.6),
    ("batch", 0.9),
    ("batch", 1.0),
    ("batch", 1.0),
    None,  # the restart
    ("batch", 0.8),
    ("batch", 0.8),
    ("batch", 0.5),
    ("quiet", 1.0),
    None,  # not kept
    ("morning", 0.8),
    ("morning", 1.0),
)
#: The first hour in which the buffer cache was made larger, and its sizes in MB.
GROWN_AT, SMALL_MB, LARGE_MB = 12, 2_048, 8_192
HTML_AT = 8
#: What SQL*Plus prints instead of a report across a restart.
REFUSAL = """declare
*
ERROR at line 1:
ORA-20200: The instance was shutdown between snapshots {} and {}
ORA-06512: at line 22


"""


def plan_hours() -> list[Hour]:
    """The hours that have a report."""
    hours = []
    # Snapshots are taken some seconds after the full hour.
    times = [FIRST + timedelta(hours=number, seconds=7 + number * 11 % 17) for number in range(len(PLAN) + 1)]
    for number, planned in enumerate(PLAN):
        if planned is None:
            continue
        kind, level = planned
        is_restarted = times[number] > RESTARTED
        hours.append(
            Hour(
                begin_snap=FIRST_SNAP + number,
                begin=times[number],
                end=times[number + 1],
                startup=RESTARTED if is_restarted else STARTED,
                kind=kind,
                level=level,
                has_page_cache=not is_restarted,
                cache_mb=tuple(LARGE_MB if at > GROWN_AT else SMALL_MB for at in (number, number + 1)),
                form="html" if number == HTML_AT else "text",
            )
        )
    return hours


def write_report(hour: Hour, form: str) -> str:
    """The report of an hour as text or HTML."""
    activity = make_activity(hour)
    blocks: list[Block] = [*make_summary(activity), *make_sections(activity)]
    head = Head(hour.instance.database, hour.instance.name, hour.begin_snap, hour.begin_snap + 1)
    return write_html(blocks, head) if form == "html" else write_text(blocks, head)


def write_series(folder: Path) -> list[Path]:
    """The files of the series written into *folder*."""
    texts = {
        f"awrrpt_1_{hour.begin_snap}_{hour.begin_snap + 1}.{'html' if hour.form == 'html' else 'txt'}": write_report(
            hour, hour.form
        )
        for hour in plan_hours()
    }
    restart = FIRST_SNAP + PLAN.index(None)
    texts[f"awrrpt_1_{restart}_{restart + 1}.txt"] = REFUSAL.format(restart, restart + 1)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in sorted(texts)]


if __name__ == "__main__":
    for path in write_series(Path(sys.argv[1]) if sys.argv[1:] else SERIES):
        print(path.name)
