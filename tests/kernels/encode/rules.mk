# The ladder `encode` against libjpeg.
ENCODE_OBJ := $(B)/tests/kernels/encode/encode_check.o $(B)/tests/kernels/encode/encode_case.o
TESTS += $(B)/tests/encode_check tests/kernels/encode/other_library.sh tests/kernels/encode/libraries.sh
$(B)/tests/encode_check: $(ENCODE_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(ENCODE_OBJ) $(B)/liblapedge.a $(LIBS)
-include $(ENCODE_OBJ:.o=.d)

# Every width with every height, each fill, at six qualities: minutes for each sampling. A sampling that has
# passed is not run again until the program changes.
ENCODE_PRODUCTS := $(patsubst %,$(B)/tests/encode-all-%.tap,gray 444 422 420 440 411)
.PHONY: test-long-encode
test-long-encode: $(ENCODE_PRODUCTS)
	cat $^
$(ENCODE_PRODUCTS): $(B)/tests/encode-all-%.tap: $(B)/tests/encode_check
	$< --all=$* > $@.part || { cat $@.part; false; }
	@mv $@.part $@
test-long: test-long-encode
tests/kernels/encode/libraries.sh: $(B)/tests/encode_check
