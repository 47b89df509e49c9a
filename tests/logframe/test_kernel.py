"""The compiled kernel: the answers of the plain automaton and of Polars, on any buffer."""

import gc
import random
import threading

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logframe.automaton import build_automaton
from logframe.classify import Classifier
from logframe.kernel import Kernel, Tables, load_kernel
from logframe.native import engine

RULES = {"number": r"-?\d+(?:\.\d+)?", "word": r"[a-z]+(?: [a-z]+)*", "quoted": r'"(?:[^"\\]|\\.)*"', "blank": r"\s*"}
CLASSIFIER = Classifier(RULES)
TEXTS = st.text(alphabet='ab1. "\\é€-\x00\r', max_size=12)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """The compiled kernel."""
    found = load_kernel()
    if found is None:
        pytest.skip(f"no compiled kernel: {engine()}")
    return found


def found_lines(kernel: Kernel, data: bytes, behind: bytes = b"") -> list[tuple[bytes, str | None]]:
    """The lines of a buffer and their kinds, by the kernel; `behind` stands behind the buffer in memory."""
    text = kernel.block_of(data + behind)
    lines = kernel.lines_of(text, len(data))
    places = zip(lines.starts.view.cast("I").tolist(), lines.ends.view.cast("I").tolist(), strict=True)
    tags = kernel.tags_of(text, lines, CLASSIFIER.tables).view.tolist()
    kinds = [CLASSIFIER.kinds[tag - 1] if tag else None for tag in tags]
    return [(data[start:end], kind) for (start, end), kind in zip(places, kinds, strict=True)]


def split_lines(data: bytes) -> list[bytes]:
    """The lines of a buffer, by Python."""
    lines = data.split(b"\n")
    return lines[:-1] if not lines[-1] else lines


@settings(max_examples=300, deadline=None)
@given(data=st.one_of(st.binary(max_size=300), st.lists(TEXTS, max_size=30).map(lambda one: "\n".join(one).encode())))
def test_lines_and_kinds_of_any_buffer(kernel: Kernel, data: bytes) -> None:
    """Any bytes, with any line at the end: the lines of Python, the kinds of the plain automaton."""
    expected = [(line, CLASSIFIER.automaton.kind_of(line)) for line in split_lines(data)]

    assert expected == found_lines(kernel, data)
    assert expected == found_lines(kernel, data, behind=b"abc\n12\xff")


@settings(max_examples=200, deadline=None)
@given(data=st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"12"]), min_size=1, max_size=12).map(b"".join))
def test_carriage_returns_as_polars_has_them(kernel: Kernel, data: bytes) -> None:
    """Lines without their carriage returns are the lines of `polars.scan_lines`."""
    text = kernel.block_of(data)
    lines = kernel.lines_of(text, returns=1)
    found = kernel.unmatched("line", text, lines, kernel.block_of(bytes(lines.count)), lines.count)

    assert found.to_list() == pl.scan_lines(data).collect().to_series().to_list()


@pytest.mark.parametrize("count", range(10))
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_fewer_lines_than_lanes(kernel: Kernel, count: int, end: bytes) -> None:
    """One line, or as many as run side by side, or one more: each has its own kind."""
    lines = [b"12", b"two words", b"", b'"x"', b"?", b"1" * 5000, b" ", b"a", b"-1.5", b"--"][:count]
    data = b"\n".join(lines) + (end if lines else b"")
    expected = [(line, CLASSIFIER.automaton.kind_of(line)) for line in split_lines(data)]

    assert expected == found_lines(kernel, data)


def test_long_lines(kernel: Kernel) -> None:
    """Lines of very different lengths run side by side."""
    chance = random.Random(5)  # noqa: S311 - reproducible lines, no secret
    lines = [chance.choice((b"7", b"x", b'"')) * chance.choice((0, 1, 3, 1000, 200_000)) for _ in range(200)]

    assert [CLASSIFIER.automaton.kind_of(line) for line in lines] == [
        kind for _, kind in found_lines(kernel, b"\n".join(lines) + b"\n")
    ]


def test_wide_tables(kernel: Kernel) -> None:
    """Tables too large for steps of 16 bits."""
    chance = random.Random(6)  # noqa: S311 - reproducible words, no secret
    words = sorted({"".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(700)})
    classifier = Classifier({"even": "|".join(words[::2]), "odd": "|".join(words[1::2])})
    text = kernel.block_of("\n".join([*words, "other"]).encode())
    tags = kernel.tags_of(text, kernel.lines_of(text), classifier.tables).view.tolist()

    assert classifier.tables.is_wide
    assert tags == [*(1 + place % 2 for place in range(len(words))), 0]


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(st.one_of(st.none(), TEXTS, st.just("a\nb")), max_size=20))
def test_both_engines_of_a_classifier(kernel: Kernel, texts: list[str | None]) -> None:
    """Kernel and Polars expressions give the same Series, for null, for empty and for text that holds a newline."""
    lines = pl.Series("text", texts, dtype=pl.String)

    assert CLASSIFIER.by_expressions(lines).equals(CLASSIFIER.by_kernel(lines, kernel), check_names=True)


def test_memory_lives_as_long_as_its_series(kernel: Kernel) -> None:
    """A Series keeps what it was made of, after Python let go of it, and in another thread."""
    text = kernel.block_of(b"this is a text of its own")
    views = kernel.block_of(b"\x02\0\0\0ab" + bytes(10) + b"\x0f\0\0\0this" + bytes(4) + bytes(4))
    valid = kernel.block_of(b"\x05")
    numbers = kernel.series("n", "l", 3, kernel.block_of(bytes(range(24))), validity=valid, null_count=1)
    series = kernel.series("t", "vu", 2, views, text=text)
    del text, views, valid
    gc.collect()
    held = [series.slice(1), numbers]
    del series, numbers
    kernel.block_of(b"\xff" * 4096)
    worker = threading.Thread(target=held.pop)
    worker.start()
    worker.join()

    assert held[0].to_list() == ["this is a text "]


def test_tables_keep_their_steps(kernel: Kernel) -> None:
    """Tables hold the numbers they were made of, whoever else let go of them."""
    tables = Tables(build_automaton([("number", "[0-9]+")]))
    gc.collect()
    text = kernel.block_of(b"12\nab\n7")

    assert kernel.tags_of(text, kernel.lines_of(text), tables).view.tolist() == [1, 0, 1]


def test_too_large_a_buffer(kernel: Kernel) -> None:
    """A buffer whose places need more than 32 bits is refused, not cut."""
    with pytest.raises(ValueError, match="bytes in one buffer"):
        kernel.lines_of(kernel.block_of(b"x"), 1 << 31)


@pytest.mark.parametrize("is_compiled", [True, False])
@given(lines=st.lists(st.one_of(TEXTS, st.just("two\nlines")), max_size=8))
def test_tags_of_lines_in_python(is_compiled: bool, lines: list[str]) -> None:  # noqa: FBT001 - a parameter of the test
    """Tags of texts are the places of their kinds, whatever the engine; a text with a newline has none."""
    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.setattr("logframe.classify.load_kernel", lambda: None)
        tags = CLASSIFIER.tags_of(lines)

    kinds = [None, *RULES]
    expected = [None if "\n" in line else CLASSIFIER.automaton.kind_of(line.encode()) for line in lines]
    assert [kinds[tag] for tag in tags] == expected
