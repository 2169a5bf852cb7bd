# The checks of the transpose, reduction, histogram and matrix-vector ladders: one program.
OPS_SRC := $(sort $(wildcard tests/ops/*.c))
TESTS += $(B)/tests/ops
$(B)/tests/ops: $(OPS_SRC) tests/ops/ops.h $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LINK_OPENMP) \
	  $(OPS_SRC) -o $@ $(B)/liblapedge.a $(LIBS)
