# The AVX-512 rungs on every x86-64 processor: their files, compiled against a model of the instructions
# (immintrin.h), stand in front of the library's in the checks of three ladders.
ifneq ($(filter x86_64 amd64,$(MACHINE)),)
MODEL_OBJ := $(patsubst %.c,$(B)/vectors/%.o,$(filter %_avx512.c %_avx512vbmi2.c,$(LADDERS)))
# What asks whether the processor has AVX-512 hears that it has.
MODEL_IS_HERE := $(foreach f,lap_cpu_no_avx512 lap_cpu_no_avx512vbmi2,-Wl,--wrap=$(f) \
  -Wl,--defsym=__wrap_$(f)=lap_cpu_no_sse2)
MODEL_TESTS := $(B)/tests/vectors_encode_check@--only=avx512/31 $(B)/tests/vectors_stages_check@--only=avx512/5 \
  $(B)/tests/vectors_filter_ladder@--rung=simd-avx512
TESTS += $(if $(SAN),,$(MODEL_TESTS))
$(MODEL_OBJ): $(B)/vectors/%.o: %.c tests/kernels/vectors/rules.mk $(B)/flags-C
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -Itests/kernels/vectors $(CPPFLAGS_ALL) $(CFLAGS_ALL) -O1 -msse4.1 -Wno-psabi -D__AVX512BW__ \
	  $(if $(filter %vbmi2.c,$<),-D__AVX512VBMI2__) $(RUNG_FLAGS) -MMD -MP -c $< -o $@
$(B)/tests/vectors_encode_check: $(ENCODE_OBJ)
$(B)/tests/vectors_stages_check: $(STAGES_OBJ)
$(B)/tests/vectors_filter_ladder: $(LADDER_OBJ)
$(B)/tests/vectors_%: $(MODEL_OBJ) $(B)/liblapedge.a
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) $(MODEL_IS_HERE) -o $@ $(filter %.o,$^) $(B)/liblapedge.a $(LIBS)
-include $(MODEL_OBJ:.o=.d)
endif
