/* Runs the tables of an automaton (logframe/automaton.py) over a buffer of lines, and hands memory to Arrow.
 *
 * Knows no format.  Every function touches only the bytes its arguments name: a line ends at a newline or at the end of
 * the buffer, whatever follows it.  The tables are checked before they come here (logframe/classify.py), so every
 * step stays within them.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The hash of the source this library was compiled from. */
const char *iolab_source(void) { return IOLAB_SOURCE; }

/* ---------------------------------------------------------------------------------------------------- lines */

/* The number of lines: a last one needs no newline, and an empty buffer has none. */
int64_t iolab_count_lines(const uint8_t *data, int64_t size) {
    const uint8_t *here = data, *end = data + size;
    int64_t lines = 0;
    while (here < end) {
        const uint8_t *newline = memchr(here, '\n', (size_t)(end - here));
        lines++;
        if (!newline) break;
        here = newline + 1;
    }
    return lines;
}

/* Where each line starts and ends.  Up to `returns` carriage returns at the end of a line are not part of it.
 * Returns 0, or -1 where the buffer does not hold that many lines. */
int32_t iolab_find_lines(const uint8_t *data, int64_t size, int64_t lines, int32_t returns, uint32_t *starts,
                                uint32_t *ends) {
    const uint8_t *here = data, *end = data + size;
    for (int64_t line = 0; line < lines; line++) {
        if (here >= end) return -1;
        const uint8_t *newline = memchr(here, '\n', (size_t)(end - here));
        const uint8_t *last = newline ? newline : end;
        starts[line] = (uint32_t)(here - data);
        for (int32_t left = returns; left > 0 && last > here && last[-1] == '\r'; left--) last--;
        ends[line] = (uint32_t)(last - data);
        here = newline ? newline + 1 : end;
    }
    return here < end ? -1 : 0;
}

/* The number of bytes up to the last newline, with it; 0 where there is none. */
int64_t iolab_whole_lines(const uint8_t *data, int64_t size) {
    while (size > 0 && data[size - 1] != '\n') size--;
    return size;
}

/* Arrow views of the lines whose tag is 0, one after the other. */
void iolab_views(const uint8_t *data, const uint32_t *starts, const uint32_t *ends, int64_t lines,
                        const uint8_t *tags, uint8_t *views) {
    for (int64_t line = 0; line < lines; line++) {
        if (tags[line]) continue;
        uint32_t length = ends[line] - starts[line];
        memset(views, 0, 16);
        memcpy(views, &length, 4);
        memcpy(views + 4, data + starts[line], length <= 12 ? length : 4);
        if (length > 12) memcpy(views + 12, &starts[line], 4);
        views += 16;
    }
}

/* ---------------------------------------------------------------------------------------------------- kinds */

/* One automaton alone waits for each look-up; several lines in lockstep fill the wait. */
enum { LANES = 4 };

#define STEP(state, byte) (wide ? wide_steps[(state) + classes[byte]] : narrow_steps[(state) + classes[byte]])

/* The tag of each line.  A step of the table is the place of the next state's row, in 16 or 32 bits. */
static inline __attribute__((always_inline)) void run(const uint8_t *data, const uint32_t *starts,
                                                      const uint32_t *ends, int64_t lines, const uint8_t *classes,
                                                      const void *steps, int wide, uint32_t width, uint32_t start,
                                                      const uint8_t *tags, uint8_t *kinds) {
    const uint16_t *narrow_steps = steps;
    const uint32_t *wide_steps = steps;
    const uint8_t *here[LANES];
    uint32_t left[LANES], state[LANES];
    int64_t line[LANES], next = 0;
    int filled = 0;
    for (; filled < LANES && next < lines; filled++, next++) {
        line[filled] = next;
        here[filled] = data + starts[next];
        left[filled] = ends[next] - starts[next];
        state[filled] = start;
    }
    for (int full = filled == LANES; full;) {
        uint32_t count = left[0];
        for (int lane = 1; lane < LANES; lane++)
            if (left[lane] < count) count = left[lane];
        const uint8_t *a = here[0], *b = here[1], *c = here[2], *d = here[3];
        uint32_t p = state[0], q = state[1], r = state[2], s = state[3];
        for (uint32_t at = 0; at < count; at++) {
            p = STEP(p, a[at]);
            q = STEP(q, b[at]);
            r = STEP(r, c[at]);
            s = STEP(s, d[at]);
        }
        state[0] = p, state[1] = q, state[2] = r, state[3] = s;
        for (int lane = 0; lane < LANES; lane++) {
            here[lane] += count;
            left[lane] -= count;
            if (left[lane]) continue;
            kinds[line[lane]] = tags[state[lane] / width];
            if (next == lines) {
                full = 0; /* a lane is empty: the others end one by one; a line that has ended stays as it is */
                continue;
            }
            line[lane] = next;
            here[lane] = data + starts[next];
            left[lane] = ends[next] - starts[next];
            state[lane] = start;
            next++;
        }
    }
    for (int lane = 0; lane < filled; lane++) {
        uint32_t now = state[lane];
        for (uint32_t at = 0; at < left[lane]; at++) now = STEP(now, here[lane][at]);
        kinds[line[lane]] = tags[now / width];
    }
}

/* The tag of each line by the tables: 0 for a line that no pattern describes.  `wide` says how large a step is. */
void iolab_classify(const uint8_t *data, const uint32_t *starts, const uint32_t *ends, int64_t lines,
                           const uint8_t *classes, const void *steps, int32_t wide, uint32_t width, uint32_t start,
                           const uint8_t *tags, uint8_t *kinds) {
    if (wide)
        run(data, starts, ends, lines, classes, steps, 1, width, start, tags, kinds);
    else
        run(data, starts, ends, lines, classes, steps, 0, width, start, tags, kinds);
}

/* ---------------------------------------------------------------------------------------------------- memory */

/* Memory that several owners share; it is freed when the last one lets go. */
struct block {
    int64_t owners;
    int64_t unused; /* the bytes begin at a multiple of 16 */
    uint8_t bytes[];
};

static struct block *block_of(void *bytes) { return (struct block *)((uint8_t *)bytes - offsetof(struct block, bytes)); }

/* Memory with one owner, zeroed or not; a null pointer where there is none left. */
void *iolab_allocate(int64_t size, int32_t zeroed) {
    if (size < 0) return NULL;
    size_t whole = sizeof(struct block) + (size_t)size;
    struct block *made = zeroed ? calloc(1, whole) : malloc(whole);
    if (!made) return NULL;
    made->owners = 1;
    return made->bytes;
}

void iolab_let_go(void *bytes) {
    struct block *block = block_of(bytes);
    if (__atomic_sub_fetch(&block->owners, 1, __ATOMIC_ACQ_REL) == 0) free(block);
}

/* The Arrow C data interface. */
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

enum { MOST_BUFFERS = 5 };

struct held {
    const void *buffers[MOST_BUFFERS];
    int64_t sizes[1];
    int32_t count;
    void *blocks[MOST_BUFFERS];
};

static void release(struct ArrowArray *array) {
    struct held *held = array->private_data;
    for (int32_t place = 0; place < held->count; place++) iolab_let_go(held->blocks[place]);
    free(held);
    array->release = NULL;
}

/* Describe memory as an Arrow array; each block gets one owner more until the array is released.
 *
 * `buffers` are validity (or null), values and, for string views, the text, whose length is `text_size` (-1: none).
 * Returns 0, or -1 where there is no memory left; then nothing is owned. */
int32_t iolab_export(struct ArrowArray *array, int64_t length, int64_t null_count, void *validity, void *values,
                            void *text, int64_t text_size) {
    struct held *held = calloc(1, sizeof *held);
    if (!held) return -1;
    void *blocks[] = {validity, values, text_size < 0 ? NULL : text};
    for (int place = 0; place < 3; place++) {
        if (!blocks[place]) continue;
        __atomic_add_fetch(&block_of(blocks[place])->owners, 1, __ATOMIC_ACQ_REL);
        held->blocks[held->count++] = blocks[place];
    }
    int64_t count = 0;
    held->buffers[count++] = validity;
    held->buffers[count++] = values;
    if (text_size >= 0) {
        held->buffers[count++] = text;
        held->sizes[0] = text_size;
        held->buffers[count++] = held->sizes;
    }
    memset(array, 0, sizeof *array);
    array->length = length;
    array->null_count = null_count;
    array->n_buffers = count;
    array->buffers = held->buffers;
    array->release = release;
    array->private_data = held;
    return 0;
}
