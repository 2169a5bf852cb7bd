TESTS += tests/support/mutants/tool.py
## mutants: plant one fault after the other and run the tests; MUTANTS='600 --planted', JOBS=8 side by side
MUTANTS ?= 60
JOBS ?= 1
.PHONY: mutants
mutants:
	@tools/test/mutants $(MUTANTS) --jobs=$(JOBS)
