"""The table of releases in the documentation says what the reader reads."""

import importlib.util
import json
from pathlib import Path

import pytest

from awrparse import TABLES

ROOT = Path(__file__).parents[2]
#: Tables that an engineer asks for first, in each kind and form that has a report here -> letters of 11.2 and later.
FIRST = (
    *("load_profile", "time_model", "os_stats", "host_cpu", "instance_cpu", "top_events", "foreground_events"),
    *("background_events", "wait_classes", "foreground_wait_classes", "event_histogram", "instance_activity", "sql"),
    *("iostat_function", "iostat_filetype", "segments", "buffer_pool", "buffer_pool_advisory", "parameters"),
    *("instance_recovery", "checkpoint_activity"),
)


def load_script():  # noqa: ANN201 - a module
    """The script of the documentation as a module."""
    spec = importlib.util.spec_from_file_location("awr_releases", ROOT / "docs" / "awr_releases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
LISTED = json.loads(SCRIPT.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", ["tests/awrparse/awr_data/valid", "sample_data/awr_series"])
def test_what_the_test_data_give_is_listed(folder: str) -> None:
    """Each table of each report here stands in the list, and nothing would be added to it."""
    found = SCRIPT.seen_in(ROOT / folder)

    assert found
    assert SCRIPT.merged(LISTED, found) == LISTED


def test_the_list_names_tables_of_today() -> None:
    """No table that was renamed is left in it."""
    assert set(LISTED) <= set(TABLES)


@pytest.mark.parametrize("name", FIRST)
def test_the_first_tables_are_read_in_every_release_and_form(name: str) -> None:
    """AWR reports of 11.2 to 12.2 as text and HTML, and those of 19 as HTML."""
    releases = LISTED[name]

    missing = [
        f"{release} {letter}"
        for release, letters in {"11.2": "ht", "12.1": "ht", "12.2": "ht", "19": "h"}.items()
        for letter in letters
        if letter not in releases.get(release, "")
    ]
    assert missing == []


@pytest.mark.corpus
def test_what_real_reports_give_is_listed() -> None:
    """A table that a change no longer reads is missed here; one that it reads more is added by the script."""
    corpus = ROOT.parent / "shared" / "corpus" / "awr"
    if not corpus.is_dir():
        pytest.skip("no real reports here")
    found = SCRIPT.merged(SCRIPT.seen_in(corpus), SCRIPT.seen_in(ROOT / "tests/awrparse/awr_data/valid"))

    assert SCRIPT.merged(found, SCRIPT.seen_in(ROOT / "sample_data/awr_series")) == LISTED
