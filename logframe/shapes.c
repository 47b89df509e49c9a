/* Parts lines into their figures and their shape: the line without its figures.
 *
 * Knows no format.  A figure is the first run of digits of a line, and every run of digits after an equals sign, where
 * one blank and a minus sign may stand before it.  Most logs have few shapes; each line gets the number of its own, so
 * that whatever a shape says is read once.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash of the source this library was compiled from. */
const char *iolab_source(void) { return IOLAB_SOURCE; }

/* The most figures of a line, digits of a figure, and bytes of a shape; a line beyond them is odd. */
enum { MOST_FIGURES = 16, MOST_DIGITS = 18, MOST_BYTES = 512 };
/* The most digits after a hash sign: an address, whose figure is that of its 64 bits. */
enum { MOST_OF_ADDRESS = 20 };

/* Shapes that were seen: `slots` of a power of two hold a number from 1, 0 where they are free. */
struct shapes {
    int64_t slots, most, count;
    uint32_t *slot;   /* number of the shape */
    uint32_t *row;    /* of each shape: the first row that has it */
    uint32_t *length; /* of each shape: its bytes */
    uint8_t *bytes;   /* of each shape: MOST_BYTES bytes */
    int64_t *figures; /* of each shape: MOST_FIGURES figures of that row, 0 where it has fewer */
};

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Up to eight digits at once: their number, and what they say. */
static inline int eight_digits(const uint8_t *bytes, uint64_t *value) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    word ^= UINT64_C(0x3030303030303030);
    uint64_t others = ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
    int count = others ? __builtin_ctzll(others) >> 3 : 8;
    if (!count) return 0;
    word <<= (8 - count) * 8;
    word = word * 10 + (word >> 8);
    *value = (((word & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064)) +
              (((word >> 16) & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001))) >>
             32;
    return count;
}
#define HAS_EIGHT_BYTES 1
#else
#define HAS_EIGHT_BYTES 0
#endif

static const int64_t POWERS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Read digits from `here` on, `most` at most; where they end, NULL where there are more. */
static inline const uint8_t *read_digits(const uint8_t *here, const uint8_t *end, int most, int64_t *figure) {
    const uint8_t *first = here;
    uint64_t found = 0;
#if HAS_EIGHT_BYTES
    while (end - here >= 8 && here - first <= 8) {
        uint64_t value = 0;
        int count = eight_digits(here, &value);
        found = found * (uint64_t)POWERS[count] + value;
        here += count;
        if (count < 8) {
            *figure = (int64_t)found;
            return here;
        }
    }
#endif
    for (; here < end && is_digit(*here); here++) {
        if (here - first == most) return NULL;
        found = found * 10 + (uint64_t)(*here - '0');
    }
    *figure = (int64_t)found;
    return here;
}

static inline uint64_t hash_of(const uint8_t *bytes, uint32_t length) {
    uint64_t hash = length * UINT64_C(0x9E3779B97F4A7C15), word;
    for (; length >= 8; bytes += 8, length -= 8) {
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * UINT64_C(0xFF51AFD7ED558CCD);
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, bytes, length);
    hash = (hash ^ word) * UINT64_C(0xC4CEB9FE1A85EC53);
    return hash ^ (hash >> 32);
}

/* Is this the shape of a number? */
static inline int is_shape(const struct shapes *shapes, uint32_t number, const uint8_t *bytes, uint32_t length) {
    return shapes->length[number - 1] == length &&
           !memcmp(shapes->bytes + (int64_t)(number - 1) * MOST_BYTES, bytes, length);
}

/* The number of a shape from 1; 0 where there are too many.  The one before is often the same. */
static inline uint32_t number_of(struct shapes *shapes, uint32_t before, const uint8_t *bytes, uint32_t length,
                                 uint32_t row) {
    if (before && is_shape(shapes, before, bytes, length)) return before;
    uint64_t place = hash_of(bytes, length);
    for (;; place++) {
        uint32_t *slot = shapes->slot + (place & (uint64_t)(shapes->slots - 1));
        if (!*slot) {
            if (shapes->count == shapes->most) return 0;
            int64_t made = shapes->count++;
            shapes->row[made] = row;
            shapes->length[made] = length;
            memcpy(shapes->bytes + made * MOST_BYTES, bytes, length);
            return *slot = (uint32_t)shapes->count;
        }
        if (is_shape(shapes, *slot, bytes, length)) return *slot;
    }
}

/* A line as it is parted: what is left of it, and its shape so far. */
struct cursor {
    const uint8_t *here, *end;
    uint8_t *shape;
    uint32_t filled;
};

/* Copy to the shape up to the next equals sign, which stays; 0 where the shape is full. */
static inline int copy_text(struct cursor *line) {
#if HAS_EIGHT_BYTES
    while (line->end - line->here >= 8 && line->filled + 8 <= MOST_BYTES) {
        uint64_t word;
        memcpy(&word, line->here, 8);
        memcpy(line->shape + line->filled, &word, 8);
        uint64_t other = word ^ UINT64_C(0x3D3D3D3D3D3D3D3D); /* 0 where an equals sign stands */
        uint64_t signs = (other - UINT64_C(0x0101010101010101)) & ~other & UINT64_C(0x8080808080808080);
        int count = signs ? __builtin_ctzll(signs) >> 3 : 8;
        line->here += count;
        line->filled += (uint32_t)count;
        if (count < 8) return 1;
    }
#endif
    for (; line->here < line->end && *line->here != '='; line->here++) {
        if (line->filled == MOST_BYTES) return 0;
        line->shape[line->filled++] = *line->here;
    }
    return 1;
}

/* Part one line; the number of its figures, -1 where it is odd. */
static inline int part(struct cursor *line, int64_t *figures) {
    int count = 0;
    for (; line->here < line->end && !is_digit(*line->here) && *line->here != '='; line->here++) {
        if (line->filled == MOST_BYTES) return -1;
        line->shape[line->filled++] = *line->here;
    }
    while (line->here < line->end) {
        /* here is a digit, the first of the line, or an equals sign */
        for (int place = 0; place < 2 && line->here < line->end && *line->here == "= "[place]; place++) {
            if (line->filled == MOST_BYTES) return -1;
            line->shape[line->filled++] = *line->here++;
        }
        const uint8_t *digits = line->here + (line->here < line->end && *line->here == '-');
        if (digits < line->end && is_digit(*digits)) {
            int64_t figure = 0;
            if (count == MOST_FIGURES) return -1;
            int is_address = line->filled && line->shape[line->filled - 1] == '#';
            int most = is_address ? MOST_OF_ADDRESS : MOST_DIGITS;
            const uint8_t *after = read_digits(digits, line->end, most, &figure);
            if (!after) return -1;
            figures[count++] = digits > line->here ? -figure : figure;
            line->here = after;
        }
        if (!copy_text(line)) return -1;
    }
    return count;
}

/* The number of lines whose tag is wanted. */
int64_t iolab_count_wanted(const uint8_t *tags, int64_t lines, const uint8_t *wanted) {
    int64_t rows = 0;
    for (int64_t line = 0; line < lines; line++) rows += wanted[tags[line]] != 0;
    return rows;
}

/* Part the lines whose tag is wanted, `rows` of them: the place of each goes to `places`, its shape's number to
 * `numbers`, and its figure N to `figures[N]` (NULL where it is not needed), 0 where it has fewer.
 * Returns the number of shapes, -1 where a line is odd or there are too many shapes. */
int64_t iolab_part(const uint8_t *data, const uint32_t *starts, const uint32_t *ends, const uint8_t *tags,
                          int64_t lines, const uint8_t *wanted, int64_t rows, int64_t columns, uint32_t *places,
                          uint32_t *numbers, int64_t **figures, struct shapes *shapes) {
    uint8_t shape[MOST_BYTES];
    int64_t found[MOST_FIGURES], row = 0;
    uint32_t number = 0;
    for (int64_t line = 0; line < lines && row < rows; line++) {
        if (!wanted[tags[line]]) continue;
        struct cursor cursor = {data + starts[line], data + ends[line], shape, 0};
        int count = part(&cursor, found);
        if (count < 0 || count > columns) return -1;
        for (int64_t column = 0; column < columns; column++)
            if (figures[column]) figures[column][row] = column < count ? found[column] : 0;
        int64_t known = shapes->count;
        number = number_of(shapes, number, shape, cursor.filled, (uint32_t)row);
        if (!number) return -1;
        for (int column = 0; known < shapes->count && column < MOST_FIGURES; column++)
            shapes->figures[known * MOST_FIGURES + column] = column < count ? found[column] : 0;
        places[row] = (uint32_t)line;
        numbers[row++] = number - 1;
    }
    return shapes->count;
}
