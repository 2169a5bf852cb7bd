# The program as it would be with a wrong rung in it: compare must show it at once.
$(B)/tests/lapedge-planted: tests/planted/table.c $(CLI_OBJ) $(B)/liblapedge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LINK_OPENMP) -o $@ $^ $(LIBS)
tests: $(B)/tests/lapedge-planted
