# Decoding by parts at all sizes to 70x70 and every sampling (minutes); make check has a covering sample.
.PHONY: test-long-parts
test-long-parts: $(B)/tests/test_parts
	PARTS_FULL=1 $(B)/tests/test_parts
test-long: test-long-parts
