# The fuzz targets: as plain programs in `make check`, under libFuzzer in `make fuzz`.
FUZZ := exif scan decode parts
TESTS += $(FUZZ:%=$(B)/tests/fuzz_%)
FUZZ_SECONDS ?= 60
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_CORPUS := $(wildcard $(LAPEDGE_CORPUS))

$(FUZZ:%=$(B)/tests/fuzz_%): $(B)/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/driver.c tests/fuzz/fuzz.h \
  tests/unit/jpeg_make.h tests/unit/parts_check.h $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LINK_OPENMP) \
	  $(filter %.c,$^) -o $@ $(B)/liblapedge.a $(LIBS)

## fuzz: each fuzz target for FUZZ_SECONDS (60) under clang's libFuzzer, seeds also from LAPEDGE_CORPUS
.PHONY: fuzz
fuzz:
	+$(MAKE) B=build/fuzz CC=clang HAVE_CUDA=0 HAVE_OPENMP=0 OPT='-O1 -g' \
	  SAN='$(FUZZ_SAN) -fsanitize=fuzzer-no-link' build/fuzz/liblapedge.a build/fuzz/tests/fuzz_exif
	@mkdir -p build/fuzz/seeds
	build/fuzz/tests/fuzz_exif build/fuzz/seeds
	@set -e; for t in $(FUZZ); do mkdir -p build/fuzz/found/$$t; \
	  clang -g -O1 -D_GNU_SOURCE $(FUZZ_SAN) -fsanitize=fuzzer tests/fuzz/fuzz_$$t.c -o build/fuzz/fuzz_$$t \
	    build/fuzz/liblapedge.a $(LIBS); \
	  build/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=65536 \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/ build/fuzz/found/$$t build/fuzz/seeds $(FUZZ_CORPUS); done
