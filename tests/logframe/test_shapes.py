"""Lines parted into figures and shapes: as `re` parts them, within the bounds of the buffer, and None where odd."""

import random
import re

import pytest

from logframe.blocks import Parted, TextBatch, part_lines
from logframe.kernel import Kernel, load_kernel

FIGURE = re.compile(rb"-?[0-9]+")
PIECES = (b"a=", b"b= ", b" c=-", b"#", b"= -", b"long name of a parameter=", b"d", b"=", b" ", b"==", b"\xc3\xa9=")
VALUES = (b"", b"7", b"0007", b"-", b"12345678", b"123456789", b"999999999999999999", b"x", b"1234567x", b"4 5")


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """The compiled kernel."""
    found = load_kernel()
    if found is None:
        pytest.skip("no compiled code")
    return found


def parted(kernel: Kernel, lines: list[bytes], most: int = 16, wanted: bytes | None = None) -> Parted | None:
    """The parts of lines, those whose tag is 1."""
    text = kernel.block_of(b"\n".join(lines))
    tags = kernel.block_of(b"\1" * len(lines) if wanted is None else wanted)
    batch = TextBatch(text, text.size, kernel.lines_of(text), 1)
    return part_lines(kernel, batch, tags, {1}, most)


def by_re(line: bytes) -> tuple[list[int], bytes]:
    """Figures and shape of a line by `re`."""
    figures, shape, place = [], b"", 0
    start = re.search(rb"[0-9=]", line)
    at = start.start() if start else len(line)
    while at < len(line):
        at += line[at : at + 1] == b"="
        at += line[at : at + 1] == b" "
        if found := FIGURE.match(line, at):
            figures.append(int(found.group()))
            shape += line[place:at]
            place = at = found.end()
        following = line.find(b"=", at)
        at = len(line) if following < 0 else following
    return figures, shape + line[place:]


@pytest.mark.parametrize("seed", range(40))
def test_as_re(kernel: Kernel, seed: int) -> None:
    """Figures are those of `re`, and lines have one number exactly where they have one shape."""
    draw = random.Random(seed)  # noqa: S311 - data for tests
    lines = [
        b"".join(draw.choice(PIECES) + draw.choice(VALUES) for _ in range(draw.randrange(1, 8)))
        for _ in range(draw.randrange(1, 200))
    ]
    found = parted(kernel, lines)

    assert found is not None
    expected = [by_re(line) for line in lines]
    assert found.places.to_list() == list(range(len(lines)))
    for row, (figures, _) in enumerate(expected):
        assert [series[row] for series in found.figures.values()] == figures + [0] * (16 - len(figures))
    assert [expected[found.first[number]][1] for number in found.shape] == [shape for _, shape in expected]
    for row, figures in zip(found.first, found.examples, strict=True):
        assert figures == expected[row][0] + [0] * (16 - len(expected[row][0]))


def test_only_wanted_lines(kernel: Kernel) -> None:
    """Other lines are left out, and the first row of a shape counts the wanted ones."""
    found = parted(kernel, [b"x=1", b"y=2", b"x=3", b"z=4"], wanted=b"\0\1\0\1")

    assert found is not None
    assert found.places.to_list() == [1, 3]
    assert found.figures[0].to_list() == [2, 4]
    assert found.first == [0, 1]


@pytest.mark.parametrize(
    "lines",
    [
        [b"a=1234567890123456789"],
        [b"=".join([b"1"] * 18)],
        [b"a=1", b"n" * 600 + b"=1"],
        [b"a=1" + b" " * 600],
        [f"{chr(97 + number % 26)}{'b' * (number // 26)}=1".encode() for number in range(26 * 90)],
    ],
    ids=["digits", "figures", "text", "tail", "shapes"],
)
def test_odd(kernel: Kernel, lines: list[bytes]) -> None:
    """Too many digits, figures, bytes of a shape, or shapes: nothing is parted."""
    assert parted(kernel, lines) is None


def test_only_needed_figures(kernel: Kernel) -> None:
    """Other figures are not written, but shown of the first line of each shape."""
    text = kernel.block_of(b"a=1 b=2\na=3 b=4\nc=5")
    batch = TextBatch(text, text.size, kernel.lines_of(text), 1)
    found = part_lines(kernel, batch, kernel.block_of(b"\1\1\1"), {1}, 2, {1})

    assert found is not None
    assert {place: figures.to_list() for place, figures in found.figures.items()} == {1: [2, 4, 0]}
    assert found.examples == [[1, 2], [5, 0]]


def test_nothing(kernel: Kernel) -> None:
    """No line is wanted."""
    found = parted(kernel, [b"x=1"], wanted=b"\0")

    assert found is not None
    assert len(found.places) == len(found.figures[0]) == 0
    assert found.first == []
