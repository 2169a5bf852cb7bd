# Output bytes of a fixed set of runs, against the list of the version before.
ifeq ($(SAN),)
TESTS += tests/cli/bytes/bytes.sh
endif
