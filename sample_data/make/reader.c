/*
 * Reads data files as an Oracle foreground process does. It makes the sample captures and the sample runs.
 *
 *     reader scattered|sequential|async [--direct] [--count N] [--processes N] FILE FILE
 *
 * scattered   synchronous reads of 126 blocks, in turn from the two files: a full scan into the buffer cache
 * sequential  synchronous reads of one block at random: an index
 * async       the reads of `scattered`, two in flight, through libaio: a full scan around the buffer cache
 *
 * --direct opens the files with O_DIRECT, so that the operating system does not cache them either.
 * --count is the number of reads (400 unless given), --processes how many such foregrounds run at once (1).
 *
 * Build: cc -O2 -Wall -Wextra -o reader reader.c -laio
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libaio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BLOCK = 8192,
    EXTENT = 1048576,                      /* 128 blocks */
    SPACE_BLOCKS = 2,                      /* at the head of an extent, of no use to a scan */
    SCAN = EXTENT - SPACE_BLOCKS * BLOCK,  /* 1,032,192 bytes, 126 blocks */
    FILES = 2,
    IN_FLIGHT = 2,
    EVENTS = 128,                          /* Oracle asks for up to 128 completions */
    POLLS = 2,                             /* looks that do not wait, before the one that does */
    WAIT_S = 600,
    FIRST_FD = 256,                        /* Oracle moves data files out of the way of select() */
    PAGE = 4096,
    CLOCK_EVERY = 4,                       /* reads between two looks at the clock */
    USAGE_EVERY = 16,                      /* reads between two looks at the CPU time */
};

struct plan {
    int fd[FILES];
    int64_t extents; /* in the smaller file */
    long count;
    long first; /* number of this process's first read */
    uint64_t seed;
};

static volatile uint64_t row_sum; /* keeps the compiler from dropping the work on the rows */

static void fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* A foreground looks at the rows it has read; without that the time between two calls would be nothing. */
static void use_rows(const void *buffer, size_t bytes)
{
    const uint64_t *word = buffer;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / sizeof *word; i++)
        sum = sum * 31 + word[i];
    row_sum += sum;
}

/* A foreground times its waits and its CPU; these calls stand between the reads in a real trace. */
static void keep_time(long done)
{
    struct rusage usage;
    if (done % CLOCK_EVERY == 0)
        times(NULL);
    if (done % USAGE_EVERY == 0)
        getrusage(RUSAGE_SELF, &usage);
}

static void *allocate_buffer(size_t bytes)
{
    void *buffer;
    errno = posix_memalign(&buffer, PAGE, bytes);
    if (errno != 0)
        fail("posix_memalign");
    memset(buffer, 0, bytes); /* take the page faults here, not in the first read */
    return buffer;
}

static int open_data_file(const char *name, int flags)
{
    int low = open(name, O_RDONLY | O_DSYNC | flags);
    if (low < 0)
        fail(name);
    int fd = fcntl(low, F_DUPFD, FIRST_FD);
    if (fd < 0)
        fail("fcntl");
    close(low);
    return fd;
}

static int64_t count_extents(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        fail("fstat");
    return status.st_size / EXTENT;
}

/* A scan goes extent by extent, one file and then the other, round the end. */
static int choose_file(const struct plan *plan, long n)
{
    return plan->fd[(plan->first + n) % FILES];
}

static off_t choose_offset(const struct plan *plan, long n)
{
    return (plan->first + n) / FILES % plan->extents * EXTENT + SPACE_BLOCKS * BLOCK;
}

static void read_block(int fd, void *buffer, size_t bytes, off_t offset)
{
    ssize_t got = pread(fd, buffer, bytes, offset);
    if (got < 0)
        fail("pread");
    use_rows(buffer, (size_t)got);
}

static void read_scattered(const struct plan *plan)
{
    void *buffer = allocate_buffer(SCAN);
    for (long n = 0; n < plan->count; n++) {
        keep_time(n);
        read_block(choose_file(plan, n), buffer, SCAN, choose_offset(plan, n));
    }
    free(buffer);
}

/* splitmix64: the same blocks in every run of one seed. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void read_sequential(const struct plan *plan)
{
    void *buffer = allocate_buffer(BLOCK);
    uint64_t state = plan->seed;
    uint64_t blocks = (uint64_t)plan->extents * (EXTENT / BLOCK);
    for (long n = 0; n < plan->count; n++) {
        uint64_t drawn = draw(&state);
        keep_time(n);
        read_block(plan->fd[drawn % FILES], buffer, BLOCK, (off_t)(drawn / FILES % blocks * BLOCK));
    }
    free(buffer);
}

static void submit_scan(io_context_t context, const struct plan *plan, struct iocb *request, void *buffer, long n)
{
    io_prep_pread(request, choose_file(plan, n), buffer, SCAN, choose_offset(plan, n));
    request->data = request;
    int accepted = io_submit(context, 1, &request);
    if (accepted != 1) {
        errno = accepted < 0 ? -accepted : EAGAIN;
        fail("io_submit");
    }
}

/* libaio answers an empty poll out of the ring it shares with the kernel; Oracle's polls are system calls. */
static int poll_scans(io_context_t context, struct io_event *events)
{
    struct timespec none = {0, 0};
    int got = (int)syscall(SYS_io_getevents, context, 1L, (long)EVENTS, events, &none);
    if (got < 0)
        fail("io_getevents");
    return got;
}

static int collect_scans(io_context_t context, struct io_event *events)
{
    struct timespec patience = {WAIT_S, 0};
    for (int i = 0; i < POLLS; i++) {
        int got = poll_scans(context, events);
        if (got > 0)
            return got;
    }
    int got = io_getevents(context, 1, EVENTS, events, &patience);
    if (got <= 0) {
        errno = got < 0 ? -got : ETIMEDOUT;
        fail("io_getevents");
    }
    return got;
}

static void read_async(const struct plan *plan)
{
    io_context_t context = 0;
    struct iocb requests[IN_FLIGHT];
    struct io_event events[EVENTS];
    void *buffers[IN_FLIGHT];
    long submitted = 0, done = 0;

    errno = -io_setup(EVENTS, &context);
    if (errno != 0)
        fail("io_setup");
    for (int i = 0; i < IN_FLIGHT; i++) {
        buffers[i] = allocate_buffer(SCAN);
        if (submitted < plan->count)
            submit_scan(context, plan, &requests[i], buffers[i], submitted++);
    }
    while (done < submitted) {
        int got = collect_scans(context, events);
        for (int i = 0; i < got; i++) {
            long slot = events[i].obj - requests;
            if ((long)events[i].res < 0) {
                errno = -(int)events[i].res;
                fail("asynchronous read");
            }
            keep_time(done++);
            use_rows(buffers[slot], events[i].res);
            if (submitted < plan->count)
                submit_scan(context, plan, &requests[slot], buffers[slot], submitted++);
        }
    }
    io_destroy(context);
    for (int i = 0; i < IN_FLIGHT; i++)
        free(buffers[i]);
}

static void (*find_mode(const char *name))(const struct plan *)
{
    if (strcmp(name, "scattered") == 0)
        return read_scattered;
    if (strcmp(name, "sequential") == 0)
        return read_sequential;
    if (strcmp(name, "async") == 0)
        return read_async;
    return NULL;
}

static void run_process(void (*mode)(const struct plan *), struct plan plan, char *names[], int flags)
{
    for (int i = 0; i < FILES; i++) {
        plan.fd[i] = open_data_file(names[i], flags);
        int64_t extents = count_extents(plan.fd[i]);
        plan.extents = i == 0 || extents < plan.extents ? extents : plan.extents;
    }
    if (plan.extents == 0) {
        fprintf(stderr, "reader: a data file has at least %d bytes\n", EXTENT);
        exit(EXIT_FAILURE);
    }
    mode(&plan);
    for (int i = 0; i < FILES; i++)
        close(plan.fd[i]);
}

int main(int argc, char *argv[])
{
    static const struct option options[] = {
        {"direct", no_argument, NULL, 'd'},
        {"count", required_argument, NULL, 'c'},
        {"processes", required_argument, NULL, 'p'},
        {0},
    };
    struct plan plan = {.count = 400};
    long processes = 1;
    int flags = 0;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'd')
            flags = O_DIRECT;
        else if (option == 'c')
            plan.count = strtol(optarg, NULL, 10);
        else if (option == 'p')
            processes = strtol(optarg, NULL, 10);
        else
            return EXIT_FAILURE;
    }
    void (*mode)(const struct plan *) = argc - optind == 1 + FILES ? find_mode(argv[optind]) : NULL;
    if (mode == NULL || plan.count < 1 || processes < 1) {
        fprintf(stderr, "usage: reader scattered|sequential|async [--direct] [--count N] [--processes N] FILE FILE\n");
        return EXIT_FAILURE;
    }
    char **names = argv + optind + 1;
    if (processes == 1) {
        run_process(mode, plan, names, flags);
        return EXIT_SUCCESS;
    }
    for (long i = 0; i < processes; i++) {
        pid_t pid = fork();
        if (pid < 0)
            fail("fork");
        if (pid == 0) {
            plan.first = i * plan.count;
            plan.seed = (uint64_t)i;
            run_process(mode, plan, names, flags);
            exit(EXIT_SUCCESS);
        }
    }
    int status, result = EXIT_SUCCESS;
    while (wait(&status) > 0)
        if (status != 0)
            result = EXIT_FAILURE;
    return result;
}
