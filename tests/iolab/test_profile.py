"""CPU profiles: three forms, one frame; shares by layer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import iolab
from hostparse import PROFILE, read_profile
from iolab.metrics.processors import LAYERS, layer_of, layer_shares
from iolab.pages.summary import summarize
from logframe import LogNotFoundError, LogParseError

ARTICLE = Path(__file__).parents[2] / "sample_data" / "articles" / "001_dtrace_profile.txt"

STACKS = b"""
              oracle`kcbgtcr+0x1a3
              oracle`ktrgtc2+0x24
              oracle`kdsgrp+0x5
               12

              unix`mutex_enter+0xb
              oracle`kdst_fetch+0x8
                3
"""
PERF = b"""oracle_4711_db1  4711 [001] 123.456789:     250000 cpu-clock:
\t          8f2b1c0 kcbgtcr+0x1a3 (/u01/app/oracle/bin/oracle)
\t          8f00000 ktrgtc2+0x24 (/u01/app/oracle/bin/oracle)

oracle_4711_db1  4711 [001] 123.457789:     250000 cpu-clock:
\t ffffffff81060000 copy_user_generic+0x10 ([kernel.kallsyms])

oracle_4711_db1  4711 [001] 123.458789:     250000 cpu-clock:
\t     7f0000001000 __memcpy_avx+0x10 (/lib64/libc-2.17.so)

"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (STACKS, [("kcbgtcr", "oracle", 12), ("mutex_enter", "unix", 3)]),
        (
            PERF,
            [
                ("__memcpy_avx", "libc-2.17.so", 1),
                ("copy_user_generic", "[kernel.kallsyms]", 1),
                ("kcbgtcr", "oracle", 1),
            ],
        ),
        (
            b"oracle;opiodr;kcbgtcr 12\noracle;opiodr;kdst_fetch 3\nmain;kcbgtcr 1\n",
            [("kcbgtcr", None, 13), ("kdst_fetch", None, 3)],
        ),
    ],
    ids=["dtrace stacks", "perf script", "folded"],
)
def test_forms(text: bytes, rows: list[tuple[str, str | None, int]]) -> None:
    """The running function of each sample counts, whatever printed it."""
    found = read_profile(text).samples

    assert found.schema == PROFILE
    assert found.drop("is_kernel", "is_idle").rows() == rows


def test_the_article() -> None:
    """Article 001: 194 of 554 samples in the buffer cache, 330 in the access to rows."""
    shares = layer_shares(read_profile(ARTICLE).samples)

    assert shares.select("layer", "samples").rows() == [
        ("row access (kd)", 330),
        ("buffer cache (kcb)", 194),
        ("operating system interface (sk)", 30),
    ]
    assert [round(share, 3) for share in shares.get_column("value")] == [0.596, 0.35, 0.054]


@pytest.mark.parametrize(
    ("function", "module", "layer"),
    [
        ("kcbgtcr", "oracle", "buffer cache (kcb)"),
        ("kcrfw_redo_gen", "oracle", "redo (kcr)"),
        ("kcm", "oracle", "cache (kc)"),
        ("qertbFetch", None, "row sources (qer)"),
        ("zzz", "oracle", "other functions of oracle"),
        ("mutex_enter", "unix", "operating system kernel"),
        ("read", "libc.so.1", "library libc.so.1"),
    ],
)
def test_layers(function: str, module: str | None, layer: str) -> None:
    """The longest prefix counts; kernel and libraries are layers of their own."""
    assert layer_of(function, module, is_kernel=module == "unix") == layer


@given(st.lists(st.tuples(st.sampled_from(sorted(LAYERS)), st.integers(1, 1000)), min_size=1, max_size=20))
def test_shares_add_up(samples: list[tuple[str, int]]) -> None:
    """The shares of all layers are one, each within its interval, the largest first."""
    shares = layer_shares(read_profile("".join(f"{name} {count}\n" for name, count in samples).encode()).samples)
    values = shares.get_column("value").to_list()

    assert sum(values) == pytest.approx(1)
    assert values == sorted(values, reverse=True)
    assert shares.get_column("value").is_between(shares.get_column("ci_lo"), shares.get_column("ci_hi")).all()


def test_more_samples_narrow_the_interval() -> None:
    """Ten times the samples of the same shares say more."""
    few, many = (
        layer_shares(read_profile(b"kcbgtcr %d\nkdst_fetch %d\n" % (n, 3 * n)).samples).row(0, named=True)
        for n in (10, 100)
    )

    assert few["ci_lo"] < many["ci_lo"] < many["value"] == few["value"] < many["ci_hi"] < few["ci_hi"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"shopping list\n", "no sample of a profile"),
        (b"# only a remark\n", "no sample found"),
    ],
)
def test_no_profile(text: bytes, message: str) -> None:
    """What is no profile is refused in one line."""
    with pytest.raises(LogParseError, match=message):
        read_profile(text)


def test_the_article_is_recognised() -> None:
    """A profile is a log like any other: loaded, and shown with its layers."""
    assert (
        iolab.load(ARTICLE).describe()
        == f"CPU profile (dtrace), 554 samples of {read_profile(ARTICLE).samples.height} functions"
    )
    assert iolab.summarize(ARTICLE).frames["layers"].item(0, "layer") == "row access (kd)"


def test_missing_path() -> None:
    """A path that leads nowhere is named."""
    with pytest.raises(LogNotFoundError, match="no such file"):
        read_profile("no/such/profile.txt")


def test_a_count_beyond_any_integer() -> None:
    """A run of digits that no count has is no sample, and no fault of the program."""
    with pytest.raises(LogParseError):
        read_profile(b"  oracle`kcbgtcr   " + b"9" * 5000 + b"\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ARTICLE.read_bytes().replace(b"oracle`kdst_fetch", b"oracle kdst_fetch"), 2),
        (ARTICLE.read_bytes().replace(b"kdst_fetch", b"kdst  etch"), 2),
        (STACKS.replace(b"`", b" ", 3), 5),
        (PERF.replace(b"kcbgtcr+0x1a3 (", b"kcbgtcr+0x1a3 "), 2),
        (PERF.replace(b"cpu-clock:\n\t ffff", b"cpu-clock\n\t ffff"), 5),
    ],
)
def test_a_damaged_line_is_named(text: bytes, line: int) -> None:
    """A count, a frame or a heading that is not read is a diagnostic; a whole profile has none."""
    assert all(read_profile(whole).diagnostics.is_empty() for whole in (ARTICLE.read_bytes(), STACKS, PERF))
    assert line in read_profile(text).diagnostics["line"].to_list()


def test_long_line_that_is_no_sample() -> None:
    """Blanks within a line that is no sample take a time that grows with their number only."""
    line = "  oracle kcbz_fp_buf  13" + " " * 400_000 + "x"

    profile = read_profile(f"  oracle`kcbgtcr   41\n{line}\n{line} 7\n".encode())

    assert profile.samples.height == 1
    assert profile.diagnostics["line"].to_list() == [3]


def test_functions_without_samples() -> None:
    """Counts of zero are no shares: the metric is refused, no finding speaks of them, and the page is made."""
    seen = summarize(b"  oracle`kdst_fetch   0\n  oracle`kcbgtcr   0\n")

    assert seen.figures.get_column("value").to_list() == [None, None]
    assert seen.figures.get_column("caveats").unique().to_list() == ["refused: the profile has no samples"]
    assert not seen.findings.get_column("name").str.contains("cpu_profile").any()


def test_processors_that_had_nothing_to_do_are_left_out() -> None:
    """What perf -a samples in the idle thread, or in a function that waits for work, is no work."""
    perf = "swapper     0 [001] 1.0:   1 cpu-clock:\n\t816b native_safe_halt+0x6 ([kernel.kallsyms])\n\n" * 9
    own = perf.replace("swapper     0", "oracle_4711  4711").replace("native_safe_halt", "sys_read") * 1
    work = "oracle_4711  4711 [001] 2.0:   1 cpu-clock:\n\tc9fb kcbgtcr+0x1 (/u01/bin/oracle)\n\n" * 9
    folded = "swapper;cpu_startup_entry_[k];do_softirq_[k] 9\noracle;kcbgtcr 9\noracle;read_[k];sys_read_[k] 9\n"
    dtrace = "  unix`mach_cpu_idle   9\n  oracle`kcbgtcr   9\n  unix`sys_read  9\n"

    for log in (perf + own + work, folded, dtrace):
        samples = read_profile(log.encode()).samples
        shares = layer_shares(samples)
        assert samples.filter("is_idle")["samples"].to_list() == [9]
        assert dict(shares.select("layer", "value").iter_rows()) == {
            "buffer cache (kcb)": 0.5,
            "operating system kernel": 0.5,
        }
    log = iolab.load(folded.encode())
    assert (
        iolab.ledger(log).text
        == "the profile has 18 samples of busy processors; 9 samples of idle processors are left out"
    )


def test_marks_of_functions_are_no_part_of_their_names() -> None:
    """stackcollapse-perf marks functions of the kernel, inlined ones and those compiled at run time."""
    found = read_profile(b"a;sys_read_[k] 3\na;kcbgtcr_[i] 2\na;kdst_[x] 1\n").samples

    assert found.select("function", "is_kernel").rows() == [("sys_read", True), ("kcbgtcr", False), ("kdst_[x]", None)]


def test_another_program_is_no_function_of_oracle() -> None:
    """Samples of every processor (perf -a) are of other programs, too."""
    perf = b"sshd  77 [001] 1.0:   1 cpu-clock:\n\t816b main+0x6 (/usr/sbin/sshd)\n"

    assert layer_shares(read_profile(perf).samples)["layer"].to_list() == ["program sshd"]
