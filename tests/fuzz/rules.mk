# The fuzz targets: as plain programs in `make check`, under libFuzzer in `make fuzz`.
FUZZ := exif meta scan decode own encode parts run turn png kernel manifest args
TESTS += $(FUZZ:%=$(B)/tests/fuzz_%)
FUZZ_SECONDS ?= 60
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_CORPUS := $(wildcard $(LAPEDGE_CORPUS))
# The memory oracle replaces the allocator, which sanitizers do, too.
FUZZ_MEMORY := $(if $(SAN),,tests/fuzz/largest.c)

$(FUZZ:%=$(B)/tests/fuzz_%): $(B)/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/driver.c tests/fuzz/fuzz.h \
  tests/support/jpeg_make.h tests/support/parts_check.h $(B)/liblapedge.a $(FUZZ_MEMORY)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LINK_OPENMP) -DFUZZ_MEMORY=$(words $(FUZZ_MEMORY)) \
	  -DFUZZ_TARGET='"$*"' \
	  $(filter %.c %.o,$^) -o $@ $(B)/liblapedge.a $(LIBS)
OBJCOPY ?= objcopy
# All objects of the program but its main: each fuzz target has its own.
FUZZ_PROGRAM := $(B)/tests/renamed_main.o $(filter-out $(B)/src/cli/main.o,$(CLI_OBJ))
$(B)/tests/fuzz_args: $(FUZZ_PROGRAM)
$(B)/tests/renamed_main.o: $(B)/src/cli/main.o
	@mkdir -p $(@D)
	$(call say,COPY)$(OBJCOPY) --redefine-sym main=lapedge_main $< $@

## fuzz: run each fuzz target for FUZZ_SECONDS (60) under clang's libFuzzer, seeds also from LAPEDGE_CORPUS
.PHONY: fuzz
fuzz:
	+$(MAKE) B=build/fuzz CC=clang HAVE_CUDA=0 HAVE_OPENMP=0 OPT='-O1 -g' WERROR='$(WERROR)' \
	  SAN='$(FUZZ_SAN) -fsanitize=fuzzer-no-link' $(FUZZ:%=build/fuzz/tests/fuzz_%)
	@set -e; for t in $(FUZZ); do mkdir -p build/fuzz/found/$$t build/fuzz/first/$$t; \
	  build/fuzz/tests/fuzz_$$t build/fuzz/first/$$t; \
	  clang -g -O1 -D_GNU_SOURCE $(INCLUDES) $(FUZZ_SAN) -fsanitize=fuzzer tests/fuzz/fuzz_$$t.c \
	    -o build/fuzz/fuzz_$$t $$([ $$t != args ] || echo $(FUZZ_PROGRAM:$(B)/%=build/fuzz/%)) \
	    build/fuzz/liblapedge.a $(LIBS); \
	  build/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256 \
	    -dict=$$(ls tests/fuzz/$$t.dict 2>/dev/null || echo tests/fuzz/jpeg.dict) \
	    $$([ $$t != args ] || echo -close_fd_mask=2) -max_len=65536 -print_final_stats=1 \
	    -artifact_prefix=build/fuzz/ build/fuzz/found/$$t build/fuzz/first/$$t \
	    $(FUZZ_CORPUS); done
