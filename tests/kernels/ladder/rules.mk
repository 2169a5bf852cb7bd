# The filter ladder's harness: it needs only the library, so that it runs on GPU machines too.
LADDER_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/kernels/ladder/*.c)))
TESTS += $(B)/tests/filter_ladder
$(B)/tests/filter_ladder: $(LADDER_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(LADDER_OBJ) $(B)/liblapedge.a $(LIBS)
-include $(LADDER_OBJ:.o=.d)

# A second opinion, through the program, from Debian's python3-numpy; skips where that is missing.
TESTS += tests/kernels/ladder/numpy_check.py

# The steps between other kernels on all cases; make check runs every fifth.
.PHONY: test-long-steps
test-long-steps: $(B)/tests/cudacpu_filter
	$< --whole
test-long: test-long-steps
