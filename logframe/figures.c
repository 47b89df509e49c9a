/* Reads columns of printed numbers: values, and the bounds of what prints that way.
 *
 * Knows no format.  A plain number is digits, in groups of three or not, with a sign and decimals or without, and no
 * unit.  It has so few digits that a double holds twice its digits and one more, so that each result is one division
 * of two exact numbers, rounded once.  Every other cell is left to the caller.
 */
#include <stddef.h>
#include <stdint.h>

/* The hash of the source this library was compiled from. */
const char *iolab_source(void) { return IOLAB_SOURCE; }

/* Separates cells; digits of a number at most. */
/* A cell longer than LONGEST is no figure, and its decimals are none: `logframe.printed.MOST_DIGITS`. */
enum { SEPARATOR = 0x1F, MOST_DIGITS = 15, LONGEST = 60 };

/* What a cell is: a plain number, blank or N/A, or for the caller. */
enum { PLAIN, BLANK, OTHER };

/* A column: its number of cells, whether a whole number is exact, whether only whole numbers are plain, whether whole
 * numbers have lost the decimals that other cells show, whether all cells but blank ones are for the caller, and what the
 * numbers are multiplied with and divided by. */
struct column {
    int64_t cells, is_exact, is_whole, has_decimals, is_unread;
    double factor, divisor;
};

static const double TENS[MOST_DIGITS + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

/* What one cell says. */
struct cell {
    int64_t number, shown; /* its digits, and how many of them are decimals */
    int kind, is_negative;
};

/* Read a cell up to the separator; `*decimals` grows to those that it shows, whatever stands before them. */
static const uint8_t *read_cell(const uint8_t *here, const uint8_t *end, struct cell *cell, int64_t *decimals) {
    const uint8_t *first = here;
    int64_t digits = 0, commas = 0, since = 0, lead = 0, number = 0;
    int is_grouped = 1;
    *cell = (struct cell){0, 0, OTHER, 0};
    if (here < end && *here == '-') {
        cell->is_negative = 1;
        here++;
    }
    for (; here < end && (is_digit(*here) || *here == ','); here++) {
        if (*here == ',') {
            if (!commas)
                lead = since;
            else if (since != 3)
                is_grouped = 0;
            commas++;
            since = 0;
        } else {
            if (digits++ < MOST_DIGITS) number = number * 10 + (*here - '0');
            since++;
        }
    }
    if (commas && (since != 3 || lead < 1 || lead > 3)) is_grouped = 0;
    int has_point = here < end && *here == '.';
    if (has_point) {
        here++;
        for (; here < end && is_digit(*here); here++) {
            if (digits++ < MOST_DIGITS) number = number * 10 + (*here - '0');
            cell->shown++;
        }
    }
    int is_read = here == end || *here == SEPARATOR;
    if (is_read && cell->shown > *decimals && here - first <= LONGEST) *decimals = cell->shown;
    if (here == first) {
        /* N/A is as good as nothing */
        if (is_read || (end - here >= 3 && here[0] == 'N' && here[1] == '/' && here[2] == 'A' &&
                        (end - here == 3 || here[3] == SEPARATOR)))
            cell->kind = BLANK;
    } else if (is_read && is_grouped && digits && digits <= MOST_DIGITS && (!has_point || cell->shown)) {
        cell->kind = PLAIN;
        cell->number = number;
    }
    while (here < end && *here != SEPARATOR) here++;
    return here < end ? here + 1 : end;
}

/* Read `count` columns of cells, one after the other, each cell followed by SEPARATOR.  Writes of each cell its kind,
 * and of a plain one the value and its bounds. */
void iolab_read_figures(const uint8_t *here, int64_t size, const struct column *columns, int64_t count, uint8_t *kinds,
                        double *values, double *lows, double *highs) {
    const uint8_t *end = here + size;
    for (; count--; columns++) {
        const uint8_t *first = here;
        int64_t decimals = 0, none = 0;
        struct cell cell;
        if (columns->has_decimals)
            for (int64_t row = 0; row < columns->cells; row++) here = read_cell(here, end, &cell, &decimals);
        here = first;
        for (int64_t row = 0; row < columns->cells; row++) {
            here = read_cell(here, end, &cell, &none);
            if (columns->is_unread && cell.kind == PLAIN) cell.kind = OTHER;
            int64_t printed = cell.shown > decimals ? cell.shown : decimals;
            *kinds = (uint8_t)cell.kind;
            *values = *lows = *highs = 0.0;
            if (cell.kind == PLAIN) {
                int64_t number = cell.number, missing = printed - cell.shown;
                if (printed > MOST_DIGITS || (columns->is_whole && cell.shown)) *kinds = OTHER;
                while (missing-- > 0 && number <= INT64_C(999999999999999)) number *= 10;
                if (number > INT64_C(999999999999999)) *kinds = OTHER;
                if (*kinds == PLAIN) {
                    int64_t half = !columns->is_exact || printed;
                    int64_t low = 2 * number - half, high = 2 * number + half;
                    double divide = 2.0 * TENS[printed];
                    double value = 2.0 * (double)number / divide, least = (double)(low > 0 ? low : 0) / divide,
                           most = (double)high / divide;
                    if (cell.is_negative) {
                        double other = -least;
                        value = -value;
                        least = -most;
                        most = other;
                    }
                    *values = value * columns->factor / columns->divisor;
                    *lows = least * columns->factor / columns->divisor;
                    *highs = most * columns->factor / columns->divisor;
                }
            }
            kinds++, values++, lows++, highs++;
        }
    }
}
