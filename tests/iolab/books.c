/* Does I/O of every kind and keeps books: what it moved, by call, printed as JSON into a pipe. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READS, BYTES_READ, EMPTY, READ_NS, WRITES, BYTES_WRITTEN, WRITE_NS, FLUSHES, FLUSH_NS, COPIES, BYTES_COPIED,
       AIO_READS, AIO_BYTES, RING_READS, FAULTS, FAILED, KINDS };
static const char *NAMES[] = {"reads", "bytes_read", "empty", "read_ns", "writes", "bytes_written", "write_ns",
                              "flushes", "flush_ns", "copies", "bytes_copied", "aio_reads", "aio_bytes",
                              "ring_reads", "faults", "failed"};
static long books[KINDS];
static char *block;

static long now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000L + at.tv_nsec;
}

static void must(long result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(3);
    }
}

#define TIMED(kind, call) ({ long from = now(); long result = (call); books[kind] += now() - from; result; })

static void count_read(long result) {
    must(result, "read");
    books[result ? READS : EMPTY] += 1;
    books[BYTES_READ] += result;
}

static void count_write(long result) {
    must(result, "write");
    books[WRITES] += 1;
    books[BYTES_WRITTEN] += result;
}

static void count_flush(long result) {
    must(result, "flush");
    books[FLUSHES] += 1;
}

static void fill(const char *name, int size) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd, name);
    for (int done = 0; done < size;) {
        long result = TIMED(WRITE_NS, write(fd, block, size - done < 65536 ? size - done : 65536));
        count_write(result);
        done += result;
    }
    count_flush(TIMED(FLUSH_NS, fsync(fd)));
    close(fd);
}

static void plain(void) {
    fill("data", 1 << 20);
    fill("small", 5000);
    int fd = open("small", O_RDONLY);
    for (long got = 1; got; count_read(got)) got = TIMED(READ_NS, read(fd, block, 4096));
    close(fd);
    fd = open("data", O_RDONLY);
    struct iovec parts[2] = {{block, 1000}, {block + 4096, 3000}};
    for (int n = 0; n < 20; n++) count_read(TIMED(READ_NS, pread(fd, block, 8192, n * 8192L)));
    for (int n = 0; n < 5; n++) count_read(TIMED(READ_NS, readv(fd, parts, 2)));
    for (int n = 0; n < 5; n++) count_read(TIMED(READ_NS, preadv2(fd, parts, 2, n * 4096L, 0)));
    int again = dup(fd);
    close(fd);
    count_read(TIMED(READ_NS, pread(again, block, 777, 12345)));
    close(again);
    if (pread(again, block, 10, 0) < 0) books[FAILED] += 1;
}

static void direct(void) {
    fill("direct", 1 << 20);
    int fd = open("direct", O_RDWR | O_DIRECT);
    must(fd, "O_DIRECT");
    for (int n = 0; n < 16; n++) count_read(TIMED(READ_NS, pread(fd, block, 16384, n * 16384L)));
    for (int n = 0; n < 4; n++) count_write(TIMED(WRITE_NS, pwrite(fd, block, 4096, n * 4096L)));
    count_flush(TIMED(FLUSH_NS, fdatasync(fd)));
    close(fd);
}

static void synchronous(void) {
    int fd = open("redo", O_WRONLY | O_CREAT | O_DSYNC, 0600);
    must(fd, "O_DSYNC");
    for (int n = 0; n < 12; n++) count_write(TIMED(WRITE_NS, write(fd, block, 512 * (n + 1))));
    close(fd);
    fd = open("log", O_RDWR | O_CREAT, 0600);
    struct iovec parts[2] = {{block, 512}, {block, 1024}};
    for (int n = 0; n < 6; n++) {
        count_write(TIMED(WRITE_NS, pwritev2(fd, parts, 2, n * 1536L, n % 2 ? RWF_DSYNC : 0)));
        count_flush(TIMED(FLUSH_NS, n % 3 ? fdatasync(fd) : fsync(fd)));
    }
    count_write(TIMED(WRITE_NS, writev(fd, parts, 2)));
    count_flush(TIMED(FLUSH_NS, sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE)));
    close(fd);
}

static void others(void) {
    int pair[2], ends[2], fd;
    char text[4096];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    for (int n = 0; n < 9; n++) {
        must(write(pair[0], block, 8192), "socket");
        must(read(pair[1], block, 8192), "socket");
    }
    must(pipe(ends), "pipe");
    for (int n = 0; n < 7; n++) {
        must(write(ends[1], block, 512), "pipe");
        must(read(ends[0], block, 512), "pipe");
    }
    fd = open("/proc/self/maps", O_RDONLY);
    while (read(fd, text, sizeof text) > 0) {}
    close(fd);
    fd = eventfd(1, 0);
    must(read(fd, text, 8), "eventfd");
    close(fd);
    fd = open("/dev/zero", O_RDONLY);
    must(read(fd, block, 8192), "/dev/zero");
    close(fd);
    fd = memfd_create("memory", 0);
    must(write(fd, block, 4096), "memfd");
    close(fd);
    /* the descriptors of pipe and socket belong to files from here on */
    close(pair[0]);
    close(pair[1]);
    close(ends[0]);
    close(ends[1]);
    fd = open("small", O_RDONLY);
    if (fd < 0) fill("small", 5000), fd = open("small", O_RDONLY);
    count_read(TIMED(READ_NS, pread(fd, block, 100, 0)));
    close(fd);
}

static void copies(void) {
    fill("source", 200000);
    int in = open("source", O_RDONLY), out = open("target", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t at = 0;
    for (long got = 1; got > 0;) {
        got = sendfile(out, in, &at, 65536);
        must(got, "sendfile");
        books[COPIES] += got > 0;
        books[BYTES_COPIED] += got;
    }
    loff_t from = 0, to = 300000;
    long got = copy_file_range(in, &from, out, &to, 10000, 0);
    must(got, "copy_file_range");
    books[COPIES] += 1;
    books[BYTES_COPIED] += got;
    close(in);
    close(out);
}

static void libaio(void) {
    fill("aio", 1 << 20);
    int fd = open("aio", O_RDONLY | O_DIRECT);
    aio_context_t context = 0;
    must(syscall(SYS_io_setup, 16, &context), "io_setup");
    struct iocb blocks[8], *list[8];
    struct io_event events[8];
    for (int round = 0; round < 5; round++) {
        for (int n = 0; n < 8; n++) {
            memset(&blocks[n], 0, sizeof blocks[n]);
            blocks[n] = (struct iocb){.aio_data = round * 8 + n + 1, .aio_fildes = fd, .aio_lio_opcode = IOCB_CMD_PREAD,
                                      .aio_buf = (unsigned long)block + n * 8192, .aio_nbytes = 8192,
                                      .aio_offset = (round * 8 + n) * 8192L};
            list[n] = &blocks[n];
        }
        must(syscall(SYS_io_submit, context, 8, list), "io_submit");
        for (int done = 0; done < 8;) {
            long got = syscall(SYS_io_getevents, context, 1, 8, events, NULL);
            must(got, "io_getevents");
            for (int n = 0; n < got; n++) books[AIO_BYTES] += events[n].res;
            books[AIO_READS] += got;
            done += got;
        }
    }
    syscall(SYS_io_destroy, context);
    close(fd);
}

static void ring(void) {
    fill("ring", 1 << 20);
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    int ring_fd = syscall(SYS_io_uring_setup, 8, &p), fd = open("ring", O_RDONLY);
    must(ring_fd, "io_uring_setup");
    char *sq = mmap(0, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQ_RING);
    char *cq = mmap(0, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED,
                    ring_fd, IORING_OFF_CQ_RING);
    struct io_uring_sqe *sqes = mmap(0, p.sq_entries * sizeof *sqes, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQES);
    unsigned *tail = (unsigned *)(sq + p.sq_off.tail), *mask = (unsigned *)(sq + p.sq_off.ring_mask);
    unsigned *array = (unsigned *)(sq + p.sq_off.array), *head = (unsigned *)(cq + p.cq_off.head);
    for (int n = 0; n < 25; n++) {
        unsigned slot = *tail & *mask;
        memset(&sqes[slot], 0, sizeof sqes[slot]);
        sqes[slot].opcode = IORING_OP_READ;
        sqes[slot].fd = fd;
        sqes[slot].addr = (unsigned long)block;
        sqes[slot].len = 8192;
        sqes[slot].off = n * 8192;
        array[slot] = slot;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        must(syscall(SYS_io_uring_enter, ring_fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), "io_uring_enter");
        __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
        books[RING_READS] += 1;
    }
    close(fd);
    close(ring_fd);
}

static void mapped(void) {
    fill("mapped", 1 << 20);
    int fd = open("mapped", O_RDONLY);
    volatile char *at = mmap(0, 1 << 20, PROT_READ, MAP_SHARED, fd, 0);
    for (int n = 0; n < 1 << 20; n += 4096) books[FAULTS] += at[n] ? 1 : 1;
    close(fd);
}

static void children(void) {
    fill("shared", 1 << 16);
    int fd = open("shared", O_RDONLY), ends[2];
    must(pipe(ends), "pipe");
    for (int n = 0; n < 2; n++) {
        if (fork() == 0) {
            memset(books, 0, sizeof books);
            for (int k = 0; k < 10; k++) count_read(TIMED(READ_NS, pread(fd, block, 4096, k * 4096L)));
            must(write(ends[1], books, sizeof books), "pipe");
            _exit(0);
        }
        long theirs[KINDS];
        must(read(ends[0], theirs, sizeof theirs), "pipe");
        for (int k = 0; k < KINDS; k++) books[k] += theirs[k];
        wait(NULL);
    }
    close(fd);
}

int main(int count, char **words) {
    block = aligned_alloc(4096, 1 << 20);
    memset(block, 'x', 1 << 20);
    must(chdir(words[1]), words[1]);
    for (int n = 2; n < count; n++) {
        if (!strcmp(words[n], "plain")) plain();
        if (!strcmp(words[n], "direct")) direct();
        if (!strcmp(words[n], "synchronous")) synchronous();
        if (!strcmp(words[n], "others")) others();
        if (!strcmp(words[n], "copies")) copies();
        if (!strcmp(words[n], "libaio")) libaio();
        if (!strcmp(words[n], "ring")) ring();
        if (!strcmp(words[n], "mapped")) mapped();
        if (!strcmp(words[n], "children")) children();
    }
    printf("{");
    for (int n = 0; n < KINDS; n++) printf("%s\"%s\": %ld", n ? ", " : "", NAMES[n], books[n]);
    printf("}\n");
    return 0;
}
