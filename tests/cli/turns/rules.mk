# The whole product of kinds of files, turns and codings beside jpegtran, and a file of more than 1 GiB (minutes); make
# check has a covering sample.
.PHONY: test-long-turns
test-long-turns: all $(B)/tests/test_turn
	TURN_FULL=1 $(B)/tests/test_turn
	LAPEDGE=$(abspath $(PROGRAM)) tests/cli/turns/large.py
test-long: test-long-turns
