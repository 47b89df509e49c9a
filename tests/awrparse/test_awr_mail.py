"""Reports in mails and web archives."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from awrparse import read_awr
from logframe import LogParseError
from logframe.margins import parts_of_mail

VALID = Path(__file__).parent / "awr_data" / "valid"
PAGE = (VALID / "awr_html_122.html").read_text(encoding="utf-8")
TEXT = (VALID / "awr_text_11204.txt").read_text(encoding="utf-8")


def inline(content: str, subtype: str, packed: str) -> bytes:
    """A message that is the report."""
    message = EmailMessage()
    message["From"], message["Subject"] = "<Saved by a browser>", "AWR Größe"
    message.set_content(content, subtype=subtype, cte=packed)
    return message.as_bytes()


def attached(content: str, kind: str, name: str) -> bytes:
    """A message with the report attached."""
    message = EmailMessage()
    message["From"], message["Subject"] = "bob", "AWR"
    message.set_content("Please see the 2 snapshots attached.\n")
    maintype, subtype = kind.split("/")
    message.add_attachment(content.encode(), maintype=maintype, subtype=subtype, filename=name)
    return message.as_bytes()


@pytest.mark.parametrize(
    ("content", "mail"),
    [
        (PAGE, inline(PAGE, "html", "quoted-printable")),
        (PAGE, inline(PAGE, "html", "base64")),
        (PAGE, inline(PAGE, "html", "8bit")),
        (TEXT, inline(TEXT, "plain", "quoted-printable")),
        (PAGE, attached(PAGE, "text/html", "awr.html")),
        (TEXT, attached(TEXT, "application/octet-stream", "AWRRPT.LST")),
    ],
    ids=["page-qp", "page-base64", "page-8bit", "text-qp", "attached-page", "attached-text"],
)
def test_the_report_in_a_mail_is_the_report(content: str, mail: bytes) -> None:
    """Figures that a mail breaks over two lines are whole again, and nothing else changes."""
    plain, found = read_awr(content.encode()), read_awr(mail)

    assert (found.kind, found.form, list(found.raw_tables)) == (plain.kind, plain.form, list(plain.raw_tables))
    assert {name: found[name].to_dicts() for name in found.tables} == {
        name: plain[name].to_dicts() for name in plain.tables
    }


def test_the_same_report_twice_in_a_mail_is_one() -> None:
    """Of a page and its plain text the page is read."""
    message = EmailMessage()
    message.set_content(TEXT)
    message.add_alternative(PAGE, subtype="html")

    report = read_awr(message.as_bytes())

    assert (report.form, len(report.parts)) == ("html", 1)


def test_letters_are_read_by_the_character_set_of_their_part() -> None:
    """A part in another character set keeps its letters."""
    page = (
        "<html><h3>Service Statistics</h3><table><tr><th>Service Name</th><th>DB Time (s)</th></tr>"
        "<tr><td>Größe</td><td>1.5</td></tr></table></html>"
    )
    message = EmailMessage()
    message.set_content(page, subtype="html", charset="iso-8859-1", cte="quoted-printable")

    assert read_awr(message.as_bytes())["services"]["service"].to_list() == ["Größe"]


def test_a_mail_without_a_report_is_refused() -> None:
    """As any other file is."""
    with pytest.raises(LogParseError, match="no AWR"):
        read_awr(inline("Hello, 3 of us wait.\n", "plain", "quoted-printable"))


@pytest.mark.parametrize("text", [TEXT, "From: bob\nSubject: AWR\n\n" + TEXT, ""])
def test_what_is_no_mail(text: str) -> None:
    """A report, and one pasted below a few lines of a mail's head, are read as they stand."""
    assert parts_of_mail(text) == []
