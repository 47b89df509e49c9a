"""A large log that several processes read: the ranges first, then the pieces, which are committed together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from iolab.dataset.jobs import Made
from iolab.dataset.pieces import convert_piece, facts_of, pieces_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from iolab.dataset.jobs import Item


@dataclass(frozen=True, slots=True)
class Step:
    """One job of a source that is read in pieces.

    Attributes:
        source: The source.
        stage: ``facts`` of a range, the ``plan`` of the pieces, or a ``piece``.
        place: Of the range or piece.
        tries: How many processes of this job have ended.
    """

    source: SplitSource
    stage: Literal["facts", "plan", "piece"]
    place: int
    tries: int = 0

    @property
    def call(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The function of the job, and its arguments without the settings."""
        source = self.source
        match self.stage:
            case "facts":
                return facts_of, (source.item, self.place)
            case "plan":
                return pieces_of, (source.item, [source.facts[place] for place in sorted(source.facts)])
            case _:
                name = f"{source.name}-{self.place}"
                return convert_piece, (source.item, name, source.pieces[self.place])


@dataclass(slots=True, eq=False)
class SplitSource:
    """The state of a source that is read in pieces.

    Attributes:
        item: The source.
        name: What the names of its files begin with.
        facts: Of its ranges.
        pieces: What is read.
        made: The pieces that are written.
        is_over: Nothing more is done in pieces.
        counted: Bytes of its file that were counted as done.
    """

    item: Item
    name: str
    facts: dict[int, Any] = field(default_factory=dict)
    pieces: list[Any] = field(default_factory=list)
    made: dict[int, Made] = field(default_factory=dict)
    is_over: bool = False
    counted: int = 0

    def first(self) -> list[Step]:
        """The first jobs."""
        assert self.item.split is not None  # noqa: S101 - the caller checked
        return [Step(self, "facts", place) for place in range(len(self.item.split.ranges))]

    def whole(self) -> Item:
        """The source, to be read as a whole."""
        self.is_over = True
        return replace(self.item, split=None)

    def after(self, step: Step, result: Any) -> list[Step]:  # noqa: ANN401 - what the job returned
        """The jobs that follow one that has ended; none where others of its stage are not done."""
        match step.stage:
            case "facts":
                self.facts[step.place] = result
                assert self.item.split is not None  # noqa: S101 - see above
                return [Step(self, "plan", 0)] if len(self.facts) == len(self.item.split.ranges) else []
            case "plan":
                self.pieces = result
                self.facts.clear()
                return [Step(self, "piece", place) for place in range(len(self.pieces))]
            case _:
                self.made[step.place] = result
                return []

    def done(self) -> Made | None:
        """What was made of the source; None while pieces are missing."""
        if not self.pieces or len(self.made) < len(self.pieces):
            return None
        made = [self.made[place] for place in range(len(self.pieces))]
        files = tuple(file for one in made for file in one.files)
        return Made(made[0].format, made[0].kind, sum(one.rows for one in made), files)
