/* Columns of calls, looked at row by row: which line follows which in its process, and the numbers among arguments.
 *
 * Columns are arrays of the Arrow C data interface.  What is found, and what is left to others, is written in
 * straceparse/joining.py and straceparse/transfers.py, whose expressions give the same answers.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The hash of the source this library was compiled from. */
const char *iolab_source(void) { return IOLAB_SOURCE; }

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void *const *buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

static inline int bit_of(const struct ArrowArray *column, int buffer, int64_t row) {
    int64_t place = row + column->offset;
    return ((const uint8_t *)column->buffers[buffer])[place >> 3] >> (place & 7) & 1;
}

static inline int has_value(const struct ArrowArray *column, int64_t row) {
    return !column->buffers[0] || bit_of(column, 0, row);
}

static inline void set_bit(uint8_t *bits, int64_t place) { bits[place >> 3] |= (uint8_t)(1 << (place & 7)); }

/* ---------------------------------------------------------------------------------------------------- turns */

/* What a kind of line is; the values of the table that the caller gives. */
enum { IS_CALL = 1, IS_NEXT = 2, IS_START = 4, IS_END = 8 };
/* Lanes of a process: calls of execve are paired among themselves. */
enum { LANES = 2 };
enum { NO_PID = -1 };

/* Places are counted from 1; 0 stands for none. */
struct process {
    int64_t id;
    uint32_t next, call[LANES];
    uint8_t is_used, is_open[LANES];
};

struct processes {
    struct process *slots;
    uint64_t mask, count;
};

struct columns {
    const struct ArrowArray *kind, *pid, *at, *is_closed, *is_exec;
};

/* Room for one value a line each; gaps must be zero, and so must the bits. */
struct found {
    int64_t *gaps;
    uint8_t *has_gap, *has_next;
    uint32_t *starts, *ends, *opened, *pending;
    int64_t pairs, gap_count, opened_count, pending_count;
};

static inline uint64_t mixed(int64_t id) {
    uint64_t hash = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ (hash >> 32);
}

static struct process *slot_of(struct processes *all, int64_t id) {
    uint64_t place = mixed(id) & all->mask;
    while (all->slots[place].is_used && all->slots[place].id != id) place = (place + 1) & all->mask;
    return &all->slots[place];
}

/* Twice as many slots; 0 where there is no memory. */
static int grow(struct processes *all) {
    struct processes larger = {calloc(2 * (all->mask + 1), sizeof *all->slots), 2 * all->mask + 1, all->count};
    if (!larger.slots) return 0;
    for (uint64_t place = 0; place <= all->mask; place++)
        if (all->slots[place].is_used) *slot_of(&larger, all->slots[place].id) = all->slots[place];
    free(all->slots);
    *all = larger;
    return 1;
}

static struct process *process_of(struct processes *all, int64_t id) {
    struct process *found = slot_of(all, id);
    if (found->is_used) return found;
    if (2 * ++all->count > all->mask) {
        if (!grow(all)) return NULL;
        found = slot_of(all, id);
    }
    found->id = id;
    found->is_used = 1;
    return found;
}

/* The time from the line before of the process to this one. */
static void end_gap(struct found *found, const struct ArrowArray *at, struct process *process, int64_t row) {
    if (process->next) {
        int64_t before = process->next - 1;
        set_bit(found->has_next, before);
        if (has_value(at, before) && has_value(at, row)) {
            const int64_t *times = (const int64_t *)at->buffers[1] + at->offset;
            found->gaps[before] = (int64_t)((uint64_t)times[row] - (uint64_t)times[before]);
            set_bit(found->has_gap, before);
            found->gap_count++;
        }
    }
    process->next = (uint32_t)row + 1;
}

/* A call or half of one: an end belongs to the start that is the call before it. */
static void pair(struct found *found, struct process *process, int lane, int role, int is_closed, int64_t row) {
    if (role & IS_END && process->is_open[lane]) {
        found->starts[found->pairs] = process->call[lane] - 1;
        found->ends[found->pairs++] = (uint32_t)row;
    }
    process->call[lane] = (uint32_t)row + 1;
    process->is_open[lane] = role & IS_START && !is_closed;
}

/* Calls whose next line, and starts whose end, may still come. */
static void list_open(struct found *found, const struct columns *columns, const uint8_t *role_of,
                      const struct processes *all) {
    const uint8_t *kinds = (const uint8_t *)columns->kind->buffers[1] + columns->kind->offset;
    for (uint64_t place = 0; place <= all->mask; place++) {
        const struct process *process = &all->slots[place];
        if (!process->is_used) continue;
        if (process->next && role_of[kinds[process->next - 1]] & IS_CALL && has_value(columns->at, process->next - 1))
            found->pending[found->pending_count++] = process->next - 1;
        for (int lane = 0; lane < LANES; lane++)
            if (process->is_open[lane]) found->opened[found->opened_count++] = process->call[lane] - 1;
    }
}

/* `role_of` has a byte for each of 256 kinds.  Returns 0, or -1 where there is no memory. */
int32_t iolab_take_turns(const struct columns *columns, const uint8_t *role_of, struct found *found) {
    struct processes all = {calloc(64, sizeof *all.slots), 63, 0};
    if (!all.slots) return -1;
    const uint8_t *kinds = (const uint8_t *)columns->kind->buffers[1] + columns->kind->offset;
    const int32_t *pids = (const int32_t *)columns->pid->buffers[1] + columns->pid->offset;
    for (int64_t row = 0; row < columns->kind->length; row++) {
        int role = has_value(columns->kind, row) ? role_of[kinds[row]] : 0;
        if (!(role & (IS_CALL | IS_NEXT))) continue;
        struct process *process = process_of(&all, has_value(columns->pid, row) ? pids[row] : NO_PID);
        if (!process) {
            free(all.slots);
            return -1;
        }
        if (role & IS_NEXT) end_gap(found, columns->at, process, row);
        if (role & IS_CALL)
            pair(found, process, bit_of(columns->is_exec, 1, row), role, bit_of(columns->is_closed, 1, row), row);
    }
    list_open(found, columns, role_of, &all);
    free(all.slots);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- numbers */

enum { SIZED = 1, PLACED = 2 };
/* More digits than this may not fit into 64 bits. */
enum { DIGITS = 18 };

struct text {
    const uint8_t *data;
    int64_t size;
};

static inline struct text text_of(const struct ArrowArray *texts, int64_t row) {
    const uint8_t *view = (const uint8_t *)texts->buffers[1] + 16 * (row + texts->offset);
    uint32_t size, buffer, start;
    memcpy(&size, view, 4);
    if (size <= 12) return (struct text){view + 4, size};
    memcpy(&buffer, view + 8, 4);
    memcpy(&start, view + 12, 4);
    return (struct text){(const uint8_t *)texts->buffers[2 + buffer] + start, size};
}

/* A decimal that is a whole argument: no sign but a minus, no leading zero. */
static int read_decimal(const uint8_t *here, const uint8_t *end, int64_t *value) {
    int is_negative = here < end && *here == '-';
    here += is_negative;
    int64_t digits = end - here, found = 0;
    if (digits < 1 || digits > DIGITS || (*here == '0' && (digits > 1 || is_negative))) return 0;
    for (; here < end; here++) {
        if (*here < '0' || *here > '9') return 0;
        found = found * 10 + (*here - '0');
    }
    *value = is_negative ? -found : found;
    return 1;
}

/* Where the argument that ends at `end` begins, or null where no comma stands before it. */
static const uint8_t *begin_of(const uint8_t *start, const uint8_t *end) {
    for (const uint8_t *here = end; here - start >= 2; here--)
        if (here[-1] == ' ' && here[-2] == ',') return here;
    return NULL;
}

static int read_row(struct text args, int role, int64_t *first, int64_t *size, int64_t *offset) {
    const uint8_t *start = args.data, *end = start + args.size, *stop = start;
    while (stop < end && !(stop[0] == ',' && stop + 1 < end && stop[1] == ' ')) stop++;
    if (!read_decimal(start, stop, first)) return 0;
    if (!role) return 1;
    const uint8_t *last = begin_of(start, end);
    if (!last) return 0;
    if (role == SIZED) return read_decimal(last, end, size);
    const uint8_t *before = begin_of(start, last - 2);
    return before && read_decimal(before, last - 2, size) && read_decimal(last, end, offset);
}

/* Read the rows whose numbers are plain; `longest` is the size of arguments that are looked at.
 *
 * Values of the others must be zero, and so must the bits: one is set where a row is read, and in `has_size` and
 * `has_offset` where it has them.  Returns the number of rows that are left over. */
int64_t iolab_argument_numbers(const struct ArrowArray *texts, const struct ArrowArray *roles, int64_t longest,
                               int64_t *first, int64_t *size, int64_t *offset, uint8_t *has_size, uint8_t *has_offset,
                               uint8_t *is_read) {
    const uint8_t *role_of = (const uint8_t *)roles->buffers[1] + roles->offset;
    int64_t left = 0;
    for (int64_t row = 0; row < texts->length; row++) {
        int role = role_of[row];
        int64_t found[3] = {0, 0, 0};
        struct text args = has_value(texts, row) ? text_of(texts, row) : (struct text){(const uint8_t *)"", 0};
        if (args.size > longest || !read_row(args, role, &found[0], &found[1], &found[2])) {
            left++;
            continue;
        }
        first[row] = found[0];
        size[row] = found[1];
        offset[row] = found[2];
        set_bit(is_read, row);
        if (role) set_bit(has_size, row);
        if (role == PLACED) set_bit(has_offset, row);
    }
    return left;
}
