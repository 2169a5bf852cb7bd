# The ladder `decode` against libjpeg-turbo: pixels, and verdicts.
DECODE_CASES := $(B)/tests/kernels/decode/decode_case.o $(B)/tests/kernels/decode/stream_case.o \
  $(B)/tests/kernels/encode/encode_case.o
DECODE_CHECKS := $(B)/tests/decode_check $(B)/tests/judge_check
# FEWER: run only a share of the cases, with a second compiler or a sanitizer.
TESTS += $(B)/tests/decode_check$(if $(FEWER),@--fewer) $(B)/tests/judge_check$(if $(FEWER),@--fewer) \
  tests/kernels/decode/other_libraries.sh
tests/kernels/decode/other_libraries.sh: $(DECODE_CHECKS) $(B)/tests/stages_check
$(DECODE_CHECKS): $(B)/tests/%: $(B)/tests/kernels/decode/%.o $(DECODE_CASES) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $< $(DECODE_CASES) $(B)/liblapedge.a $(LIBS)
-include $(B)/tests/kernels/decode/decode_check.d $(B)/tests/kernels/decode/judge_check.d $(B)/tests/kernels/decode/decode_case.d \
  $(B)/tests/kernels/decode/stream_case.d

# Only its stages.
STAGES_OBJ := $(B)/tests/kernels/decode/stages_check.o $(B)/tests/kernels/encode/encode_case.o
TESTS += $(B)/tests/stages_check tests/kernels/decode/stages_c.sh
tests/kernels/decode/stages_c.sh: $(B)/tests/stages_check
$(B)/tests/stages_check: $(STAGES_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $(STAGES_OBJ) $(B)/liblapedge.a $(LIBS)
-include $(STAGES_OBJ:.o=.d)

# Every width with every height (minutes), against the installed library and a libjpeg-turbo 3; all of the corpus.
.PHONY: test-long-decode
test-long-decode: $(DECODE_CHECKS) $(B)/tests/stages_check
	CORPUS_WHOLE=1 $< --all
	CORPUS_WHOLE=1 $(B)/tests/judge_check
	@ALL_SIZES=1 tests/run B=$(B) tests/kernels/decode/other_libraries.sh
test-long: test-long-decode
