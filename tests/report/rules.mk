# The report's pages in a browser; one wrong rung is needed to see a difference.
ifeq ($(SAN),)
TESTS += tests/report/report.py
tests/report/report.py: $(B)/tests/lapedge-planted
endif
