# The fault classes, one script a class: by hand and in CI, not in `make test`.
TORTURE_SCRIPTS := $(sort $(wildcard tests/faults/torture/[0-9]*.py))
TORTURE_RESULTS := build/torture/results.jsonl
TORTURE_NEEDS := $(B)/tests/nth_malloc.so $(B)/tests/nth_call.so $(B)/tests/fuzz_exif $(B)/tests/verdicts $(B)/tests/hostile.so
# The kernels on the CPU runtime of the CUDA tests.
TORTURE_NEEDS += $(if $(CUDACPU_CXX),$(B)/cudacpu/asan/lapedge $(sort $(filter $(B)/tests/cudacpu%,$(subst @, ,$(TESTS)))) \
  $(B)/tests/cudacpu_views $(B)/tests/cudacpu_stream)

## torture: run every fault class (minutes; TORTURE=10 asks for ten times as many tries), results in build/torture
.PHONY: torture
torture: all $(TORTURE_NEEDS)
	@rm -f $(TORTURE_RESULTS)
	@$(MAKE_ALL) build/asan/lapedge $(ASAN)
	@TEST_JOBS=1 TEST_TIMEOUT=$${TEST_TIMEOUT:-86400} tests/run B=$(B) LAPEDGE=$(abspath $(PROGRAM)) CC='$(CC)' \
	  LAPEDGE_HARNESSES='$(notdir $(filter $(B)/tests/cudacpu%,$(TORTURE_NEEDS)))' LAPEDGE_RESULTS=$(TORTURE_RESULTS) \
	  $(TORTURE_SCRIPTS)
	@cp docs/bench/branches.txt $(dir $(TORTURE_RESULTS))
	@tools/test/torture-table $(TORTURE_RESULTS)

# A sample of the damage of class 16 with every test.
TESTS += tests/faults/torture/16-damage.py
tests/faults/torture/16-damage.py: $(B)/tests/fuzz_exif
