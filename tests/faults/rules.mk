TESTS += tests/faults/folder.sh

# Failing allocations, through a preloaded shim: glibc only, and sanitizers bring their own allocator.
ifeq ($(SAN),)
TESTS += tests/faults/alloc.sh
tests: $(B)/tests/nth_malloc.so
$(B)/tests/nth_malloc.so: tests/faults/nth_malloc.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -shared $< -o $@
endif
