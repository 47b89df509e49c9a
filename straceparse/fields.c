/* Cuts the fields of regular strace lines into arrays that the caller owns.
 *
 * The lines were checked before: their tag says that the pattern of straceparse/fixed_width.py describes them.  What is
 * cut here is looked at again all the same: a line in which a field is not what it must be, or does not fit its column
 * (octal, hexadecimal beyond 63 bits, an overflow), gets the tag 0 and is left to the other readers.
 *
 * A text is an Arrow string view into the buffer: 16 bytes, its length first; up to 12 bytes stand in the view itself.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash of the source this library was compiled from. */
const char *iolab_source(void) { return IOLAB_SOURCE; }

enum { CALL, UNFINISHED, RESUMED, SIGNAL, EXITED };
enum { NO_CLOCK, EPOCH, TIME_OF_DAY };

static const char BEFORE_RESUMED[] = "<... ", AFTER_RESUMED[] = " resumed>";
static const char UNFINISHED_END[] = " <unfinished ...>";
static const char EXITED_START[] = "+++ exited with ", SIGNAL_START[] = "--- SIG";
static const char MARK_END[] = "---", EXITED_END[] = " +++";
#define LENGTH(text) ((int64_t)sizeof(text) - 1)

/* What a prefix of fixed width has, and where; a field of no length is not there. */
struct prefix {
    int32_t width, clock_kind;
    int32_t pid, pid_length;
    int32_t clock, clock_length;
    int32_t relative, relative_length;
    int32_t number, number_length;
    int32_t pointer, pointer_length;
    int32_t elapsed_digits, has_paths, can_split;
};

/* Columns that the caller wants have values; validity is zeroed, and a bit is set for each value that is there. */
struct column {
    void *values;
    uint8_t *validity;
    int64_t filled;
};

struct columns {
    struct column kind, pid, clock, relative, syscall, name, args, result, result_text, errno_name, note, elapsed, decoration,
        number, pointer;
};

/* A name of older versions and the name of today, which fits into a view. */
struct alias {
    uint32_t old_length, new_length;
    char old_name[12], new_name[12];
};

struct aliases {
    const struct alias *first;
    int64_t count;
};

struct text {
    const uint8_t *data;
    int64_t size;
};

/* ---------------------------------------------------------------------------------------------------- columns */

static inline void fill(struct column *column, int64_t row) {
    column->validity[row >> 3] |= (uint8_t)(1 << (row & 7));
    column->filled++;
}

static inline void put_view(struct column *column, int64_t row, struct text text, int64_t start, int64_t end) {
    if (!column->values) return;
    uint8_t *view = (uint8_t *)column->values + 16 * row;
    uint32_t length = (uint32_t)(end - start), offset = (uint32_t)start;
    uint64_t words[2] = {0, 0};
    if (length <= 12) {
        memcpy((uint8_t *)words + 4, text.data + start, length);
    } else {
        memcpy((uint8_t *)words + 4, text.data + start, 4);
        memcpy((uint8_t *)words + 12, &offset, 4);
    }
    memcpy(words, &length, 4);
    memcpy(view, words, 16);
    fill(column, row);
}

/* The name of a system call as strace prints it today. */
static inline void put_name(struct column *column, int64_t row, struct text text, int64_t start, int64_t end,
                            struct aliases aliases) {
    if (!column->values) return;
    for (int64_t place = 0; place < aliases.count; place++) {
        const struct alias *alias = aliases.first + place;
        if (alias->old_length != end - start || memcmp(text.data + start, alias->old_name, alias->old_length)) continue;
        struct text today = {(const uint8_t *)alias->new_name, alias->new_length};
        put_view(column, row, today, 0, alias->new_length);
        return;
    }
    put_view(column, row, text, start, end);
}

static inline void put_long(struct column *column, int64_t row, int64_t value) {
    if (!column->values) return;
    ((int64_t *)column->values)[row] = value;
    fill(column, row);
}

static inline void put_int(struct column *column, int64_t row, int64_t value) {
    if (!column->values) return;
    ((int32_t *)column->values)[row] = (int32_t)value;
    fill(column, row);
}

/* ---------------------------------------------------------------------------------------------------- numbers */

static inline int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/* A whole number between blanks, of at most 18 digits; -1 for anything else. */
static inline int64_t padded_number(const uint8_t *here, const uint8_t *end) {
    int64_t value = 0;
    while (here < end && *here == ' ') here++;
    while (here < end && end[-1] == ' ') end--;
    if (here == end || end - here > 18) return -1;
    for (; here < end; here++) {
        if (!is_digit(*here)) return -1;
        value = value * 10 + (*here - '0');
    }
    return value;
}

/* Seconds with up to nine decimals, blanks before them, as nanoseconds; -1 for anything else. */
static inline int64_t nanoseconds(const uint8_t *here, const uint8_t *end) {
    int64_t whole = 0, fraction = 0, digits = 0;
    while (here < end && *here == ' ') here++;
    const uint8_t *first = here;
    for (; here < end && is_digit(*here); here++) {
        if (here - first >= 10) return -1; /* beyond the nanoseconds of 64 bits, or close to it */
        whole = whole * 10 + (*here - '0');
    }
    if (here == first || whole > 9000000000) return -1;
    if (here < end) {
        if (*here++ != '.') return -1;
        for (; here < end; here++, digits++) {
            if (!is_digit(*here) || digits == 9) return -1;
            fraction = fraction * 10 + (*here - '0');
        }
        if (!digits) return -1;
        for (; digits < 9; digits++) fraction *= 10;
    }
    return whole * 1000000000 + fraction;
}

/* HH:MM:SS with up to nine decimals as nanoseconds of the day; -1 for anything else. */
static inline int64_t time_of_day(const uint8_t *here, const uint8_t *end) {
    if (end - here < 8 || here[2] != ':' || here[5] != ':' || !is_digit(here[6])) return -1;
    int64_t hours = padded_number(here, here + 2), minutes = padded_number(here + 3, here + 5);
    int64_t seconds = nanoseconds(here + 6, end);
    if (here[0] == ' ' || here[1] == ' ' || here[3] == ' ' || here[4] == ' ') return -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds >= 60000000000) return -1;
    return (hours * 60 + minutes) * 60000000000 + seconds;
}

/* The number a call returned; 0 where it is odd: octal, too large, no number. */
static inline int result_number(const uint8_t *here, const uint8_t *end, int64_t *value) {
    int64_t found = 0;
    if (end - here > 2 && here[0] == '0' && here[1] == 'x') {
        here += 2;
        if (end - here > 16 || (end - here == 16 && *here > '7')) return 0;
        for (; here < end; here++) {
            int digit = is_digit(*here) ? *here - '0' : *here >= 'a' && *here <= 'f' ? *here - 'a' + 10 : -1;
            if (digit < 0) return 0;
            found = found * 16 + digit;
        }
        *value = found;
        return 1;
    }
    int negative = here < end && *here == '-';
    here += negative;
    if (here == end || end - here > 18 || (*here == '0' && end - here > 1)) return 0;
    for (; here < end; here++) {
        if (!is_digit(*here)) return 0;
        found = found * 10 + (*here - '0');
    }
    *value = negative ? -found : found;
    return 1;
}

/* ---------------------------------------------------------------------------------------------------- lines */

static inline int starts_with(const uint8_t *data, int64_t start, int64_t end, const char *text, int64_t length) {
    return end - start >= length && !memcmp(data + start, text, (size_t)length);
}

static inline int ends_with(const uint8_t *data, int64_t start, int64_t end, const char *text, int64_t length) {
    return end - start >= length && !memcmp(data + end - length, text, (size_t)length);
}

static inline int is_name(uint8_t byte) { return (byte >= 'a' && byte <= 'z') || byte == '_' || is_digit(byte); }

static inline int is_upper(uint8_t byte) { return (byte >= 'A' && byte <= 'Z') || byte == '_' || is_digit(byte); }

/* What was found of one line, before any of it is written: an odd line leaves no trace. */
struct found {
    int kind;
    int64_t pid, clock, relative, number, elapsed, result;
    int64_t name, name_end, args, args_end, value, value_end, errno_name, errno_end, note, note_end, decoration_end;
    int has_result;
};

static inline int read_prefix(const uint8_t *line, const struct prefix *prefix, struct found *found) {
#define FIELD(name) line + prefix->name, line + prefix->name + prefix->name##_length
    found->pid = prefix->pid_length ? padded_number(FIELD(pid)) : 0;
    found->relative = prefix->relative_length ? nanoseconds(FIELD(relative)) : 0;
    found->number = prefix->number_length ? padded_number(FIELD(number)) : 0;
    found->clock = prefix->clock_kind == EPOCH         ? nanoseconds(FIELD(clock))
                   : prefix->clock_kind == TIME_OF_DAY ? time_of_day(FIELD(clock))
                                                       : 0;
#undef FIELD
    return found->pid >= 0 && found->pid <= INT32_MAX && found->relative >= 0 && found->number >= 0 &&
           found->number <= INT32_MAX && found->clock >= 0;
}

/* A signal or an exit, whose text stands between marks. */
static inline int read_mark(const uint8_t *data, int64_t start, int64_t end, struct found *found) {
    found->note = start + 4;
    found->note_end = end - 3;
    if (data[start] == '+') {
        if (!starts_with(data, start, end, EXITED_START, LENGTH(EXITED_START))) return 0;
        if (!ends_with(data, start, end, EXITED_END, LENGTH(EXITED_END))) return 0;
        found->kind = EXITED;
        found->value = start + LENGTH(EXITED_START);
        found->value_end = found->decoration_end = end - LENGTH(EXITED_END);
        if (found->value >= found->value_end) return 0;
        found->has_result = 1;
        if (!result_number(data + found->value, data + found->value_end, &found->result)) return 0;
    } else {
        if (!starts_with(data, start, end, SIGNAL_START, LENGTH(SIGNAL_START))) return 0;
        if (end - start < LENGTH(SIGNAL_START) + LENGTH(MARK_END)) return 0;
        if (!ends_with(data, start, end, MARK_END, LENGTH(MARK_END))) return 0;
        found->kind = SIGNAL;
    }
    while (found->note < found->note_end && data[found->note] == ' ') found->note++;
    while (found->note < found->note_end && data[found->note_end - 1] == ' ') found->note_end--;
    return 1;
}

/* What stands after the arguments, cut from the end of the line: time, text, name of the error, path, value. */
static inline int read_outcome(const uint8_t *data, int64_t args, int64_t end, const struct prefix *prefix,
                               struct found *found) {
    int64_t here = end;
    if (here > args && data[here - 1] == '?') { /* the process ended in the call: no time was printed */
        found->value = here - 1;
        found->value_end = found->decoration_end = here;
        here--;
    } else {
        if (prefix->elapsed_digits) {
            int64_t length = prefix->elapsed_digits + 5;
            if (here - args < length || data[here - 1] != '>' || data[here - length] != ' ') return 0;
            if (data[here - length + 1] != '<' || data[here - length + 3] != '.') return 0;
            found->elapsed = nanoseconds(data + here - length + 2, data + here - 1);
            if (found->elapsed < 0 || data[here - length + 2] == ' ') return 0;
            here -= length;
        }
        if (here > args && data[here - 1] == ')') {
            found->note_end = here--;
            while (here > args && data[here - 1] != '(' && data[here - 1] != ')') here--;
            if (here - args < 3 || data[here - 1] != '(' || data[here - 2] != ' ') return 0;
            found->note = --here;
            here--;
            int64_t word = here;
            while (word > args && is_upper(data[word - 1])) word--;
            if (word < here && word > args && data[word] == 'E' && data[word - 1] == ' ') {
                found->errno_name = word;
                found->errno_end = here;
                here = word - 1;
            }
        }
        found->decoration_end = here;
        if (here > args && data[here - 1] == '>') {
            if (!prefix->has_paths) return 0;
            here--;
            while (here > args && data[here - 1] != '<' && data[here - 1] != '>') here--;
            if (here == args || data[here - 1] != '<' || found->decoration_end - here < 2) return 0;
            here--;
        }
        found->value_end = here;
        while (here > args && data[here - 1] != ' ') here--;
        found->value = here;
    }
    int64_t length = found->value_end - found->value;
    if (length == 1 && data[found->value] == '?') {
        if (found->value_end != found->decoration_end) return 0;
    } else {
        found->has_result = 1;
        if (!result_number(data + found->value, data + found->value_end, &found->result)) return 0;
    }
    /* " = " stands before the value, and blanks and the bracket before that */
    here = found->value;
    if (here - args < 4 || data[here - 1] != ' ' || data[here - 2] != '=' || data[here - 3] != ' ') return 0;
    here -= 3;
    while (here > args && data[here - 1] == ' ') here--;
    if (here <= args || data[here - 1] != ')') return 0;
    found->args = args;
    found->args_end = here - 1;
    return 1;
}

/* A call, or a half of one. */
static inline int read_call(const uint8_t *data, int64_t start, int64_t end, const struct prefix *prefix,
                            struct found *found) {
    int64_t here = start;
    int is_resumed = data[here] == '<';
    if (is_resumed) {
        if (!prefix->can_split || !starts_with(data, here, end, BEFORE_RESUMED, LENGTH(BEFORE_RESUMED))) return 0;
        here += LENGTH(BEFORE_RESUMED);
    }
    found->name = here;
    while (here < end && is_name(data[here])) here++;
    found->name_end = here;
    if (here == found->name || is_digit(data[found->name])) return 0;
    if (is_resumed) {
        if (!starts_with(data, here, end, AFTER_RESUMED, LENGTH(AFTER_RESUMED))) return 0;
        found->kind = RESUMED;
        return read_outcome(data, here + LENGTH(AFTER_RESUMED), end, prefix, found);
    }
    if (here == end || data[here] != '(') return 0;
    here++;
    if (prefix->can_split && ends_with(data, here, end, UNFINISHED_END, LENGTH(UNFINISHED_END))) {
        found->kind = UNFINISHED;
        found->args = here;
        found->args_end = end - LENGTH(UNFINISHED_END);
        return 1;
    }
    found->kind = CALL;
    return read_outcome(data, here, end, prefix, found);
}

static void write_line(struct columns *columns, int64_t row, struct text text, int64_t start,
                       const struct prefix *prefix, struct aliases aliases, const struct found *found) {
    if (columns->kind.values) ((uint8_t *)columns->kind.values)[row] = (uint8_t)found->kind;
    if (prefix->pid_length) put_int(&columns->pid, row, found->pid);
    if (prefix->clock_kind != NO_CLOCK) put_long(&columns->clock, row, found->clock);
    if (prefix->relative_length) put_long(&columns->relative, row, found->relative);
    if (prefix->number_length) put_int(&columns->number, row, found->number);
    if (prefix->pointer_length) {
        int64_t first = start + prefix->pointer, last = first + prefix->pointer_length;
        while (first < last && text.data[first] == ' ') first++;
        while (first < last && text.data[last - 1] == ' ') last--;
        put_view(&columns->pointer, row, text, first, last);
    }
    if (found->name >= 0) {
        put_view(&columns->syscall, row, text, found->name, found->name_end);
        put_name(&columns->name, row, text, found->name, found->name_end, aliases);
        put_view(&columns->args, row, text, found->args, found->args_end);
    }
    if (found->value >= 0) put_view(&columns->result_text, row, text, found->value, found->decoration_end);
    if (found->has_result) put_long(&columns->result, row, found->result);
    if (found->errno_name >= 0) put_view(&columns->errno_name, row, text, found->errno_name, found->errno_end);
    if (found->note >= 0) put_view(&columns->note, row, text, found->note, found->note_end);
    if (found->elapsed >= 0) put_long(&columns->elapsed, row, found->elapsed);
    if (found->value >= 0 && found->decoration_end > found->value_end)
        put_view(&columns->decoration, row, text, found->value_end + 1, found->decoration_end - 1);
}

/* Cut the lines whose tag is not 0; one that is odd gets the tag 0 and fills no column.
 * Values that are not filled must be zero, and so must validity.  Returns the number of lines left over. */
int64_t iolab_cut(const uint8_t *data, int64_t size, const uint32_t *starts, const uint32_t *ends,
                         int64_t lines, uint8_t *tags,
                         const struct prefix *prefix, const struct alias *first_alias, int64_t alias_count,
                         struct columns *columns) {
    struct text text = {data, size};
    struct aliases aliases = {first_alias, alias_count};
    int64_t left = 0;
    for (int64_t row = 0; row < lines; row++) {
        int64_t start = starts[row], end = ends[row], event = start + prefix->width;
        struct found found = {.name = -1, .value = -1, .errno_name = -1, .note = -1, .elapsed = -1};
        if (tags[row] && end <= size && event < end && read_prefix(data + start, prefix, &found) &&
            (data[event] == '+' || data[event] == '-' ? read_mark(data, event, end, &found)
                                                      : read_call(data, event, end, prefix, &found))) {
            write_line(columns, row, text, start, prefix, aliases, &found);
        } else {
            tags[row] = 0;
            left++;
        }
    }
    return left;
}
