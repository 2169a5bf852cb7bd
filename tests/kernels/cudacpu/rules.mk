# The kernels without a GPU: the .cu sources compiled for the CPU against the small runtime in this
# folder. The harnesses of all ladders under AddressSanitizer, a few sizes under ThreadSanitizer. No nvcc
# and no library is needed; once, not in every build of `make test`, since these bring their own sanitizers.
# COVERAGE: flags of clang that count branches of the C sources, in the place of the sanitizers (tools/test/coverage);
# the kernels are g++'s all the same.
ifeq ($(SAN)$(if $(COVERAGE),,$(findstring clang,$(CC))),)

CUDACPU_CXX := $(shell command -v $(CXX_HOST) 2>/dev/null)
CUDACPU_COMPILER := $(if $(COVERAGE),g++,$(CXX_HOST))
CUDACPU_CU := $(CU_ALL)
CUDACPU_C := $(RUNG_SRC)
CUDACPU_DEFINES := -D_GNU_SOURCE $(INCLUDES) -DLAP_CUDACPU -DLAP_HAVE_OPENMP=0 \
  $(foreach f,PNG STB,-DLAP_HAVE_$(f)=$(if $(filter 1,$(HAVE_$(f))),1,0)) \
  -DLAP_HAVE_CUDA=1
# As tools/package.mk has it for sanitizers, whose builds in make test copy objects from here (TWINS).
CUDACPU_OPT := -O1 -g1
CUDACPU_COMMON := $(CUDACPU_OPT) -fPIC -Wall -Wextra -Wno-unknown-pragmas -ffp-contract=off -fno-omit-frame-pointer
CUDACPU_sanitizers := -fsanitize=address,undefined -fno-sanitize-recover=all
CUDACPU_asan := $(or $(COVERAGE),$(CUDACPU_sanitizers))
CUDACPU_tsan := -fsanitize=thread -DLAP_FEW_SIZES
# The runtime itself: its accesses are no kernel's, and it should not take longer than they do.
CUDACPU_runtime_asan := -O2 -DLAP_CUDACPU_ASAN=$(if $(COVERAGE),0,1)
CUDACPU_runtime_tsan := -O2 -DLAP_CUDACPU_TSAN=1
CUDACPU_CXXFLAGS := -std=c++17 $(CUDACPU_COMMON) -Itests/kernels/cudacpu/include $(INCLUDES)

# runtime.h.gch: the header of the runtime, which nvcc includes in each source, compiled once. It and the headers of the
# standard library that it includes take a third of the time to compile a kernel. ccache keeps objects that were compiled
# with such a header only if it is told to.
WITH_PCH := CCACHE_SLOPPINESS=pch_defines,time_macros

# cudacpu KIND
define cudacpu
CUDACPU_LIB_$(1) := $(patsubst %,$(B)/cudacpu/$(1)/%.o,$(CUDACPU_C) $(CUDACPU_CU) $(wildcard tests/kernels/cudacpu/*.cpp))
$(B)/cudacpu/$(1)/%.c.o: %.c tests/kernels/cudacpu/rules.mk
	@mkdir -p $$(@D)
	$$(call say,CC)$(CC) -std=c11 $(CUDACPU_COMMON) $(CUDACPU_$(1)) $(CUDACPU_DEFINES) \
	  -DLAP_RUNG_FLAGS='"$$(strip $(CUDACPU_OPT) -ffp-contract=off $$(ISA_FLAGS))"' \
	  $$(if $$(filter tests/%,$$<),,-fvisibility=hidden) $$(filter-out -fopenmp,$$(ISA_FLAGS)) -MMD -MP -c $$< -o $$@
CUDACPU_CUFLAGS_$(1) := $(CUDACPU_CXXFLAGS) $(if $(COVERAGE),,$(CUDACPU_$(1))) $(CUDACPU_DEFINES)
$(B)/cudacpu/$(1)/runtime.h.gch: tests/kernels/cudacpu/rules.mk
	@mkdir -p $$(@D)
	@echo '#include <cuda_runtime.h>' > $$(@:.gch=)
	$$(call say,CXX)$(WITH_PCH) $(CUDACPU_COMPILER) -x c++-header $$(CUDACPU_CUFLAGS_$(1)) -MMD -MP -MF $$(@:.gch=.d) -MT $$@ $$(@:.gch=) -o $$@
$(B)/cudacpu/$(1)/%.cu.o: %.cu $(B)/cudacpu/$(1)/runtime.h.gch
	@mkdir -p $$(@D)
	$$(call say,CXX)$(WITH_PCH) $(CUDACPU_COMPILER) -x c++ $$(CUDACPU_CUFLAGS_$(1)) -fpch-preprocess -include $(B)/cudacpu/$(1)/runtime.h \
	  $$(CUDACPU_LIGHTER) -MMD -MP -c $$< -o $$@
$(B)/cudacpu/$(1)/%.cpp.o: %.cpp tests/kernels/cudacpu/rules.mk
	@mkdir -p $$(@D)
	$$(call say,CXX)$(CUDACPU_COMPILER) $(CUDACPU_CXXFLAGS) $(CUDACPU_runtime_$(1)) -MMD -MP -c $$< -o $$@
$(B)/cudacpu/$(1)/libkernels.a: $$(CUDACPU_LIB_$(1))
	@rm -f $$@
	$$(call say,AR)ar rcs $$@ $$^
$(B)/cudacpu/$(1)/faults: $(B)/cudacpu/$(1)/tests/kernels/cudacpu/faults.cu.o $(B)/cudacpu/$(1)/libkernels.a
	$$(call say,LINK)$(CXX_HOST) $(CUDACPU_$(1)) -o $$@ $$^ -lpthread -lm
-include $(B)/cudacpu/$(1)/runtime.d $$(CUDACPU_LIB_$(1):.o=.d) $(patsubst %,$(B)/cudacpu/$(1)/%.d,$(wildcard tests/kernels/cudacpu/*.cu tests/kernels/cudacpu/check/*.cu tests/kernels/gpu/*.cu))
endef
$(eval $(call cudacpu,asan))
$(eval $(call cudacpu,tsan))

$(B)/tests/cudacpu_filter: $(patsubst %,$(B)/cudacpu/asan/%.o,$(sort $(wildcard tests/kernels/ladder/*.c))) \
  $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -lpthread -lm
$(B)/tests/cudacpu_ops: $(patsubst %,$(B)/cudacpu/asan/%.o,$(sort $(wildcard tests/kernels/ops/*.c))) \
  $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -lpthread -lm
$(B)/tests/cudacpu_scaffold: $(B)/cudacpu/asan/tests/kernels/gpu/scaffold.c.o $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -lpthread -lm
# Five steps of the ladder in many forms, for measurements: 25 s of the compiler's time with optimisation and all checks.
# The steps themselves are compiled with these.
$(B)/cudacpu/asan/tests/kernels/gpu/controls.cu.o: private CUDACPU_LIGHTER := -O0 -fno-sanitize=undefined
$(B)/tests/cudacpu_controls: $(B)/cudacpu/asan/tests/kernels/gpu/controls.cu.o $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -lpthread -lm
$(B)/tests/cudacpu_compare: $(patsubst %,$(B)/cudacpu/asan/%.o,tests/kernels/cudacpu/compare.c src/ops/difference.c \
  $(wildcard src/compare/compare*.c)) \
  $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -lpthread -lm
$(B)/tests/cudacpu_runtime: $(patsubst %,$(B)/cudacpu/asan/%.o,$(sort $(wildcard tests/kernels/cudacpu/check/*.cu))) \
  $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -lpthread -lm
# How the kernels are launched.
CUDACPU_LAUNCHES := $(patsubst %,$(B)/cudacpu/asan/%.o,$(sort $(wildcard tests/kernels/cudacpu/launches/*.c)))
$(B)/tests/cudacpu_launches: $(CUDACPU_LAUNCHES) $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -lpthread -lm
-include $(CUDACPU_LAUNCHES:.o=.d)
$(B)/tests/cudacpu_races: $(patsubst %,$(B)/cudacpu/tsan/%.o,tests/kernels/cudacpu/races.c tests/kernels/ladder/check.c) \
  $(B)/cudacpu/tsan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_tsan) -o $@ $^ -lpthread -lm

ifneq ($(CUDACPU_CXX),)
TESTS += $(patsubst %,$(B)/tests/cudacpu_filter@--part=%/4,0 1 2 3) $(B)/tests/cudacpu_ops $(B)/tests/cudacpu_scaffold $(B)/tests/cudacpu_compare \
  $(B)/tests/cudacpu_controls $(B)/tests/cudacpu_launches $(B)/tests/cudacpu_runtime \
  $(B)/tests/cudacpu_races \
  tests/kernels/cudacpu/faults.sh
tests/kernels/cudacpu/faults.sh: $(B)/cudacpu/asan/faults $(B)/cudacpu/tsan/faults
endif
endif
