/* Cuts the cells of regular tables out of an HTML page.
 *
 * Knows the tokens of HTML and the tags of a table, and no report.  A table is regular where it holds rows of as many
 * cells each, no cell spans others but headings that span columns, text stands in cells only, and the tags in a cell
 * lay out text.  What the cells of such a table say does not depend on the rest of the page, nor the rest of the page on
 * them; a heading stands in each column that it spans.  Every other table is
 * reported as irregular, and a page with tables in tables or with elements that change how markup is read (a form's
 * choices, drawings, raw text) is not read at all.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash of the source this library was compiled from. */
const char *iolab_source(void) { return IOLAB_SOURCE; }

/* What is said of a table: offsets in the page of the end of its tag's name, of its content and of its end tag; its rows
 * (0 where it is irregular), cells of a row, leading rows of headings, and the number of its first cell. */
struct table {
    int64_t name_end, content, end, rows, width, heads, first_cell;
};

/* Separates the cells; columns that headings may span, as in ``html.py``; what a tag spans where it is not known. */
enum { SEPARATOR = 0x1F, MAX_SPAN = 200, UNKNOWN_SPAN = -1 };

/* Elements, as far as they matter. */
enum element { OTHER, TABLE, ROW, DATA, HEAD, SECTION, LAYOUT, RAW, HARMFUL };

struct name {
    const char *text;
    enum element element;
};

/* Elements that lay out text; elements whose text is no markup, where they are closed by their own end tag; elements
 * that change how the markup after them is read. */
static const struct name NAMES[] = {
    {"table", TABLE},       {"tr", ROW},           {"td", DATA},         {"th", HEAD},          {"thead", SECTION},
    {"tbody", SECTION},     {"tfoot", SECTION},    {"a", LAYOUT},        {"b", LAYOUT},         {"br", LAYOUT},
    {"div", LAYOUT},        {"font", LAYOUT},      {"i", LAYOUT},        {"span", LAYOUT},      {"pre_sqltext", LAYOUT},
    {"title", RAW},         {"style", RAW},        {"script", RAW},      {"textarea", HARMFUL}, {"xmp", HARMFUL},
    {"iframe", HARMFUL},    {"noembed", HARMFUL},  {"noframes", HARMFUL}, {"noscript", HARMFUL}, {"plaintext", HARMFUL},
    {"select", HARMFUL},    {"svg", HARMFUL},      {"math", HARMFUL},    {"template", HARMFUL}, {"frameset", HARMFUL},
};

/* A tag: what it is, where the page goes on, and how many columns it says to span, 0 where it says nothing. */
struct tag {
    const uint8_t *name, *name_end, *after;
    enum element element;
    int is_end, spans;
};

/* The table that is read: its cells so far, and the text of the last one. */
struct state {
    uint8_t *out, *cell, *blanks; /* `blanks`: where the white space at the end of the text starts, NULL without */
    const uint8_t *limit;         /* as far as cells may be repeated */
    int64_t cells, rows, width, heads, in_row;
    int64_t row_heads, row_filled, row_spans, span;
    int is_row, is_cell, is_head, has_head, breaks, is_irregular;
};

static inline int is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r';
}
static inline uint8_t lower(uint8_t byte) { return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte; }
static inline int is_letter(uint8_t byte) { return lower(byte) >= 'a' && lower(byte) <= 'z'; }

static int is_named(const uint8_t *text, const uint8_t *end, const char *name) {
    for (; text < end && *name; text++, name++)
        if (lower(*text) != (uint8_t)*name) return 0;
    return text == end && !*name;
}

static enum element element_of(const uint8_t *text, const uint8_t *end) {
    if (end - text == 2 && lower(*text) == 't') {
        uint8_t second = lower(text[1]);
        return second == 'd' ? DATA : second == 'r' ? ROW : second == 'h' ? HEAD : OTHER;
    }
    for (size_t number = 0; number < sizeof NAMES / sizeof *NAMES; number++)
        if (is_named(text, end, NAMES[number].text)) return NAMES[number].element;
    return OTHER;
}

/* The number of columns that an attribute says. */
static int span_of(const uint8_t *here, const uint8_t *end) {
    int span = 0;
    while (here < end && *here == ' ') here++;
    for (; here < end && *here >= '0' && *here <= '9' && span <= MAX_SPAN; here++) span = span * 10 + (*here - '0');
    return here == end && span && span <= MAX_SPAN ? span : UNKNOWN_SPAN;
}

/* Read the tag that starts at `here`, which is its `<`; 0 where it has no end. */
static int read_tag(const uint8_t *here, const uint8_t *end, struct tag *tag) {
    tag->is_end = here[1] == '/';
    tag->spans = 0;
    here += 1 + tag->is_end;
    tag->name = here;
    while (here < end && !is_blank(*here) && *here != '/' && *here != '>') here++;
    tag->name_end = here;
    tag->element = element_of(tag->name, here);
    for (;;) {
        while (here < end && (is_blank(*here) || *here == '/')) here++;
        if (here == end) return 0;
        if (*here == '>') {
            tag->after = here + 1;
            return 1;
        }
        const uint8_t *name = here++; /* an equals sign at the start is part of the name */
        while (here < end && !is_blank(*here) && *here != '/' && *here != '>' && *here != '=') here++;
        int spans_columns = here - name == 7 && is_named(name, here, "colspan") && !tag->spans;
        if (here - name == 7 && (is_named(name, here, "colspan") || is_named(name, here, "rowspan")))
            tag->spans = UNKNOWN_SPAN;
        while (here < end && is_blank(*here)) here++;
        if (here == end) return 0;
        if (*here != '=') continue;
        here++;
        while (here < end && is_blank(*here)) here++;
        if (here == end) return 0;
        const uint8_t *value = here;
        if (*here == '"' || *here == '\'') {
            value++;
            here = memchr(value, *here, (size_t)(end - value));
            if (!here) return 0;
            if (spans_columns) tag->spans = span_of(value, here);
            here++;
        } else {
            while (here < end && !is_blank(*here) && *here != '>') here++;
            if (spans_columns) tag->spans = span_of(value, here);
        }
    }
}

/* Where the text of an element that holds no markup ends: at its end tag; NULL where that is not certain. */
static const uint8_t *after_raw(const uint8_t *here, const uint8_t *end, const struct tag *tag) {
    int64_t length = tag->name_end - tag->name;
    while ((here = memchr(here, '<', (size_t)(end - here)))) {
        here++;
        if (end - here > 3 && !memcmp(here, "!--", 3)) return NULL; /* a script in a comment in a script */
        if (end - here <= length + 1 || *here != '/') continue;
        const uint8_t *after = here + 1 + length;
        if (!is_blank(*after) && *after != '/' && *after != '>') continue;
        int64_t place = 0;
        while (place < length && lower(here[1 + place]) == lower(tag->name[place])) place++;
        if (place == length) return here - 1;
    }
    return NULL;
}

/* Put one character of a cell; white space within it that has the end of a line or a no-break space is one blank. */
static inline void put(struct state *state, uint8_t byte) {
    if (state->blanks) {
        if (state->breaks) {
            *state->blanks = ' ';
            state->out = state->blanks + 1;
        }
        state->blanks = NULL;
        state->breaks = 0;
    }
    *state->out++ = byte;
}

static inline void put_blank(struct state *state, uint8_t byte, int breaks) {
    if (state->out == state->cell) return;
    if (!state->blanks) state->blanks = state->out;
    state->breaks |= breaks;
    *state->out++ = byte;
}

struct reference {
    const char *text;
    int length;
    uint8_t byte;
};

/* The references that reports print; 0xA0 is the no-break space. */
static const struct reference REFERENCES[] = {
    {"&#160;", 6, 0xA0}, {"&nbsp;", 6, 0xA0}, {"&lt;", 4, '<'},    {"&gt;", 4, '>'},
    {"&amp;", 5, '&'},   {"&quot;", 6, '"'},  {"&apos;", 6, '\''}, {"&#39;", 5, '\''},
};

/* Read a reference; how many bytes it has, 0 where it is none that is known. */
static int put_reference(struct state *state, const uint8_t *here, const uint8_t *end) {
    for (size_t number = 0; number < sizeof REFERENCES / sizeof *REFERENCES; number++) {
        const struct reference *one = REFERENCES + number;
        if (end - here >= one->length && !memcmp(here, one->text, (size_t)one->length)) {
            if (one->byte == 0xA0)
                put_blank(state, ' ', 1);
            else
                put(state, one->byte);
            return one->length;
        }
    }
    if (end - here > 1 && (here[1] == ' ' || here[1] == '&' || here[1] == '\n' || here[1] == '<')) {
        put(state, '&');
        return 1;
    }
    return 0;
}

/* Text of a table up to `end`; outside cells only white space may stand. */
static void put_text(struct state *state, const uint8_t *here, const uint8_t *end) {
    if (!state->is_cell) {
        for (; here < end; here++)
            if (!is_blank(*here)) state->is_irregular = 1;
        return;
    }
    while (here < end && !state->is_irregular) {
        uint8_t byte = *here;
        if (byte > ' ' && byte < 0x7F && byte != '&') {
            put(state, byte);
            here++;
        } else if (byte == ' ' || byte == '\t' || byte == '\n') {
            put_blank(state, byte, byte == '\n');
            here++;
        } else if (byte == '&') {
            int length = put_reference(state, here, end);
            state->is_irregular = !length;
            here += length;
        } else if (byte == 0xC2 && end - here > 1 && here[1] == 0xA0) {
            put_blank(state, ' ', 1);
            here += 2;
        } else {
            /* control characters, and letters that may be white space or its neighbours */
            state->is_irregular = byte < 0x80 || (byte == 0xC2 && end - here > 1 && here[1] < 0xA0) || byte == 0xE1 ||
                                  byte == 0xE2 || byte == 0xE3;
            put(state, byte);
            here++;
        }
    }
}

static void end_cell(struct state *state) {
    if (!state->is_cell) return;
    if (state->blanks) state->out = state->blanks;
    if (state->is_head)
        state->row_heads++;
    else if (state->out > state->cell)
        state->row_filled++;
    *state->out++ = SEPARATOR;
    state->blanks = NULL;
    state->breaks = state->is_cell = 0;
    state->in_row += state->span;
    int64_t length = state->out - state->cell;
    if (state->in_row > MAX_SPAN && state->span > 1) state->is_irregular = 1;
    if (length * (state->span - 1) > state->limit - state->out) state->is_irregular = 1;
    for (; state->span > 1 && !state->is_irregular; state->span--, state->out += length)
        memcpy(state->out, state->cell, (size_t)length);
}

static void end_row(struct state *state) {
    if (!state->is_row) return;
    end_cell(state);
    if (!state->in_row || (state->rows && state->in_row != state->width)) state->is_irregular = 1;
    state->width = state->in_row;
    /* a row of headings, blank cells among them; one that only starts with a heading is none */
    int is_heading = !state->row_filled &&
                     (state->row_heads > 1 ||
                      (state->row_heads == 1 && (state->in_row == state->row_heads || state->row_spans)));
    if (is_heading && state->heads == state->rows)
        state->heads++;
    else if (state->row_spans)
        state->is_irregular = 1;
    state->rows++;
    state->cells += state->in_row;
    state->is_row = 0;
}

static void start_cell(struct state *state, int is_head, int spans) {
    if (!state->is_row) state->is_irregular = 1;
    end_cell(state);
    state->is_cell = 1;
    state->is_head = is_head;
    state->has_head |= is_head;
    state->span = spans ? spans : 1;
    state->row_spans += spans > 0;
    state->cell = state->out;
}

/* A tag within a table. */
static void take_tag(struct state *state, const struct tag *tag) {
    if (tag->spans && (tag->element != HEAD || tag->is_end || tag->spans == UNKNOWN_SPAN)) {
        state->is_irregular = 1;
        return;
    }
    switch (tag->element) {
    case ROW:
        end_row(state);
        if (!tag->is_end) {
            state->is_row = 1;
            state->in_row = state->row_heads = state->row_filled = state->row_spans = 0;
        }
        break;
    case DATA:
    case HEAD:
        if (!tag->is_end)
            start_cell(state, tag->element == HEAD, tag->spans);
        else if (state->is_cell && state->is_head == (tag->element == HEAD))
            end_cell(state);
        else
            state->is_irregular = 1;
        break;
    case SECTION:
        if (state->is_row) state->is_irregular = 1;
        break;
    case LAYOUT:
        if (!state->is_cell) state->is_irregular = 1;
        break;
    default:
        state->is_irregular = 1;
    }
}

/* Scan a page of `size` bytes of UTF-8.  The cells of regular tables go to `out` (as many bytes as the page has), each
 * followed by SEPARATOR; their number of bytes to `used`, and to `has_heads` whether one of them has a `th`.
 * Returns the number of tables, -1 where the page is not regular or has more than `most`. */
int64_t iolab_scan_page(const uint8_t *page, int64_t size, uint8_t *out, struct table *tables, int64_t most,
                        int64_t *used, int64_t *has_heads) {
    const uint8_t *here = page, *end = page + size;
    struct state state = {0};
    struct table *table = NULL;
    int64_t count = 0, cells = 0;
    uint8_t *begin = out;
    state.out = out;
    *has_heads = 0;
    while (here < end) {
        const uint8_t *sign = memchr(here, '<', (size_t)(end - here));
        while (sign && end - sign > 1 && !is_letter(sign[1]) && sign[1] != '/' && sign[1] != '!' && sign[1] != '?')
            sign = memchr(sign + 1, '<', (size_t)(end - sign - 1)); /* no tag: a sign of the text */
        if (!sign) sign = end;
        if (table && !state.is_irregular) put_text(&state, here, sign);
        if (sign == end) break;
        if (end - sign < 3) return -1;
        if (sign[1] == '?' || (sign[1] == '!' && sign[2] != '-')) { /* a declaration ends at the next > */
            if (table) state.is_irregular = 1;
            here = memchr(sign, '>', (size_t)(end - sign));
            if (!here) return -1;
            here++;
            continue;
        }
        if (sign[1] == '!' || (sign[1] == '/' && !is_letter(sign[2]))) return -1; /* a comment */
        struct tag tag;
        if (!read_tag(sign, end, &tag) || tag.element == HARMFUL) return -1;
        here = tag.after;
        if (tag.element == RAW && !tag.is_end) {
            here = after_raw(here, end, &tag);
            if (!here) return -1;
        }
        if (tag.element == TABLE && !tag.is_end) {
            if (table || count == most) return -1;
            table = tables + count++;
            *table = (struct table){tag.name_end - page, here - page, size, 0, 0, 0, cells};
            state = (struct state){.out = begin};
        } else if (tag.element == TABLE && table) {
            state.limit = out + (sign - page);
            end_row(&state);
            table->end = sign - page;
            if (!state.is_irregular && state.rows) {
                table->rows = state.rows;
                table->width = state.width;
                table->heads = state.heads;
                cells += state.cells;
                begin = state.out;
                *has_heads |= state.has_head;
            }
            table = NULL;
        } else if (table && !state.is_irregular) {
            state.limit = out + (sign - page);
            take_tag(&state, &tag);
        }
    }
    *used = begin - out;
    return count;
}
