# Verdicts over a corpus of odd JPEGs that is not part of the project: LAPEDGE_CORPUS=FOLDER make check
TESTS += $(B)/tests/verdicts
$(B)/tests/verdicts: tests/fuzz/corpus/verdicts.c $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LINK_OPENMP) \
	  $< -o $@ $(B)/liblapedge.a $(LIBS)
