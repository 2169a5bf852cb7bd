TESTS += tests/cli/limits/limits.py tests/cli/limits/metadata.py tests/cli/limits/layouts.py \
  tests/cli/limits/packets.py tests/cli/limits/figures.py \
  tests/cli/limits/command.py tests/cli/limits/tables.py tests/cli/limits/pictures.py tests/cli/limits/info.py \
  tests/cli/limits/messages.py
tests/cli/limits/limits.py: $(B)/tests/fuzz_exif $(B)/tests/step_clock.so
tests/cli/limits/tables.py tests/cli/limits/messages.py $(patsubst %,tests/cli/%.bats,compare folder forms safety): $(B)/tests/step_clock.so
tests/cli/folder.bats: $(B)/tests/fold_case.so
$(B)/tests/step_clock.so $(B)/tests/fold_case.so: $(B)/tests/%.so: tests/cli/limits/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS_ALL) -std=c11 $(OPT) $(WARN) $(WERROR) -fPIC -shared -o $@ $<
$(patsubst %,tests/cli/limits/%.py,figures command tables pictures messages): $(B)/tests/lapedge-wrong
