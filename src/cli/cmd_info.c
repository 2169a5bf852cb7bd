/* info: shows what a file consists of, and which code would process it, without decoding it. */
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/sandbox/sandbox.h"
#include "cli/term.h"

/* Returns "4:2:0" and the like for the three layouts with a name; else NULL. */
static const char *sampling_name(const lap_info *i)
{
    const bool plain = i->components == 3 && i->sample_h[1] == 1 && i->sample_v[1] == 1 &&
                       i->sample_h[2] == 1 && i->sample_v[2] == 1;
    if (!plain || i->sample_v[0] > 2 || i->sample_h[0] > 2)
        return NULL;
    if (i->sample_h[0] == 1)
        return i->sample_v[0] == 1 ? "4:4:4" : "4:4:0";
    return i->sample_v[0] == 1 ? "4:2:2" : "4:2:0";
}

/* Gray, or three components where only the first may have a higher resolution, at most twice. */
static bool has_usual_sampling(const lap_info *i)
{
    const bool has_chroma = i->components == 3 && i->sample_h[0] <= 2 && i->sample_v[0] <= 2;
    return i->components == 1 || (has_chroma && i->sample_h[1] == 1 && i->sample_v[1] == 1 &&
                                     i->sample_h[2] == 1 && i->sample_v[2] == 1);
}

static bool has_parts(const lap_info *i)
{
    return i->longest_scan > 0 || (i->frame && strcmp(i->frame, "progressive") != 0 && !i->arithmetic &&
                                      i->scans == 1 && has_usual_sampling(i));
}

static const char *backend_here(void)
{
    lap_rung_info rung;
    for (int i = 0; lap_rung_at(LAP_OP_FILTER, i, false, &rung); i++)
        if (strcmp(rung.name, "auto") == 0)
            return rung.resolved;
    return NULL;
}

/* ---- what a run would leave out ------------------------------------------------------------------ */

static void add_row(void *user, const lap_dropped *d)
{
    char tag[12] = "";
    if (d->tag >= 0 && strcmp(d->where, "IPTC") == 0)
        snprintf(tag, sizeof tag, "%d:%02d", d->tag >> 8, d->tag & 255);
    else if (d->tag >= 0)
        snprintf(tag, sizeof tag, "0x%04X", (unsigned)d->tag & 0xFFFF);
    json_array_append_new(user,
        json_pack("{ss so so so ss sI}", "kind", d->kind, "place", lap_json_text(*d->where ? d->where : NULL),
            "tag", lap_json_text(*tag ? tag : NULL), "name", lap_json_text(*d->name ? d->name : NULL),
            "reason", d->reason, "bytes", (json_int_t)d->bytes));
}

/* Prints one line per row. */
static void print_rows(const lap_cli *cli, const json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *place = json_string_value(json_object_get(row, "place"));
        const char *tag = json_string_value(json_object_get(row, "tag"));
        const char *name = json_string_value(json_object_get(row, "name"));
        printf("%s %s",
            i                    ? "              "
            : cli->settings.keep ? "  not kept    "
                                 : "  left out    ",
            json_string_value(json_object_get(row, "kind")));
        const char *words[] = {place, tag, name};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (words[k]) {
                putchar(' ');
                lap_cli_print_safely(stdout, words[k]);
            }
        printf(", %lld bytes: %s\n", (long long)json_integer_value(json_object_get(row, "bytes")),
            json_string_value(json_object_get(row, "reason")));
    }
}

/* ---- the command --------------------------------------------------------------------------------- */

static int print_json(const char *path, const lap_info *i, json_t *rows)
{
    json_t *object = lap_json_object("lapedge.info/1"), *sampling = json_array(), *metadata = json_object();
    lap_json_path(object, "input", path);
    for (int c = 0; i->frame && c < i->components && c < 4; c++)
        json_array_append_new(sampling, json_pack("[ii]", i->sample_h[c], i->sample_v[c]));
    for (size_t k = 0; k < i->metadata_count; k++)
        json_object_set_new(metadata, i->metadata[k].kind,
            json_pack(
                "{si sI}", "segments", i->metadata[k].segments, "bytes", (json_int_t)i->metadata[k].bytes));
    json_object_set_new(object, "format", json_string(i->format));
    json_object_set_new(object, "bytes", json_integer((json_int_t)i->bytes));
    json_object_set_new(object, "width", json_integer(i->width));
    json_object_set_new(object, "height", json_integer(i->height));
    json_object_set_new(object, "components", json_integer(i->components));
    json_object_set_new(object, "frame", lap_json_text(i->frame));
    json_object_set_new(object, "arithmetic", json_boolean(i->arithmetic));
    json_object_set_new(object, "sampling", sampling);
    json_object_set_new(object, "quantization_tables", json_integer(i->quantization_tables));
    json_object_set_new(object, "huffman_tables", json_integer(i->huffman_tables));
    json_object_set_new(object, "restart_interval", json_integer(i->restart_interval));
    json_object_set_new(object, "scans", json_integer(i->scans));
    json_object_set_new(object, "orientation", json_integer(i->orientation));
    json_object_set_new(object, "metadata", metadata);
    json_object_set(object, "left_out", rows);
    json_object_set_new(object, "decodes_in_parallel", json_boolean(has_parts(i)));
    json_object_set_new(object, "backend", lap_json_text(backend_here()));
    return lap_json_print(object);
}

static void print_jpeg(const lap_info *i)
{
    const char *name = sampling_name(i);
    printf("  frame        %s, %s coding\n", i->frame, i->arithmetic ? "arithmetic" : "Huffman");
    fputs("  sampling    ", stdout);
    for (int c = 0; c < i->components && c < 4; c++)
        printf(" %dx%d", i->sample_h[c], i->sample_v[c]);
    printf("%s%s%s\n", name ? " (" : "", name ? name : "", name ? ")" : "");
    printf("  tables       %d quantization, %d Huffman\n", i->quantization_tables, i->huffman_tables);
    if (i->restart_interval > 0)
        printf("  restart      every %d MCUs\n", i->restart_interval);
    else
        puts("  restart      none");
    printf("  scans        %d", i->scans);
    if (i->longest_scan > 0)
        printf("; scan %d has %d %% of the bytes", i->longest_scan, i->longest_percent);
    puts("");
}

static void print_text(const lap_cli *cli, const char *path, const lap_info *i, const json_t *rows)
{
    fputs(lap_term_bold(cli, stdout), stdout);
    lap_cli_print_safely(stdout, path);
    printf("%s: %s, %llu bytes\n", lap_term_plain(cli, stdout), i->format, (unsigned long long)i->bytes);
    printf("  size         %d x %d, %d component%s\n", i->width, i->height, i->components,
        i->components == 1 ? "" : "s");
    if (i->frame)
        print_jpeg(i);
    printf("  orientation  %d%s\n", i->orientation,
        i->orientation == 1 ? "" : " (EXIF; --auto-orient rotates it)");
    fputs("  metadata    ", stdout);
    for (size_t k = 0; k < i->metadata_count; k++)
        printf(
            "%s %s %llu bytes", k ? "," : "", i->metadata[k].kind, (unsigned long long)i->metadata[k].bytes);
    puts(i->metadata_count ? "" : " none");
    print_rows(cli, rows);
    printf("  would run    %s", backend_here());
    puts(!i->frame ? "" : has_parts(i) ? "; can be decoded by several threads" : "; decoded by one thread");
}

int lap_cli_info(lap_cli *cli)
{
    lap_info info;
    lap_error err = {0};
    if (cli->operand_count != 1)
        return lap_cli_usage(
            cli->operand_count ? "info takes one FILE" : "FILE is missing: lapedge info FILE");
    json_t *rows = json_array();
    lap_code code = cli->sandbox ? lap_cli_sandbox(cli, &err) : LAP_OK;
    if (code == LAP_OK)
        code = lap_info_dropped(cli->operands[0], &cli->settings, &info, add_row, rows, &err);
    if (code != LAP_OK) {
        json_decref(rows);
        lap_cli_print_error(&err, cli->operands[0]);
        return (int)lap_cli_exit_of(code);
    }
    const int printed = lap_cli_wants_json(cli) ? print_json(cli->operands[0], &info, rows) : LAP_EXIT_OK;
    if (!cli->json)
        print_text(cli, cli->operands[0], &info, rows);
    json_decref(rows);
    return printed;
}
