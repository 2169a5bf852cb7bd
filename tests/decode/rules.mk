# The ladder `decode` against libjpeg-turbo.
DECODE_OBJ := $(B)/tests/decode/decode_check.o $(B)/tests/decode/decode_case.o $(B)/tests/encode/encode_case.o
TESTS += $(B)/tests/decode_check
$(B)/tests/decode_check: $(DECODE_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(DECODE_OBJ) $(B)/liblapedge.a $(LIBS)
-include $(DECODE_OBJ:.o=.d)

# Its stages alone.
STAGES_OBJ := $(B)/tests/decode/stages_check.o $(B)/tests/encode/encode_case.o
TESTS += $(B)/tests/stages_check
$(B)/tests/stages_check: $(STAGES_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(STAGES_OBJ) $(B)/liblapedge.a $(LIBS)
-include $(STAGES_OBJ:.o=.d)

# Every width with every height (minutes).
.PHONY: test-long-decode
test-long-decode: $(B)/tests/decode_check
	$< --all
test-long: test-long-decode
