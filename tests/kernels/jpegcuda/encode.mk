# The JPEG encoder of cuda/jpeg compared with the CPU's, as rules.mk has the decoder. A bench with the whole
# library in it, so that it can make a photo's edges.
JPEGCUDA_ENCODE_C := tests/kernels/jpegcuda/encode_check.c \
  $(filter-out src/codec/png_% src/codec/stb_% src/libjpeg/version.c,$(sort $(wildcard src/codec/*.c src/io/*.c src/libjpeg/*.c src/jpeg/*.c)))
ifneq ($(CUDACPU_CXX),)
TESTS += $(B)/tests/cudacpu_encode $(B)/tests/cudacpu_encode_races
$(B)/tests/cudacpu_encode_races: $(patsubst %,$(B)/cudacpu/tsan/%.o,$(JPEGCUDA_ENCODE_C)) $(B)/cudacpu/tsan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_tsan) -o $@ $^ -ljpeg -lxxhash -lpthread -lm
$(B)/tests/cudacpu_encode: $(patsubst %,$(B)/cudacpu/asan/%.o,$(JPEGCUDA_ENCODE_C)) $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -ljpeg -lxxhash -lpthread -lm
endif

$(P)/encode_check: $(patsubst %,$(P)/%.o,$(JPEGCUDA_ENCODE_C)) $(P)/libkernels.a
	$(call say,LINK)$(CC) -static-libgcc -o $@ $(filter %.o,$^) $(P)/libkernels.a -Wl,-Bstatic -ljpeg -lxxhash \
	  -Wl,-Bdynamic $(GPU_TEST_LIBS)
$(P)/encode_bench: $(B)/tests/kernels/jpegcuda/encode_bench.cu.o \
  $(patsubst %,$(P)/tests/kernels/jpegcuda/%.o,encode_reference.c encode_target.c) \
  $(B)/liblapedge.a
	$(call say,LINK)$(CXX_HOST) -static-libgcc -static-libstdc++ -o $@ $^ $(filter -L%,$(LIBS)) $(PORTABLE_LIBS)
$(P)/chain_bench: $(P)/tests/kernels/jpegcuda/chain_bench.c.o $(B)/liblapedge.a
	$(call say,LINK)$(CXX_HOST) -static-libgcc -static-libstdc++ -o $@ $^ $(filter -L%,$(LIBS)) $(PORTABLE_LIBS)
portable-tests: $(P)/encode_check $(P)/encode_bench $(P)/chain_bench
-include $(foreach k,asan tsan,$(patsubst %,$(B)/cudacpu/$(k)/%.d,$(JPEGCUDA_ENCODE_C))) $(patsubst %,$(P)/%.d,$(JPEGCUDA_ENCODE_C)) \
  $(P)/tests/kernels/jpegcuda/chain_bench.c.d

# The whole program with its CUDA backends on the CPU runtime: what the command line does with a device shows
# without one.
ifneq ($(CUDACPU_CXX),)
CUDACPU_PROGRAM_C := $(sort $(SRC) $(CLI))
$(B)/cudacpu/asan/lapedge: $(patsubst %,$(B)/cudacpu/asan/%.o,$(filter-out $(RUNG_SRC) %/none.c,$(CUDACPU_PROGRAM_C))) \
  $(filter $(B)/gen/%,$(CLI_OBJ)) $(B)/cudacpu/asan/libkernels.a
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
TESTS += tests/kernels/jpegcuda/verdicts.py tests/kernels/jpegcuda/folders.py tests/kernels/jpegcuda/workers.py
tests/kernels/jpegcuda/verdicts.py tests/kernels/jpegcuda/folders.py tests/kernels/jpegcuda/workers.py: $(B)/cudacpu/asan/lapedge
# How fast a device codes, and that a bench refuses what differs.
$(B)/tests/cudacpu_rates: $(patsubst %,$(B)/cudacpu/asan/%.o,tests/kernels/jpegcuda/rates.c $(filter-out $(RUNG_SRC) %/none.c,$(sort $(SRC)))) \
  $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
tests/cli/cluster/mpirun.sh tests/cli/cluster/slurm.sh tests/kernels/jpegcuda/bench_codec.sh tests/kernels/jpegcuda/other_library.sh: $(B)/cudacpu/asan/lapedge
# Photos over devices: right whatever these do, and (the second) without races. The test looks on when a thread reads.
DEVICE_POOL_LD := -Wl,--wrap=lap_async_run_load
DEVICE_POOL_C := tests/kernels/jpegcuda/device_pool.c $(filter-out $(RUNG_SRC) %/none.c,$(sort $(SRC)))
$(B)/tests/cudacpu_device_pool: $(DEVICE_POOL_C:%=$(B)/cudacpu/asan/%.o) $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) $(DEVICE_POOL_LD) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
$(B)/tests/cudacpu_device_pool_races: $(DEVICE_POOL_C:%=$(B)/cudacpu/tsan/%.o) $(B)/cudacpu/tsan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_tsan) $(DEVICE_POOL_LD) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
# Photos in a chain.
CHAINS_C := tests/kernels/jpegcuda/chains.c tests/kernels/jpegcuda/make.c $(filter-out $(RUNG_SRC) %/none.c,$(sort $(SRC)))
$(B)/tests/cudacpu_chains: $(CHAINS_C:%=$(B)/cudacpu/asan/%.o) $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
$(B)/tests/cudacpu_chains_races: $(CHAINS_C:%=$(B)/cudacpu/tsan/%.o) $(B)/cudacpu/tsan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_tsan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
TESTS += $(B)/tests/cudacpu_chains $(B)/tests/cudacpu_chains_races
-include $(CHAINS_C:%=$(B)/cudacpu/asan/%.d) $(CHAINS_C:%=$(B)/cudacpu/tsan/%.d)
# Photos turned there.
$(B)/tests/cudacpu_turns: $(patsubst %,$(B)/cudacpu/asan/%.o,tests/kernels/jpegcuda/turns.c tests/kernels/jpegcuda/make.c \
  $(filter-out $(RUNG_SRC) %/none.c,$(sort $(SRC)))) $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
TESTS += $(B)/tests/cudacpu_device_pool $(B)/tests/cudacpu_device_pool_races $(B)/tests/cudacpu_turns
-include $(DEVICE_POOL_C:%=$(B)/cudacpu/asan/%.d) $(DEVICE_POOL_C:%=$(B)/cudacpu/tsan/%.d)
TESTS += $(B)/tests/cudacpu_rates tests/kernels/jpegcuda/bench_codec.sh tests/kernels/jpegcuda/other_library.sh
-include $(patsubst %,$(B)/cudacpu/asan/%.d,$(CUDACPU_PROGRAM_C) tests/kernels/jpegcuda/rates.c tests/kernels/jpegcuda/turns.c)
endif
