"""Canonical tables of Exadata storage servers (cells): configuration, I/O, latency, outliers.

Reports of 12.1 and 18c print them, as HTML only.  ``All`` and ``Total`` rows stand as printed among the cells.
"""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Pivot, Table

#: The cell that a row is about.
CELL: Final = Column("cell", "text", "cell, or All", ("Cell Name",))
#: The cells that have the same configuration.
CELLS: Final = Column("cells", "text", "the cells that are so", ("Cells", "Cell Name"))
_DISK: Final = Column("disk", "text", "disk; null where a row is about a cell", ("Disk Name",))
_TYPE: Final = Column("disk_type", "text", "F flash or H hard disk, and its size", ("Disk Type",))
_UTILIZATION: Final = Column("utilization_pct", "pct", "disk utilization", ("%Disk Utilization Avg",))


def _measures(*names: str) -> dict[str, tuple[str, str]]:
    """Headings of outlier tables: for each measure its mean, standard deviation and normal range."""
    columns = {"Mean": "mean", "Std Dev": "sd", "Normal Range": "normal_range"}
    heads = {}
    for name in names:
        for kind, column in columns.items():
            for words in (f"{name} {kind}", f"{name} Per Disk {kind}"):
                heads[words] = (name, column)
        heads[f"{name} Total"] = (name, "total")
        heads[f"{name} % Total"] = (name, "total_pct")
        heads[f"{name} Per Cell Average"] = (name, "cell_average")
    return heads


_SIZED_REQUESTS: Final = tuple(
    Column(
        f"{size}_{side}s_per_s",
        "number",
        f"{size} {side}s per second",
        (f"Average Per Second {size} {side}s",),
    )
    for size in ("small", "large")
    for side in ("read", "write")
)
_SIZED_VOLUMES: Final = tuple(
    Column(
        f"{size}_{side}s_mb_per_s",
        "number",
        f"megabytes of {size} {side}s per second",
        (f"Average MB/s {size} {side}s",),
    )
    for size in ("small", "large")
    for side in ("read", "write")
)
_SIZED_LATENCIES: Final = tuple(
    Column(f"{name}_ms", "ms", f"average latency{of}", (f"Average Times (ms) {head}", f"Average Times {head}"))
    for name, of, head in (
        ("cell_latency", "", "Cell Latency"),
        ("small_read", " of small reads", "Small Read"),
        ("small_write", " of small writes", "Small Write"),
        ("large_read", " of large reads", "Large Read"),
        ("large_write", " of large writes", "Large Write"),
    )
)
_SIZES: Final = ("Small Reads/s", "Small Writes/s", "Large Reads/s", "Large Writes/s")
_OUTLIERS: Final = (
    (r"^Exadata OS IO Statistics - Outlier", "os_io", ("IOPs", "IO MB/s", "% Disk Utilization")),
    (r"^Exadata OS IO Latency - Outlier", "os_latency", ("Avg Service Time (ms)", "Avg Wait Time (ms)")),
    (r"^Exadata OS CPU Statistics - Outlier", "os_cpu", ("% CPU Usage", "% User CPU", "% System CPU")),
    (r"^Exadata Cell Server IOPS Statistics - Outlier", "server_iops", ("IOPs", *_SIZES)),
    (r"^Exadata Cell Server IO MB/s Statistics - Outlier", "server_mb", ("IO MB/s", *_SIZES)),
    (
        r"^Exadata Cell Server IO Latency - Outlier",
        "server_latency",
        ("Cell Latency (ms)", "Small Read (ms)", "Small Write (ms)", "Large Read (ms)", "Large Write (ms)"),
    ),
)
EXADATA: Final = (
    Table(
        "exadata_models",
        "Exadata: models of the storage servers.",
        (r"^Exadata Storage Server Model",),
        (
            Column("model", "text", "model", ("Model",)),
            Column("cpus", "count", "processors", ("CPU Count",)),
            Column("memory_gb", "number", "memory in GB", ("Memory(GB)", "Memory (GB)")),
            Column("cell_count", "count", "number of cells", ("# Cells",)),
            CELLS,
        ),
        needs=("model",),
    ),
    Table(
        "exadata_versions",
        "Exadata: software of the storage servers.",
        (r"^Exadata Storage Server Version",),
        (
            Column("package", "text", "type of package", ("Package Type",)),
            Column("version", "text", "version", ("Package Version",)),
            CELLS,
        ),
        needs=("package",),
    ),
    Table(
        "exadata_storage",
        "Exadata: flash and disks of the storage servers.",
        (r"^Exadata Storage Information",),
        (
            Column("flash_cache_gb", "number", "flash cache in GB", ("Flash cache size(GB)", "Flash Cache Size (GB)")),
            Column("flash_log_gb", "number", "flash log in GB", ("Flash Log Size(GB)", "Flash Log Size (GB)")),
            Column("hard_disks", "count", "celldisks on hard disk", ("# Celldisks Hard Disk",)),
            Column("flash_disks", "count", "celldisks on flash", ("# Celldisks Flash",)),
            Column("griddisks", "count", "griddisks", ("# Griddisks",)),
            CELLS,
        ),
        needs=("flash_cache_gb",),
    ),
    Table(
        "exadata_griddisks",
        "Exadata: griddisks.",
        (r"^Exadata Griddisks",),
        (
            Column("prefix", "text", "prefix of their names", ("Griddisk Name Prefix",)),
            Column("griddisks", "count", "number of griddisks", ("# Griddisks",)),
            Column("size_gb", "number", "size of one in GB", ("Griddisk Size(GB)", "Griddisk Size (GB)")),
            Column("disk_type", "text", "type of disk", ("Type", "Disk Type")),
            CELLS,
        ),
        needs=("prefix",),
    ),
    Table(
        "exadata_celldisks",
        "Exadata: celldisks.",
        (r"^Exadata Celldisks",),
        (
            _TYPE,
            Column("size_gb", "number", "size of one in GB", ("CellDisk Size(GB)", "CellDisk Size (GB)")),
            Column("disks", "count", "number of disks", ("# Disks", "# Celldisks")),
            CELLS,
        ),
        needs=("size_gb",),
    ),
    Table(
        "asm_diskgroups",
        "Disk groups of ASM.",
        (r"^ASM Diskgroups",),
        (
            Column("diskgroup", "text", "disk group", ("Diskgroup",)),
            Column("size_gb", "number", "size in GB", ("Size(GB)", "Size (GB)")),
            Column("used_gb", "number", "used, in GB", ("Used(GB)", "Used (GB)")),
            Column("disks", "count", "disks", ("# Disks",)),
            Column("redundancy", "text", "redundancy", ("Redundancy",)),
            Column("griddisks", "count", "grid disks", ("# Griddisks",)),
            Column("state", "text", "state", ("State",)),
        ),
        needs=("diskgroup",),
    ),
    Table(
        "exadata_outliers",
        "Exadata: all cells, and the cells and disks that are beyond the normal range.",
        tuple(title for title, _, _ in _OUTLIERS),
        (
            Column(
                "section",
                "text",
                "the tables it is from: " + ", ".join(f"`{name}`" for _, name, _ in _OUTLIERS),
                ("Section",),
            ),
            _TYPE,
            CELL,
            _DISK,
            Column("cell_count", "count", "number of cells", ("# Cells",)),
            Column("disk_count", "count", "number of disks", ("# Disks",)),
            Column("measure", "text", "what is measured, with its unit", ("Measure",)),
            Column("total", "number", "of all", ("Total",)),
            Column("total_pct", "pct", "share of all", ("% Total",)),
            Column("cell_average", "number", "average per cell", ("Per Cell Average",)),
            Column("mean", "number", "mean of the disks, or of the cells where there are no disks", ("Mean",)),
            Column("sd", "number", "standard deviation", ("Std Dev",)),
            Column("normal_range", "text", "range that the report takes for normal", ("Normal Range",)),
        ),
        needs=("measure",),
        pivots=tuple(
            Pivot(title, "measure", _measures(*names), fixed={"section": section}, filled=("disk_type",))
            for title, section, names in _OUTLIERS
        ),
    ),
    Table(
        "exadata_cell_io",
        "Exadata: top cells and top disks by requests, as the cells' operating systems saw them.",
        (r"^Exadata OS IO Statistics - Top (?:Cells|Disks)",),
        (
            _TYPE,
            CELL,
            Column("iops_pct", "pct", "share of the requests", ("IOPs %Total",)),
            Column("iops", "number", "requests per second", ("IOPs Avg", "IOPs Average")),
            Column("io_mb_pct", "pct", "share of the volume", ("IO MB/s %Total",)),
            Column("io_mb_per_s", "number", "megabytes per second", ("IO MB/s Avg",)),
            _UTILIZATION,
            _DISK,
        ),
        needs=("cell",),
        total="cell",
        filled=("disk_type",),
    ),
    Table(
        "exadata_cell_latency",
        "Exadata: top cells and top disks by wait time, as the cells' operating systems saw them.",
        (r"^Exadata OS IO Latency - Top (?:Cells|Disks)",),
        (
            _TYPE,
            CELL,
            _DISK,
            *(
                Column(
                    f"avg_{name}_ms",
                    "ms",
                    f"average {name} time",
                    (f"Average Times (ms) {head}", f"Average Times {head}"),
                )
                for name, head in (("service", "Service Time"), ("wait", "Wait Time"))
            ),
        ),
        needs=("cell", "avg_wait_ms"),
        total="cell",
        filled=("disk_type",),
    ),
    Table(
        "exadata_cell_cpu",
        "Exadata: top cells by CPU.",
        (r"^Exadata OS CPU Statistics - Top Cells",),
        (
            CELL,
            Column("cpu_pct", "pct", "CPU", ("% CPU",)),
            Column("user_pct", "pct", "CPU of users", ("% User",)),
            Column("system_pct", "pct", "CPU of the system", ("% Sys",)),
        ),
        needs=("cell", "cpu_pct"),
        total="cell",
    ),
    Table(
        "exadata_server_iops",
        "Exadata: top cells and top disks by requests per second, as the cell servers saw them.",
        (r"^Exadata Cell Server IOPS(?: Statistics)? - Top (?:Cells|Disks)",),
        (
            _TYPE,
            CELL,
            _DISK,
            Column("iops_pct", "pct", "share of the requests", ("IOPs %Total",)),
            Column("iops", "number", "requests per second", ("IOPs Average",)),
            *_SIZED_REQUESTS,
        ),
        needs=("cell", "iops"),
        total="cell",
        filled=("disk_type",),
    ),
    Table(
        "exadata_server_throughput",
        "Exadata: top cells and top disks by megabytes per second, as the cell servers saw them.",
        (r"^Exadata Cell Server IO MB/s(?: Statistics)? - Top (?:Cells|Disks)",),
        (
            _TYPE,
            CELL,
            _DISK,
            Column("io_mb_pct", "pct", "share of the volume", ("IO MB/s %Total",)),
            Column("io_mb_per_s", "number", "megabytes per second", ("IO MB/s Average",)),
            *_SIZED_VOLUMES,
        ),
        needs=("cell", "io_mb_per_s"),
        total="cell",
        filled=("disk_type",),
    ),
    Table(
        "exadata_server_latency",
        "Exadata: top cells and top disks by latency, as the cell servers saw them.",
        (r"^Exadata Cell Server IO Latency - Top (?:Cells|Disks)",),
        (_TYPE, CELL, _DISK, *_SIZED_LATENCIES),
        needs=("cell", "cell_latency_ms"),
        total="cell",
        filled=("disk_type",),
    ),
)
