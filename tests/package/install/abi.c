/* The structs that callers allocate have the sizes that callers were compiled with, and the last field before
 * `reserved` its place. A new field follows that one and is taken from reserved; this table stays as it is.
 * With -DOLDER the header is one that does not have all fields yet: the sizes hold all the same. */
#include <lapedge.h>

#ifdef OLDER
#define SAME(type, last, size, offset) _Static_assert(sizeof(type) == (size), #type " has another size")
#else
#define SAME(type, last, size, offset)                                 \
    _Static_assert(sizeof(type) == (size), #type " has another size"); \
    _Static_assert(offsetof(type, last) == (offset), #type "." #last " has moved")
#endif

#if UINTPTR_MAX == UINT64_MAX
SAME(lap_error, message, 776, 260);
SAME(lap_view, place, 40, 32);
SAME(lap_kernel, abs_sum, 296, 272);
SAME(lap_params, threshold, 352, 312);
SAME(lap_rung_info, resolved, 104, 64);
SAME(lap_device_info, driver, 232, 164);
SAME(lap_settings, progress_user, 608, 472);
SAME(lap_times, total, 64, 56);
SAME(lap_report, note, 1440, 1132);
SAME(lap_channel_stats, above, 2160, 2120);
SAME(lap_stats, channel, 8680, 8);
SAME(lap_run_stats, edges, 17392, 8680);
SAME(lap_measure_options, weight_count, 56, 16);
SAME(lap_measurement, columns, 17464, 17424);
SAME(lap_difference, first_at_border, 136, 100);
SAME(lap_batch_options, shards, 136, 68);
SAME(lap_batch_counts, ms, 432, 360);
#endif
