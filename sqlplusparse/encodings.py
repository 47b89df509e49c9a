"""The encoding of a session that is not UTF-8, by words that its client prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from logframe import Diagnostic, Log

#: Encodings of consoles and spools, with the word for Elapsed in a language that is written in them; where that word is
#: plain ASCII, with other words of the client.
_WORDS: Final = (
    ("cp932", "経過"),
    ("euc-jp", "経過"),
    ("big5", "已用時間"),
    ("cp949", "경   과"),
    ("cp1251", "Затрач"),
    ("koi8-r", "Затрач"),
    ("cp866", "Затрач"),
    ("cp850", "Ecoulé"),
    *(
        ("cp850", word)
        for word in (
            *("ausgewählt", "gelöscht", "geändert", "Ausführungsplan", "línea", "Sesión", "Confirmación", "concluído"),
            *("não há", "sélectionnée", "terminée"),
        )
    ),
)


def read_text(log: Log) -> tuple[str, str, tuple[Diagnostic, ...]]:
    """The text of a log, its encoding and the notes about it; a known word corrects a guess."""
    text = log.text()
    guesses = [note for note in log.notes if note.kind == "encoding" and "a guess" in note.reason]
    if not guesses or any(word in text for _, word in _WORDS):
        return text, log.encoding, log.notes
    content = text.encode(log.encoding, errors="replace")
    for encoding, word in _WORDS:
        if word.encode(encoding) in content:
            notes = [
                note._replace(reason=note.reason.replace(f"read as {log.encoding}", f"read as {encoding}"))
                if note in guesses
                else note
                for note in log.notes
            ]
            return content.decode(encoding, errors="backslashreplace"), encoding, tuple(notes)
    return text, log.encoding, log.notes
