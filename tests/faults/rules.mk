TESTS += tests/faults/folder.sh $(B)/tests/out_of_memory_again

$(B)/tests/out_of_memory_again: $(B)/tests/faults/again.o $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $< $(B)/liblapedge.a $(LIBS) \
	  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign
-include $(B)/tests/faults/again.d

# Failing allocations and calls, and the record of a run, through preloaded libraries: glibc only, and sanitizers bring their own allocator.
ifeq ($(SAN),)
TESTS += tests/faults/alloc.sh tests/faults/documents.py tests/faults/nth_call.py tests/faults/power.py
# Once, not with every compiler.
TESTS += $(if $(COVERAGE),,$(if $(findstring clang,$(CC)),,$(B)/tests/every_fault))
EVERY_FAULT_OBJ := $(patsubst %,$(B)/tests/faults/%.o,each each_photo each_many calls)
# In front of the C library's own, for libjpeg and the others too. Private: flags-C is not written with it, which would
# compile everything again.
$(EVERY_FAULT_OBJ): private CFLAGS += -fvisibility=default
$(B)/tests/every_fault: $(EVERY_FAULT_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(EVERY_FAULT_OBJ) $(B)/liblapedge.a $(LIBS) -ldl
-include $(EVERY_FAULT_OBJ:.o=.d)

test-long: test-every-fault
.PHONY: test-every-fault
test-every-fault: all $(B)/tests/every_fault $(B)/tests/nth_malloc.so $(if $(CUDACPU_CXX),$(B)/tests/cudacpu_every_fault)
	$(B)/tests/every_fault --all
	@tests/run ALLOC_ALL=1 B=$(B) LAPEDGE=$(abspath $(PROGRAM)) tests/faults/alloc.sh tests/faults/documents.py@--all
	$(if $(CUDACPU_CXX),$(B)/tests/cudacpu_every_fault --all)
TESTS += tests/faults/other_interface.sh
FAULT_LIBRARIES := $(B)/tests/nth_malloc.so $(B)/tests/nth_call.so
tests: $(FAULT_LIBRARIES)
$(B)/tests/nth_malloc.so: tests/faults/nth_malloc.c
$(B)/tests/nth_call.so: tests/faults/nth_call.c tests/faults/calls.c tests/faults/record.c tests/faults/nth_call.h
$(FAULT_LIBRARIES): tests/faults/after_main.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -shared $(filter %.c,$^) -o $@ -ldl
endif
