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
B ?= build
OPT ?= -O2 -g
WERROR ?= -Werror
SAN ?=
CUDA_ARCHS ?= 75 80 86 89 90 100 120

VERSION := $(shell sed -n 's/^#define LAP_VERSION "\(.*\)"/\1/p' src/lapedge.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# ---- what is here ------------------------------------------------------------------------------

FEATURES := JPEG JANSSON PNG STB XXHASH OPENMP CMOCKA CUDA
-include $(B)/config.mk

$(B)/config.mk: Makefile tools/probe
	@mkdir -p $(@D)
	@{ for f in JPEG:-ljpeg JANSSON:-ljansson PNG:-lpng STB:-lm XXHASH:-lxxhash OPENMP:-fopenmp CMOCKA:-lcmocka; do \
	    echo "FOUND_$${f%%:*} := $$(PROBE_DIR=$(B)/probe tools/probe $${f%%:*} '$(CC)' $${f#*:})"; done; \
	  echo "FOUND_CUDA := $$(PROBE_DIR=$(B)/probe tools/probe CUDA '$(NVCC)' -arch=sm_90)"; } > $@

# HAVE_X: what was asked for, else what was found. Forced and missing stops the build.
define feature
ifeq ($$(HAVE_$(1)),)
HAVE_$(1) := $$(FOUND_$(1))
else ifeq ($$(HAVE_$(1))$$(FOUND_$(1)),10)
$$(error HAVE_$(1)=1, and it was not found: see $(B)/probe/$(1).log, or run tools/install-deps)
endif
endef
$(foreach f,$(FEATURES),$(eval $(call feature,$(f))))

DEFINES := $(foreach f,JANSSON PNG STB XXHASH OPENMP CUDA,-DLAP_HAVE_$(f)=$(if $(filter 1,$(HAVE_$(f))),1,0))
LIBS := -ljpeg $(if $(filter 1,$(HAVE_PNG)),-lpng) $(if $(filter 1,$(HAVE_XXHASH)),-lxxhash) -lm -lpthread
LIBS_CLI := -ljansson

# ---- flags -------------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef
CPPFLAGS_ALL := -D_GNU_SOURCE $(DEFINES) $(CPPFLAGS)
# Contraction off everywhere: scale * o + offset must not be fused (src/lapedge.h).
CFLAGS_ALL = -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -fvisibility=hidden -ffp-contract=off $(SAN) $(CFLAGS)
LDFLAGS_ALL = $(SAN) $(LDFLAGS)

# One instruction set a file: what a file of cpu_simd may use is told by the end of its name.
ifeq ($(filter x86_64 amd64,$(MACHINE)),)
ISA_SOURCES := $(wildcard cpu_simd/*_sse*.c cpu_simd/*_avx*.c)
else
ISA_SOURCES :=
endif
isa_sse41 := -msse4.1
isa_avx2 := -mavx2 -mbmi2
isa_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mbmi2
no_vector := -O2 -fno-tree-vectorize -fno-tree-slp-vectorize
ISA_FLAGS = $(strip $(foreach i,sse41 avx2 avx512,$(if $(findstring _$(i),$(<F)),$(isa_$(i)))) \
  $(if $(filter %_c.c %_openmp.c,$(<F)),$(no_vector)) \
  $(if $(filter 1,$(HAVE_OPENMP)),$(if $(filter %_openmp.c %_sse.c,$(<F)),-fopenmp)))

# ---- files -------------------------------------------------------------------------------------

SRC := $(sort $(wildcard src/*.c) $(filter-out $(ISA_SOURCES),$(wildcard cpu_simd/*.c)))
CLI := $(sort $(wildcard src/cli/*.c))
CU := $(if $(filter 1,$(HAVE_CUDA)),$(sort $(wildcard cuda/*.cu)))
OBJ := $(SRC:%.c=$(B)/%.o)
CLI_OBJ := $(CLI:%.c=$(B)/%.o)
CU_OBJ := $(CU:%.cu=$(B)/%.cu.o)

CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(realpath $(shell command -v $(NVCC) 2>/dev/null))))
ifeq ($(HAVE_CUDA),1)
LIBS += $(firstword $(wildcard $(CUDA_HOME)/lib64/libcudart_static.a $(CUDA_HOME)/targets/*/lib/libcudart_static.a)) -ldl -lrt
endif
NVCC_ARCH := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
  -gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS))
NVCC_FLAGS := -std=c++17 -O3 -lineinfo --fmad=false -Xptxas -warn-spills $(NVCC_ARCH) \
  -Xcompiler -Wall,-Wextra,-fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti $(if $(WERROR),-Werror all-warnings) $(NVCCFLAGS)

# The command line as the bench prints it: flags that matter, per file.
RUNG_FLAGS = -DLAP_RUNG_FLAGS='"$(strip $(OPT) -ffp-contract=off $(ISA_FLAGS))"'

.PHONY: all help clean demo deps test check portable install uninstall format lint
## all: the program at ./lapedge, the libraries under build/ (default)
all: lapedge $(B)/liblapedge.a $(B)/liblapedge.so found

.PHONY: found
found: $(B)/config.mk
	@printf 'lapedge %s with' '$(VERSION)'; $(foreach f,$(FEATURES),printf ' %s:%s' $(f) $(if $(filter 1,$(HAVE_$(f))),yes,no);) echo

ifneq ($(HAVE_JPEG)$(HAVE_JANSSON),11)
lapedge $(OBJ) $(CLI_OBJ): required
.PHONY: required
required:
	@echo "libjpeg-turbo (>= 2.1) and jansson are needed to build; run tools/install-deps" >&2; exit 1
endif

lapedge: $(CLI_OBJ) $(B)/liblapedge.a
	$(CC) $(LDFLAGS_ALL) $(if $(filter 1,$(HAVE_OPENMP)),-fopenmp) -o $@ $(CLI_OBJ) $(B)/liblapedge.a $(LIBS_CLI) $(LIBS)

$(B)/liblapedge.a: $(OBJ) $(CU_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(B)/liblapedge.so: $(OBJ) $(CU_OBJ)
	$(CC) -shared $(LDFLAGS_ALL) $(if $(filter 1,$(HAVE_OPENMP)),-fopenmp) -Wl,-soname,liblapedge.so.$(SOVERSION) \
	  -Wl,--exclude-libs,ALL -Wl,--no-undefined -o $@.$(SOVERSION) $^ $(LIBS)
	ln -sf $(@F).$(SOVERSION) $@

$(B)/%.o: %.c $(B)/config.mk Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ISA_FLAGS) $(RUNG_FLAGS) -MMD -MP -c $< -o $@

$(B)/%.cu.o: %.cu $(B)/config.mk Makefile
	@mkdir -p $(@D)
	$(NVCC) $(DEFINES) $(NVCC_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

-include $(OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(CU_OBJ:.o=.d)

# ---- tests: each folder under tests/ adds its programs to TESTS ---------------------------------

TESTS :=
-include $(sort $(wildcard tests/*/rules.mk))

# One cmocka program a file of tests/unit, linked with the static library (inner symbols are there).
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(sort $(wildcard tests/unit/test_*.c)))
TESTS += $(if $(filter 1,$(HAVE_CMOCKA)),$(UNIT))
$(B)/tests/test_%: tests/unit/test_%.c $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -Isrc -I. $(LDFLAGS_ALL) $(if $(filter 1,$(HAVE_OPENMP)),-fopenmp) -MMD -MP -MF $@.d \
	  $< -o $@ $(B)/liblapedge.a -lcmocka $(LIBS_CLI) $(LIBS)
-include $(UNIT:%=%.d)

## check: build and run all tests with what is already installed
check: all $(TESTS)
	B=$(B) tests/run $(TESTS) $(sort $(wildcard tests/cli/*.bats))

# ---- the rest ----------------------------------------------------------------------------------

-include tools/package.mk

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /  \1\t/p' $(MAKEFILE_LIST) | expand -t 16
	@echo "variables: HAVE_X=0|1 for $(FEATURES); CC, NVCC, CUDA_ARCHS, OPT, SAN, PREFIX, DESTDIR"

## clean: remove everything that was built
clean:
	rm -rf build lapedge lapedge-portable
