TESTS += tests/limits/limits.py tests/limits/metadata.py tests/limits/layouts.py \
  tests/limits/packets.py tests/limits/figures.py \
  tests/limits/command.py tests/limits/tables.py
tests/limits/limits.py: $(B)/tests/fuzz_exif $(B)/tests/step_clock.so
tests/limits/tables.py: $(B)/tests/step_clock.so
$(B)/tests/step_clock.so: tests/limits/step_clock.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -shared -o $@ $<
tests/limits/figures.py tests/limits/command.py tests/limits/tables.py: $(B)/tests/lapedge-planted
