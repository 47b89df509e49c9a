"""Logs of strace for benchmarks: distinct lines by the rules of the format, the same for the same size."""

import random
from collections.abc import Iterator
from pathlib import Path


def parallel_lines(seed: int = 1) -> Iterator[str]:
    """``strace -f -ttt -T``: several processes, split calls, errors, signals; without end."""
    chance = random.Random(seed)  # noqa: S311 - reproducible lines, no secret
    clock = 1_795_253_115_000_000
    pids = [chance.randint(10_000, 99_999) for _ in range(12)]
    while True:
        for _ in range(5_000):
            clock += chance.randint(1, 400)
            pid = chance.choice(pids)
            lead = f"{pid} {clock // 1_000_000}.{clock % 1_000_000:06d} "
            spent = f"<0.{min(999_999, int(chance.lognormvariate(5.5, 1.2))):06d}>"
            offset, fd = 8192 * chance.randint(0, 1 << 30), chance.randint(256, 300)
            match chance.randint(0, 199):
                case 0:
                    yield f'{lead}open("/etc/x{offset}", O_RDONLY) = -1 ENOENT (No such file or directory) {spent}'
                case 1:
                    yield f"{lead}--- SIGALRM {{si_signo=SIGALRM, si_code=SI_KERNEL}} ---"
                case 2:
                    yield f"{lead}mmap(NULL, {offset}, PROT_READ, MAP_PRIVATE, {fd}, 0) = 0x7f{offset:010x} {spent}"
                case 3 | 4:
                    yield f"{lead}pread64({fd},  <unfinished ...>"
                    yield f'{lead}<... pread64 resumed>"\\6\\242\\0\\0"..., 8192, {offset}) = 8192 {spent}'
                case low if low < 120:
                    yield f'{lead}pread64({fd}, "\\6\\242\\0\\0\\{low}"..., 8192, {offset}) = 8192 {spent}'
                case low if low < 150:
                    yield f'{lead}pwrite64({fd}, "\\25\\242\\0\\0{low}"..., 16384, {offset}) = 16384 {spent}'
                case low if low < 170:
                    yield f"{lead}lseek({fd}, {offset}, SEEK_SET) = {offset} {spent}"
                case low if low < 185:
                    yield f"{lead}getrusage(0x1 /* RUSAGE_??? */, {{ru_utime={{{low}, {offset}}}, ...}}) = 0 {spent}"
                case low:
                    yield f"{lead}times({{tms_utime={low}, tms_stime={offset}, tms_cutime=0}}) = {offset} {spent}"


def relative_lines(seed: int = 2) -> Iterator[str]:
    """Plain ``strace -r`` of one process, without end."""
    chance = random.Random(seed)  # noqa: S311 - reproducible lines, no secret
    while True:
        for _ in range(5_000):
            lead = f"     0.{chance.randint(1, 999_999):06d} "
            offset, fd = 8192 * chance.randint(0, 1 << 30), chance.randint(256, 300)
            match chance.randint(0, 99):
                case 0:
                    yield f'{lead}open("/etc/x{offset}", O_RDONLY) = -1 ENOENT (No such file or directory)'
                case low if low < 60:
                    yield f'{lead}pread({fd}, "\\6\\242\\0\\0\\{low}"..., 8192, {offset}) = 8192'
                case low if low < 80:
                    yield f"{lead}lseek({fd}, {offset}, SEEK_SET) = {offset}"
                case low:
                    yield f"{lead}times({{tms_utime={low}, tms_stime={offset}, tms_cutime=0}}) = {offset}"


def asynchronous_lines(seed: int = 3) -> Iterator[str]:
    """``strace -f -ttt -T`` of asynchronous requests, one a call, without end."""
    chance = random.Random(seed)  # noqa: S311 - reproducible lines, no secret
    clock = 1_795_253_115_000_000
    while True:
        clock += chance.randint(20, 400)
        pid, data = chance.randint(10_001, 10_012), 0x7F3A_0000_0000 + 0x2D0 * chance.randint(0, 1 << 24)
        context = 0x7F00_0000_0000 + pid * 4096
        offset, fd = 8192 * chance.randint(0, 1 << 30), chance.randint(256, 300)
        yield (
            f"{pid} {clock // 1_000_000}.{clock % 1_000_000:06d} io_submit({context:#x}, 1, [{{aio_data={data:#x}, "
            f"aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes={fd}, aio_buf={data + 4096:#x}, aio_nbytes=8192, "
            f"aio_offset={offset}}}]) = 1 <0.000{chance.randint(1, 99):03d}>"
        )
        clock += chance.randint(1, 20)
        yield (
            f"{pid} {clock // 1_000_000}.{clock % 1_000_000:06d} io_getevents({context:#x}, 1, 128, [{{data={data:#x}, "
            f"obj={data:#x}, res=8192, res2=0}}], {{tv_sec=600, tv_nsec=0}}) = 1 <0.000{chance.randint(100, 999)}>"
        )


def written_log(path: Path, size: int, lines: Iterator[str]) -> Path:
    """A file of at least `size` bytes with these lines."""
    with path.open("w", encoding="ascii") as log:
        written = 0
        while written < size:
            piece = "\n".join(next(lines) for _ in range(5_000)) + "\n"
            log.write(piece)
            written += len(piece)
    return path
