"""How counts are said in sentences."""


def counted(count: int, word: str) -> str:
    """A count and what is counted, in the plural unless it is one.

    Examples:
        >>> counted(1, "statement"), counted(0, "call"), counted(12_000, "line")
        ('1 statement', '0 calls', '12,000 lines')
    """
    return f"{count:,} {word}{'' if count == 1 else 's'}"
