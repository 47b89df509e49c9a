"""Canonical tables of I/O: by function, file type, tablespace, file."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table
from awrparse.tables.rac import INSTANCE

_READ = Column("read_bytes", "mbytes", "bytes read", ("Reads: Data", "Read Data Volume"))
_READ_REQUESTS = Column(
    "read_requests_per_s",
    "number",
    "read requests per second",
    ("Reqs per sec", "Read Requests /sec", "Requests Reads/s"),
)
_READ_RATE = Column(
    "read_bytes_per_s", "mbytes", "bytes read per second", ("Data per sec", "Read Data Vol/sec", "MB Read MB/s")
)
_WRITE = Column("write_bytes", "mbytes", "bytes written", ("Writes: Data", "Write Data Volume"))
_WRITE_REQUESTS = Column(
    "write_requests_per_s",
    "number",
    "write requests per second",
    ("Reqs per sec#2", "Write Requests /sec", "Requests Writes/s"),
)
_WRITE_RATE = Column(
    "write_bytes_per_s", "mbytes", "bytes written per second", ("Data per sec#2", "Write Data Vol/sec", "MB Write MB/s")
)
_TRAFFIC = (_READ, _READ_REQUESTS, _READ_RATE, _WRITE, _WRITE_REQUESTS, _WRITE_RATE)
_WAITS = (
    Column("waits", "count", "number of waits", ("Waits: Count", "Wait Count")),
    Column("avg_wait_ms", "ms", "average wait; null without waits", ("Avg Tm(ms)", "Avg Time", "Wait Avg Tm(ms)")),
)
#: Reads and writes together, as reports of all instances print them.
_ALL = (
    Column("requests", "count", "reads and writes (reports of all instances)", ("Requests Total",)),
    Column("requests_per_s", "number", "reads and writes per second (reports of all instances)", ("Requests IOs/s",)),
    Column("bytes", "mbytes", "bytes read and written (reports of all instances)", ("MB Total",)),
    Column("bytes_per_s", "mbytes", "bytes per second (reports of all instances)", ("MB IO MB/s",)),
)
_FILE_IO = (
    Column("reads", "count", "read requests", ("Reads",)),
    Column("reads_per_s", "number", "read requests per second", ("Av Rds/s", "Av Reads/s")),
    Column("avg_read_ms", "ms", "average read time; null without reads", ("Av Rd(ms)", "Av Rd (ms)")),
    Column("blocks_per_read", "number", "blocks per read", ("Av Blks/Rd",)),
    Column("max_read_bucket_ms", "count", "highest bucket of read times (Statspack)", ("Mx Rd Bkt",)),
    Column("single_block_reads_per_s", "number", "single block reads per second", ("1-bk Rds/s",)),
    Column("avg_single_block_read_ms", "ms", "average time of a single block read", ("Av 1-bk Rd(ms)",)),
    Column("optimized_read_pct", "pct", "share of reads that flash cache served", ("% Opt Reads",)),
    Column("writes", "count", "write requests", ("Writes",)),
    Column("writes_per_s", "number", "write requests per second", ("Writes avg/s", "Av Writes/s")),
    Column("avg_write_ms", "ms", "average write time (some patch sets of 12.1 and 12.2)", ("Av Writes(ms)",)),
    Column("buffer_waits", "count", "waits for a buffer", ("Buffer Waits",)),
    Column("avg_buffer_wait_ms", "ms", "average wait for a buffer", ("Av Buf Wt(ms)", "Av BufWt (ms)")),
    Column("pdb", "text", "pluggable database", ("PDB Name",)),
)

IO: Final = (
    Table(
        "iostat_function",
        "I/O by database function, with the total of the report.",
        (r"^IO ?Stat by Function(?: -)? summary", r"^IOStat by Function$"),
        (
            Column("function", "io_function", "function, in full", ("Function Name", "Function")),
            *_TRAFFIC,
            *_WAITS,
            *_ALL,
            INSTANCE,
        ),
        needs=("function",),
        total="function",
    ),
    Table(
        "iostat_filetype",
        "I/O by type of file, with the total of the report.",
        (r"^IOStat by Filetype summary", r"^IOStat by File Type$"),
        (
            Column("filetype", "filetype", "type of file", ("Filetype Name",)),
            *_TRAFFIC,
            Column(
                "avg_small_read_ms", "ms", "average time of a small read", ("Small Read", "Service Time Small Read")
            ),
            Column(
                "avg_large_read_ms", "ms", "average time of a large read", ("Large Read", "Service Time Large Read")
            ),
            *_ALL,
            INSTANCE,
        ),
        needs=("filetype",),
        total="filetype",
    ),
    Table(
        "iostat_function_filetype",
        "I/O by function, and within it by type of file.",
        (r"^IOStat by Function/Filetype summary",),
        (
            Column("function", "io_function", "function, in full", ("Function/File Name",)),
            Column("filetype", "filetype", "type of file; null where the row is the sum of a function's"),
            *_TRAFFIC,
            *_WAITS,
        ),
        needs=("function",),
        total="function",
        within="filetype",
    ),
    Table(
        "iostat_function_detail",
        "Small and large I/O by function (Statspack).",
        (r"^IO Stat by Function - detail",),
        (
            Column("function", "io_function", "function, in full", ("Function",)),
            *(
                column
                for verb, past, head in (("Read", "read", "Read"), ("Write", "written", "Writn"))
                for size in ("Small", "Large")
                for column in (
                    Column(
                        f"{size.lower()}_{verb.lower()}_requests",
                        "count",
                        f"{size.lower()} {verb.lower()} requests",
                        (f"{verb} {size} {verb} Reqs",),
                    ),
                    Column(
                        f"{size.lower()}_{verb.lower()}_bytes",
                        "mbytes",
                        f"bytes {past} by {size.lower()} requests",
                        (f"{verb} {size} Data {head}",),
                    ),
                )
            ),
        ),
        needs=("function", "small_read_requests"),
        total="function",
    ),
    Table(
        "file_read_histogram",
        "Single block reads of each file by how long they took (Statspack).",
        (r"^File Read Histogram",),
        (
            Column("tablespace", "text", "tablespace", ("Tablespace",)),
            Column("file", "text", "file", ("Filename",)),
            *(
                Column(
                    f"reads_{low}_to_{high}_ms" if high else f"reads_{low}_ms_or_more",
                    "count",
                    f"reads of {low} to {high} ms" if high else f"reads of {low} ms and more",
                    (f"{low} - {high} ms" if high else f"{low}+ ms",),
                )
                for low, high in ((0, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 0))
            ),
        ),
        needs=("file", "reads_0_to_2_ms"),
        filled=("tablespace",),
    ),
    Table(
        "tablespace_io",
        "I/O by tablespace.",
        (r"^Tablespace IO Stats",),
        (Column("tablespace", "text", "tablespace", ("Tablespace",)), *_FILE_IO),
        needs=("tablespace", "reads"),
    ),
    Table(
        "file_io",
        "I/O by file.",
        (r"^File IO Stats",),
        (
            Column("tablespace", "text", "tablespace", ("Tablespace",)),
            Column("file", "text", "file", ("Filename",)),
            *_FILE_IO,
        ),
        needs=("file", "reads"),
        filled=("tablespace",),
    ),
    Table(
        "buffer_pool",
        "Buffer pools.",
        (r"^Buffer Pool Statistics",),
        (
            Column("pool", "text", "D default, K keep, R recycle, or a block size", ("P",)),
            Column("buffers", "count", "buffers", ("Number of Buffers", "Buffers")),
            Column("hit_pct", "pct", "hit ratio", ("Pool Hit%", "Cache Hit %")),
            Column("buffer_gets", "count", "blocks got", ("Buffer Gets",)),
            Column("physical_reads", "count", "blocks read", ("Physical Reads",)),
            Column("physical_writes", "count", "blocks written", ("Physical Writes",)),
            Column("free_buffer_waits", "count", "waits for a free buffer", ("Free Buff Wait", "Free Buffer Waits")),
            Column(
                "write_complete_waits",
                "count",
                "waits for a write to complete",
                ("Writ Comp Wait", "Write Complete Waits"),
            ),
            Column("buffer_busy_waits", "count", "waits for a busy buffer", ("Buffer Busy Waits",)),
        ),
        needs=("pool", "buffers"),
    ),
    Table(
        "buffer_waits",
        "Waits for buffers by class of block.",
        (r"^Buffer Wait Statistics",),
        (
            Column("block_class", "block_class", "class of block", ("Class",)),
            Column("waits", "count", "number of waits", ("Waits",)),
            Column("total_wait_s", "s", "time waited", ("Total Wait Time (s)", "Tot Wait Time (s)")),
            Column("avg_wait_ms", "ms", "average wait", ("Avg Time (ms)",)),
        ),
        needs=("block_class", "waits"),
    ),
)
