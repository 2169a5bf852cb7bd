# A decoder that does what it should not: preloaded, so dynamic libjpeg; sanitizers want to be first.
ifeq ($(SAN),)
TESTS += tests/cli/sandbox/sandbox.sh
tests/cli/sandbox/sandbox.sh: $(B)/tests/hostile.so
$(B)/tests/hostile.so: $(addprefix tests/cli/sandbox/,hostile.c hostile_tries.c hostile_tries.h)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -shared $(filter %.c,$^) -o $@ -ldl
endif
