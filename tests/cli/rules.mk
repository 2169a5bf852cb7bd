# Every option in every form of a command line; make check leaves out three of the operations.
.PHONY: test-long-forms
test-long-forms: all $(B)/tests/step_clock.so
	B=$(B) python3 tests/cli/forms.py $(abspath $(PROGRAM)) --each
test-long: test-long-forms
