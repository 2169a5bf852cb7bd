# Tests for a machine with a GPU that may lack everything else: harnesses that need nothing but
# libc. Built there with nvcc and gcc, or built elsewhere (`make portable-tests`) and carried.
P := $(B)/portable
PORTABLE_C := $(RUNG_SRC)
PORTABLE_DEFINES := -D_GNU_SOURCE $(INCLUDES) $(patsubst %,-DLAP_HAVE_%=0,JANSSON PNG STB XXHASH OPENMP) -DLAP_HAVE_CUDA=1
GPU_TEST_LIBS := $(filter -L%,$(LIBS)) -lcudart_static -ldl -lrt -lpthread -lm
PORTABLE_TESTS := $(P)/filter_ladder $(P)/ops $(P)/ops_few $(P)/scaffold $(P)/profile_run $(P)/controls

$(P)/%.c.o: %.c tests/kernels/gpu/rules.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -O2 -g -Wall -Wextra -Wno-unknown-pragmas -ffp-contract=off $(PORTABLE_DEFINES) \
	  -DLAP_RUNG_FLAGS='"-O2 -ffp-contract=off"' $(filter-out -fopenmp,$(ISA_FLAGS)) -MMD -MP -c $< -o $@
$(P)/libkernels.a: $(patsubst %,$(P)/%.o,$(PORTABLE_C)) $(CU_OBJ)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
$(P)/filter_ladder: $(patsubst %,$(P)/%.o,$(sort $(wildcard tests/kernels/ladder/*.c)))
$(P)/ops: $(patsubst %,$(P)/%.o,$(sort $(wildcard tests/kernels/ops/*.c)))
# Only a few sizes, for racecheck, under which the others take minutes.
$(P)/ops_few: $(patsubst %,$(P)/few/%.o,$(sort $(wildcard tests/kernels/ops/*.c)))
$(P)/few/%.c.o: %.c tests/kernels/gpu/rules.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -O2 -g -Wall -Wextra $(PORTABLE_DEFINES) -DLAP_FEW_SIZES -MMD -MP -c $< -o $@
$(P)/scaffold: $(P)/tests/kernels/gpu/scaffold.c.o
$(P)/profile_run: $(P)/tests/kernels/gpu/profile_run.c.o
# Compiled as the kernels are.
$(P)/controls: $(B)/tests/kernels/gpu/controls.cu.o
-include $(B)/tests/kernels/gpu/controls.cu.d
$(PORTABLE_TESTS): $(P)/libkernels.a
	$(call say,LINK)$(CC) -o $@ $(filter %.o,$^) $(P)/libkernels.a $(GPU_TEST_LIBS)
-include $(patsubst %,$(P)/%.d,$(PORTABLE_C))

.PHONY: portable-tests test-gpu
## portable-tests: build the GPU tests in build/portable; they need nothing but libc
portable-tests: $(PORTABLE_TESTS)

ifeq ($(HAVE_CUDA),1)
# The same program linked with the library, whose objects make test has anyway.
TESTS += $(B)/tests/scaffold
$(B)/tests/scaffold: $(B)/tests/kernels/gpu/scaffold.o $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $^ $(LIBS)
-include $(B)/tests/kernels/gpu/scaffold.d
test-gpu: $(PORTABLE_TESTS)
# The portable programs link with nothing but libc.
test-long: portable-tests
endif
## test-gpu: test every ladder on this machine's GPU, then under compute-sanitizer
test-gpu:
	@tests/kernels/gpu/run.sh $(P)
