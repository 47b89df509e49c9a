/* Cuts lines into columns of figures.
 *
 * Knows no format.  Each line is so many words and then as many figures as there are columns, between blanks or between
 * single separators.  Every figure of a column shows as many decimals as the caller says, and has so few digits that a
 * double holds them, so that each result is one division of two exact numbers, rounded once.  One line of another form
 * leaves all of them to the caller.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The hash of the source this library was compiled from. */
const char *iolab_source(void) { return IOLAB_SOURCE; }

enum { MOST_DIGITS = 15 };

static const double TENS[MOST_DIGITS + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

static inline int is_blank(uint8_t byte) { return byte == ' ' || byte == '\t'; }

static inline const uint8_t *after_blanks(const uint8_t *here, const uint8_t *end) {
    while (here < end && is_blank(*here)) here++;
    return here;
}

/* After a word and the blanks after it; NULL where the line ends before. */
static inline const uint8_t *after_word(const uint8_t *here, const uint8_t *end) {
    const uint8_t *first = here;
    while (here < end && !is_blank(*here) && *here != '\n') here++;
    const uint8_t *last = here;
    here = after_blanks(here, end);
    return last > first && here > last ? here : NULL;
}

/* Read a figure with so many decimals; NULL where it is none. */
static inline const uint8_t *read_figure(const uint8_t *here, const uint8_t *end, int decimals, double *value) {
    int is_negative = here < end && *here == '-';
    here += is_negative;
    const uint8_t *first = here;
    int64_t number = 0;
    for (; here < end && is_digit(*here); here++) {
        if (here - first == MOST_DIGITS) return NULL;
        number = number * 10 + (*here - '0');
    }
    if (here == first || here - first + decimals > MOST_DIGITS) return NULL;
    if (decimals) {
        if (end - here <= decimals || *here++ != '.') return NULL;
        for (int place = 0; place < decimals; place++, here++) {
            if (!is_digit(*here)) return NULL;
            number = number * 10 + (*here - '0');
        }
    }
    double found = (double)number / TENS[decimals];
    *value = is_negative ? -found : found;
    return here;
}

/* The number of empty cells, which are NAN; -1 where a line has another form.
 *
 * `separator` is a blank (any number of blanks or tabs) or one byte, between two of which a cell may be empty. */
int64_t iolab_split(const uint8_t *text, int64_t size, int64_t rows, int64_t words, int64_t columns, int32_t separator,
                    const uint8_t *decimals, double *const *values) {
    const uint8_t *here = text, *end = text + size;
    int64_t empty = 0;
    for (int64_t row = 0; row < rows; row++) {
        if (separator == ' ') here = after_blanks(here, end);
        for (int64_t word = 0; word < words; word++)
            if (!(here = after_word(here, end))) return -1;
        for (int64_t column = 0; column < columns; column++) {
            int is_last = column == columns - 1;
            double *value = values[column] + row;
            if (separator != ' ' && (here == end || *here == '\n' || *here == separator)) {
                *value = NAN;
                empty++;
            } else if (!(here = read_figure(here, end, decimals[column], value))) {
                return -1;
            }
            if (is_last) break;
            if (here == end || (separator == ' ' ? !is_blank(*here) : *here != separator)) return -1;
            here = separator == ' ' ? after_blanks(here, end) : here + 1;
        }
        if (row == rows - 1) break;
        if (here == end || *here++ != '\n') return -1;
    }
    return here == end ? empty : -1;
}
