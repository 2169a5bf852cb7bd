# lapedge. `make help` lists the targets.
#
# What is there is found by compiling small programs (tools/probe) and kept in build/config.mk.
# HAVE_X=0 leaves a feature out; HAVE_X=1 demands it and fails loudly where it is missing.

ifeq ($(origin CC),default)
CC := gcc
endif
CXX_HOST ?= g++
NVCC ?= nvcc
PREFIX ?= /usr/local
# Short names that an environment may hold for other reasons: only the command line sets them.
for_command_line = $(if $(filter environment%,$(origin $(1))),$(eval override $(1) := $(2)),$(eval $(1) ?= $(2)))
$(call for_command_line,B,build)
$(call for_command_line,OPT,-O2 -g)
$(call for_command_line,SAN,)
$(call for_command_line,TWINS,)
# The compilers that the tests use, with the project's own flags: a newer one may know new warnings, and other flags
# bring others, which are not a user's affair.
COMPILER := $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),clang,gcc)-$(firstword \
  $(subst ., ,$(shell $(CC) -dumpversion)))
OTHER_FLAGS := $(strip $(CFLAGS) $(CPPFLAGS) $(filter command,$(origin OPT)))
WERROR ?= $(if $(filter gcc-12 clang-14,$(COMPILER)),$(if $(OTHER_FLAGS),,-Werror))
CUDA_ARCHS ?= 75 80 86 89 90 100 120

# Other build folders keep their programs to themselves: `make B=build/asan` leaves ./lapedge alone.
BESIDE := $(if $(filter build,$(B)),,$(B)/)
PROGRAM := $(BESIDE)lapedge
VERSION := $(shell sed -n 's/^#define LAP_VERSION "\(.*\)"/\1/p' src/lapedge.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))

# Short lines, or the whole commands with V=1.
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $@;)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# ---- what is here ------------------------------------------------------------------------------

FEATURES := JPEG JANSSON PNG STB XXHASH OPENMP CMOCKA CHART CUDA
# Chart.js as Debian's libjs-chart.js has it; it goes into the pages that --report writes.
CHART_JS ?= /usr/share/javascript/chart.js/chart.min.js
# These goals need no answers (demo and test first install what is missing, then call make again).
ifneq ($(filter-out help clean deps demo test uninstall format,$(or $(MAKECMDGOALS),all)),)
-include $(B)/config.mk
endif

# Other compilers give other answers: the first line of config.mk names those that were asked.
PROBE_FLAGS := $(strip $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))
NVCC_FILE := $(realpath $(shell command -v $(NVCC)))
COMPILERS := $(strip $(shell $(CC) --version 2>&1 | head -n 1), $(or $(NVCC_FILE),no $(NVCC)) $(PROBE_FLAGS))
# Whatever was installed since may be found now: hence the lists of dpkg, rpm, pacman and apk.
PACKAGES := $(wildcard /var/lib/dpkg/status /var/lib/rpm/rpmdb.sqlite /usr/lib/sysimage/rpm/rpmdb.sqlite \
  /var/lib/pacman/local /lib/apk/db/installed)
# make install keeps the answers of the build, so that it installs what was built: root's PATH may lack nvcc.
ifeq ($(and $(filter install install-strip,$(MAKECMDGOALS)),$(wildcard $(B)/config.mk)),)
$(B)/config.mk: Makefile tools/probe $(PACKAGES)
ifneq ($(shell sed -n 's/^# //p' $(B)/config.mk 2>/dev/null),$(COMPILERS))
$(B)/config.mk: FORCE
endif
endif
# What is needed and was not found may have been installed since.
ifneq ($(shell grep -E 'FOUND_(JPEG|JANSSON|XXHASH) := 0' $(B)/config.mk 2>/dev/null),)
$(B)/config.mk: FORCE
endif
.PHONY: FORCE
FORCE:

# Two makes may ask at once: each in a folder of its own, and the answers take their place whole.
$(B)/config.mk:
	@mkdir -p $(@D)
	@new=$$(mktemp -d $(B)/probe-XXXXXX) && export PROBE_DIR=$$new && \
	{ echo '# $(COMPILERS)'; \
	  for f in JPEG:-ljpeg JANSSON:-ljansson PNG:-lpng STB:-lm XXHASH:-lxxhash OPENMP:-fopenmp \
      CMOCKA:-lcmocka; do \
	    echo "FOUND_$${f%%:*} := $$(tools/probe $${f%%:*} '$(CC)' $(PROBE_FLAGS) $${f#*:})"; done; \
	  echo "FOUND_CHART := $$(tools/probe CHART '$(CHART_JS)')"; \
	  echo "FOUND_CUDA := $$(tools/probe CUDA '$(NVCC)' -arch=sm_90)"; \
	  echo "FOUND_CUDA_HOME := $(patsubst %/bin/,%,$(dir $(NVCC_FILE)))"; \
	  echo "NVCC_VERSION := $$($(NVCC) --version 2>/dev/null | sed -n 's/.*, V\([0-9.]*\)$$/\1/p')"; } \
	    > $$new/config.mk && \
	mv $$new/config.mk $@ && mkdir -p $(B)/probe && mv -f $$new/* $(B)/probe && rmdir $$new

# HAVE_X: what was asked for, else what was found. Forced and missing stops the build.
define feature
ifeq ($$(HAVE_$(1)),)
HAVE_$(1) := $$(FOUND_$(1))
else ifeq ($$(filter 0 1,$$(HAVE_$(1))),)
$$(error HAVE_$(1)=$$(HAVE_$(1)): must be 0 or 1)
else ifeq ($$(HAVE_$(1))$$(FOUND_$(1)),10)
$$(error HAVE_$(1)=1, and it was not found: see $(B)/probe/$(1).log, or run tools/install-deps)
endif
endef
$(foreach f,$(FEATURES),$(eval $(call feature,$(f))))

DEFINES := $(foreach f,PNG STB OPENMP CUDA,-DLAP_HAVE_$(f)=$(if $(filter 1,$(HAVE_$(f))),1,0))
# Of the library, and of the program and the tests.
LIBRARY_LIBS := -ljpeg -lxxhash $(if $(filter 1,$(HAVE_PNG)),-lpng -lz) -lm -lpthread
LIBS = -ljansson $(LIBRARY_LIBS)
LINK_OPENMP := $(if $(filter 1,$(HAVE_OPENMP)),-fopenmp)

# ---- flags -------------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef \
  $(if $(filter 1,$(HAVE_OPENMP)),,-Wno-unknown-pragmas)
# Includes are written from src/ ("io/sink.h") or from here ("cuda/device/device.h").
INCLUDES := -Isrc -I.
CPPFLAGS_ALL := -D_GNU_SOURCE $(INCLUDES) $(DEFINES) $(CPPFLAGS)
# Contraction off everywhere: scale * o + offset must not be fused (src/lapedge.h).
CFLAGS_ALL = -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -fvisibility=hidden -ffp-contract=off $(SAN) $(CFLAGS)
LDFLAGS_ALL = $(SAN) $(LDFLAGS)

# One instruction set per file: the end of its name says which.
ifeq ($(filter x86_64 amd64,$(MACHINE)),)
ISA_SOURCES := $(wildcard cpu_simd/*/*_sse*.c cpu_simd/*/*_avx*.c) \
  $(if $(filter aarch64 arm64,$(MACHINE)),,$(wildcard cpu_simd/*/*_neon.c))
else
ISA_SOURCES := $(wildcard cpu_simd/*/*_neon.c)
endif
# Not more than that, whatever CFLAGS allow: the width of a vector follows from what the compiler may use.
isa_sse41 := -msse4.1 -mno-avx
isa_avx2 := -mavx2 -mno-avx512f -mbmi2
isa_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mbmi2
isa_avx512vbmi2 := $(isa_avx512) -mavx512cd -mavx512vbmi -mavx512vbmi2 -mavx512vnni -mbmi -mlzcnt
# What is written in vectors is meant so: a compiler that finds more makes stores into a scatter.
isa_avx512vbmi2 += -fno-tree-vectorize -fno-tree-slp-vectorize
no_vector := -O2 -fno-tree-vectorize -fno-tree-slp-vectorize
# isa_flags NAME: the flags of a file of cpu_simd, by its name without folders.
isa_flags = $(strip $(foreach i,sse41 avx2 avx512 avx512vbmi2 neon,$(if $(filter %_$(i).c,$(1)),$(isa_$(i)))) \
  $(if $(filter encode_%_avx2.c decode_%_avx2.c,$(1)),-mbmi -mlzcnt) \
  $(if $(filter peak_%_avx2.c,$(1)),-mfma) \
  $(if $(filter %_c.c %_openmp.c,$(1)),$(no_vector)) \
  $(if $(filter %_openmp.c %_sse.c,$(1)),$(if $(filter 1,$(HAVE_OPENMP)),-fopenmp,-Wno-unknown-pragmas)))
ISA_FLAGS = $(call isa_flags,$(<F))

# ---- files -------------------------------------------------------------------------------------

# A room of the library is a folder of src/; the program is src/cli with its folders. A ladder is a folder of
# cpu_simd/ and of cuda/.
LADDERS := $(sort $(filter-out $(ISA_SOURCES),$(wildcard cpu_simd/*.c cpu_simd/*/*.c)))
SRC := $(sort $(filter-out src/cli/%,$(wildcard src/*/*.c))) $(LADDERS) \
  $(if $(filter 1,$(HAVE_CUDA)),,cuda/device/none.c)
CLI := $(sort $(wildcard src/cli/*.c src/cli/*/*.c))
CU_ALL := $(sort $(wildcard cuda/*/*.cu))
CU := $(if $(filter 1,$(HAVE_CUDA)),$(CU_ALL))
# What rungs are run with, and need themselves: no libjpeg, no files, no options. Tests link it alone.
RUNG_SRC := $(LADDERS) $(sort $(wildcard src/base/*.c src/coding/*.c src/rungs/*.c))
OBJ := $(SRC:%.c=$(B)/%.o)
CLI_OBJ := $(CLI:%.c=$(B)/%.o)
CU_OBJ := $(CU:%.cu=$(B)/%.cu.o)

CUDA_HOME ?= $(FOUND_CUDA_HOME)
ifeq ($(HAVE_CUDA),1)
LIBRARY_LIBS += $(addprefix -L,$(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/targets/*/lib)) -lcudart_static -ldl -lrt
NVCC_MAJOR := $(firstword $(subst ., ,$(NVCC_VERSION)))
endif
# All device code is compressed: from nvcc 13 on by zstd, which each driver that it needs anyway can read.
NVCC_COMPRESS ?= $(if $(filter-out 9 10 11 12,$(NVCC_MAJOR)),--compress-mode=size,-Xfatbin -compress-all)
# LINEINFO=1: lines of source in device code, for profilers; it makes that several times as large.
$(call for_command_line,LINEINFO,)
NVCC_ARCH := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
  -gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS))
# No C++ library is linked. Statics stand only in the stubs that nvcc writes, which the scaffold never calls.
NVCC_FLAGS := -std=c++17 -O3 $(if $(LINEINFO),-lineinfo) --fmad=false -Xptxas -warn-spills $(NVCC_ARCH) \
  -DLAP_CUDA_OLDEST=$(firstword $(CUDA_ARCHS)) \
  -Xcompiler -Wall,-Wextra,-fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics \
  $(if $(WERROR),-Werror all-warnings) $(NVCC_COMPRESS) $(NVCCFLAGS)

# The command line as the bench prints it: flags that matter, per file.
RUNG_FLAGS = -DLAP_RUNG_FLAGS='"$(strip $(OPT) -ffp-contract=off $(ISA_FLAGS))"'

.PHONY: all help clean check tests
## all: build ./lapedge, and the libraries in build/ (default)
all: $(PROGRAM) $(B)/liblapedge.a $(B)/liblapedge.so

# Change only when what they say does. Objects depend on them: other flags, other objects.
FLAGS_C = $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(isa_sse41) $(isa_avx2) $(isa_avx512vbmi2) $(no_vector)
FLAGS_CUDA = $(NVCC) $(DEFINES) $(NVCC_FLAGS)
FOUND = lapedge $(VERSION) with $(foreach f,$(FEATURES),$(f):$(if $(filter 1,$(HAVE_$(f))),yes,no))
$(B)/flags-%: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS_$*)' | cmp -s - $@ || { echo '$(FLAGS_$*)' > $@; $(if $(filter C,$*),echo '$(FOUND)';) }
.PRECIOUS: $(B)/flags-%

ifneq ($(HAVE_JPEG)$(HAVE_JANSSON)$(HAVE_XXHASH),111)
$(B)/flags-C: required
.PHONY: required
required:
	@echo "needed to build, and not found:$(if $(filter 1,$(HAVE_JPEG)),, libjpeg-turbo (>= 2.1))$(if $(filter \
	  1,$(HAVE_JANSSON)),, jansson)$(if $(filter 1,$(HAVE_XXHASH)),, xxHash); run tools/install-deps, or see" \
	  "$(B)/probe/*.log" >&2; exit 1
endif

# The report's page is kept as files that browsers and people read; the program has them as arrays.
REPORT_FILES := page=src/cli/report/report.html style=src/cli/report/report.css \
  $(foreach f,base lens viewer charts times roofline folder sections,script=src/cli/report/$(f).js) \
  chart=$(if $(filter 1,$(HAVE_CHART)),$(CHART_JS))
CLI_OBJ += $(B)/gen/report_assets.o
$(B)/gen/report_assets.c: tools/embed $(foreach f,$(REPORT_FILES),$(word 2,$(subst =, ,$(f)))) $(B)/flags-C
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed $(REPORT_FILES) > $@
$(B)/gen/report_assets.o: $(B)/gen/report_assets.c
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# The notes at the head of each backend's file, for the command explain.
EXPLAINED := $(sort $(wildcard cpu_simd/*/*_*.c cuda/*/*_*.cu))
CLI_OBJ += $(B)/gen/explain.o
$(B)/gen/explain.c: tools/explain $(EXPLAINED) $(B)/flags-C
	@mkdir -p $(@D)
	$(call say,GEN)tools/explain $(EXPLAINED) > $@
$(B)/gen/explain.o: $(B)/gen/explain.c
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(PROGRAM): $(CLI_OBJ) $(B)/liblapedge.a
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(CLI_OBJ) $(B)/liblapedge.a $(LIBS)

$(B)/liblapedge.a: $(OBJ) $(CU_OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(B)/liblapedge.so: $(OBJ) $(CU_OBJ)
	$(call say,LINK)$(CC) -shared $(LDFLAGS_ALL) $(LINK_OPENMP) -Wl,-soname,liblapedge.so.$(SOVERSION) \
	  -Wl,--exclude-libs,ALL -Wl,--no-undefined -o $@.$(SOVERSION) $^ $(LIBRARY_LIBS)
	@ln -sf $(@F).$(SOVERSION) $@

# TWINS: a folder in which the same sources were just compiled with the same flags (tools/package.mk). Tests, and
# sources that ask for CUDA or OpenMP, are compiled again.
twin = $(if $(TWINS),$(filter-out $(TWINS)/tests/% %_openmp.c.o %_sse.c.o $(TWINS)/src/rungs/% \
  $(TWINS)/src/libjpeg/version.c.o,$(wildcard $(TWINS)/$<.o)))
$(B)/%.o: %.c $(B)/flags-C
	@mkdir -p $(@D)
	$(if $(twin),$(call say,COPY)sed '1s|^[^:]*:|$@:|' $(twin:.o=.d) > $(@:.o=.d) && cp $(twin) $@,$(call \
	  say,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ISA_FLAGS) $(RUNG_FLAGS) -MMD -MP -c $< -o $@)

$(B)/%.cu.o: %.cu $(B)/flags-CUDA
	@mkdir -p $(@D)
	$(call say,NVCC)$(NVCC) $(INCLUDES) $(DEFINES) $(NVCC_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

-include $(OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(CU_OBJ:.o=.d)

# ---- tests: each folder under tests/ adds its programs to TESTS; those of kernels/ first, which others build on -----

TESTS :=
-include lessons/rules.mk $(sort $(wildcard tests/kernels/*/rules.mk)) \
  $(sort $(filter-out tests/kernels/%,$(wildcard tests/*/rules.mk tests/*/*/rules.mk)))

# One cmocka program a file of tests/unit/ROOM, linked with the static library (inner symbols are there).
UNIT_C := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT := $(addprefix $(B)/tests/,$(sort $(notdir $(UNIT_C:.c=))))
TESTS += $(if $(filter 1,$(HAVE_CMOCKA)),$(UNIT))
$(foreach f,$(UNIT_C:.c=),$(eval $(B)/tests/$(notdir $(f)): $(B)/$(f).o))
$(UNIT): $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(filter %.o,$^) $(B)/liblapedge.a -lcmocka $(LIBS)
-include $(UNIT_C:%.c=$(B)/%.d)

BATS := $(sort $(wildcard tests/cli/*.bats))
# What tests/run is given: where the program is, then all there is to run.
TEST_RUN = B=$(B) LAPEDGE=$(abspath $(PROGRAM)) CC='$(CC)' \
  $(if $(filter 1,$(HAVE_CMOCKA)),,$(foreach t,$(UNIT),--skip "$(notdir $(t)): cmocka was not found")) $(TESTS) $(BATS)

# programs_of TESTS: PROGRAM@ARGUMENT is a program and what it is run with. SUITE selects by name, or by the path below
# tests/, as tests/run does.
named = $(notdir $(subst @, ,$(1))) $(patsubst tests/%,%,$(filter tests/%,$(1)))
selected = $(if $(SUITE),$(foreach t,$(1),$(if $(findstring $(SUITE),$(call named,$(t))),$(t))),$(1))
programs_of = $(sort $(foreach t,$(call selected,$(1)),$(firstword $(subst @, ,$(t)))))
tests: all $(call programs_of,$(TESTS) $(BATS))

## check: build and run all tests with what is already installed; SUITE=name: those with this in their names or paths
check: tests
	@SUITE='$(SUITE)' tests/run $(TEST_RUN)

# For the inner loop: no kernels on the CPU, no sanitizers, no lint, no browser, no clusters; and what tests/slow.txt
# names only where SUITE does.
SLOW_TESTS := $(B)/tests/cudacpu% $(B)/tests/lessons% tests/kernels/lessons/% $(P)/% tests/kernels/cudacpu/% \
  tests/kernels/jpegcuda/% tests/kernels/views/% tests/structure/lint.sh tests/cli/report/% tests/cli/cluster/% \
  tests/package/% tests/structure/headers.sh tests/structure/arrows.sh tests/structure/symbols.sh \
  tests/support/mutants/tool.py \
  tests/faults/% tests/fuzz/decoders/% tests/docs/site/% tests/structure/aarch64.sh $(B)/tests/fuzz_% \
  $(B)/tests/verdicts $(B)/tests/every_fault
SLOW_NAMES := $(shell grep -v '[: ]' tests/slow.txt)
fast = $(foreach t,$(filter-out $(SLOW_TESTS),$(1)),$(if $(if $(SUITE),,$(filter $(SLOW_NAMES),$(notdir $(t)))),,$(t)))
## check-fast: build and run the quick tests, without CUDA
# Without CUDA, which takes nvcc minutes; where there is nvcc in another folder, so that ./lapedge keeps its CUDA.
check-fast:
	@$(MAKE) --no-print-directory HAVE_CUDA=0 B=$(if $(filter 1,$(HAVE_CUDA)),$(B)/nocuda,$(B)) run-fast
.PHONY: check-fast run-fast
run-fast: all $(call programs_of,$(call fast,$(TESTS)))
	@SUITE='$(SUITE)' tests/run $(call fast,$(TEST_RUN))

# ---- the rest ----------------------------------------------------------------------------------

-include tools/package.mk tools/release/release.mk tools/figures/site.mk

## help: print this list
help:
	@sed -n 's/^## \([a-z0-9-]*\): /\1\t/p' $(MAKEFILE_LIST) | awk -F'\t' ' \
	  { line = sprintf("  make %-15s", $$1); n = split($$2, word, " "); \
	    for (i = 1; i <= n; i++) { \
	      if (length(line) + 1 + length(word[i]) > 80) { print line; line = sprintf("%22s", "") } \
	      line = line " " word[i] } \
	    print line }'
	@echo "Variables: CC=$(CC) NVCC=$(NVCC) PREFIX=$(PREFIX) DESTDIR= OPT='$(OPT)' WERROR= SAN= B=$(B) V=1" | fold -s -w 80
	@echo "  CUDA_ARCHS='$(CUDA_ARCHS)' LINEINFO=$(LINEINFO)"
	@echo "  HAVE_X=0 leaves a feature out, HAVE_X=1 demands it; X: $(FEATURES)" | fold -s -w 80

## clean: remove what make built; with B=FOLDER, only what it built in FOLDER
clean:
	rm -rf $(if $(filter build,$(B)),build lapedge lapedge-portable lapedge-static-*,\
	  $(if $(wildcard $(B)/config.mk),"$(B)"))
