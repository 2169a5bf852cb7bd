# The program with wrong rungs: compare must show them at once.
$(B)/tests/lapedge-wrong: tests/support/wrong_rungs/table.c tests/support/wrong_rungs/sums.c $(CLI_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $^ $(LIBS)
tests: $(B)/tests/lapedge-wrong
