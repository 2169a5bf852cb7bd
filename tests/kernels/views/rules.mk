# Pixels in device memory, used through the public library: on the CPU runtime of the CUDA tests.
ifneq ($(CUDACPU_CXX),)
VIEWS_LIBRARY := $(patsubst %,$(B)/cudacpu/asan/%.o,$(filter-out $(RUNG_SRC) %/none.c,$(sort $(SRC)))) $(B)/cudacpu/asan/libkernels.a
VIEWS_TESTS := $(patsubst %,$(B)/tests/cudacpu_%,views kept stream batch leaks)
$(VIEWS_TESTS): $(B)/tests/cudacpu_%: $(B)/cudacpu/asan/tests/kernels/views/%.c.o $(VIEWS_LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
# Threads of the context use the stream in turn. It takes minutes: for make test-long.
BATCH_RACES := $(patsubst $(B)/cudacpu/asan/%,$(B)/cudacpu/tsan/%,$(B)/cudacpu/asan/tests/kernels/views/batch.c.o $(VIEWS_LIBRARY))
$(B)/tests/cudacpu_batch_races: $(BATCH_RACES)
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_tsan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
-include $(B)/cudacpu/tsan/tests/kernels/views/batch.c.d
# Built as a user builds them: with only the public header.
VIEWS_EXAMPLES := $(B)/cudacpu/asan/views_example $(B)/cudacpu/asan/views_batch_example
$(B)/cudacpu/asan/views_%.o: tests/kernels/views/%.c src/lapedge.h
	$(call say,CC)$(CC) -std=c11 -Wall -Wextra -Werror -Isrc -c $< -o $@
$(VIEWS_EXAMPLES): %: %.o $(VIEWS_LIBRARY)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
# The walk over faults (tests/faults/each.c) with a device at work.
EVERY_FAULT_CUDA := $(patsubst %,$(B)/cudacpu/asan/tests/faults/%.c.o,each each_photo each_many calls)
$(B)/tests/cudacpu_every_fault: $(EVERY_FAULT_CUDA) $(VIEWS_LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
TESTS += $(B)/tests/cudacpu_every_fault
-include $(EVERY_FAULT_CUDA:.o=.d)
tests/kernels/views/example.sh: $(VIEWS_EXAMPLES)
TESTS += $(VIEWS_TESTS) tests/kernels/views/example.sh
-include $(patsubst %,$(B)/cudacpu/asan/%.d,$(wildcard tests/kernels/views/*.c))
endif

# The example for a machine with a GPU: nothing but libc is needed there.
$(P)/stream_example: tests/kernels/views/example.c $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -std=c11 -O2 -Wall -Wextra -Isrc -static-libgcc -o $@ $^ $(filter -L%,$(LIBS)) $(PORTABLE_LIBS)
$(P)/batch_time: tools/measure/batch_time.c $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -std=c11 -O2 -Wall -Wextra -Isrc -D_GNU_SOURCE -static-libgcc -o $@ $^ $(filter -L%,$(LIBS)) \
	  $(PORTABLE_LIBS)
portable-tests: $(P)/stream_example $(P)/batch_time
