TESTS += tests/limits/limits.py tests/limits/metadata.py tests/limits/figures.py \
  tests/limits/command.py tests/limits/tables.py
tests/limits/limits.py: $(B)/tests/fuzz_exif
tests/limits/figures.py tests/limits/command.py tests/limits/tables.py: $(B)/tests/lapedge-planted
