"""Findings: what a log says first, each a sentence with its share, its evidence and what would refute it.

`iolab.findings` gives them as a frame.  Each rule is a pure function of the figures of a log (`ReportFacts` of a
report) and is in the file of its group:

* `gates`: is the evidence fit; `load`: sessions, processors, time not accounted for; `profile`: where time went
* `reads`, `latency`, `writes`, `exadata`: kinds of I/O; `report_causes`: what is apart from the waits; `ash`: samples,
  ADDM; `traces`: strace logs; `sql_traces`, `tkprof`: SQL traces; `sessions`: SQL*Plus sessions; `samples`: samples of
  sessions and of the operating system
* `pairs`: two reports; `compare_report`: a compare-period report; `session_pairs`, `trace_pairs`: two others;
  `evidence`: a trace beside a report or a session
* `finding`: the finding, its mark, its rank; `report_parts`: parts of a report's ledger
"""
