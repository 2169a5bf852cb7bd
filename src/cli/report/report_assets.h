/* The pieces of the report's page as arrays, which tools/embed makes from files at build time
 * (src/cli/report/, and the chart library if it was found). */
#ifndef LAP_CLI_REPORT_ASSETS_H
#define LAP_CLI_REPORT_ASSETS_H

#include <stddef.h>

extern const unsigned char lap_asset_page[], lap_asset_style[], lap_asset_script[];
extern const unsigned char lap_asset_chart[]; /* empty if the library was not found */
extern const size_t lap_asset_page_size, lap_asset_style_size, lap_asset_script_size, lap_asset_chart_size;

#endif
