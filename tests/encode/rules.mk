# The ladder `encode` against libjpeg.
ENCODE_OBJ := $(B)/tests/encode/encode_check.o $(B)/tests/encode/encode_case.o
TESTS += $(B)/tests/encode_check tests/encode/other_library.sh tests/encode/libraries.sh
$(B)/tests/encode_check: $(ENCODE_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(ENCODE_OBJ) $(B)/liblapedge.a $(LIBS)
-include $(ENCODE_OBJ:.o=.d)

# Every width with every height, each fill and sampling, at six qualities (minutes).
.PHONY: test-long-encode
test-long-encode: $(B)/tests/encode_check
	$< --all
test-long: test-long-encode
tests/encode/libraries.sh: $(B)/tests/encode_check
