# The documents, the manual and the header as a site, and its playground: the filter as WebAssembly (docs/playground).

EMCC ?= emcc
HAVE_EMCC := $(if $(shell command -v $(EMCC)),1,0)
W := build/playground
# The backends that a browser can run: plain C, and SSE as the vectors of WebAssembly stand in for it.
PLAYGROUND_SRC := docs/playground/playground.c \
  $(addprefix src/base/,border.c decimal.c image.c kernel5x5.c pages.c params.c status.c utf8.c) \
  src/rungs/table_filter.c cpu_simd/cpu.c cuda/device/none.c cpu_simd/filter/filter_1_c.c \
  $(sort $(wildcard cpu_simd/filter/filter_*_sse.c cpu_simd/filter/filter_*_sse41.c))
PLAYGROUND_OBJ := $(PLAYGROUND_SRC:%.c=$(W)/%.o)
PLAYGROUND_CALLS := $(foreach f,backend what error photo take give set tolerance run look,_lap_play_$(f)) \
  _lap_border_name _lap_range_name _lap_kernel_preset
comma := ,
names = $(subst $() ,$(comma),$(strip $(1)))

# Files with SSE in their names are compiled with WebAssembly's vectors, as the Makefile chooses flags by name.
wasm_flags = $(if $(findstring _sse41,$(1)),-msimd128 -msse4.1,$(if $(findstring _sse.c,$(1)),-msimd128 -msse2))
$(W)/%.o: %.c tools/figures/site.mk
	@mkdir -p $(@D)
	$(call say,EMCC)$(EMCC) -std=c11 -O2 -Wall -Wextra -Wno-unknown-pragmas -Werror -ffp-contract=off -D_GNU_SOURCE \
	  $(INCLUDES) -DLAP_HAVE_OPENMP=0 -DLAP_HAVE_CUDA=0 -DLAP_RUNG_FLAGS='""' $(call wasm_flags,$(<F)) -MMD -MP -c $< -o $@
-include $(PLAYGROUND_OBJ:.o=.d)

# One file, so that a page opened from a disk can load it. NODE_PATH: where Debian keeps emcc's modules; a node from
# elsewhere does not look there.
$(W)/lapedge-wasm.js: $(PLAYGROUND_OBJ)
	$(call say,LINK)NODE_PATH=/usr/share/nodejs $(EMCC) -O2 -sMODULARIZE=1 -sEXPORT_NAME=lapedgeWasm \
	  -sSINGLE_FILE=1 -sALLOW_MEMORY_GROWTH=1 -sENVIRONMENT=web,node \
	  -sEXPORTED_FUNCTIONS=$(call names,$(PLAYGROUND_CALLS)) \
	  -sEXPORTED_RUNTIME_METHODS=cwrap,HEAPU8,HEAPF32 $^ -o $@

STATIC := build/site-static
PLAYGROUND_FILES := $(addprefix $(STATIC)/,playground.js playground.css playground-sample.js lapedge-wasm.js)
SITE_STATIC := $(STATIC)/site.css $(STATIC)/site.js $(if $(filter 1,$(HAVE_EMCC)),$(PLAYGROUND_FILES))
$(STATIC)/site.%: docs/site/site.%
	@mkdir -p $(@D) && cp $< $@
$(STATIC)/playground.%: docs/playground/playground.%
	@mkdir -p $(@D) && cp $< $@
$(STATIC)/lapedge-wasm.js: $(W)/lapedge-wasm.js
	@mkdir -p $(@D) && cp $< $@
# A page opened from a disk may read only pixels that are part of the page.
$(STATIC)/playground-sample.js: samples/chelsea.jpg
	@mkdir -p $(@D)
	@{ printf 'const lapedgeSample = "data:image/jpeg;base64,' && base64 -w 0 $< && echo '";'; } > $@

SITE_VENV := build/site-venv
$(SITE_VENV)/bin/sphinx-build: docs/site/requirements.txt
	@rm -rf $(SITE_VENV) && python3 -m venv $(SITE_VENV)
	$(call say,PIP)$(SITE_VENV)/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@

.PHONY: site site-pages
## site: make web pages of the documents, manual, header and playground, with search, in build/site
site:
	@tools/install-deps site
	@$(MAKE) --no-print-directory $(SITE_VENV)/bin/sphinx-build
	@rm -rf build/site build/site-doctrees
	@$(MAKE) --no-print-directory site-pages
	@echo "Open build/site/index.html, or: python3 -m http.server -d build/site"

# Uses the tools that are installed, and rebuilds only pages that changed; a dead link is an error. Sphinx warns about a
# page only when it reads it, so after a failure it must read all pages again.
site-pages: $(SITE_STATIC)
	@tools/figures/site prepare build/site-src $(HAVE_EMCC)
	@LAPEDGE_VERSION=$(VERSION) $(SITE_VENV)/bin/sphinx-build -q -W --keep-going -d build/site-doctrees -c docs/site \
	  build/site-src build/site || { rm -rf build/site build/site-doctrees; exit 1; }
	@cp $(SITE_STATIC) build/site/_static/
	@tools/figures/site check build/site

# What the tests of the site run, built before them.
tests/docs/site/site.py tests/docs/site/playground.py: $(if $(filter 1,$(HAVE_EMCC)),$(W)/lapedge-wasm.js)
