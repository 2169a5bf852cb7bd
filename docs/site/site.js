// A page that was opened from a disk may not fetch the texts that a search shows below its hits.
"use strict";
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
