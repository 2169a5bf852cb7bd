TESTS += tests/faults/folder.sh

# Failing allocations and calls, and the record of a run, through preloaded libraries: glibc only, and sanitizers bring their own allocator.
ifeq ($(SAN),)
TESTS += tests/faults/alloc.sh tests/faults/nth_call.py tests/faults/power.py
FAULT_LIBRARIES := $(B)/tests/nth_malloc.so $(B)/tests/nth_call.so
tests: $(FAULT_LIBRARIES)
$(B)/tests/nth_malloc.so: tests/faults/nth_malloc.c
$(B)/tests/nth_call.so: tests/faults/nth_call.c tests/faults/calls.c tests/faults/record.c tests/faults/nth_call.h
$(FAULT_LIBRARIES): tests/faults/after_main.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -shared $(filter %.c,$^) -o $@ -ldl
endif
