#include "codec/xmp.h"

#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = 64, MAX_BINDINGS = 128, MAX_ATTRIBUTES = 512, MAX_NAME = 80 };

/* Known namespaces. For each, the properties that reveal a location (pressure and depth reveal the altitude)
 * or hold other files' metadata, separated by spaces. In every namespace, a property whose name begins with
 * GPS reveals a location. */
static const struct space {
    const char *uri, *excluded;
} spaces[] = {
    {"http://www.w3.org/1999/02/22-rdf-syntax-ns#", ""},
    {"adobe:ns:meta/", ""},
    {"http://www.w3.org/XML/1998/namespace", ""},
    {"http://purl.org/dc/elements/1.1/", " coverage "},
    {"http://ns.adobe.com/xap/1.0/", ""},
    {"http://ns.adobe.com/xap/1.0/rights/", ""},
    {"http://ns.adobe.com/xap/1.0/mm/", " Pantry "},
    {"http://ns.adobe.com/xap/1.0/sType/ResourceEvent#", ""},
    {"http://ns.adobe.com/xap/1.0/sType/ResourceRef#", ""},
    {"http://ns.adobe.com/xap/1.0/sType/Version#", ""},
    {"http://ns.adobe.com/xap/1.0/sType/Dimensions#", ""},
    {"http://ns.adobe.com/xap/1.0/t/pg/", ""},
    {"http://ns.adobe.com/xmp/note/", ""},
    {"http://ns.adobe.com/tiff/1.0/", ""},
    {"http://ns.adobe.com/exif/1.0/", " Pressure WaterDepth "},
    {"http://cipa.jp/exif/1.0/", " Pressure WaterDepth "},
    {"http://ns.adobe.com/exif/1.0/aux/", ""},
    {"http://ns.adobe.com/photoshop/1.0/", " City State Country "},
    {"http://ns.adobe.com/camera-raw-settings/1.0/", ""},
    {"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", " Location CountryCode "},
    {"http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
        " LocationCreated LocationShown LocationId LocationName City CountryCode CountryName ProvinceState "
        "Sublocation WorldRegion "},
    {"http://ns.useplus.org/ldf/xmp/1.0/", ""},
    {"http://creativecommons.org/ns#", ""},
};
enum { RDF = 0, META = 1, XML = 2, NOTE = 12, UNKNOWN = -1 };
static const char thumbnails[] = "Thumbnails", makers_note[] = "MakerNote";

typedef struct slice {
    const char *at;
    size_t size;
} slice;

static bool is(slice s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.at, text, s.size) == 0;
}

/* A declaration xmlns:prefix="uri", valid below the element of this depth. */
typedef struct binding {
    slice prefix, uri;
    int space; /* row of the table, or UNKNOWN */
    int depth;
} binding;

typedef struct attribute {
    slice whole; /* including the space before it */
    slice name, value;
} attribute;

typedef struct cleaner {
    const char *at, *end;
    lap_xmp_rule rule;
    bool extended;
    lap_meta_drops *drops;
    bool keeps_any; /* a property was emitted */
    char *to;
    slice open[MAX_DEPTH]; /* names of the open elements */
    int space[MAX_DEPTH];  /* their namespaces; UNKNOWN outside RDF, where an element's text is its value */
    int depth;
    int gone; /* depth of the element that is dropped with its contents; 0: no element is dropped */
    binding bindings[MAX_BINDINGS];
    int bound;
    attribute attributes[MAX_ATTRIBUTES];
    int count;
} cleaner;

/* ---- names --------------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_byte_order_mark(char c)
{
    return (unsigned char)c == 0xEF || (unsigned char)c == 0xBB || (unsigned char)c == 0xBF;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

static void split(slice name, slice *prefix, slice *local)
{
    const char *colon = memchr(name.at, ':', name.size);
    *prefix = (slice){name.at, colon ? (size_t)(colon - name.at) : 0};
    *local = colon ? (slice){colon + 1, name.size - prefix->size - 1} : name;
}

/* Finds the row of a prefix's namespace; false: the prefix is not declared. */
static bool find_space(const cleaner *c, slice prefix, int *space, slice *uri)
{
    *uri = (slice){"", 0};
    *space = XML;
    if (is(prefix, "xml"))
        return true;
    for (int i = c->bound - 1; i >= 0; i--)
        if (c->bindings[i].prefix.size == prefix.size &&
            memcmp(c->bindings[i].prefix.at, prefix.at, prefix.size) == 0) {
            *space = c->bindings[i].space;
            *uri = c->bindings[i].uri;
            return true;
        }
    *space = UNKNOWN;
    return false;
}

/* Returns how many bytes of white space stand here: one character or its reference. Returns 0 if the text
 * goes on with something else. */
static size_t blank_at(const char *at, const char *end)
{
    static const char *const references[] = {
        "&#9;", "&#10;", "&#13;", "&#32;", "&#x9;", "&#xA;", "&#xD;", "&#x20;"};
    if (at < end && is_space(*at))
        return 1;
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        const size_t size = strlen(references[i]);
        if ((size_t)(end - at) >= size && strncasecmp(at, references[i], size) == 0)
            return size;
    }
    return 0;
}

static const char *skip_blank(const char *at, const char *end)
{
    for (size_t size = blank_at(at, end); size > 0; size = blank_at(at, end))
        at += size;
    return at;
}

/* Whether text that the rule examines begins with a JPEG's first three bytes in base64.
 * "data:image/jpeg;base64," may stand before them. */
static bool begins_as_jpeg(const cleaner *c, const char *at, const char *end)
{
    static const char scheme[] = "data:", photo[] = "/9j/";
    at = skip_blank(at, end);
    if ((size_t)(end - at) >= sizeof scheme && strncasecmp(at, scheme, sizeof scheme - 1) == 0) {
        while (at < end && *at != ',' && *at != '<')
            at++;
        at = skip_blank(at + (at < end), end);
    }
    return c->rule != LAP_XMP_REFERENCE && (size_t)(end - at) >= sizeof photo - 1 &&
           memcmp(at, photo, sizeof photo - 1) == 0;
}

static bool bind(cleaner *c, slice prefix, slice uri)
{
    if (c->bound == MAX_BINDINGS || memchr(uri.at, '&', uri.size) ||
        begins_as_jpeg(c, uri.at, uri.at + uri.size))
        return false;
    binding *b = &c->bindings[c->bound++];
    *b = (binding){prefix, uri, UNKNOWN, c->depth};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (is(uri, spaces[i].uri))
            b->space = (int)i;
    return true;
}

static bool is_excluded(int space, slice local)
{
    char word[MAX_NAME + 2];
    if (local.size >= 3 && strncasecmp(local.at, "GPS", 3) == 0)
        return true;
    if (local.size >= MAX_NAME)
        return true;
    snprintf(word, sizeof word, " %.*s ", (int)local.size, local.at);
    return strstr(spaces[space].excluded, word) != NULL;
}

/* Returns what a property embeds: Adobe's thumbnails, Google's originals and depth maps, or a maker's note;
 * else NULL. */
static const char *embedded(slice uri, slice local)
{
    if (is(uri, "http://ns.adobe.com/xap/1.0/g/img/") || is(uri, "http://ns.google.com/photos/1.0/image/") ||
        is(uri, "http://ns.google.com/photos/1.0/depthmap/") ||
        (is(uri, "http://ns.adobe.com/xap/1.0/") && is(local, thumbnails)))
        return "thumbnail";
    return is(uri, "http://ns.adobe.com/exif/1.0/") && is(local, makers_note) ? "maker's note" : NULL;
}

/* Returns why a property is dropped; NULL: it is kept. *sure is false if its prefix is not declared. */
static const char *why(const cleaner *c, slice name, bool is_attribute, bool *sure)
{
    slice prefix, local, uri;
    int space;
    split(name, &prefix, &local);
    const bool found = find_space(c, prefix, &space, &uri);
    if (!found && prefix.size > 0)
        *sure = false;
    const char *reason = c->rule == LAP_XMP_REFERENCE ? NULL : embedded(uri, local);
    if (reason)
        return reason;
    if (space == NOTE && !c->extended && is(local, "HasExtendedXMP"))
        return "its continuation is left out";
    if (c->rule != LAP_XMP_HARMLESS)
        return NULL;
    if (is_attribute && prefix.size == 0) /* old packets omit the prefix of RDF attributes */
        return is(local, "about") || is(local, "ID") || is(local, "parseType") || is(local, "resource")
                   ? NULL
                   : "unknown property";
    if (space == UNKNOWN)
        return "unknown property";
    return is_excluded(space, local) ? "location" : NULL;
}

static void tell(const cleaner *c, slice name, size_t bytes, const char *reason)
{
    char text[MAX_NAME];
    snprintf(text, sizeof text, "%.*s", (int)(name.size < MAX_NAME ? name.size : MAX_NAME - 1), name.at);
    lap_meta_drop(
        c->drops, &(lap_dropped){
                      .kind = "XMP", .where = "", .name = text, .tag = -1, .bytes = bytes, .reason = reason});
}

static void emit(cleaner *c, const char *from, const char *end)
{
    if (c->gone)
        return;
    memcpy(c->to, from, (size_t)(end - from));
    c->to += end - from;
}

/* ---- tags ---------------------------------------------------------------------------------------- */

static slice take_name(cleaner *c)
{
    const char *begin = c->at;
    while (c->at < c->end && is_name(*c->at))
        c->at++;
    return (slice){begin, (size_t)(c->at - begin)};
}

static void skip_space(cleaner *c)
{
    while (c->at < c->end && is_space(*c->at))
        c->at++;
}

static bool take_attribute(cleaner *c, attribute *a)
{
    const char *begin = c->at;
    skip_space(c);
    if (c->at == begin)
        return false;
    a->name = take_name(c);
    skip_space(c);
    if (a->name.size == 0 || c->at == c->end || *c->at++ != '=')
        return false;
    skip_space(c);
    if (c->at == c->end || (*c->at != '"' && *c->at != '\''))
        return false;
    const char quote = *c->at++;
    const char *close = memchr(c->at, quote, (size_t)(c->end - c->at));
    if (!close || memchr(c->at, '<', (size_t)(close - c->at)))
        return false;
    a->value = (slice){c->at, (size_t)(close - c->at)};
    c->at = close + 1;
    a->whole = (slice){begin, (size_t)(c->at - begin)};
    return true;
}

/* Processes all attributes of a tag whose declarations are in force. False: this is not plain XML. */
static bool take_attributes(cleaner *c)
{
    for (c->count = 0;; c->count++) {
        const char *look = c->at;
        while (look < c->end && is_space(*look))
            look++;
        if (look == c->end)
            return false;
        if (*look == '>' || *look == '/')
            return true;
        if (c->count == MAX_ATTRIBUTES || !take_attribute(c, &c->attributes[c->count]))
            return false;
        const attribute *a = &c->attributes[c->count];
        slice prefix, local;
        split(a->name, &prefix, &local);
        if (is(a->name, "xmlns") && !bind(c, (slice){"", 0}, a->value))
            return false;
        if (is(prefix, "xmlns") && !bind(c, local, a->value))
            return false;
    }
}

static bool is_declaration(slice name)
{
    return is(name, "xmlns") || (name.size > 6 && memcmp(name.at, "xmlns:", 6) == 0);
}

/* Whether a name is a property, not a part of RDF or of the text around it. */
static bool is_property(const cleaner *c, slice name)
{
    slice prefix, local, uri;
    int space;
    split(name, &prefix, &local);
    find_space(c, prefix, &space, &uri);
    return !is_declaration(name) && uri.size > 0 && space != RDF && space != META;
}

static bool put_attributes(cleaner *c)
{
    bool sure = true;
    for (int i = 0; i < c->count; i++) {
        const attribute *a = &c->attributes[i];
        const char *reason = is_declaration(a->name) ? NULL : why(c, a->name, true, &sure);
        if (!reason && begins_as_jpeg(c, a->value.at, a->value.at + a->value.size))
            reason = "thumbnail";
        if (!reason) {
            emit(c, a->whole.at, a->whole.at + a->whole.size);
            c->keeps_any |= is_property(c, a->name);
        } else if (!c->gone)
            tell(c, a->name, a->whole.size, reason);
    }
    return sure;
}

static void leave(cleaner *c)
{
    if (c->gone == c->depth)
        c->gone = 0;
    c->depth--;
    while (c->bound > 0 && c->bindings[c->bound - 1].depth > c->depth)
        c->bound--;
}

static bool open_tag(cleaner *c)
{
    const char *begin = c->at++;
    const slice name = take_name(c);
    bool sure = true;
    slice prefix, local, uri;
    if (name.size == 0 || ++c->depth == MAX_DEPTH || !take_attributes(c))
        return false;
    const char *tail = c->at;
    skip_space(c);
    const bool empty = c->at < c->end && *c->at == '/';
    c->at += empty;
    if (c->at == c->end || *c->at++ != '>')
        return false;
    split(name, &prefix, &local);
    find_space(c, prefix, &c->space[c->depth], &uri);
    c->open[c->depth] = name;
    if (!c->gone) {
        const char *reason = why(c, name, false, &sure);
        if (!reason && !empty && begins_as_jpeg(c, c->at, c->end))
            reason = "thumbnail";
        if (reason) {
            tell(c, name, (size_t)(c->at - begin), reason);
            c->gone = c->depth;
        } else {
            c->keeps_any |= is_property(c, name);
        }
    }
    emit(c, begin, name.at + name.size);
    if (!c->gone && !put_attributes(c))
        return false;
    emit(c, tail, c->at);
    if (empty)
        leave(c);
    return sure;
}

static bool close_tag(cleaner *c)
{
    const char *begin = c->at;
    c->at += 2;
    const slice name = take_name(c);
    skip_space(c);
    if (c->depth == 0 || c->at == c->end || *c->at++ != '>')
        return false;
    const slice open = c->open[c->depth];
    if (name.size != open.size || memcmp(name.at, open.at, name.size) != 0)
        return false;
    emit(c, begin, c->at);
    leave(c);
    return true;
}

/* Processes text between elements, which is the value of the enclosing element. Between properties there is
 * only white space. */
static bool text(cleaner *c)
{
    const char *begin = c->at, *next = memchr(begin, '<', (size_t)(c->end - begin));
    bool blank = true;
    c->at = next ? next : c->end;
    for (const char *p = begin; p < c->at && blank; p++)
        blank = is_space(*p) || is_byte_order_mark(*p) || (*p == 0 && c->depth == 0);
    slice prefix = {"", 0}, local = {"", 0};
    if (c->depth > 0)
        split(c->open[c->depth], &prefix, &local);
    const bool around = c->depth == 0 || c->space[c->depth] == META ||
                        (c->space[c->depth] == RDF && (is(local, "RDF") || is(local, "Description")));
    if (!blank && around && c->rule == LAP_XMP_HARMLESS)
        return false;
    if (!begins_as_jpeg(c, begin, c->at))
        emit(c, begin, c->at);
    else if (!c->gone) /* behind a comment or an element: open_tag has looked at the beginning */
        tell(c, c->depth ? c->open[c->depth] : local, (size_t)(c->at - begin), "thumbnail");
    return true;
}

/* Keeps <?xpacket ...?>; drops other instructions and comments, whose meaning is unknown. */
static bool aside(cleaner *c, size_t head, const char *stop)
{
    static const char packet[] = "<?xpacket ";
    enum { LONGEST = 80 };
    const char *begin = c->at, *body = begin + head;
    const char *end = memmem(body, (size_t)(c->end - body), stop, strlen(stop));
    if (!end)
        return false;
    c->at = end + strlen(stop);
    const size_t size = (size_t)(c->at - begin);
    if (c->rule != LAP_XMP_HARMLESS ||
        (size >= sizeof packet && size < LONGEST && memcmp(begin, packet, sizeof packet - 1) == 0))
        emit(c, begin, c->at);
    return true;
}

static bool step(cleaner *c)
{
    const size_t left = (size_t)(c->end - c->at);
    if (*c->at != '<')
        return text(c);
    if (left >= 4 && memcmp(c->at, "<!--", 4) == 0)
        return aside(c, 4, "-->");
    if (left >= 2 && c->at[1] == '?')
        return aside(c, 2, "?>");
    if (left >= 2 && c->at[1] == '/')
        return close_tag(c);
    return left >= 2 && c->at[1] != '!' && open_tag(c);
}

bool lap_xmp_clean(
    const uint8_t *packet, size_t size, const lap_xmp_cleaning *cleaning, uint8_t *to, size_t *to_size)
{
    /* The first pass reports nothing, because it may still fail. */
    for (int round = 0; round < 2; round++) {
        cleaner c = {.at = (const char *)packet,
            .end = (const char *)packet + size,
            .rule = cleaning->rule,
            .extended = cleaning->extended,
            .drops = round ? cleaning->drops : NULL,
            .to = (char *)to};
        while (c.at < c.end)
            if (!step(&c))
                return false;
        if (c.depth != 0)
            return false;
        *to_size = (size_t)(c.to - (char *)to);
        if (cleaning->keeps_any)
            *cleaning->keeps_any = c.keeps_any;
    }
    return true;
}

/* Whether text contains a word whose letters are this number of bytes apart: 1 for UTF-8, 2 and 4 for UTF-16
 * and UTF-32 of either byte order. */
static bool has_word(const uint8_t *text, size_t size, const char *word, size_t apart)
{
    enum { LONGEST = 24, WIDEST = 4 };
    char spread[LONGEST * WIDEST] = {0};
    const size_t length = strlen(word);
    for (size_t i = 0; i < length; i++)
        spread[i * apart] = word[i];
    return memmem(text, size, spread, (length - 1) * apart + 1) != NULL;
}

bool lap_xmp_has_picture(const uint8_t *packet, size_t size)
{
    static const char *const signs[] = {
        "/9j/", "xap/1.0/g/img/", thumbnails, "photos/1.0/image/", "photos/1.0/depthmap/", makers_note};
    const size_t widest = size > 0 && memchr(packet, 0, size) ? 4 : 1;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        for (size_t apart = 1; apart <= widest; apart *= 2)
            if (has_word(packet, size, signs[i], apart))
                return true;
    return false;
}
