"""Titles of HTML tables by what their ``summary`` says, for pages and pieces of pages that have lost their headings."""

from __future__ import annotations

from typing import Final

#: How a summary goes on after `This table displays `, and the title the table is printed under.
_TITLES: Final = {
    "load profile": "Load Profile",
    "instance efficiency percentages": "Instance Efficiency Percentages (Target 100%)",
    "system load statistics": "Host CPU",
    "CPU usage and wait statistics": "Instance CPU",
    "IO profile": "IO Profile",
    "memory statistics": "Memory Statistics",
    "cache sizes and other statistics": "Cache Sizes",
    "shared pool statistics": "Shared Pool Statistics",
    "top 10 wait events by total wait time": "Top 10 Foreground Events by Total Wait Time",
    "wait class statistics ordered by total wait time": "Wait Classes by Total Wait Time",
    "foreground wait class statistics": "Foreground Wait Class",
    "Foreground Wait Events": "Foreground Wait Events",
    "background wait events statistics": "Background Wait Events",
    "total number of waits, and information": "Wait Event Histogram",
    "different time model statistics": "Time Model Statistics",
    "operating systems statistics": "Operating System Statistics",
    "some detailed operating systems statistics": "Operating System Statistics - Detail",
    "service statistics": "Service Statistics",
    "service wait class statistics": "Service Wait Class Stats",
    "top ADDM findings": "Top ADDM Findings by Average Active Sessions",
    "top SQL by elapsed time": "SQL ordered by Elapsed Time",
    "top SQL by CPU time": "SQL ordered by CPU Time",
    "top SQL by user I/O time": "SQL ordered by User I/O Wait Time",
    "top SQL by buffer gets": "SQL ordered by Gets",
    "top SQL by physical reads": "SQL ordered by Reads",
    "top SQL by unoptimized read requests": "SQL ordered by Physical Reads (UnOptimized)",
    "top SQL by number of executions": "SQL ordered by Executions",
    "top SQL by number of parse calls": "SQL ordered by Parse Calls",
    "top SQL by amount of shared memory used": "SQL ordered by Sharable Memory",
    "top SQL by version counts": "SQL ordered by Version Count",
    "top SQL by cluster wait time": "SQL ordered by Cluster Wait Time",
    "the text of the SQL statements": "Complete List of SQL Text",
    "Key Instance activity statistics": "Key Instance Activity Stats",
    "non-key Instance activity statistics": "Other Instance Activity Stats",
    "Instance activity statistics": "Instance Activity Stats",
    "absolute values of instance-related features": "Instance Activity Stats - Absolute Values",
    "thread activity stats": "Instance Activity Stats - Thread Activity",
    "the IO Statistics for different functions": "IOStat by Function summary",
    "IO Statistics for different file types": "IOStat by Filetype summary",
    "IO Statistics for different tablespaces": "Tablespace IO Stats",
    "IO Statistics for different physical files": "File IO Stats",
    "buffer pool statistics": "Buffer Pool Statistics",
    "buffer wait statistics": "Buffer Wait Statistics",
    "name and value of init.ora parameters": "init.ora Parameters",
    "name and value of the modified initialization parameters": "Modified Parameters",
}
_PREFIX: Final = "This table displays "


def title_of_summary(summary: str) -> str:
    """The title of a table by its summary; an empty text where the summary does not say it.

    Examples:
        >>> title_of_summary("This table displays top 10 wait events by total wait time")
        'Top 10 Foreground Events by Total Wait Time'
        >>> title_of_summary("This table displays host information")
        ''
        >>> title_of_summary("Top 5 Timed Foreground Events")
        'Top 5 Timed Foreground Events'
    """
    if summary.startswith("Top 5 Timed "):  # 11.2.0.3: the summary is the title
        return summary
    if not summary.startswith(_PREFIX):
        return ""
    rest = summary[len(_PREFIX) :]
    return next((title for words, title in _TITLES.items() if rest.startswith(words)), "")
