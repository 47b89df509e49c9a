"""Reports inside a mail or a web archive: which of its parts are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from awrparse.records import Document


def documents_of_parts(
    parts: Sequence[str], read: Callable[[str], list[Document]], is_known: Callable[[Document], bool]
) -> list[Document]:
    """The reports of the parts of a mail; where none is known, what was read of all parts.

    A mail often has the same report as a page and as plain text: the reports are all of the first one's form.

    Args:
        parts: texts as `logframe.margins.parts_of_mail` gives them.
        read: gives the reports of a text.
        is_known: whether a document is a report.
    """
    documents = [document for part in parts for document in read(part)]
    known = [document for document in documents if is_known(document)]
    return [document for document in known if document.form == known[0].form] or documents
