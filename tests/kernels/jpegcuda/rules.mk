# The JPEG decoder of cuda/jpeg compared with libjpeg: on the CPU runtime here, and on a GPU by programs that need
# nothing but libc (build/portable/jpeg_check, jpeg_bench).
JPEGCUDA_C := tests/kernels/jpegcuda/subject.c
ifneq ($(CUDACPU_CXX),)
$(B)/tests/cudacpu_jpeg: $(patsubst %,$(B)/cudacpu/asan/%.o,tests/kernels/jpegcuda/check.c tests/kernels/jpegcuda/make.c $(JPEGCUDA_C))
$(B)/cudacpu/asan/jpeg_bench: $(patsubst %,$(B)/cudacpu/asan/%.o,tests/kernels/jpegcuda/bench.cu $(JPEGCUDA_C))
$(B)/tests/cudacpu_jpeg $(B)/cudacpu/asan/jpeg_bench: $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $(filter %.o,$^) $(B)/cudacpu/asan/libkernels.a \
	  -ljpeg -lpthread -lm
$(B)/tests/cudacpu_jpeg_races: $(patsubst %,$(B)/cudacpu/tsan/%.o,tests/kernels/jpegcuda/check.c tests/kernels/jpegcuda/make.c $(JPEGCUDA_C)) \
  $(B)/cudacpu/tsan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_tsan) -o $@ $(filter %.o,$^) $(B)/cudacpu/tsan/libkernels.a \
	  -ljpeg -lpthread -lm
TESTS += $(B)/tests/cudacpu_jpeg $(B)/tests/cudacpu_jpeg_races tests/kernels/jpegcuda/bench.sh
tests/kernels/jpegcuda/bench.sh: $(B)/cudacpu/asan/jpeg_bench
endif

$(P)/jpeg_check: $(patsubst %,$(P)/%.o,tests/kernels/jpegcuda/check.c tests/kernels/jpegcuda/make.c $(JPEGCUDA_C))
$(P)/jpeg_bench: $(patsubst %,$(P)/%.o,$(JPEGCUDA_C)) $(B)/tests/kernels/jpegcuda/bench.cu.o
$(P)/jpeg_check $(P)/jpeg_bench: $(P)/libkernels.a
	$(call say,LINK)$(CC) -static-libgcc -o $@ $(filter %.o,$^) $(P)/libkernels.a -Wl,-Bstatic -ljpeg -Wl,-Bdynamic \
	  $(GPU_TEST_LIBS)
portable-tests: $(P)/jpeg_check $(P)/jpeg_bench
-include $(foreach k,$(B)/cudacpu/asan $(B)/cudacpu/tsan $(P),$(patsubst %,$(k)/%.d,tests/kernels/jpegcuda/check.c tests/kernels/jpegcuda/make.c \
  tests/kernels/jpegcuda/bench.cu $(JPEGCUDA_C))) $(B)/tests/kernels/jpegcuda/bench.cu.d
include tests/kernels/jpegcuda/encode.mk

.PHONY: test-long
## test-long: run all cases of which make test runs a sample: sizes, damaged files, faults, architectures, lint
test-long: export TEST_SEED := $(or $(TEST_SEED),$(shell date +%s))
test-long: $(patsubst %,$(B)/tests/cudacpu_%,jpeg leaks batch_races encode chains_races) $(B)/cudacpu/asan/lapedge
	$(B)/tests/cudacpu_jpeg --full
	$(B)/tests/cudacpu_leaks 100000
	$(B)/tests/cudacpu_batch_races
	$(B)/tests/cudacpu_chains_races --each
	$(B)/tests/cudacpu_encode --sizes=all
	tests/kernels/jpegcuda/verdicts.py $(B)/cudacpu/asan/lapedge 1000
	tests/kernels/jpegcuda/folders.py $(B)/cudacpu/asan/lapedge --each
