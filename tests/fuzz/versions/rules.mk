# Verdicts with another libjpeg-turbo than the one that is installed; pip fetches it.
.PHONY: test-long-versions
test-long-versions: all $(addprefix $(B)/tests/,verdicts test_jpeg_left test_parts test_jpeg_read)
	@tests/run B=$(B) LAPEDGE=$(abspath $(PROGRAM)) tests/fuzz/versions/versions.py
test-long: test-long-versions
