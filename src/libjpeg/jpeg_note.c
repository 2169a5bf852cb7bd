#include "libjpeg/jpeg_note.h"

#include <limits.h>
#include <stdio.h>

#include "base/status.h"

/* Returns how far the entropy decoder is, in percent of the image; of the scan if there are several. */
static int percent_done(const lap_jpeg_reader *r)
{
    JDIMENSION total = r->cinfo.total_iMCU_rows;
    return total ? (int)(100.0 * r->cinfo.input_iMCU_row / total) : 0;
}

static bool is_refused(const lap_jpeg_reader *r, lap_jpeg_class class)
{
    lap_fail_on fail_on = r->decoder->options.fail_on;
    return fail_on == LAP_FAIL_WARNING || (class != LAP_JPEG_HARMLESS && fail_on == LAP_FAIL_TRUNCATED);
}

/* The number of accepted losses needs no limit: each only increments a counter, and bytes, scans and pixels
 * are limited. */
void lap_jpeg_note(lap_jpeg_reader *r, lap_jpeg_class class, const char *text)
{
    lap_damage *damage = &r->decoder->damage;
    if (damage->warnings == 0)
        snprintf(damage->first, sizeof damage->first, "%s", text);
    if (damage->warnings < INT_MAX)
        damage->warnings++;
    damage->truncated |= class == LAP_JPEG_TRUNCATED;
    damage->damaged |= class == LAP_JPEG_DAMAGED;
    if (is_refused(r, class)) {
        bool is_cut = class == LAP_JPEG_TRUNCATED || (class == LAP_JPEG_HARMLESS && r->ended);
        r->has_verdict = true;
        lap_fail(&r->error.cause, is_cut ? LAP_E_TRUNCATED : LAP_E_DAMAGED, "%s", text);
        /* Nothing follows the end of the data. After other damage, libjpeg may later find an error that it
         * cannot skip. */
        r->error.cause.remedy = is_cut ? LAP_REMEDY_FAIL_ON : LAP_REMEDY_FAIL_ON_MAY;
        lap_jpeg_raise(&r->error);
    }
}

void lap_jpeg_lose(lap_jpeg_reader *r, lap_jpeg_class class, const char *what)
{
    char text[200] = "";
    if (!is_refused(r, class) && r->decoder->damage.warnings > 0) {
        /* only the first warning is shown */
    } else if (class == LAP_JPEG_HARMLESS || !r->started) {
        snprintf(text, sizeof text, "%s", what);
    } else if (r->decoder->header.whole) {
        snprintf(
            text, sizeof text, "%s %d %% into scan %d", what, percent_done(r), r->cinfo.input_scan_number);
    } else {
        snprintf(text, sizeof text, "%s %d %% into the image", what, percent_done(r));
    }
    lap_jpeg_note(r, class, text);
}
