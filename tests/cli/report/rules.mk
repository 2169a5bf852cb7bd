# The report's pages in a browser; one wrong rung is needed to see a difference.
ifeq ($(SAN),)
TESTS += tests/cli/report/report.py
tests/cli/report/report.py: $(B)/tests/lapedge-wrong
endif
