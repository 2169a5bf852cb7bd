# The checks of the transpose, reduction, histogram and matrix-vector ladders: one program.
OPS_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/kernels/ops/*.c)))
TESTS += $(B)/tests/ops_ladders
$(B)/tests/ops_ladders: $(OPS_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(OPS_OBJ) $(B)/liblapedge.a $(LIBS)
-include $(OPS_OBJ:.o=.d)

# Its device rungs under ThreadSanitizer (tests/kernels/cudacpu), on a few sizes.
ifneq ($(CUDACPU_CXX),)
TESTS += $(B)/tests/cudacpu_races_ops
$(B)/tests/cudacpu_races_ops: $(patsubst %,$(B)/cudacpu/tsan/%.o,$(sort $(wildcard tests/kernels/ops/*.c))) \
  $(B)/cudacpu/tsan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_tsan) -o $@ $^ -lpthread -lm
endif
