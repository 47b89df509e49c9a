"""Small logs of sampling tools, written for tests: damaged rows, several days, runs and tools."""

SAR = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(9 CPU)

13:20:09          DEV       tps     rkB/s     await
13:20:19          sda      6.40      1.60      1.00
13:20:19          sdb      0.5      1.60      1.00
13:20:29          sda      6.4       1,60      x
Average:          sda      6.40      1.60      1.00

13:20:09        CPU     %user     %idle
13:20:19        all      1.20     98.80
13:20:29        all      1.2      98.8
13:20:31
13:37:29     LINUX RESTART\t(9 CPU)

13:38:09        CPU     %user     %idle
13:38:19        all      1.20     98.80
Average:        all      1.20     98.80
a line of no table
"""
IOSTAT = """\
9.00 1.00 a row without a heading
Linux 2.6.18 (db1) \t02/19/24

Time: 23:59:50
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.74    0.00    0.43    0.35    0.00   98.48

Device:         rrqm/s   wrqm/s   r/s   w/s   await   newest
----------------------------------------------------------
sda               0.00     0.5    1.00  2.00  3,25    1.5G
a disk            0.00     0.5    1.00  2.00  3.25    1.5

Time: 00:00:20
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.74    0.00    0.43    0.35    0.00   98.48

Device:         rrqm/s   wrqm/s   r/s   w/s   await   newest
sda               0.00     0.5    1.00  2.00
sdb               0.00     0.5    1.00  2.00  3.25    1
"""
NMON = """\
AAA,progname,nmon
AAA,host,db1
AAA,date,17-OCT-2017
CPU_ALL,CPU Total db1,User%,Sys%,Busy,CPUs
DISKREAD,Disk Read KB/s db1,sda,sdb
ZZZZ,T0001,12:55:48,17-OCT-2017
CPU_ALL,T0001,0.3,0.3,,2
DISKREAD,T0001,7,0.25
DISKREAD,T0001,7,0.25,3,4
ZZZZ,T0002,12:55:58,17-OCT-2017
CPU_ALL,T0002,0.3,0.3,,2
DISKREAD,T0002,7.5,0.2
DISKREAD,Disk Read KB/s db1,sda,sdb,sdc
AAA,progname,nmon
AAA,host,db2
AAA,date,18-OCT-2017
ZZZZ,T0001,12:55:48,18-OCT-2017
DISKREAD,T0001,1,2,3
DISKREAD,T0002,1,2
"""


MPSTAT = "Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)\n" + "".join(
    f"\n{start}  CPU    %usr   %idle\n"
    + "".join(f"{end}  {cpu}    {number}.25   9{number}.75\n" for cpu in ("all", 0, 1))
    for number, (start, end) in enumerate(
        [("23:59:40", "23:59:50"), ("23:59:50", "00:00:00"), ("00:00:00", "00:00:10"), ("00:00:10", "00:00:20")]
    )
)
#: A table of all times, then another one: such a run is one piece.
BY_TABLE = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)

13:20:09        CPU     %user     %idle
13:20:19        all      1.20     98.80
13:20:29        all      1.25     98.75
13:20:39        all      1.30     98.70
Average:        all      1.25     98.75

13:20:09     device     tps
13:20:19        sda    6.40
13:20:29        sda    6.45
13:20:39        sda    6.50
Linux 5.4.17 (db1) \t02/20/24 \t_x86_64_\t(2 CPU)

13:20:09        CPU     %user     %idle
13:20:19        all      1.20     98.80
13:20:29        all      1.25     98.75
"""
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 279471 295968 312724    0    0     1     3   29   57  0  0 99  1  0
 2  0      0 279471 295968 312724    0    0     7     3   29   57  0  0 98  2  0
 3  0      0 279471 295968 312724    0    0     8     3   29   57  0  0 97  3  0
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 4  0      0 279471 295968 312724    0    0     9     3   29   57  0  0 96  4  0
 5  0      0 279471 295968 312724    0    0    10
"""
PIDSTAT = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)

# Time        UID       PID    %usr %system    %CPU   CPU  Command
1692579199      0         1    0.00    0.07    0.08     0  systemd
1692579199      0      4711    1.00    0.07    1.07     0  ora lgwr

# Time        UID       PID    usr-ms system-ms  Command
1692579199      0         1      2890      4260  systemd

# Time        UID       PID    %usr %system    %CPU   CPU  Command
1692579209      0         1    0.00    0.07    0.08     0  systemd
""" + "".join(
    f"1692579{number}19      0         1    0.00    0.0{number}    0.08     0  systemd\n" for number in range(2, 9)
)
WATCHER = "".join(
    f"zzz ***Mon Feb {day} {clock} CET 2024\nLinux 4.18.0 (db1) \t02/{day}/24 \t_x86_64_\t(4 CPU)\n\n"
    + "".join(
        f"Device  r/s  rkB/s  await\nsda  {number}.5  7{number}  0.25\nsdb  1.5  8  0.5\n\n" for number in range(3)
    )
    for day, clock in ((19, "23:59:30"), (20, "00:00:00"), (20, "00:00:30"))
)
POOLS = """\
              capacity     operations    bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
""" + "".join(
    f"rpool       1.5G   2.5G      {number}      2   3K     4K\n"
    f"data        7.5G   2.5G      {number}5      2   3K     4K\n"
    for number in range(9)
)
HPUX = (
    """\
HP-UX db1 B.11.23 U ia64    04/01/11

02:39:32   device   %busy   avque   r+w/s  blks/s  avwait  avserv
02:39:42   c2t1d0    0.50    0.50       1      16    0.00   13.79
           c2t2d0    0.60    0.50       2      32    0.00   13.79
02:39:52
"""
    + "".join(
        f"02:4{number}:02   c2t1d0    0.7{number}    0.50       3      16    0.00   13.79\n"
        f"           c2t2d0    0.8{number}    0.50       2      32    0.00   13.79\n"
        for number in range(9)
    )
    + """\
Average    c2t1d0    0.60    0.50       2      16    0.00   13.79
"""
)
TEXTS = {
    "sar": SAR, "iostat": IOSTAT, "nmon": NMON, "mpstat": MPSTAT, "by_table": BY_TABLE, "vmstat": VMSTAT,
    "pidstat": PIDSTAT, "watcher": WATCHER, "pools": POOLS, "hpux": HPUX, "two_tools": IOSTAT + WATCHER + MPSTAT,
}  # fmt: skip
