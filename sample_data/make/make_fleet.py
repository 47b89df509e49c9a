"""Writes AWR reports of a made-up fleet: the databases of the sample series and others, night by night the same bytes.

HARBOR is the instance of `make_awr_series.py`: at its restart the page cache is lost.  ANCHOR is restarted, too, keeps
it, and does half of the work.  WHARF never had it.  The reports are written where they are wanted: they are
no sample data.

    python3 sample_data/make/make_fleet.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from awr_model import HARBOR, Hour, Instance
from make_awr_series import plan_hours, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Instance, whether its files are in the page cache (None: as in the series), and the share of the work.
FLEET: Final = (
    (HARBOR, None, 1.0),
    (Instance("ANCHOR", "anchor1", "quay08", "12.1.0.2.0"), True, 0.5),
    (Instance("WHARF", "wharf1", "quay09", "12.1.0.2.0"), False, 1.0),
)


def plan_fleet() -> Iterator[Hour]:
    """The hours of all instances that have a report."""
    for instance, has_page_cache, share in FLEET:
        for hour in plan_hours():
            cached = hour.has_page_cache if has_page_cache is None else has_page_cache
            yield hour._replace(instance=instance, has_page_cache=cached, level=hour.level * share)


def write_fleet(folder: Path) -> list[Path]:
    """The reports of the fleet written into a folder, in one of each database."""
    found = []
    for hour in plan_fleet():
        place = folder / hour.instance.database
        place.mkdir(parents=True, exist_ok=True)
        suffix = "html" if hour.form == "html" else "txt"
        found.append(place / f"awrrpt_1_{hour.begin_snap}_{hour.begin_snap + 1}.{suffix}")
        found[-1].write_text(write_report(hour, hour.form), encoding="utf-8", newline="\n")
    return found


if __name__ == "__main__":
    for path in write_fleet(Path(sys.argv[1])):
        print(path)
